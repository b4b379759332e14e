// Where an element can be touched, and what is in the way; and the few things that are set rather than touched.
globalThis.midcourse ??= {};
(() => {
  const INSETS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.1], [0.9, 0.9]];

  const at = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit?.shadowRoot) {
      const deeper = hit.shadowRoot.elementFromPoint(x, y);
      if (!deeper || deeper === hit) break;
      hit = deeper;
    }
    return hit;
  };

  const above = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

  const isWithin = (node, element) => {
    for (let one = node; one; one = above(one)) if (one === element) return true;
    return false;
  };

  // A label stands for its field.
  const isTouchedBy = (hit, element) => {
    if (isWithin(hit, element)) return true;
    for (let one = hit; one; one = above(one)) if (one.tagName === 'LABEL' && one.control === element) return true;
    return false;
  };

  const inWords = (element) => {
    if (!element) return 'nothing of the page';
    const name = element.getAttribute('aria-label') || midcourse.textOf(element).replace(/\s+/g, ' ').trim().slice(0, 60);
    const called = element.id ? `#${element.id}` : element.classList.length ? `.${element.classList[0]}` : '';
    return `<${element.tagName.toLowerCase()}${called}>${name ? ` '${name}'` : ''}`;
  };

  const fits = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;

  const touchable = (element) => {
    const rects = [...element.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
    const boxes = rects.length ? rects : [midcourse.boxOf(element)];
    let blocker = null;
    for (const box of boxes) {
      for (const [right, down] of INSETS) {
        const x = box.left + box.width * right;
        const y = box.top + box.height * down;
        const hit = at(x, y);
        if (hit && isTouchedBy(hit, element)) return { x, y };
        blocker ??= hit;
      }
    }
    return { blocker };
  };

  const reach = (element) => {
    const place = fits(midcourse.boxOf(element)) ? touchable(element) : {};
    if ('x' in place) return place;
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    return touchable(element);
  };

  const isDisabled = (element) => element.matches(':disabled') || element.closest('[aria-disabled=true],[inert]') !== null;

  // {gone} | {disabled} | {covered: by what} | {x, y}
  midcourse.reach = (number) => {
    const element = midcourse.element(number);
    if (!element?.isConnected) return JSON.stringify({ gone: true });
    if (isDisabled(element)) return JSON.stringify({ disabled: true });
    const place = reach(element);
    return JSON.stringify('x' in place ? place : { covered: inWords(place.blocker) });
  };

  // The same point of a frame's document in the document around it: {gone} | {covered: by what} | {x, y}
  midcourse.throughFrame = (name, x, y) => {
    const element = midcourse.frame(name);
    if (!element?.isConnected) return JSON.stringify({ gone: true });
    const place = () => {
      const [left, top] = midcourse.cornerOf(element);
      return { x: left + x, y: top + y };
    };
    const isIn = ({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    if (!isIn(place())) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const point = place();
    const hit = at(point.x, point.y);
    return JSON.stringify(hit === element ? point : { covered: inWords(hit) });
  };

  // --- fields

  const tell = (element) => {
    for (const type of ['input', 'change']) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  };

  const SET_NOT_TYPED = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];

  const editable = (element) => {
    if (element.matches('input,textarea') || element.isContentEditable) return element;
    return element.querySelector('input:not([type=hidden]),textarea,[contenteditable=""],[contenteditable=true]');
  };

  const content = (element) => (element.isContentEditable ? element.innerText : element.value);

  const select = (element) => {
    if (!element.isContentEditable) return element.select();
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };

  // Ready to be typed into, all of its content selected. {set: true}: it has been set, since nobody types into these.
  midcourse.prepare = (number, text) => {
    const element = editable(midcourse.element(number));
    if (!element) return JSON.stringify({ wrong: true });
    if (element.readOnly) return JSON.stringify({ readonly: true });
    if (SET_NOT_TYPED.includes(element.type)) {
      const before = element.value;
      element.value = text;
      if (element.value !== before) tell(element);
      return JSON.stringify({ set: true, content: element.value });
    }
    element.focus({ preventScroll: true });
    select(element);
    return JSON.stringify({ content: content(element), most: element.maxLength ?? -1 });
  };

  midcourse.content = (number) => {
    const element = editable(midcourse.element(number));
    return JSON.stringify(element ? content(element) : null);
  };

  const same = (option, wanted) => [option.label, option.text, option.value].some((name) => name.replace(/\s+/g, ' ').trim() === wanted);

  // {missing: names} | {wrong: true} | {changed}
  midcourse.choose = (number, wanted) => {
    const element = midcourse.element(number);
    if (element.tagName !== 'SELECT') return JSON.stringify({ wrong: true });
    const options = [...element.options];
    const chosen = wanted.map((name) => options.find((option) => same(option, name) && !option.disabled));
    const missing = wanted.filter((_, index) => !chosen[index]);
    if (missing.length || (chosen.length > 1 && !element.multiple)) return JSON.stringify({ missing });
    const changed = options.some((option) => option.selected !== chosen.includes(option));
    if (changed) {
      element.focus({ preventScroll: true });
      if (element.multiple) for (const option of options) option.selected = chosen.includes(option);
      else element.selectedIndex = chosen[0].index;
      tell(element);
    }
    return JSON.stringify({ changed });
  };

  midcourse.checked = (number) => {
    const element = midcourse.element(number);
    const said = element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed');
    const own = element.tagName === 'INPUT' && ['checkbox', 'radio'].includes(element.type);
    return JSON.stringify(own ? element.checked && !element.indeterminate : said === null ? null : said === 'true');
  };

  midcourse.focus = (number) => {
    const element = midcourse.element(number);
    element.focus({ preventScroll: true });
    return JSON.stringify(true);
  };

  midcourse.scroll = (number, right, down) => {
    let element = number ? midcourse.element(number) : document.scrollingElement;
    const moves = (one) => (down && one.scrollHeight > one.clientHeight + 1) || (right && one.scrollWidth > one.clientWidth + 1);
    while (element && !(moves(element) && getComputedStyle(element).overflowY !== 'visible') && element !== document.scrollingElement) element = above(element);
    element ??= document.scrollingElement;
    const before = [element.scrollLeft, element.scrollTop];
    element.scrollBy({ left: right * element.clientWidth, top: down * element.clientHeight, behavior: 'instant' });
    return JSON.stringify(before[0] !== element.scrollLeft || before[1] !== element.scrollTop);
  };

  midcourse.read = (number) => {
    const element = midcourse.element(number);
    const value = element.matches('input,textarea,select') ? element.value : element.innerText ?? element.textContent;
    return JSON.stringify((value ?? '').trim());
  };
})();
