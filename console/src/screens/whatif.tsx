import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { GitFork, RotateCcw } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { send } from "../api/client";
import { runQuery, settingsQuery } from "../api/queries";
import type { ForkedView, ReplayView, RunView, SettingRow } from "../api/types";
import { Button, Fact, TextWithCode, Panel, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { formatDuration, toSentence } from "../ui/format";
import { ErrorNotice } from "../ui/error-notice";
import { Breadcrumb } from "./breadcrumb";

/** The limits that can be tried, with the range of their slider. */
const RANGES: Record<string, { max: number; step?: number }> = {
  max_replans: { max: 20 },
  max_error_replans: { max: 12 },
  max_step_retries: { max: 10 },
  max_calls: { max: 120 },
  max_segments: { max: 60 },
  max_wall_seconds: { max: 7200, step: 30 },
  max_plan_steps: { max: 100 },
  lesson_stop_after: { max: 20 },
};
const SWITCHES = ["replan_admission", "structural_stop", "auto_replan", "replan_on_high", "replan_on_medium"] as const;

export type TriedSettings = Record<string, number | boolean | string>;

/** Replays a run with other settings, and shows what would have been different. */
export function WhatIf() {
  const { run } = useParams({ from: "/runs/$run/what-if" });
  const { set: tried = {} } = useSearch({ from: "/runs/$run/what-if" });
  const navigate = useNavigate({ from: "/runs/$run/what-if" });
  const view = useQuery(runQuery(run));
  const settings = useQuery(settingsQuery());
  const rowsByName = useMemo(() => new Map(settings.data?.map((row) => [row.name, row])), [settings.data]);
  const limits = (view.data?.limits ?? {}) as Record<string, unknown>;
  const replay = useMutation({ mutationFn: (changed: TriedSettings) => send<ReplayView>("POST", `runs/${encodeURIComponent(run)}/replay`, { settings: changed }) });
  const fork = useMutation({
    mutationFn: (at: number) => send<ForkedView>("POST", `runs/${encodeURIComponent(run)}/fork`, { at, settings: tried }),
    onSuccess: ({ run: forked }) => void navigate({ to: "/runs/$run", params: { run: forked }, search: {} }),
  });
  const triedJson = JSON.stringify(tried);
  const latest = useRef(replay.mutate);
  latest.current = replay.mutate;
  const hasChanges = Object.keys(tried).length > 0;
  useEffect(() => {
    const timer = setTimeout(() => latest.current(JSON.parse(triedJson) as TriedSettings), 200);
    return () => clearTimeout(timer);
  }, [triedJson]);

  const set = (name: string, value: number | boolean) => {
    const { [name]: _, ...others } = tried;
    const next = value === limits[name] ? others : { ...others, [name]: value };
    void navigate({ search: { set: Object.keys(next).length ? next : undefined }, replace: true });
  };
  const replayed = replay.data;
  return (
    <div className="space-y-5">
      <Breadcrumb run={run} page="what if" />
      <PageHeading more={view.data && <UntrustedText text={view.data.goal} />}>
        {replayed ? hasChanges ? <UntrustedText text={summarizeReplay(replayed)} /> : "Change a setting to see what would have been different." : replay.error ? "This run cannot be replayed." : "Loading the run…"}
      </PageHeading>
      <ErrorNotice error={replay.error ?? view.error} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,6fr)_minmax(0,6fr)]">
        <Panel
          title="Settings of the recorded run"
          aside={
            hasChanges && (
              <Button small look="ghost" onClick={() => void navigate({ search: {}, replace: true })}>
                <RotateCcw aria-hidden className="size-3.5" />
                As recorded
              </Button>
            )
          }
        >
          <div className="space-y-4">
            {Object.entries(RANGES).map(([name, { max, step = 1 }]) =>
              typeof limits[name] === "number" ? (
                <SettingSlider key={name} name={name} row={rowsByName.get(name)} recorded={limits[name]} value={(tried[name] as number) ?? limits[name]} max={max} step={step} onChange={(value) => set(name, value)} />
              ) : null,
            )}
            {SWITCHES.map((name) =>
              typeof limits[name] === "boolean" ? (
                <label key={name} className="flex items-start gap-2.5 text-sm">
                  <input
                    type="checkbox"
                    checked={(tried[name] as boolean) ?? limits[name]}
                    onChange={(event) => set(name, event.target.checked)}
                    className="mt-0.5 size-4 accent-(--accent)"
                  />
                  <span>
                    <span className="font-mono text-[0.8125rem]">{name}</span>
                    {name in tried && <span className="text-xs text-ask"> was {String(limits[name])}</span>}
                    <span className="block text-xs text-soft"><TextWithCode text={rowsByName.get(name)?.description ?? ""} /></span>
                  </span>
                </label>
              ) : null,
            )}
          </div>
        </Panel>
        {replayed && view.data && <ReplayResult replayed={replayed} view={view.data} hasChanges={hasChanges} busy={replay.isPending} fork={fork} />}
      </div>
    </div>
  );
}

