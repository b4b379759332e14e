import type { TurnMessage } from "../api/types";

/** One picture of the film: from the turn that brought it until the next. */
export interface Frame {
  seq: number;
  at: number;
  observation: string;
  title: string;
  plan: number | null;
  cursor: number;
  /** Seconds that passed before it, if they are worth a gap. */
  idle: number;
  tone: string;
}

const IDLE = 20;

/** What was seen, turn by turn. A turn that saw nothing new adds no frame, so that waiting takes no room. */
export function framesOf(turns: readonly TurnMessage[]): Frame[] {
  const found: Frame[] = [];
  let before = turns[0]?.at ?? 0;
  let passed = 0;
  for (const turn of turns) {
    if (turn.at - before > IDLE) passed += turn.at - before;
    before = turn.at;
    if (!turn.seen) continue;
    found.push({
      seq: turn.seq,
      at: turn.at,
      observation: turn.seen.id,
      title: turn.seen.surface ?? "",
      plan: turn.standing.plan,
      cursor: turn.standing.cursor,
      idle: passed,
      tone: turn.line?.tone ?? "plain",
    });
    passed = 0;
  }
  return found;
}
