import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CheckCheck, GitCompareArrows, History } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Refusal, send } from "../api/client";
import { questionsQuery } from "../api/queries";
import type { Accepted, Decision, QuestionView } from "../api/types";
import { useKeys } from "../ui/keys";
import { useNow } from "../ui/now";
import { Chip, classes, Key, Panel, Sentence } from "../ui/parts";
import { Said } from "../ui/said";
import { count, duration } from "../ui/time";
import { Clock } from "../ui/times";
import { Trouble } from "../ui/trouble";
import { Actions } from "./actions";
import { Asked, Changes } from "./card";
import { Target } from "./target";

const FINDINGS = {
  exists: "and it exists",
  may_exist: "and it may exist",
  reported_absent: "and a probe reported it as absent",
} as const;

/** Identifies exactly what a card shows. */
export function cardKey(question: QuestionView): string {
  return `${question.run} ${question.id} ${question.shown.join(" ")}`;
}

export function Inbox() {
  const search = useSearch({ from: "/inbox" });
  const navigate = useNavigate({ from: "/inbox" });
  const asked = useQuery(questionsQuery());
  const questions = asked.data?.questions ?? [];
  const at = Math.max(0, questions.findIndex((one) => one.run === search.run));
  const question = questions[at];
  const [done, setDone] = useState("");
  const go = (index: number) => {
    const one = questions[Math.min(questions.length - 1, Math.max(0, index))];
    if (one) void navigate({ search: { run: one.run }, replace: true });
  };
  useKeys({ j: () => go(at + 1), k: () => go(at - 1) });
  const chosen = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    void chosen.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [question?.run]);

  return (
    <div className="space-y-5">
      <Sentence>
        {asked.error
          ? "The questions cannot be read."
          : !asked.data
            ? "Reading the questions…"
            : questions.length
              ? `${count(questions.length, "question")} ${questions.length === 1 ? "waits" : "wait"} for your answer.`
              : "Nothing waits for you."}
      </Sentence>
      <div role="status" className={classes(done ? "flex items-center gap-2 text-sm text-good" : "sr-only")}>
        {done && <CheckCheck aria-hidden className="size-4 shrink-0" />}
        <Said text={done} />
      </div>
      <Trouble error={asked.error} />
      {asked.data && !questions.length && (
        <p className="max-w-xl text-soft">
          A run asks here before it sends anything that cannot be taken back, and when it cannot find out by itself whether something has happened.
        </p>
      )}
      <div className={classes("grid grid-cols-[minmax(0,1fr)] items-start gap-5", questions.length > 1 && "lg:grid-cols-[16rem_minmax(0,1fr)]")}>
        {questions.length > 1 && (
          <nav aria-label="Open questions">
            <ul className="flex gap-2 max-lg:overflow-x-auto lg:flex-col">
              {questions.map((one, index) => (
                <li key={`${one.run} ${one.id}`} className="max-lg:w-60 max-lg:shrink-0">
                  <Link
                    to="/inbox"
                    ref={index === at ? chosen : undefined}
                    search={{ run: one.run }}
                    replace
                    aria-current={index === at ? "true" : undefined}
                    className={classes("block rounded-lg border px-3 py-2", index === at ? "border-accent bg-accent-wash" : "bg-panel hover:bg-sunken")}
                  >
                    <span className="block truncate text-sm font-medium">
                      <Said text={one.steps[0]?.says || one.detail || one.title} />
                    </span>
                    <span className="block truncate text-xs text-soft">
                      <Said text={one.goal} />
                    </span>
                    <span className="block truncate font-mono text-xs text-soft">{one.run}</span>
                  </Link>
                </li>
              ))}
            </ul>
            <p className="mt-2 hidden items-center gap-1.5 text-xs text-soft lg:flex">
              <Key>j</Key>
              <Key>k</Key> next, previous
            </p>
          </nav>
        )}
        {question && <Card key={question.run} question={question} onDone={setDone} />}
      </div>
    </div>
  );
}

