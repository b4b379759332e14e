// Captures the zones of a document. `midcourse.look` returns one JSON string: to transfer objects takes ten times as long.
globalThis.midcourse ??= {};
(() => {
  const LONG = 10000, NAME = 80;
  const ADVERT_WORDS = /(^|[\s_-])(ads?|adsbygoogle|advert\w*|sponsored|google_ads\w*)($|[\s_-])/i;
  const DRAWN = { visibilityProperty: true };
  const { UNSEEN, INLINE, ACTED_ON, READ, tidy, shadowOf, isPlain, eachChild, textOf, hasOwnText, ownText, referencedText, nameOf, roleOf, isClickable, statesOf } = midcourse;
  const { labelFor, measure, isDrawn, boxOf, cornerOf, isOnPage, isCutOff, isInView, isOverlaid, isScrolledAway } = midcourse;

  // --- ids: of elements while they exist, of frames as frames.py assigns them

  const numbers = new WeakMap(); // element -> n
  const elements = new Map(); // n -> WeakRef(element)
  const owners = new WeakMap(); // frame element -> the name of its frame
  const framed = new Map(); // the name of a frame -> WeakRef(its element)
  let next = 1;

  const numberOf = (element) => {
    let number = numbers.get(element);
    if (number === undefined) {
      number = next++;
      numbers.set(element, number);
      elements.set(number, new WeakRef(element));
    }
    return number;
  };

  midcourse.element = (number) => elements.get(number)?.deref();
  midcourse.frame = (name) => framed.get(name)?.deref();
  midcourse.owns = (element, name) => {
    owners.set(element, name);
    framed.set(name, new WeakRef(element));
  };

  // --- names of groups

  // The text of its first cell without a control. A row of headings has no name.
  const rowName = (row) => {
    const cells = Array.from(row.children);
    if (row.querySelector('table') || cells.every((cell) => cell.tagName === 'TH' || cell.getAttribute('role') === 'columnheader')) return '';
    const words = cells.filter((cell) => !cell.querySelector('input,select,textarea,button')).map((cell) => tidy(textOf(cell, NAME), NAME));
    return words.find(Boolean) ?? '';
  };

  const groupName = (element, it) => {
    if (it.tag === 'TR') return rowName(element);
    if (it.tag === 'FIELDSET') return tidy(element.querySelector(':scope > legend')?.textContent ?? '', NAME);
    if (!it.has.includes('role')) return '';
    switch (element.getAttribute('role')) {
      case 'row': return rowName(element);
      case 'group': case 'radiogroup': return tidy(referencedText(element, 'aria-labelledby') || element.getAttribute('aria-label') || '', NAME);
      default: return '';
    }
  };

  const dialogName = (element) => tidy(referencedText(element, 'aria-labelledby') || element.getAttribute('aria-label') || element.querySelector('h1,h2,h3,h4,h5,h6,legend')?.textContent || '');

  // --- tables, also those that are drawn with roles: each zone in a cell knows its table, row and column. Row 0 is the header.

  const tables = new WeakMap(); // element -> n
  let nextTable = 1;

  const WIDEST = 1000; // columns of one cell
  const TABULAR = new Set(['TABLE', 'TR', 'TD', 'TH']);
  const TABLES = new Set(['table', 'grid', 'treegrid']);
  const HEADINGS = new Set(['columnheader', 'rowheader']);
  const CELLS = new Set([...HEADINGS, 'cell', 'gridcell']);

  const isHeading = (cell) => cell.tagName === 'TH' || HEADINGS.has(cell.getAttribute('role'));

  const beginTable = (element) => {
    if (!tables.has(element)) tables.set(element, nextTable++);
    return { number: tables.get(element), rows: 0, header: true };
  };

  const beginRow = (element, table) => {
    const cells = Array.from(element.children);
    table.header &&= element.parentElement?.tagName === 'THEAD' || (table.rows === 0 && cells.length > 1 && cells.every(isHeading));
    if (!table.header) table.rows += 1;
    return { table: table.number, number: table.header ? 0 : table.rows, columns: 0 };
  };

  const cellIn = (element, row) => {
    const column = row.columns;
    row.columns += Math.min(Math.max(1, Math.trunc(element.colSpan ?? element.getAttribute('aria-colspan')) || 1), WIDEST);
    return [row.table, row.number, column];
  };

  // `it` inherits the table, row and cell around it.
  const place = (element, it, role) => {
    if (it.tag === 'TABLE' ? role !== 'presentation' && role !== 'none' : TABLES.has(role)) Object.assign(it, { table: beginTable(element), row: null, cell: 0 });
    else if (it.table && (it.tag === 'TR' || role === 'row')) {
      it.row = beginRow(element, it.table);
      it.cell = [it.row.table, it.row.number, 0];
    } else if (it.row && (it.tag === 'TD' || it.tag === 'TH' || CELLS.has(role))) it.cell = cellIn(element, it.row);
  };

  // --- the walk. `it` holds what is known about an element. Children inherit:
  // within: the name of its group; table, row: the state of the table around it; cell: where it is in that table, or 0; sort: the order of its column; marks: what classes call the item around it; emitted: its text has been emitted; inline: its text is part of an emitted block; named: it is
  // inside a control; cut: it is cut off, for screen readers only; pointed: an ancestor has the hand cursor; advert; inert; off: its fieldset is disabled; shadowed: it is
  // in a shadow root. Of the element alone: tag; has: the names of its attributes; aria: it has ARIA attributes or a role;
  // drawn: it is not invisible; plain: it contains nothing but text.

  const NOTHING = { within: '', emitted: false, inline: false, named: false, cut: false, pointed: false, advert: false, inert: false, off: false, shadowed: false, table: null, row: null, cell: 0, sort: '', marks: null, tag: '', has: [], aria: false, drawn: true, plain: false };
  const LEAVES = new Set(['INPUT', 'SELECT', 'TEXTAREA', 'IMG']);
  let zones = {};
  let modal = null;
  let overlaid = false;
  let focused = null;

  // --- the answer: columns with few quotation marks, since on the way to Python each one is escaped and parsed twice.
  // Labels contain no line ends, roles no spaces; numbers of zones out of view are negative. A caller that has the last look
  // (`key`) gets only the zones that changed, and the order of all.

  const documentId = Math.random().toString(36).slice(2);
  const emitted = new WeakMap(); // element -> [look, what was emitted]
  let looks = 0;
  let again = false;

  const isEmpty = (state) => {
    for (const _ in state) return false;
    return true;
  };

  const begin = (known) => {
    again = known === `${documentId}.${looks}`;
    looks += 1;
    zones = { order: [], number: [], role: [], label: [], box: [], state: [], cell: [], frame: [] };
  };

  const isUnchanged = (element, row) => {
    const before = emitted.get(element);
    emitted.set(element, [looks, row]);
    return again && before !== undefined && before[0] === looks - 1 && before[1] === row;
  };

  const addZone = (element, role, label, box, state, isSeen, cell) => {
    const number = numberOf(element);
    let row = `${role}\n${label}\n${box}\n${isSeen}\n${cell}`;
    for (const name in state) row += `\n${name}=${state[name]}`;
    zones.order.push(number);
    if (isUnchanged(element, row)) return;
    zones.number.push(isSeen ? number : -number);
    zones.role.push(role);
    zones.label.push(label);
    zones.box.push(...box);
    zones.state.push(isEmpty(state) ? 0 : state);
    zones.cell.push(cell);
  };

  const encode = () => {
    const { order, role, label } = zones;
    const whole = { ...zones, role: role.join(' '), label: label.join('\n'), order: again ? order : undefined };
    return JSON.stringify({ title: document.title, locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, next, print: midcourse.fingerprint(), key: `${documentId}.${looks}`, ...whole });
  };

  // What the page's classes call a cell, an item of a menu or a tab. The first control in it has the mark, since it is what is acted on.
  const MARKS = /(?:^|[\s_-])(?<!\b(?:not|non|un|in)[_-])(active|current|selected|today)(?:s?day|s-?date)?(?=$|[\s_-])/gi;
  const MARKABLE = new Set(['LI', 'TD', 'TH', 'A', 'BUTTON']);

  const marksOf = (element) => Array.from(new Set(Array.from(element.getAttribute('class').matchAll(MARKS), (found) => found[1].toLowerCase()))).join(' ');

  const mark = (it, state) => {
    if (it.sort) state.sort = it.sort;
    if (!it.marks?.words || it.marks.used) return;
    it.marks.used = true;
    if (state.selected === undefined && !state.checked) state.marked = it.marks.words;
  };

  const ONLY_CLICKED = new Set(['button', 'link', 'menuitem', 'tab', 'clickable']); // a field is used by the keyboard, too

  // What covers it is what it is in, so `isOverlaid` does not see it. A fixed element may be shown although it is inside.
  const isOutOfReach = (element, role, around, { x, y, width, height }) => {
    if (!ONLY_CLICKED.has(role) || !(around.cut || ((width <= 1 || height <= 1) && isCutOff(getComputedStyle(element))))) return false;
    const hit = midcourse.deepest(x + width / 2, y + height / 2);
    return hit === null || !midcourse.isTouchedBy(hit, element);
  };

  const emit = (element, role, label, around, state) => {
    const place = boxOf(element);
    const { x, y, width, height } = place;
    if ((width === 0 && height === 0) || !isOnPage(element, place)) return;
    let isSeen = isInView(x, y, width, height);
    if (overlaid && isOverlaid(element, x, y, width, height)) {
      if (isScrolledAway(element, x + width / 2, y + height / 2)) isSeen = false;
      else state.covered = true;
    } else if (isOutOfReach(element, role, around, place)) state.covered = true;
    if (around.within && around.within !== label) state.within = around.within;
    if (!around.advert) midcourse.print(role, label, state, midcourse.isRestless(element));
    const box = [Math.round(x), Math.round(y), Math.round(width), Math.round(height)];
    addZone(element, role, label, box, state, isSeen, around.cell);
  };

  const visitChildren = (element, around) => {
    const shadow = shadowOf(element, around.tag);
    if (shadow) {
      midcourse.watch(shadow);
      around = { ...around, shadowed: true };
    }
    if (around.tag === 'SLOT') eachChild(element, (node) => void (node.nodeType === Node.ELEMENT_NODE && visit(node, around)));
    else for (let child = (shadow ?? element).firstElementChild; child; child = child.nextElementSibling) visit(child, around);
  };

  const visitFrame = (element, around) => {
    const box = measure(element);
    if (!isDrawn(element, box) || !element.checkVisibility(DRAWN)) return;
    const [left, top, scale] = cornerOf(element);
    const { x, y, width, height } = box;
    const state = overlaid && isOverlaid(element, x, y, width, height) ? { covered: true } : isInView(x, y, width, height) ? {} : { seen: false };
    zones.frame.push([zones.order.length, owners.get(element) ?? '', Math.round(left), Math.round(top), scale, state, around.advert]);
  };

  const visitDialog = (element, around) => {
    const name = dialogName(element);
    emit(element, 'dialog', name, around, {});
    visitChildren(element, { ...around, within: name || 'dialog' });
  };

  const visitActedOn = (element, role, it) => {
    it.plain = LEAVES.has(it.tag) || isPlain(element, it.tag);
    if (it.drawn) {
      const name = nameOf(element, role, it);
      const state = statesOf(element, role, it, element === focused);
      const hint = name ? '' : midcourse.hintOf(element, role, it);
      if (hint) state.hint = hint;
      mark(it, state);
      emit(element, role, name, it, state);
    }
    if (!it.plain) visitChildren(element, { ...it, emitted: true, named: it.named || role !== 'clickable' });
  };

  const visitFolded = (element, around) => {
    const summary = element.querySelector(':scope > summary');
    if (summary) visit(summary, around);
  };

  const visitRead = (element, role, around) => {
    const label = tidy(role === 'img' ? element.alt ?? element.getAttribute('aria-label') ?? '' : textOf(element, LONG), LONG);
    if (label && around.drawn) {
      const state = role === 'cell' && around.aria ? midcourse.cellStates(element) : {};
      if (role === 'cell') mark(around, state);
      emit(element, role, label, around, state);
    }
    visitChildren(element, { ...around, emitted: true });
  };

  // The text of an inline element is part of its block.
  const emitText = (element, label, it) => {
    if (label && it.drawn && !(it.inline && INLINE.has(it.tag))) emit(element, 'text', label, it, {});
  };

  const visitText = (element, it) => {
    if (isPlain(element, it.tag)) return emitText(element, tidy(element.textContent, LONG), it);
    if (!hasOwnText(element, it.tag)) return visitChildren(element, it);
    emitText(element, ownText(element, LONG), it);
    visitChildren(element, { ...it, inline: true });
  };

  const isAdvert = (element, has) =>
    has.includes('data-ad-slot') ||
    (has.includes('class') && ADVERT_WORDS.test(element.getAttribute('class'))) ||
    (has.includes('id') && ADVERT_WORDS.test(element.id)) ||
    (has.includes('aria-label') && element.ariaLabel.toLowerCase() === 'advertisement');

  const known = (element, tag, around) => {
    const has = element.getAttributeNames();
    const it = { ...around, tag, has, aria: false };
    if (!INLINE.has(tag)) it.inline = false;
    if (has.length) {
      it.aria = has.some((name) => name === 'role' || name.startsWith('aria-'));
      if (isAdvert(element, has)) it.advert = true;
      if (has.includes('inert') || (it.aria && has.includes('aria-disabled') && element.ariaDisabled === 'true')) it.inert = true;
      if (tag === 'FIELDSET' && has.includes('disabled')) it.off = true;
      if (element === modal) it.inert = false;
    }
    if (it.aria && has.includes('aria-sort') && element.getAttribute('aria-sort') !== 'none') it.sort = element.getAttribute('aria-sort');
    else if (tag === 'TR') it.sort = '';
    if (has.includes('class') && (MARKABLE.has(tag) || has.includes('role'))) {
      const words = marksOf(element);
      if (words || tag === 'LI' || tag === 'TD' || tag === 'TH') it.marks = { words, used: false };
    } else if (tag === 'LI' || tag === 'TD' || tag === 'TH') it.marks = null;
    it.within = groupName(element, it) || around.within;
    const role = it.aria && has.includes('role') ? element.getAttribute('role') : '';
    if (role || TABULAR.has(tag)) place(element, it, role);
    return it;
  };

  const visit = (element, around) => {
    const tag = element.tagName;
    if (UNSEEN.has(tag)) return;
    const it = known(element, tag, around);
    if (it.has.length && it.has.includes('hidden') && element.hidden === 'until-found') return; // displayed, but not its contents
    const role = roleOf(element, it);
    if (tag === 'IFRAME' || tag === 'FRAME') visitFrame(element, it);
    else if (ACTED_ON.has(role)) visitControl(element, role, it);
    else visitOther(element, role, it);
  };

  // Most controls are drawn: then one call of checkVisibility is enough.
  const visitControl = (element, role, it) => {
    it.drawn = element.checkVisibility(DRAWN) || labelFor(element) !== undefined;
    if (it.drawn || element.checkVisibility()) visitActedOn(element, role, it);
  };

  // Whether the label names a field that is shown, or stands for a hidden one: then its text is not emitted separately.
  const namesField = (label, it) => {
    const field = label.control;
    return field !== null && (!it.has.includes('for') || field.checkVisibility() || labelFor(field) === label);
  };

  // Elements that may still be clickable, readable, or mere containers.
  const visitOther = (element, role, it) => {
    if (it.tag === 'LABEL' && namesField(element, it)) return visitChildren(element, it);
    const style = getComputedStyle(element);
    if (style.display === 'none') return;
    it.drawn = style.visibility === 'visible';
    it.cut ||= isCutOff(style);
    if (!it.named) {
      const pointed = !it.pointed && style.cursor === 'pointer';
      it.pointed ||= pointed;
      if (isClickable(element, it, pointed)) return visitActedOn(element, 'clickable', it);
    }
    if (role === 'dialog') visitDialog(element, it);
    else if (it.tag === 'DETAILS' && !element.open) visitFolded(element, it);
    else if (!it.emitted && READ.has(role)) visitRead(element, role, it);
    else if (!it.emitted) visitText(element, it);
    else visitChildren(element, it);
  };

  const focusedNow = () => {
    if (!document.hasFocus()) return null;
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    return one === document.body ? null : one;
  };

  // Of several modal dialogs, the one on top.
  const topModal = () => {
    const modals = Array.from(document.querySelectorAll('dialog:modal'));
    const isHit = (one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    };
    return (modals.length > 1 && modals.find(isHit)) || (modals.at(-1) ?? null);
  };

  midcourse.topModal = topModal;
  midcourse.title = () => JSON.stringify(document.title);

  // `first` is the smallest number for a new element; `known` the key of the look that the caller has.
  midcourse.look = (first, known) => {
    next = Math.max(next, first);
    begin(known);
    midcourse.findListeners();
    midcourse.beginStates();
    modal = topModal();
    const layers = midcourse.beginPlaces();
    overlaid = layers.some(Boolean); // only then is every element in view checked for what covers it
    midcourse.beginPrint(layers[0] === 'fixed');
    focused = focusedNow();
    if (document.body) visit(document.body, { ...NOTHING, inert: modal !== null });
    return encode();
  };
})();
