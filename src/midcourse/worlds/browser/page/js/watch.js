// Counts the changes of a document and tells how long it has been still.
globalThis.midcourse ??= {};
(() => {
  const OPTIONS = { subtree: true, childList: true, characterData: true, attributes: true };
  const RESTLESS = 2;
  const FADES = new Set(['opacity', 'transform', 'visibility']);
  const BUSY = '[aria-busy=true],[role=progressbar]:not([aria-valuenow]),progress:not([value])';
  let changes = 0;
  let last = performance.now();
  let acting = true;
  const idle = new WeakMap(); // element -> how often its text changed outside of acts
  const roots = new WeakSet();

  const onlyText = (nodes) => Array.prototype.every.call(nodes, (node) => node.nodeType === Node.TEXT_NODE);

  const whoseText = (record) => {
    if (record.type === 'characterData') return record.target.parentElement;
    if (record.type !== 'childList') return null;
    return onlyText(record.addedNodes) && onlyText(record.removedNodes) ? record.target : null;
  };

  const isRestless = (element) => (idle.get(element) ?? 0) >= RESTLESS;

  const observer = new MutationObserver((records) => {
    const texts = new Set();
    let counts = false;
    for (const record of records) {
      const element = whoseText(record);
      if (element) texts.add(element);
      counts ||= !(element && isRestless(element));
    }
    if (!acting) for (const element of texts) idle.set(element, (idle.get(element) ?? 0) + 1);
    if (!counts) return;
    changes += 1;
    last = performance.now();
  });

  // A dialog or its backdrop is fading in or out: what it covers will change in a moment.
  const isFading = () => document.getAnimations().some((one) => one.playState === 'running' && FADES.has(one.transitionProperty));

  // Watch a document, or a shadow root that the capture found.
  midcourse.watch = (root) => {
    if (roots.has(root)) return;
    roots.add(root);
    observer.observe(root, OPTIONS);
  };
  midcourse.isRestless = isRestless;
  midcourse.changes = () => changes;
  midcourse.setActing = (now) => {
    acting = now;
  };
  midcourse.stillFor = () => (document.readyState !== 'complete' || isFading() ? 0 : performance.now() - last);
  // Whether something that can be seen without scrolling says that it is being loaded. A bar with a value is work of its own.
  midcourse.isBusy = () =>
    Array.prototype.some.call(document.querySelectorAll(BUSY), (element) => {
      const box = element.getBoundingClientRect();
      const inView = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
      return inView && box.width > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    });
  midcourse.watch(document);
})();
