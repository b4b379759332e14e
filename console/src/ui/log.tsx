import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, Check, CircleHelp, Hand, Minus, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { TurnLine, TurnMessage } from "../api/types";
import { Button, classes, Empty, INK, type Icon, type Tone } from "./parts";
import { Said } from "./said";
import { clock, duration, elapsed } from "./time";

const SIGNS: Record<string, Icon> = { good: Check, bad: X, doubt: CircleHelp, ask: Hand, plain: Minus };
const WORDS: Record<string, string> = { good: "good: ", bad: "failure: ", doubt: "doubt: ", ask: "question: ", plain: "" };
/** Waiting longer than this is one line, so that a night does not push the story apart. */
const IDLE = 20;

type LogTurn = TurnLine | Pick<TurnMessage, "seq" | "at" | "line">;
type Entry = { kind: "turn"; turn: LogTurn } | { kind: "idle"; seconds: number; before: number };

export function entriesOf(turns: readonly LogTurn[]): Entry[] {
  const found: Entry[] = [];
  let last = 0;
  for (const turn of turns) {
    if (last && turn.at - last > IDLE) found.push({ kind: "idle", seconds: turn.at - last, before: turn.seq });
    last = turn.at;
    if (turn.line) found.push({ kind: "turn", turn });
  }
  return found;
}

/** What happened, a line for each turn that is worth one, in the order of the journal. Follows the end until it is scrolled. */
export function Log({
  turns,
  start,
  selected,
  onSelect,
  still,
  className,
}: {
  turns: readonly LogTurn[];
  /** When the run began. */
  start: number;
  selected?: number;
  onSelect?: (turn: LogTurn) => void;
  /** Stays at what is selected in place of the end. */
  still?: boolean;
  className?: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const entries = useMemo(() => entriesOf(turns), [turns]);
  const [following, setFollowing] = useState(!still);
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    overscan: 12,
    getItemKey: (index) => {
      const entry = entries[index];
      return entry ? (entry.kind === "turn" ? entry.turn.seq : `idle ${entry.before}`) : index;
    },
  });

  useEffect(() => {
    if (following && entries.length) rows.scrollToIndex(entries.length - 1, { align: "end" });
  }, [entries.length, following, rows]);

  const chosen = useMemo(
    () => (selected === undefined ? -1 : entries.findLastIndex((entry) => entry.kind === "turn" && entry.turn.seq <= selected)),
    [selected, entries],
  );
  useEffect(() => {
    if (chosen >= 0 && !following) rows.scrollToIndex(chosen, { align: still ? "center" : "auto" });
  }, [chosen, following, still, rows]);

  if (!entries.length) return <Empty>Nothing has happened yet.</Empty>;
  return (
    <div className="relative">
      <div
        ref={box}
        tabIndex={0}
        role="log"
        aria-label="Log"
        aria-live="off"
        onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
        onScroll={({ currentTarget: list }) => {
          const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 24;
          if (still) return;
          if (atEnd) setFollowing(true);
          else if (rows.scrollDirection === "backward") setFollowing(false);
        }}
        className={classes("overflow-y-auto text-sm -outline-offset-2", className ?? "max-h-80")}
      >
        <ol style={{ height: rows.getTotalSize() }} className="relative">
          {rows.getVirtualItems().map((item) => {
            const entry = entries[item.index];
            if (!entry) return null;
            return (
              <li
                key={item.key}
                data-index={item.index}
                ref={rows.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {entry.kind === "idle" ? (
                  <div className="flex items-center gap-3 px-4 py-1 text-xs text-soft">
                    <span className="h-px flex-1 border-t border-dashed border-edge" />
                    {duration(entry.seconds)} passed
                    <span className="h-px flex-1 border-t border-dashed border-edge" />
                  </div>
                ) : (
                  <Line turn={entry.turn} start={start} chosen={item.index === chosen} onSelect={onSelect} />
                )}
              </li>
            );
          })}
        </ol>
      </div>
      {!following && !still && (
        <Button small className="absolute right-3 bottom-2 shadow" onClick={() => setFollowing(true)}>
          <ArrowDown aria-hidden className="size-3.5" />
          Latest
        </Button>
      )}
    </div>
  );
}

function Line({
  turn,
  start,
  chosen,
  onSelect,
}: {
  turn: LogTurn;
  start: number;
  chosen: boolean;
  onSelect?: (turn: LogTurn) => void;
}) {
  const tone = (turn.line?.tone ?? "plain") as Tone;
  const Sign = SIGNS[tone] ?? Minus;
  const content = (
    <>
      <span className="w-12 shrink-0 pt-px text-right font-mono text-xs text-soft" title={clock(turn.at)}>
        {elapsed(turn.at - start)}
      </span>
      <Sign aria-hidden className={classes("mt-0.5 size-4 shrink-0", INK[tone])} />
      <span className={classes("min-w-0 flex-1", tone === "plain" ? "" : INK[tone])}>
        <span className="sr-only">{WORDS[tone]}</span>
        <Said text={turn.line?.text ?? ""} />
      </span>
    </>
  );
  const look = classes("flex w-full items-start gap-2.5 px-4 py-1 text-left -outline-offset-2", chosen && "bg-accent-wash");
  return onSelect ? (
    <button type="button" tabIndex={-1} aria-pressed={chosen} data-seq={turn.seq} className={classes(look, "hover:bg-sunken")} onClick={() => onSelect(turn)}>
      {content}
    </button>
  ) : (
    <div data-seq={turn.seq} className={look}>
      {content}
    </div>
  );
}
