// @ts-check
// plan.js - what was, is and will be done: tasks on a line of time, their steps, what people answered.
import { el, fill } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';
import { line } from '/ui/views/log.js';

const PAST = 1000; // events that are looked back at

/** Tasks with their times and steps, from events in order. */
export function tasksOf(rows) {
  const tasks = new Map();
  let active = null;
  for (const r of rows) {
    const p = r.payload ?? {}, id = p.task?.id ?? p.task_id;
    if (r.type === 'task.queued') tasks.set(id, { id, text: p.task.text, queued: r.ts_ms, status: 'queued', steps: [] });
    const task = tasks.get(id);
    if (r.type === 'task.active' && task) { task.begun ??= r.ts_ms; task.status = 'active'; active = task; }
    if (r.type === 'task.done' && task) { task.ended = r.ts_ms; task.status = p.status; task.why = p.reason; if (active === task) active = null; }
    if (active && /^(effect|approval|guard|plan)/.test(r.type)) active.steps.push(r);
  }
  return [...tasks.values()];
}

const TONE = { succeeded: 'good', done: 'good', active: 'active', queued: 'queued' };

export class View {
  constructor(section, { wire, t, empty }) {
    this.empty = empty;
    this.wire = wire;
    this.t = t;
    this.rows = [];
    this.last = 0;
    this.title = el('h1');
    this.lane = el('div', { class: 'lanes' });
    section.append(this.title, this.lane);
  }

  words() {
    this.title.textContent = this.t('tabs').plan;
  }

  async read(state) {
    this.thread = state.thread;
    const from = Math.max((state.seq || state.newest) - PAST, 0);
    const r = await this.wire.ask('GET', `/v1/threads/${encodeURIComponent(state.thread)}/events?after=${from}&limit=${PAST}`);
    if (r.status === 200) this.rows = r.body;
    this.last = this.rows.at(-1)?.seq ?? 0;
    this.draw(state);
  }

  draw(state) {
    if (!state.thread) return;
    if (this.thread !== state.thread) { this.thread = state.thread; this.read(state).catch(() => { this.thread = ''; }); return; }
    const fresh = state.rows.filter((r) => r.seq > this.last);
    if (fresh.length) {
      this.rows = this.rows.concat(fresh).slice(-3 * PAST);
      this.last = fresh.at(-1).seq;
    }
    const tasks = tasksOf(this.rows).slice(-30), now = state.wallMs + state.skewMs;
    const from = Math.min(...tasks.map((x) => x.queued), now - 1000), span = Math.max(now - from, 1000);
    const at = (ms) => `${Math.min(Math.max((100 * (ms - from)) / span, 0), 100).toFixed(1)}%`;
    fill(this.lane, JSON.stringify([tasks.map((x) => [x.id, x.status, x.steps.length]), Math.floor(now / 2000)]),
      ...(tasks.length ? tasks.reverse().map((x) => this.one(x, at, now)) : [this.empty('empty_plan')]));
  }

  one(x, at, now) {
    const { t } = this, end = x.ended ?? now, tone = TONE[x.status] ?? 'bad';
    const seconds = x.begun ? `${Math.round((end - x.begun) / 1000)} s` : '';
    const open = this.lane.querySelector(`details[data-id="${CSS.escape(x.id)}"]`)?.open ?? x.status === 'active';
    return el('details', { 'data-id': x.id, open, class: `task ${tone}` },
      el('summary', {}, el('span', { class: 'what' }, el('b', {}, x.text), ` ${t('statuses')[x.status] ?? x.status} ${seconds}`, x.why && tone === 'bad' ? el('small', { class: 'why' }, sayServer(x.why).slice(0, 160)) : null),
        el('span', { class: 'line', 'aria-hidden': 'true' }, el('span', { class: 'waits', style: `left:${at(x.queued)};right:calc(100% - ${at(x.begun ?? end)})` }),
          x.begun ? el('span', { class: 'works', style: `left:${at(x.begun)};right:calc(100% - ${at(end)})` }) : null)),
      el('ol', { class: 'log' }, ...x.steps.map((r) => [r, line(r, t)]).filter(([, l]) => l).map(([r, l]) => el('li', { class: l[1] },
        el('time', {}, new Date(r.ts_ms).toLocaleTimeString([], { hour12: false })), el('span', { class: 'sign', 'aria-hidden': 'true' }, l[0]), el('span', {}, l[2].trim())))));
  }
}