/** The headline up to its first colon; the rest is shown with the details. */
function summarizeReplay(replayed: ReplayView): string {
  return toSentence((replayed.headline || replayed.detail).split(": ")[0] ?? "");
}

function SettingSlider({
  name,
  row,
  recorded,
  value,
  max,
  step,
  onChange,
}: {
  name: string;
  row?: SettingRow;
  recorded: number;
  value: number;
  max: number;
  step: number;
  onChange: (value: number) => void;
}) {
  const isChanged = value !== recorded;
  return (
    <div>
      <label className="block text-sm">
        <span className="flex items-baseline justify-between gap-3">
          <span className="font-mono text-[0.8125rem]">{name}</span>
          <span className={isChanged ? "font-semibold text-ask" : "text-soft"}>
            {isChanged && <span className="font-normal text-soft">{recorded} → </span>}
            {value}
          </span>
        </span>
        <input
          type="range"
          min={0}
          max={Math.max(max, recorded)}
          step={step}
          value={value}
          onChange={(event) => onChange(Number(event.target.value))}
          className="mt-1 h-5 w-full accent-(--accent)"
        />
      </label>
      {row && <p className="text-xs text-soft"><TextWithCode text={row.description} /></p>}
    </div>
  );
}

function ReplayResult({
  replayed,
  view,
  hasChanges,
  busy,
  fork,
}: {
  replayed: ReplayView;
  view: RunView;
  hasChanges: boolean;
  busy: boolean;
  fork: { mutate: (at: number) => void; isPending: boolean; error: unknown };
}) {
  const rows = [
    ["steps done", replayed.recorded.completed, replayed.until.completed],
    ["acts", replayed.recorded.executions, replayed.until.executions],
    ["planner calls", replayed.recorded.planner_calls, replayed.until.planner_calls],
    ["model calls", replayed.recorded.calls, replayed.until.calls],
    ["time", formatDuration(replayed.recorded.seconds), formatDuration(replayed.until.seconds)],
  ] as const;
  const at = replayed.event ?? replayed.events;
  const texts = [
    ["Then", (replayed.headline || replayed.detail).split(": ").slice(1).join(": ")],
    ["Recorded at this point", replayed.recorded_there],
    ["Saved", replayed.saved_words],
    ["Lost", replayed.lost_words],
    ["Hint", replayed.hint],
  ].filter(([, text]) => text) as [string, string][];
  return (
    <Panel className="max-lg:order-first" title={busy ? "Replaying…" : "Result of the replay"} aside={<span>nothing is executed, no model is called</span>}>
      <div className="space-y-4">
        <dl className="space-y-3">
          {texts.map(([name, text]) => (
            <Fact key={name} name={name}>
              <UntrustedText text={text} />
            </Fact>
          ))}
        </dl>
        <table className="w-full text-sm">
          <thead>
            <tr className="text-left text-xs text-soft">
              <th scope="col" className="py-1 font-normal">
                <span className="sr-only">What</span>
              </th>
              <th scope="col" className="py-1 text-right font-normal">
                as recorded
              </th>
              {hasChanges && (
                <th scope="col" className="py-1 text-right font-normal">
                  with these settings, as far as known
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, before, now]) => (
              <tr key={name} className="border-t">
                <th scope="row" className="py-1.5 text-left font-normal text-soft">
                  {name}
                </th>
                <td className="py-1.5 text-right">{before}</td>
                {hasChanges && <td className="py-1.5 text-right font-medium">{now}</td>}
              </tr>
            ))}
          </tbody>
        </table>
        {replayed.event !== null && (
          <dl>
            <Fact name="Diverges at">
              <Link to="/runs/$run/replay" params={{ run: view.id }} search={{ at: replayed.event }} className="text-accent hover:underline">
                event {replayed.event} of {replayed.events}
              </Link>
            </Fact>
          </dl>
        )}
        <div className="space-y-2 border-t pt-3">
          <Button look="primary" disabled={!view.may.includes("fork") || fork.isPending} onClick={() => fork.mutate(at)}>
            <GitFork aria-hidden className="size-4" />
            Continue live from event {at}
          </Button>
          <p className="text-xs text-soft">
            {view.may.includes("fork") ? "Starts a new run in a fresh world; it asks for approvals again." : "An operator can continue a run from here after it has ended."}
          </p>
          <ErrorNotice error={fork.error} />
        </div>
      </div>
    </Panel>
  );
}
