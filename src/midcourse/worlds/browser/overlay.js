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

  const boxFor = ([id, role, x, y, width, height]) => {
    const box = document.createElement('div');
    box.className = READ.has(role) ? 'read' : '';
    box.style = `--colour: ${colourOf(role)}; left: ${x + scrollX}px; top: ${y + scrollY}px; width: ${width}px; height: ${height}px`;
    const tag = document.createElement('span');
    tag.className = box.className;
    tag.textContent = id;
    tag.style = box.className
      ? `--colour: ${colourOf(role)}; left: ${x + width + scrollX}px; top: ${y + scrollY}px; transform: translate(${width < 40 ? '0' : '-100%'}, -50%)`
      : `--colour: ${colourOf(role)}; left: ${x + scrollX}px; top: ${y + scrollY}px; transform: translate(-3px, ${y < 9 ? '0' : '-55%'})`;
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
    host?.remove();
    host = null;
  };
})();
