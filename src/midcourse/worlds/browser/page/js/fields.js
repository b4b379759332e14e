// Reads fields, prepares them for the keyboard, and sets those that are not typed into.
globalThis.midcourse ??= {};
(() => {
  const SET_NOT_TYPED = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];

  const CHECKED = ['checkbox', 'radio', 'switch']; // unchecked without aria-checked

  // Whether the field took the value. The browser normalises colours and times, and empties the field for invalid values.
  const accepts = (element, text) => {
    switch (element.type) {
      case 'color': return element.value === text.toLowerCase();
      case 'range': return Number(element.value) === Number(text);
      default: return (element.value === '') === (text === '');
    }
  };

  const fireEvents = (element) => {
    for (const type of ['input', 'change']) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  };

  const editable = (element) => {
    if (element.matches('input,textarea') || element.isContentEditable) return element;
    return element.querySelector('input:not([type=hidden]),textarea,[contenteditable=""],[contenteditable=true]');
  };

  const content = (element) => (element.isContentEditable ? element.innerText : element.value);

  const selectAll = (element) => {
    if (!element.isContentEditable) return element.select();
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };

  // Secrets are inserted by script: the keyboard follows the focus, which a frame of another origin may take at any time.
  // Letter by letter, since some pages move to the next field after each.
  const insert = (text) => {
    for (const letter of text) document.execCommand('insertText', false, letter);
  };

  // Where the text nodes of an editor have this text: [node, offset] of its end.
  const findEnd = (element, text) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (texts.nextNode()) nodes.push(texts.currentNode);
    let left = nodes.map((node) => node.data).join('').indexOf(text) + text.length;
    const last = nodes.find((node) => {
      if (left <= node.data.length) return true;
      left -= node.data.length;
      return false;
    });
    return [last, left];
  };

  const count = (text, part) => text.split(part).length - 1;

  // Puts the caret at the end of the text, or after a part of it. Returns the text before it (null: an editor does not say), or why it cannot.
  const placeCaret = (element, after) => {
    const text = element.isContentEditable ? element.textContent : element.value;
    if (after && count(text, after) !== 1) return { found: count(text, after) };
    if (element.isContentEditable) {
      const range = document.createRange();
      if (after) range.setEnd(...findEnd(element, after));
      else range.selectNodeContents(element);
      range.collapse(false);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      return { head: null };
    }
    if (element.selectionStart === null) return { wrong: true }; // the browser has no caret for an address or a number
    const head = after ? text.slice(0, text.indexOf(after) + after.length) : text;
    element.setSelectionRange(head.length, head.length);
    return { head };
  };

  // `after`: keep the text, and add this one at its end or after a part of it.
  // Returns {gone} | {wrong} | {readonly} | {found: how often it has `after`} | {set: success}
  // | {content: the old text, inserted: whether the new one is there, head: the old text before it}
  midcourse.prepare = (number, text, after = null) => {
    const zone = midcourse.element(number);
    if (!zone?.isConnected) return JSON.stringify({ gone: true });
    const element = editable(zone);
    if (!element || ['file', 'checkbox', 'radio', 'button', 'submit'].includes(element.type)) return JSON.stringify({ wrong: true });
    if (element.readOnly) return JSON.stringify({ readonly: true });
    if (SET_NOT_TYPED.includes(element.type)) {
      if (after !== null) return JSON.stringify({ wrong: true });
      const before = element.value;
      element.value = text;
      const taken = accepts(element, text);
      if (!taken) element.value = before;
      else if (element.value !== before) fireEvents(element);
      return JSON.stringify({ set: taken });
    }
    const before = content(element);
    const inserted = text !== '' && midcourse.concealed?.has(zone);
    element.focus({ preventScroll: true });
    const place = after === null ? selectAll(element) : placeCaret(element, after);
    if (place && !('head' in place)) return JSON.stringify(place);
    if (inserted) insert(text);
    return JSON.stringify({ content: before, inserted, ...place });
  };

  midcourse.content = (number) => {
    const zone = midcourse.element(number);
    const element = zone && editable(zone);
    return JSON.stringify(element ? content(element) : null);
  };

  midcourse.focus = (number) => midcourse.element(number).focus({ preventScroll: true });

  midcourse.isFileField = (number) => midcourse.element(number).type === 'file';

  const isCalled = (option, wanted) => [option.label, option.text, option.value].some((name) => name.replace(/\s+/g, ' ').trim() === wanted);

  // {wrong} | {missing: names} | {}
  midcourse.choose = (number, names) => {
    const element = midcourse.element(number);
    if (element.tagName !== 'SELECT') return JSON.stringify({ wrong: true });
    const options = [...element.options];
    const whole = names.join(' | '); // one option may have this name
    const wanted = options.some((option) => isCalled(option, whole)) ? [whole] : names;
    const chosen = wanted.map((name) => options.find((option) => isCalled(option, name) && !option.matches(':disabled')));
    const missing = wanted.filter((_, index) => !chosen[index] || (index > 0 && !element.multiple));
    if (missing.length) return JSON.stringify({ missing });
    if (options.some((option) => option.selected !== chosen.includes(option))) {
      element.focus({ preventScroll: true });
      if (element.multiple) for (const option of options) option.selected = chosen.includes(option);
      else element.selectedIndex = chosen[0].index;
      fireEvents(element);
    }
    return JSON.stringify({});
  };

  // Which of these options belong to the element: they are inside it, or inside what it controls.
  midcourse.offered = (number, numbers) => {
    const element = midcourse.element(number);
    const lists = ['aria-controls', 'aria-owns'].flatMap((name) => (element?.getAttribute(name) ?? '').split(/\s+/)).map((id) => element.getRootNode().getElementById?.(id));
    const isOffered = (one) => [element, ...lists].some((list) => list?.contains(midcourse.element(one)));
    return JSON.stringify(element ? numbers.filter(isOffered) : []);
  };

  // true, false or 'mixed'. null: it cannot be checked, or no longer exists.
  midcourse.checked = (number) => {
    const element = midcourse.element(number);
    if (!element?.isConnected) return null;
    if (element.tagName === 'INPUT' && ['checkbox', 'radio'].includes(element.type)) return JSON.stringify(element.indeterminate ? 'mixed' : element.checked);
    const said = element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed');
    if (said === null) return CHECKED.includes(element.getAttribute('role')) ? false : null;
    return JSON.stringify(said === 'mixed' ? said : said === 'true');
  };

  const MOST_READ = 200000;
  const MOST_TABLES = 100;
  const GRIDS = '[role=table],[role=grid],[role=treegrid]';
  const CELLS = '[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]';

  const rowsOf = (table) => {
    const [rows, cellsOf] = table.rows ? [table.rows, (row) => row.cells] : [table.querySelectorAll('[role=row]'), (row) => row.querySelectorAll(CELLS)];
    return Array.from(rows, (row) => (row.checkVisibility() ? Array.from(cellsOf(row), (cell) => cell.innerText.replace(/\s+/g, ' ').trim()) : [])).filter((cells) => cells.length);
  };

  // Its text with a line for each row of a table. innerText has a line for each block of a cell, and for each cell of a drawn table.
  const readText = (element) => {
    let text = element.innerText ?? element.textContent ?? '';
    let from = 0;
    const tables = [element, ...element.querySelectorAll(`table,${GRIDS}`)].filter((one) => one.matches(`table,${GRIDS}`) && !one.querySelector(`table,${GRIDS}`));
    for (const table of tables.slice(0, MOST_TABLES)) {
      const [own, rows] = [table.innerText.trim(), rowsOf(table)];
      const at = own ? text.indexOf(own, from) : -1;
      if (at < 0 || rows.length < 2 || rows.every((cells) => cells.length < 2)) continue;
      const lines = rows.map((cells) => cells.join('\t')).join('\n');
      text = text.slice(0, at) + lines + text.slice(at + own.length);
      from = at + lines.length;
    }
    return text;
  };

  // {text, cut: the length of all its text if it is longer, in units of this language}
  midcourse.read = (number) => {
    const element = number ? midcourse.element(number) : document.body;
    const read = () => {
      if (element.tagName === 'SELECT') return [...element.selectedOptions].map((option) => option.label).join(' | ');
      if (element.type === 'password') return '•'.repeat(element.value.length);
      return element.matches('input,textarea') ? element.value : readText(element);
    };
    const text = read().trim();
    return JSON.stringify({ text: text.slice(0, MOST_READ), cut: text.length > MOST_READ && text.length });
  };
})();
