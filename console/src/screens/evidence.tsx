import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Ban, Check, CircleHelp, Clock3, Hand, Send, X } from "lucide-react";
import type { ReactNode } from "react";
import { useLive } from "../api/live";
import { effectsQuery, runQuery } from "../api/queries";
import { useSight } from "../api/seen";
import type { EffectView, Look } from "../api/types";
import { Chip, classes, Empty, type Icon, INK, Panel, Sentence, type Tone } from "../ui/parts";
import { Said } from "../ui/said";
import { Scene } from "../ui/scene";
import { clock } from "../ui/time";
import { Clock } from "../ui/times";
import { Trouble } from "../ui/trouble";
import { Rows } from "./card";
import { Crumb } from "./crumb";

type Outcome = "happened" | "did not happen" | "unknown";

const OUTCOMES: Record<Outcome, { tone: Tone; icon: Icon }> = {
  happened: { tone: "good", icon: Check },
  "did not happen": { tone: "plain", icon: X },
  unknown: { tone: "doubt", icon: CircleHelp },
};

export function outcomeOf({ act }: EffectView): Outcome {
  return act.status === "ok" ? "happened" : act.status === "unknown" ? "unknown" : "did not happen";
}

const irreversible = (effect: EffectView) => effect.act.consequence?.effect === "irreversible";

export interface EvidenceSearch {
  act?: number;
  look?: number;
}

