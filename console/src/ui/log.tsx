import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, Check, CircleHelp, Hand, Minus, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { TurnLine, TurnMessage } from "../api/types";
import { Button, joinClasses, Empty, TEXT_COLORS, type IconType, type Tone } from "./components";
import { UntrustedText } from "./untrusted-text";
import { formatClock, formatDuration, formatElapsed } from "./format";

const ICONS: Record<string, IconType> = { good: Check, bad: X, doubt: CircleHelp, ask: Hand, plain: Minus };
const SPOKEN_PREFIXES: Record<string, string> = { good: "good: ", bad: "failure: ", doubt: "doubt: ", ask: "question: ", plain: "" };
/** A wait of more seconds than this is shown as one line. */
const IDLE_SECONDS = 20;

type LogTurn = TurnLine | Pick<TurnMessage, "seq" | "at" | "line">;
type Entry = { kind: "turn"; turn: LogTurn } | { kind: "idle"; seconds: number; before: number };

export function buildEntries(turns: readonly LogTurn[]): Entry[] {
  const entries: Entry[] = [];
  let last = 0;
  for (const turn of turns) {
    if (last && turn.at - last > IDLE_SECONDS) entries.push({ kind: "idle", seconds: turn.at - last, before: turn.seq });
    last = turn.at;
    if (turn.line) entries.push({ kind: "turn", turn });
  }
  return entries;
}

/** What happened: the lines of the turns, in the order of the journal. It scrolls to new lines until the user scrolls up. */
export function Log({
  turns,
  start,
  selected,
  onSelect,
  followSelected,
  className,
}: {
  turns: readonly LogTurn[];
  /** When the run began. */
  start: number;
  selected?: number;
  onSelect?: (turn: LogTurn) => void;
  /** Scroll to the selected turn instead of the end. */
  followSelected?: boolean;
  className?: string;
}) {
  const container = useRef<HTMLDivElement>(null);
  const entries = useMemo(() => buildEntries(turns), [turns]);
  const [following, setFollowing] = useState(!followSelected);
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => container.current,
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

  const selectedIndex = useMemo(
    () => (selected === undefined ? -1 : entries.findLastIndex((entry) => entry.kind === "turn" && entry.turn.seq <= selected)),
    [selected, entries],
  );
  useEffect(() => {
    if (selectedIndex >= 0 && !following) rows.scrollToIndex(selectedIndex, { align: followSelected ? "center" : "auto" });
  }, [selectedIndex, following, followSelected, rows]);

  if (!entries.length) return <Empty>Nothing has happened yet.</Empty>;
  return (
    <div className="relative">
      <div
        ref={container}
        tabIndex={0}
        role="log"
        aria-label="Log"
        aria-live="off"
        onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
        onScroll={({ currentTarget: list }) => {
          const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 24;
          if (followSelected) return;
          if (atEnd) setFollowing(true);
          else if (rows.scrollDirection === "backward") setFollowing(false);
        }}
        className={joinClasses("overflow-y-auto text-sm -outline-offset-2", className ?? "max-h-80")}
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
                    {formatDuration(entry.seconds)} passed
                    <span className="h-px flex-1 border-t border-dashed border-edge" />
                  </div>
                ) : (
                  <Line turn={entry.turn} start={start} selected={item.index === selectedIndex} onSelect={onSelect} />
                )}
              </li>
            );
          })}
        </ol>
      </div>
      {!following && !followSelected && (
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
  selected,
  onSelect,
}: {
  turn: LogTurn;
  start: number;
  selected: boolean;
  onSelect?: (turn: LogTurn) => void;
}) {
  const tone = (turn.line?.tone ?? "plain") as Tone;
  const Icon = ICONS[tone] ?? Minus;
  const content = (
    <>
      <span className="w-12 shrink-0 pt-px text-right font-mono text-xs text-soft" title={formatClock(turn.at)}>
        {formatElapsed(turn.at - start)}
      </span>
      <Icon aria-hidden className={joinClasses("mt-0.5 size-4 shrink-0", TEXT_COLORS[tone])} />
      <span className={joinClasses("min-w-0 flex-1", tone === "plain" ? "" : TEXT_COLORS[tone])}>
        <span className="sr-only">{SPOKEN_PREFIXES[tone]}</span>
        <UntrustedText text={turn.line?.text ?? ""} />
      </span>
    </>
  );
  const className = joinClasses("flex w-full items-start gap-2.5 px-4 py-1 text-left -outline-offset-2", selected && "bg-accent-wash");
  return onSelect ? (
    <button type="button" tabIndex={-1} aria-pressed={selected} data-seq={turn.seq} className={joinClasses(className, "hover:bg-sunken")} onClick={() => onSelect(turn)}>
      {content}
    </button>
  ) : (
    <div data-seq={turn.seq} className={className}>
      {content}
    </div>
  );
}
