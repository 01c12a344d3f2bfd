// @ts-check
// say.js - the one way of a server's sentence to the screen. The server speaks English; a catalogue has its
// sentences in another language.
//
//     /ui/messages.LANGUAGE.json: {"unknown zone \"%s\"; known zones: %s": "没有区域“%s”；有：%s", …}
//
// A place of a sentence is written as in the program (%s, %d, %.1f, …). A translation has the same places, in the same
// order, or with numbers (%2$s). What stands in a place may be a sentence too. What no entry fits is shown as it came.
const PLACE = /%(?:(\d+)\$)?[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?([sdiufgexXc])|%%/g;
const KEPT = 500, DEEP = 6, PARTS = 200, LETTERS = 4, TEXT = 2000, TRIES = 20000;

/** @typedef {{literal: string, name: number, kind: string, open: boolean, inner: boolean, quoted: boolean}} Piece the text before a place, and the place; open: it may hold a colon; inner: a message again; quoted: a name */
/** @typedef {{pieces: Piece[], end: string, letters: number, size: number, text: string}} Entry */

/** @type {Map<string, Entry[]>} by the first letters */ let entries = new Map();
/** @type {Map<string, string>} */ let plain = new Map();
/** @type {Map<string, string>} */ let known = new Map();
/** @type {Record<string, string>} ids that stand in a sentence, as they are called */ let words = {};

/** The one with the most letters first, then with the most marks. @type {(a: Entry, b: Entry) => number} */
const closest = (a, b) => b.letters - a.letters || b.size - a.size;
const head = (/** @type {string} */ s) => s.slice(0, 3);

/** @param {string} source @param {string} text @returns {Entry} */
function entry(source, text) {
  const pieces = /** @type {Piece[]} */ ([]);
  let at = 0, literal = '';
  for (const m of source.matchAll(PLACE)) {
    literal += source.slice(at, m.index);
    at = m.index + m[0].length;
    if (m[0] === '%%') { literal += '%'; continue; }
    pieces.push({ literal, name: Number(m[1] ?? pieces.length + 1), kind: m[2], open: /([:.;].|['"(`])$/.test(source.slice(0, m.index)), inner: /([:.;].|\()$/.test(source.slice(0, m.index)), quoted: /['"`]$/.test(source.slice(0, m.index)) });
    literal = '';
  }
  return { pieces, end: literal + source.slice(at), letters: letters(source), size: source.length, text };
}

const NUMBER = /^(?:[-+]?(?:[\d.]+(?:e[-+]?\d+)?|nan|inf)|[\da-fA-F]+)/;
let tries = 0;

/** What stands at the places of a format from the k-th on; null: it did not make this. @param {Entry} e @param {number} k @param {string} text @returns {string[]|null} */
function places(e, k, text) {
  const piece = e.pieces[k];
  if (!piece) return text === e.end ? [] : null;
  if (!text.startsWith(piece.literal)) return null;
  const rest = text.slice(piece.literal.length), next = e.pieces[k + 1]?.literal ?? e.end;
  if (piece.kind !== 's') {
    const value = piece.kind === 'c' ? rest.slice(0, 1) : NUMBER.exec(rest)?.[0], behind = value ? places(e, k + 1, rest.slice(value.length)) : null;
    return behind && [/** @type {string} */ (value), ...behind];
  }
  const colon = piece.open ? -1 : rest.indexOf(': '), last = k + 1 === e.pieces.length;
  for (let end = last ? rest.length - next.length : rest.indexOf(next); end >= 0 && (colon < 0 || end <= colon) && tries++ < TRIES; end = rest.indexOf(next, end + 1)) {
    const behind = places(e, k + 1, rest.slice(end));
    if (behind) return [rest.slice(0, end), ...behind];
    if (last || end >= rest.length) break;
  }
  return null;
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
    const one = entry(source, text), key = head(source).includes('%') ? '' : head(source);
    entries.set(key, (entries.get(key) ?? []).concat(one));
  }
  for (const list of entries.values()) list.sort(closest); // the most exact first
}

const called = (/** @type {string} */ text) => text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (id) => words[id] ?? id);
const letters = (/** @type {string} */ s) => s.replace(PLACE, '').replace(/[^A-Za-z]/g, '').length;
const NOTHING = { text: '', n: 0 };
let parts = 0;

/** A part in its place: translated, or as it was. @param {string} text @param {number} depth @returns {{text: string, n: number}} n: the letters that were understood */
function part(text, depth) {
  const bare = text.trim();
  let read = depth > DEEP || parts++ > PARTS ? NOTHING : translate(bare, depth);
  if (!read.n && depth <= DEEP && /.[).\]]$/.test(bare)) { // it may end something
    const inner = translate(bare.slice(0, -1), depth);
    read = inner.n ? { text: inner.text + bare.slice(-1), n: inner.n } : read;
  }
  return read.n ? { text: text.slice(0, text.length - text.trimStart().length) + read.text, n: read.n } : { text: called(text), n: 0 };
}

/** @param {string} text @param {number} depth */
function byFormat(text, depth) {
  tries = 0;
  if (text.length > TEXT) return NOTHING;
  for (const e of [...(entries.get(head(text)) ?? []), ...(entries.get('') ?? [])].sort(closest)) {
    const found = e.letters >= LETTERS ? places(e, 0, text) : null;
    if (!found) continue;
    const values = e.pieces.map((piece, i) => /** @type {[number, {text: string, n: number}]} */ ([piece.name, piece.inner || (!piece.quoted && found[i].includes(' ')) ? part(found[i], depth + 1) : { text: called(found[i]), n: 0 }]));
    const value = new Map(values);
    let n = 0;
    return { n: e.letters + values.reduce((sum, [, v]) => sum + v.n, 0),
      text: e.text.replace(PLACE, (place, number) => (place === '%%' ? '%' : value.get(Number(number ?? ++n))?.text ?? '')) };
  }
  return NOTHING;
}

/** The two parts at the first of a separator: of the one that lets most be understood. @param {string} text @param {number} depth */
function byParts(text, depth) {
  let best = NOTHING;
  for (const between of ['\n', '. ', '; ', ': ', ' [', ' (']) {
    const at = text.indexOf(between);
    if (at < 0) continue;
    const first = part(text.slice(0, at), depth + 1), rest = part(text.slice(at + between.length), depth + 1);
    if (first.n + rest.n > best.n) best = { text: first.text + (plain.get(between) ?? between) + rest.text, n: first.n + rest.n };
  }
  return best;
}

/** As src/base/text/message_catalogue.c does it. @param {string} text @param {number} depth @returns {{text: string, n: number}} */
function translate(text, depth) {
  if (text.length < 3) return NOTHING; // a separator
  const whole = plain.get(text);
  if (whole !== undefined) return { text: whole, n: text.length };
  const format = byFormat(text, depth), apart = byParts(text, depth);
  return apart.n > format.n ? apart : format;
}

/** A sentence of the server's, in the page's language. @param {any} text @returns {string} */
export function sayServer(text) {
  const is = String(text ?? '');
  let said = known.get(is);
  if (said === undefined) {
    if (known.size > KEPT) known.clear();
    parts = 0;
    known.set(is, said = entries.size ? part(is, 0).text : called(is));
  }
  return said;
}
