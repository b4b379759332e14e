import { describe, expect, it } from "vitest";
import { Turns } from "./turns";
import type { TurnMessage } from "./types";

const turn = (seq: number, text = "") => ({ type: "turn", seq, line: { text, tone: "plain" } }) as TurnMessage;
const shown = (turns: Turns) => turns.all.map((each) => `${each.seq}${each.line?.text ?? ""}`);

describe("the turns of a run", () => {
  it("are shown when published, all at once", () => {
    const turns = new Turns();
    let told = 0;
    turns.subscribe(() => told++);
    for (let seq = 1; seq <= 3; seq++) turns.take(turn(seq));
    expect(shown(turns)).toEqual([]);
    expect(turns.publish()).toBe(true);
    expect(turns.publish()).toBe(false);
    expect(shown(turns)).toEqual(["1", "2", "3"]);
    expect(told).toBe(1);
  });

  it("are forgotten where the journal was rewritten", () => {
    const turns = new Turns();
    for (let seq = 1; seq <= 4; seq++) turns.take(turn(seq));
    turns.publish();
    turns.take({ type: "rewind", to: 2 });
    turns.take(turn(3, "anew"));
    turns.publish();
    expect(shown(turns)).toEqual(["1", "2", "3anew"]);
  });

  it("are not doubled by a stream that repeats itself", () => {
    const turns = new Turns();
    for (const seq of [1, 2, 3, 2, 3, 4]) turns.take(turn(seq));
    turns.publish();
    expect(shown(turns)).toEqual(["1", "2", "3", "4"]);
  });
});
