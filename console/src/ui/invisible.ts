export interface Span {
  text: string;
  invisible: boolean;
}

/** The same characters as in the terminal: by Unicode category and Default_Ignorable_Code_Point, and the empty braille pattern. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A selector or joiner directly after a pictograph belongs to it. */
const IN_EMOJI = /(?<=[\u00a9\u00ae\u203c-\u3299\u{1f000}-\u{1faff}])(?:\ufe0f\u200d?|\u200d)/gu;
const NAMES: Record<string, string> = { "\n": "↵", "\r": "␍", "\t": "⇥" };

/** The text in pieces, of which the invisible ones are spelled out, such as `U+202E`. */
export function spans(text: string): Span[] {
  const readable = text.replace(IN_EMOJI, "");
  const found: Span[] = [];
  let done = 0;
  for (const match of readable.matchAll(INVISIBLE)) {
    if (match.index > done) found.push({ text: readable.slice(done, match.index), invisible: false });
    found.push({ text: spell(match[0]), invisible: true });
    done = match.index + match[0].length;
  }
  if (done < readable.length) found.push({ text: readable.slice(done), invisible: false });
  return found;
}

/** The text as one plain string, for labels and titles. */
export function readable(text: string): string {
  return spans(text)
    .map((span) => (span.invisible ? `⟨${span.text}⟩` : span.text))
    .join("");
}

function spell(char: string): string {
  return NAMES[char] ?? `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
