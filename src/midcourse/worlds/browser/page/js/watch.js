// What changes on the page, and when. In a world of our own, like capture.js and reach.js.
globalThis.midcourse ??= {};
(() => {
  const OPTIONS = { subtree: true, childList: true, characterData: true, attributes: true };
  const RESTLESS = 2;
  const FADES = new Set(['opacity', 'transform', 'visibility']);
  let changes = 0;
  let last = performance.now();
  let acting = true;
  const idle = new WeakMap(); // element -> how often its text changed while nobody acted
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

  // Something is on its way in or out, as dialogs and what lies behind them are: it covers what it will not cover in a moment.
  const isFading = () => document.getAnimations().some((one) => one.playState === 'running' && FADES.has(one.transitionProperty));

  // A document, or a shadow root that the capture came across.
  midcourse.watch = (root) => {
    if (roots.has(root)) return;
    roots.add(root);
    observer.observe(root, OPTIONS);
  };
  midcourse.isRestless = isRestless;
  midcourse.changes = () => changes;
  midcourse.acts = (now) => {
    acting = now;
  };
  midcourse.stillFor = () => (document.readyState !== 'complete' || isFading() ? 0 : performance.now() - last);
  midcourse.watch(document);
})();
