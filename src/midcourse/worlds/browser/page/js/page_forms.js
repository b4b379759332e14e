// The forms of a document and the values that they were served with. Duplicate detection needs to know which values are
// hidden, and which change with each load. Runs in our isolated world.
globalThis.midcourse ??= {};
(() => {
  const served = new WeakMap(); // hidden field -> its value before any act on the page
  const hiddenFields = () => document.querySelectorAll('input[type=hidden]');
  const remember = () => {
    for (const field of hiddenFields()) if (!served.has(field)) served.set(field, field.value);
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', remember, { once: true });
  else remember();

  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const address = (text) => {
    try {
      return new URL(text || document.URL, document.baseURI).href;
    } catch {
      return '';
    }
  };

  const fieldOf = (element, forms) => {
    const form = element.form instanceof HTMLFormElement ? element.form : null;
    if (form && !forms.includes(form)) forms.push(form);
    return {
      form: forms.indexOf(form),
      action: form ? address(attribute(form, 'action')) : '',
      name: element.name,
      hidden: element.type === 'hidden',
      type: element.type,
      value: String(element.value),
      served: served.get(element) ?? null,
    };
  };

  // All texts of a form, also those that are not shown, and the values of its buttons. A space is between two of them.
  const textsOf = (form) => {
    const walker = document.createTreeWalker(form, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode.data);
    return found;
  };
  const says = (form) => {
    const buttons = [...form.querySelectorAll('input')].filter((one) => ['submit', 'button', 'image'].includes(one.type));
    const text = [...textsOf(form), ...buttons.map((one) => one.value)].join(' ').replace(/\s+/g, ' ').trim();
    return text.length > 20000 ? '' : text; // a list of countries has 4000 characters
  };

  // What the page says of a field: its label, and for an option or a box what is shown in place of the value.
  const LONGEST = 80;
  const clean = (text) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, LONGEST);
  const named = (element) => {
    const by = (attribute(element, 'aria-labelledby') ?? '').split(/\s+/).map((id) => document.getElementById(id)?.innerText ?? '').join(' ');
    const labels = [...(element.labels ?? [])].map((one) => {
      const copy = one.cloneNode(true);
      for (const inner of copy.querySelectorAll('select,textarea,button,script,style')) inner.remove();
      return copy.textContent;
    });
    return clean(by) || clean(attribute(element, 'aria-label')) || clean(labels.join(' ')).replace(/[\s*:]+$/, '') || clean(attribute(element, 'placeholder'));
  };
  const group = (element) => clean(element.closest('fieldset')?.querySelector('legend')?.innerText);
  const wordsOf = (element) => {
    const { name, type } = element;
    const value = String(element.value);
    const how = (entered) => (entered ? 'entered' : 'shown');
    if (type === 'hidden') return served.get(element) === value ? [{ name, value, how: 'served' }] : [];
    if (element.tagName === 'SELECT') {
      const chosen = [...element.selectedOptions];
      const label = named(element);
      return chosen.map((one) => ({ name, value: one.value, label, shows: clean(one.label), how: how([...element.options].some((each) => each.selected !== each.defaultSelected) && !one.defaultSelected) }));
    }
    if (['checkbox', 'radio'].includes(type)) return element.checked ? [{ name, value, label: group(element), shows: named(element), how: how(!element.defaultChecked) }] : [];
    if (['submit', 'button', 'image', 'reset', 'password', 'file'].includes(type)) return type === 'password' ? [{ name, value, label: named(element), how: 'entered' }] : [];
    return [{ name, value, label: named(element), how: how(value !== element.defaultValue) }];
  };
  const MOST_WORDS = 500;

  // Every named field, what is in the inputs without a name too, and which of these texts the page or its address contains.
  midcourse.pageForms = (texts) => {
    const forms = [];
    const elements = [...document.querySelectorAll('input[name],select[name],textarea[name],button[name]')];
    const fields = elements.filter((one) => one.name).map((one) => fieldOf(one, forms));
    const entered = [...document.querySelectorAll('input,textarea')].map((one) => one.value);
    const source = texts.length ? [document.URL, document.documentElement.outerHTML, ...entered].join('\n') : '';
    const language = document.documentElement.lang.split('-')[0].toLowerCase();
    const typed = [...document.querySelectorAll('input')].filter((one) => one.type !== 'hidden').map((one) => [one.type, one.value]);
    return JSON.stringify({ url: document.URL, language, fields, texts: forms.map(says), typed, words: elements.filter((one) => one.name).slice(0, MOST_WORDS).flatMap(wordsOf), shown: texts.filter((text) => source.includes(text)) });
  };
})();
