import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Check, CircleHelp, Download, FileCheck2, Film, Hand, Shuffle } from "lucide-react";
import { useMemo } from "react";
import { address } from "../api/client";
import { type Live, useLive } from "../api/live";
import { linesQuery, meQuery, plansQuery, questionsQuery, runQuery } from "../api/queries";
import { useSight } from "../api/seen";
import { placeOf, reachedBy } from "../api/turns";
import type { RunView, TurnLine, TurnMessage } from "../api/types";
import { usePicture } from "../api/watching";
import { Log } from "../ui/log";
import { Button, Chip, classes, Fact, Panel, Pulse, Sentence } from "../ui/parts";
import { Said } from "../ui/said";
import { LivePicture } from "../ui/picture";
import { Scene } from "../ui/scene";
import { StateChip } from "../ui/states";
import { count, duration } from "../ui/time";
import { Ago, Since } from "../ui/times";
import { Trouble } from "../ui/trouble";
import { gist, Value } from "./card";
import { Controls } from "./controls";
import { Spend } from "./spend";
import { Plans } from "./plans";
import { CurrentSteps, replaced, Steps } from "./steps";
import { TakeOver } from "./takeover";

export interface RunSearch {
  /** The plan whose steps are shown; without it the current one. */
  plan?: number;
  /** The turn that is looked at; without it the latest. */
  at?: number;
  /** Whether zones are outlined. */
  zones?: boolean;
  /** Whether the world is shown as it is now, if that is possible, instead of what the run saw last. */
  live?: boolean;
}

export function Run() {
  const { run } = useParams({ from: "/runs/$run" });
  return <RunPage key={run} run={run} />;
}

function RunPage({ run }: { run: string }) {
  const view = useQuery(runQuery(run));
  const lines = useQuery(linesQuery(run));
  // A long journal takes the server seconds to tell: what is to be seen first comes before it.
  const live = useLive(run, !view.isLoading && !lines.isLoading);
  if (view.error && !view.data)
    return (
      <div className="space-y-4">
        <Sentence>This run cannot be read.</Sentence>
        <Trouble error={view.error} />
      </div>
    );
  if (!view.data) return <Sentence>Reading the run…</Sentence>;
  return <Whole view={view.data} live={live} lines={lines.data} />;
}

const NO_TURNS: readonly TurnMessage[] = [];

