// dom.js - small helpers: elements from data, never from markup that somebody sent.
export const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** el('li', {class: 'x'}, 'text', child…); a text is a text. */
export function el(name, attributes = {}, ...children) {
  const svg = /^(svg|g|path|circle|polygon|polyline|rect|text|title)$/.test(name);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== false && v !== null && v !== undefined) e.setAttribute(k, v === true ? '' : String(v));
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

/** Replaces what is inside, only when it would be different: a screen reader hears changes alone. */
export function fill(parent, key, ...children) {
  if (parent.dataset.key === key) return;
  parent.dataset.key = key;
  parent.replaceChildren(...children);
}

export const fixed = (n, digits = 1) => (Number.isFinite(n) ? Number(n).toFixed(digits) : '–');
