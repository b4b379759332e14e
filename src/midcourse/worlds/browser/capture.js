// What is on the page: `midcourse.look` returns one JSON string, since objects cost ten times as much to hand over.
globalThis.midcourse ??= {};
(() => {
  const SHORT = 200, LONG = 1000, MOST_OPTIONS = 100;
  const UNSEEN = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE', 'OPTION', 'OPTGROUP', 'DATALIST', 'PARAM', 'SOURCE', 'TRACK', 'defs', 'script', 'style', 'symbol', 'title']);
  const INLINE = new Set(['A', 'ABBR', 'B', 'BDI', 'BDO', 'BR', 'CITE', 'CODE', 'DEL', 'DFN', 'EM', 'FONT', 'I', 'INS', 'KBD', 'LABEL', 'MARK', 'Q', 'S', 'SAMP', 'SMALL', 'SPAN', 'STRONG', 'SUB', 'SUP', 'TIME', 'TT', 'U', 'VAR', 'WBR']);
  const ACTED_ON = new Set(['button', 'link', 'textbox', 'searchbox', 'checkbox', 'radio', 'combobox', 'listbox', 'option', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'switch', 'slider', 'spinbutton', 'treeitem', 'file', 'clickable']);
  const READ = new Set(['heading', 'alert', 'status', 'cell', 'img']);
  const NAMED_BY_FIELD = new Set(['textbox', 'searchbox', 'combobox', 'listbox', 'slider', 'spinbutton', 'file']);
  const CONTROLS = 'a[href],button,input,select,textarea,summary,[onclick],[role=button],[role=link],[role=option],[role=tab],[role=menuitem]';
  const NO_CELL = `${CONTROLS},p,div,ul,ol,dl,table,form,fieldset,h1,h2,h3,h4,h5,h6,article,section`; // a page laid out as a table
  const ALIASES = { alertdialog: 'dialog', gridcell: 'cell', columnheader: 'cell', rowheader: 'cell', image: 'img', log: 'status' };
  const INPUTS = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', hidden: '' };
  const TELLING_TYPES = new Set(['password', 'date', 'time', 'datetime-local', 'month', 'week', 'color']);
  const ADVERTS = 'ins.adsbygoogle,[data-ad],[data-ad-slot],[id^="google_ads"],[aria-label="advertisement" i],[class~="ad" i],[class~="ads" i],[class*="advert" i],[id*="advert" i],[class*="sponsor" i]';
  const HANDLES = '[draggable=true],.ui-draggable-handle,.ui-resizable-handle,.ui-sortable-handle'; // jQuery UI listens on what is around them
  const ERRORS = '[role=alert],.error,.errors,.errorlist,.error-message,.field-error,.invalid-feedback,.help-inline';

  const numbers = new WeakMap(); // element -> n, for as long as there is the element
  const elements = new Map(); // n -> WeakRef(element)
  const listening = new WeakSet();
  const owners = new WeakMap(); // frame element -> the name of its frame
  const framed = new Map(); // the name of a frame -> WeakRef(its element)
  let next = 1;

  midcourse.element = (number) => elements.get(number)?.deref();
  midcourse.frame = (name) => framed.get(name)?.deref();
  midcourse.owns = (element, name) => {
    owners.set(element, name);
    framed.set(name, new WeakRef(element));
  };

  const numberOf = (element) => {
    let number = numbers.get(element);
    if (number === undefined) {
      number = next++;
      numbers.set(element, number);
      elements.set(number, new WeakRef(element));
    }
    return number;
  };

  const learnWhoListens = () => {
    const learn = (event) => listening.add(event.composedPath()[0]);
    window.addEventListener('midcourse:listens', learn, true);
    document.dispatchEvent(new CustomEvent('midcourse:who-listens'));
    window.removeEventListener('midcourse:listens', learn, true);
  };

  // --- words

  const tidy = (text, most = SHORT) => {
    const plain = text.replace(/\s+/g, ' ').trim();
    return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
  };

  const childrenOf = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.tagName !== 'SLOT') return element.childNodes;
    const assigned = element.assignedNodes({ flatten: true });
    return assigned.length ? assigned : element.childNodes;
  };

  const isShown = (element) => element.checkVisibility() || getComputedStyle(element).display === 'contents';

  const gather = (element, parts) => {
    for (const node of childrenOf(element)) {
      if (node.nodeType === Node.TEXT_NODE) parts.push(node.data);
      else if (node.nodeType === Node.ELEMENT_NODE && !UNSEEN.has(node.tagName) && isShown(node)) {
        const said = node.getAttribute('aria-label') ?? node.getAttribute('alt');
        if (said) parts.push(' ', said, ' ');
        else if (INLINE.has(node.tagName) && node.tagName !== 'BR') gather(node, parts);
        else {
          parts.push(' ');
          gather(node, parts);
          parts.push(' ');
        }
      }
    }
  };

  const textOf = (element) => {
    if (!element.firstElementChild && !element.shadowRoot && element.tagName !== 'SLOT') return element.textContent;
    const parts = [];
    gather(element, parts);
    return parts.join('');
  };
  midcourse.textOf = textOf;

  const referred = (element, attribute) => {
    const ids = element.getAttribute(attribute);
    if (!ids) return '';
    const root = element.getRootNode();
    return ids.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean).map(textOf).join(' ');
  };

  const labelOf = (element) => {
    const parts = [];
    for (const label of element.labels ?? []) {
      for (const node of label.childNodes) {
        if (node.nodeType === Node.TEXT_NODE) parts.push(node.data);
        else if (node.nodeType === Node.ELEMENT_NODE && !node.contains(element) && !node.matches('select,textarea')) parts.push(' ', textOf(node));
      }
    }
    return parts.join('');
  };

  const svgTitle = (element) => (element instanceof SVGElement ? element.querySelector(':scope > title')?.textContent : '');

  const nameOf = (element, role) => {
    const said = referred(element, 'aria-labelledby') || element.getAttribute('aria-label') || labelOf(element);
    if (said.trim()) return tidy(said);
    if (element.tagName === 'INPUT' && role === 'button') return tidy(element.value || element.alt || element.title || (element.type === 'reset' ? 'Reset' : 'Submit'));
    const own = NAMED_BY_FIELD.has(role) ? '' : element.getAttribute('alt') || svgTitle(element) || textOf(element);
    return tidy(own.trim() ? own : element.title || element.placeholder || element.getAttribute('aria-placeholder') || inside(element) || element.name || '');
  };

  // A button that is only a picture.
  const inside = (element) => {
    const picture = element.querySelector?.('img[alt],svg title,[title]');
    return picture ? picture.getAttribute('alt') || picture.getAttribute('title') || picture.textContent : '';
  };

  // --- roles

  const roleByTag = (element) => {
    switch (element.tagName) {
      case 'A': case 'AREA': return element.hasAttribute('href') ? 'link' : '';
      case 'BUTTON': case 'SUMMARY': return 'button';
      case 'INPUT': return INPUTS[element.type] ?? 'textbox';
      case 'TEXTAREA': return 'textbox';
      case 'SELECT': return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
      case 'H1': case 'H2': case 'H3': case 'H4': case 'H5': case 'H6': return 'heading';
      case 'TD': case 'TH': return element.querySelector(NO_CELL) ? '' : 'cell';
      case 'IMG': return element.alt ? 'img' : '';
      case 'OUTPUT': return 'status';
      case 'DIALOG': return 'dialog';
      default: return element.isContentEditable && !element.parentElement?.isContentEditable ? 'textbox' : '';
    }
  };

  const roleOf = (element) => {
    const said = element.getAttribute('role')?.trim().split(/\s+/)[0].toLowerCase();
    const role = said && (ALIASES[said] ?? said);
    return role && (ACTED_ON.has(role) || READ.has(role) || role === 'dialog') ? role : roleByTag(element);
  };

  // An element that listens for what happens to those inside it is no target itself.
  const delegates = (element) => element === document.body || element === document.documentElement || element.querySelector(CONTROLS) !== null;

  const isClickable = (element, pointed) =>
    (listening.has(element) && !delegates(element)) ||
    element.hasAttribute('onclick') ||
    element.matches(HANDLES) ||
    (element.tabIndex >= 0 && element.hasAttribute('tabindex') && !delegates(element)) ||
    (pointed && !delegates(element));

  // --- states

  const isTrue = (element, attribute) => element.getAttribute(attribute) === 'true';

  const checkedOf = (element, role) => {
    if (element.tagName === 'INPUT' && (element.type === 'checkbox' || element.type === 'radio')) return element.indeterminate ? 'mixed' : element.checked;
    const said = element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed');
    if (said !== null) return said === 'mixed' ? said : said === 'true';
    return role === 'checkbox' || role === 'radio' || role === 'switch' ? false : undefined;
  };

  const valueOf = (element, role) => {
    switch (element.tagName) {
      case 'SELECT': return [...element.selectedOptions].map((option) => tidy(option.label)).join(' | ');
      case 'TEXTAREA': return element.value;
      case 'INPUT':
        if (element.type === 'password') return '•'.repeat(element.value.length);
        if (element.type === 'file') return [...element.files].map((file) => file.name).join(' | ');
        return role === 'button' || role === 'checkbox' || role === 'radio' ? '' : element.value;
      default:
        if (element.isContentEditable) return element.innerText.trim();
        return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
    }
  };

  const errorOf = (element) => {
    const described = referred(element, 'aria-errormessage') || referred(element, 'aria-describedby');
    if (described.trim()) return described;
    const near = [element.nextElementSibling, element.previousElementSibling, element.parentElement?.nextElementSibling];
    const beside = near.find((one) => one?.matches(ERRORS) && isShown(one) && one.textContent.trim());
    const own = element.parentElement?.querySelectorAll('input:not([type=hidden]),select,textarea').length === 1;
    const message = beside ?? (own ? [...element.parentElement.querySelectorAll(ERRORS)].find((one) => isShown(one) && one.textContent.trim()) : null);
    return message ? textOf(message) : '';
  };

  const isInvalid = (element) => (element.hasAttribute('aria-invalid') && !['false', ''].includes(element.getAttribute('aria-invalid'))) || element.matches(':user-invalid');

  const fieldStates = (element, role, state) => {
    const value = valueOf(element, role);
    if (value) state.value = value.length > LONG ? `${value.slice(0, LONG - 1)}…` : value;
    if (element.tagName === 'TEXTAREA' || isTrue(element, 'aria-multiline')) state.multiline = true;
    if (element.placeholder) state.placeholder = tidy(element.placeholder);
    if (TELLING_TYPES.has(element.type)) state.type = element.type;
    if (element.required || isTrue(element, 'aria-required')) state.required = true;
    if ((element.readOnly && role !== 'file') || isTrue(element, 'aria-readonly')) state.readonly = true;
    const options = element.tagName === 'SELECT' ? element.options : element.list?.options;
    if (options) state.options = Array.from(options).slice(0, MOST_OPTIONS).map((option) => tidy(option.label || option.value)).join(' | ');
    if (role === 'button' || role === 'link') return;
    const invalid = isInvalid(element);
    const error = tidy(invalid || !element.hasAttribute('aria-describedby') ? errorOf(element) : '') || (invalid ? element.validationMessage : '');
    if (invalid || error) state.invalid = true;
    if (error) state.error = error;
  };

  const statesOf = (element, role, around) => {
    const state = {};
    const field = element.form !== undefined || NAMED_BY_FIELD.has(role);
    if (field) fieldStates(element, role, state);
    const checked = checkedOf(element, role);
    if (checked !== undefined) state.checked = checked;
    if (element.hasAttribute('aria-selected')) state.selected = isTrue(element, 'aria-selected');
    else if (element.hasAttribute('aria-current')) state.selected = element.getAttribute('aria-current') !== 'false';
    if (element.tagName === 'SUMMARY') state.expanded = element.parentElement?.open === true;
    else if (element.hasAttribute('aria-expanded')) state.expanded = isTrue(element, 'aria-expanded');
    if ((field && element.matches(':disabled')) || isTrue(element, 'aria-disabled') || around.inert) state.disabled = true;
    if (element === element.getRootNode().activeElement && element !== document.body && document.hasFocus()) state.focused = true;
    if (role === 'link' && element.href) state.href = String(element.href.baseVal ?? element.href);
    return state;
  };

  // --- the walk

  let zones = [];
  let adverts = new Set();
  let modal = null;

  // Boxes of what is drawn by something else: a hidden checkbox by its label.
  const boxOf = (element) => {
    const box = element.getBoundingClientRect();
    if (box.width > 1 && box.height > 1) return box;
    const label = element.labels?.[0];
    return label && isShown(label) ? label.getBoundingClientRect() : box;
  };
  midcourse.boxOf = boxOf;

  const isOnPage = (box) => box.right + scrollX > 0 && box.bottom + scrollY > 0;
  const isInView = (box) => box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;

  const emit = (element, role, label, around, state) => {
    const box = boxOf(element);
    if (box.width === 0 && box.height === 0) return;
    if (!isOnPage(box)) return;
    if (around.within) state.within = around.within;
    if (!isInView(box)) state.seen = false;
    const volatile = around.advert ? 1 : around.restless || midcourse.isRestless(element) ? 2 : 0;
    zones.push([numberOf(element), role, label, Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height), state, volatile]);
  };

  const ownText = (element) => {
    for (const node of childrenOf(element)) if (node.nodeType === Node.TEXT_NODE && node.data.trim()) return true;
    return false;
  };

  // What an element with text of its own says, up to the next block.
  const blockText = (element) => {
    const parts = [];
    for (const node of childrenOf(element)) {
      if (node.nodeType === Node.TEXT_NODE) parts.push(node.data);
      else if (node.nodeType === Node.ELEMENT_NODE && INLINE.has(node.tagName) && isShown(node)) parts.push(node.tagName === 'BR' ? ' ' : textOf(node));
      else parts.push(' ');
    }
    return tidy(parts.join(''), LONG);
  };

  const groupName = (element) => {
    switch (element.tagName) {
      case 'TR': return tidy(textOf(element.querySelector('th') ?? element), 80);
      case 'FIELDSET': return tidy(element.querySelector(':scope > legend')?.textContent ?? '', 80);
      default: {
        const role = element.getAttribute('role');
        if (role === 'row') return tidy(textOf(element), 80);
        return role === 'group' || role === 'radiogroup' ? nameOf(element, 'heading').slice(0, 80) : '';
      }
    }
  };

  const dialogName = (element) => tidy(referred(element, 'aria-labelledby') || element.getAttribute('aria-label') || element.querySelector('h1,h2,h3,h4,h5,h6,legend')?.textContent || '');

  const visitChildren = (element, around) => {
    if (element.shadowRoot) midcourse.watch(element.shadowRoot);
    for (const node of childrenOf(element)) if (node.nodeType === Node.ELEMENT_NODE) visit(node, around);
  };

  // Where the document of a frame begins in the one around it.
  midcourse.cornerOf = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return [box.x + element.clientLeft + parseFloat(style.paddingLeft), box.y + element.clientTop + parseFloat(style.paddingTop)];
  };

  const visitFrame = (element, around) => {
    const [x, y] = midcourse.cornerOf(element);
    zones.push([owners.get(element) ?? '', Math.round(x), Math.round(y), around.advert ? 1 : 0]);
  };

  const visit = (element, around) => {
    const tag = element.tagName;
    if (UNSEEN.has(tag)) return;
    if (!element.checkVisibility()) {
      const drawnByLabel = tag === 'INPUT' && (element.type === 'checkbox' || element.type === 'radio') && element.labels?.[0]?.checkVisibility();
      if (!drawnByLabel) {
        if (getComputedStyle(element).display === 'contents') visitChildren(element, around);
        return;
      }
    }
    if (tag === 'IFRAME' || tag === 'FRAME') return visitFrame(element, around);
    if (around.inline && !INLINE.has(tag)) around = { ...around, inline: false };
    if (adverts.size && adverts.has(element)) around = { ...around, advert: true };
    if (modal === element) around = { ...around, inert: false };
    if (element.inert) around = { ...around, inert: true };

    const role = roleOf(element);
    if (role === 'dialog') return visitDialog(element, around);
    if (ACTED_ON.has(role)) return visitActedOn(element, role, around);

    const pointed = !around.pointed && !around.named && getComputedStyle(element).cursor === 'pointer';
    if (tag !== 'LABEL' && !around.named && isClickable(element, pointed)) return visitActedOn(element, 'clickable', { ...around, pointed: around.pointed || pointed });

    const group = groupName(element);
    if (group) around = { ...around, within: group };
    if (!around.told) {
      if (READ.has(role)) around = tell(element, role, tidy(role === 'img' ? (element.alt ?? element.getAttribute('aria-label') ?? '') : textOf(element), LONG), around);
      else if (!(tag === 'LABEL' && element.control) && ownText(element)) around = { ...tell(element, 'text', blockText(element), around), told: false, inline: true };
    }
    visitChildren(element, around);
  };

  // Inline parts of a text that has been told need not be told again.
  const tell = (element, role, label, around) => {
    const part = around.inline && INLINE.has(element.tagName) && role === 'text';
    if (label && !part && getComputedStyle(element).visibility === 'visible') emit(element, role, label, around, {});
    return { ...around, told: true };
  };

  const visitDialog = (element, around) => {
    const name = dialogName(element);
    if (element.tagName !== 'DIALOG' || element.open) emit(element, 'dialog', name, around, {});
    visitChildren(element, { ...around, within: name || 'dialog' });
  };

  const visitActedOn = (element, role, around) => {
    const label = nameOf(element, role);
    if (getComputedStyle(element).visibility === 'visible') emit(element, role, label, around, statesOf(element, role, around));
    if (element.firstElementChild || element.shadowRoot) visitChildren(element, { ...around, told: true, named: role !== 'clickable' });
  };

  midcourse.title = () => JSON.stringify(document.title);

  midcourse.look = (first) => {
    next = Math.max(next, first);
    learnWhoListens();
    zones = [];
    adverts = new Set(document.querySelectorAll(ADVERTS));
    modal = [...document.querySelectorAll('dialog:modal')].at(-1) ?? null;
    if (document.body) visit(document.body, { within: '', told: false, inline: false, named: false, pointed: false, advert: false, restless: false, inert: modal !== null });
    return JSON.stringify({ title: document.title, next, changes: midcourse.changes(), zones });
  };
})();
