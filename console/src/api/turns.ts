import type { StreamMessage, TurnMessage } from "./types";

/** How many steps of each plan were carried out by these turns. */
export function reachedBy(turns: readonly TurnMessage[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const { standing } of turns) if (standing.plan !== null) found.set(standing.plan, standing.cursor);
  return found;
}

/** The turns of one run as the stream tells them, in the order of the journal. A rewind forgets what was rewritten there. */
export class Turns {
  private rows: readonly TurnMessage[] = [];
  private waiting: TurnMessage[] | null = null;
  private readonly listeners = new Set<() => void>();
  ended = false;
  notice = "";

  get all(): readonly TurnMessage[] {
    return this.rows;
  }

  take(message: StreamMessage): void {
    const rows = (this.waiting ??= [...this.rows]);
    switch (message.type) {
      case "turn": {
        const last = rows.at(-1);
        if (last && message.seq <= last.seq) cut(rows, message.seq - 1); // told again: the later word counts
        rows.push(message);
        break;
      }
      case "rewind":
        cut(rows, message.to);
        break;
      case "notice":
        this.notice = message.why_not_driven;
        break;
      case "end":
        this.ended = true;
        break;
    }
  }

  /** Show what was taken. Separate from `take`, so that thousands of messages are drawn once. */
  publish(): boolean {
    if (!this.waiting) return false;
    this.rows = this.waiting;
    this.waiting = null;
    for (const each of this.listeners) each();
    return true;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

function cut(rows: TurnMessage[], to: number): void {
  let length = rows.length;
  while (length > 0 && (rows[length - 1] as TurnMessage).seq > to) length--;
  rows.length = length;
}

/** The place of the last turn at or before this journal place; the last one without it. */
export function placeOf(turns: readonly { seq: number }[], at?: number): number {
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