function Card({ question, onDone }: { question: QuestionView; onDone: (says: string) => void }) {
  const client = useQueryClient();
  const shown = cardKey(question);
  const first = useRef(shown);
  const heading = useRef<HTMLHeadingElement>(null);
  const decide = useMutation({
    mutationFn: (body: Decision) => send<Accepted>("POST", `runs/${encodeURIComponent(question.run)}/questions/${question.id}`, body),
    onSuccess: ({ run, says }) => onDone(`${run}: ${says}.`),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ["questions"] });
      void client.invalidateQueries({ queryKey: ["run", question.run] });
    },
  });
  const refusal = decide.error instanceof Refusal ? decide.error.problem : null;
  const stale = refusal?.code === "question_changed";
  const changedUnderneath = first.current !== shown;

  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);

  return (
    <article className="min-w-0 rounded-xl border bg-panel" data-card={shown}>
      <header className="border-b px-4 py-3.5 sm:px-5">
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-sm text-soft">
          <Link to="/runs/$run" params={{ run: question.run }} search={{}} className="min-w-0 truncate hover:text-ink hover:underline">
            <span className="font-mono text-xs">{question.run}</span> <Said text={question.goal} />
          </Link>
          <Expires at={question.expires_at} />
        </div>
        <h2 ref={heading} tabIndex={-1} className="mt-1 text-xl font-semibold outline-none">
          {question.title}
        </h2>
        {question.detail && (
          <p className="mt-1 text-soft">
            <Said text={question.detail} className="whitespace-pre-wrap" />
          </p>
        )}
      </header>

      {(stale || question.voids_approval || changedUnderneath) && (
        <div role="alert" className="border-b bg-ask-wash px-4 py-3 text-sm text-ask sm:px-5">
          <strong className="font-semibold">
            {stale
              ? "What is asked has changed since you saw it. Nothing was decided."
              : changedUnderneath
                ? "This card changed while you were reading. Read it again."
                : "You approved something else before; that approval is void."}
          </strong>
          {stale && refusal && <Changes changes={refusal.changes} />}
        </div>
      )}

      <div className="grid gap-5 px-4 py-4 sm:px-5 xl:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <div className="min-w-0 space-y-5">
          {question.steps.map((step, index) => (
            <Asked key={step.digest} step={step} number={index + 1} of={question.steps.length} />
          ))}
          {question.earlier.length > 0 && (
            <ul className="space-y-1 text-sm">
              {question.earlier.map((one, index) => (
                <li key={index} className="flex items-center gap-2">
                  <History aria-hidden className="size-4 shrink-0 text-doubt" />
                  <span>
                    Attempt {index + 1} was sent at <Clock at={one.at} />, {FINDINGS[one.finding]}.
                  </span>
                </li>
              ))}
            </ul>
          )}
        </div>
        <div className="min-w-0 space-y-4">
          <Target run={question.run} />
          {question.revision && <Revised question={question} />}
        </div>
      </div>

      <footer className="space-y-3 border-t px-4 py-3.5 sm:px-5">
        {question.not_by && (
          <p className="text-sm text-ask">
            Two people are needed: <Said text={question.not_by} /> started this run and must not decide.
          </p>
        )}
        {!stale && <Trouble error={decide.error} />}
        <Actions question={question} shown={shown} busy={decide.isPending} onDecide={(body) => decide.mutate({ ...body, shown: question.shown })} />
      </footer>
    </article>
  );
}

function Expires({ at }: { at: number }) {
  const left = at - useNow();
  if (left > 86400 * 30) return null;
  return <span className={classes("whitespace-nowrap", left < 300 && "font-medium text-bad")}>{left > 0 ? `expires in ${duration(Math.ceil(left))}` : "has expired"}</span>;
}

function Revised({ question }: { question: QuestionView }) {
  const revision = question.revision;
  if (!revision) return null;
  return (
    <Panel
      title={
        <span className="flex items-center gap-2">
          <GitCompareArrows aria-hidden className="size-4" />
          Plan {revision.version} replaces plan {revision.before}
        </span>
      }
      aside={
        <Link
          to="/runs/$run/plans/$pair"
          params={{ run: question.run, pair: `${revision.before}..${revision.version}` }}
          className="font-medium text-accent hover:underline"
        >
          Show the difference
        </Link>
      }
    >
      <p className="text-sm">
        <Said text={revision.why} />
      </p>
      <div className="mt-2 flex flex-wrap gap-1.5">
        <Chip tone="plain">{revision.kept} kept</Chip>
        {revision.changed.length > 0 && <Chip tone="ask">{revision.changed.length} changed</Chip>}
        {revision.dropped.length > 0 && <Chip tone="bad">{revision.dropped.length} dropped</Chip>}
        {revision.new.length > 0 && <Chip tone="good">{revision.new.length} new</Chip>}
      </div>
    </Panel>
  );
}
