import { Ban, BadgeCheck, Circle, CircleX, CornerDownLeft, Hand, Pause, Unplug } from "lucide-react";
import type { RunRow } from "../api/types";
import { Chip, type IconType, Pulse, type Tone } from "./components";

interface StateLabel {
  word: string;
  tone: Tone;
  icon?: IconType;
}

/** Names the state of a run in a word or two. */
function labelState(run: Pick<RunRow, "state" | "verified" | "sending" | "final_reason">): StateLabel {
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
      if (run.verified) return { word: "verified", tone: "good", icon: BadgeCheck };
      return run.sending === "call" ? { word: "returned", tone: "plain", icon: CornerDownLeft } : { word: "not verified", tone: "doubt", icon: Circle };
    case "failed":
      return run.final_reason === "cancelled" ? { word: "cancelled", tone: "plain", icon: Ban } : { word: "failed", tone: "bad", icon: CircleX };
  }
}

export function RunStateChip({ run }: { run: Pick<RunRow, "state" | "verified" | "sending" | "final_reason"> }) {
  const { word, tone, icon } = labelState(run);
  return (
    <Chip tone={tone} icon={icon}>
      {!icon && <Pulse />}
      {word}
    </Chip>
  );
}

export type RunGroup = "waiting" | "running" | "ended";

/** The group of the list in which a run is shown. */
export function groupOf(run: RunRow): RunGroup {
  if (run.state === "asking" || run.state === "interrupted" || run.state === "paused") return "waiting";
  return run.state === "running" ? "running" : "ended";
}
