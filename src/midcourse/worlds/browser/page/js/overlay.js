// Draws zones over the page for a person: solid for controls, dotted for text.
globalThis.midcourse ??= {};
(() => {
  const READ = new Set(['heading', 'text', 'alert', 'status', 'cell', 'img', 'dialog']);
  const STYLE = `
    :host { all: initial; position: absolute; inset: 0 auto auto 0; width: 0; height: 0; margin: 0; padding: 0; border: 0;
      overflow: visible; background: none; pointer-events: none; z-index: 2147483647 }
    div { position: absolute; outline: 2px solid var(--colour); border-radius: 3px }
    div.read { outline: 1px dotted var(--colour); outline-offset: -1px }
    span { position: absolute; font: bold 11px/13px monospace; padding: 0 3px; border-radius: 3px; white-space: nowrap;
      color: white; background: var(--colour) }
    span.read { font-weight: normal; font-size: 10px; line-height: 11px; padding: 0 2px }`;
  let host = null;

  const colourOf = (role) => (READ.has(role) ? '#64748b' : role === 'clickable' ? '#c2410c' : role === 'link' ? '#1d4ed8' : '#be123c');

  // --- the visible part of a zone: a scroller may hide the rest

  const elementOf = (id) => {
    const [, frame, number] = /^(f\d+)?e(\d+)$/.exec(id) ?? [];
    return frame ? midcourse.frame(frame) : midcourse.element(Number(number));
  };

  const within = (box, { x, y, right, bottom }) => {
    const left = Math.max(box.x, x), top = Math.max(box.y, y);
    return { x: left, y: top, width: Math.min(box.x + box.width, right) - left, height: Math.min(box.y + box.height, bottom) - top };
  };

  const visiblePart = (id, box) => {
    const element = elementOf(id);
    if (element?.tagName === 'IFRAME') box = within(box, element.getBoundingClientRect());
    for (let around = element?.parentElement; around && around !== document.body; around = around.parentElement) {
      if (getComputedStyle(around).overflow !== 'visible') box = within(box, around.getBoundingClientRect());
    }
    return box;
  };

  // --- the position of its tag: above its box if there is room, else below or beside it. It must cover neither another
  // tag nor another zone.

  const cross = (one, other) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height;
  const contains = (one, other) => one.x <= other.x && one.y <= other.y && one.x + one.width >= other.x + other.width && one.y + one.height >= other.y + other.height;

  const placeFor = ({ id, role, box }, tags, zones) => {
    const { x, y, width, height } = box;
    const size = { width: 7 * id.length + 6, height: 13 };
    const left = READ.has(role) && width > size.width ? x + width - size.width : x - 3;
    const corners = [[left, y - 13], [left, y + height], [x + width, y], [x - size.width, y], [left, y - 24], [left, y + height + 12]];
    const places = corners.map(([x, y]) => ({ x, y, ...size }));
    const free = places.filter((place) => place.x >= 0 && place.y >= 0 && !tags.some((tag) => cross(place, tag)));
    const clear = free.find((place) => !zones.some((zone) => cross(place, zone.box) && !contains(zone.box, box)));
    return clear ?? free[0] ?? { x: Math.max(0, left), y: Math.max(0, y - 13), ...size };
  };

  const drawn = (tag, role, { x, y, width, height }, text = '') => {
    const element = document.createElement(tag);
    element.className = READ.has(role) ? 'read' : '';
    element.style = `--colour: ${colourOf(role)}; left: ${x + scrollX}px; top: ${y + scrollY}px` + (text ? '' : `; width: ${width}px; height: ${height}px`);
    element.textContent = text;
    return element;
  };

  const boxesFor = (zones) => {
    const tags = [];
    return zones.flatMap((zone) => {
      const place = placeFor(zone, tags, zones);
      tags.push(place);
      return [drawn('div', zone.role, zone.box), drawn('span', zone.role, place, zone.id)];
    });
  };

  midcourse.draw = (zones) => {
    midcourse.wipe();
    const named = zones.map(([id, role, x, y, width, height]) => ({ id, role, box: visiblePart(id, { x, y, width, height }) }));
    host = document.createElement('midcourse-overlay');
    const root = host.attachShadow({ mode: 'closed' });
    const style = document.createElement('style');
    style.textContent = STYLE;
    root.append(style, ...boxesFor(named.filter(({ box }) => box.width > 0 && box.height > 0)));
    document.documentElement.append(host);
    host.popover = 'manual'; // above the page's own dialogs
    host.showPopover();
  };

  midcourse.wipe = () => {
    host?.remove();
    host = null;
  };
})();
