import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { GitCompareArrows } from "lucide-react";
import { useEffect, useRef } from "react";
import { plansQuery } from "../api/queries";
import type { PlanRow, RunView } from "../api/types";
import { Chip, classes, type Tone } from "../ui/parts";
import { Said } from "../ui/said";

export const CAUSES: Record<PlanRow["plan"]["cause"], { word: string; tone: Tone }> = {
  initial: { word: "first", tone: "plain" },
  adaptive: { word: "saw further", tone: "live" },
  error: { word: "after a failure", tone: "bad" },
  guided: { word: "after guidance", tone: "ask" },
  reopened: { word: "world reopened", tone: "doubt" },
  detour: { word: "detour", tone: "doubt" },
  amended: { word: "changed by a person", tone: "ask" },
  taken_over: { word: "after a take-over", tone: "ask" },
};

/** Steps that were planned, without the places at which it looks again. */
export function length(row: PlanRow): number {
  return row.plan.steps.filter((step) => step.zone !== "__replan__").length;
}

/** What a plan is about: the failure that made it, or what it does. */
function gist(row: PlanRow): string {
  const { cause, why, steps } = row.plan;
  if (cause !== "initial" && cause !== "adaptive" && why) return why;
  return row.steps.filter((_, index) => steps[index]?.zone !== "__replan__").join(", ") || row.reason;
}

/** The plan versions side by side: why each was made, and how far it got. */
export function Plans({ view, reached, shown, onShow }: { view: RunView; reached: Map<number, number>; shown?: number; onShow: (version: number | undefined) => void }) {
  const plans = useQuery(plansQuery(view.id));
  const rows = plans.data ?? [];
  const box = useRef<HTMLDivElement>(null);
  const current = view.plan?.version;
  const chosen = shown ?? current;
  const items = useVirtualizer({
    horizontal: true,
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 236,
    overscan: 4,
    getItemKey: (index) => rows[index]?.plan.version ?? index,
  });
  const at = rows.findIndex((row) => row.plan.version === chosen);
  useEffect(() => {
    if (at >= 0) items.scrollToIndex(at, { align: "auto" });
  }, [at, items]);
  if (rows.length < 2) return null; // the only plan is shown in full below
  return (
    <nav aria-label="Plan versions">
      <div ref={box} className="-mx-1 overflow-x-auto px-1 pt-1 pb-2">
        <ol style={{ width: items.getTotalSize() }} className="relative h-[7.5rem]">
          {items.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const { version, cause, parent } = row.plan;
            const done = version === current && view.plan ? view.plan.steps.filter((step) => step.status === "done" && !step.look_again).length : Math.min(reached.get(version) ?? 0, length(row));
            const here = version === chosen;
            return (
              <li key={item.key} className="absolute top-0 h-full w-[14.25rem]" style={{ transform: `translateX(${item.start}px)` }}>
                <div className={classes("flex h-full flex-col rounded-xl border bg-panel", here && "border-accent ring-1 ring-accent")}>
                  <button
                    type="button"
                    aria-pressed={here}
                    onClick={() => onShow(version === current ? undefined : version)}
                    className="flex min-h-0 flex-1 flex-col items-start gap-1.5 rounded-t-xl px-3 pt-2.5 text-left -outline-offset-2 hover:bg-sunken"
                  >
                    <span className="flex w-full items-center gap-2">
                      <span className="font-semibold">Plan {version}</span>
                      <Chip tone={CAUSES[cause].tone}>{CAUSES[cause].word}</Chip>
                    </span>
                    <span className="line-clamp-2 text-xs text-soft">
                      <Said text={gist(row)} />
                    </span>
                  </button>
                  <span className="flex min-h-8 items-center justify-between gap-2 px-3 pb-1.5 text-xs text-soft">
                    <span>
                      {done} of {length(row)} done
                    </span>
                    {parent !== null && rows.some((one) => one.plan.version === parent) && (
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
