import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { Share2, Trash2 } from "lucide-react";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { send } from "../api/client";
import { lessonsQuery, meQuery } from "../api/queries";
import type { LessonView } from "../api/types";
import { Dialog } from "../ui/dialog";
import { Button, Chip, classes, Empty, Sentence } from "../ui/parts";
import { Said } from "../ui/said";
import { count } from "../ui/time";
import { Trouble } from "../ui/trouble";

export function Lessons() {
  const lessons = useQuery(lessonsQuery());
  const me = useQuery(meQuery());
  const { key } = useSearch({ from: "/lessons" });
  const all = lessons.data ?? [];
  const admin = me.data?.rights.includes("administer") ?? false;
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const now = list.current?.offsetTop ?? 0;
    if (now !== top) setTop(now);
  });
  const rows = useWindowVirtualizer({ count: all.length, estimateSize: () => 190, overscan: 5, scrollMargin: top, getItemKey: (index) => `${all[index]?.lesson.key} ${all[index]?.lesson.agent}` });
  const mended = all.filter((one) => one.fixed > 0).length;
  return (
    <div className="space-y-5">
      <Sentence more="What failures taught: planners read it when the same thing fails again. The texts are words of a page or a model, and are not verified.">
        {lessons.error ? "The lessons cannot be read." : !lessons.data ? "Reading the lessons…" : all.length ? `${count(all.length, "lesson")} so far; ${mended} of them led to a plan that worked.` : "Nothing has been learned yet."}
      </Sentence>
      <Trouble error={lessons.error} />
      {lessons.data && !all.length && <Empty>A lesson is kept when a run fails, and whether the next plan helped.</Empty>}
      <div ref={list}>
        <ul style={{ height: rows.getTotalSize() }} className="relative">
          {rows.getVirtualItems().map((item) => {
            const one = all[item.index];
            return (
              one && (
                <li key={item.key} data-index={item.index} ref={rows.measureElement} className="absolute inset-x-0 top-0 pb-3" style={{ transform: `translateY(${item.start - rows.options.scrollMargin}px)` }}>
                  <Lesson view={one} admin={admin} chosen={one.lesson.key === key} />
                </li>
              )
            );
          })}
        </ul>
      </div>
    </div>
  );
}

function Lesson({ view: { lesson, fixed, not_fixed }, admin, chosen }: { view: LessonView; admin: boolean; chosen: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"share" | "forget" | null>(null);
  const tell = useMutation({
    mutationFn: (what: "share" | "forget") =>
      what === "share" ? send("POST", `lessons/${lesson.key}/share`, { agent: lesson.agent }) : send("DELETE", `lessons/${lesson.key}`),
    onSettled: () => {
      setAsking(null);
      void client.invalidateQueries({ queryKey: ["lessons"] });
    },
  });
  const tried = fixed + not_fixed;
  return (
    <article className={classes("rounded-xl border bg-panel px-4 py-3.5", chosen && "border-accent ring-1 ring-accent")}>
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 className="font-semibold">
            <Said text={(lesson.reason || lesson.error_type || "failure").replaceAll("_", " ")} />
          </h2>
          <div className="mt-0.5 flex flex-wrap items-center gap-1.5 text-xs text-soft">
            <button type="button" onClick={() => void navigate({ to: "/lessons", search: { key: lesson.key }, replace: true })} className="font-mono hover:underline">
              {lesson.key.slice(0, 8)}
            </button>
            {lesson.category && <Chip tone="plain">{lesson.category.toLowerCase()}</Chip>}
            {lesson.agent && <span>agent {lesson.agent}</span>}
            {lesson.task?.text && (
              <span>
                last met in <Said text={lesson.task.text} />
              </span>
            )}
            {lesson.shared_by && <Chip tone="live">shared by {lesson.shared_by}</Chip>}
          </div>
        </div>
        <div className="flex items-center gap-2">
          <Credit fixed={fixed} tried={tried} />
          {admin && !lesson.shared_by && (
            <Button small look="ghost" onClick={() => setAsking("share")}>
              <Share2 aria-hidden className="size-3.5" />
              Share
            </Button>
          )}
          {admin && (
            <Button small look="ghost" onClick={() => setAsking("forget")}>
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
      <Trouble error={tell.error} />
      <Dialog
        open={asking !== null}
        onClose={() => setAsking(null)}
        title={asking === "share" ? "Share this lesson?" : "Forget this lesson?"}
        says={asking === "share" ? "The planners of your other agents read it in its current form, as a quotation." : "It is forgotten under every agent, with all its numbers."}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setAsking(null)}>Back</Button>
          <Button autoFocus look={asking === "forget" ? "danger" : "primary"} onClick={() => asking && tell.mutate(asking)}>
            {asking === "share" ? "Share it" : "Forget it"}
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
      <dd className="line-clamp-4">{text ? <Said text={text} /> : <span className="text-soft italic">{none}</span>}</dd>
    </div>
  );
}

/** In how many runs a new plan fixed it. */
function Credit({ fixed, tried }: { fixed: number; tried: number }) {
  if (!tried) return <span className="text-xs text-soft">no run planned again yet</span>;
  return (
    <span className="flex items-center gap-2 text-xs whitespace-nowrap">
      <span className="h-2 w-16 rounded-full bg-bad-wash" aria-hidden>
        <span className="block h-2 rounded-full bg-good" style={{ width: `${(100 * fixed) / tried}%` }} />
      </span>
      fixed in {fixed} of {count(tried, "run")}
    </span>
  );
}
