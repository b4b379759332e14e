import { describe, expect, it } from "vitest";
import type { TurnMessage } from "../api/types";
import { findIndexAt } from "../api/turns";
import { buildFrames } from "./frames";

function turn(seq: number, at: number, seen: string | null): TurnMessage {
  return { type: "turn", seq, at, seen: seen && { id: seen, surface: seen }, line: null, standing: { plan: 1, cursor: seq } } as unknown as TurnMessage;
}

describe("the frames of a run", () => {
  it("are the turns with an observation, with idle time collapsed into a gap", () => {
    const frames = buildFrames([turn(1, 0, null), turn(2, 1, "o1"), turn(3, 200, null), turn(4, 201, "o2"), turn(5, 202, null)]);
    expect(frames.map((frame) => [frame.seq, frame.observation, frame.idle])).toEqual([
      [2, "o1", 0],
      [4, "o2", 199],
    ]);
  });

  it("are found by position in the journal", () => {
    const turns = [2, 4, 7].map((seq) => ({ seq }));
    expect([undefined, 1, 2, 3, 6, 7, 99].map((at) => findIndexAt(turns, at))).toEqual([2, 0, 0, 0, 1, 2, 2]);
    expect(findIndexAt([], 3)).toBe(0);
  });
});
