import { describe, expect, it } from "vitest";
import { readable, spans } from "./invisible";

describe("invisible characters", () => {
  it("are spelled out, whatever trick they belong to", () => {
    for (const char of ["\u202e", "\u2066", "\u200b", "\u00ad", "\u0007", "\u{e0041}", "\u2800", "\u3164", "\ue000", "\u2028", "\ud800"]) {
      const shown = spans(`a${char}b`);
      expect(shown.map((span) => span.invisible)).toEqual([false, true, false]);
      expect(shown[1]?.text).toMatch(/^U\+[0-9A-F]{4,6}$/);
    }
  });

  it("leave visible text as it is, with its emoji", () => {
    expect(spans("Größe 中文 👩‍🚀 €1\u00a0000")).toEqual([{ text: "Größe 中文 👩🚀 €1\u00a0000", invisible: false }]);
  });

  it("have a plain form for labels", () => {
    expect(readable("pay\u202e00.1\n")).toBe("pay⟨U+202E⟩00.1⟨↵⟩");
  });
});
