// @ts-check
// fleet.js - a fleet: its map with robots, zones and who has them, tasks, and who waits for what.
//
// What stands (zones, where they lead) is drawn once; what changes each second is a class of a zone, a
// place of a robot, a line to what it waits for.
import { coded, el, fill, plain } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';

const f = (/** @type {number} */ n) => String(Math.round(n * 100) / 100);
const SIDE = 0.55; // of a zone's sign on the map [m]
const NAMED_MAX = 200; // zones with their names; in a larger map a finger on one tells it

/** Why a robot stands, in the page's language. */
export function whyOf(/** @type {any} */ r, /** @type {any[]} */ held, /** @type {(key: string) => any} */ t) {
  const blocked = held.some(([zone, by]) => zone === r.waits_for && by === null);
  const key = ['unseen', 'lost', 'astray'].includes(r.state) ? r.state : r.stuck ? 'stuck' : !r.waits_for ? '' : r.waits_for === r.zone ? 'turn' : r.held_by ? 'held' : blocked ? 'blocked' : 'safe';
  const put = /** @type {Record<string, any>} */ ({ '{r}': r.id, '{z}': key === 'stuck' ? r.zone : r.waits_for, '{h}': r.held_by });
  return key ? t('fleet_why')[key].replace(/\{[rzh]\}/g, (/** @type {string} */ k) => String(put[k] ?? '?')) : sayServer(r.why);
}

export class View {
  constructor(section, { wire, t }) {
    this.wire = wire;
    this.t = t;
    this.title = el('h1');
    this.none = el('p', { hidden: true });
    this.runs = el('p', { role: 'status', class: 'moment' });
    this.go = el('button', { type: 'button', onclick: () => this.continueAll() });
    this.asked = el('div', { class: 'row', role: 'group', 'aria-live': 'polite', hidden: true });
    this.map = el('div', { id: 'fleet-map', class: 'picture' });
    this.legend = el('p', { class: 'legend' });
    this.titles = [el('h2'), el('h2')];
    this.robots = el('table', { class: 'fleet' });
    this.tasks = el('table', { class: 'fleet' });
    this.told = el('p', { role: 'status' });
    this.fields = ['name', 'stops'].map((name) => el('input', { name, required: '', maxlength: '200' }));
    this.more = el('button');
    this.form = el('form', { class: 'row', onsubmit: (e) => { e.preventDefault(); this.assign(); } }, ...this.fields, this.more);
    this.body = el('div', {}, this.runs, el('div', { class: 'row' }, this.go), this.asked, this.told, this.map, this.legend, this.titles[0], el('div', { class: 'changes' }, this.robots), this.titles[1], el('div', { class: 'changes' }, this.tasks), this.form);
    section.append(this.title, this.none, this.body);
  }

  words() {
    const { t } = this;
    this.title.textContent = t('tabs').fleet;
    this.none.replaceChildren(...coded(t('empty_fleet')));
    this.go.textContent = t('fleet_go');
    this.more.textContent = t('fleet_assign')[2];
    this.fields.forEach((e, i) => { for (const a of ['placeholder', 'aria-label']) e.setAttribute(a, t('fleet_assign')[i]); });
    this.titles[0].textContent = t('fleet_robots');
    this.titles[1].textContent = t('fleet_tasks');
    this.svg?.setAttribute('aria-label', t('fleet_map'));
    this.legend.replaceChildren(...t('fleet_legend').map((/** @type {string} */ word, /** @type {number} */ i) => el('span', { class: ['l-held', 'l-shut', 'l-waits'][i] }, word)));
  }

