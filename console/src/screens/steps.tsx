import { useVirtualizer } from "@tanstack/react-virtual";
import { Check, CircleDot, CircleHelp, Dot, Eye, Minus, TriangleAlert, X } from "lucide-react";
import { useEffect, useRef } from "react";
import type { PlanRow, PlanView, StepView } from "../api/types";
import { joinClasses, Empty, TEXT_COLORS, type IconType, type Tone } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";

type Status = StepView["status"] | "given up";
export interface StepLine extends Omit<StepView, "status"> {
  status: Status;
}

const STATUS: Record<Status, { icon: IconType; tone: Tone; word: string }> = {
  done: { icon: Check, tone: "good", word: "done" },
  current: { icon: CircleDot, tone: "live", word: "now" },
  failed: { icon: X, tone: "bad", word: "failed" },
  unknown: { icon: CircleHelp, tone: "doubt", word: "outcome unknown" },
  waiting: { icon: Dot, tone: "plain", word: "to do" },
  "given up": { icon: Minus, tone: "plain", word: "given up" },
};

/** The steps of a plan that was replaced, with what became of each: done, failed or given up. */
export function describeReplacedPlan(row: PlanRow, doneSteps: number, next?: PlanRow): StepLine[] {
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
      index < doneSteps
        ? "done"
        : failure && failure.version === row.plan.version && failure.index === index
          ? "failed"
          : "given up",
  }));
}

export function Steps({ reason, steps, at }: { reason: string; steps: readonly StepLine[]; at?: number }) {
  const container = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => container.current,
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
        <UntrustedText text={reason} />
      </p>
      <div ref={container} tabIndex={0} role="group" aria-label="Steps" className="max-h-112 overflow-y-auto -outline-offset-2">
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

function Step({ step }: { step: StepLine }) {
  const { icon: Icon, tone, word } = STATUS[step.status];
  const isDimmed = step.look_again || step.status === "waiting" || step.status === "given up";
  return (
    <div className={joinClasses("flex gap-3 border-b px-4 py-2", step.status === "current" && "bg-accent-wash")}>
      <span className="w-5 shrink-0 pt-px text-right font-mono text-xs leading-5 text-soft">{step.look_again ? "" : step.index + 1}</span>
      {step.look_again ? <Eye aria-hidden className="mt-0.5 size-4 shrink-0 text-soft" /> : <Icon aria-hidden className={joinClasses("mt-0.5 size-4 shrink-0", TEXT_COLORS[tone])} />}
      <div className="min-w-0 flex-1">
        <div className={joinClasses("text-sm", isDimmed && "text-soft", step.status === "current" && "font-medium", step.status === "given up" && !step.look_again && "line-through")}>
          <UntrustedText text={step.says} />
          <span className="sr-only">, {word}</span>
        </div>
        {step.call && step.call !== step.says && (
          <div className="truncate font-mono text-xs text-soft">
            <UntrustedText text={step.call} />
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
