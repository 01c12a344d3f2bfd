// @ts-check
// mark.js - what a model writes, Markdown, as elements: paragraphs, headings, lists, tables, code, quotes, links.
//
// Elements are made one by one and every text in them is a text, so nothing that is written can become
// markup of its own: HTML shows as the letters that it is. A picture is a link to it, for the page asks
// nobody else for anything. A link goes to http, https or mail, and says where to when its words do not.
// Half of a text, as it streams in, is shown as far as it can be read. What would take long is shown as it is.
import { el, plain } from './dom.js';

const TEXT_MAX = 60000, RUN_MAX = 6000, DEPTH_MAX = 6;

/** @returns {any[]} elements */
export function mark(/** @type {any} */ text) {
  const s = String(text);
  return s.length > TEXT_MAX ? [el('p', {}, s)] : blocks(s.split('\n'), 0);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/, HEAD = /^ {0,3}(#{1,6})\s+(.*)/, RULE = /^ {0,3}([-*_])( *\1){2,} *$/, QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(\S.*)?$/, BAR = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const begins = (/** @type {string} */ l) => FENCE.test(l) || HEAD.test(l) || RULE.test(l) || QUOTE.test(l) || ITEM.test(l);
const indent = (/** @type {string} */ l) => l.length - l.trimStart().length;
const cells = (/** @type {string} */ l) => l.trim().replace(/^\||\|$/g, '').split('|').map((c) => c.trim());

/** @param {string[]} lines @param {number} depth @returns {any[]} */
function blocks(lines, depth) {
  const out = [];
  if (depth > DEPTH_MAX) return [el('p', {}, lines.join('\n'))];
  for (let i = 0; i < lines.length;) {
    const line = lines[i], fence = FENCE.exec(line), head = HEAD.exec(line);
    if (!line.trim()) { i++; continue; }
    let end = i + 1;
    if (fence) {
      while (end < lines.length && !(lines[end].trim().startsWith(fence[1]) && !lines[end].trim().slice(fence[1].length).replaceAll(fence[1][0], ''))) end++;
      const said = line.trim().slice(fence[1].length).trim(); // the language; whatever else is there is shown
      out.push(el('pre', {}, (/^[\w+#.-]*$/.test(said) ? [] : [said]).concat(lines.slice(i + 1, end)).join('\n')));
      end++;
    } else if (head) out.push(el('p', { class: 'h' }, ...runs(head[2], 0)));
    else if (RULE.test(line)) out.push(el('hr'));
    else if (QUOTE.test(line)) {
      while (end < lines.length && QUOTE.test(lines[end])) end++;
      out.push(el('blockquote', {}, ...blocks(lines.slice(i, end).map((l) => l.replace(QUOTE, '')), depth + 1)));
    } else if (ITEM.test(line)) {
      end = items(lines, i, depth, out);
    } else if (line.includes('|') && end < lines.length && lines[end].includes('-') && lines[end].length < 500 && BAR.test(lines[end])) {
      const from = ++end;
      while (end < lines.length && lines[end].includes('|')) end++;
      const row = (/** @type {string} */ l, /** @type {string} */ name) => el('tr', {}, ...cells(l).map((c) => el(name, {}, ...runs(c, 0))));
      out.push(el('div', { class: 'changes' }, el('table', {}, el('thead', {}, row(line, 'th')), el('tbody', {}, ...lines.slice(from, end).map((l) => row(l, 'td'))))));
    } else {
      while (end < lines.length && lines[end].trim() && !begins(lines[end])) end++;
      out.push(el('p', {}, ...runs(lines.slice(i, end).map((l) => l.trimStart()).join('\n'), 0)));
    }
    i = end;
  }
  return out;
}

/** A list from line i on; where it ends. */
function items(/** @type {string[]} */ lines, /** @type {number} */ i, /** @type {number} */ depth, /** @type {any[]} */ out) {
  const first = /** @type {RegExpExecArray} */ (ITEM.exec(lines[i])), at = first[1].length, numbered = /\d/.test(first[2]);
  const list = el(numbered ? 'ol' : 'ul', numbered && parseInt(first[2], 10) !== 1 ? { start: parseInt(first[2], 10) } : {});
  while (i < lines.length) {
    const m = ITEM.exec(lines[i]);
    if (!m || m[1].length > at + 3 || m[1].length < at || /\d/.test(m[2]) !== numbered) break;
    const own = [m[3] ?? ''];
    for (i++; i < lines.length; i++) {
      const l = lines[i], more = indent(l) > at;
      if (!l.trim() ? !(indent(lines[i + 1] ?? '') > at) : !more && begins(l)) break;
      if (l.trim() && !more && !lines[i - 1].trim()) break;
      own.push(more ? l.slice(Math.min(indent(l), at + m[2].length + 1)) : l);
    }
    const parts = blocks(own, depth + 1);
    list.append(el('li', {}, ...(parts.length && parts[0].localName === 'p' && !parts[0].className ? [...parts[0].childNodes, ...parts.slice(1)] : parts)));
    while (i < lines.length && !lines[i].trim() && ITEM.test(lines[i + 1] ?? '')) i++;
  }
  out.push(list);
  return i;
}

const SPANS = /** @type {[string, string][]} */ ([['**', 'strong'], ['__', 'strong'], ['~~', 'del'], ['*', 'em'], ['_', 'em']]);
const LETTER = /[\p{L}\p{N}_]/u;

/** What stands in a line. @returns {any[]} elements and texts */
function runs(/** @type {string} */ s, /** @type {number} */ depth, linked = false) {
  /** @type {any[]} */
  const out = [];
  let text = '';
  const put = (/** @type {any} */ e) => { if (text) out.push(plain(text)); text = ''; out.push(e); };
  if (s.length > RUN_MAX || depth > DEPTH_MAX) return [plain(s)];
  for (let i = 0; i < s.length;) {
    const c = s[i];
    if (c === '\\' && i + 1 < s.length && /[!-/:-@[-`{-~]/.test(s[i + 1])) { text += s[i + 1]; i += 2; continue; }
    if (c === '`') {
      let n = 1;
      while (s[i + n] === '`') n++;
      const end = s.indexOf('`'.repeat(n), i + n);
      if (end > 0) put(el('code', {}, s.slice(i + n, end)));
      else text += s.slice(i, i + n);
      i = end > 0 ? end + n : i + n;
      continue;
    }
    const link = linked ? null : c === '[' || (c === '!' && s[i + 1] === '[') ? linkAt(s, c === '!' ? i + 1 : i) : null;
    if (link) { put(goes(link.to, runs(link.words, depth + 1, true), link.words)); i = link.end; continue; }
    const bare = !linked && c === 'h' && !LETTER.test(s[i - 1] ?? '') ? /^https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}*_]/.exec(s.slice(i, i + 2000)) : null;
    if (bare) { put(goes(bare[0], [plain(bare[0])], bare[0])); i += bare[0].length; continue; }
    const span = SPANS.find(([sign]) => s.startsWith(sign, i)), end = span ? closed(s, i, span[0]) : -1;
    if (span && end > 0) {
      put(el(span[1], {}, ...runs(s.slice(i + span[0].length, end), depth + 1, linked)));
      i = end + span[0].length;
    } else if (span) {
      text += span[0];
      i += span[0].length;
    } else { text += c; i++; }
  }
  if (text) out.push(plain(text));
  return out;
}

/** Where the sign at i is closed; -1: it opens nothing. */
function closed(/** @type {string} */ s, /** @type {number} */ i, /** @type {string} */ sign) {
  const n = sign.length, word = sign[0] === '_';
  if (!s[i + n] || /\s/.test(s[i + n]) || (word && LETTER.test(s[i - 1] ?? ''))) return -1;
  for (let at = s.indexOf(sign, i + n + 1); at > 0; at = s.indexOf(sign, at + 1)) {
    const alone = n > 1 || (s[at + 1] !== sign && s[at - 1] !== sign);
    if (alone && !/\s/.test(s[at - 1]) && !(word && LETTER.test(s[at + n] ?? ''))) return at;
  }
  return -1;
}

/** [words](to) */
function linkAt(/** @type {string} */ s, /** @type {number} */ i) {
  const mid = s.indexOf('](', i), end = mid < 0 ? -1 : s.indexOf(')', mid);
  const words = s.slice(i + 1, mid), to = s.slice(mid + 2, end).trim();
  return end < 0 || words.includes('\n') || /\s/.test(to) ? null : { words, to, end: end + 1 };
}

function goes(/** @type {string} */ to, /** @type {any[]} */ shown, /** @type {string} */ words) {
  let url = null;
  try { url = new URL(to); } catch { /* it leads nowhere */ }
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return el('span', {}, ...shown, ` (${plain(to).slice(0, 300)})`);
  const where = url.host || url.pathname;
  return el('span', {}, el('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow' }, ...shown), words.includes(where) ? null : ` (${where})`);
}
