import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Ban, Check, CircleHelp, Clock3, Hand, Send, X } from "lucide-react";
import type { ReactNode } from "react";
import { useLiveTurns } from "../api/use-live-turns";
import { effectsQuery, runQuery } from "../api/queries";
import { useObservation } from "../api/use-observation";
import type { EffectView, Look } from "../api/types";
import { Chip, joinClasses, Empty, type IconType, TEXT_COLORS, Panel, PageHeading, type Tone } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { ObservationView } from "../ui/observation-view";
import { formatClock } from "../ui/format";
import { ClockTime } from "../ui/timestamps";
import { ErrorNotice } from "../ui/error-notice";
import { BoundValues } from "./request-details";
import { Breadcrumb } from "./breadcrumb";

type Outcome = "happened" | "did not happen" | "unknown";

const OUTCOMES: Record<Outcome, { tone: Tone; icon: IconType }> = {
  happened: { tone: "good", icon: Check },
  "did not happen": { tone: "plain", icon: X },
  unknown: { tone: "doubt", icon: CircleHelp },
};

export function outcomeOf({ act }: EffectView): Outcome {
  return act.status === "ok" ? "happened" : act.status === "unknown" ? "unknown" : "did not happen";
}

const isIrreversible = (effect: EffectView) => effect.act.consequence?.effect === "irreversible";

export interface EvidenceSearch {
  act?: number;
  look?: number;
}

