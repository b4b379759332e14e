// The zones drawn over the page, for people: solid for what can be acted on, dotted for what can be read.
globalThis.midcourse ??= {};
(() => {
  const READ = new Set(['heading', 'text', 'alert', 'status', 'cell', 'img', 'dialog']);
  const STYLE = `
    :host { all: initial; position: absolute; inset: 0 auto auto 0; width: 0; height: 0; margin: 0; padding: 0; border: 0;
      overflow: visible; background: none; pointer-events: none; z-index: 2147483647 }
    div { position: absolute; box-sizing: border-box; border: 2px solid var(--colour); border-radius: 3px }
    div.read { border: 1px dotted var(--colour) }
    span { position: absolute; font: bold 11px/13px monospace; padding: 0 3px; border-radius: 3px; white-space: nowrap;
      color: white; background: var(--colour) }
    span.read { font-weight: normal; font-size: 10px; line-height: 11px; padding: 0 2px }`;
  let host = null;

  const colourOf = (role) => (READ.has(role) ? '#64748b' : role === 'clickable' ? '#c2410c' : role === 'link' ? '#1d4ed8' : '#be123c');

  const placed = [];
  const isFree = (one) => !placed.some((other) => one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height && other.y < one.y + one.height);

  // Above its box if there is room, else below or beside it: a tag that another one lies over tells nothing.
  const placeFor = (id, isRead, [x, y, width, height]) => {
    const size = { width: 7 * id.length + 6, height: 13 };
    const left = isRead && width > size.width ? x + width - size.width : x - 3;
    const places = [[left, y - 10], [left, y + height - 6], [x + width, y], [x - size.width, y], [left, y - 20], [left, y + height + 7]];
    const [first] = places;
    const [tagX, tagY] = places.find(([tagX, tagY]) => tagX >= 0 && tagY >= 0 && isFree({ x: tagX, y: tagY, ...size })) ?? first;
    const place = { x: Math.max(0, tagX), y: Math.max(0, tagY), ...size };
    placed.push(place);
    return place;
  };

  const boxFor = ([id, role, ...sides]) => {
    const [x, y, width, height] = sides;
    const box = document.createElement('div');
    const tag = document.createElement('span');
    box.className = tag.className = READ.has(role) ? 'read' : '';
    box.style = `--colour: ${colourOf(role)}; left: ${x + scrollX}px; top: ${y + scrollY}px; width: ${width}px; height: ${height}px`;
    const place = placeFor(id, READ.has(role), sides);
    tag.style = `--colour: ${colourOf(role)}; left: ${place.x + scrollX}px; top: ${place.y + scrollY}px`;
    tag.textContent = id;
    return [box, tag];
  };

  midcourse.draw = (zones) => {
    midcourse.wipe();
    host = document.createElement('midcourse-overlay');
    const root = host.attachShadow({ mode: 'closed' });
    const style = document.createElement('style');
    style.textContent = STYLE;
    root.append(style, ...zones.map(boxFor).flat());
    document.documentElement.append(host);
    host.popover = 'manual'; // above the page's own dialogs
    host.showPopover();
  };

  midcourse.wipe = () => {
    placed.length = 0;
    host?.remove();
    host = null;
  };
})();
