// What state an element is in. Only what says something is said.
globalThis.midcourse ??= {};
(() => {
  const LONG = 1000, MOST_OPTIONS = 100, MOST_IN_WRAPPER = 8;
  const TELLING_TYPES = new Set(['password', 'date', 'time', 'datetime-local', 'month', 'week', 'color']);
  const ERRORS = '[role=alert],.error,.errors,.errorlist,.error-message,.field-error,.invalid-feedback,.help-inline';
  const { FIELDS, tidy, isShown, textOf, referred } = midcourse;

  const isTrue = (element, attribute) => element.getAttribute(attribute) === 'true';

  const checkedOf = (element, role) => {
    if (element.tagName === 'INPUT' && (element.type === 'checkbox' || element.type === 'radio')) return element.indeterminate ? 'mixed' : element.checked;
    const said = element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed');
    if (said !== null) return said === 'mixed' ? said : said === 'true';
    return role === 'checkbox' || role === 'radio' || role === 'switch' ? false : undefined;
  };

  const valueOf = (element, role) => {
    switch (element.tagName) {
      case 'SELECT': return Array.from(element.selectedOptions, (option) => tidy(option.label)).join(' | ');
      case 'TEXTAREA': return element.value;
      case 'INPUT':
        if (element.type === 'password') return '•'.repeat(element.value.length);
        if (element.type === 'file') return Array.from(element.files, (file) => file.name).join(' | ');
        return role === 'checkbox' || role === 'radio' ? '' : element.value;
      default:
        if (element.isContentEditable) return element.innerText.trim();
        return element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow') ?? '';
    }
  };

  const optionsOf = (element) => {
    const options = element.tagName === 'SELECT' ? element.options : element.list?.options;
    return options && Array.from(options).slice(0, MOST_OPTIONS).map((option) => tidy(option.label || option.value)).join(' | ');
  };

  // --- what is wrong with a field

  const isMessage = (element) => element?.matches(ERRORS) && isShown(element) && element.textContent.trim() !== '';

  // In what is wrapped around this field and no other.
  const messageIn = (wrapper) => {
    if (!wrapper || wrapper.childElementCount > MOST_IN_WRAPPER) return undefined;
    const alone = wrapper.querySelectorAll('input:not([type=hidden]),select,textarea').length === 1;
    return alone ? Array.from(wrapper.querySelectorAll(ERRORS)).find(isMessage) : undefined;
  };

  const messageNear = (element) => {
    const near = [element.nextElementSibling, element.previousElementSibling, element.parentElement?.nextElementSibling];
    return near.find(isMessage) ?? messageIn(element.parentElement);
  };

  const isInvalid = (element) => !['false', ''].includes(element.getAttribute('aria-invalid') ?? '') || element.matches(':user-invalid');

  // A description is one of an error only if the field is said to be wrong.
  const errorOf = (element, invalid) => {
    const described = invalid ? referred(element, 'aria-errormessage') || referred(element, 'aria-describedby') : '';
    if (described.trim()) return tidy(described);
    const message = element.hasAttribute('aria-describedby') && !invalid ? undefined : messageNear(element);
    return message ? tidy(textOf(message)) : invalid ? element.validationMessage ?? '' : '';
  };

  const fieldStates = (element, role, state) => {
    const value = valueOf(element, role);
    if (value) state.value = value.length > LONG ? `${value.slice(0, LONG - 1)}…` : value;
    if (element.tagName === 'TEXTAREA' || isTrue(element, 'aria-multiline')) state.multiline = true;
    if (element.placeholder) state.placeholder = tidy(element.placeholder);
    if (TELLING_TYPES.has(element.type)) state.type = element.type;
    if (element.required || isTrue(element, 'aria-required')) state.required = true;
    if ((element.readOnly && role !== 'file') || isTrue(element, 'aria-readonly')) state.readonly = true;
    const options = optionsOf(element);
    if (options) state.options = options;
    const invalid = isInvalid(element);
    const error = errorOf(element, invalid);
    if (invalid || error) state.invalid = true;
    if (error) state.error = error;
  };

  const ariaStates = (element, state) => {
    if (element.hasAttribute('aria-selected')) state.selected = isTrue(element, 'aria-selected');
    else if (element.hasAttribute('aria-current')) state.selected = element.getAttribute('aria-current') !== 'false';
    if (element.hasAttribute('aria-expanded')) state.expanded = isTrue(element, 'aria-expanded');
    if (isTrue(element, 'aria-disabled')) state.disabled = true;
  };

  const isField = (element, role) => (element.form !== undefined && role !== 'button') || FIELDS.has(role);

  midcourse.statesOf = (element, role, inert, focused) => {
    const state = {};
    if (isField(element, role)) fieldStates(element, role, state);
    const checked = checkedOf(element, role);
    if (checked !== undefined) state.checked = checked;
    if (element.hasAttributes()) ariaStates(element, state);
    if (element.tagName === 'SUMMARY') state.expanded = element.parentElement?.open === true;
    if (inert || element.matches(':disabled')) state.disabled = true;
    if (element === focused) state.focused = true;
    if (role === 'link' && element.href) state.href = String(element.href.baseVal ?? element.href);
    return state;
  };
})();
