// The states of an element. Defaults are left out.
globalThis.midcourse ??= {};
(() => {
  const LONG = 10000, MOST_OPTIONS = 100, MOST_IN_WRAPPER = 8;
  const PATH = /^\/[\w-][\w/-]*$/;
  const TELLING_TYPES = new Set(['password', 'date', 'time', 'datetime-local', 'month', 'week', 'color']);
  const ERRORS = '[role=alert],.error,.errors,.errorlist,.error-message,.field-error,.invalid-feedback,.help-inline';
  const CONTROLS = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'OPTION', 'OUTPUT', 'FIELDSET']); // the browser's own
  const PARTS = 'input,textarea,[role=listbox],[role=option]'; // of a list that the page draws; without them, its text is the selected option
  const { FIELDS, tidy, isShown, textOf, referencedText } = midcourse;

  const isTrue = (element, attribute) => element.getAttribute(attribute) === 'true';

  const checkedOf = (element, role, it) => {
    if (it.tag === 'INPUT' && (role === 'checkbox' || role === 'radio')) return element.indeterminate ? 'mixed' : element.checked;
    const said = it.aria ? element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed') : null;
    if (said !== null) return said === 'mixed' ? said : said === 'true';
    return role === 'checkbox' || role === 'radio' || role === 'switch' ? false : undefined;
  };

  const valueOf = (element, role, it, type) => {
    switch (it.tag) {
      case 'TEXTAREA': return element.value;
      case 'INPUT':
        if (type === 'password') return '•'.repeat(element.value.length);
        if (type === 'file') return Array.from(element.files, (file) => file.name).join(' | ');
        return role === 'checkbox' || role === 'radio' ? '' : element.value;
      default:
        if (element.isContentEditable) return element.innerText.trim();
        if (role === 'combobox' && !element.querySelector(PARTS)) return tidy(textOf(element));
        return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
    }
  };

  const namesOf = (options) => {
    const names = [];
    const many = Math.min(options.length, MOST_OPTIONS);
    for (let i = 0; i < many; i += 1) {
      const option = options[i];
      names.push(tidy(option.label || option.value));
    }
    return names;
  };

  const selectStates = (element, role, state) => {
    const names = namesOf(element.options);
    const one = role === 'listbox' ? -1 : element.selectedIndex;
    const value = role === 'listbox' || one >= names.length ? namesOf(element.selectedOptions).join(' | ') : names[one];
    if (value) state.value = value;
    state.options = names.join(' | ');
  };

  // --- what is wrong with a field

  const isMessage = (element) => element?.matches(ERRORS) && isShown(element) && element.textContent.trim() !== '';

  // A message in the wrapper of this field, if it wraps no other field.
  const messageIn = (wrapper) => {
    if (!wrapper || wrapper.childElementCount > MOST_IN_WRAPPER) return undefined;
    const message = Array.from(wrapper.querySelectorAll(ERRORS)).find(isMessage);
    return message && wrapper.querySelectorAll('input:not([type=hidden]),select,textarea').length === 1 ? message : undefined;
  };

  let messages = true; // whether the page has any
  let asked = -1; // the count of changes when that was checked
  let origin = '';

  const messageNear = (element, it) => {
    if (!messages && !it.shadowed) return undefined;
    const near = [element.nextElementSibling, element.previousElementSibling, element.parentElement?.nextElementSibling];
    return near.find(isMessage) ?? messageIn(element.parentElement);
  };

  const isInvalid = (element, it) => (it.aria && !['false', ''].includes(element.getAttribute('aria-invalid') ?? '')) || element.matches(':user-invalid');

  // A description is an error message only if the field is marked invalid.
  const errorOf = (element, invalid, it) => {
    const described = invalid ? referencedText(element, 'aria-errormessage') || referencedText(element, 'aria-describedby') : '';
    if (described.trim()) return tidy(described, LONG);
    const message = !invalid && it.has.includes('aria-describedby') ? undefined : messageNear(element, it);
    return message ? tidy(textOf(message, LONG), LONG) : invalid ? element.validationMessage ?? '' : '';
  };

  const fieldStates = (element, role, it, state) => {
    const type = it.tag === 'INPUT' && it.has.includes('type') ? element.type : '';
    const value = it.tag === 'SELECT' ? '' : valueOf(element, role, it, type);
    if (it.tag === 'SELECT') selectStates(element, role, state);
    else if (it.has.includes('list')) state.options = namesOf(element.list?.options ?? []).join(' | ');
    if (value) state.value = value.length > LONG ? `${value.slice(0, LONG - 1)}…` : value;
    if (it.tag === 'TEXTAREA' || it.has.includes('contenteditable') || (it.aria && isTrue(element, 'aria-multiline'))) state.multiline = true;
    if (it.has.includes('placeholder')) state.placeholder = tidy(element.placeholder ?? '');
    if (TELLING_TYPES.has(type)) state.type = type;
    if (it.has.includes('required') || (it.aria && isTrue(element, 'aria-required'))) state.required = true;
    if (it.has.includes('readonly') || (it.aria && isTrue(element, 'aria-readonly'))) state.readonly = true;
    const invalid = isInvalid(element, it);
    const error = errorOf(element, invalid, it);
    if (invalid || error) state.invalid = true;
    if (error) state.error = error;
  };

  const ariaStates = (element, state) => {
    if (element.hasAttribute('aria-selected')) state.selected = isTrue(element, 'aria-selected');
    else if (element.hasAttribute('aria-current')) state.selected = element.getAttribute('aria-current') !== 'false';
    if (element.hasAttribute('aria-expanded')) state.expanded = isTrue(element, 'aria-expanded');
    if (isTrue(element, 'aria-disabled')) state.disabled = true;
  };

  midcourse.cellStates = (element) => {
    const state = {};
    ariaStates(element, state);
    return state;
  };

  // Most links are plain paths, which are faster to join here than to have resolved by the browser.
  const hrefOf = (element, it) => {
    const written = it.has.includes('href') ? element.getAttribute('href') : '';
    if (PATH.test(written)) return origin + written;
    return typeof element.href === 'string' ? element.href : element.href?.baseVal ?? '';
  };

  // Once per look. Messages are only searched for if the document has changed.
  midcourse.beginStates = () => {
    origin = new URL(document.baseURI).origin;
    if (asked === midcourse.changes()) return;
    messages = document.querySelector(ERRORS) !== null;
    asked = midcourse.changes();
  };

  // `it` is capture.js's record of the element: tag, has (the names of its attributes), aria, inert, off, shadowed.
  midcourse.statesOf = (element, role, it, focused) => {
    const state = {};
    const isControl = CONTROLS.has(it.tag);
    if ((isControl && role !== 'button') || FIELDS.has(role)) fieldStates(element, role, it, state);
    const checked = checkedOf(element, role, it);
    if (checked !== undefined) state.checked = checked;
    if (it.aria) ariaStates(element, state);
    if (it.tag === 'SUMMARY') state.expanded = element.parentElement?.open === true;
    if (it.inert || (isControl && ((it.off && element.matches(':disabled')) || it.has.includes('disabled')))) state.disabled = true;
    if (focused) state.focused = true;
    if (role === 'link') state.href = hrefOf(element, it);
    return state;
  };
})();
