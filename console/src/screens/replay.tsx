import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { Slider } from "radix-ui";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { useLiveTurns } from "../api/use-live-turns";
import { plansQuery, runQuery } from "../api/queries";
import { useObservation } from "../api/use-observation";
import type { PlanRow, TurnMessage } from "../api/types";
import { useKeys } from "../ui/use-keys";
import { Log } from "../ui/log";
import { Button, joinClasses, Empty, Panel, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { ObservationView } from "../ui/observation-view";
import { formatClock, formatCount, formatDuration, formatElapsed, toSentence } from "../ui/format";
import { ErrorNotice } from "../ui/error-notice";
import { Breadcrumb } from "./breadcrumb";
import { findIndexAt } from "../api/turns";
import { type Frame, buildFrames } from "./frames";

const MS_PER_TURN = 700;

export function Replay() {
  const { run } = useParams({ from: "/runs/$run/replay" });
  return <ReplayPage key={run} run={run} />;
}

function ReplayPage({ run }: { run: string }) {
  const search = useSearch({ from: "/runs/$run/replay" });
  const navigate = useNavigate({ from: "/runs/$run/replay" });
  const { turns } = useLiveTurns(run);
  const view = useQuery(runQuery(run));
  const plans = useQuery(plansQuery(run));
  const frames = useMemo(() => buildFrames(turns), [turns]);
  const index = findIndexAt(turns, search.at);
  const turn = turns[index];
  const frame = frames[findIndexAt(frames, turn?.seq)];
  const [playing, setPlaying] = useState(false);
  const { observation, picture } = useObservation(run, frame?.observation ?? "", turns, turn?.seq);

  const goToSeq = (seq: number) => void navigate({ search: { at: seq }, replace: true });
  const goTo = (target: number) => {
    const next = turns[Math.min(turns.length - 1, Math.max(0, target))];
    if (next) goToSeq(next.seq);
  };
  const goToFrame = (by: number) => {
    const next = frames[Math.min(frames.length - 1, Math.max(0, findIndexAt(frames, turn?.seq) + by))];
    if (next) goToSeq(next.seq);
  };

  useEffect(() => {
    if (!playing) return;
    if (index >= turns.length - 1) return setPlaying(false);
    const timer = setTimeout(() => goTo(index + 1), MS_PER_TURN);
    return () => clearTimeout(timer);
  });
  useKeys({
    ArrowLeft: () => goTo(index - 1),
    ArrowRight: () => goTo(index + 1),
    k: () => goToFrame(-1),
    j: () => goToFrame(1),
    Home: () => goTo(0),
    End: () => goTo(turns.length - 1),
    " ": () => setPlaying((isPlaying) => !isPlaying),
  });

  const start = turns[0]?.at ?? 0;
  const plan = plans.data?.find((row) => row.plan.version === turn?.standing.plan);
  return (
    <div className="space-y-5">
      <Breadcrumb run={run} page="replay" />
      <PageHeading more={view.data && <UntrustedText text={view.data.goal} />}>
        {view.error ? "This run cannot be read." : turn ? <UntrustedText text={describeTurn(turn, turns, index)} /> : "Loading the journal…"}
      </PageHeading>
      <ErrorNotice error={view.error} />
      {turn && (
        <Panel
          title={
            <span className="flex items-center gap-2">
              <span className="font-mono text-xs">{formatElapsed(turn.at - start)}</span>
              <span className="text-soft">
                turn {index + 1} of {turns.length}
              </span>
            </span>
          }
          aside={
            <span className="flex items-center gap-1">
              <Button small look="ghost" aria-label="One turn back" onClick={() => goTo(index - 1)} disabled={index === 0}>
                <SkipBack aria-hidden className="size-4" />
              </Button>
              <Button small look="ghost" aria-label={playing ? "Pause" : "Play"} onClick={() => setPlaying(!playing)} disabled={index >= turns.length - 1}>
                {playing ? <Pause aria-hidden className="size-4" /> : <Play aria-hidden className="size-4" />}
              </Button>
              <Button small look="ghost" aria-label="One turn forward" onClick={() => goTo(index + 1)} disabled={index >= turns.length - 1}>
                <SkipForward aria-hidden className="size-4" />
              </Button>
            </span>
          }
        >
          <FilmStrip run={run} turns={turns} frames={frames} shown={frame} onShow={goToSeq} />
          <Slider.Root
            className="relative mt-3 flex h-6 touch-none items-center select-none"
            min={0}
            max={Math.max(1, turns.length - 1)}
            value={[index]}
            onValueChange={([target]) => goTo(target ?? 0)}
          >
            <Slider.Track className="relative h-1.5 grow rounded-full bg-sunken">
              <Slider.Range className="absolute h-full rounded-full bg-accent" />
              <SliderMarks turns={turns} />
            </Slider.Track>
            <Slider.Thumb aria-label="Turn" aria-valuetext={`turn ${index + 1}, ${formatClock(turn.at)}`} className="block size-5 rounded-full border-2 border-accent bg-panel shadow" />
          </Slider.Root>
        </Panel>
      )}
      {turn && (
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
          <Panel title="What it saw" aside={frame && <span className="font-mono">{formatClock(frame.at)}</span>}>
            {observation ? <ObservationView run={run} observation={observation} pictured={picture} target={targetOf(plan, turn)} /> : <Empty>Nothing has been observed yet.</Empty>}
          </Panel>
          <div className="space-y-5">
            <TurnDetails turn={turn} plan={plan} />
            <Panel flush title="What happened" aside={<span>{formatCount(turns.length, "turn")}</span>}>
              <Log turns={turns} start={start} selected={turn.seq} onSelect={(selected) => goToSeq(selected.seq)} followSelected className="max-h-72" />
            </Panel>
          </div>
        </div>
      )}
    </div>
  );
}

/** Describes a turn. A turn without a log line is described by the line before it. */
function describeTurn(turn: TurnMessage, turns: readonly TurnMessage[], at: number): string {
  let text = turn.line?.text;
  for (let index = at; !text && index >= 0; index--) text = turns[index]?.line?.text;
  return toSentence(text || turn.standing.status);
}

/** The zone of the step that is next after this turn. */
function targetOf(plan: PlanRow | undefined, turn: TurnMessage): string | undefined {
  return plan?.plan.steps[turn.standing.cursor]?.zone;
}

function TurnDetails({ turn, plan }: { turn: TurnMessage; plan?: PlanRow }) {
  const step = plan?.steps[turn.standing.cursor];
  return (
    <Panel title={turn.standing.plan ? `Plan ${turn.standing.plan}` : "Before the first plan"}>
      <dl className="space-y-2 text-sm">
        {step && (
          <div>
            <dt className="text-xs text-soft">Next step</dt>
            <dd className="font-medium">
              {turn.standing.cursor + 1}. <UntrustedText text={step} />
            </dd>
          </div>
        )}
        <div>
          <dt className="text-xs text-soft">State</dt>
          <dd>
            <UntrustedText text={turn.standing.status} />
          </dd>
        </div>
        <div>
          <dt className="text-xs text-soft">Spent so far</dt>
          <dd>
            {formatCount(turn.standing.spent.calls, "call")}, {formatDuration(turn.standing.active_seconds)}
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

const COLORS: Record<string, string> = { bad: "var(--bad)", doubt: "var(--doubt)", ask: "var(--ask)" };

/** Marks the turns with a failure, a doubt or a question. */
const SliderMarks = memo(function SliderMarks({ turns }: { turns: readonly TurnMessage[] }) {
  const last = Math.max(1, turns.length - 1);
  const marked = turns.flatMap((turn, index) => (turn.line && COLORS[turn.line.tone] ? [{ index, color: COLORS[turn.line.tone] }] : [])).slice(0, 500);
  return (
    <span aria-hidden>
      {marked.map(({ index, color }) => (
        <span key={index} className="absolute -top-1 h-3.5 w-0.5 rounded" style={{ left: `${(100 * index) / last}%`, background: color }} />
      ))}
    </span>
  );
});

function FilmStrip({ run, turns, frames, shown, onShow }: { run: string; turns: readonly TurnMessage[]; frames: Frame[]; shown?: Frame; onShow: (seq: number) => void }) {
  const container = useRef<HTMLDivElement>(null);
  const items = useVirtualizer({
    horizontal: true,
    count: frames.length,
    getScrollElement: () => container.current,
    estimateSize: (index) => (frames[index]?.idle ? 172 : 128),
    overscan: 3,
    getItemKey: (index) => frames[index]?.seq ?? index,
  });
  const at = shown ? frames.indexOf(shown) : -1;
  useEffect(() => {
    if (at >= 0) items.scrollToIndex(at, { align: "center" });
  }, [at, items]);
  return (
    <div ref={container} className="-mx-1 overflow-x-auto px-1 py-1">
      <ol style={{ width: items.getTotalSize() }} className="relative h-24" aria-label="Film strip">
        {items.getVirtualItems().map((item) => {
          const frame = frames[item.index];
          if (!frame) return null;
          const isShown = frame === shown;
          return (
            <li key={item.key} className="absolute top-0 flex h-full items-stretch" style={{ width: item.size - 8, transform: `translateX(${item.start}px)` }}>
              {frame.idle > 0 && (
                <span className="flex w-11 shrink-0 items-center justify-center text-center text-2xs text-soft">{formatDuration(frame.idle)}</span>
              )}
              <button
                type="button"
                tabIndex={isShown ? 0 : -1}
                aria-pressed={isShown}
                onClick={() => onShow(frame.seq)}
                className={joinClasses(
                  "relative flex min-w-0 flex-1 flex-col overflow-hidden rounded-lg border bg-sunken text-left -outline-offset-2",
                  isShown && "border-accent ring-2 ring-accent",
                )}
              >
                <LazyThumbnail run={run} turns={turns} frame={frame} />
                <span className="absolute inset-x-0 bottom-0 truncate bg-panel/90 px-1.5 text-2xs">
                  <span className="sr-only">{formatClock(frame.at)} </span>
                  <UntrustedText text={frame.title} />
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Milliseconds that a frame must be in view before it is loaded: frames that are only scrolled past are not. */
const THUMBNAIL_DELAY_MS = 120;

const LazyThumbnail = memo(function LazyThumbnail({ run, turns, frame }: { run: string; turns: readonly TurnMessage[]; frame: Frame }) {
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), THUMBNAIL_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return visible ? <Thumbnail run={run} turns={turns} frame={frame} /> : null;
});

/** A small picture of a frame, or its zones. */
const Thumbnail = memo(function Thumbnail({ run, turns, frame }: { run: string; turns: readonly TurnMessage[]; frame: Frame }) {
  const { observation, picture } = useObservation(run, frame.observation, turns, frame.seq);
  return <div aria-hidden className="pointer-events-none h-full w-full">{observation && <ObservationView run={run} observation={observation} pictured={picture} thumbnail />}</div>;
});
