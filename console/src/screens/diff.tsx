import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowLeft, ArrowRight, Check, Equal, Lightbulb, Lock, Minus, Pencil, Plus, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { diffQuery, plansQuery } from "../api/queries";
import type { DiffStep, PlanDiffView } from "../api/types";
import { useKeys } from "../ui/use-keys";
import { Chip, joinClasses, type IconType, TEXT_COLORS, Panel, PageHeading, type Tone } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { formatCount } from "../ui/format";
import { ErrorNotice } from "../ui/error-notice";
import { Value } from "./request-details";
import { Breadcrumb } from "./breadcrumb";
import { CAUSES } from "./plans";

/** Compares a plan with the plan that it replaced. */
export function Diff() {
  const { run, pair } = useParams({ from: "/runs/$run/plans/$pair" });
  const [before = 0, after = 0] = pair.split("..").map(Number);
  const query = useQuery(diffQuery(run, before, after));
  const plans = useQuery(plansQuery(run));
  const navigate = useNavigate();
  const pairs = (plans.data ?? []).flatMap(({ plan }) => (plan.parent === null ? [] : [`${plan.parent}..${plan.version}`]));
  const at = pairs.indexOf(pair);
  const goTo = (other?: string) => other && void navigate({ to: "/runs/$run/plans/$pair", params: { run, pair: other }, replace: true });
  const earlier = at > 0 ? pairs[at - 1] : undefined;
  const later = at >= 0 ? pairs[at + 1] : undefined;
  useKeys({ j: () => goTo(later), k: () => goTo(earlier) });
  const diff = query.data;
  return (
    <div className="space-y-5">
      <Breadcrumb run={run} page={`plans ${before} and ${after}`} />
      <PageHeading more={diff && <StepCounts diff={diff} />}>
        {diff ? (
          <>
            Plan {diff.after} replaced plan {diff.before} <UntrustedText text={describeCause(diff)} />
          </>
        ) : query.error ? (
          "These plans cannot be compared."
        ) : (
          "Loading the plans…"
        )}
      </PageHeading>
      <ErrorNotice error={query.error} />
      {diff && (
        <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
          <div className="space-y-5">
            <StepGroup title="Steps of the new plan" empty="No steps: nothing is left to do.">
              {orderSteps(diff).map(({ kind, step, change }) => (
                <StepRow key={`${kind} ${step.index}`} kind={kind} step={step}>
                  {change && <ChangedArguments change={change} />}
                </StepRow>
              ))}
            </StepGroup>
            {diff.dropped.length > 0 && (
              <StepGroup title="Dropped">
                {diff.dropped.map((step) => (
                  <StepRow key={step.index} kind="dropped" step={step} />
                ))}
              </StepGroup>
            )}
            {diff.done.length > 0 && (
              <StepGroup title="Already done; never repeated">
                {diff.done.map((step) => (
                  <StepRow key={step.index} kind="done" step={step} />
                ))}
              </StepGroup>
            )}
          </div>
          <div className="space-y-5">
            <ReplanReason diff={diff} />
            {(earlier || later) && (
              <div className="flex flex-wrap justify-between gap-2 text-sm">
                {earlier ? <PlanPairLink run={run} pair={earlier} icon={ArrowLeft} /> : <span />}
                {later && <PlanPairLink run={run} pair={later} icon={ArrowRight} iconAfter />}
              </div>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function describeCause(diff: PlanDiffView): string {
  const failed = diff.context?.failed;
  if (failed) return `because its step ${failed.index + 1} failed: ${failed.says || failed.skill}.`;
  const reason = diff.reason;
  const end = /[.!?]$/.test(reason) ? "" : ".";
  return diff.cause === "adaptive" ? "after a transition: more is visible now." : `${reason}${end}`;
}

function PlanPairLink({ run, pair, icon: Icon, iconAfter }: { run: string; pair: string; icon: IconType; iconAfter?: boolean }) {
  return (
    <Link to="/runs/$run/plans/$pair" params={{ run, pair }} replace className="flex items-center gap-1.5 rounded-lg px-2 py-1 text-accent hover:bg-sunken">
      {!iconAfter && <Icon aria-hidden className="size-4" />}
      plans {pair.replace("..", " and ")}
      {iconAfter && <Icon aria-hidden className="size-4" />}
    </Link>
  );
}

function StepCounts({ diff }: { diff: PlanDiffView }) {
  return (
    <span className="flex flex-wrap gap-1.5 pt-1">
      <Chip tone="plain" icon={Equal}>
        {diff.kept.length} kept
      </Chip>
      {diff.changed.length > 0 && (
        <Chip tone="ask" icon={Pencil}>
          {diff.changed.length} changed
        </Chip>
      )}
      {diff.dropped.length > 0 && (
        <Chip tone="bad" icon={Minus}>
          {diff.dropped.length} dropped
        </Chip>
      )}
      {diff.new.length > 0 && (
        <Chip tone="good" icon={Plus}>
          {diff.new.length} new
        </Chip>
      )}
      {diff.done.length > 0 && (
        <Chip tone="plain" icon={Lock}>
          {diff.done.length} done
        </Chip>
      )}
    </span>
  );
}

type Kind = "kept" | "changed" | "new" | "dropped" | "done";

const KINDS: Record<Kind, { icon: IconType; tone: Tone; word: string; wash: string }> = {
  kept: { icon: Equal, tone: "plain", word: "kept", wash: "" },
  changed: { icon: Pencil, tone: "ask", word: "changed", wash: "bg-ask-wash" },
  new: { icon: Plus, tone: "good", word: "new", wash: "bg-good-wash" },
  dropped: { icon: Minus, tone: "bad", word: "dropped", wash: "bg-bad-wash" },
  done: { icon: Lock, tone: "plain", word: "done", wash: "" },
};

interface OrderedStep {
  kind: Kind;
  step: DiffStep;
  change?: PlanDiffView["changed"][number];
}

/** The steps of the new plan, in its order. */
function orderSteps(diff: Pick<PlanDiffView, "kept" | "changed" | "new">): OrderedStep[] {
  const steps: OrderedStep[] = [
    ...diff.kept.map((step) => ({ kind: "kept" as const, step })),
    ...diff.changed.map((change) => ({ kind: "changed" as const, step: change.after, change })),
    ...diff.new.map((step) => ({ kind: "new" as const, step })),
  ];
  return steps.sort((a, b) => a.step.index - b.step.index);
}

function StepGroup({ title, empty, children }: { title: string; empty?: string; children: ReactNode[] }) {
  return (
    <Panel flush title={title} aside={<span>{formatCount(children.length, "step")}</span>}>
      {children.length ? <ol>{children}</ol> : <p className="px-4 py-3 text-sm text-soft">{empty}</p>}
    </Panel>
  );
}

function StepRow({ kind, step, children }: { kind: Kind; step: DiffStep; children?: ReactNode }) {
  const { icon: Icon, tone, word, wash } = KINDS[kind];
  return (
    <li className={joinClasses("flex gap-3 border-b px-4 py-2 last:border-b-0", wash)} data-kind={kind}>
      <Icon aria-hidden className={joinClasses("mt-0.5 size-4 shrink-0", TEXT_COLORS[tone])} />
      <div className="min-w-0 flex-1">
        <div className={joinClasses("text-sm", kind === "dropped" && "line-through")}>
          <span className="sr-only">{word}: </span>
          <UntrustedText text={step.says} />
        </div>
        {step.call && step.call !== step.says && (
          <div className="font-mono text-xs text-soft">
            <UntrustedText text={step.call} />
          </div>
        )}
        {children}
        {!children && kind !== "done" && step.arguments.length > 0 && (
          <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 font-mono text-xs">
            {step.arguments.map(([name, value]) => (
              <div key={name} className="flex gap-1.5">
                <dt className="text-soft">
                  <UntrustedText text={name} />
                </dt>
                <dd>
                  <Value value={value} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <span className={joinClasses("shrink-0 text-xs", TEXT_COLORS[tone])} aria-hidden>
        {word}
      </span>
      {step.effect === "irreversible" && <TriangleAlert role="img" aria-label="irreversible" className="mt-0.5 size-4 shrink-0 text-ask" />}
    </li>
  );
}

function ChangedArguments({ change }: { change: PlanDiffView["changed"][number] }) {
  return (
    <ul className="mt-1 space-y-0.5 font-mono text-[0.8125rem]">
      {change.arguments.map((each) => (
        <li key={each.name} className="flex flex-wrap items-center gap-x-2">
          <UntrustedText text={each.name} className="text-soft" />
          <del className="text-soft">
            <span className="sr-only">before: </span>
            <Value value={each.was} />
          </del>
          <ArrowRight aria-hidden className="size-3.5 text-ask" />
          <ins className="font-semibold no-underline">
            <span className="sr-only">now: </span>
            <Value value={each.now} />
          </ins>
        </li>
      ))}
    </ul>
  );
}

/** Why the plan was replaced: the failure, its cause, the proposed fix and the lessons that were used. */
function ReplanReason({ diff }: { diff: PlanDiffView }) {
  const context = diff.context;
  const cause = CAUSES[diff.cause as keyof typeof CAUSES];
  return (
    <Panel title="Why there is a new plan" aside={cause && <Chip tone={cause.tone}>{cause.word}</Chip>}>
      {!context ? (
        <p className="text-sm">
          <UntrustedText text={diff.reason} />
        </p>
      ) : (
        <dl className="space-y-3 text-sm">
          {context.failed && (
            <Item name={`Step ${context.failed.index + 1} of plan ${context.failed.version} failed`}>
              <UntrustedText text={context.failed.says || `${context.failed.skill} ${context.failed.target}`} className="font-medium" />
            </Item>
          )}
          <Item name="What went wrong">
            <UntrustedText text={context.failure.detail || context.failure.reason.replaceAll("_", " ")} />
            <span className="mt-1 flex flex-wrap gap-1.5">
              <Chip tone="bad">{context.failure.found.severity.toLowerCase()}</Chip>
              <Chip tone="plain">{context.failure.found.category.toLowerCase()}</Chip>
              <Chip tone="plain">{context.failure.found.nature.replaceAll("_", " ")}</Chip>
              <Chip tone="plain">{context.failure.reason.replaceAll("_", " ")}</Chip>
            </span>
          </Item>
          <Item name={`Root cause, by ${context.by === "rules" ? "the rules" : context.by === "model" ? "a model" : "your reflector"}`}>
            <UntrustedText text={context.analysis.root_cause} />
          </Item>
          {context.fix.message && (
            <Item name="Suggested fix">
              <UntrustedText text={context.fix.message} />
            </Item>
          )}
          {context.similar.length > 0 && (
            <Item name={`${formatCount(context.similar.length, "lesson")} used`}>
              <ul className="space-y-1.5">
                {context.similar.map(({ lesson, alike }) => (
                  <li key={lesson.key} className="flex gap-2">
                    <Lightbulb aria-hidden className="mt-0.5 size-4 shrink-0 text-ask" />
                    <span>
                      <Link to="/lessons" search={{ key: lesson.key }} className="font-mono text-xs text-accent hover:underline">
                        {lesson.key.slice(0, 8)}
                      </Link>{" "}
                      <UntrustedText text={lesson.fix.text || lesson.root_cause.text || lesson.said.text} />{" "}
                      <span className="text-xs text-soft">
                        helped {lesson.track.mended} of {lesson.track.mended + lesson.track.unmended}
                        {alike < 1 && `, ${Math.round(alike * 100)} % alike`}
                      </span>
                    </span>
                  </li>
                ))}
              </ul>
            </Item>
          )}
          {context.completed.length > 0 && (
            <Item name="Finished before">
              <ul>
                {context.completed.map((step) => (
                  <li key={`${step.version} ${step.index}`} className="flex gap-2">
                    <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
                    <UntrustedText text={step.says || step.skill} />
                  </li>
                ))}
              </ul>
            </Item>
          )}
        </dl>
      )}
    </Panel>
  );
}

function Item({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="mt-0.5">{children}</dd>
    </div>
  );
}