export function Evidence() {
  const { run } = useParams({ from: "/runs/$run/evidence" });
  const search = useSearch({ from: "/runs/$run/evidence" });
  const found = useQuery(effectsQuery(run));
  const view = useQuery(runQuery(run));
  const all = found.data?.sent ?? [];
  const weighty = all.filter(irreversible);
  const sent = weighty.length ? weighty : all;
  const chosen = sent.find((one) => one.act.command === search.act) ?? sent.find((one) => outcomeOf(one) === "unknown") ?? sent.at(-1);
  return (
    <div className="space-y-5">
      <Crumb run={run} page="evidence" />
      <Sentence>{found.data ? (chosen ? sentence(chosen) : "Nothing that cannot be taken back was sent.") : found.error ? "The evidence cannot be read." : "Reading the evidence…"}</Sentence>
      <Trouble error={found.error} />
      {view.data?.question != null && chosen && outcomeOf(chosen) === "unknown" && (
        <Link to="/inbox" search={{ run }} className="inline-flex min-h-10 items-center gap-2 rounded-lg bg-accent px-3.5 text-sm font-medium text-on-accent">
          <Hand aria-hidden className="size-4" />
          Say what happened
        </Link>
      )}
      {sent.length > 1 && <Sent run={run} sent={sent} chosen={chosen} />}
      {chosen && <Act key={chosen.act.command} run={run} effect={chosen} look={search.look} />}
      {(found.data?.world.length ?? 0) > 0 && (
        <Panel title="What the world itself wrote down">
          <ul className="space-y-1 font-mono text-[0.8125rem]">
            {found.data?.world.map((line, index) => (
              <li key={index}>
                <Said text={line} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function sentence({ act }: EffectView): ReactNode {
  const at = `at ${clock(act.dispatched_at)}`;
  const outcome = outcomeOf({ act } as EffectView);
  if (outcome === "unknown") return `It was sent ${at}. Whether it happened is not known, and it cannot be sent again.`;
  return (
    <>
      It was sent {at} and {outcome}: <Said text={act.words} />.
    </>
  );
}

function Sent({ run, sent, chosen }: { run: string; sent: EffectView[]; chosen?: EffectView }) {
  return (
    <nav aria-label="What was sent">
      <ul className="flex gap-2 overflow-x-auto pb-1">
        {sent.map((effect) => {
          const outcome = outcomeOf(effect);
          const here = effect === chosen;
          return (
            <li key={effect.act.command} className="w-64 shrink-0">
              <Link
                to="/runs/$run/evidence"
                params={{ run }}
                search={{ act: effect.act.command }}
                replace
                aria-current={here ? "true" : undefined}
                className={classes("block h-full rounded-lg border px-3 py-2", here ? "border-accent bg-accent-wash" : "bg-panel hover:bg-sunken")}
              >
                <span className="block truncate text-sm font-medium">
                  <Said text={effect.act.says} />
                </span>
                <span className="mt-1 flex items-center justify-between gap-2 text-xs text-soft">
                  <Chip tone={OUTCOMES[outcome].tone} icon={OUTCOMES[outcome].icon}>
                    {outcome}
                  </Chip>
                  <Clock at={effect.act.dispatched_at} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

interface Moment {
  at: number;
  icon: Icon;
  tone: Tone;
  title: string;
  detail: ReactNode;
  look?: Look;
}

const FINDINGS: Record<Look["finding"], { word: string; icon: Icon; tone: Tone }> = {
  happened: { word: "it happened", icon: Check, tone: "good" },
  did_not_happen: { word: "it did not happen", icon: X, tone: "bad" },
  undecided: { word: "undecided", icon: CircleHelp, tone: "doubt" },
  too_early: { word: "too early to tell", icon: Clock3, tone: "doubt" },
  unknown: { word: "it proves nothing", icon: CircleHelp, tone: "doubt" },
};
const HOW: Record<Look["how"], string> = { act: "The answer to the act", verification: "Looked for it", person: "A person said" };
const PROOF: Record<string, string> = {
  expectation: "what was expected was seen",
  absent_when: "it was seen that nothing was stored",
  probe: "by a probe",
  rule: "by a rule of your policy",
  response: "a successful answer",
  not_dispatched: "nothing was sent",
  person: "by a person",
};

/** What the finding relies on. A probe and a person say so themselves. */
function proof({ evidence, detail }: Look): string {
  const words = PROOF[evidence ?? ""];
  return [detail && (evidence === "probe" || evidence === "person") ? "" : words, detail].filter(Boolean).join("; ");
}

function moments({ act }: EffectView): Moment[] {
  const found: Moment[] = [
    { at: act.dispatched_at, icon: Send, tone: "live", title: "Sent", detail: <Said text={act.consequence?.commit?.address || act.says} className="font-mono text-xs" /> },
    ...act.looks.map((look) => {
      const finding = FINDINGS[look.finding];
      return {
        at: look.at,
        icon: finding.icon,
        tone: finding.tone,
        title: `${HOW[look.how]}${look.by ? ` (${look.by})` : ""}: ${finding.word}`,
        detail: <Said text={proof(look)} />,
        look,
      };
    }),
  ];
  if (act.barred_at) found.push({ at: act.barred_at, icon: Ban, tone: "plain", title: "Barred", detail: "From here on the world refuses this command: no late copy of it can arrive." });
  return found.sort((a, b) => a.at - b.at);
}

function Act({ run, effect, look }: { run: string; effect: EffectView; look?: number }) {
  const navigate = useNavigate();
  const outcome = outcomeOf(effect);
  const all = moments(effect);
  const pictured = all.filter((one) => one.look?.observation);
  const shown = all.find((one) => one.look && one.look.seq === look)?.look ?? pictured.at(-1)?.look;
  const { turns } = useLive(run);
  const before = turns.find((turn) => turn.seen?.id === effect.act.seen)?.seq;
  const { seen, picture, error } = useSight(run, shown?.observation || effect.act.seen || "", turns, shown?.seq ?? before);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,6fr)_minmax(0,6fr)]">
      <div className="space-y-5">
        <Panel
          flush
          title={<Said text={effect.act.says} />}
          aside={
            <Chip tone={OUTCOMES[outcome].tone} icon={OUTCOMES[outcome].icon}>
              {outcome}
            </Chip>
          }
        >
          <ol className="relative px-4 py-3">
            {all.map((one, index) => (
              <li key={index} className="relative flex gap-3 pb-4 last:pb-0">
                {index < all.length - 1 && <span aria-hidden className="absolute top-6 bottom-0 left-[5.4rem] w-px bg-line" />}
                <span className="w-16 shrink-0 pt-0.5 text-right font-mono text-xs whitespace-nowrap text-soft">
                  <Clock at={one.at} />
                </span>
                <one.icon aria-hidden className={classes("mt-0.5 size-4.5 shrink-0", INK[one.tone])} />
                <div className="min-w-0 flex-1 text-sm">
                  <div className="font-medium">{one.title}</div>
                  <div className="text-soft">{one.detail}</div>
                  {one.look?.observation && (
                    <button
                      type="button"
                      aria-pressed={shown === one.look}
                      onClick={() => void navigate({ to: "/runs/$run/evidence", params: { run }, search: { act: effect.act.command, look: one.look?.seq }, replace: true })}
                      className={classes("mt-1 rounded px-1.5 py-0.5 text-xs font-medium", shown === one.look ? "bg-accent-wash text-accent" : "bg-sunken text-soft hover:text-ink")}
                    >
                      what it saw
                    </button>
                  )}
                </div>
              </li>
            ))}
          </ol>
          <p className="border-t px-4 py-3 text-sm">
            <strong className="font-semibold">Verdict:</strong> {outcome === "unknown" ? "not known yet" : `it ${outcome}`}; <Said text={effect.act.words} />.
          </p>
        </Panel>
        {effect.rows.length > 0 && (
          <Panel title="Exactly what was sent" aside={<span className="font-mono">digest {effect.act.digest.slice(0, 12)}…</span>}>
            <Rows rows={effect.rows} />
          </Panel>
        )}
      </div>
      <Panel title={shown ? "What it saw then" : "What it saw before"} aside={shown && <Clock at={shown.at} />}>
        {seen ? <Scene run={run} seen={seen} picture={picture} /> : <Empty>{error ? "This picture is not kept." : "Nothing was seen."}</Empty>}
      </Panel>
    </div>
  );
}
