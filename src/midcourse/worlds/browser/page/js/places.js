// Where elements are drawn, whether they are in view or can be scrolled to, and what covers them.
globalThis.midcourse ??= {};
(() => {
  const PLACES = [[0.5, 0.5], [0.2, 0.2], [0.5, 0.95]]; // points that overlays usually cover
  const DRAWN_BY_LABEL = new Set(['checkbox', 'radio', 'file']);
  const { isShown } = midcourse;

  // The label that is shown for a field which may itself be hidden.
  const labelFor = (element) => (DRAWN_BY_LABEL.has(element.type) && element.labels ? Array.from(element.labels).find(isShown) : undefined);

  // As a plain object: reading the properties of a DOMRect is slow.
  const measure = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  };

  const isDrawn = (element, box) => box.width > 1 && box.height > 1 && isOnPage(element, box);

  // The element itself, or the label that is drawn for it.
  const drawnBy = (element) => (isDrawn(element, measure(element)) ? element : labelFor(element) ?? element);

  const boxOf = (element) => {
    const box = measure(element);
    if (isDrawn(element, box)) return box;
    const label = labelFor(element);
    return label ? measure(label) : box;
  };

  // Where the document of a frame begins in the document around it, and the size of its pixels there.
  const cornerOf = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const scale = box.width / element.offsetWidth || 1;
    return [box.x + scale * (element.clientLeft + parseFloat(style.paddingLeft)), box.y + scale * (element.clientTop + parseFloat(style.paddingTop)), scale];
  };

  let view = { width: 0, height: 0, left: 0, top: 0 };

  // How far it can be scrolled to the left and up. Right-to-left and column-reverse boxes begin at their end.
  const behind = (element) => {
    const { scrollLeft, scrollTop } = element;
    const wider = element.scrollWidth - element.clientWidth;
    const higher = element.scrollHeight - element.clientHeight;
    const style = wider > 0 || higher > 0 ? getComputedStyle(element) : null;
    if (!style || (style.overflowX === 'visible' && element !== document.documentElement)) return [scrollLeft, scrollTop];
    return [scrollLeft + (style.direction === 'rtl' ? wider : 0), scrollTop + (style.flexDirection === 'column-reverse' ? higher : 0)];
  };

  // Whether it can be scrolled to: pages hide elements to the left of the page or above it.
  const isOnPage = (element, { x, y, width, height }) => {
    let right = x + width;
    let bottom = y + height;
    if (right + view.left > 0 && bottom + view.top > 0) return true;
    for (let around = midcourse.above(element); around && (right <= 0 || bottom <= 0); around = midcourse.above(around)) {
      const [left, up] = behind(around);
      right += left;
      bottom += up;
    }
    return right > 0 && bottom > 0;
  };

  // Whether only screen readers are given what is inside: pages cut it to a point, also where a wrapper has the box and its button another.
  const isCutOff = ({ position, overflowX, overflowY, width, height }) =>
    (position === 'absolute' || position === 'fixed') && overflowX !== 'visible' && overflowY !== 'visible' && (parseFloat(width) <= 1 || parseFloat(height) <= 1);

  const isInView = (x, y, width, height) => y + height > 0 && x + width > 0 && y < view.height && x < view.width;

  // The kind of overlay at this point: 'fixed', 'absolute' (it scrolls with the page) or ''.
  const layerAt = ([right, down]) => {
    for (let one = document.elementFromPoint(view.width * right, view.height * down); one && one !== document.body; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (style.position === 'fixed' || (style.position === 'absolute' && Number(style.zIndex) > 0)) return style.position;
    }
    return '';
  };

  const isOverlaid = (element, left, top, width, height) => {
    const x = left + width / 2;
    const y = top + height / 2;
    if (x < 0 || y < 0 || x >= view.width || y >= view.height) return false;
    const hit = midcourse.deepest(x, y);
    return hit !== null && !midcourse.isTouchedBy(hit, element) && !hit.contains(element);
  };

  const scrollers = new Map(); // element -> what scrolls it, for one look

  const scrollerOf = (element) => {
    if (!element) return null;
    if (!scrollers.has(element)) scrollers.set(element, midcourse.scrolls(element, true, true) ? element : scrollerOf(midcourse.above(element)));
    return scrollers.get(element);
  };

  // Whether an inner scroller hides the element: then what is at its place does not cover it.
  const isScrolledAway = (element, x, y) => {
    for (let one = scrollerOf(midcourse.above(element)); one; one = scrollerOf(midcourse.above(one))) {
      const box = one.getBoundingClientRect();
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) return true;
    }
    return false;
  };

  // The overlays at each of PLACES; the first is the middle.
  const beginPlaces = () => {
    view = { width: innerWidth, height: innerHeight, left: scrollX, top: scrollY };
    scrollers.clear();
    return PLACES.map(layerAt);
  };

  Object.assign(midcourse, { labelFor, measure, isDrawn, drawnBy, boxOf, cornerOf, isOnPage, isCutOff, isInView, isOverlaid, isScrolledAway, beginPlaces });
})();
