// @ts-check
// log.js - what happens, a sentence each: who, what, when; newest at the bottom; at most ROWS_MAX rows, a batch a frame.
// What is no sentence of a person's (modes, ticks, tokens, effects on their way) is shown with "all events" only.
//
// A flood shows its newest rows alone, as many as fit, and nothing is laid out that would be gone in the
// next frame; the older ones are put before them when it is quiet again. Who reads further up is left
// where he is.
import { el } from '/ui/dom.js';
import { deed, put } from '/ui/i18n/deeds.js';
import { sayServer } from '/ui/i18n/say.js';
import { ROWS_MAX, timeOf } from '/ui/store.js';

const DETAIL = /^(observation|telemetry|stream\.|token|llm|config\.|schema\.|plan\.(step|status))/;
const ENDS = { succeeded: ['✓', 'good'], done: ['✓', 'good'], failed: ['✕', 'bad'], aborted: ['✕', 'bad'], cancelled: ['–', 'quiet'], canceled: ['–', 'quiet'] };
const LATCHED = 'protective stop is latched'; // the stop's own row says it

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

const SIGNS = { 'run.started': ['●', 'quiet'], 'task.queued': ['＋', ''], 'task.active': ['▶', ''], speak: ['❝', ''], 'place.refused': ['✕', 'bad'], 'schedule.refused': ['✕', 'bad'], 'tempo.refused': ['✕', 'bad'], 'schedule.missed': ['✕', 'warn'], control: ['·', 'warn'], 'task.overdue': ['✕', 'warn'] };

/** @returns {[string, string, string] | null} */
function effect(p, t, say) {
  if (p.state === 'dispatched' && p.skill !== 'stop_base') return ['→', '', put(say.does, { what: deed(p.skill, p.args, t, 1) })];
  if (p.state === 'done') { const was = deed(p.skill, p.args, t, 2), saw = p.reason ? ` ${sayServer(p.reason)}` : ''; return was ? ['✓', 'good', was + saw] : null; }
  if (p.state === 'outcome_unknown') return ['?', 'warn', put(say.unknown, { what: deed(p.skill, p.args, t) })];
  if (!/failed|refused/.test(p.state) || /^STOPPED/.test(p.reason ?? '')) return null; // on its way, or the stop's row says it
  return ['✕', 'bad', put(say.cannot, { what: deed(p.skill, p.args, t), why: sayServer(p.reason ?? p.error_msg ?? '') })];
}

/** @returns {[string, string, string] | null} */
function decision(p, t, say) {
  const d = p.decision ?? {};
  if (d.type === 'ASK_HUMAN' || /^kernel: /.test(d.reason ?? '')) return null; // the question, or the mode, says it
  if (p.source === 'rule_engine' && /^(CONTINUE|FINISH|ABORT)$/.test(d.type)) return null; // what comes of it says it
  return ['…', 'quiet', put(say.thinks, { why: sayServer(d.reason ?? d.type ?? '') })];
}

/** An event as a sentence: a sign, a tone, words; null: it belongs to the details. @returns {[string, string, string] | null} */
export function line(row, t) {
  const p = row.payload ?? {}, say = t('log'), task = p.task ?? {}, text = String(p.text ?? task.text ?? p.task_id ?? ''), why = sayServer(p.reason ?? p.ignored ?? '');
  switch (row.type) {
    case 'task.done': {
      const [sign, tone] = ENDS[p.status] ?? ['■', ''];
      return [sign, tone, put(t('ends')[p.status] ?? '{text}', { text, why })];
    }
    case 'mode': return (p.mode === 'CHARGE' || p.mode === 'SAFE') && p.reason !== LATCHED ? ['◆', 'warn', put(say[`mode_${p.mode}`], { why })] : null;
    case 'decision': return decision(p, t, say);
    case 'effect': return effect(p, t, say);
    case 'stop': return p.latched ? ['■', 'bad', put(say.stopped, { why: why || t('latched') })] : ['○', '', say.released];
    case 'guard.refused': return ['⛔', 'warn', put(say.refused, { why: (p.rules ?? []).map((r) => sayServer(r.message ?? r.rule)).join('; ') || why })];
    case 'approval.requested': return ['⚠', 'warn', put(say.asks, { what: (p.ops ?? []).map((o) => deed(o.skill, o.args, t)).join(', ') || sayServer(p.question ?? '') }).replace(/[?？]{2}$/, '?')];
    case 'approval.resolved': return ['✓', '', put(say.resolved, { by: sayServer(p.by ?? ''), what: p.answer ?? t('actions')[p.action] ?? p.action ?? '' })];
    case 'approval.late': return ['·', 'quiet', say.late];
    case 'goal.replaced': return ['↷', '', put(say.edited, { what: p.to?.text ?? '' })];
    default: {
      if (!say[row.type]) return row.type.includes('.') || DETAIL.test(row.type) ? null : ['·', 'quiet', brief(p)];
      const sign = SIGNS[row.type] ?? ['·', ''], who = t('who')[task.source ?? ''] ?? sayServer(task.source);
      return [sign[0], sign[1], put(say[row.type], { text: text || p.word || p.schedule?.text, why, who, name: p.place?.name ?? p.name, n: `${p.percent}%`, at: timeOf(p.schedule?.next_ms) })];
    }
  }
}

function brief(value) {
  if (!value || (typeof value === 'object' && !Object.keys(value).length)) return '';
  const text = typeof value === 'object' && !Array.isArray(value)
    ? Object.entries(value).map(([k, v]) => `${k} ${typeof v === 'object' ? JSON.stringify(v) : v}`).join(', ') : JSON.stringify(value);
  return text.length > 140 ? text.slice(0, 140) + '…' : text;
}

/** What became of words that were said: of the rows after them the last that is about them. */
export function answerTo(rows, said) {
  return rows.findLast((r) => r.seq > said.seq && (r.payload?.text ?? r.payload?.task?.text ?? r.payload?.schedule?.text) === said.text && /^(task|schedule)\./.test(r.type))
    ?? rows.find((r) => r.seq > said.seq && /^(place|room|charger|tempo|schedule|control)/.test(r.type));
}

/** raw: every event, with all that it says. */
export function item(row, t, raw = false) {
  const said = DETAIL.test(row.type) ? null : line(row, t);
  if (row.type === 'telemetry' || (!said && !raw)) return null;
  const [sign, tone, words] = said ?? ['·', 'quiet', ''];
  return el('li', { 'data-type': row.type, class: tone }, el('time', {}, clockOf(row.ts_ms)), el('span', { class: 'sign', 'aria-hidden': 'true' }, sign),
    raw ? el('details', {}, el('summary', { dir: 'auto' }, el('b', {}, row.type), ` ${words.trim()}`.slice(0, LINE_MAX)), el('pre', {}, JSON.stringify(row.payload, null, 1)))
      : el('span', { dir: 'auto' }, words.trim().slice(0, LINE_MAX)));
}

export class LogView {
  constructor(/** @type {HTMLElement} */ parent) {
    this.parent = parent;
    /** @type {any} */ this.first = null;
    /** @type {any} */ this.last = null;
    this.atEnd = true;
    this.raw = false;
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
      const e = item(r, t, this.raw);
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