  make(/** @type {any} */ map) {
    const zones = map.zones, xs = zones.map((z) => z.x), ys = zones.map((z) => z.y);
    const x0 = Math.min(...xs) - 1, y0 = Math.min(...ys) - 1, w = Math.max(...xs) - x0 + 1, h = Math.max(...ys) - y0 + 1;
    this.turn = 2 * y0 + h; // y grows upwards
    this.at = new Map(zones.map((z) => [z.id, [z.x, this.turn - z.y]]));
    this.signs = new Map();
    const lines = zones.flatMap((z) => (z.to ?? []).filter((to) => this.at.has(to)).map((to) => [this.at.get(z.id), this.at.get(to)]));
    const way = el('path', { class: 'leads', fill: 'none', d: lines.map(([a, b]) => `M${f(a[0])} ${f(a[1])}L${f(b[0])} ${f(b[1])}`).join('') });
    const unit = Math.max(w, h * 1.3) / 46;
    const shapes = zones.map((z) => {
      const [x, y] = this.at.get(z.id), s = Math.min(SIDE, unit * 1.6);
      const sign = z.kind === 'lane' ? el('circle', { class: 'lane', cx: f(x), cy: f(y), r: f(s / 2) }) : el('rect', { class: 'bay', x: f(x - s / 2), y: f(y - s / 2), width: f(s), height: f(s) });
      sign.append(el('title', {}, z.id));
      sign.addEventListener('click', () => this.shut(z.id));
      const label = el('text', { x: f(x), y: f(y + s / 2 + unit * 0.8) }), name = `${{ park: 'P ', dock: '⚡ ', station: '◆ ' }[z.kind] ?? ''}${z.id}`;
      this.signs.set(z.id, { sign, label, name });
      return el('g', {}, sign, zones.length > NAMED_MAX ? null : label);
    });
    this.waits = el('path', { class: 'waits', fill: 'none' });
    this.fleet = el('g');
    this.unit = unit;
    this.svg = el('svg', { role: 'img', 'aria-label': this.t('fleet_map'), viewBox: `${f(x0)} ${f(y0)} ${f(w)} ${f(h)}` }, way, ...shapes, this.waits, this.fleet);
    this.svg.style.setProperty('--unit', `${f(unit)}px`);
    this.map.replaceChildren(this.svg);
  }

  draw(/** @type {import('/ui/store.js').State} */ state) {
    const { t } = this, is = this.last = state.fleet;
    this.none.hidden = !!is;
    this.body.hidden = !is;
    if (!is) return;
    if (state.fleetMap?.zones.length && state.fleetMap !== this.made) this.make(this.made = state.fleetMap);
    const told = is.running ? `${t('fleet_runs')}: pid ${is.pid} · ${is.host}` : `⚠ ${t('fleet_still')}`;
    if (this.runs.textContent !== told) this.runs.textContent = told;
    if (this.svg) this.put(is);
    const names = new Map(is.tasks.map((x) => [x.id, x.name]));
    fill(this.robots, JSON.stringify([is.robots, is.held]), el('tbody', {}, ...is.robots.map((r) => this.robot(r, names, is.held))));
    fill(this.tasks, JSON.stringify(is.tasks), el('tbody', {}, ...(is.tasks.length ? is.tasks.map((x) => this.task(x)) : [el('tr', {}, el('td', {}, t('none')))])));
  }

  put(/** @type {any} */ is) {
    const held = new Map(is.held), unit = this.unit;
    for (const [id, { sign, label, name }] of this.signs) {
      const by = held.get(id), text = plain(`${name}${by ? ` · ${by}` : by === null ? ' ✕' : ''}`);
      sign.classList.toggle('held', !!by);
      sign.classList.toggle('blocked', by === null);
      if (label.textContent !== text) label.textContent = text;
    }
    const placed = is.robots.map((r) => ({ r, at: Number.isFinite(r.x) && Number.isFinite(r.y) ? [r.x, this.turn - r.y] : this.at.get(r.zone) })).filter((x) => x.at);
    this.waits.setAttribute('d', placed.map(({ r, at }) => { const to = this.at.get(r.waits_for); return to && r.waits_for !== r.zone ? `M${f(at[0])} ${f(at[1])}L${f(to[0])} ${f(to[1])}` : ''; }).join(''));
    fill(this.fleet, JSON.stringify(placed.map(({ r, at }) => [r.id, at, r.latched, r.state])), ...placed.map(({ r, at }) => el('g', {
      class: `robot${r.latched ? ' stopped' : ''}${['lost', 'astray', 'unseen'].includes(r.state) || !r.connected ? ' away' : ''}`, transform: `translate(${f(at[0])} ${f(at[1])})`,
    }, el('circle', { r: f(unit * 1.1) }), el('text', { y: f(unit * 0.05) }, String(r.id).slice(0, 4)), el('title', {}, r.id))));
  }