function Whole({ view, live, lines }: { view: RunView; live: Live; lines?: TurnLine[] }) {
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const set = (change: Partial<RunSearch>) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const caughtUp = !lines || (live.turns.at(-1)?.seq ?? 0) >= (lines.at(-1)?.seq ?? 0);
  const known = caughtUp || search.at !== undefined;
  const looked = useMemo(() => (known ? lookedAt(live.turns, search.at) : null), [live.turns, search.at, known]);
  const seenId = looked?.seen?.id ?? view.seen?.id ?? "";
  const { seen, picture, error } = useSight(view.id, seenId, known ? live.turns : NO_TURNS, search.at);
  const log = caughtUp ? live.turns : lines;
  const reached = useMemo(() => reachedBy(live.turns), [live.turns]);
  const current = view.plan;
  const plans = useQuery(plansQuery(view.id));
  const moment = search.at === undefined ? undefined : live.turns[placeOf(live.turns, search.at)];
  const then = plans.data?.find((row) => row.plan.version === moment?.standing.plan);
  const target = moment ? then?.plan.steps[moment.standing.cursor]?.zone : current?.steps[current.cursor]?.zone;
  const me = useQuery(meQuery());
  const mine = !!view.taken_over_by && view.taken_over_by === me.data?.name;
  const watchable = !view.result && search.at === undefined && !mine;
  const now = usePicture(`runs/${encodeURIComponent(view.id)}/live`, watchable && search.live !== false);
  const older = search.plan !== undefined && search.plan !== current?.version ? plans.data?.find((row) => row.plan.version === search.plan) : undefined;

  return (
    <div className="space-y-5">
      <Head view={view} live={live} />
      {mine && <TakeOver view={view} />}
      <Plans view={view} reached={reached} shown={search.plan} onShow={(plan) => set({ plan })} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <div className="max-lg:contents lg:space-y-5">
          {older ? (
            <Panel
              className="max-lg:order-1"
              flush
              title={`Plan ${older.plan.version}`}
              aside={
                <Button small look="ghost" onClick={() => set({ plan: undefined })}>
                  Back to the current plan
                </Button>
              }
            >
              <Steps key={older.plan.version} reason={older.reason} steps={replaced(older, reached.get(older.plan.version) ?? 0, plans.data?.find((row) => row.plan.version > older.plan.version && row.plan.parent === older.plan.version))} />
            </Panel>
          ) : (
            <Panel
              className="max-lg:order-1"
              flush
              title={current ? `Plan ${current.version}` : "Plan"}
              aside={
                current && (
                  <span>
                    {current.steps.filter((step) => step.status === "done" && !step.look_again).length} of {count(current.steps.filter((step) => !step.look_again).length, "step")} done
                  </span>
                )
              }
            >
              <CurrentSteps plan={current} />
            </Panel>
          )}
          <Panel className="max-lg:order-3" flush title="What happened" aside={<Connected live={live} ended={!!view.result} />}>
            <Log turns={log} start={live.turns[0]?.at ?? view.began_at} selected={search.at} onSelect={(turn) => set({ at: turn.seq })} className="max-h-96" />
          </Panel>
        </div>
        <div className="max-lg:contents lg:space-y-5">
          <Panel
            className="max-lg:order-2"
            title={search.at !== undefined ? "What it saw then" : view.result || mine ? "What it saw last" : "What it sees"}
            aside={
              <>
                {looked && !now && <Ago at={looked.turn.at} />}
                {search.at !== undefined && (
                  <Button small look="ghost" onClick={() => set({ at: undefined })}>
                    Back to now
                  </Button>
                )}
                {watchable && (now || search.live === false) && (
                  <label className="flex items-center gap-1.5">
                    <input type="checkbox" checked={search.live !== false} onChange={(event) => set({ live: event.target.checked ? undefined : false })} className="size-3.5 accent-(--accent)" />
                    live
                  </label>
                )}
                <label className={classes("flex items-center gap-1.5", !!now && "hidden")}>
                  <input type="checkbox" checked={search.zones !== false} onChange={(event) => set({ zones: event.target.checked ? undefined : false })} className="size-3.5 accent-(--accent)" />
                  zones
                </label>
              </>
            }
          >
            {now ? (
              <LivePicture url={now} seen={seen} />
            ) : seen ? (
              <Scene run={view.id} seen={seen} picture={picture} target={target} zones={search.zones !== false} />
            ) : (
              <p className="py-10 text-center text-sm text-soft">{error ? "What it saw is not kept." : "Nothing has been seen yet."}</p>
            )}
          </Panel>
          <Outcome view={view} />
          <Spend view={view} className="max-lg:order-5" />
        </div>
      </div>
    </div>
  );
}

