import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { GitFork, RotateCcw } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { send } from "../api/client";
import { runQuery, settingsQuery } from "../api/queries";
import type { ForkedView, ReplayView, RunView, SettingRow } from "../api/types";
import { Button, Fact, Marked, Panel, Sentence } from "../ui/parts";
import { Said } from "../ui/said";
import { duration } from "../ui/time";
import { Trouble } from "../ui/trouble";
import { Crumb } from "./crumb";

/** The limits worth trying, with the range of their slider. */
const RANGES: Record<string, { most: number; step?: number }> = {
  max_replans: { most: 20 },
  max_error_replans: { most: 12 },
  max_step_retries: { most: 10 },
  max_calls: { most: 120 },
  max_segments: { most: 60 },
  max_wall_seconds: { most: 7200, step: 30 },
  max_plan_steps: { most: 100 },
  lesson_stop_after: { most: 20 },
};
const SWITCHES = ["replan_admission", "structural_stop", "auto_replan", "replan_on_high", "replan_on_medium"] as const;

export type Tried = Record<string, number | boolean | string>;

export function WhatIf() {
  const { run } = useParams({ from: "/runs/$run/what-if" });
  const { set: tried = {} } = useSearch({ from: "/runs/$run/what-if" });
  const navigate = useNavigate({ from: "/runs/$run/what-if" });
  const view = useQuery(runQuery(run));
  const settings = useQuery(settingsQuery());
  const words = useMemo(() => new Map(settings.data?.map((row) => [row.name, row])), [settings.data]);
  const limits = (view.data?.limits ?? {}) as Record<string, unknown>;
  const replay = useMutation({ mutationFn: (given: Tried) => send<ReplayView>("POST", `runs/${encodeURIComponent(run)}/replay`, { settings: given }) });
  const fork = useMutation({
    mutationFn: (at: number) => send<ForkedView>("POST", `runs/${encodeURIComponent(run)}/fork`, { at, settings: tried }),
    onSuccess: ({ run: forked }) => void navigate({ to: "/runs/$run", params: { run: forked }, search: {} }),
  });
  const asked = JSON.stringify(tried);
  const latest = useRef(replay.mutate);
  latest.current = replay.mutate;
  const any = Object.keys(tried).length > 0;
  useEffect(() => {
    const timer = setTimeout(() => latest.current(JSON.parse(asked) as Tried), 200);
    return () => clearTimeout(timer);
  }, [asked]);

  const set = (name: string, value: number | boolean) => {
    const { [name]: _, ...others } = tried;
    const next = value === limits[name] ? others : { ...others, [name]: value };
    void navigate({ search: { set: Object.keys(next).length ? next : undefined }, replace: true });
  };
  const found = replay.data;
  return (
    <div className="space-y-5">
      <Crumb run={run} page="what if" />
      <Sentence more={view.data && <Said text={view.data.goal} />}>
        {found ? any ? <Said text={sentence(found)} /> : "Change a setting, and see whether it would have gone otherwise." : replay.error ? "This run cannot be replayed." : "Reading the run…"}
      </Sentence>
      <Trouble error={replay.error ?? view.error} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,6fr)_minmax(0,6fr)]">
        <Panel
          title="Settings of the recorded run"
          aside={
            any && (
              <Button small look="ghost" onClick={() => void navigate({ search: {}, replace: true })}>
                <RotateCcw aria-hidden className="size-3.5" />
                As recorded
              </Button>
            )
          }
        >
          <div className="space-y-4">
            {Object.entries(RANGES).map(([name, { most, step = 1 }]) =>
              typeof limits[name] === "number" ? (
                <Range key={name} name={name} words={words.get(name)} recorded={limits[name]} value={(tried[name] as number) ?? limits[name]} most={most} step={step} onChange={(value) => set(name, value)} />
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
                    <span className="block text-xs text-soft"><Marked text={words.get(name)?.description ?? ""} /></span>
                  </span>
                </label>
              ) : null,
            )}
          </div>
        </Panel>
        {found && view.data && <Answer found={found} view={view.data} any={any} busy={replay.isPending} fork={fork} />}
      </div>
    </div>
  );
}

/** The answer up to its first colon; what follows is among the details. */
function sentence(found: ReplayView): string {
  const text = (found.headline || found.detail).split(": ")[0] ?? "";
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function Range({
  name,
  words,
  recorded,
  value,
  most,
  step,
  onChange,
}: {
  name: string;
  words?: SettingRow;
  recorded: number;
  value: number;
  most: number;
  step: number;
  onChange: (value: number) => void;
}) {
  const changed = value !== recorded;
  return (
    <div>
      <label className="block text-sm">
        <span className="flex items-baseline justify-between gap-3">
          <span className="font-mono text-[0.8125rem]">{name}</span>
          <span className={changed ? "font-semibold text-ask" : "text-soft"}>
            {changed && <span className="font-normal text-soft">{recorded} → </span>}
            {value}
          </span>
        </span>
        <input
          type="range"
          min={0}
          max={Math.max(most, recorded)}
          step={step}
          value={value}
          onChange={(event) => onChange(Number(event.target.value))}
          className="mt-1 h-5 w-full accent-(--accent)"
        />
      </label>
      {words && <p className="text-xs text-soft"><Marked text={words.description} /></p>}
    </div>
  );
}

function Answer({
  found,
  view,
  any,
  busy,
  fork,
}: {
  found: ReplayView;
  view: RunView;
  any: boolean;
  busy: boolean;
  fork: { mutate: (at: number) => void; isPending: boolean; error: unknown };
}) {
  const rows = [
    ["steps done", found.recorded.completed, found.until.completed],
    ["acts", found.recorded.executions, found.until.executions],
    ["planner calls", found.recorded.planner_calls, found.until.planner_calls],
    ["model calls", found.recorded.calls, found.until.calls],
    ["time", duration(found.recorded.seconds), duration(found.until.seconds)],
  ] as const;
  const at = found.event ?? found.events;
  const texts = [
    ["Then", (found.headline || found.detail).split(": ").slice(1).join(": ")],
    ["What was recorded there", found.recorded_there],
    ["It would have saved", found.saved_words],
    ["It would have lost", found.lost_words],
    ["What may help", found.hint],
  ].filter(([, text]) => text) as [string, string][];
  return (
    <Panel className="max-lg:order-first" title={busy ? "Replaying…" : "What the journal says"} aside={<span>nothing is done, no model is asked</span>}>
      <div className="space-y-4">
        <dl className="space-y-3">
          {texts.map(([name, text]) => (
            <Fact key={name} name={name}>
              <Said text={text} />
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
              {any && (
                <th scope="col" className="py-1 text-right font-normal">
                  with these settings, as far as is known
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
                {any && <td className="py-1.5 text-right font-medium">{now}</td>}
              </tr>
            ))}
          </tbody>
        </table>
        {found.event !== null && (
          <dl>
            <Fact name="The two part at">
              <Link to="/runs/$run/replay" params={{ run: view.id }} search={{ at: found.event }} className="text-accent hover:underline">
                event {found.event} of {found.events}
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
            {view.may.includes("fork") ? "As a new run in a fresh world; approvals are asked for again." : "A run can be continued elsewhere once it has ended, by an operator."}
          </p>
          <Trouble error={fork.error} />
        </div>
      </div>
    </Panel>
  );
}
