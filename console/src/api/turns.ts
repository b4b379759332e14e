import type { StreamMessage, TurnMessage } from "./types";

/** Counts the steps that these turns completed, by plan version. */
export function countDoneSteps(turns: readonly TurnMessage[]): Map<number, number> {
  const done = new Map<number, number>();
  for (const { standing } of turns) if (standing.plan !== null) done.set(standing.plan, standing.cursor);
  return done;
}

/** The turns of one run, as received from its stream and in the order of the journal. A rewind removes the turns that were rewritten. */
export class Turns {
  private rows: readonly TurnMessage[] = [];
  private pending: TurnMessage[] | null = null;
  private readonly listeners = new Set<() => void>();
  ended = false;
  notice = "";

  get all(): readonly TurnMessage[] {
    return this.rows;
  }

  add(message: StreamMessage): void {
    const rows = (this.pending ??= [...this.rows]);
    switch (message.type) {
      case "turn": {
        const last = rows.at(-1);
        if (last && message.seq <= last.seq) removeAfter(rows, message.seq - 1); // sent again: the later message counts
        rows.push(message);
        break;
      }
      case "rewind":
        removeAfter(rows, message.to);
        break;
      case "notice":
        this.notice = message.why_not_driven;
        break;
      case "end":
        this.ended = true;
        break;
    }
  }

  /** Notifies the listeners of the added messages. Separate from `add`, so that thousands of messages are rendered once. */
  publish(): boolean {
    if (!this.pending) return false;
    this.rows = this.pending;
    this.pending = null;
    for (const notify of this.listeners) notify();
    return true;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

function removeAfter(rows: TurnMessage[], seq: number): void {
  let length = rows.length;
  while (length > 0 && (rows[length - 1] as TurnMessage).seq > seq) length--;
  rows.length = length;
}

/** Finds the index of the last turn at or before this position in the journal; without a position, the last index. */
export function findIndexAt(turns: readonly { seq: number }[], at?: number): number {
  if (at === undefined) return turns.length - 1;
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle]?.seq ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
