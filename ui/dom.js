// @ts-check
// dom.js - small helpers: elements from data, never from markup that somebody sent.
/** @returns {any} */
export const $ = (/** @type {string} */ id) => document.getElementById(id);

// What cannot be seen, or turns what stands around it, is shown as what it is: a name must not look like
// another one. Line ends and tabs stay, and the joiners that scripts and emoji need.
const UNSEEN = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDC7F]/g;
export const plain = (/** @type {any} */ text) => String(text).replace(UNSEEN, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);

const SVG = /^(svg|g|path|circle|polygon|polyline|rect|text|title|line)$/;

/**
 * el('li', {class: 'x'}, 'text', child…); a text is a text.
 * @param {string} name @param {Record<string, any>} attributes @param {any[]} children @returns {any}
 */
export function el(name, attributes = {}, ...children) {
  const e = SVG.test(name) ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== false && v !== null && v !== undefined) e.setAttribute(k, v === true ? '' : String(v));
  }
  e.append(...children.filter((c) => c !== null && c !== undefined).map((c) => (c instanceof Node ? c : plain(c))));
  return e;
}

/** A text of the page's own with what is to be typed between `back ticks`. */
export const coded = (/** @type {string} */ text) => text.split('`').map((s, i) => (i % 2 ? el('code', {}, s) : s));

/** @type {WeakMap<HTMLElement, string>} */
const shown = new WeakMap();
let spoken = 0;
/** Another language: everything is filled anew. */
export const anew = () => { spoken++; };

/** Replaces what is inside, only when it would be different: a screen reader hears changes alone. */
export function fill(/** @type {HTMLElement} */ parent, /** @type {string} */ key, /** @type {any[]} */ ...children) {
  const full = `${spoken} ${key}`;
  if (shown.get(parent) === full) return;
  shown.set(parent, full);
  parent.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
}

export const fixed = (/** @type {any} */ n, digits = 1) => (Number.isFinite(n) ? Number(n).toFixed(digits) : '–');

/** A file's worth of text as a clock: 75 -> "1:15". */
export const clock = (/** @type {number} */ s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, '0')}`;
