// The role of an element, by attribute or tag, and whether it is clickable only by a script.
globalThis.midcourse ??= {};
(() => {
  const ACTED_ON = new Set(['button', 'link', 'textbox', 'searchbox', 'checkbox', 'radio', 'combobox', 'listbox', 'option', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'switch', 'slider', 'spinbutton', 'treeitem', 'file', 'clickable']);
  const READ = new Set(['heading', 'alert', 'status', 'cell', 'img']);
  const ALIASES = { alertdialog: 'dialog', gridcell: 'cell', columnheader: 'cell', rowheader: 'cell', image: 'img', log: 'status' };
  const INPUTS = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', hidden: '' };
  const CONTROLS = 'a[href],button,input,select,textarea,summary,[onclick],[role=button],[role=link],[role=option],[role=tab],[role=menuitem]';
  const NO_CELL = `${CONTROLS},p,div,ul,ol,dl,table,form,fieldset,h1,h2,h3,h4,h5,h6,article,section`; // a page laid out as a table
  const HANDLES = '[draggable=true],.ui-draggable-handle,.ui-resizable-handle,.ui-sortable-handle'; // jQuery UI listens on what is around them
  const listening = new WeakSet();

  // Asks listeners.js, which runs in the page's own world.
  const findListeners = () => {
    const learn = (event) => listening.add(event.composedPath()[0]);
    window.addEventListener('midcourse:listens', learn, true);
    document.dispatchEvent(new CustomEvent('midcourse:who-listens'));
    window.removeEventListener('midcourse:listens', learn, true);
  };

  const byTag = (element, it) => {
    switch (it.tag) {
      case 'A': case 'AREA': case 'a': return it.has.includes('href') || it.has.includes('xlink:href') ? 'link' : '';
      case 'BUTTON': case 'SUMMARY': return 'button';
      case 'INPUT': return (it.has.includes('type') ? INPUTS[element.type] : undefined) ?? 'textbox';
      case 'TEXTAREA': return 'textbox';
      case 'SELECT': return it.has.includes('multiple') || (it.has.includes('size') && element.size > 1) ? 'listbox' : 'combobox';
      case 'H1': case 'H2': case 'H3': case 'H4': case 'H5': case 'H6': return 'heading';
      case 'TD': case 'TH': return element.querySelector(NO_CELL) ? '' : 'cell';
      case 'IMG': return it.has.includes('alt') && element.alt ? 'img' : '';
      case 'OUTPUT': return 'status';
      case 'DIALOG': return 'dialog';
      default: return it.has.includes('contenteditable') && element.isContentEditable ? 'textbox' : '';
    }
  };

  // `it` is capture.js's record of the element: tag, has (the names of its attributes), aria.
  const roleOf = (element, it) => {
    if (!it.aria) return byTag(element, it);
    const said = element.getAttribute('role')?.trim().split(/\s+/)[0].toLowerCase();
    const role = said && (ALIASES[said] ?? said);
    return role && (ACTED_ON.has(role) || READ.has(role) || role === 'dialog') ? role : byTag(element, it);
  };

  // An element that listens on behalf of the controls inside it is not a target itself.
  const delegates = (element) => element === document.body || element === document.documentElement || element.querySelector(CONTROLS) !== null;

  const isClickable = (element, it, pointed) => {
    if (it.has.includes('onclick') || (it.has.length && element.matches(HANDLES))) return true;
    const maybe = pointed || listening.has(element) || (it.has.includes('tabindex') && element.tabIndex >= 0);
    return maybe && !delegates(element);
  };

  Object.assign(midcourse, { ACTED_ON, READ, CONTROLS, findListeners, roleOf, isClickable });
})();
