// The visible text and the accessible name of an element.
globalThis.midcourse ??= {};
(() => {
  const SHORT = 200;
  const RAW = 4; // characters gathered per character wanted, because of white space
  const UNSEEN = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE', 'OPTION', 'OPTGROUP', 'DATALIST', 'PARAM', 'SOURCE', 'TRACK', 'defs', 'script', 'style', 'symbol', 'title']);
  const INLINE = new Set(['A', 'ABBR', 'B', 'BDI', 'BDO', 'CITE', 'CODE', 'DEL', 'DFN', 'EM', 'FONT', 'I', 'INS', 'KBD', 'LABEL', 'MARK', 'Q', 'S', 'SAMP', 'SMALL', 'SPAN', 'STRONG', 'SUB', 'SUP', 'TIME', 'TT', 'U', 'VAR', 'WBR']);
  const FIELDS = new Set(['textbox', 'searchbox', 'combobox', 'listbox', 'slider', 'spinbutton', 'file']);
  const LABELLED = new Set(['INPUT', 'SELECT', 'TEXTAREA', 'OUTPUT', 'METER', 'PROGRESS']);
  const HOSTS = new Set(['ARTICLE', 'ASIDE', 'BLOCKQUOTE', 'BODY', 'DIV', 'FOOTER', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HEADER', 'MAIN', 'NAV', 'P', 'SECTION', 'SPAN']); // and custom elements
  const UNTIDY = /\s\s|[^\S ]/;
  const { TEXT_NODE, ELEMENT_NODE } = Node;

  const tidy = (text, most = SHORT) => {
    const plain = (UNTIDY.test(text) ? text.replace(/\s+/g, ' ') : text).trim();
    return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
  };

  // `tag` is passed along, because reading a property of an element is the slowest operation here.
  const shadowOf = (element, tag) => (HOSTS.has(tag) || tag.includes('-') ? element.shadowRoot : null);

  // Calls `see` for the rendered children (of the shadow root, or assigned to the slot), until it returns true.
  const eachChild = (element, see, tag = element.tagName) => {
    const assigned = tag === 'SLOT' ? element.assignedNodes({ flatten: true }) : [];
    if (assigned.length) assigned.some(see);
    else for (let node = (shadowOf(element, tag) ?? element).firstChild; node; node = node.nextSibling) if (see(node)) return;
  };

  const isPlain = (element, tag) => tag !== 'SLOT' && !element.firstElementChild && !shadowOf(element, tag);

  const isShown = (element) => element.checkVisibility() || getComputedStyle(element).display === 'contents';

  // Adds text to `said`, up to about `most` characters.
  const gather = (element, said, most) => {
    eachChild(element, (node) => {
      if (said.text.length > most) return true;
      if (node.nodeType === TEXT_NODE) said.text += node.data;
      else if (node.nodeType === ELEMENT_NODE && !UNSEEN.has(node.tagName) && isShown(node)) {
        const name = node.getAttribute('aria-label') || node.getAttribute('alt');
        const space = INLINE.has(node.tagName) ? '' : ' ';
        said.text += space;
        if (name) said.text += ` ${name} `;
        else gather(node, said, most);
        said.text += space;
      }
      return false;
    });
  };

  const textOf = (element, most = SHORT, plain = isPlain(element, element.tagName)) => {
    if (plain) return element.textContent;
    const said = { text: '' };
    gather(element, said, RAW * most);
    return said.text;
  };

  const hasOwnText = (element, tag) => {
    if (tag === 'SLOT') return false;
    for (let node = (shadowOf(element, tag) ?? element).firstChild; node; node = node.nextSibling) if (node.nodeType === TEXT_NODE && node.data.trim()) return true;
    return false;
  };

  // The element's own text with its inline parts, without the blocks inside it.
  const ownText = (element, most) => {
    const said = { text: '' };
    eachChild(element, (node) => {
      if (node.nodeType === TEXT_NODE) said.text += node.data;
      else if (INLINE.has(node.tagName) && isShown(node)) said.text += textOf(node, most);
      else said.text += ' ';
      return said.text.length > RAW * most;
    });
    return tidy(said.text, most);
  };

  const referencedText = (element, attribute) => {
    const ids = element.getAttribute(attribute);
    if (!ids) return '';
    const root = element.getRootNode();
    return ids.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean).map((one) => (isShown(one) ? textOf(one) : one.textContent)).join(' ');
  };

  // The text of its labels, without the field's own text.
  const labelText = (element, tag) => {
    if (!LABELLED.has(tag)) return '';
    const labels = element.labels;
    let said = '';
    for (let i = 0; labels && i < labels.length; i += 1) {
      eachChild(labels[i], (node) => {
        if (node.nodeType === TEXT_NODE) said += node.data;
        else if (node !== element && node.nodeType === ELEMENT_NODE && !node.contains(element) && !node.matches('select,textarea')) said += ` ${textOf(node)}`;
        return false;
      });
      said += ' ';
    }
    return said;
  };

  // The name of a button that is only an image.
  const imageName = (element) => {
    const picture = element.querySelector('img[alt],svg title,[title]');
    return picture ? picture.getAttribute('alt') || picture.getAttribute('title') || picture.textContent : '';
  };

  const drawnTitle = (element) => (element instanceof SVGElement ? element.querySelector(':scope > title')?.textContent : '');

  // By getAttribute, since the fields of a form shadow its properties.
  const described = (element) => element.getAttribute('title') || element.getAttribute('placeholder') || element.getAttribute('aria-placeholder');

  // `it` is capture.js's record of the element: tag, aria, plain.
  const nameOf = (element, role, it) => {
    const said = (it.aria && (referencedText(element, 'aria-labelledby') || element.getAttribute('aria-label'))) || labelText(element, it.tag);
    if (said.trim()) return tidy(said);
    if (it.tag === 'INPUT' && role === 'button') return tidy(element.value || element.alt || element.title || (element.type === 'reset' ? 'Reset' : 'Submit'));
    const own = FIELDS.has(role) ? '' : textOf(element, SHORT, it.plain) || element.getAttribute('alt') || drawnTitle(element) || '';
    if (own.trim()) return tidy(own);
    return tidy(described(element) || imageName(element) || element.getAttribute('name') || '');
  };

  // --- what a control without a name may be, by what a person sees of it or its author calls it. It is a hint, never a name: a page may
  // write anything there, and approvals and evidence are about names.

  const HINT = 40;
  const TOOLTIPS = ['data-tooltip', 'data-original-title', 'data-bs-original-title', 'data-tippy-content', 'aria-description'];
  const ICON_DATA = ['data-icon', 'data-testid', 'data-lucide', 'data-feather'];
  const ICON_CLASS = /(?:^|\s)(?:fa|bi|mdi|ti|ri|pi|la|icon|icons|glyphicon|octicon|codicon|lucide|tabler-icon|feather|i)-([a-z][a-z0-9-]*)/gi;
  const NO_ICON = /^(?:fw|lg|sm|xs|xl|2x|3x|\d+px|spin|solid|regular|light|brands|icon|btn|button|size.*|rotate.*|flip.*)$/i;
  const TELLING_ID = /^[a-z][a-z_-]{2,30}\d?$/i; // not one that a program counted up
  const ICONS = 'svg,i,span,img,use,[data-icon]';

  const iconIn = (element) => {
    for (const name of ICON_DATA) if (element.hasAttribute(name)) return element.getAttribute(name);
    const used = element.tagName.toLowerCase() === 'use' ? element.getAttribute('href') ?? element.getAttribute('xlink:href') ?? '' : '';
    if (used.includes('#')) return used.split('#')[1].replace(/^icons?-/i, '');
    if (element.tagName === 'IMG') return (element.getAttribute('src') ?? '').startsWith('data:') ? '' : lastPart(element.getAttribute('src') ?? '').replace(/\.\w+$/, '');
    const names = Array.from((element.getAttribute('class') ?? '').matchAll(ICON_CLASS), (found) => found[1]);
    return names.find((name) => !NO_ICON.test(name)) ?? '';
  };

  const lastPart = (address) => address.split(/[?#]/)[0].split('/').filter(Boolean).at(-1) ?? '';

  // The text before a field in its row or wrapper, if the field has no label.
  const textBefore = (element) => {
    for (let one = element, n = 0; one && n < 3; one = one.parentElement, n += 1) {
      const before = one.previousElementSibling;
      if (before && !before.querySelector('input,select,textarea,button,a') && !before.matches('input,select,textarea,button,a')) {
        const said = textOf(before, HINT).trim();
        if (said) return said;
      }
    }
    return '';
  };

  const RANDOM = /^(?=[\w-]{16,}$)(?=.*[a-z])(?=.*([A-Z]{2}|[a-z]\d+[A-Za-z]))/; // an id that was drawn, which says nothing

  const hintOf = (element, role, it) => {
    const hint = guess(element, role, it);
    return RANDOM.test(hint) ? '' : hint;
  };

  const guess = (element, role, it) => {
    for (const name of TOOLTIPS) if (element.getAttribute(name)?.trim()) return tidy(element.getAttribute(name), HINT);
    const described = it.aria ? referencedText(element, 'aria-describedby') : '';
    if (described.trim()) return tidy(described, HINT);
    if (FIELDS.has(role) || role === 'checkbox' || role === 'radio' || role === 'switch') {
      const before = textBefore(element);
      if (before) return tidy(before, HINT);
    } else {
      let icon = iconIn(element);
      for (const one of icon || it.plain ? [] : Array.from(element.querySelectorAll(ICONS)).slice(0, 8)) if ((icon ||= iconIn(one))) break;
      if (icon) return tidy(icon.replace(/Icon$/, ''), HINT);
      if (it.tag === 'CANVAS') return 'canvas';
    }
    const id = role === 'link' ? '' : element.getAttribute('id') ?? '';
    return TELLING_ID.test(id) ? id : '';
  };

  Object.assign(midcourse, { hintOf, UNSEEN, INLINE, FIELDS, tidy, shadowOf, isPlain, eachChild, isShown, textOf, hasOwnText, ownText, referencedText, nameOf });
})();
