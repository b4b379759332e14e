import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CheckCheck, GitCompareArrows, History } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { ApiError, send } from "../api/client";
import { questionsQuery } from "../api/queries";
import type { Accepted, Decision, QuestionView } from "../api/types";
import { useKeys } from "../ui/use-keys";
import { useNow } from "../ui/use-now";
import { Chip, joinClasses, Key, Panel, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { formatCount, formatDuration } from "../ui/format";
import { ClockTime } from "../ui/timestamps";
import { ErrorNotice } from "../ui/error-notice";
import { VerdictButtons } from "./verdict-buttons";
import { RequestDetails, ChangeList } from "./request-details";
import { CurrentObservation } from "./current-observation";

const FINDINGS = {
  exists: "and it exists",
  may_exist: "and it may exist",
  reported_absent: "and a probe reported it as absent",
} as const;

/** Identifies what a card shows: it changes with every shown value. */
function identifyCard(question: QuestionView): string {
  return `${question.run} ${question.id} ${question.shown.join(" ")}`;
}

/** The open questions, and the card of the selected one. */
export function Inbox() {
  const search = useSearch({ from: "/inbox" });
  const navigate = useNavigate({ from: "/inbox" });
  const query = useQuery(questionsQuery());
  const questions = query.data?.questions ?? [];
  const at = Math.max(0, questions.findIndex((candidate) => candidate.run === search.run));
  const question = questions[at];
  const [confirmation, setConfirmation] = useState("");
  const goTo = (index: number) => {
    const next = questions[Math.min(questions.length - 1, Math.max(0, index))];
    if (next) void navigate({ search: { run: next.run }, replace: true });
  };
  useKeys({ j: () => goTo(at + 1), k: () => goTo(at - 1) });
  const selected = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    void selected.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [question?.run]);

  return (
    <div className="space-y-5">
      <PageHeading>
        {query.error
          ? "The questions cannot be read."
          : !query.data
            ? "Loading the questions…"
            : questions.length
              ? `${formatCount(questions.length, "question")} ${questions.length === 1 ? "waits" : "wait"} for your answer.`
              : "Nothing waits for you."}
      </PageHeading>
      <div role="status" className={joinClasses(confirmation ? "flex items-center gap-2 text-sm text-good" : "sr-only")}>
        {confirmation && <CheckCheck aria-hidden className="size-4 shrink-0" />}
        <UntrustedText text={confirmation} />
      </div>
      <ErrorNotice error={query.error} />
      {query.data && !questions.length && (
        <p className="max-w-xl text-soft">
          A run asks here before it sends anything irreversible, and when it cannot find out by itself whether something has happened.
        </p>
      )}
      <div className={joinClasses("grid grid-cols-[minmax(0,1fr)] items-start gap-5", questions.length > 1 && "lg:grid-cols-[16rem_minmax(0,1fr)]")}>
        {questions.length > 1 && (
          <nav aria-label="Open questions">
            <ul className="flex gap-2 max-lg:overflow-x-auto lg:flex-col">
              {questions.map((listed, index) => (
                <li key={`${listed.run} ${listed.id}`} className="max-lg:w-60 max-lg:shrink-0">
                  <Link
                    to="/inbox"
                    ref={index === at ? selected : undefined}
                    search={{ run: listed.run }}
                    replace
                    aria-current={index === at ? "true" : undefined}
                    className={joinClasses("block rounded-lg border px-3 py-2", index === at ? "border-accent bg-accent-wash" : "bg-panel hover:bg-sunken")}
                  >
                    <span className="block truncate text-sm font-medium">
                      <UntrustedText text={listed.steps[0]?.says || listed.detail || listed.title} />
                    </span>
                    <span className="block truncate text-xs text-soft">
                      <UntrustedText text={listed.goal} />
                    </span>
                    <span className="block truncate font-mono text-xs text-soft">{listed.run}</span>
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
        {question && <QuestionCard key={question.run} question={question} onDone={setConfirmation} />}
      </div>
    </div>
  );
}

function QuestionCard({ question, onDone }: { question: QuestionView; onDone: (confirmation: string) => void }) {
  const client = useQueryClient();
  const shown = identifyCard(question);
  const firstShown = useRef(shown);
  const heading = useRef<HTMLHeadingElement>(null);
  const decide = useMutation({
    mutationFn: (body: Decision) => send<Accepted>("POST", `runs/${encodeURIComponent(question.run)}/questions/${question.id}`, body),
    onSuccess: ({ run, says }) => onDone(`${run}: ${says}.`),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ["questions"] });
      void client.invalidateQueries({ queryKey: ["run", question.run] });
    },
  });
  const refusal = decide.error instanceof ApiError ? decide.error.problem : null;
  const stale = refusal?.code === "question_changed";
  const changedUnderneath = firstShown.current !== shown;

  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, []);

  return (
    <article className="min-w-0 rounded-xl border bg-panel" data-card={shown}>
      <header className="border-b px-4 py-3.5 sm:px-5">
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-sm text-soft">
          <Link to="/runs/$run" params={{ run: question.run }} search={{}} className="min-w-0 truncate hover:text-ink hover:underline">
            <span className="font-mono text-xs">{question.run}</span> <UntrustedText text={question.goal} />
          </Link>
          <Expiry at={question.expires_at} />
        </div>
        <h2 ref={heading} tabIndex={-1} className="mt-1 text-xl font-semibold outline-none">
          {question.title}
        </h2>
        {question.detail && (
          <p className="mt-1 text-soft">
            <UntrustedText text={question.detail} className="whitespace-pre-wrap" />
          </p>
        )}
      </header>

      {question.notices.length > 0 && (
        <div role="alert" className="space-y-1 border-b bg-ask-wash px-4 py-3 text-sm font-semibold text-ask sm:px-5">
          {question.notices.map((notice) => (
            <p key={notice}>{notice}</p>
          ))}
        </div>
      )}

      {(stale || changedUnderneath) && (
        <div role="alert" className="border-b bg-ask-wash px-4 py-3 text-sm text-ask sm:px-5">
          <strong className="font-semibold">
            {stale ? "The question has changed since you saw it. Nothing was decided." : "This card changed while you were reading. Read it again."}
          </strong>
          {stale && refusal && <ChangeList changes={refusal.changes} />}
        </div>
      )}

      <div className="grid gap-5 px-4 py-4 sm:px-5 xl:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <div className="min-w-0 space-y-5">
          {question.steps.map((step, index) => (
            <RequestDetails key={step.digest} step={step} number={index + 1} of={question.steps.length} />
          ))}
          {(question.page || question.unmet.length > 0) && <Sight question={question} />}
          {question.earlier.length > 0 && (
            <ul className="space-y-1 text-sm">
              {question.earlier.map((attempt, index) => (
                <li key={index} className="flex items-center gap-2">
                  <History aria-hidden className="size-4 shrink-0 text-doubt" />
                  <span>
                    Attempt {index + 1} was sent at <ClockTime at={attempt.at} />, {FINDINGS[attempt.finding]}.
                  </span>
                </li>
              ))}
            </ul>
          )}
        </div>
        <div className="min-w-0 space-y-4">
          <CurrentObservation run={question.run} />
          {question.revision && <PlanRevision question={question} />}
        </div>
      </div>

      <footer className="space-y-3 border-t px-4 py-3.5 sm:px-5">
        {question.not_by && (
          <p className="text-sm text-ask">
            Two people are needed: <UntrustedText text={question.not_by} /> started this run and must not decide.
          </p>
        )}
        {!stale && <ErrorNotice error={decide.error} />}
        <VerdictButtons question={question} shown={shown} busy={decide.isPending} onDecide={(body) => decide.mutate({ ...body, shown: question.shown })} />
      </footer>
    </article>
  );
}

/** What the screen shows now, and why that does not decide whether it happened. The texts are of the page. */
function Sight({ question }: { question: QuestionView }) {
  return (
    <section aria-label="What the page says now" className="space-y-2 text-sm" data-sight>
      {question.page && (
        <p>
          The page now: <q><UntrustedText text={question.page} /></q>
        </p>
      )}
      {question.appeared.length > 0 && (
        <div>
          New on it since:
          <ul className="ml-4 list-disc">
            {question.appeared.map((text) => (
              <li key={text}>
                <q><UntrustedText text={text} /></q>
              </li>
            ))}
          </ul>
        </div>
      )}
      {question.unmet.map((why) => (
        <p key={why} className="text-soft">
          <UntrustedText text={why} />
        </p>
      ))}
    </section>
  );
}

function Expiry({ at }: { at: number }) {
  const secondsLeft = at - useNow();
  if (secondsLeft > 86400 * 30) return null;
  return <span className={joinClasses("whitespace-nowrap", secondsLeft < 300 && "font-medium text-bad")}>{secondsLeft > 0 ? `expires in ${formatDuration(Math.ceil(secondsLeft))}` : "has expired"}</span>;
}

function PlanRevision({ question }: { question: QuestionView }) {
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
        <UntrustedText text={revision.why} />
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
