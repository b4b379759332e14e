import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { Plus, Search } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import { questionsQuery, runsQuery } from "../api/queries";
import type { RunRow, RunState } from "../api/types";
import { useKeys } from "../ui/use-keys";
import { Button, Empty, Key, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { groupOf, RunStateChip, type RunGroup } from "../ui/run-state";
import { formatCount, formatDollars, formatDuration } from "../ui/format";
import { TimeAgo, TimeSince } from "../ui/timestamps";
import { ErrorNotice } from "../ui/error-notice";
import { summarizeQuestion } from "./request-details";
import { StartDialog } from "./start";

const TITLES: Record<RunGroup, string> = { waiting: "Waits for you", running: "Under way", ended: "Ended" };
const STATES = [
  ["", "all states"],
  ["asking", "waits for you"],
  ["running", "under way"],
  ["paused", "paused"],
  ["interrupted", "interrupted"],
  ["done", "done"],
  ["failed", "failed"],
] as const;

export interface RunsSearch {
  state?: string;
  world?: string;
  q?: string;
  start?: boolean;
}

const STATE_GROUPS: Record<"open" | "ended", readonly RunState[]> = {
  open: ["asking", "interrupted", "paused", "running"],
  ended: ["done", "failed"],
};

/** The list of runs, in groups. */
export function Runs() {
  const search = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const { state, world, q } = search;
  const filterStates = (states: readonly RunState[]) => (state ? states.filter((each) => each === state) : states);
  const open = useInfiniteQuery(runsQuery({ states: filterStates(STATE_GROUPS.open), world, q }, 2000));
  const ended = useInfiniteQuery(runsQuery({ states: filterStates(STATE_GROUPS.ended), world, q }, 5000));
  const all = [...(open.data?.pages ?? []), ...(ended.data?.pages ?? [])].flatMap((page) => page.runs);
  const ready = (!open.isLoading && !ended.isLoading) || all.length > 0;
  const error = open.error ?? ended.error;
  const questions = useQuery(questionsQuery());
  const asked = new Map(questions.data?.questions.map((question) => [question.run, summarizeQuestion(question)]));
  const groups: Record<RunGroup, RunRow[]> = { waiting: [], running: [], ended: [] };
  for (const run of new Map(all.map((each) => [each.id, each])).values()) groups[groupOf(run)].push(run);
  const worlds = [...new Set([...all.map((run) => run.world), ...(world ? [world] : [])])].filter(Boolean).sort();
  const filtered = !!(state || world || q);
  const field = useRef<HTMLInputElement>(null);
  const set = (change: Partial<RunsSearch>) => void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true });

  useKeys({
    "/": () => field.current?.focus(),
    n: () => set({ start: true }),
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
  });

  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
        <PageHeading>{error ? "The runs cannot be read." : ready ? summarizeRuns(groups, filtered) : "Loading the runs…"}</PageHeading>
        <Button look="primary" keys="n" onClick={() => set({ start: true })}>
          <Plus aria-hidden className="size-4" />
          Start a run
        </Button>
      </div>
      <ErrorNotice error={error} />

      <search className="flex flex-wrap items-center gap-2">
        <label className="relative min-w-0 flex-1 max-sm:basis-full sm:max-w-sm">
          <span className="sr-only">Find runs by goal, name or key</span>
          <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-soft" />
          <input
            ref={field}
            type="search"
            value={q ?? ""}
            onChange={(event) => set({ q: event.target.value || undefined })}
            placeholder="Goal, name or key"
            className="min-h-10 w-full rounded-lg border border-edge bg-panel pr-9 pl-9 text-sm placeholder:text-soft"
          />
          <span className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2">
            <Key>/</Key>
          </span>
        </label>
        <Select label="State" value={state ?? ""} options={STATES} onChange={(value) => set({ state: value || undefined })} />
        {worlds.length > 1 && (
          <Select
            label="World"
            value={world ?? ""}
            options={[["", "all worlds"], ...worlds.map((name) => [name, name] as const)]}
            onChange={(value) => set({ world: value || undefined })}
          />
        )}
        {filtered && (
          <Button look="ghost" onClick={() => set({ state: undefined, world: undefined, q: undefined })}>
            Show all
          </Button>
        )}
      </search>

      {(["waiting", "running", "ended"] as const).map((name) =>
        groups[name].length ? <RunList key={name} title={TITLES[name]} runs={groups[name]} highlighted={name === "waiting"} asked={asked} /> : null,
      )}
      {ready && !error && !all.length && (
        <Empty>{filtered ? "No run matches. Show all runs, or search for something else." : "Nothing has run yet. Start a run here, or with midcourse run."}</Empty>
      )}
      {ended.hasNextPage && (
        <div className="text-center">
          <Button disabled={ended.isFetchingNextPage} onClick={() => void ended.fetchNextPage()}>
            Show older runs
          </Button>
        </div>
      )}
      <StartDialog open={!!search.start} onClose={() => set({ start: undefined })} />
    </div>
  );
}

