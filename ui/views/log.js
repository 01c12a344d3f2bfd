// @ts-check
// log.js - what happens, newest at the bottom; at most ROWS_MAX rows, a batch a frame.
//
// A flood shows its newest rows alone, as many as fit, and nothing is laid out that would be gone in the
// next frame; the older ones are put before them when it is quiet again. Who reads further up is left
// where he is.
import { el } from '/ui/dom.js';
import { ROWS_MAX } from '/ui/store.js';

const SILENT = /^(observation|telemetry|stream\.)/;
const SMALL = new Set(['intended', 'dispatched', 'accepted', 'started']); // states on the way
const ENDS = { succeeded: ['✓', 'good'], done: ['✓', 'good'], failed: ['✕', 'bad'], aborted: ['✕', 'bad'], cancelled: ['–', 'quiet'], canceled: ['–', 'quiet'] };

const LINE_MAX = 600; // letters of a row
const FRAME = 30; // rows in one frame: a flood of events must not hold the page up
const format = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
let second = -1, shown = '';
/** A day has more events than seconds in a row. */
function clockOf(/** @type {number} */ ms) {
  const s = Math.floor(ms / 1000);
  if (s !== second && Number.isFinite(s)) {
    second = s;
    shown = Math.abs(s) < 8.64e12 ? format.format(new Date(s * 1000)) : '–';
  }
  return Number.isFinite(s) ? shown : '–';
}

/** @returns {[string, string, string] | null} a sign, a tone, words; null: not worth a line */
export function line(row, t) {
  const p = row.payload ?? {};
  const task = p.text ?? p.task?.text ?? '';
  switch (row.type) {
    case 'run.started': return ['●', 'quiet', t('run_started')];
    case 'task.queued': return ['＋', '', `${t('heard')}: ${task}`];
    case 'task.active': return ['▶', '', task];
    case 'task.done': {
      const [sign, tone] = ENDS[p.status] ?? ['■', ''];
      return [sign, tone, `${task}${p.status === 'succeeded' || p.status === 'done' ? '' : `: ${p.reason ?? p.status}`}`];
    }
    case 'mode': return ['◆', 'quiet', `${t('modes')[p.mode] ?? p.mode}: ${p.reason ?? ''}`];
    case 'decision': return p.decision?.type === 'ASK_HUMAN' ? null : ['…', 'quiet', p.decision?.reason ?? p.decision?.type ?? '']; // the question says it
    case 'effect':
      if (SMALL.has(p.state) && p.state !== 'dispatched') return null;
      if (p.state === 'dispatched') return ['→', '', `${p.skill} ${brief(p.args)}`];
      return [ENDS[p.state]?.[0] ?? '·', ENDS[p.state]?.[1] ?? '', `${p.skill} ${p.error_msg ?? ''}`];
    case 'guard.refused': return ['⛔', 'warn', `${t('refused')}: ${(p.rules ?? []).map((r) => r.message ?? r.rule).join('; ') || p.reason || ''}`];
    case 'approval.requested': return ['⚠', 'warn', p.question ?? t('asks')];
    case 'approval.resolved': return ['✓', '', `${t(p.action ?? 'answered')} · ${p.by ?? ''}`];
    default: return ['·', 'quiet', `${row.type} ${brief(p)}`];
  }
}

function brief(value) {
  if (!value || (typeof value === 'object' && !Object.keys(value).length)) return '';
  const text = typeof value === 'object' && !Array.isArray(value)
    ? Object.entries(value).map(([k, v]) => `${k} ${typeof v === 'object' ? JSON.stringify(v) : v}`).join(', ') : JSON.stringify(value);
  return text.length > 140 ? text.slice(0, 140) + '…' : text;
}

export function item(row, t) {
  const said = SILENT.test(row.type) ? null : line(row, t);
  if (!said) return null;
  return el('li', { 'data-type': row.type, class: said[1] }, el('time', {}, clockOf(row.ts_ms)),
    el('span', { class: 'sign', 'aria-hidden': 'true' }, said[0]), el('span', { title: row.type, dir: 'auto' }, said[2].trim()));
}

export class LogView {
  constructor(/** @type {HTMLElement} */ parent) {
    this.parent = parent;
    /** @type {any} */ this.first = null;
    /** @type {any} */ this.last = null;
    this.atEnd = true;
    parent.addEventListener('scroll', () => { this.atEnd = parent.scrollHeight - parent.scrollTop - parent.clientHeight < 40; }, { passive: true });
  }

  /** @returns {boolean} whether there is more to draw in the next frame */
  draw(state, t) {
    const rows = state.rows;
    if (!rows.length) return false;
    const from = this.last ? rows.lastIndexOf(this.last) + 1 : 0, fresh = rows.length - from;
    if (fresh > FRAME && this.atEnd) {
      this.parent.replaceChildren(this.some(rows, rows.length - FRAME, rows.length, t));
      this.first = rows[rows.length - FRAME];
      this.last = rows[rows.length - 1];
    } else if (fresh) {
      const to = Math.min(from + FRAME, rows.length);
      this.parent.append(this.some(rows, from, to, t));
      this.first ??= rows[from];
      this.last = rows[to - 1];
    } else {
      const end = rows.indexOf(this.first), begin = Math.max(end - FRAME, 0);
      if (end <= 0) return false;
      this.parent.prepend(this.some(rows, begin, end, t));
      this.first = rows[begin];
    }
    while (this.parent.childElementCount > ROWS_MAX) this.parent.firstElementChild?.remove();
    if (this.atEnd) this.parent.scrollTop = this.parent.scrollHeight;
    return rows[rows.length - 1] !== this.last || rows.indexOf(this.first) > 0;
  }

  some(rows, from, to, t) {
    const add = document.createDocumentFragment();
    for (const r of rows.slice(from, to)) {
      if (r.again) add.append(el('li', { class: 'again' }, el('span', {}, '↻'), el('span', {}, t('restarted'))));
      const e = item(r, t);
      if (e) add.append(e);
    }
    return add;
  }

  /** Another language: all anew. */
  again() {
    this.parent.replaceChildren();
    this.first = this.last = null;
    this.atEnd = true;
  }
}
