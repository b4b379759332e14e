// Marks fields that a secret is typed into: screenshots cover them, and fields.js inserts the text without the keyboard.
globalThis.midcourse ??= {};
midcourse.origin = () => JSON.stringify(self.origin);
midcourse.concealed ??= new WeakSet();
midcourse.conceal = (number) => {
  const element = midcourse.element(number);
  midcourse.concealed.add(element);
  element.setAttribute('data-midcourse-secret', '');
};
