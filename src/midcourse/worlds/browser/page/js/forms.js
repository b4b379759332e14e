// What a form would send, and sending it. Asked for by forms.py, in a world of our own.
// A page may name its fields like properties of the form, so those are never taken from the form itself.
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

  // The button itself, or the one that Enter in a field would press.
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
