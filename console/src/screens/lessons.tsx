import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { Share2, Trash2 } from "lucide-react";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { send } from "../api/client";
import { lessonsQuery, meQuery } from "../api/queries";
import type { LessonView } from "../api/types";
import { Dialog } from "../ui/dialog";
import { Button, Chip, joinClasses, Empty, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { formatCount } from "../ui/format";
import { ErrorNotice } from "../ui/error-notice";

/** The lessons that failures taught, and how often each helped. */
export function Lessons() {
  const lessons = useQuery(lessonsQuery());
  const me = useQuery(meQuery());
  const { key } = useSearch({ from: "/lessons" });
  const all = lessons.data ?? [];
  const isAdmin = me.data?.rights.includes("administer") ?? false;
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const offset = list.current?.offsetTop ?? 0;
    if (offset !== top) setTop(offset);
  });
  const rows = useWindowVirtualizer({ count: all.length, estimateSize: () => 190, overscan: 5, scrollMargin: top, getItemKey: (index) => `${all[index]?.lesson.key} ${all[index]?.lesson.agent}` });
  const helpful = all.filter((each) => each.fixed > 0).length;
  return (
    <div className="space-y-5">
      <PageHeading more="A planner reads these lessons when the same thing fails again. The texts come from pages and models and are not verified.">
        {lessons.error ? "The lessons cannot be read." : !lessons.data ? "Loading the lessons…" : all.length ? `${formatCount(all.length, "lesson")} so far; ${helpful} of them led to a plan that worked.` : "Nothing has been learned yet."}
      </PageHeading>
      <ErrorNotice error={lessons.error} />
      {lessons.data && !all.length && <Empty>When a run fails, a lesson is stored, with a record of whether the next plan helped.</Empty>}
      <div ref={list}>
        <ul style={{ height: rows.getTotalSize() }} className="relative">
          {rows.getVirtualItems().map((item) => {
            const view = all[item.index];
            return (
              view && (
                <li key={item.key} data-index={item.index} ref={rows.measureElement} className="absolute inset-x-0 top-0 pb-3" style={{ transform: `translateY(${item.start - rows.options.scrollMargin}px)` }}>
                  <Lesson view={view} isAdmin={isAdmin} selected={view.lesson.key === key} />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </div>
  );
}

function Lesson({ view: { lesson, fixed, not_fixed }, isAdmin, selected }: { view: LessonView; isAdmin: boolean; selected: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [confirming, setConfirming] = useState<"share" | "forget" | null>(null);
  const change = useMutation({
    mutationFn: (action: "share" | "forget") =>
      action === "share" ? send("POST", `lessons/${lesson.key}/share`, { agent: lesson.agent }) : send("DELETE", `lessons/${lesson.key}`),
    onSettled: () => {
      setConfirming(null);
      void client.invalidateQueries({ queryKey: ["lessons"] });
    },
  });
  const tried = fixed + not_fixed;
  return (
    <article className={joinClasses("rounded-xl border bg-panel px-4 py-3.5", selected && "border-accent ring-1 ring-accent")}>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 className="font-semibold">
            <UntrustedText text={(lesson.reason || lesson.error_type || "failure").replaceAll("_", " ")} />
          </h2>
          <div className="mt-0.5 flex flex-wrap items-center gap-1.5 text-xs text-soft">
            <button type="button" onClick={() => void navigate({ to: "/lessons", search: { key: lesson.key }, replace: true })} className="font-mono hover:underline">
              {lesson.key.slice(0, 8)}
            </button>
            {lesson.category && <Chip tone="plain">{lesson.category.toLowerCase()}</Chip>}
            {lesson.agent && <span>agent {lesson.agent}</span>}
            {lesson.task?.text && (
              <span>
                last seen in <UntrustedText text={lesson.task.text} />
              </span>
            )}
            {lesson.shared_by && <Chip tone="live">shared by {lesson.shared_by}</Chip>}
          </div>
        </div>
        <div className="flex items-center gap-2">
          <SuccessRate fixed={fixed} tried={tried} />
          {isAdmin && !lesson.shared_by && (
            <Button small look="ghost" onClick={() => setConfirming("share")}>
              <Share2 aria-hidden className="size-3.5" />
              Share
            </Button>
          )}
          {isAdmin && (
            <Button small look="ghost" onClick={() => setConfirming("forget")}>
              <Trash2 aria-hidden className="size-3.5" />
              Forget
            </Button>
          )}
        </div>
      </div>
      <dl className="mt-3 grid gap-x-6 gap-y-2.5 text-sm md:grid-cols-3">
        <Item name="What failed" text={lesson.said?.text} />
        <Item name={lesson.cause_by === "rules" ? "Why, by the rules" : "Why"} text={lesson.root_cause?.text} />
        <Item name="What helped" text={lesson.fix?.text} none="nothing yet" />
      </dl>
      <ErrorNotice error={change.error} />
      <Dialog
        open={confirming !== null}
        onClose={() => setConfirming(null)}
        title={confirming === "share" ? "Share this lesson?" : "Forget this lesson?"}
        description={confirming === "share" ? "The planners of your other agents can read its current text, as a quotation." : "It is deleted for all agents, with its statistics."}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setConfirming(null)}>Back</Button>
          <Button autoFocus look={confirming === "forget" ? "danger" : "primary"} onClick={() => confirming && change.mutate(confirming)}>
            {confirming === "share" ? "Share it" : "Forget it"}
          </Button>
        </div>
      </Dialog>
    </article>
  );
}

function Item({ name, text, none = "not known" }: { name: string; text?: string; none?: string }): ReactNode {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="line-clamp-4">{text ? <UntrustedText text={text} /> : <span className="text-soft italic">{none}</span>}</dd>
    </div>
  );
}

/** In how many of the runs a new plan fixed the failure. */
function SuccessRate({ fixed, tried }: { fixed: number; tried: number }) {
  if (!tried) return <span className="text-xs text-soft">not tried yet</span>;
  return (
    <span className="flex items-center gap-2 text-xs whitespace-nowrap">
      <span className="h-2 w-16 rounded-full bg-bad-wash" aria-hidden>
        <span className="block h-2 rounded-full bg-good" style={{ width: `${(100 * fixed) / tried}%` }} />
      </span>
      fixed in {fixed} of {formatCount(tried, "run")}
    </span>
  );
}
