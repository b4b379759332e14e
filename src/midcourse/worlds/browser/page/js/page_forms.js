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

  // Every named field, and which of these texts the page or its address contains.
  midcourse.pageForms = (texts) => {
    const forms = [];
    const elements = [...document.querySelectorAll('input[name],select[name],textarea[name],button[name]')];
    const fields = elements.filter((one) => one.name).map((one) => fieldOf(one, forms));
    const entered = [...document.querySelectorAll('input,textarea')].map((one) => one.value);
    const source = texts.length ? [document.URL, document.documentElement.outerHTML, ...entered].join('\n') : '';
    const language = document.documentElement.lang.split('-')[0].toLowerCase();
    return JSON.stringify({ url: document.URL, language, fields, shown: texts.filter((text) => source.includes(text)) });
  };
})();
