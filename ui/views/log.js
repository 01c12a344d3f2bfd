// @ts-check
// log.js - what happens, newest at the bottom; at most ROWS_MAX rows, a batch a frame.
import { el } from '/ui/dom.js';
import { ROWS_MAX } from '/ui/store.js';

const SILENT = /^(observation|telemetry|stream\.)/;
const SMALL = new Set(['intended', 'dispatched', 'accepted', 'started']); // states on the way
const ENDS = { succeeded: ['✓', 'good'], done: ['✓', 'good'], failed: ['✕', 'bad'], aborted: ['✕', 'bad'], cancelled: ['–', 'quiet'], canceled: ['–', 'quiet'] };

const FRAME = 60; // rows in one frame: a flood of events must not hold the page up
const hours = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

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
    case 'decision': return ['…', 'quiet', p.decision?.reason ?? p.decision?.type ?? ''];
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
  const when = new Date(row.ts_ms);
  return el('li', { 'data-type': row.type, class: said[1] }, el('time', { datetime: when.toISOString() }, hours.format(when)),
    el('span', { class: 'sign', 'aria-hidden': 'true' }, said[0]), el('span', { title: row.type }, said[2].trim()));
}

export class LogView {
  constructor(/** @type {HTMLElement} */ parent) {
    this.parent = parent;
    this.last = null;
  }

  /** @returns {boolean} whether there is more to draw in the next frame */
  draw(state, t) {
    const rows = state.rows;
    if (rows.length && rows[rows.length - 1] === this.last) return false;
    const from = this.last ? rows.indexOf(this.last) + 1 : 0;
    const atEnd = this.parent.scrollHeight - this.parent.scrollTop - this.parent.clientHeight < 40;
    const add = document.createDocumentFragment();
    for (const r of rows.slice(from, from + FRAME)) {
      if (r.again) add.append(el('li', { class: 'again' }, el('span', {}, '↻'), el('span', {}, t('restarted'))));
      const e = item(r, t);
      if (e) add.append(e);
      this.last = r;
    }
    this.parent.append(add);
    while (this.parent.childElementCount > ROWS_MAX) this.parent.firstElementChild?.remove();
    if (atEnd) this.parent.scrollTop = this.parent.scrollHeight;
    return rows.length > 0 && rows[rows.length - 1] !== this.last;
  }

  /** Another language: all anew. */
  again() {
    this.parent.replaceChildren();
    this.last = null;
  }
}
