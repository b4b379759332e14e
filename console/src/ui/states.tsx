import { Ban, BadgeCheck, Check, CircleX, Hand, Pause, Unplug } from "lucide-react";
import type { RunRow } from "../api/types";
import { Chip, type Icon, Pulse, type Tone } from "./parts";

export interface Standing {
  word: string;
  tone: Tone;
  icon?: Icon;
}

/** The state of a run in a word or two. */
export function standing(run: Pick<RunRow, "state" | "verified" | "final_reason">): Standing {
  switch (run.state) {
    case "asking":
      return { word: "waits for you", tone: "ask", icon: Hand };
    case "paused":
      return { word: "paused", tone: "plain", icon: Pause };
    case "interrupted":
      return { word: "interrupted", tone: "doubt", icon: Unplug };
    case "running":
      return { word: "under way", tone: "live" };
    case "done":
      return run.verified ? { word: "verified", tone: "good", icon: BadgeCheck } : { word: "not verified", tone: "plain", icon: Check };
    case "failed":
      return run.final_reason === "cancelled" ? { word: "cancelled", tone: "plain", icon: Ban } : { word: "failed", tone: "bad", icon: CircleX };
  }
}

export function StateChip({ run }: { run: Pick<RunRow, "state" | "verified" | "final_reason"> }) {
  const { word, tone, icon } = standing(run);
  return (
    <Chip tone={tone} icon={icon}>
      {!icon && <Pulse />}
      {word}
    </Chip>
  );
}

export type Band = "waits" | "under" | "ended";

export function band(run: RunRow): Band {
  if (run.state === "asking" || run.state === "interrupted" || run.state === "paused") return "waits";
  return run.state === "running" ? "under" : "ended";
}
