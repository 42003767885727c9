// Elements are made here and nowhere else, and text only ever becomes text.

const svg_names = new Set(['svg', 'g', 'rect', 'path', 'line', 'text', 'title', 'defs', 'marker']);

function element(name, attributes = {}, ...children) {
  const made = svg_names.has(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) :
                                     document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on'))
      made.addEventListener(key.slice(2), value);
    else
      made.setAttribute(key, value === true ? '' : value);
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child);
  }
}

// What a pointer, Enter or Space does to something that is no button.
function activated(action) {
  return {
    tabindex: 0,
    onclick: action,
    onkeydown: (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      action(event);
    },
  };
}

// The arrow keys move between what can be focused inside an element.
function arrows(parent, selector) {
  parent.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...parent.querySelectorAll(selector)];
    const at = all.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    all[Math.min(all.length - 1, Math.max(0, at + step))].focus();
  });
  return parent;
}

function section(id, title, note, ...children) {
  return element(
      'section', {id, 'aria-labelledby': id + '-title'},
      element(
          'div', {class: 'heading'}, element('h2', {id: id + '-title'}, title),
          note && element('p', {class: 'note'}, note)),
      children);
}

function scaled(value, units, base) {
  let unit = 0;
  while (Math.abs(value) >= base && unit + 1 < units.length) {
    value /= base;
    ++unit;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits) + ' ' + units[unit];
}

const bytes = (value) => scaled(value, ['B', 'kB', 'MB', 'GB', 'TB'], 1000);
const count = (value) => scaled(value, ['', 'k', 'M', 'G', 'T'], 1000).trim();

// A number with its unit where it is known, else the expression; exact in its tooltip.
function quantity(of, shown) {
  const known = of.value !== null;
  return element(
      'span', {class: known ? '' : 'symbolic', title: known ? of.text : null},
      known ? shown(of.value) : of.text);
}

function microseconds(value) {
  return value >= 1000 ? (value / 1000).toFixed(2) + ' ms' : value.toFixed(1) + ' µs';
}
