// What is on the page: `midcourse.look` returns one JSON string, since objects cost ten times as much to hand over.
globalThis.midcourse ??= {};
(() => {
  const LONG = 1000, NAME = 80;
  const ADVERTS = 'ins.adsbygoogle,[data-ad],[data-ad-slot],[id^="google_ads"],[aria-label="advertisement" i],[class~="ad" i],[class~="ads" i],[class*="advert" i],[id*="advert" i],[class*="sponsor" i]';
  const CORNERS = [[0.5, 0.5], [0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8]];
  const ADVERT = 1, RESTLESS = 2;
  const { UNSEEN, INLINE, ACTED_ON, READ, tidy, eachChild, isShown, textOf, hasOwnText, ownText, referred, nameOf, roleOf, isClickable, statesOf } = midcourse;

  // --- ids: of elements for as long as they are there, of frames as they are given

  const numbers = new WeakMap(); // element -> n
  const elements = new Map(); // n -> WeakRef(element)
  const owners = new WeakMap(); // frame element -> the name of its frame
  const framed = new Map(); // the name of a frame -> WeakRef(its element)
  let next = 1;

  const numberOf = (element) => {
    let number = numbers.get(element);
    if (number === undefined) {
      number = next++;
      numbers.set(element, number);
      elements.set(number, new WeakRef(element));
    }
    return number;
  };

  midcourse.element = (number) => elements.get(number)?.deref();
  midcourse.frame = (name) => framed.get(name)?.deref();
  midcourse.owns = (element, name) => {
    owners.set(element, name);
    framed.set(name, new WeakRef(element));
  };

  // --- where things are

  // Of what is drawn by something else, such as a hidden checkbox by its label, that of the other.
  const boxOf = (element) => {
    const box = element.getBoundingClientRect();
    if (box.width > 1 && box.height > 1) return box;
    const label = element.labels?.[0];
    return label && isShown(label) ? label.getBoundingClientRect() : box;
  };

  // Where the document of a frame begins in the one around it.
  const cornerOf = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return [box.x + element.clientLeft + parseFloat(style.paddingLeft), box.y + element.clientTop + parseFloat(style.paddingTop)];
  };
  Object.assign(midcourse, { boxOf, cornerOf });

  let view = { width: 0, height: 0, left: 0, top: 0 };

  // What is left of the page or above it is hidden there, unless some part of the page is scrolled.
  const isOnPage = (element, box) => {
    let [right, bottom] = [box.right + view.left, box.bottom + view.top];
    for (let around = element.parentElement; around && (right <= 0 || bottom <= 0); around = around.parentElement) {
      right += around.scrollLeft;
      bottom += around.scrollTop;
    }
    return right > 0 && bottom > 0;
  };
  const isInView = (box) => box.bottom > 0 && box.right > 0 && box.top < view.height && box.left < view.width;

  // Whether something lies over the page: then it is worth asking of everything in view what is in front of it.
  const isOverlaid = () =>
    CORNERS.some(([right, down]) => {
      for (let one = document.elementFromPoint(view.width * right, view.height * down); one && one !== document.body; one = one.parentElement) {
        const style = getComputedStyle(one);
        if (style.position === 'fixed' || (style.position === 'absolute' && Number(style.zIndex) > 0)) return true;
      }
      return false;
    });

  const isCovered = (element, box) => {
    const x = box.x + box.width / 2;
    const y = box.y + box.height / 2;
    if (x < 0 || y < 0 || x >= view.width || y >= view.height) return false;
    const hit = midcourse.deepest(x, y);
    return hit !== null && !midcourse.isTouchedBy(hit, element) && !hit.contains(element);
  };

  // --- names of what things belong to

  // What its first cell with words of its own says. A row of headings is about no thing in particular.
  const rowName = (row) => {
    const cells = Array.from(row.children);
    if (row.querySelector('table') || cells.every((cell) => cell.tagName === 'TH' || cell.getAttribute('role') === 'columnheader')) return '';
    const words = cells.filter((cell) => !cell.querySelector('input,select,textarea,button')).map((cell) => tidy(textOf(cell, NAME), NAME));
    return words.find(Boolean) ?? '';
  };

  const groupName = (element) => {
    if (element.tagName === 'TR') return rowName(element);
    if (element.tagName === 'FIELDSET') return tidy(element.querySelector(':scope > legend')?.textContent ?? '', NAME);
    switch (element.getAttribute('role')) {
      case 'row': return rowName(element);
      case 'group': case 'radiogroup': return tidy(referred(element, 'aria-labelledby') || element.getAttribute('aria-label') || '', NAME);
      default: return '';
    }
  };

  const dialogName = (element) => tidy(referred(element, 'aria-labelledby') || element.getAttribute('aria-label') || element.querySelector('h1,h2,h3,h4,h5,h6,legend')?.textContent || '');

  // --- the walk. `around` is what is true of everything inside an element:
  // within: the group it belongs to; told: its text has been told; inline: its text is part of a block that has;
  // named: it is part of a control; pointed: the mouse shows a hand there already; advert, inert.

  const AROUND = { within: '', told: false, inline: false, named: false, pointed: false, advert: false, inert: false };
  let zones = [];
  let adverts = new Set();
  let modal = null;
  let overlaid = false;
  let focused = null;

  const emit = (element, role, label, around, state) => {
    const box = boxOf(element);
    if ((box.width === 0 && box.height === 0) || !isOnPage(element, box)) return;
    if (overlaid && isCovered(element, box)) state.covered = true;
    if (around.within && around.within !== label) state.within = around.within;
    if (!isInView(box)) state.seen = false;
    const noise = around.advert ? ADVERT : midcourse.isRestless(element) ? RESTLESS : 0;
    zones.push([numberOf(element), role, label, Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height), state, noise]);
  };

  const isVisible = (element) => getComputedStyle(element).visibility === 'visible';

  const visitChildren = (element, around) => {
    if (element.shadowRoot) midcourse.watch(element.shadowRoot);
    eachChild(element, (node) => {
      if (node.nodeType === Node.ELEMENT_NODE) visit(node, around);
      return false;
    });
  };

  const visitFrame = (element, around) => {
    const [x, y] = cornerOf(element);
    const box = element.getBoundingClientRect();
    const state = overlaid && isCovered(element, box) ? { covered: true } : isInView(box) ? {} : { seen: false };
    zones.push([owners.get(element) ?? '', Math.round(x), Math.round(y), state, around.advert ? ADVERT : 0]);
  };

  const visitDialog = (element, around) => {
    const name = dialogName(element);
    emit(element, 'dialog', name, around, {});
    visitChildren(element, { ...around, within: name || 'dialog' });
  };

  const visitActedOn = (element, role, around) => {
    if (isVisible(element)) emit(element, role, nameOf(element, role), around, statesOf(element, role, around.inert, focused));
    if (element.firstElementChild || element.shadowRoot) visitChildren(element, { ...around, told: true, named: around.named || role !== 'clickable' });
  };

  const visitFolded = (element, around) => {
    const summary = element.querySelector(':scope > summary');
    if (summary) visit(summary, around);
  };

  const visitRead = (element, role, around) => {
    const label = tidy(role === 'img' ? element.alt ?? element.getAttribute('aria-label') ?? '' : textOf(element, LONG), LONG);
    if (label && isVisible(element)) emit(element, role, label, around, {});
    visitChildren(element, { ...around, told: true });
  };

  const visitText = (element, around) => {
    const isPart = around.inline && INLINE.has(element.tagName);
    const label = isPart ? '' : ownText(element, LONG);
    if (label && isVisible(element)) emit(element, 'text', label, around, {});
    visitChildren(element, { ...around, inline: true });
  };

  const isDrawnByLabel = (element) => element.tagName === 'INPUT' && (element.type === 'checkbox' || element.type === 'radio') && element.labels?.[0]?.checkVisibility();

  const changed = (element, around) => {
    const now = { ...around };
    if (!INLINE.has(element.tagName)) now.inline = false;
    if (adverts.has(element)) now.advert = true;
    if (element.inert) now.inert = true;
    if (element === modal) now.inert = false;
    now.within = groupName(element) || around.within;
    return now;
  };

  const visit = (element, outside) => {
    const tag = element.tagName;
    if (UNSEEN.has(tag)) return;
    if (!element.checkVisibility() && !isDrawnByLabel(element)) {
      if (getComputedStyle(element).display === 'contents') visitChildren(element, outside);
      return;
    }
    const role = roleOf(element);
    const around = changed(element, outside);
    if (tag === 'IFRAME' || tag === 'FRAME') visitFrame(element, around);
    else if (role === 'dialog') visitDialog(element, around);
    else if (ACTED_ON.has(role)) visitActedOn(element, role, around);
    else visitOther(element, role, around);
  };

  // What may still be clicked, read, or only holds other things.
  const visitOther = (element, role, around) => {
    const tag = element.tagName;
    if (!around.named && tag !== 'LABEL') {
      const pointed = !around.pointed && getComputedStyle(element).cursor === 'pointer';
      around.pointed ||= pointed;
      if (isClickable(element, pointed)) return visitActedOn(element, 'clickable', around);
    }
    if (tag === 'DETAILS' && !element.open) visitFolded(element, around);
    else if (!around.told && READ.has(role)) visitRead(element, role, around);
    else if (!around.told && !(tag === 'LABEL' && element.control) && hasOwnText(element)) visitText(element, around);
    else visitChildren(element, around);
  };

  const focusedNow = () => {
    if (!document.hasFocus()) return null;
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    return one === document.body ? null : one;
  };

  midcourse.title = () => JSON.stringify(document.title);

  // `first` is the smallest number that an element not seen before may get.
  midcourse.look = (first) => {
    next = Math.max(next, first);
    midcourse.learnWhoListens();
    zones = [];
    view = { width: innerWidth, height: innerHeight, left: scrollX, top: scrollY };
    adverts = new Set(document.querySelectorAll(ADVERTS));
    modal = Array.from(document.querySelectorAll('dialog:modal')).at(-1) ?? null;
    overlaid = isOverlaid();
    focused = focusedNow();
    if (document.body) visit(document.body, { ...AROUND, inert: modal !== null });
    return JSON.stringify({ title: document.title, next, zones });
  };
})();
