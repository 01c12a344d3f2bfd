// @ts-check
// say.js - the one way of a server's sentence to the screen. The server speaks English; a catalogue has its
// sentences in another language.
//
//     /ui/messages.LANGUAGE.json: {"unknown zone \"%s\"; known zones: %s": "没有区域“%s”；有：%s", …}
//
// A place of a sentence is written as in the program (%s, %d, %.1f, …) or as {name}. A translation has the same places,
// in the same order, or with numbers (%2$s), or by the same names. What stands in a place may be a sentence too. What no
// entry fits is shown as it came.
const PLACE = /%(?:(\d+)\$)?[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?([sdiufgexXc])|\{(\w+)\}|%%/g;
const KEPT = 500, DEEP = 3;

/** @typedef {{match: RegExp, names: (string|number)[], text: string}} Entry */

/** @type {Map<string, Entry[]>} by the first letters */ let entries = new Map();
/** @type {Map<string, string>} */ let plain = new Map();
/** @type {Map<string, string>} */ let known = new Map();
/** @type {Record<string, string>} ids that stand in a sentence, as they are called */ let words = {};

const escape = (/** @type {string} */ s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const head = (/** @type {string} */ s) => s.slice(0, 3);

/** @param {string} source @param {string} text @returns {Entry} */
function entry(source, text) {
  const names = /** @type {(string|number)[]} */ ([]);
  let re = '', at = 0;
  for (const m of source.matchAll(PLACE)) {
    re += escape(source.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[0] === '%%') { re += '%'; continue; }
    names.push(m[3] ?? Number(m[1] ?? names.length + 1));
    re += m[3] || m[2] === 's' ? '([\\s\\S]*?)' : m[2] === 'c' ? '([\\s\\S])' : '(-?[\\d.]+(?:e[-+]?\\d+)?|[\\da-fA-F]+)';
  }
  return { match: new RegExp(`^${re}${escape(source.slice(at))}$`), names, text };
}

/** @param {Record<string, string>|null} messages of the language; null: the server's own @param {Record<string, string>} [called] {navigate_to_pose: 'driving'} */
export function catalogue(messages, called = {}) {
  entries = new Map();
  plain = new Map();
  known = new Map();
  words = called;
  for (const [source, text] of Object.entries(messages ?? {})) {
    if (!source || !text) continue;
    if (source.search(PLACE) < 0) { plain.set(source, text); continue; }
    const one = entry(source, text), key = /[%{]/.test(head(source)) ? '' : head(source);
    entries.set(key, (entries.get(key) ?? []).concat(one));
  }
  for (const list of entries.values()) list.sort((a, b) => b.match.source.length - a.match.source.length); // the most exact first
}

const called = (/** @type {string} */ text) => text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (id) => words[id] ?? id);

/** @param {string} text @param {number} depth @returns {string} */
function translate(text, depth) {
  const whole = plain.get(text) ?? (depth ? words[text] : undefined);
  if (whole !== undefined) return whole;
  if (depth > DEEP || !entries.size) return called(text);
  for (const e of [...(entries.get(head(text)) ?? []), ...(entries.get('') ?? [])]) {
    const found = e.match.exec(text);
    if (!found) continue;
    const value = new Map(e.names.map((name, i) => [name, translate(found[i + 1], depth + 1)]));
    let n = 0;
    return e.text.replace(PLACE, (place, number, _kind, name) => (place === '%%' ? '%' : value.get(name ?? Number(number ?? ++n)) ?? place));
  }
  return called(text);
}

/** A sentence of the server's, in the page's language. @param {any} text @returns {string} */
export function sayServer(text) {
  const is = String(text ?? '');
  let said = known.get(is);
  if (said === undefined) {
    if (known.size > KEPT) known.clear();
    known.set(is, said = translate(is, 0));
  }
  return said;
}
