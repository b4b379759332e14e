// What a form would send, and submitting it. Called by forms.py, in our isolated world.
// Properties are never read from the form itself, because a page may give its fields the same names.
globalThis.midcourse ??= {};
(() => {
  const SUBMITS = 'button:not([type]),button[type=submit],input[type=submit],input[type=image]';
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const elementsOf = Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'elements').get;
  const isForm = (element) => element instanceof HTMLFormElement;

  const formOf = (element) => {
    if (!element || isForm(element)) return element;
    return isForm(element.form) ? element.form : Element.prototype.closest.call(element, 'form');
  };

  // The button itself, or the one that pressing Enter in a field would use.
  const submitterOf = (form, element) => {
    if (element !== form && element.matches(SUBMITS)) return element;
    return Array.from(elementsOf.call(form)).find((one) => one.matches(SUBMITS) && !one.disabled) ?? null;
  };

  const base64 = async (file) => {
    let text = '';
    for (const byte of new Uint8Array(await file.arrayBuffer())) text += String.fromCharCode(byte);
    return btoa(text);
  };

  const said = (form, submitter, name) =>
    (submitter && attribute(submitter, `form${name}`)) ?? attribute(form, name) ?? '';

  midcourse.form = async (number) => {
    const element = midcourse.element(number);
    const form = formOf(element);
    if (!form) return null;
    const submitter = submitterOf(form, element);
    const values = [];
    for (const [name, value] of new FormData(form, submitter)) {
      values.push(typeof value === 'string' ? [name, value] : [name, value.name, value.type, await base64(value)]);
    }
    return JSON.stringify({
      method: said(form, submitter, 'method').toLowerCase(),
      kind: said(form, submitter, 'enctype').toLowerCase(),
      action: new URL(said(form, submitter, 'action') || document.URL, document.baseURI).href,
      pressed: submitter === element,
      values,
    });
  };

  midcourse.submit = (number) => {
    const element = midcourse.element(number);
    const form = formOf(element);
    HTMLFormElement.prototype.requestSubmit.call(form, submitterOf(form, element));
  };
})();
