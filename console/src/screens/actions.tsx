import { useEffect, useRef, useState } from "react";
import type { Decision, QuestionView, Scalar, VerdictName } from "../api/types";
import { Dialog, Field } from "../ui/dialog";
import { useKeys } from "../ui/keys";
import { Button } from "../ui/parts";
import { useSettled } from "../ui/settled";

interface Choice {
  key: string;
  name: string;
  look: "primary" | "plain" | "danger";
  /** Whether it agrees to what is shown: then the card must have stood still, and be in view. */
  agrees?: boolean;
  asks?: "guidance" | "changes" | "answer" | "sure";
}

const CHOICES: Record<VerdictName, Choice> = {
  approved: { key: "a", name: "Approve exactly this", look: "primary", agrees: true },
  changed: { key: "c", name: "Change…", look: "plain", asks: "changes", agrees: true },
  rejected: { key: "r", name: "Reject…", look: "danger", asks: "guidance" },
  take_over: { key: "t", name: "Take over", look: "plain", asks: "sure" },
  happened: { key: "h", name: "It happened", look: "plain", agrees: true, asks: "sure" },
  did_not_happen: { key: "d", name: "It did not happen", look: "plain", agrees: true, asks: "sure" },
  go_on: { key: "g", name: "Go on…", look: "primary", asks: "answer" },
  send_again: { key: "e", name: "Send it again…", look: "danger", agrees: true, asks: "sure" },
  stop: { key: "s", name: "Stop the run", look: "danger", asks: "sure" },
};

const SURE: Partial<Record<VerdictName, string>> = {
  take_over: "The run pauses, and you act in its world yourself. Afterwards it looks again, and plans from what it finds. Nothing of this request is sent.",
  happened: "It counts as done, and is never sent again in this run.",
  did_not_happen: "It may be sent again. If it did happen after all, it happens twice.",
  send_again: "It looks like what was sent before. It is sent once more, exactly as shown.",
  stop: "The run ends here. Nothing more is sent.",
};

/** The verdicts that answer a question, each with its key. */
export function Actions({
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
  const settled = useSettled(shown);
  const [open, setOpen] = useState<VerdictName | null>(null);
  const [read, setRead] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // What was opened for another card is not sent for this one.
    setOpen(null);
    setRead(false);
  }, [shown]);

  const ready = (choice: Choice) => !busy && (!choice.agrees || (settled && (!question.needs_all_values || read)));

  function choose(verdict: VerdictName, byKey: boolean): void {
    const choice = CHOICES[verdict];
    if (byKey && choice.agrees && !inView(bar.current)) {
      bar.current?.scrollIntoView({ block: "end" });
      return;
    }
    if (!ready(choice)) return;
    if (choice.asks) setOpen(verdict);
    else onDecide({ verdict, all_values: read });
  }

  useKeys(Object.fromEntries(question.verdicts.map((verdict) => [CHOICES[verdict].key, () => choose(verdict, true)])));

  return (
    <div ref={bar}>
      {question.needs_all_values && (
        <label className="mb-3 flex items-start gap-2 text-sm">
          <input type="checkbox" checked={read} onChange={(event) => setRead(event.target.checked)} className="mt-0.5 size-4 accent-(--accent)" />I have read all
          of it, also what is long, and I agree to what is shown only by its digest.
        </label>
      )}
      <div className="flex flex-wrap gap-2 max-sm:flex-col">
        {question.verdicts.map((verdict) => {
          const choice = CHOICES[verdict];
          return (
            <Button key={verdict} look={choice.look} keys={choice.key} disabled={!ready(choice)} data-verdict={verdict} onClick={() => choose(verdict, false)}>
              {choice.name}
            </Button>
          );
        })}
      </div>
      {open && (
        <Answer
          key={open}
          verdict={open}
          question={question}
          onClose={() => setOpen(null)}
          onSend={(body) => {
            setOpen(null);
            onDecide({ verdict: open, all_values: read, ...body });
          }}
        />
      )}
    </div>
  );
}

function inView(element: HTMLElement | null): boolean {
  if (!element) return false;
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight + 1;
}

function Answer({
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
  const [values, setValues] = useState<Record<string, Scalar>[]>(() => question.steps.map(() => ({})));
  const changes = values.flatMap((given, step) => (Object.keys(given).length ? [{ step, arguments: given }] : []));
  const name = choice.name.replace("…", "");
  const needed = choice.asks === "changes" ? changes.length > 0 : choice.asks !== "answer" || question.about !== "question" || !!text.trim();
  return (
    <Dialog open onClose={onClose} title={name} says={SURE[verdict] ?? (verdict === "changed" ? "You are asked again about exactly what comes of it, before it is sent." : undefined)}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (needed) onSend({ guidance: text, changes });
        }}
      >
        {(choice.asks === "guidance" || choice.asks === "answer") && (
          <Field label={question.about === "question" ? "Your answer" : "What should it do instead?"} hint={question.about === "question" ? undefined : "Optional. The planner reads it with its next plan."}>
            {(className) => <textarea autoFocus rows={3} className={className} value={text} onChange={(event) => setText(event.target.value)} />}
          </Field>
        )}
        {choice.asks === "changes" &&
          question.steps.map((step, index) =>
            step.rows
              .filter((row) => row.kind === "argument" && (row.value === null || typeof row.value !== "object"))
              .map((row) => {
                const before = row.value as Scalar;
                return (
                  <Field key={`${index} ${row.name}`} label={question.steps.length > 1 ? `${step.says}: ${row.name}` : row.name}>
                    {(className) => (
                      <input
                        className={className}
                        defaultValue={before === null ? "" : String(before)}
                        onChange={(event) => {
                          const value = like(event.target.value, before);
                          setValues((all) =>
                            all.map((given, at) => {
                              if (at !== index) return given;
                              const { [row.name]: _, ...others } = given;
                              return value === before ? others : { ...others, [row.name]: value };
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
          <p className="text-sm text-soft">This step has no arguments that you could change. Reject it with guidance instead.</p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look={choice.look === "danger" ? "danger" : "primary"} disabled={!needed} autoFocus={choice.asks === "sure"}>
            {name}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The text as the kind of value that it replaces: the number 2 and the text "2" are sent differently. */
function like(text: string, before: Scalar): Scalar {
  if (typeof before === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (typeof before === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
