// A hash of what a document shows. Positions, times, dates and text that changes by itself do not count. Not cryptographic:
// the author of a page can make two pages look alike anyway.
globalThis.midcourse ??= {};
(() => {
  const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
  const TIMES = new RegExp(
    [
      '\\d{1,2}:\\d{2}(?::\\d{2})?(?:\\s*[ap]\\.?m\\b\\.?)?',
      '\\d{4}-\\d{2}-\\d{2}',
      '\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}',
      '\\b\\d+\\s+(?:second|minute|hour|day|week|month|year)s?\\s+ago\\b',
      '\\bjust now\\b',
      `\\b${MONTH}\\s+\\d{1,2},?\\s+\\d{4}`,
      `\\b\\d{1,2}\\s+${MONTH}\\s+\\d{4}`,
    ].join('|'),
    'gi',
  );
  const MAYBE = /\d[:./-]\d|\d\s+[a-z]|[a-z.]\s+\d|just now/i;
  const PASSING = new Set(['focused', 'within', 'covered', 'hint', 'marked']); // they do not make it another page
  let lines = '';

  const timeless = (text) => (MAYBE.test(text) ? text.replace(TIMES, '#') : text);

  // Clocks are recognised by their format; other text that changes by itself, after it has changed.
  const wordsOf = (label, restless) => {
    const words = timeless(label);
    return restless && words === label ? '' : words;
  };

  // Only whether the page as a whole is covered counts: what a bar covers changes with every scrolling.
  midcourse.beginPrint = (covered) => {
    lines = timeless(document.title) + (covered ? '\u001ecovered' : '');
  };

  midcourse.print = (role, label, state, restless) => {
    lines += `\u001e${role}\u001f${wordsOf(label, restless)}`;
    for (const name in state) if (!PASSING.has(name)) lines += `\u001f${name}=${state[name]}`;
  };

  // Two characters at a time; charCodeAt past the end counts as zero.
  midcourse.fingerprint = () => {
    let [first, second] = [0xdeadbeef, 0x41c6ce57];
    for (let i = 0; i < lines.length; i += 2) {
      const code = lines.charCodeAt(i) | (lines.charCodeAt(i + 1) << 16);
      first = Math.imul(first ^ code, 2654435761);
      second = Math.imul((second << 5) | (second >>> 27), 1597334677) ^ code;
    }
    return `${(first >>> 0).toString(16)}.${(second >>> 0).toString(16)}`;
  };
})();
