// Remembers which elements have mouse listeners. Runs in the page's own world, before its scripts.
// roles.js, in our isolated world, asks by an event, and each of these elements answers with one.
(() => {
  const MOUSE = ['click', 'dblclick', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'dragstart'];
  const listen = EventTarget.prototype.addEventListener;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const noted = new WeakSet();
  const unasked = new Set();

  const note = (target) => {
    if (!(target instanceof Element) || noted.has(target)) return;
    noted.add(target);
    answerQuestions();
    unasked.add(new WeakRef(target));
  };

  EventTarget.prototype.addEventListener = function addEventListener(type, ...rest) {
    if (MOUSE.includes(type)) note(this);
    return listen.call(this, type, ...rest);
  };

  for (const owner of [HTMLElement.prototype, SVGElement.prototype]) {
    for (const type of MOUSE) {
      const handler = Object.getOwnPropertyDescriptor(owner, `on${type}`);
      if (!handler?.set) continue;
      const set = function (value) {
        if (value) note(this);
        handler.set.call(this, value);
      };
      Object.defineProperty(owner, `on${type}`, { ...handler, set });
    }
  }

  const answer = () => {
    for (const reference of unasked) {
      const element = reference.deref();
      if (element && !element.isConnected) continue; // not in the page yet: reported next time
      unasked.delete(reference);
      if (element) dispatch.call(element, new CustomEvent('midcourse:listens', { composed: true }));
    }
  };
  // Repeated, because document.open() removes all listeners.
  const answerQuestions = () => listen.call(document, 'midcourse:who-listens', answer, true);
  answerQuestions();
})();
