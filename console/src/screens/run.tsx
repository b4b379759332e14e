import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Check, CircleHelp, Download, FileCheck2, Film, Hand, Shuffle } from "lucide-react";
import { useMemo } from "react";
import { apiUrl } from "../api/client";
import { type LiveTurns, useLiveTurns } from "../api/use-live-turns";
import { linesQuery, meQuery, plansQuery, questionsQuery, runQuery } from "../api/queries";
import { useObservation } from "../api/use-observation";
import { findIndexAt, countDoneSteps } from "../api/turns";
import type { RunView, TurnLine, TurnMessage } from "../api/types";
import { useLivePicture } from "../api/use-live-picture";
import { Log } from "../ui/log";
import { Button, Chip, joinClasses, Fact, Panel, Pulse, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { LivePicture } from "../ui/live-picture";
import { ObservationView } from "../ui/observation-view";
import { RunStateChip } from "../ui/run-state";
import { formatCount, formatDuration, toSentence } from "../ui/format";
import { TimeAgo, TimeSince } from "../ui/timestamps";
import { ErrorNotice } from "../ui/error-notice";
import { summarizeQuestion, Value } from "./request-details";
import { Controls } from "./controls";
import { Spend } from "./spend";
import { Plans } from "./plans";
import { CurrentSteps, describeReplacedPlan, Steps } from "./steps";
import { TakeOver } from "./takeover";

export interface RunSearch {
  /** The plan whose steps are shown; by default the current one. */
  plan?: number;
  /** The turn that is shown; by default the latest. */
  at?: number;
  /** Whether to outline the zones. */
  zones?: boolean;
  /** Whether to show a live picture of the world, if there is one, instead of the last observation. */
  live?: boolean;
}

export function Run() {
  const { run } = useParams({ from: "/runs/$run" });
  return <RunPage key={run} run={run} />;
}

function RunPage({ run }: { run: string }) {
  const view = useQuery(runQuery(run));
  const lines = useQuery(linesQuery(run));
  // The stream of a long journal takes seconds, so the first view of the page is loaded before it.
  const live = useLiveTurns(run, !view.isLoading && !lines.isLoading);
  if (view.error && !view.data)
    return (
      <div className="space-y-4">
        <PageHeading>This run cannot be read.</PageHeading>
        <ErrorNotice error={view.error} />
      </div>
    );
  if (!view.data) return <PageHeading>Loading the run…</PageHeading>;
  return <RunDetails view={view.data} live={live} lines={lines.data} />;
}

const NO_TURNS: readonly TurnMessage[] = [];

function RunDetails({ view, live, lines }: { view: RunView; live: LiveTurns; lines?: TurnLine[] }) {
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const set = (change: Partial<RunSearch>) => void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true });
  const caughtUp = !lines || (live.turns.at(-1)?.seq ?? 0) >= (lines.at(-1)?.seq ?? 0);
  const turnsUsable = caughtUp || search.at !== undefined;
  const lastObserved = useMemo(() => (turnsUsable ? findLastObserved(live.turns, search.at) : null), [live.turns, search.at, turnsUsable]);
  const observationId = lastObserved?.seen?.id ?? view.seen?.id ?? "";
  const { observation, picture, error } = useObservation(view.id, observationId, turnsUsable ? live.turns : NO_TURNS, search.at);
  const log = caughtUp ? live.turns : lines;
  const doneSteps = useMemo(() => countDoneSteps(live.turns), [live.turns]);
  const current = view.plan;
  const plans = useQuery(plansQuery(view.id));
  const turn = search.at === undefined ? undefined : live.turns[findIndexAt(live.turns, search.at)];
  const planThen = plans.data?.find((row) => row.plan.version === turn?.standing.plan);
  const target = turn ? planThen?.plan.steps[turn.standing.cursor]?.zone : current?.steps[current.cursor]?.zone;
  const me = useQuery(meQuery());
  const isMine = !!view.taken_over_by && view.taken_over_by === me.data?.name;
  const watchable = !view.result && search.at === undefined && !isMine;
  const liveUrl = useLivePicture(`runs/${encodeURIComponent(view.id)}/live`, watchable && search.live !== false);
  const olderPlan = search.plan !== undefined && search.plan !== current?.version ? plans.data?.find((row) => row.plan.version === search.plan) : undefined;

  return (
    <div className="space-y-5">
      <RunHeader view={view} live={live} />
      {isMine && <TakeOver view={view} />}
      <Plans view={view} doneSteps={doneSteps} shown={search.plan} onShow={(plan) => set({ plan })} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <div className="max-lg:contents lg:space-y-5">
          {olderPlan ? (
            <Panel
              className="max-lg:order-1"
              flush
              title={`Plan ${olderPlan.plan.version}`}
              aside={
                <Button small look="ghost" onClick={() => set({ plan: undefined })}>
                  Back to the current plan
                </Button>
              }
            >
              <Steps key={olderPlan.plan.version} reason={olderPlan.reason} steps={describeReplacedPlan(olderPlan, doneSteps.get(olderPlan.plan.version) ?? 0, plans.data?.find((row) => row.plan.version > olderPlan.plan.version && row.plan.parent === olderPlan.plan.version))} />
            </Panel>
          ) : (
            <Panel
              className="max-lg:order-1"
              flush
              title={current ? `Plan ${current.version}` : "Plan"}
              aside={
                current && (
                  <span>
                    {current.steps.filter((step) => step.status === "done" && !step.look_again).length} of {formatCount(current.steps.filter((step) => !step.look_again).length, "step")} done
                  </span>
                )
              }
            >
              <CurrentSteps plan={current} />
            </Panel>
          )}
          <Panel className="max-lg:order-3" flush title="What happened" aside={<ConnectionStatus live={live} ended={!!view.result} />}>
            <Log turns={log} start={live.turns[0]?.at ?? view.began_at} selected={search.at} onSelect={(turn) => set({ at: turn.seq })} className="max-h-96" />
          </Panel>
        </div>
        <div className="max-lg:contents lg:space-y-5">
          <Panel
            className="max-lg:order-2"
            title={search.at !== undefined ? "What it saw then" : view.result || isMine ? "What it saw last" : "What it sees"}
            aside={
              <>
                {lastObserved && !liveUrl && <TimeAgo at={lastObserved.turn.at} />}
                {search.at !== undefined && (
                  <Button small look="ghost" onClick={() => set({ at: undefined })}>
                    Back to now
                  </Button>
                )}
                {watchable && (liveUrl || search.live === false) && (
                  <label className="flex items-center gap-1.5">
                    <input type="checkbox" checked={search.live !== false} onChange={(event) => set({ live: event.target.checked ? undefined : false })} className="size-3.5 accent-(--accent)" />
                    live
                  </label>
                )}
                <label className={joinClasses("flex items-center gap-1.5", !!liveUrl && "hidden")}>
                  <input type="checkbox" checked={search.zones !== false} onChange={(event) => set({ zones: event.target.checked ? undefined : false })} className="size-3.5 accent-(--accent)" />
                  zones
                </label>
              </>
            }
          >
            {liveUrl ? (
              <LivePicture url={liveUrl} observation={observation} />
            ) : observation ? (
              <ObservationView run={view.id} observation={observation} pictured={picture} target={target} zones={search.zones !== false} />
            ) : (
              <p className="py-10 text-center text-sm text-soft">{error ? "This observation is no longer stored." : "Nothing has been observed yet."}</p>
            )}
          </Panel>
          <Outcome view={view} />
          <Spend view={view} className="max-lg:order-5" />
        </div>
      </div>
    </div>
  );
}

