import { createHashHistory, createRootRoute, createRoute, createRouter, Link } from "@tanstack/react-router";
import { Diff } from "./screens/diff";
import { Evidence, type EvidenceSearch } from "./screens/evidence";
import { Fleet } from "./screens/fleet";
import { Inbox } from "./screens/inbox";
import { Lessons } from "./screens/lessons";
import { Replay } from "./screens/replay";
import { Run, type RunSearch } from "./screens/run";
import { Runs, type RunsSearch } from "./screens/runs";
import { type TriedSettings, WhatIf } from "./screens/whatif";
import { Shell } from "./shell";
import { Button, PageHeading } from "./ui/components";
import { ErrorNotice } from "./ui/error-notice";

type RawSearch = Record<string, unknown>;
const parseText = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined);
const parseNumber = (value: unknown) => (Number.isInteger(Number(value)) && value !== "" && value !== undefined ? Number(value) : undefined);

/** The settings to try, from the address of the page. Values that are not plain are ignored. */
function parseTriedSettings(value: unknown): TriedSettings | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const plain = Object.entries(value).filter(([, setting]) => ["number", "boolean", "string"].includes(typeof setting));
  return plain.length ? (Object.fromEntries(plain) as TriedSettings) : undefined;
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <PageHeading
      more={
        <Link to="/" className="text-accent underline">
          Go to the runs
        </Link>
      }
    >
      This page does not exist.
    </PageHeading>
  ),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: Runs,
  validateSearch: (raw: RawSearch): RunsSearch => ({
    state: parseText(raw.state),
    world: parseText(raw.world),
    q: parseText(raw.q),
    start: raw.start ? true : undefined,
  }),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  component: Run,
  validateSearch: (raw: RawSearch): RunSearch => ({
    plan: parseNumber(raw.plan),
    at: parseNumber(raw.at),
    zones: raw.zones === false ? false : undefined,
    live: raw.live === false ? false : undefined,
  }),
});

const diff = createRoute({ getParentRoute: () => root, path: "/runs/$run/plans/$pair", component: Diff });

const evidence = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run/evidence",
  component: Evidence,
  validateSearch: (raw: RawSearch): EvidenceSearch => ({ act: parseNumber(raw.act), look: parseNumber(raw.look) }),
});

const replay = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run/replay",
  component: Replay,
  validateSearch: (raw: RawSearch): { at?: number } => ({ at: parseNumber(raw.at) }),
});

const whatIf = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run/what-if",
  component: WhatIf,
  validateSearch: (raw: RawSearch): { set?: TriedSettings } => ({ set: parseTriedSettings(raw.set) }),
});

const lessons = createRoute({
  getParentRoute: () => root,
  path: "/lessons",
  component: Lessons,
  validateSearch: (raw: RawSearch): { key?: string } => ({ key: parseText(raw.key) }),
});

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/fleet",
  component: Fleet,
  validateSearch: (raw: RawSearch): { q?: string; all?: boolean } => ({ q: parseText(raw.q), all: raw.all === true ? true : undefined }),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  component: Inbox,
  validateSearch: (raw: RawSearch): { run?: string } => ({ run: parseText(raw.run) }),
});

export const router = createRouter({
  routeTree: root.addChildren([runs, run, diff, evidence, replay, whatIf, inbox, lessons, fleet]),
  history: createHashHistory(),
  scrollRestoration: true,
  defaultErrorComponent: ({ error }) => (
    <div className="space-y-4">
      <PageHeading>This page cannot be shown.</PageHeading>
      <ErrorNotice error={error} />
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
