import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { GitCompareArrows } from "lucide-react";
import { useEffect, useRef } from "react";
import { plansQuery } from "../api/queries";
import type { PlanRow, RunView } from "../api/types";
import { Chip, joinClasses, type Tone } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";

export const CAUSES: Record<PlanRow["plan"]["cause"], { word: string; tone: Tone }> = {
  initial: { word: "first", tone: "plain" },
  adaptive: { word: "next segment", tone: "live" },
  error: { word: "after a failure", tone: "bad" },
  guided: { word: "after guidance", tone: "ask" },
  reopened: { word: "world reopened", tone: "doubt" },
  detour: { word: "detour", tone: "doubt" },
  amended: { word: "changed by a person", tone: "ask" },
  taken_over: { word: "after a take-over", tone: "ask" },
};

/** Counts the steps of a plan, without the points at which it observes again. */
function countSteps(row: PlanRow): number {
  return row.plan.steps.filter((step) => step.zone !== "__replan__").length;
}

/** Summarizes a plan: the reason for a new plan, or its steps. */
function summarizePlan(row: PlanRow): string {
  const { cause, why, steps } = row.plan;
  if (cause !== "initial" && cause !== "adaptive" && why) return why;
  return row.steps.filter((_, index) => steps[index]?.zone !== "__replan__").join(", ") || row.reason;
}

/** The versions of the plan side by side: why each was made, and how many of its steps were done. */
export function Plans({ view, doneSteps, shown, onShow }: { view: RunView; doneSteps: Map<number, number>; shown?: number; onShow: (version: number | undefined) => void }) {
  const plans = useQuery(plansQuery(view.id));
  const rows = plans.data ?? [];
  const container = useRef<HTMLDivElement>(null);
  const current = view.plan?.version;
  const selected = shown ?? current;
  const items = useVirtualizer({
    horizontal: true,
    count: rows.length,
    getScrollElement: () => container.current,
    estimateSize: () => 236,
    overscan: 4,
    getItemKey: (index) => rows[index]?.plan.version ?? index,
  });
  const at = rows.findIndex((row) => row.plan.version === selected);
  useEffect(() => {
    if (at >= 0) items.scrollToIndex(at, { align: "auto" });
  }, [at, items]);
  if (rows.length < 2) return null; // the page shows a single plan in full
  return (
    <nav aria-label="Plan versions">
      <div ref={container} className="-mx-1 overflow-x-auto px-1 pt-1 pb-2">
        <ol style={{ width: items.getTotalSize() }} className="relative h-[7.5rem]">
          {items.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const { version, cause, parent } = row.plan;
            const done = version === current && view.plan ? view.plan.steps.filter((step) => step.status === "done" && !step.look_again).length : Math.min(doneSteps.get(version) ?? 0, countSteps(row));
            const isSelected = version === selected;
            return (
              <li key={item.key} className="absolute top-0 h-full w-[14.25rem]" style={{ transform: `translateX(${item.start}px)` }}>
                <div className={joinClasses("flex h-full flex-col rounded-xl border bg-panel", isSelected && "border-accent ring-1 ring-accent")}>
                  <button
                    type="button"
                    aria-pressed={isSelected}
                    onClick={() => onShow(version === current ? undefined : version)}
                    className="flex min-h-0 flex-1 flex-col items-start gap-1.5 rounded-t-xl px-3 pt-2.5 text-left -outline-offset-2 hover:bg-sunken"
                  >
                    <span className="flex w-full items-center gap-2">
                      <span className="font-semibold">Plan {version}</span>
                      <Chip tone={CAUSES[cause].tone}>{CAUSES[cause].word}</Chip>
                    </span>
                    <span className="line-clamp-2 text-xs text-soft">
                      <UntrustedText text={summarizePlan(row)} />
                    </span>
                  </button>
                  <span className="flex min-h-8 items-center justify-between gap-2 px-3 pb-1.5 text-xs text-soft">
                    <span>
                      {done} of {countSteps(row)} done
                    </span>
                    {parent !== null && rows.some((other) => other.plan.version === parent) && (
                      <Link
                        to="/runs/$run/plans/$pair"
                        params={{ run: view.id, pair: `${parent}..${version}` }}
                        aria-label={`Difference between plan ${parent} and plan ${version}`}
                        className="-mr-1 flex items-center gap-1 rounded px-1 py-0.5 font-medium text-accent hover:underline"
                      >
                        <GitCompareArrows aria-hidden className="size-3.5" />
                        difference
                      </Link>
                    )}
                  </span>
                </div>
              </li>
            );
          })}
        </ol>
      </div>
    </nav>
  );
}
