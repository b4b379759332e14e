// Covers secrets while a screenshot is taken. Uses no style sheet, since a page may forbid one.
globalThis.midcourse ??= {};
(() => {
  const GREY = '#d4d4d8', MARGIN = 1;
  let host = null;

  const setStyle = (element, style) => {
    for (const name in style) element.style.setProperty(name, style[name], 'important');
    return element;
  };

  const coverFor = ([left, top, width, height]) =>
    setStyle(document.createElement('div'), {
      position: 'absolute',
      left: `${left - MARGIN}px`,
      top: `${top - MARGIN}px`,
      width: `${width + 2 * MARGIN}px`,
      height: `${height + 2 * MARGIN}px`,
      background: GREY,
    });

  midcourse.cover = (boxes) => {
    midcourse.uncover();
    host = setStyle(document.createElement('midcourse-cover'), {
      all: 'initial', position: 'absolute', inset: '0 auto auto 0', width: '0', height: '0', overflow: 'visible', 'pointer-events': 'none', 'z-index': '2147483647',
    });
    host.attachShadow({ mode: 'closed' }).append(...boxes.map(coverFor));
    document.documentElement.append(host);
    host.popover = 'manual'; // above the page's own dialogs
    host.showPopover();
  };

  midcourse.isCovered = () => host?.isConnected === true && host.matches(':popover-open');

  midcourse.uncover = () => {
    host?.remove();
    host = null;
  };
})();
