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

  // Returns {gone} | {wrong} | {readonly} | {set: success} | {content: the old text, now selected, inserted: whether it was replaced}
  midcourse.prepare = (number, text) => {
    const zone = midcourse.element(number);
    if (!zone?.isConnected) return JSON.stringify({ gone: true });
    const element = editable(zone);
    if (!element || ['file', 'checkbox', 'radio', 'button', 'submit'].includes(element.type)) return JSON.stringify({ wrong: true });
    if (element.readOnly) return JSON.stringify({ readonly: true });
    if (SET_NOT_TYPED.includes(element.type)) {
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
    selectAll(element);
    if (inserted) insert(text);
    return JSON.stringify({ content: before, inserted });
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

  midcourse.read = (number) => {
    const element = number ? midcourse.element(number) : document.body;
    if (element.tagName === 'SELECT') return JSON.stringify([...element.selectedOptions].map((option) => option.label).join(' | '));
    if (element.type === 'password') return JSON.stringify('•'.repeat(element.value.length));
    const text = element.matches('input,textarea') ? element.value : element.innerText ?? element.textContent;
    return JSON.stringify((text ?? '').trim());
  };
})();
