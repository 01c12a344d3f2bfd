// @ts-check
// day.js - the companion's day: its moments, what was suggested, said and refused, what it remembers.
//
// Everything is in the thread `companion`: an event a moment, times in the world view's own clock
// ("2026-03-02T07:20+08:00"), which are shown as they are, for it is the companion's day and not ours.
import { coded, el, fill } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';
import { listenTo } from '/ui/listen.js';

const THREAD = 'companion', PAST = 1000, PAGES = 8, KEPT = 6000;
const KINDS = /^(action\.|filtered|external\.message|decision)/;
const minute = (/** @type {string} */ time) => Number(time.slice(11, 13)) * 60 + Number(time.slice(14, 16));
const clock = (/** @type {string} */ time) => (time ?? '').slice(11, 16) || '–';
export const dayOf = (/** @type {string} */ time) => (time ?? '').slice(0, 10);

/** The moments of a day, in order: {time, since?, tone, what, more?}; decisions only when they are asked for. */
export function momentsOf(/** @type {any[]} */ events, /** @type {string} */ day, /** @type {(key: string) => any} */ t, decisions = false, name = (/** @type {string} */ id) => id) {
  const out = [];
  for (const e of events) {
    const id = e.action?.type ?? '', what = name(id);
    if (dayOf(e.time) !== day) continue;
    if (e.type === 'action.ended') {
      const cut = e.status === 'interrupted';
      out.push({ time: e.time, since: e.since, id, tone: cut ? 'bad' : 'done', what, more: [e.branch, cut ? `${t('day_interrupted')} ${name(e.by ?? '')}` : ''].filter(Boolean).join(' · ') });
    } else if (e.type === 'action.started') out.push({ time: e.time, tone: 'begun', what, more: [name(e.place), e.rationale].filter(Boolean).join(' · '), quiet: true });
    else if (e.type === 'external.message') out.push({ time: e.time, tone: 'said', what: `${t('day_message')}${e.from ? ` · ${e.from}` : ''}${e.urgent ? ` · ${t('day_urgent')}` : ''}`, more: e.text });
    else if (e.type === 'filtered' && (decisions || e.by !== 'tree')) out.push({ time: e.time, tone: 'not', what: `${t('day_not_done')}: ${what}`, more: `${sayServer(e.reason)} (${e.rule ?? ''}) · ${e.by ?? ''}` });
    else if (e.type === 'decision' && (decisions || e.model?.said)) {
      const model = e.model ? ` · ${t('day_suggests')}: ${typeof e.model.said === 'object' ? e.model.said?.type ?? '' : e.model.said ?? ''} (${e.model.outcome ?? ''})` : '';
      out.push({ time: e.time, tone: 'decided', what: `${t('day_decided')}: ${what || t('day_nothing')}`, more: `${e.branch ?? ''}${model}${e.rationale ? ` · ${e.rationale}` : ''}`, path: e.path });
    }
  }
  return out;
}

export class View {
  constructor(section, { wire, t, language }) {
    this.wire = wire;
    this.t = t;
    this.language = language;
    /** @type {any[]} */ this.events = [];
    this.last = 0;
    this.life = null;
    this.title = el('h1');
    this.none = el('p', { hidden: true });
    this.now = el('dl');
    this.pick = el('select', { id: 'day-day', onchange: () => this.put() });
    this.pickLabel = el('label', { for: 'day-day' });
    this.all = el('input', { id: 'day-all', type: 'checkbox', onchange: () => this.put() });
    this.allLabel = el('label', { for: 'day-all' });
    this.hours = el('div', { class: 'hours', 'aria-hidden': 'true' });
    this.list = el('ol', { class: 'moments' });
    this.titles = [el('h2'), el('h2'), el('h2')];
    this.memories = el('ul', { class: 'moments' });
    this.text = el('input', { id: 'day-text', maxlength: 1000, required: true, autocomplete: 'off' });
    this.from = el('input', { id: 'day-from', maxlength: 60, autocomplete: 'off' });
    this.urgent = el('input', { id: 'day-urgent', type: 'checkbox' });
    this.labels = [['day_tell', 'day-text'], ['day_from', 'day-from'], ['day_urgent', 'day-urgent']].map(([key, id]) => [key, el('label', { for: id })]);
    this.go = el('button', { type: 'submit', class: 'main' });
    this.told = el('p', { role: 'status' });
    const [tell, who, hurry] = this.labels.map((l) => l[1]);
    this.form = el('form', {}, el('div', { class: 'row' }, tell, this.text), el('div', { class: 'row' }, who, this.from, this.urgent, hurry, this.go));
    this.form.addEventListener('submit', (e) => { e.preventDefault(); this.say(); });
    this.body = el('div', {}, this.now, el('div', { class: 'row' }, this.pickLabel, this.pick, this.all, this.allLabel), this.titles[0], this.hours, this.list,
      this.titles[1], this.form, this.told, this.titles[2], this.memories);
    section.append(this.title, this.none, this.body);
  }

  words() {
    const { t } = this;
    this.title.textContent = t('tabs').day;
    this.none.replaceChildren(...coded(t('empty_day')));
    this.pickLabel.textContent = t('day_day');
    this.allLabel.textContent = t('day_all');
    this.titles.forEach((h, i) => { h.textContent = t(['day_moments', 'day_tell', 'day_memories'][i]); });
    for (const [key, e] of this.labels) e.textContent = t(key);
    this.go.textContent = t('send');
    this.put();
  }