  robot(/** @type {any} */ r, /** @type {Map<string, string>} */ names, /** @type {any[]} */ held) {
    const { t } = this, away = r.state === 'lost' || r.state === 'astray', why = whyOf(r, held, t);
    const cell = (/** @type {any[]} */ ...what) => el('td', {}, ...what);
    return el('tr', { class: away ? 'bad' : '' }, el('th', { scope: 'row' }, el('a', { href: `/?thread=${encodeURIComponent(r.thread ?? `fleet-${r.id}`)}` }, r.id)),
      cell(`${t('fleet_states')[r.state] ?? r.state}${r.latched ? ` · ${t('latched')}` : ''}`), cell(`${r.zone ?? '–'}${r.next ? ` → ${r.next}` : ''}${r.to && r.to !== r.next ? ` ⇢ ${r.to}` : ''}`),
      cell(Number.isFinite(r.battery_pct) ? `${r.battery_pct} %` : '–'), cell(r.task ? names.get(r.task) ?? r.task : '–'), el('td', { class: 'why' }, why),
      cell(away ? this.button('fleet_free', () => this.ask(`${r.id}: ${t('fleet_free_ask')}`, () => this.say(`/v1/fleet/robots/${encodeURIComponent(r.id)}/clear`, {}))) : null));
  }

  task(/** @type {any} */ x) {
    const { t } = this, at = `/v1/fleet/tasks/${encodeURIComponent(x.id)}/`, over = ['done', 'failed', 'cancelled'].includes(x.state), unknown = x.state === 'outcome_unknown';
    const stops = (x.stops ?? []).map((/** @type {string} */ s, /** @type {number} */ i) => `${i ? ' › ' : ''}${!over && i === x.stop && x.working ? '▶ ' : i < x.stop || x.state === 'done' ? '✓ ' : ''}${s}`);
    return el('tr', { class: x.state === 'failed' || unknown ? 'bad' : '' }, el('th', { scope: 'row' }, x.name ?? x.id), el('td', {}, t('fleet_task')[x.state] ?? x.state), el('td', {}, x.robot ?? '–'), el('td', {}, stops.join('')),
      el('td', {}, x.priority === 'normal' ? '' : `${t('priority')} ${x.priority}`, x.deadline_ms ? ` ${t('until')} ${new Date(x.deadline_ms).toLocaleTimeString([], { hour12: false })}` : ''),
      el('td', {}, over ? null : this.button('fleet_cancel', () => this.say(`${at}cancel`, {})),
        unknown ? this.button('fleet_done', () => this.say(`${at}settle`, { done: true })) : null, unknown ? this.button('fleet_failed', () => this.say(`${at}settle`, { done: false })) : null));
  }

  button(/** @type {string} */ key, /** @type {() => void} */ run) { return el('button', { type: 'button', onclick: run }, this.t(key)); }

  ask(/** @type {string} */ text, /** @type {() => void} */ run) {
    const close = () => { this.asked.hidden = true; this.asked.replaceChildren(); };
    this.asked.replaceChildren(el('span', {}, text + '?'), el('button', { type: 'button', class: 'main', onclick: () => { close(); run(); } }, this.t('yes')), el('button', { type: 'button', onclick: close }, this.t('no')));
    this.asked.hidden = false;
    this.asked.querySelector('button').focus();
  }

  /** A zone that nobody may enter, because of a person or an obstacle; and free again. */
  shut(/** @type {string} */ id) {
    const is = this.last?.held.some((/** @type {any} */ h) => h[0] === id && h[1] === null);
    this.ask(`${id}: ${this.t(is ? 'fleet_open' : 'fleet_shut')}`, () => this.say(`/v1/fleet/zones/${encodeURIComponent(id)}/block`, { blocked: !is }));
  }

  async say(/** @type {string} */ path, /** @type {any} */ body) {
    try {
      const r = await this.wire.ask('POST', path, body);
      this.told.textContent = r.status < 300 ? this.t('fleet_heard') : sayServer(r.body?.detail ?? r.status);
      return r.status < 300;
    } catch (e) { this.told.textContent = String(e); }
  }

  async assign() {
    const [name, stops] = this.fields.map((e) => e.value.trim());
    if (await this.say('/v1/fleet/tasks', { name, stops })) this.form.reset();
  }

  /** After a reset each robot's tasks wait for their own word. */
  async continueAll() {
    const names = (this.last?.robots ?? []).map((r) => r.thread);
    for (const name of names) await this.say(`/v1/continue?thread=${encodeURIComponent(name)}`, {});
  }
}
