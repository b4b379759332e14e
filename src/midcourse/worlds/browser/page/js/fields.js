// What is in a field, and how it is made ready for the keyboard, or set where nobody types.
globalThis.midcourse ??= {};
(() => {
  const SET_NOT_TYPED = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];

  const CHECKED = ['checkbox', 'radio', 'switch']; // also without saying that they are not

  // Whether that is what was meant: the browser writes a colour or a time in its own way, and nothing for what it cannot read.
  const hasTaken = (element, text) => {
    switch (element.type) {
      case 'color': return element.value === text.toLowerCase();
      case 'range': return Number(element.value) === Number(text);
      default: return (element.value === '') === (text === '');
    }
  };

  const tell = (element) => {
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

  // A secret goes into this document and no other: the keyboard follows the focus, which a frame of somebody else may take at any
  // time. Letter by letter, since some pages go on to the next field after each.
  const insert = (text) => {
    for (const letter of text) document.execCommand('insertText', false, letter);
  };

  // {gone} | {wrong} | {readonly} | {set: whether it has been} | {content}: what there was, all of it selected; {inserted}: and replaced
  midcourse.prepare = (number, text) => {
    const zone = midcourse.element(number);
    if (!zone?.isConnected) return JSON.stringify({ gone: true });
    const element = editable(zone);
    if (!element || ['file', 'checkbox', 'radio', 'button', 'submit'].includes(element.type)) return JSON.stringify({ wrong: true });
    if (element.readOnly) return JSON.stringify({ readonly: true });
    if (SET_NOT_TYPED.includes(element.type)) {
      const before = element.value;
      element.value = text;
      const taken = hasTaken(element, text);
      if (!taken) element.value = before;
      else if (element.value !== before) tell(element);
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
    const whole = names.join(' | '); // may be one that is called so
    const wanted = options.some((option) => isCalled(option, whole)) ? [whole] : names;
    const chosen = wanted.map((name) => options.find((option) => isCalled(option, name) && !option.matches(':disabled')));
    const missing = wanted.filter((_, index) => !chosen[index] || (index > 0 && !element.multiple));
    if (missing.length) return JSON.stringify({ missing });
    if (options.some((option) => option.selected !== chosen.includes(option))) {
      element.focus({ preventScroll: true });
      if (element.multiple) for (const option of options) option.selected = chosen.includes(option);
      else element.selectedIndex = chosen[0].index;
      tell(element);
    }
    return JSON.stringify({});
  };

  // Which of these belong to it: they are in it, or in what it says that it controls.
  midcourse.offered = (number, numbers) => {
    const element = midcourse.element(number);
    const lists = ['aria-controls', 'aria-owns'].flatMap((name) => (element?.getAttribute(name) ?? '').split(/\s+/)).map((id) => element.getRootNode().getElementById?.(id));
    const isOffered = (one) => [element, ...lists].some((list) => list?.contains(midcourse.element(one)));
    return JSON.stringify(element ? numbers.filter(isOffered) : []);
  };

  // true, false or neither, 'mixed'. null: it is nothing that can be checked, or no longer there.
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
