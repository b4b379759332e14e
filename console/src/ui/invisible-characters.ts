export interface Span {
  text: string;
  invisible: boolean;
}

/** Invisible characters by Unicode category and Default_Ignorable_Code_Point, and the empty braille pattern. The terminal uses the same list. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A variation selector or joiner directly after a pictograph is part of an emoji. */
const EMOJI_JOINERS = /(?<=[\u00a9\u00ae\u203c-\u3299\u{1f000}-\u{1faff}])(?:\ufe0f\u200d?|\u200d)/gu;
const NAMES: Record<string, string> = { "\n": "↵", "\r": "␍", "\t": "⇥" };

/** Splits a text into visible parts and invisible characters, which are spelled out, such as `U+202E`. */
export function splitInvisible(text: string): Span[] {
  const withoutJoiners = text.replace(EMOJI_JOINERS, "");
  const spans: Span[] = [];
  let end = 0;
  for (const match of withoutJoiners.matchAll(INVISIBLE)) {
    if (match.index > end) spans.push({ text: withoutJoiners.slice(end, match.index), invisible: false });
    spans.push({ text: nameCharacter(match[0]), invisible: true });
    end = match.index + match[0].length;
  }
  if (end < withoutJoiners.length) spans.push({ text: withoutJoiners.slice(end), invisible: false });
  return spans;
}

/** The text with its invisible characters spelled out, as one string for labels and tooltips. */
export function spellOutInvisible(text: string): string {
  return splitInvisible(text)
    .map((span) => (span.invisible ? `⟨${span.text}⟩` : span.text))
    .join("");
}

function nameCharacter(char: string): string {
  return NAMES[char] ?? `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
