// @ts-check
// system.js - what runs here: versions, store, model, body, what is degraded, and the doctor.
import { el, fill, fixed } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';
import { robotOf } from '/ui/store.js';
import { wrongs } from '/ui/wrong.js';

export class View {
  constructor(section, { wire, t }) {
    this.wire = wire;
    this.t = t;
    this.is = {};
    this.title = el('h1');
    this.wrong = el('div', { role: 'status' });
    this.facts = el('dl');
    this.go = el('button', { type: 'button', onclick: () => this.examine() });
    this.told = el('p', { role: 'status' });
    this.rows = el('ul', { class: 'doctor' });
    this.doctor = el('h2');
    section.append(this.title, this.wrong, this.facts, this.doctor, el('div', { class: 'row' }, this.go), this.told, this.rows);
  }

  words() {
    this.title.textContent = this.t('tabs').system;
    this.doctor.textContent = this.t('doctor');
    this.go.textContent = this.t('doctor_go');
  }

  async show() {
    const r = await this.wire.ask('GET', '/v1/system');
    if (r.status === 200) this.is = r.body;
  }

  async examine() {
    this.told.textContent = this.t('doctor_looks');
    const r = await this.wire.ask('POST', '/v1/doctor', {});
    this.told.textContent = r.status === 200 ? '' : sayServer(r.body?.detail ?? r.status);
    if (r.status !== 200) return;
    const sign = { ok: '✓', absent: '·', note: '·', missing: '✕', damaged: '✕', repaired: '↻' };
    const tone = { ok: 'good', missing: 'bad', damaged: 'bad', repaired: 'warn' };
    this.rows.replaceChildren(...r.body.filter((x) => x.check).map((x) => el('li', { class: tone[x.state] ?? 'quiet' },
      el('span', { class: 'sign', 'aria-hidden': 'true' }, sign[x.state] ?? '·'), el('b', {}, sayServer(x.check)), el('span', {}, `${this.t('checks')[x.state] ?? x.state}${x.detail ? ': ' + sayServer(x.detail) : ''}${x.advice ? ' → ' + sayServer(x.advice) : ''}`))));
  }

  draw(state) {
    const { t } = this, b = state.body, m = state.map, wrong = wrongs(state, t), i = this.is;
    fill(this.wrong, JSON.stringify(wrong), ...(wrong.length ? wrong.map((w) => el('p', { class: 'wrong' }, '⚠ ' + w)) : [el('p', { class: 'fine' }, '✓ ' + t('all_well'))]));
    const rows = [
      ['pons', i.version], [t('workspace'), i.workspace], [t('threads_thread'), i.thread], [t('store'), i.store],
      [t('decides'), i.model ? t('model') : t('rules')], [t('role'), t('roles')[state.role] ?? state.role], [t('connection'), `${t(state.wire)}${state.rttMs === null ? '' : ` ${state.rttMs} ms`} · ${state.restarts} ↻`],
      [t('body'), m ? `${robotOf(m, t)}${m.simulated ? ' · ' + t('simulated') : ''}` : t('no_body')],
      [t('realtime'), b && Number.isFinite(b.realtime) ? `× ${fixed(b.realtime, 2)}` : '–'], [t('odometer'), b ? `${fixed(b.odometer_m)} m` : '–'],
      [t('place'), b?.pose ? `${fixed(b.pose.x, 2)} ${fixed(b.pose.y, 2)} · ±${fixed(b.pose_std_m, 2)} m` : '–'],
      [t('skills'), (m?.skills ?? []).map((k) => t('skill_names')[k.name] ?? k.name.replaceAll('_', ' ')).filter((k, n, all) => all.indexOf(k) === n).join(t('comma'))],
    ];
    fill(this.facts, JSON.stringify(rows), ...rows.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v ?? '–')]));
  }
}