/** Moves the focus to the next or previous run of the list. */
function moveFocus(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-run]")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

function summarizeRuns(groups: Record<RunGroup, RunRow[]>, filtered: boolean): string {
  const all = groups.waiting.length + groups.running.length + groups.ended.length;
  if (filtered) return `${formatCount(all, "run")} ${all === 1 ? "matches" : "match"} your search.`;
  const waiting = groups.waiting.length;
  const running = groups.running.length;
  const first = waiting ? `${formatCount(waiting, "run")} ${waiting === 1 ? "waits" : "wait"} for you` : "Nothing waits for you";
  const second = running ? `${formatCount(running, "run")} ${running === 1 ? "is" : "are"} under way` : "nothing is under way";
  return all ? `${first}; ${second}.` : "Nothing has run here yet.";
}

function Select({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <label>
      <span className="sr-only">{label}</span>
      <select
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="min-h-10 rounded-lg border border-edge bg-panel px-2.5 text-sm"
      >
        {options.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function RunList({ title, runs, highlighted, asked }: { title: string; runs: RunRow[]; highlighted: boolean; asked: Map<string, string> }) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const offset = list.current?.offsetTop ?? 0;
    if (offset !== top) setTop(offset);
  });
  const rows = useWindowVirtualizer({
    count: runs.length,
    estimateSize: () => 76,
    overscan: 8,
    scrollMargin: top,
    getItemKey: (index) => runs[index]?.id ?? index,
  });
  return (
    <section aria-label={title}>
      <h2 className="mb-2 flex items-baseline gap-2 text-sm font-semibold">
        {title}
        <span className="font-normal text-soft">{runs.length.toLocaleString("en")}</span>
      </h2>
      <div ref={list} className={highlighted ? "overflow-hidden rounded-xl border-2 border-ask/60 bg-panel" : "overflow-hidden rounded-xl border bg-panel"}>
        <ul style={{ height: rows.getTotalSize() }} className="relative">
          {rows.getVirtualItems().map((item) => {
            const run = runs[item.index];
            if (!run) return null;
            return (
              <li
                key={item.key}
                data-index={item.index}
                ref={rows.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start - rows.options.scrollMargin}px)` }}
              >
                <RunLine run={run} first={item.index === 0} asked={asked.get(run.id)} />
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

function RunLine({ run, first, asked }: { run: RunRow; first: boolean; asked?: string }) {
  const isAsking = run.state === "asking";
  const names = [run.id, run.task, run.key && `key ${run.key}`, run.world].filter(Boolean) as string[];
  const took = (run.ended_at ?? run.updated_at) - run.began_at;
  return (
    <Link
      to={isAsking ? "/inbox" : "/runs/$run"}
      params={{ run: run.id }}
      search={isAsking ? { run: run.id } : {}}
      data-run={run.id}
      className={`grid gap-x-4 gap-y-1 px-4 py-3 -outline-offset-2 hover:bg-sunken sm:grid-cols-[8.5rem_minmax(0,1fr)_auto] ${first ? "" : "border-t"}`}
    >
      <div className="flex items-center justify-between gap-3 sm:block">
        <RunStateChip run={run} />
        <span className="text-xs text-soft sm:hidden">{isAsking && run.waiting_since ? <TimeAgo at={run.waiting_since} /> : <TimeAgo at={run.updated_at} />}</span>
      </div>
      <div className="min-w-0">
        <div className="truncate font-medium">
          <UntrustedText text={run.goal} />
        </div>
        <div className="line-clamp-2 text-sm text-soft">
          <UntrustedText text={(run.state === "asking" && asked) || run.sentence} />
        </div>
        <div className="mt-0.5 flex flex-wrap gap-x-3 font-mono text-xs text-soft">
          {names.map((name) => (
            <UntrustedText key={name} text={name} />
          ))}
        </div>
      </div>
      <div className="hidden min-w-28 text-right text-xs text-soft sm:block">
        <div className="text-ink">
          {isAsking && run.waiting_since ? (
            <>
              for <TimeSince at={run.waiting_since} />
            </>
          ) : (
            <TimeAgo at={run.updated_at} />
          )}
        </div>
        <div>
          {run.state === "running" ? (
            <>
              running for <TimeSince at={run.began_at} />
            </>
          ) : (
            run.ended_at && <>took {formatDuration(took)}</>
          )}
        </div>
        <div>{run.cost_usd > 0 ? formatDollars(run.cost_usd) : run.calls ? formatCount(run.calls, "call") : ""}</div>
      </div>
    </Link>
  );
}