/** The result of a run: the values that it returned, and its irreversible effects. */
function Outcome({ view }: { view: RunView }) {
  const { result, verdict } = view;
  if (!result || !verdict) return null;
  const sent = result.completed.filter((step) => step.irreversible);
  return (
    <Panel className="max-lg:order-4" title="Result" aside={<UntrustedText text={verdict.counts} />}>
      <dl className="space-y-3 text-sm">
        {result.answer && (
          <Fact name="Answer">
            <span className="whitespace-pre-wrap">
              <UntrustedText text={result.answer} />
            </span>
          </Fact>
        )}
        {result.data.map(([name, value]) => (
          <Fact key={name} name={name}>
            <span className="block max-h-80 overflow-y-auto font-mono whitespace-pre-wrap">
              <Value value={value} />
            </span>
            {result.unseen?.includes(name) && <p className="text-doubt">not seen on any screen; computed or worded by the model</p>}
          </Fact>
        ))}
        {result.success && <Support result={result} />}
        <Fact name="Irreversible effects">
          {sent.length ? (
            <ul>
              {sent.map((step) => (
                <li key={`${step.version} ${step.index}`} className="flex items-center gap-2">
                  {step.doubtful ? <CircleHelp aria-hidden className="size-4 shrink-0 text-doubt" /> : <Check aria-hidden className="size-4 shrink-0 text-good" />}
                  <span>
                    <UntrustedText text={step.says || step.skill} />, {step.doubtful ? "outcome unknown" : "once"}
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

/** Says what supports that a successful run is done. */
function Support({ result }: { result: NonNullable<RunView["result"]> }) {
  if (result.final_reason === "goal_reached") {
    return (
      <Fact name="Verified">
        <UntrustedText text={result.final_detail} />
      </Fact>
    );
  }
  if (result.verified) return <Fact name="Verified">A probe found what was sent.</Fact>;
  if (result.sending === "call") return <Fact name="Returned">The function returned. Its caller has the value.</Fact>;
  return <Fact name="Not verified">Nothing has checked that it is done. With done_when in its task, that is checked.</Fact>;
}

/** Finds the last turn with an observation, at or before `at`. */
function findLastObserved(turns: readonly TurnMessage[], at?: number): { turn: TurnMessage; seen: TurnMessage["seen"] } | null {
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index] as TurnMessage;
    if (turn.seen && (at === undefined || turn.seq <= at)) return { turn, seen: turn.seen };
  }
  return null;
}

function describeRun(view: RunView): string {
  const text = view.verdict ? view.verdict.headline : view.why_not_driven ? "no process is driving it" : view.taken_over_by ? `paused: ${view.taken_over_by} has taken over` : view.state === "asking" ? "it waits for your answer" : view.status;
  return toSentence(text);
}

const SUBPAGES = [
  { to: "/runs/$run/replay", name: "Replay", icon: Film },
  { to: "/runs/$run/evidence", name: "Evidence", icon: FileCheck2 },
  { to: "/runs/$run/what-if", name: "What if", icon: Shuffle },
] as const;

function RunHeader({ view, live }: { view: RunView; live: LiveTurns }) {
  const names = [view.task, view.key && `key ${view.key}`, view.world, view.by && `by ${view.by}`].filter(Boolean) as string[];
  return (
    <header className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
        <RunStateChip run={view} />
        <span className="font-mono text-xs">{view.id}</span>
        {names.map((name) => (
          <UntrustedText key={name} text={name} className="text-xs" />
        ))}
        <span className="text-xs">
          {view.ended_at ? (
            <>
              ended <TimeAgo at={view.ended_at} />, took {formatDuration(view.ended_at - view.began_at)}
            </>
          ) : (
            <>
              started <TimeSince at={view.began_at} /> ago
            </>
          )}
        </span>
      </div>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <PageHeading more={<UntrustedText text={view.goal} />}>
          <UntrustedText text={describeRun(view)} />
        </PageHeading>
        <Controls view={view} />
      </div>
      <nav aria-label="Pages of this run" className="-ml-2 flex flex-wrap gap-x-1 text-sm">
        {SUBPAGES.map(({ to, name, icon: Icon }) => (
          <Link key={to} to={to} params={{ run: view.id }} className="flex items-center gap-1.5 rounded-lg px-2 py-1 font-medium text-accent hover:bg-accent-wash">
            <Icon aria-hidden className="size-4" />
            {name}
          </Link>
        ))}
        <a
          href={apiUrl(`runs/${encodeURIComponent(view.id)}/export.html`)}
          download
          title="The whole run in one file, without scripts"
          className="flex items-center gap-1.5 rounded-lg px-2 py-1 font-medium text-accent hover:bg-accent-wash"
        >
          <Download aria-hidden className="size-4" />
          Export
        </a>
      </nav>
      {view.question !== null && <QuestionLink run={view.id} />}
      {view.wish !== "go" && !view.result && view.state !== "paused" && <Chip tone="ask">{view.wish === "pause" ? "pauses after this step" : "ends after this step"}</Chip>}
      {(live.notice || view.why_not_driven) && !view.result && (
        <p className="rounded-lg bg-doubt-wash px-3.5 py-2 text-sm text-doubt">
          <UntrustedText text={live.notice || view.why_not_driven} />
        </p>
      )}
      {view.pruned_at !== null && (
        <p className="max-w-4xl rounded-lg bg-doubt-wash px-3.5 py-2 text-sm text-doubt">
          Pruned <TimeAgo at={view.pruned_at} />: its journal, plans, observations and pictures were deleted. Its result is still here.
        </p>
      )}
      {view.result?.final_detail && view.state === "failed" && (
        <p className="max-w-4xl rounded-lg bg-bad-wash px-3.5 py-2 text-sm text-bad">
          <UntrustedText text={view.result.final_detail} />
        </p>
      )}
    </header>
  );
}

/** A link to the open question of the run. */
function QuestionLink({ run }: { run: string }) {
  const questions = useQuery(questionsQuery());
  const question = questions.data?.questions.find((candidate) => candidate.run === run);
  if (!question) return null;
  return (
    <Link to="/inbox" search={{ run }} className="flex max-w-4xl items-start gap-2.5 rounded-lg bg-ask-wash px-3.5 py-2.5 text-sm text-ask hover:underline">
      <Hand aria-hidden className="mt-0.5 size-4 shrink-0" />
      <UntrustedText text={summarizeQuestion(question)} className="min-w-0" />
    </Link>
  );
}

function ConnectionStatus({ live, ended }: { live: LiveTurns; ended: boolean }) {
  if (ended) return <span data-turns={live.turns.length}>{formatCount(live.turns.length, "turn")}</span>;
  const isLost = live.connection === "lost" || live.connection === "connecting";
  return (
    <span role="status" className={joinClasses("flex items-center gap-1.5", isLost && "text-ask")} data-connection={live.connection}>
      {live.connection === "live" && <Pulse tone="good" />}
      {live.connection === "live" ? "live" : "connecting…"}
    </span>
  );
}
