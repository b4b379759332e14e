import { useVirtualizer } from "@tanstack/react-virtual";
import { Check, CircleDot, CircleHelp, Dot, Eye, Minus, TriangleAlert, X } from "lucide-react";
import { useEffect, useRef } from "react";
import type { PlanRow, PlanView, StepView } from "../api/types";
import { classes, Empty, INK, type Icon, type Tone } from "../ui/parts";
import { Said } from "../ui/said";

type Status = StepView["status"] | "given up";
export interface Line extends Omit<StepView, "status"> {
  status: Status;
}

const STATUS: Record<Status, { icon: Icon; tone: Tone; word: string }> = {
  done: { icon: Check, tone: "good", word: "done" },
  current: { icon: CircleDot, tone: "live", word: "now" },
  failed: { icon: X, tone: "bad", word: "failed" },
  unknown: { icon: CircleHelp, tone: "doubt", word: "outcome unknown" },
  waiting: { icon: Dot, tone: "plain", word: "to do" },
  "given up": { icon: Minus, tone: "plain", word: "given up" },
};

/** The steps of a plan that was replaced: what was done, where it failed, what was given up. */
export function replaced(row: PlanRow, carriedOut: number, next?: PlanRow): Line[] {
  const failure = next?.plan.context?.failure;
  return row.plan.steps.map((step, index) => ({
    index,
    says: row.steps[index] ?? "",
    call: step.zone === "__replan__" ? "" : `${step.skill}${step.target.label ? ` '${step.target.label}'` : ""}`,
    skill: step.skill ?? "",
    zone: step.zone,
    effect: step.effect ?? "read",
    look_again: step.zone === "__replan__",
    status:
      index < carriedOut
        ? "done"
        : failure && failure.version === row.plan.version && failure.index === index
          ? "failed"
          : "given up",
  }));
}

export function Steps({ reason, steps, at }: { reason: string; steps: readonly Line[]; at?: number }) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => 52,
    overscan: 8,
    getItemKey: (index) => index,
  });
  useEffect(() => {
    if (at !== undefined && at < steps.length) rows.scrollToIndex(at, { align: "auto" });
  }, [at, steps.length, rows]);
  return (
    <div>
      <p className="border-b px-4 py-2.5 text-sm text-soft">
        <Said text={reason} />
      </p>
      <div ref={box} tabIndex={0} role="group" aria-label="Steps" className="max-h-112 overflow-y-auto -outline-offset-2">
        <ol style={{ height: rows.getTotalSize() }} className="relative">
          {rows.getVirtualItems().map((item) => {
            const step = steps[item.index];
            return (
              step && (
                <li
                  key={item.key}
                  data-index={item.index}
                  ref={rows.measureElement}
                  className="absolute inset-x-0 top-0"
                  style={{ transform: `translateY(${item.start}px)` }}
                  aria-current={step.status === "current" ? "step" : undefined}
                >
                  <Step step={step} />
                </li>
              )
            );
          })}
        </ol>
      </div>
    </div>
  );
}

export function CurrentSteps({ plan }: { plan: PlanView | null }) {
  return plan ? <Steps reason={plan.reason} steps={plan.steps} at={plan.cursor} /> : <Empty>There is no plan yet.</Empty>;
}

function Step({ step }: { step: Line }) {
  const { icon: Sign, tone, word } = STATUS[step.status];
  const dim = step.look_again || step.status === "waiting" || step.status === "given up";
  return (
    <div className={classes("flex gap-3 border-b px-4 py-2", step.status === "current" && "bg-accent-wash")}>
      <span className="w-5 shrink-0 pt-px text-right font-mono text-xs leading-5 text-soft">{step.look_again ? "" : step.index + 1}</span>
      {step.look_again ? <Eye aria-hidden className="mt-0.5 size-4 shrink-0 text-soft" /> : <Sign aria-hidden className={classes("mt-0.5 size-4 shrink-0", INK[tone])} />}
      <div className="min-w-0 flex-1">
        <div className={classes("text-sm", dim && "text-soft", step.status === "current" && "font-medium", step.status === "given up" && !step.look_again && "line-through")}>
          <Said text={step.says} />
          <span className="sr-only">, {word}</span>
        </div>
        {step.call && step.call !== step.says && (
          <div className="truncate font-mono text-xs text-soft">
            <Said text={step.call} />
          </div>
        )}
      </div>
      {step.effect === "irreversible" && (
        <span className="flex shrink-0 items-center gap-1 self-start text-xs text-ask">
          <TriangleAlert aria-hidden className="size-3.5" />
          <span className="max-sm:sr-only">irreversible</span>
        </span>
      )}
    </div>
  );
}