  async show() {
    if (!this.ears) {
      this.ears = listenTo({ token: this.wire.token, query: `?thread=${THREAD}`, live: false, heard: (m) => {
        if (m.kind === 'event') this.take([m.data]);
        if (m.kind === 'batch') this.take(m.list);
        if (m.kind === 'hello') this.read();
      } });
    }
    await this.read();
  }

  hide() {
    this.ears?.stop();
    this.ears = null;
  }

  take(/** @type {any[]} */ rows) {
    const fresh = rows.filter((r) => r.seq > this.last);
    if (!fresh.length) return;
    this.last = fresh.at(-1).seq;
    const kept = fresh.filter((r) => KINDS.test(r.type) && typeof r.payload?.time === 'string').map((r) => ({ ...r.payload, type: r.type }));
    this.events = this.events.concat(kept).slice(-KEPT);
    if (fresh.some((r) => /^(state|action|external)/.test(r.type))) this.state();
    this.put();
  }

  /** The events before the newest that the stream brings; then what it is now, and remembers. */
  async read() {
    try {
      const r = await this.wire.ask('GET', '/v1/threads');
      const one = (Array.isArray(r.body) ? r.body : []).find((x) => x.thread === THREAD);
      this.none.hidden = !!one;
      this.body.hidden = !one;
      if (!one) return;
      for (let page = 0; page < PAGES; page++) {
        const had = this.last;
        const e = await this.wire.ask('GET', `/v1/threads/${THREAD}/events?after=${Math.max(had, one.events - PAST * PAGES)}&limit=${PAST}`);
        if (e.status !== 200 || !e.body.length) break;
        this.take(e.body);
        if (this.last === had || e.body.length < PAST) break;
      }
      await this.state();
    } catch { /* the page shows that the way is broken; the next hello reads again */ }
  }

  async state() {
    if (this.reading) return;
    this.reading = true;
    try {
      const s = await this.wire.ask('GET', '/v1/companion');
      if (s.status === 200) this.life = s.body;
      const found = await this.wire.ask('POST', '/store/items/search', { namespace_prefix: ['companion', THREAD, this.life?.simulated ? 'simulated' : 'memories'], limit: 50 });
      if (found.status === 200) this.known = found.body.items ?? [];
    } catch { /* as above */ }
    this.put();
    setTimeout(() => { this.reading = false; }, 500);
  }

  put() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.paint(); });
  }

  /** What people call an activity, a place or a device. */
  name(/** @type {string} */ id) {
    const names = this.life?.names?.[id];
    return (names?.[this.language()] ?? names?.en)?.[0] ?? id;
  }

  paint() {
    const { t, life } = this, days = [...new Set(this.events.map((e) => dayOf(e.time)))].filter(Boolean), newest = days.at(-1) ?? '';
    const follows = !this.pick.value || this.pick.value === this.newest;
    fill(this.pick, JSON.stringify(days), ...days.map((d) => el('option', { value: d }, d)));
    if (follows) this.pick.value = newest;
    this.newest = newest;
    const day = this.pick.value, list = momentsOf(this.events, day, t, this.all.checked, (id) => this.name(id));
    fill(this.list, JSON.stringify([day, list.length, list.at(-1), this.all.checked]), ...list.filter((m) => !m.quiet || this.all.checked).map((m) => el('li', { class: m.tone },
      el('time', {}, m.since && dayOf(m.since) === day ? `${clock(m.since)} – ${clock(m.time)}` : clock(m.time)),
      el('span', { dir: 'auto' }, el('b', {}, m.what), m.more ? ` ${m.more}` : null, m.path ? el('details', {}, el('summary', {}, t('decision')), el('pre', {}, m.path.join('\n'))) : null))));
    const bars = list.filter((m) => m.since), width = (/** @type {number} */ m) => `${((100 * m) / 1440).toFixed(2)}%`;
    fill(this.hours, JSON.stringify([day, bars.length, bars[0]?.what]), ...bars.map((m) => {
      const from = dayOf(m.since) === day ? minute(m.since) : 0;
      return el('span', { title: `${m.what} ${clock(m.since)}–${clock(m.time)}`, style: `left:${width(from)};width:${width(Math.max(minute(m.time) - from, 1))};opacity:${m.id === 'sleep' ? 0.35 : 0.8}` });
    }), ...[0, 6, 12, 18].map((h) => el('small', { style: `left:${(100 * h) / 24}%` }, `${h}:00`)));
    const is = life && [[t('day_lives'), `${life.time ?? ''}${life.simulated ? ` · ${t('day_simulated')}` : ''}`], [t('day_doing'), this.name(life.activity?.type) ?? t('day_nothing')], [t('day_place'), this.name(life.place)], [t('day_energy'), Number.isFinite(life.energy) ? `${Math.round(life.energy)} %` : '–']];
    fill(this.now, JSON.stringify(is), ...(is ?? []).flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v ?? '–')]));
    fill(this.memories, JSON.stringify(this.known ?? []), ...(this.known?.length ? this.known.map((m) => el('li', {}, el('time', {}, clock(m.value?.at ?? '')), el('span', { dir: 'auto' }, el('b', {}, m.key), ` ${m.value?.text ?? ''} (${m.value?.messages ?? 1})`)))
      : [el('li', {}, t('none'))]));
  }

  async say() {
    try {
      const r = await this.wire.ask('POST', '/v1/companion/message', { text: this.text.value, from: this.from.value || undefined, urgent: this.urgent.checked });
      this.told.textContent = r.status < 300 ? this.t('day_sent') : sayServer(r.body?.detail ?? r.status);
      if (r.status < 300) this.text.value = '';
    } catch (e) { this.told.textContent = String(e); }
  }

  draw() {}
}
