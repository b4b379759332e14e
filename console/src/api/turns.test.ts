import { describe, expect, it } from "vitest";
import { Turns } from "./turns";
import type { TurnMessage } from "./types";

const turn = (seq: number, text = "") => ({ type: "turn", seq, line: { text, tone: "plain" } }) as TurnMessage;
const listShown = (turns: Turns) => turns.all.map((each) => `${each.seq}${each.line?.text ?? ""}`);

describe("the turns of a run", () => {
  it("are shown all at once when published", () => {
    const turns = new Turns();
    let notified = 0;
    turns.subscribe(() => notified++);
    for (let seq = 1; seq <= 3; seq++) turns.add(turn(seq));
    expect(listShown(turns)).toEqual([]);
    expect(turns.publish()).toBe(true);
    expect(turns.publish()).toBe(false);
    expect(listShown(turns)).toEqual(["1", "2", "3"]);
    expect(notified).toBe(1);
  });

  it("are removed where the journal was rewritten", () => {
    const turns = new Turns();
    for (let seq = 1; seq <= 4; seq++) turns.add(turn(seq));
    turns.publish();
    turns.add({ type: "rewind", to: 2 });
    turns.add(turn(3, "new"));
    turns.publish();
    expect(listShown(turns)).toEqual(["1", "2", "3new"]);
  });

  it("are not duplicated by a stream that repeats messages", () => {
    const turns = new Turns();
    for (const seq of [1, 2, 3, 2, 3, 4]) turns.add(turn(seq));
    turns.publish();
    expect(listShown(turns)).toEqual(["1", "2", "3", "4"]);
  });
});
