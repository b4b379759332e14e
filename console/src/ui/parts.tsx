import type { ButtonHTMLAttributes, ComponentType, ReactNode } from "react";

/** Joins class names; leaves out what is false. */
export function classes(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

export type Tone = "plain" | "good" | "bad" | "doubt" | "ask" | "live";

export const INK: Record<Tone, string> = {
  plain: "text-soft",
  good: "text-good",
  bad: "text-bad",
  doubt: "text-doubt",
  ask: "text-ask",
  live: "text-accent",
};
const CHIP: Record<Tone, string> = {
  plain: "bg-sunken text-soft",
  good: "bg-good-wash text-good",
  bad: "bg-bad-wash text-bad",
  doubt: "bg-doubt-wash text-doubt",
  ask: "bg-ask-wash text-ask",
  live: "bg-accent-wash text-accent",
};

export type Icon = ComponentType<{ className?: string; "aria-hidden"?: boolean }>;

/** A word with a tone and, so that colour is never all there is, a sign. */
export function Chip({ tone, icon: Sign, children, className }: { tone: Tone; icon?: Icon; children: ReactNode; className?: string }) {
  return (
    <span
      className={classes(
        "inline-flex max-w-full items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        CHIP[tone],
        className,
      )}
    >
      {Sign && <Sign aria-hidden className="size-3.5 shrink-0" />}
      {children}
    </span>
  );
}

const LOOKS = {
  primary: "bg-accent text-on-accent border-transparent hover:brightness-110",
  plain: "bg-panel text-ink border-line hover:bg-sunken",
  danger: "bg-panel text-bad border-line hover:bg-bad-wash",
  ghost: "bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink",
};

export function Button({
  look = "plain",
  keys,
  small,
  className,
  children,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof LOOKS; keys?: string; small?: boolean }) {
  return (
    <button
      type="button"
      aria-keyshortcuts={keys}
      className={classes(
        "inline-flex items-center justify-center gap-2 rounded-lg border font-medium whitespace-nowrap transition-colors",
        "disabled:cursor-not-allowed disabled:opacity-55",
        small ? "min-h-8 px-2.5 text-[0.8125rem]" : "min-h-10 px-3.5 text-sm",
        LOOKS[look],
        className,
      )}
      {...rest}
    >
      {children}
      {keys && <Key on={look === "primary"}>{keys}</Key>}
    </button>
  );
}

export function Key({ children, on }: { children: ReactNode; on?: boolean }) {
  return (
    <kbd
      aria-hidden
      className={classes(
        "hidden min-w-5 rounded border px-1 text-center font-mono text-2xs leading-4 sm:inline-block",
        on ? "border-on-accent/50 text-on-accent" : "border-line text-soft",
      )}
    >
      {children}
    </kbd>
  );
}

export function Panel({
  title,
  aside,
  children,
  className,
  flush,
}: {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  /** Without padding, for lists that reach the edge. */
  flush?: boolean;
}) {
  return (
    <section className={classes("flex min-w-0 flex-col rounded-xl border bg-panel", className)}>
      {title && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b px-4 py-2">
          <h2 className="text-sm font-semibold">{title}</h2>
          {aside && <div className="flex flex-wrap items-center gap-2 text-xs text-soft">{aside}</div>}
        </div>
      )}
      <div className={classes("min-w-0 flex-1", !flush && "p-4")}>{children}</div>
    </section>
  );
}

/** The first line of a page: a sentence that answers its question. */
export function Sentence({ children, more }: { children: ReactNode; more?: ReactNode }) {
  return (
    <div className="min-w-0">
      <h1 className="max-w-4xl text-xl leading-snug font-semibold text-pretty sm:text-[1.6rem]" tabIndex={-1}>
        {children}
      </h1>
      {more && <p className="mt-1.5 max-w-3xl text-soft">{more}</p>}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="px-4 py-8 text-center text-soft">{children}</p>;
}

/** Beats while something is under way. */
export function Pulse({ tone = "live" }: { tone?: Tone }) {
  return (
    <span className={classes("relative inline-flex size-2 shrink-0", INK[tone])} aria-hidden>
      <span className="absolute inline-flex size-2 animate-[beat_1.6s_ease-in-out_infinite] rounded-full bg-current" />
    </span>
  );
}

/** A labelled value in a row of values. */
export function Fact({ name, children, className }: { name: string; children: ReactNode; className?: string }) {
  return (
    <div className={classes("min-w-0", className)}>
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-sm">{children}</dd>
    </div>
  );
}

/** Our own description of something, in which backticks mark code. */
export function Marked({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 ? <code key={index} className="font-mono text-[0.92em] text-ink">{part}</code> : part));
}
