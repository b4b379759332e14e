import { describe, expect, it } from "vitest";
import { spellOutInvisible, splitInvisible } from "./invisible-characters";

describe("invisible characters", () => {
  it("are spelled out", () => {
    for (const char of ["\u202e", "\u2066", "\u200b", "\u00ad", "\u0007", "\u{e0041}", "\u2800", "\u3164", "\ue000", "\u2028", "\ud800"]) {
      const shown = splitInvisible(`a${char}b`);
      expect(shown.map((span) => span.invisible)).toEqual([false, true, false]);
      expect(shown[1]?.text).toMatch(/^U\+[0-9A-F]{4,6}$/);
    }
  });

  it("are not found in visible text with emoji", () => {
    expect(splitInvisible("Größe 中文 👩‍🚀 €1\u00a0000")).toEqual([{ text: "Größe 中文 👩🚀 €1\u00a0000", invisible: false }]);
  });

  it("are spelled out in labels", () => {
    expect(spellOutInvisible("pay\u202e00.1\n")).toBe("pay⟨U+202E⟩00.1⟨↵⟩");
  });
});
