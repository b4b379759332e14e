// Where an element can be touched, what is in the way, and whether it was really the one that was hit.
globalThis.midcourse ??= {};
(() => {
  const INSETS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.1], [0.9, 0.9]];
  const WATCHED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  const ARMED_FOR = 3000;
  const UNLABELLED = 'a[href],button,input,select,textarea'; // what is clicked in a label without the label noticing
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

  // A label stands for its field, but not where there is a control of its own in it, such as a link.
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

  const inWords = (element) => {
    if (!element) return 'nothing of the page';
    const name = element.getAttribute('aria-label') || midcourse.tidy(midcourse.textOf(element), 60);
    const called = element.id ? `#${element.id}` : element.classList.length ? `.${element.classList[0]}` : '';
    return `<${element.tagName.toLowerCase()}${called}>${name ? ` '${name}'` : ''}`;
  };

  const fits = (box) => box.y >= 0 && box.x >= 0 && box.y + box.height <= innerHeight && box.x + box.width <= innerWidth;

  const toMiddle = (element) => element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });

  // A frame may be larger than the view, so it is not enough that its middle is in the middle.
  const bringToMiddle = (scroller, { x, y }) => scroller.scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });

  // The line that its own words begin with.
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

  // {x, y, own: whether it is the element itself that is there} | {blocker}
  const touchable = (element) => {
    const boxes = boxesOf(element);
    let blocker = null;
    let other = null;
    const tried = (box) => {
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
      const found = tried(box);
      if (found) return found;
    }
    const line = other && firstLine(element);
    return (line && tried(line)) ?? other ?? { blocker };
  };

  const place = (element) => {
    const now = fits(midcourse.boxOf(element)) ? touchable(element) : {};
    if ('x' in now) return now;
    toMiddle(midcourse.drawnBy(element));
    const there = touchable(element);
    if (there.own !== false) return there;
    element.scrollIntoView({ block: 'start', behavior: 'instant' }); // what is its own may be far from its middle
    return touchable(element);
  };

  const isDisabled = (element) => element.matches(':disabled') || element.closest('[aria-disabled=true],[inert]') !== null;

  const isBehindModal = (element) => {
    const modal = midcourse.topModal();
    let one = modal && element;
    while (one && one !== modal) one = above(one);
    return modal !== null && one === null;
  };

  const trouble = (element) => (!element?.isConnected ? { gone: true } : isDisabled(element) ? { disabled: true } : null);

  // {gone} | {disabled} | {}: it can be used without being touched
  midcourse.use = (number) => {
    const element = midcourse.element(number);
    return JSON.stringify(trouble(element) ?? (isBehindModal(element) ? { disabled: true } : {}));
  };

  // {gone} | {disabled} | {covered: by what} | {x, y}
  midcourse.reach = (number) => {
    const element = midcourse.element(number);
    const why = trouble(element);
    if (why) return JSON.stringify(why);
    const found = place(element);
    if (!('x' in found)) return JSON.stringify({ covered: inWords(found.blocker) });
    arm(element, true);
    return JSON.stringify(found);
  };

  // The same point of a frame's document in the document around it: {gone} | {covered: by what} | {x, y}
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
    if (hitHere() !== element) toMiddle(element);
    for (let around = above(element); around && hitHere() !== element; around = above(around)) bringToMiddle(around, here());
    const point = here();
    if (hitHere() !== element) return JSON.stringify({ covered: inWords(hitHere()) });
    arm(element);
    return JSON.stringify(point);
  };

  // --- the guard: between the look and the hit something may have come in the way

  let guarded = null; // {element: none if nothing here may be hit, isTarget, until, hit, blocker}

  const arm = (element, isTarget = false) => {
    listen();
    guarded = { element, isTarget, until: performance.now() + ARMED_FOR, hit: false, blocker: null };
  };

  // What is to be hit is in another document: a frame may come in the way, too, and what happens in it nobody else is told.
  midcourse.bar = () => arm(null);

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

  // Before the page does, and again each time: one that is written anew has lost all who listened.
  const listen = () => {
    for (const type of WATCHED) window.addEventListener(type, guard, { capture: true, passive: false });
  };
  listen();

  // Whether it was hit, and what was hit instead here, and did not notice.
  midcourse.release = () => {
    const { isTarget, hit, blocker } = guarded ?? {};
    guarded = null;
    return JSON.stringify({ hit: Boolean(isTarget && hit), blocker: blocker ? inWords(blocker) : '' });
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

  // By so many screens of whatever scrolls around the element; without one, the page, or what fills it in its place.
  // Whether anything moved.
  midcourse.scroll = (number, right, down) => {
    if (number) return moved(scrollerOf(midcourse.element(number), right, down), right, down);
    if (moved(page(), right, down)) return true;
    const inner = scrollerOf(deepest(innerWidth / 2, innerHeight / 2), right, down);
    return Boolean(fillsPage(inner)) && moved(inner, right, down);
  };

  // A document that is only just coming has nothing to scroll yet.
  const moved = (element, right, down) => {
    if (!element) return false;
    const [left, top] = [element.scrollLeft, element.scrollTop];
    element.scrollBy({ left: right * element.clientWidth, top: down * element.clientHeight, behavior: 'instant' });
    return element.scrollLeft !== left || element.scrollTop !== top;
  };
})();
