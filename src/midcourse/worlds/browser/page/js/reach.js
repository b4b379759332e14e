// Finds where an element can be clicked and what covers it, and blocks clicks that would hit another element.
globalThis.midcourse ??= {};
(() => {
  const INSETS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.1], [0.9, 0.9]];
  const WATCHED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  const ARMED_FOR = 3000;
  const UNLABELLED = 'a[href],button,input,select,textarea'; // a click on these in a label does not reach the field
  const INNER = `${midcourse.CONTROLS},[role=checkbox],[role=radio],[role=switch],[role=treeitem]`;

  const deepest = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit?.shadowRoot) {
      const deeper = hit.shadowRoot.elementFromPoint(x, y);
      if (!deeper || deeper === hit) break;
      hit = deeper;
    }
    return hit;
  };

  midcourse.deepest = deepest;

  const above = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  midcourse.above = above;

  // A click on a label counts for its field, except on a control inside the label, such as a link.
  const isTouchedBy = (hit, element) => {
    for (let one = hit; one; one = above(one)) {
      if (one === element) return true;
      if (one.tagName === 'LABEL' && one.control === element) return isOwn(hit, one, UNLABELLED);
    }
    return false;
  };

  // Whether a click there is for the element, and not for a control inside it.
  const isOwn = (hit, element, inner = INNER) => {
    for (let one = hit; one && one !== element && one.control !== element; one = above(one)) if (one.matches(inner)) return false;
    return true;
  };

  midcourse.isTouchedBy = isTouchedBy;

  const describe = (element) => {
    if (!element) return 'nothing of the page';
    const name = element.getAttribute('aria-label') || midcourse.tidy(midcourse.textOf(element), 60);
    const called = element.id ? `#${element.id}` : element.classList.length ? `.${element.classList[0]}` : '';
    return `<${element.tagName.toLowerCase()}${called}>${name ? ` '${name}'` : ''}`;
  };

  const fits = (box) => box.y >= 0 && box.x >= 0 && box.y + box.height <= innerHeight && box.x + box.width <= innerWidth;

  const scrollToMiddle = (element) => element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });

  // A frame may be larger than the view, so it is not enough that its middle is in the middle.
  const bringToMiddle = (scroller, { x, y }) => scroller.scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });

  // The box of its first line of own text.
  const firstLine = (element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (!node.data.trim() || !isOwn(node.parentElement, element)) continue;
      range.selectNodeContents(node);
      const [line] = range.getClientRects();
      if (line) return line;
    }
    return null;
  };

  const boxesOf = (element) => {
    const boxes = [element, midcourse.labelFor(element)].flatMap((one) => (one ? [...one.getClientRects()] : []));
    const large = boxes.filter((box) => box.width > 1 && box.height > 1);
    return large.length ? large : [midcourse.boxOf(element)];
  };

  // {x, y, own: whether the element itself and not a control inside it is there} | {blocker}
  const touchable = (element) => {
    const boxes = boxesOf(element);
    let blocker = null;
    let other = null;
    const tryBox = (box) => {
      for (const [right, down] of INSETS) {
        const x = box.x + box.width * right;
        const y = box.y + box.height * down;
        const hit = deepest(x, y);
        if (!hit || !isTouchedBy(hit, element)) blocker ??= hit;
        else if (isOwn(hit, element)) return { x, y, own: true };
        else other ??= { x, y, own: false };
      }
      return null;
    };
    for (const box of boxes) {
      const found = tryBox(box);
      if (found) return found;
    }
    const line = other && firstLine(element);
    return (line && tryBox(line)) ?? other ?? { blocker };
  };

  const place = (element) => {
    const now = fits(midcourse.boxOf(element)) ? touchable(element) : {};
    if ('x' in now) return now;
    scrollToMiddle(midcourse.drawnBy(element));
    const there = touchable(element);
    if (there.own !== false) return there;
    element.scrollIntoView({ block: 'start', behavior: 'instant' }); // its own part may be far from its middle
    return touchable(element);
  };

  const isDisabled = (element) => element.matches(':disabled') || element.closest('[aria-disabled=true],[inert]') !== null;

  const isBehindModal = (element) => {
    const modal = midcourse.topModal();
    let one = modal && element;
    while (one && one !== modal) one = above(one);
    return modal !== null && one === null;
  };

  const problemOf = (element) => (!element?.isConnected ? { gone: true } : isDisabled(element) ? { disabled: true } : null);

  // {gone} | {disabled} | {}: usable by keyboard or script
  midcourse.checkUsable = (number) => {
    const element = midcourse.element(number);
    return JSON.stringify(problemOf(element) ?? (isBehindModal(element) ? { disabled: true } : {}));
  };

  // {gone} | {disabled} | {covered: description} | {x, y}
  midcourse.reach = (number) => {
    const element = midcourse.element(number);
    const why = problemOf(element);
    if (why) return JSON.stringify(why);
    const found = place(element);
    if (!('x' in found)) return JSON.stringify({ covered: describe(found.blocker) });
    arm(element, true);
    return JSON.stringify(found);
  };

  // A point of a frame's document in the document around it: {gone} | {covered: description} | {x, y}
  midcourse.throughFrame = (name, x, y) => {
    const element = midcourse.frame(name);
    if (!element?.isConnected) return JSON.stringify({ gone: true });
    const here = () => {
      const [left, top, scale] = midcourse.cornerOf(element);
      return { x: left + x * scale, y: top + y * scale };
    };
    const hitHere = () => {
      const point = here();
      return deepest(point.x, point.y);
    };
    if (hitHere() !== element) scrollToMiddle(element);
    for (let around = above(element); around && hitHere() !== element; around = above(around)) bringToMiddle(around, here());
    const point = here();
    if (hitHere() !== element) return JSON.stringify({ covered: describe(hitHere()) });
    arm(element);
    return JSON.stringify(point);
  };

  // --- blocking clicks that miss: an element may appear between the check and the click

  let guarded = null; // {element: null if nothing in this document may be hit, isTarget, until, hit, blocker}

  const arm = (element, isTarget = false) => {
    listen();
    guarded = { element, isTarget, until: performance.now() + ARMED_FOR, hit: false, blocker: null };
  };

  // The target is in another document: block all clicks here, since a frame may come in the way and its events stay inside.
  midcourse.blockClicks = () => arm(null);

  const guard = (event) => {
    if (!guarded || !event.isTrusted || performance.now() > guarded.until || guarded.hit) return;
    const target = event.composedPath()[0];
    if (!guarded.blocker && guarded.element && isTouchedBy(target, guarded.element)) guarded.hit = true;
    else {
      guarded.blocker ??= target;
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };

  // Before listeners of the page, and again for each act, because document.open() removes all listeners.
  const listen = () => {
    for (const type of WATCHED) window.addEventListener(type, guard, { capture: true, passive: false });
  };
  listen();

  // Whether the target was hit, and the element that was hit instead (its events were blocked).
  midcourse.unblockClicks = () => {
    const { isTarget, hit, blocker } = guarded ?? {};
    guarded = null;
    return JSON.stringify({ hit: Boolean(isTarget && hit), blocker: blocker ? describe(blocker) : '' });
  };

  // --- scrolling

  const scrolls = (element, right, down) => {
    const style = getComputedStyle(element);
    const may = (overflow) => overflow === 'auto' || overflow === 'scroll';
    return (down && may(style.overflowY) && element.scrollHeight > element.clientHeight + 1) || (right && may(style.overflowX) && element.scrollWidth > element.clientWidth + 1);
  };

  midcourse.scrolls = scrolls;

  const page = () => document.scrollingElement ?? document.body;

  const scrollerOf = (element, right, down) => {
    let one = element;
    while (one && !scrolls(one, right, down)) one = above(one);
    return one ?? page();
  };

  const fillsPage = (element) => element && 2 * element.clientWidth * element.clientHeight > innerWidth * innerHeight;

  // Scrolls what is around the element, by screens; without an element, the page or the scroller that fills it.
  // Returns whether anything moved.
  midcourse.scroll = (number, right, down) => {
    if (number) return moved(scrollerOf(midcourse.element(number), right, down), right, down);
    if (moved(page(), right, down)) return true;
    const inner = scrollerOf(deepest(innerWidth / 2, innerHeight / 2), right, down);
    return Boolean(fillsPage(inner)) && moved(inner, right, down);
  };

  // A document that has just begun to load has nothing to scroll.
  const moved = (element, right, down) => {
    if (!element) return false;
    const [left, top] = [element.scrollLeft, element.scrollTop];
    element.scrollBy({ left: right * element.clientWidth, top: down * element.clientHeight, behavior: 'instant' });
    return element.scrollLeft !== left || element.scrollTop !== top;
  };
})();
