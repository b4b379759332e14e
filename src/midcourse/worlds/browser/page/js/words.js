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

  Object.assign(midcourse, { UNSEEN, INLINE, FIELDS, tidy, shadowOf, isPlain, eachChild, isShown, textOf, hasOwnText, ownText, referencedText, nameOf });
})();
