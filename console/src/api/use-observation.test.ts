import { describe, expect, it } from "vitest";
import { findPicturedObservation } from "./use-observation";
import type { TurnMessage } from "./types";

const turn = (seq: number, seen: string | null) => ({ seq, seen: seen && { id: `o${seq}`, fingerprint: seen, view: "" } }) as unknown as TurnMessage;

describe("the observation with the picture", () => {
  const turns = [turn(1, "a"), turn(2, "b"), turn(3, null), turn(4, "b"), turn(5, "b"), turn(6, "c"), turn(7, "b")];

  it("is the first of consecutive observations of the same screen", () => {
    expect([undefined, 7, 6, 5, 4, 3, 2, 1, 0].map((at) => findPicturedObservation(turns, at)?.id)).toEqual(["o7", "o7", "o6", "o2", "o2", "o2", "o2", "o1", undefined]);
  });
});