/** What the run came to: the values that it brought back, and the effects that it had. */
function Outcome({ view }: { view: RunView }) {
  const { result, verdict } = view;
  if (!result || !verdict) return null;
  const sent = result.completed.filter((step) => step.irreversible);
  return (
    <Panel className="max-lg:order-4" title="Result" aside={<Said text={verdict.counts} />}>
      <dl className="space-y-3 text-sm">
        {result.data.map(([name, value]) => (
          <Fact key={name} name={name}>
            <span className="font-mono">
              <Value value={value} />
            </span>
          </Fact>
        ))}
        {result.success && (
          <Fact name={result.verified ? "Verified" : "Not verified"}>
            {result.verified ? <Said text={result.final_detail} /> : "The task does not say how to check it (done_when)."}
          </Fact>
        )}
        <Fact name="Irreversible effects">
          {sent.length ? (
            <ul>
              {sent.map((step) => (
                <li key={`${step.version} ${step.index}`} className="flex items-center gap-2">
                  {step.doubtful ? <CircleHelp aria-hidden className="size-4 shrink-0 text-doubt" /> : <Check aria-hidden className="size-4 shrink-0 text-good" />}
                  <span>
                    <Said text={step.says || step.skill} />, {step.doubtful ? "outcome unknown" : "once"}
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            "nothing"
          )}
        </Fact>
      </dl>
    </Panel>
  );
}

/** The last observation at a turn, and the turn that brought it. */
function lookedAt(turns: readonly TurnMessage[], at?: number): { turn: TurnMessage; seen: TurnMessage["seen"] } | null {
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index] as TurnMessage;
    if (turn.seen && (at === undefined || turn.seq <= at)) return { turn, seen: turn.seen };
  }
  return null;
}

function sentence(view: RunView): string {
  const text = view.verdict ? view.verdict.headline : view.why_not_driven ? "nothing drives it now" : view.taken_over_by ? `paused: ${view.taken_over_by} has taken over` : view.state === "asking" ? "it waits for your answer" : view.status;
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

const PARTS = [
  { to: "/runs/$run/replay", name: "Replay", icon: Film },
  { to: "/runs/$run/evidence", name: "Evidence", icon: FileCheck2 },
  { to: "/runs/$run/what-if", name: "What if", icon: Shuffle },
] as const;

function Head({ view, live }: { view: RunView; live: Live }) {
  const names = [view.task, view.key && `key ${view.key}`, view.world, view.by && `by ${view.by}`].filter(Boolean) as string[];
  return (
    <header className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
        <StateChip run={view} />
        <span className="font-mono text-xs">{view.id}</span>
        {names.map((name) => (
          <Said key={name} text={name} className="text-xs" />
        ))}
        <span className="text-xs">
          {view.ended_at ? (
            <>
              ended <Ago at={view.ended_at} />, took {duration(view.ended_at - view.began_at)}
            </>
          ) : (
            <>
              began <Since at={view.began_at} /> ago
            </>
          )}
        </span>
      </div>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <Sentence more={<Said text={view.goal} />}>
          <Said text={sentence(view)} />
        </Sentence>
        <Controls view={view} />
      </div>
      <nav aria-label="Parts of this run" className="-ml-2 flex flex-wrap gap-x-1 text-sm">
        {PARTS.map(({ to, name, icon: Sign }) => (
          <Link key={to} to={to} params={{ run: view.id }} className="flex items-center gap-1.5 rounded-lg px-2 py-1 font-medium text-accent hover:bg-accent-wash">
            <Sign aria-hidden className="size-4" />
            {name}
          </Link>
        ))}
        <a
          href={address(`runs/${encodeURIComponent(view.id)}/export.html`)}
          download
          title="The whole story in one file, without scripts"
          className="flex items-center gap-1.5 rounded-lg px-2 py-1 font-medium text-accent hover:bg-accent-wash"
        >
          <Download aria-hidden className="size-4" />
          Export
        </a>
      </nav>
      {view.question !== null && <Asks run={view.id} />}
      {view.wish !== "go" && !view.result && view.state !== "paused" && <Chip tone="ask">{view.wish === "pause" ? "pauses after this step" : "ends after this step"}</Chip>}
      {(live.notice || view.why_not_driven) && !view.result && (
        <p className="rounded-lg bg-doubt-wash px-3.5 py-2 text-sm text-doubt">
          <Said text={live.notice || view.why_not_driven} />
        </p>
      )}
      {view.pruned_at !== null && (
        <p className="max-w-4xl rounded-lg bg-doubt-wash px-3.5 py-2 text-sm text-doubt">
          Pruned <Ago at={view.pruned_at} />: its journal, plans, observations and pictures were deleted. Its result is still here.
        </p>
      )}
      {view.result?.final_detail && view.state === "failed" && (
        <p className="max-w-4xl rounded-lg bg-bad-wash px-3.5 py-2 text-sm text-bad">
          <Said text={view.result.final_detail} />
        </p>
      )}
    </header>
  );
}

/** What the run asks, in a line that leads to its card. */
function Asks({ run }: { run: string }) {
  const asked = useQuery(questionsQuery());
  const question = asked.data?.questions.find((one) => one.run === run);
  if (!question) return null;
  return (
    <Link to="/inbox" search={{ run }} className="flex max-w-4xl items-start gap-2.5 rounded-lg bg-ask-wash px-3.5 py-2.5 text-sm text-ask hover:underline">
      <Hand aria-hidden className="mt-0.5 size-4 shrink-0" />
      <Said text={gist(question)} className="min-w-0" />
    </Link>
  );
}

function Connected({ live, ended }: { live: Live; ended: boolean }) {
  if (ended) return <span data-turns={live.turns.length}>{count(live.turns.length, "turn")}</span>;
  const lost = live.connection === "lost" || live.connection === "connecting";
  return (
    <span role="status" className={classes("flex items-center gap-1.5", lost && "text-ask")} data-connection={live.connection}>
      {live.connection === "live" && <Pulse tone="good" />}
      {live.connection === "live" ? "live" : "connecting again…"}
    </span>
  );
}
