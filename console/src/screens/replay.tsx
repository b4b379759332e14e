import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { Slider } from "radix-ui";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { useLive } from "../api/live";
import { plansQuery, runQuery } from "../api/queries";
import { useSight } from "../api/seen";
import type { PlanRow, TurnMessage } from "../api/types";
import { useKeys } from "../ui/keys";
import { Log } from "../ui/log";
import { Button, classes, Empty, Panel, Sentence } from "../ui/parts";
import { Said } from "../ui/said";
import { Scene } from "../ui/scene";
import { clock, count, duration, elapsed } from "../ui/time";
import { Trouble } from "../ui/trouble";
import { Crumb } from "./crumb";
import { placeOf } from "../api/turns";
import { type Frame, framesOf } from "./frames";

const PLAYED = 700;

export function Replay() {
  const { run } = useParams({ from: "/runs/$run/replay" });
  return <Film key={run} run={run} />;
}

function Film({ run }: { run: string }) {
  const search = useSearch({ from: "/runs/$run/replay" });
  const navigate = useNavigate({ from: "/runs/$run/replay" });
  const { turns } = useLive(run);
  const view = useQuery(runQuery(run));
  const plans = useQuery(plansQuery(run));
  const frames = useMemo(() => framesOf(turns), [turns]);
  const place = placeOf(turns, search.at);
  const turn = turns[place];
  const frame = frames[placeOf(frames, turn?.seq)];
  const [playing, setPlaying] = useState(false);
  const { seen, picture } = useSight(run, frame?.observation ?? "", turns, turn?.seq);

  const go = (to: number) => {
    const there = turns[Math.min(turns.length - 1, Math.max(0, to))];
    if (there) void navigate({ search: { at: there.seq }, replace: true });
  };
  const goSeq = (seq: number) => void navigate({ search: { at: seq }, replace: true });
  const goFrame = (by: number) => {
    const there = frames[Math.min(frames.length - 1, Math.max(0, placeOf(frames, turn?.seq) + by))];
    if (there) goSeq(there.seq);
  };

  useEffect(() => {
    if (!playing) return;
    if (place >= turns.length - 1) return setPlaying(false);
    const timer = setTimeout(() => go(place + 1), PLAYED);
    return () => clearTimeout(timer);
  });
  useKeys({
    ArrowLeft: () => go(place - 1),
    ArrowRight: () => go(place + 1),
    k: () => goFrame(-1),
    j: () => goFrame(1),
    Home: () => go(0),
    End: () => go(turns.length - 1),
    " ": () => setPlaying((now) => !now),
  });

  const start = turns[0]?.at ?? 0;
  const plan = plans.data?.find((row) => row.plan.version === turn?.standing.plan);
  return (
    <div className="space-y-5">
      <Crumb run={run} page="replay" />
      <Sentence more={view.data && <Said text={view.data.goal} />}>
        {view.error ? "This run cannot be read." : turn ? <Said text={told(turn, turns, place)} /> : "Reading the journal…"}
      </Sentence>
      <Trouble error={view.error} />
      {turn && (
        <Panel
          title={
            <span className="flex items-center gap-2">
              <span className="font-mono text-xs">{elapsed(turn.at - start)}</span>
              <span className="text-soft">
                turn {place + 1} of {turns.length}
              </span>
            </span>
          }
          aside={
            <span className="flex items-center gap-1">
              <Button small look="ghost" aria-label="One turn back" onClick={() => go(place - 1)} disabled={place === 0}>
                <SkipBack aria-hidden className="size-4" />
              </Button>
              <Button small look="ghost" aria-label={playing ? "Pause" : "Play"} onClick={() => setPlaying(!playing)} disabled={place >= turns.length - 1}>
                {playing ? <Pause aria-hidden className="size-4" /> : <Play aria-hidden className="size-4" />}
              </Button>
              <Button small look="ghost" aria-label="One turn on" onClick={() => go(place + 1)} disabled={place >= turns.length - 1}>
                <SkipForward aria-hidden className="size-4" />
              </Button>
            </span>
          }
        >
          <Strip run={run} turns={turns} frames={frames} shown={frame} onShow={goSeq} />
          <Slider.Root
            className="relative mt-3 flex h-6 touch-none items-center select-none"
            min={0}
            max={Math.max(1, turns.length - 1)}
            value={[place]}
            onValueChange={([to]) => go(to ?? 0)}
          >
            <Slider.Track className="relative h-1.5 grow rounded-full bg-sunken">
              <Slider.Range className="absolute h-full rounded-full bg-accent" />
              <Marks turns={turns} />
            </Slider.Track>
            <Slider.Thumb aria-label="Turn" aria-valuetext={`turn ${place + 1}, ${clock(turn.at)}`} className="block size-5 rounded-full border-2 border-accent bg-panel shadow" />
          </Slider.Root>
        </Panel>
      )}
      {turn && (
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
          <Panel title="What it saw" aside={frame && <span className="font-mono">{clock(frame.at)}</span>}>
            {seen ? <Scene run={run} seen={seen} picture={picture} target={targetOf(plan, turn)} /> : <Empty>Nothing has been seen yet.</Empty>}
          </Panel>
          <div className="space-y-5">
            <Moment turn={turn} plan={plan} />
            <Panel flush title="What happened" aside={<span>{count(turns.length, "turn")}</span>}>
              <Log turns={turns} start={start} selected={turn.seq} onSelect={(one) => goSeq(one.seq)} still className="max-h-72" />
            </Panel>
          </div>
        </div>
      )}
    </div>
  );
}

