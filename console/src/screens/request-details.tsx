import { ArrowRight, EyeOff, KeyRound, TriangleAlert } from "lucide-react";
import type { Argument, AskedStep, QuestionView, Row, RowChange } from "../api/types";
import { Chip, joinClasses } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";

const LABELS: Record<Row["kind"], string> = {
  skill: "does",
  target: "on",
  origin: "at",
  address: "sends",
  argument: "",
  value: "",
};

/** Summarizes a question in one line. */
export function summarizeQuestion(question: QuestionView): string {
  const about = question.steps[0] ? `${question.steps[0].says}: ${question.steps[0].address || question.steps[0].origin}` : question.detail;
  return about ? `${question.title} ${about}` : question.title;
}

/** Identifies a bound value among the values of its step. */
export function rowKey(row: Row): string {
  return `${row.kind}\u0000${row.name}\u0000${row.number}`;
}

/** A value exactly as it would be sent. A secret is shown only by its name; a number is marked, because it differs from the same text. */
export function Value({ value, className }: { value: Argument; className?: string }) {
  if (value !== null && typeof value === "object")
    return (
      <span className={joinClasses("inline-flex items-center gap-1 rounded bg-sunken px-1.5 text-soft", className)}>
        {value.source === "secret" ? <KeyRound aria-hidden className="size-3.5" /> : null}
        {value.source} <UntrustedText text={value.name} className="text-ink" />
      </span>
    );
  if (value === null) return <span className={joinClasses("text-soft italic", className)}>nothing</span>;
  if (value === "") return <span className={joinClasses("text-soft italic", className)}>empty</span>;
  if (typeof value === "string") return <UntrustedText text={value} className={joinClasses("whitespace-pre-wrap", className)} />;
  return (
    <span className={className}>
      {String(value)} <span className="text-xs text-soft">{typeof value === "number" ? "number" : "yes/no"}</span>
    </span>
  );
}

/** All values that an approval binds, in the order in which they are sent. */
export function BoundValues({ rows, changed = new Map(), removed = [] }: { rows: readonly Row[]; changed?: Map<string, RowChange>; removed?: readonly RowChange[] }) {
  const requestRows = rows.filter((row) => row.kind !== "argument" && row.kind !== "value");
  const rowsOf = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind);
  return (
    <div className="overflow-hidden rounded-lg border">
      <table className="w-full text-sm">
        <caption className="sr-only">All values that the approval binds</caption>
        <tbody>
          {requestRows.map((row) => (
            <ValueRow key={rowKey(row)} name={LABELS[row.kind]} row={row} change={changed.get(rowKey(row))} />
          ))}
          <ValueGroup title="called with" rows={rowsOf("argument")} changed={changed} />
          <ValueGroup title="values sent" rows={rowsOf("value")} changed={changed} />
          {removed.map((each) => each.was && <ValueRow key={`removed ${rowKey(each.was)}`} name={each.was.name || LABELS[each.was.kind]} row={each.was} change={each} mono />)}
        </tbody>
      </table>
    </div>
  );
}

/** The request of one step: every value that would be sent, and what differs from the last approval. */
export function RequestDetails({ step, number, of }: { step: AskedStep; number: number; of: number }) {
  const changed = new Map<string, RowChange>();
  for (const each of step.changed) {
    const row = each.now ?? each.was;
    if (row) changed.set(rowKey(row), each);
  }
  const removed = step.changed.filter((each) => !each.now);
  return (
    <section className="min-w-0" aria-label={of > 1 ? `Request ${number} of ${of}` : "The request"}>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        {of > 1 && <span className="text-sm text-soft">{`${number} of ${of}`}</span>}
        <h3 className="font-semibold">
          <UntrustedText text={step.says} />
        </h3>
        {step.effect === "irreversible" ? (
          <Chip tone="ask" icon={TriangleAlert}>
            irreversible
          </Chip>
        ) : (
          <Chip tone="plain">{step.effect.replace("_", " ")}</Chip>
        )}
        {step.abridged && (
          <Chip tone="doubt" icon={EyeOff}>
            some values are not shown in full
          </Chip>
        )}
      </div>
      <BoundValues rows={step.rows} changed={changed} removed={removed} />
    </section>
  );
}

function ValueGroup({ title, rows, changed }: { title: string; rows: Row[]; changed: Map<string, RowChange> }) {
  if (!rows.length) return null;
  return (
    <>
      <tr className="border-t bg-sunken">
        <th colSpan={2} scope="colgroup" className="px-3 py-1 text-left text-xs font-medium text-soft">
          {title}
        </th>
      </tr>
      {rows.map((row) => (
        <ValueRow key={rowKey(row)} name={row.name} row={row} change={changed.get(rowKey(row))} mono />
      ))}
    </>
  );
}

function ValueRow({ name, row, change, mono }: { name: string; row: Row; change?: RowChange; mono?: boolean }) {
  const isAddress = row.kind === "address" && typeof row.value === "string";
  return (
    <tr className={joinClasses("border-t align-top first:border-t-0", change && "bg-ask-wash")} data-changed={change ? "" : undefined}>
      <th scope="row" className={joinClasses("w-28 px-3 sm:w-36 py-1.5 text-left font-normal text-soft", mono && "font-mono text-[0.8125rem]")}>
        <UntrustedText text={name} />
        {row.of > 1 && <span className="text-xs">{` ${row.number} of ${row.of}`}</span>}
      </th>
      <td className={joinClasses("px-3 py-1.5", mono && "font-mono text-[0.8125rem]", isAddress && "font-mono font-semibold")}>
        {change ? <ValueChange change={change} /> : <Value value={row.value} />}
      </td>
    </tr>
  );
}

/** The old and the new value. */
export function ValueChange({ change }: { change: RowChange }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      {change.was ? (
        <del className="text-soft decoration-2">
          <span className="sr-only">before: </span>
          <Value value={change.was.value} />
        </del>
      ) : (
        <span className="text-soft italic">not sent before</span>
      )}
      <ArrowRight aria-hidden className="size-3.5 text-ask" />
      {change.now ? (
        <ins className="font-semibold no-underline">
          <span className="sr-only">now: </span>
          <Value value={change.now.value} />
        </ins>
      ) : (
        <span className="font-semibold">no longer sent</span>
      )}
    </span>
  );
}

/** The values that have changed since the user saw the card. */
export function ChangeList({ changes }: { changes: RowChange[] }) {
  return (
    <ul className="mt-1 space-y-1 text-ink">
      {changes.map((each, index) => {
        const row = each.now ?? each.was;
        return (
          <li key={index} className="flex flex-wrap items-baseline gap-x-3 font-mono text-[0.8125rem]">
            {row && <UntrustedText text={row.name || LABELS[row.kind]} className="text-soft" />}
            <ValueChange change={each} />
          </li>
        );
      })}
    </ul>
  );
}