/** What was sent, and what proves whether it happened. */
export function Evidence() {
  const { run } = useParams({ from: "/runs/$run/evidence" });
  const search = useSearch({ from: "/runs/$run/evidence" });
  const effects = useQuery(effectsQuery(run));
  const view = useQuery(runQuery(run));
  const all = effects.data?.sent ?? [];
  const irreversible = all.filter(isIrreversible);
  const sent = irreversible.length ? irreversible : all;
  const selected = sent.find((effect) => effect.act.command === search.act) ?? sent.find((effect) => outcomeOf(effect) === "unknown") ?? sent.at(-1);
  return (
    <div className="space-y-5">
      <Breadcrumb run={run} page="evidence" />
      <PageHeading>{effects.data ? (selected ? describeOutcome(selected) : "Nothing irreversible was sent.") : effects.error ? "The evidence cannot be read." : "Loading the evidence…"}</PageHeading>
      <ErrorNotice error={effects.error} />
      {view.data?.question != null && selected && outcomeOf(selected) === "unknown" && (
        <Link to="/inbox" search={{ run }} className="inline-flex min-h-10 items-center gap-2 rounded-lg bg-accent px-3.5 text-sm font-medium text-on-accent">
          <Hand aria-hidden className="size-4" />
          Say what happened
        </Link>
      )}
      {sent.length > 1 && <SentActs run={run} sent={sent} selected={selected} />}
      {selected && <ActEvidence key={selected.act.command} run={run} effect={selected} look={search.look} />}
      {(effects.data?.world.length ?? 0) > 0 && (
        <Panel title="The world's own log">
          <ul className="space-y-1 font-mono text-[0.8125rem]">
            {effects.data?.world.map((line, index) => (
              <li key={index}>
                <UntrustedText text={line} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function describeOutcome({ act }: EffectView): ReactNode {
  const at = `at ${formatClock(act.dispatched_at)}`;
  const outcome = outcomeOf({ act } as EffectView);
  if (outcome === "unknown") return `It was sent ${at}. Whether it happened is not known, and it cannot be sent again.`;
  return (
    <>
      It was sent {at} and {outcome}: <UntrustedText text={act.words} />.
    </>
  );
}

/** Links to the acts that were sent. */
function SentActs({ run, sent, selected }: { run: string; sent: EffectView[]; selected?: EffectView }) {
  return (
    <nav aria-label="What was sent">
      <ul className="flex gap-2 overflow-x-auto pb-1">
        {sent.map((effect) => {
          const outcome = outcomeOf(effect);
          const isSelected = effect === selected;
          return (
            <li key={effect.act.command} className="w-64 shrink-0">
              <Link
                to="/runs/$run/evidence"
                params={{ run }}
                search={{ act: effect.act.command }}
                replace
                aria-current={isSelected ? "true" : undefined}
                className={joinClasses("block h-full rounded-lg border px-3 py-2", isSelected ? "border-accent bg-accent-wash" : "bg-panel hover:bg-sunken")}
              >
                <span className="block truncate text-sm font-medium">
                  <UntrustedText text={effect.act.says} />
                </span>
                <span className="mt-1 flex items-center justify-between gap-2 text-xs text-soft">
                  <Chip tone={OUTCOMES[outcome].tone} icon={OUTCOMES[outcome].icon}>
                    {outcome}
                  </Chip>
                  <ClockTime at={effect.act.dispatched_at} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

interface TimelineEntry {
  at: number;
  icon: IconType;
  tone: Tone;
  title: string;
  detail: ReactNode;
  look?: Look;
}

const FINDINGS: Record<Look["finding"], { word: string; icon: IconType; tone: Tone }> = {
  happened: { word: "it happened", icon: Check, tone: "good" },
  did_not_happen: { word: "it did not happen", icon: X, tone: "bad" },
  undecided: { word: "undecided", icon: CircleHelp, tone: "doubt" },
  too_early: { word: "too early to tell", icon: Clock3, tone: "doubt" },
  unknown: { word: "it proves nothing", icon: CircleHelp, tone: "doubt" },
};
const SOURCES: Record<Look["how"], string> = { act: "The answer to the act", verification: "Looked for it", person: "A person said" };
const PROOFS: Record<string, string> = {
  expectation: "the expected result was seen",
  absent_when: "the world showed that nothing was stored",
  probe: "by a probe",
  rule: "by a rule of your policy",
  response: "a successful answer",
  not_dispatched: "nothing was sent",
  person: "by a person",
};

/** What the finding is based on. The detail of a probe or a person already says so. */
function describeProof({ evidence, detail }: Look): string {
  const proof = PROOFS[evidence ?? ""];
  return [detail && (evidence === "probe" || evidence === "person") ? "" : proof, detail].filter(Boolean).join("; ");
}

/** Everything that happened to an act, in order of time. */
function buildTimeline({ act }: EffectView): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    { at: act.dispatched_at, icon: Send, tone: "live", title: "Sent", detail: <UntrustedText text={act.consequence?.commit?.address || act.says} className="font-mono text-xs" /> },
    ...act.looks.map((look) => {
      const finding = FINDINGS[look.finding];
      return {
        at: look.at,
        icon: finding.icon,
        tone: finding.tone,
        title: `${SOURCES[look.how]}${look.by ? ` (${look.by})` : ""}: ${finding.word}`,
        detail: <UntrustedText text={describeProof(look)} />,
        look,
      };
    }),
  ];
  if (act.barred_at) entries.push({ at: act.barred_at, icon: Ban, tone: "plain", title: "Barred", detail: "From now on the world refuses this command, so that a delayed copy of it has no effect." });
  return entries.sort((a, b) => a.at - b.at);
}

function ActEvidence({ run, effect, look }: { run: string; effect: EffectView; look?: number }) {
  const navigate = useNavigate();
  const outcome = outcomeOf(effect);
  const entries = buildTimeline(effect);
  const observed = entries.filter((entry) => entry.look?.observation);
  const shown = entries.find((entry) => entry.look && entry.look.seq === look)?.look ?? observed.at(-1)?.look;
  const { turns } = useLiveTurns(run);
  const before = turns.find((turn) => turn.seen?.id === effect.act.seen)?.seq;
  const { observation, picture, error } = useObservation(run, shown?.observation || effect.act.seen || "", turns, shown?.seq ?? before);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,6fr)_minmax(0,6fr)]">
      <div className="space-y-5">
        <Panel
          flush
          title={<UntrustedText text={effect.act.says} />}
          aside={
            <Chip tone={OUTCOMES[outcome].tone} icon={OUTCOMES[outcome].icon}>
              {outcome}
            </Chip>
          }
        >
          <ol className="relative px-4 py-3">
            {entries.map((entry, index) => (
              <li key={index} className="relative flex gap-3 pb-4 last:pb-0">
                {index < entries.length - 1 && <span aria-hidden className="absolute top-6 bottom-0 left-[5.4rem] w-px bg-line" />}
                <span className="w-16 shrink-0 pt-0.5 text-right font-mono text-xs whitespace-nowrap text-soft">
                  <ClockTime at={entry.at} />
                </span>
                <entry.icon aria-hidden className={joinClasses("mt-0.5 size-4.5 shrink-0", TEXT_COLORS[entry.tone])} />
                <div className="min-w-0 flex-1 text-sm">
                  <div className="font-medium">{entry.title}</div>
                  <div className="text-soft">{entry.detail}</div>
                  {entry.look?.observation && (
                    <button
                      type="button"
                      aria-pressed={shown === entry.look}
                      onClick={() => void navigate({ to: "/runs/$run/evidence", params: { run }, search: { act: effect.act.command, look: entry.look?.seq }, replace: true })}
                      className={joinClasses("mt-1 rounded px-1.5 py-0.5 text-xs font-medium", shown === entry.look ? "bg-accent-wash text-accent" : "bg-sunken text-soft hover:text-ink")}
                    >
                      show what it saw
                    </button>
                  )}
                </div>
              </li>
            ))}
          </ol>
          <p className="border-t px-4 py-3 text-sm">
            <strong className="font-semibold">Verdict:</strong> {outcome === "unknown" ? "not known yet" : `it ${outcome}`}; <UntrustedText text={effect.act.words} />.
          </p>
        </Panel>
        {effect.rows.length > 0 && (
          <Panel title="Exactly what was sent" aside={<span className="font-mono">digest {effect.act.digest.slice(0, 12)}…</span>}>
            <BoundValues rows={effect.rows} />
          </Panel>
        )}
      </div>
      <Panel title={shown ? "What it saw then" : "What it saw before the act"} aside={shown && <ClockTime at={shown.at} />}>
        {observation ? <ObservationView run={run} observation={observation} pictured={picture} /> : <Empty>{error ? "This observation is no longer stored." : "Nothing was observed."}</Empty>}
      </Panel>
    </div>
  );
}