/** What happened at this turn; a turn without a line of its own belongs to the one before. */
function told(turn: TurnMessage, turns: readonly TurnMessage[], place: number): string {
  let text = turn.line?.text;
  for (let index = place; !text && index >= 0; index--) text = turns[index]?.line?.text;
  const words = text || turn.standing.status;
  const first = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

export function targetOf(plan: PlanRow | undefined, turn: TurnMessage): string | undefined {
  return plan?.plan.steps[turn.standing.cursor]?.zone;
}

function Moment({ turn, plan }: { turn: TurnMessage; plan?: PlanRow }) {
  const step = plan?.steps[turn.standing.cursor];
  return (
    <Panel title={turn.standing.plan ? `Plan ${turn.standing.plan}` : "Before the first plan"}>
      <dl className="space-y-2 text-sm">
        {step && (
          <div>
            <dt className="text-xs text-soft">Next step</dt>
            <dd className="font-medium">
              {turn.standing.cursor + 1}. <Said text={step} />
            </dd>
          </div>
        )}
        <div>
          <dt className="text-xs text-soft">Then it was</dt>
          <dd>
            <Said text={turn.standing.status} />
          </dd>
        </div>
        <div>
          <dt className="text-xs text-soft">Spent by then</dt>
          <dd>
            {count(turn.standing.spent.calls, "call")}, {duration(turn.standing.active_seconds)}
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

const COLOURS: Record<string, string> = { bad: "var(--bad)", doubt: "var(--doubt)", ask: "var(--ask)" };

/** Where something went wrong, was in doubt or was asked: the places worth going to. */
const Marks = memo(function Marks({ turns }: { turns: readonly TurnMessage[] }) {
  const last = Math.max(1, turns.length - 1);
  const marked = turns.flatMap((turn, index) => (turn.line && COLOURS[turn.line.tone] ? [{ index, colour: COLOURS[turn.line.tone] }] : [])).slice(0, 500);
  return (
    <span aria-hidden>
      {marked.map(({ index, colour }) => (
        <span key={index} className="absolute -top-1 h-3.5 w-0.5 rounded" style={{ left: `${(100 * index) / last}%`, background: colour }} />
      ))}
    </span>
  );
});

function Strip({ run, turns, frames, shown, onShow }: { run: string; turns: readonly TurnMessage[]; frames: Frame[]; shown?: Frame; onShow: (seq: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const items = useVirtualizer({
    horizontal: true,
    count: frames.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (frames[index]?.idle ? 172 : 128),
    overscan: 3,
    getItemKey: (index) => frames[index]?.seq ?? index,
  });
  const at = shown ? frames.indexOf(shown) : -1;
  useEffect(() => {
    if (at >= 0) items.scrollToIndex(at, { align: "center" });
  }, [at, items]);
  return (
    <div ref={box} className="-mx-1 overflow-x-auto px-1 py-1">
      <ol style={{ width: items.getTotalSize() }} className="relative h-24" aria-label="Film strip">
        {items.getVirtualItems().map((item) => {
          const frame = frames[item.index];
          if (!frame) return null;
          const here = frame === shown;
          return (
            <li key={item.key} className="absolute top-0 flex h-full items-stretch" style={{ width: item.size - 8, transform: `translateX(${item.start}px)` }}>
              {frame.idle > 0 && (
                <span className="flex w-11 shrink-0 items-center justify-center text-center text-2xs text-soft">{duration(frame.idle)}</span>
              )}
              <button
                type="button"
                tabIndex={here ? 0 : -1}
                aria-pressed={here}
                onClick={() => onShow(frame.seq)}
                className={classes(
                  "relative flex min-w-0 flex-1 flex-col overflow-hidden rounded-lg border bg-sunken text-left -outline-offset-2",
                  here && "border-accent ring-2 ring-accent",
                )}
              >
                <Thumb run={run} turns={turns} frame={frame} />
                <span className="absolute inset-x-0 bottom-0 truncate bg-panel/90 px-1.5 text-2xs">
                  <span className="sr-only">{clock(frame.at)} </span>
                  <Said text={frame.title} />
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Milliseconds that a frame has been in view before it is drawn: what only flies by is neither asked for nor drawn. */
const RESTED = 120;

const Thumb = memo(function Thumb({ run, turns, frame }: { run: string; turns: readonly TurnMessage[]; frame: Frame }) {
  const [rests, setRests] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRests(true), RESTED);
    return () => clearTimeout(timer);
  }, []);
  return rests ? <Drawn run={run} turns={turns} frame={frame} /> : null;
});

/** The picture of a frame in small, or its zones. */
const Drawn = memo(function Drawn({ run, turns, frame }: { run: string; turns: readonly TurnMessage[]; frame: Frame }) {
  const { seen, picture } = useSight(run, frame.observation, turns, frame.seq);
  return <div aria-hidden className="pointer-events-none h-full w-full">{seen && <Scene run={run} seen={seen} picture={picture} bare />}</div>;
});
