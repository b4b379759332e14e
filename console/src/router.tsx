import { createHashHistory, createRootRoute, createRoute, createRouter, Link } from "@tanstack/react-router";
import { Diff } from "./screens/diff";
import { Evidence, type EvidenceSearch } from "./screens/evidence";
import { Fleet } from "./screens/fleet";
import { Inbox } from "./screens/inbox";
import { Lessons } from "./screens/lessons";
import { Replay } from "./screens/replay";
import { Run, type RunSearch } from "./screens/run";
import { Runs, type RunsSearch } from "./screens/runs";
import { type Tried, WhatIf } from "./screens/whatif";
import { Shell } from "./shell";
import { Button, Sentence } from "./ui/parts";
import { Trouble } from "./ui/trouble";

type Given = Record<string, unknown>;
const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined);
const number = (value: unknown) => (Number.isInteger(Number(value)) && value !== "" && value !== undefined ? Number(value) : undefined);

/** The settings that are tried, of what an address names: only plain values. */
function tried(value: unknown): Tried | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const plain = Object.entries(value).filter(([, one]) => ["number", "boolean", "string"].includes(typeof one));
  return plain.length ? (Object.fromEntries(plain) as Tried) : undefined;
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Sentence
      more={
        <Link to="/" className="text-accent underline">
          Go to the runs
        </Link>
      }
    >
      There is no such page.
    </Sentence>
  ),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: Runs,
  validateSearch: (given: Given): RunsSearch => ({
    state: text(given.state),
    world: text(given.world),
    q: text(given.q),
    start: given.start ? true : undefined,
  }),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  component: Run,
  validateSearch: (given: Given): RunSearch => ({
    plan: number(given.plan),
    at: number(given.at),
    zones: given.zones === false ? false : undefined,
    live: given.live === false ? false : undefined,
  }),
});

const diff = createRoute({ getParentRoute: () => root, path: "/runs/$run/plans/$pair", component: Diff });

const evidence = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run/evidence",
  component: Evidence,
  validateSearch: (given: Given): EvidenceSearch => ({ act: number(given.act), look: number(given.look) }),
});

const replay = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run/replay",
  component: Replay,
  validateSearch: (given: Given): { at?: number } => ({ at: number(given.at) }),
});

const whatIf = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run/what-if",
  component: WhatIf,
  validateSearch: (given: Given): { set?: Tried } => ({ set: tried(given.set) }),
});

const lessons = createRoute({
  getParentRoute: () => root,
  path: "/lessons",
  component: Lessons,
  validateSearch: (given: Given): { key?: string } => ({ key: text(given.key) }),
});

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/fleet",
  component: Fleet,
  validateSearch: (given: Given): { q?: string; all?: boolean } => ({ q: text(given.q), all: given.all === true ? true : undefined }),
});

const inbox = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  component: Inbox,
  validateSearch: (given: Given): { run?: string } => ({ run: text(given.run) }),
});

export const router = createRouter({
  routeTree: root.addChildren([runs, run, diff, evidence, replay, whatIf, inbox, lessons, fleet]),
  history: createHashHistory(),
  scrollRestoration: true,
  defaultErrorComponent: ({ error }) => (
    <div className="space-y-4">
      <Sentence>This page cannot be shown.</Sentence>
      <Trouble error={error} />
      <Button onClick={() => location.reload()}>Load it again</Button>
    </div>
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
