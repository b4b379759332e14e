import { ArrowRight, EyeOff, KeyRound, TriangleAlert } from "lucide-react";
import type { Argument, AskedStep, QuestionView, Row, RowChange } from "../api/types";
import { Chip, classes } from "../ui/parts";
import { Said } from "../ui/said";

const NAMES: Record<Row["kind"], string> = {
  skill: "does",
  target: "on",
  origin: "at",
  address: "sends",
  argument: "",
  value: "",
};

/** What a run asks, in a line. */
export function gist(question: QuestionView): string {
  const about = question.steps[0] ? `${question.steps[0].says}: ${question.steps[0].address || question.steps[0].origin}` : question.detail;
  return about ? `${question.title} ${about}` : question.title;
}

export function keyOf(row: Row): string {
  return `${row.kind}\u0000${row.name}\u0000${row.number}`;
}

/** A value exactly as it would be sent. A secret is shown by its name only; text and number are told apart. */
export function Value({ value, className }: { value: Argument; className?: string }) {
  if (value !== null && typeof value === "object")
    return (
      <span className={classes("inline-flex items-center gap-1 rounded bg-sunken px-1.5 text-soft", className)}>
        {value.source === "secret" ? <KeyRound aria-hidden className="size-3.5" /> : null}
        {value.source} <Said text={value.name} className="text-ink" />
      </span>
    );
  if (value === null) return <span className={classes("text-soft italic", className)}>nothing</span>;
  if (value === "") return <span className={classes("text-soft italic", className)}>empty</span>;
  if (typeof value === "string") return <Said text={value} className={classes("whitespace-pre-wrap", className)} />;
  return (
    <span className={className}>
      {String(value)} <span className="text-xs text-soft">{typeof value === "number" ? "number" : "yes/no"}</span>
    </span>
  );
}

/** Everything that is bound, in the order in which it is sent. */
export function Rows({ rows, changed = new Map(), gone = [] }: { rows: readonly Row[]; changed?: Map<string, RowChange>; gone?: readonly RowChange[] }) {
  const facts = rows.filter((row) => row.kind !== "argument" && row.kind !== "value");
  const named = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind);
  return (
    <div className="overflow-hidden rounded-lg border">
      <table className="w-full text-sm">
        <caption className="sr-only">Everything that an approval binds</caption>
        <tbody>
          {facts.map((row) => (
            <Line key={keyOf(row)} name={NAMES[row.kind]} row={row} change={changed.get(keyOf(row))} />
          ))}
          <Group title="called with" rows={named("argument")} changed={changed} />
          <Group title="values sent" rows={named("value")} changed={changed} />
          {gone.map((each) => each.was && <Line key={`gone ${keyOf(each.was)}`} name={each.was.name || NAMES[each.was.kind]} row={each.was} change={each} mono />)}
        </tbody>
      </table>
    </div>
  );
}

/** One step that a question asks about: the exact request with every value, and what differs from the last approval. */
export function Asked({ step, number, of }: { step: AskedStep; number: number; of: number }) {
  const changed = new Map<string, RowChange>();
  for (const each of step.changed) {
    const row = each.now ?? each.was;
    if (row) changed.set(keyOf(row), each);
  }
  const gone = step.changed.filter((each) => !each.now);
  return (
    <section className="min-w-0" aria-label={of > 1 ? `Request ${number} of ${of}` : "The request"}>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        {of > 1 && <span className="text-sm text-soft">{`${number} of ${of}`}</span>}
        <h3 className="font-semibold">
          <Said text={step.says} />
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
            not all of it can be shown
          </Chip>
        )}
      </div>
      <Rows rows={step.rows} changed={changed} gone={gone} />
    </section>
  );
}

function Group({ title, rows, changed }: { title: string; rows: Row[]; changed: Map<string, RowChange> }) {
  if (!rows.length) return null;
  return (
    <>
      <tr className="border-t bg-sunken">
        <th colSpan={2} scope="colgroup" className="px-3 py-1 text-left text-xs font-medium text-soft">
          {title}
        </th>
      </tr>
      {rows.map((row) => (
        <Line key={keyOf(row)} name={row.name} row={row} change={changed.get(keyOf(row))} mono />
      ))}
    </>
  );
}

function Line({ name, row, change, mono }: { name: string; row: Row; change?: RowChange; mono?: boolean }) {
  const address = row.kind === "address" && typeof row.value === "string";
  return (
    <tr className={classes("border-t align-top first:border-t-0", change && "bg-ask-wash")} data-changed={change ? "" : undefined}>
      <th scope="row" className={classes("w-28 px-3 sm:w-36 py-1.5 text-left font-normal text-soft", mono && "font-mono text-[0.8125rem]")}>
        <Said text={name} />
        {row.of > 1 && <span className="text-xs">{` ${row.number} of ${row.of}`}</span>}
      </th>
      <td className={classes("px-3 py-1.5", mono && "font-mono text-[0.8125rem]", address && "font-mono font-semibold")}>
        {change ? <Difference change={change} /> : <Value value={row.value} />}
      </td>
    </tr>
  );
}

export function Difference({ change }: { change: RowChange }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      {change.was ? (
        <del className="text-soft decoration-2">
          <span className="sr-only">before: </span>
          <Value value={change.was.value} />
        </del>
      ) : (
        <span className="text-soft italic">not there before</span>
      )}
      <ArrowRight aria-hidden className="size-3.5 text-ask" />
      {change.now ? (
        <ins className="font-semibold no-underline">
          <span className="sr-only">now: </span>
          <Value value={change.now.value} />
        </ins>
      ) : (
        <span className="font-semibold">not sent any more</span>
      )}
    </span>
  );
}

/** What the server says has changed since a decision was prepared. */
export function Changes({ changes }: { changes: RowChange[] }) {
  return (
    <ul className="mt-1 space-y-1 text-ink">
      {changes.map((each, index) => {
        const row = each.now ?? each.was;
        return (
          <li key={index} className="flex flex-wrap items-baseline gap-x-3 font-mono text-[0.8125rem]">
            {row && <Said text={row.name || NAMES[row.kind]} className="text-soft" />}
            <Difference change={each} />
          </li>
        );
      })}
    </ul>
  );
}
