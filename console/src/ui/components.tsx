import type { ButtonHTMLAttributes, ComponentType, ReactNode } from "react";

/** Joins class names, leaving out false and undefined ones. */
export function joinClasses(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

export type Tone = "plain" | "good" | "bad" | "doubt" | "ask" | "live";

export const TEXT_COLORS: Record<Tone, string> = {
  plain: "text-soft",
  good: "text-good",
  bad: "text-bad",
  doubt: "text-doubt",
  ask: "text-ask",
  live: "text-accent",
};
const CHIP_COLORS: Record<Tone, string> = {
  plain: "bg-sunken text-soft",
  good: "bg-good-wash text-good",
  bad: "bg-bad-wash text-bad",
  doubt: "bg-doubt-wash text-doubt",
  ask: "bg-ask-wash text-ask",
  live: "bg-accent-wash text-accent",
};

export type IconType = ComponentType<{ className?: string; "aria-hidden"?: boolean }>;

/** A short label with a color and an icon: color alone must never carry the meaning. */
export function Chip({ tone, icon: Icon, children, className }: { tone: Tone; icon?: IconType; children: ReactNode; className?: string }) {
  return (
    <span
      className={joinClasses(
        "inline-flex max-w-full items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        CHIP_COLORS[tone],
        className,
      )}
    >
      {Icon && <Icon aria-hidden className="size-3.5 shrink-0" />}
      {children}
    </span>
  );
}

const BUTTON_LOOKS = {
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
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof BUTTON_LOOKS; keys?: string; small?: boolean }) {
  return (
    <button
      type="button"
      aria-keyshortcuts={keys}
      className={joinClasses(
        "inline-flex items-center justify-center gap-2 rounded-lg border font-medium whitespace-nowrap transition-colors",
        "disabled:cursor-not-allowed disabled:opacity-55",
        small ? "min-h-8 px-2.5 text-[0.8125rem]" : "min-h-10 px-3.5 text-sm",
        BUTTON_LOOKS[look],
        className,
      )}
      {...rest}
    >
      {children}
      {keys && <Key onAccent={look === "primary"}>{keys}</Key>}
    </button>
  );
}

/** A key of the keyboard. */
export function Key({ children, onAccent }: { children: ReactNode; onAccent?: boolean }) {
  return (
    <kbd
      aria-hidden
      className={joinClasses(
        "hidden min-w-5 rounded border px-1 text-center font-mono text-2xs leading-4 sm:inline-block",
        onAccent ? "border-on-accent/50 text-on-accent" : "border-line text-soft",
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
  /** No padding, for lists that reach the edge. */
  flush?: boolean;
}) {
  return (
    <section className={joinClasses("flex min-w-0 flex-col rounded-xl border bg-panel", className)}>
      {title && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b px-4 py-2">
          <h2 className="text-sm font-semibold">{title}</h2>
          {aside && <div className="flex flex-wrap items-center gap-2 text-xs text-soft">{aside}</div>}
        </div>
      )}
      <div className={joinClasses("min-w-0 flex-1", !flush && "p-4")}>{children}</div>
    </section>
  );
}

/** The heading of a page: one sentence that states what the page shows. */
export function PageHeading({ children, more }: { children: ReactNode; more?: ReactNode }) {
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

/** A pulsing dot: something is in progress. */
export function Pulse({ tone = "live" }: { tone?: Tone }) {
  return (
    <span className={joinClasses("relative inline-flex size-2 shrink-0", TEXT_COLORS[tone])} aria-hidden>
      <span className="absolute inline-flex size-2 animate-[beat_1.6s_ease-in-out_infinite] rounded-full bg-current" />
    </span>
  );
}

/** A labelled value in a description list. */
export function Fact({ name, children, className }: { name: string; children: ReactNode; className?: string }) {
  return (
    <div className={joinClasses("min-w-0", className)}>
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-sm">{children}</dd>
    </div>
  );
}

/** A trusted text in which backticks mark code. */
export function TextWithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) => (index % 2 ? <code key={index} className="font-mono text-[0.92em] text-ink">{part}</code> : part));
}
