import { useEffect, useRef, useState } from "react";
import type { Decision, QuestionView, Scalar, VerdictName } from "../api/types";
import { Dialog, Field } from "../ui/dialog";
import { useKeys } from "../ui/use-keys";
import { Button } from "../ui/components";
import { useStable } from "../ui/use-stable";
import { parseScalar } from "./scalar";

interface VerdictChoice {
  key: string;
  name: string;
  look: "primary" | "plain" | "danger";
  /** Whether it agrees to what is shown. Then the card must be in view and must not have changed a moment ago. */
  agrees?: boolean;
  /** What the dialog asks for before the verdict is sent; without it there is no dialog. */
  asks?: "guidance" | "changes" | "answer" | "confirmation";
}

const CHOICES: Record<VerdictName, VerdictChoice> = {
  approved: { key: "a", name: "Approve exactly this", look: "primary", agrees: true },
  changed: { key: "c", name: "Change…", look: "plain", asks: "changes", agrees: true },
  rejected: { key: "r", name: "Reject…", look: "danger", asks: "guidance" },
  take_over: { key: "t", name: "Take over", look: "plain", asks: "confirmation" },
  happened: { key: "h", name: "It happened", look: "plain", agrees: true, asks: "confirmation" },
  did_not_happen: { key: "d", name: "It did not happen", look: "plain", agrees: true, asks: "confirmation" },
  go_on: { key: "g", name: "Go on…", look: "primary", asks: "answer" },
  send_again: { key: "e", name: "Send it again…", look: "danger", agrees: true, asks: "confirmation" },
  spend_more: { key: "m", name: "Let it spend that much more", look: "primary", agrees: true },
  stop: { key: "s", name: "Stop the run", look: "danger", asks: "confirmation" },
};

const CONFIRMATIONS: Partial<Record<VerdictName, string>> = {
  take_over: "The run pauses, and you act in its world yourself. Afterwards it observes the world again and makes a new plan. This request is not sent.",
  happened: "It counts as done and is never sent again in this run.",
  did_not_happen: "It is looked for once more, and may then be sent again. If it did happen, it then happens twice.",
  send_again: "It looks like something that was already sent. It is sent once more, exactly as shown.",
  stop: "The run ends here. Nothing more is sent.",
};

/** A button and a key for each verdict that answers a question. */
export function VerdictButtons({
  question,
  shown,
  busy,
  onDecide,
}: {
  question: QuestionView;
  shown: string;
  busy: boolean;
  onDecide: (body: Omit<Decision, "shown">) => void;
}) {
  const isStable = useStable(shown);
  const [open, setOpen] = useState<VerdictName | null>(null);
  const [hasReadAll, setHasReadAll] = useState(false);
  const buttons = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A dialog that was opened for another card must not answer this one.
    setOpen(null);
    setHasReadAll(false);
  }, [shown]);

  const isReady = (choice: VerdictChoice) => !busy && (!choice.agrees || (isStable && (!question.needs_all_values || hasReadAll)));

  function choose(verdict: VerdictName, byKey: boolean): void {
    const choice = CHOICES[verdict];
    if (byKey && choice.agrees && !isInView(buttons.current)) {
      buttons.current?.scrollIntoView({ block: "end" });
      return;
    }
    if (!isReady(choice)) return;
    if (choice.asks) setOpen(verdict);
    else onDecide({ verdict, all_values: hasReadAll });
  }

  useKeys(Object.fromEntries(question.verdicts.map((verdict) => [CHOICES[verdict].key, () => choose(verdict, true)])));

  return (
    <div ref={buttons}>
      {question.needs_all_values && (
        <label className="mb-3 flex items-start gap-2 text-sm">
          <input type="checkbox" checked={hasReadAll} onChange={(event) => setHasReadAll(event.target.checked)} className="mt-0.5 size-4 accent-(--accent)" />I have read all
          of it, including the long values, and I agree to the values that are shown only by their digest.
        </label>
      )}
      <div className="flex flex-wrap gap-2 max-sm:flex-col">
        {question.verdicts.map((verdict) => {
          const choice = CHOICES[verdict];
          return (
            <Button key={verdict} look={choice.look} keys={choice.key} disabled={!isReady(choice)} data-verdict={verdict} onClick={() => choose(verdict, false)}>
              {choice.name}
            </Button>
          );
        })}
      </div>
      {open && (
        <VerdictDialog
          key={open}
          verdict={open}
          question={question}
          onClose={() => setOpen(null)}
          onSend={(body) => {
            setOpen(null);
            onDecide({ verdict: open, all_values: hasReadAll, ...body });
          }}
        />
      )}
    </div>
  );
}

function isInView(element: HTMLElement | null): boolean {
  if (!element) return false;
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight + 1;
}

/** Asks for the confirmation, text or changed values that a verdict needs. */
function VerdictDialog({
  verdict,
  question,
  onClose,
  onSend,
}: {
  verdict: VerdictName;
  question: QuestionView;
  onClose: () => void;
  onSend: (body: Partial<Decision>) => void;
}) {
  const choice = CHOICES[verdict];
  const [text, setText] = useState("");
  const [changedArguments, setChangedArguments] = useState<Record<string, Scalar>[]>(() => question.steps.map(() => ({})));
  const changes = changedArguments.flatMap((changed, step) => (Object.keys(changed).length ? [{ step, arguments: changed }] : []));
  const name = choice.name.replace("…", "");
  const isComplete = choice.asks === "changes" ? changes.length > 0 : choice.asks !== "answer" || question.about !== "question" || !!text.trim();
  return (
    <Dialog open onClose={onClose} title={name} description={CONFIRMATIONS[verdict] ?? (verdict === "changed" ? "You will be asked to approve the changed request before it is sent." : undefined)}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) onSend({ guidance: text, changes });
        }}
      >
        {(choice.asks === "guidance" || choice.asks === "answer") && (
          <Field label={question.about === "question" ? "Your answer" : "What should it do instead?"} hint={question.about === "question" ? undefined : "Optional. The planner reads it when it makes its next plan."}>
            {(className) => <textarea autoFocus rows={3} className={className} value={text} onChange={(event) => setText(event.target.value)} />}
          </Field>
        )}
        {choice.asks === "changes" &&
          question.steps.map((step, index) =>
            step.rows
              .filter((row) => row.kind === "argument" && (row.value === null || typeof row.value !== "object"))
              .map((row) => {
                const original = row.value as Scalar;
                return (
                  <Field key={`${index} ${row.name}`} label={question.steps.length > 1 ? `${step.says}: ${row.name}` : row.name}>
                    {(className) => (
                      <input
                        className={className}
                        defaultValue={original === null ? "" : String(original)}
                        onChange={(event) => {
                          const value = parseScalar(event.target.value, original);
                          setChangedArguments((all) =>
                            all.map((changed, at) => {
                              if (at !== index) return changed;
                              const { [row.name]: _, ...others } = changed;
                              return value === original ? others : { ...others, [row.name]: value };
                            }),
                          );
                        }}
                      />
                    )}
                  </Field>
                );
              }),
          )}
        {choice.asks === "changes" && !question.steps.some((step) => step.rows.some((row) => row.kind === "argument")) && (
          <p className="text-sm text-soft">This step has no arguments that you could change. Reject it and give guidance instead.</p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look={choice.look === "danger" ? "danger" : "primary"} disabled={!isComplete} autoFocus={choice.asks === "confirmation"}>
            {name}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
