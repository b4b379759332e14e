import type { TurnMessage } from "../api/types";

/** One observation in the film strip, shown from its turn until the next frame. */
export interface Frame {
  seq: number;
  at: number;
  observation: string;
  title: string;
  plan: number | null;
  cursor: number;
  /** Seconds of waiting before this frame; 0 for short waits. */
  idle: number;
  tone: string;
}

/** Waits of fewer seconds are not shown. */
const IDLE_SECONDS = 20;

/** Builds the frames of a run. A turn without an observation adds no frame, so that waiting takes no space. */
export function buildFrames(turns: readonly TurnMessage[]): Frame[] {
  const frames: Frame[] = [];
  let previous = turns[0]?.at ?? 0;
  let idle = 0;
  for (const turn of turns) {
    if (turn.at - previous > IDLE_SECONDS) idle += turn.at - previous;
    previous = turn.at;
    if (!turn.seen) continue;
    frames.push({
      seq: turn.seq,
      at: turn.at,
      observation: turn.seen.id,
      title: turn.seen.surface ?? "",
      plan: turn.standing.plan,
      cursor: turn.standing.cursor,
      idle,
      tone: turn.line?.tone ?? "plain",
    });
    idle = 0;
  }
  return frames;
}
