import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { Plus, Search } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import { questionsQuery, runsQuery } from "../api/queries";
import type { RunRow, RunState } from "../api/types";
import { useKeys } from "../ui/keys";
import { Button, Empty, Key, Sentence } from "../ui/parts";
import { Said } from "../ui/said";
import { band, StateChip, type Band } from "../ui/states";
import { count, dollars, duration } from "../ui/time";
import { Ago, Since } from "../ui/times";
import { Trouble } from "../ui/trouble";
import { gist } from "./card";
import { StartDialog } from "./start";

const TITLES: Record<Band, string> = { waits: "Waits for you", under: "Under way", ended: "Ended" };
const STATES = [
  ["", "every state"],
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

const GROUPS: Record<"open" | "ended", readonly RunState[]> = {
  open: ["asking", "interrupted", "paused", "running"],
  ended: ["done", "failed"],
};

export function Runs() {
  const search = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const { state, world, q } = search;
  const within = (group: readonly RunState[]) => (state ? group.filter((one) => one === state) : group);
  const open = useInfiniteQuery(runsQuery({ states: within(GROUPS.open), world, q }, 2000));
  const ended = useInfiniteQuery(runsQuery({ states: within(GROUPS.ended), world, q }, 5000));
  const all = [...(open.data?.pages ?? []), ...(ended.data?.pages ?? [])].flatMap((page) => page.runs);
  const ready = (!open.isLoading && !ended.isLoading) || all.length > 0;
  const error = open.error ?? ended.error;
  const questions = useQuery(questionsQuery());
  const asked = new Map(questions.data?.questions.map((one) => [one.run, gist(one)]));
  const bands: Record<Band, RunRow[]> = { waits: [], under: [], ended: [] };
  for (const run of new Map(all.map((one) => [one.id, one])).values()) bands[band(run)].push(run);
  const worlds = [...new Set([...all.map((run) => run.world), ...(world ? [world] : [])])].filter(Boolean).sort();
  const filtered = !!(state || world || q);
  const field = useRef<HTMLInputElement>(null);
  const set = (change: Partial<RunsSearch>) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true });

  useKeys({
    "/": () => field.current?.focus(),
    n: () => set({ start: true }),
    j: () => step(1),
    k: () => step(-1),
  });

  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
        <Sentence>{error ? "The runs cannot be read." : ready ? summary(bands, filtered) : "Reading the runs…"}</Sentence>
        <Button look="primary" keys="n" onClick={() => set({ start: true })}>
          <Plus aria-hidden className="size-4" />
          Start a run
        </Button>
      </div>
      <Trouble error={error} />

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
        <Choice label="State" value={state ?? ""} options={STATES} onChange={(value) => set({ state: value || undefined })} />
        {worlds.length > 1 && (
          <Choice
            label="World"
            value={world ?? ""}
            options={[["", "every world"], ...worlds.map((name) => [name, name] as const)]}
            onChange={(value) => set({ world: value || undefined })}
          />
        )}
        {filtered && (
          <Button look="ghost" onClick={() => set({ state: undefined, world: undefined, q: undefined })}>
            Show all
          </Button>
        )}
      </search>

      {(["waits", "under", "ended"] as const).map((name) =>
        bands[name].length ? <RunBand key={name} title={TITLES[name]} runs={bands[name]} waits={name === "waits"} asked={asked} /> : null,
      )}
      {ready && !error && !all.length && (
        <Empty>{filtered ? "No run fits. Show all of them, or look for another word." : "Nothing has run yet. Start a run here, or with midcourse run."}</Empty>
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
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-run]")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

function summary(bands: Record<Band, RunRow[]>, filtered: boolean): string {
  const all = bands.waits.length + bands.under.length + bands.ended.length;
  if (filtered) return `${count(all, "run")} ${all === 1 ? "fits" : "fit"} what you look for.`;
  const waits = bands.waits.length;
  const under = bands.under.length;
  const first = waits ? `${count(waits, "run")} ${waits === 1 ? "waits" : "wait"} for you` : "Nothing waits for you";
  const second = under ? `${count(under, "run")} ${under === 1 ? "is" : "are"} under way` : "nothing is under way";
  return all ? `${first}; ${second}.` : "Nothing has run here yet.";
}

function Choice({
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

function RunBand({ title, runs, waits, asked }: { title: string; runs: RunRow[]; waits: boolean; asked: Map<string, string> }) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const now = list.current?.offsetTop ?? 0;
    if (now !== top) setTop(now);
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
      <div ref={list} className={waits ? "overflow-hidden rounded-xl border-2 border-ask/60 bg-panel" : "overflow-hidden rounded-xl border bg-panel"}>
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
  const asking = run.state === "asking";
  const names = [run.id, run.task, run.key && `key ${run.key}`, run.world].filter(Boolean) as string[];
  const took = (run.ended_at ?? run.updated_at) - run.began_at;
  return (
    <Link
      to={asking ? "/inbox" : "/runs/$run"}
      params={{ run: run.id }}
      search={asking ? { run: run.id } : {}}
      data-run={run.id}
      className={`grid gap-x-4 gap-y-1 px-4 py-3 -outline-offset-2 hover:bg-sunken sm:grid-cols-[8.5rem_minmax(0,1fr)_auto] ${first ? "" : "border-t"}`}
    >
      <div className="flex items-center justify-between gap-3 sm:block">
        <StateChip run={run} />
        <span className="text-xs text-soft sm:hidden">{asking && run.waiting_since ? <Ago at={run.waiting_since} /> : <Ago at={run.updated_at} />}</span>
      </div>
      <div className="min-w-0">
        <div className="truncate font-medium">
          <Said text={run.goal} />
        </div>
        <div className="line-clamp-2 text-sm text-soft">
          <Said text={(run.state === "asking" && asked) || run.sentence} />
        </div>
        <div className="mt-0.5 flex flex-wrap gap-x-3 font-mono text-xs text-soft">
          {names.map((name) => (
            <Said key={name} text={name} />
          ))}
        </div>
      </div>
      <div className="hidden min-w-28 text-right text-xs text-soft sm:block">
        <div className="text-ink">
          {asking && run.waiting_since ? (
            <>
              for <Since at={run.waiting_since} />
            </>
          ) : (
            <Ago at={run.updated_at} />
          )}
        </div>
        <div>
          {run.state === "running" ? (
            <>
              runs for <Since at={run.began_at} />
            </>
          ) : (
            run.ended_at && <>took {duration(took)}</>
          )}
        </div>
        <div>{run.cost_usd > 0 ? dollars(run.cost_usd) : run.calls ? count(run.calls, "call") : ""}</div>
      </div>
    </Link>
  );
}
