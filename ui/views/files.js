// @ts-check
// files.js - the workspace's files, to look at; of a protocol file what it says, and where it is wrong.
import { coded, el } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';

const size = (n) => (n < 1024 ? `${n} B` : n < 1048576 ? `${(n / 1024).toFixed(0)} kB` : `${(n / 1048576).toFixed(1)} MB`);

const brief = (v) => { const s = JSON.stringify(v) ?? ''; return s.length > 110 ? s.slice(0, 110) + '…' : s; };

export class View {
  constructor(section, { wire, t }) {
    this.wire = wire;
    this.t = t;
    this.path = '';
    this.title = el('h1');
    this.way = el('p', { class: 'row' });
    this.list = el('ul', { class: 'files' });
    this.text = el('pre', { tabindex: '0', hidden: true });
    this.told = el('p', { role: 'status' });
    this.protocol = el('div', { class: 'protocol' });
    section.append(this.title, this.way, this.told, this.list, this.protocol, this.text);
  }

  words() { this.title.textContent = this.t('tabs').files; }

  async show(path = this.path) {
    this.path = path;
    const r = await this.wire.ask('GET', `/v1/files?path=${encodeURIComponent(path)}`);
    if (this.path !== path) return;
    const parts = path ? path.split('/') : [];
    this.way.replaceChildren(el('button', { type: 'button', onclick: () => this.show('') }, '⌂'),
      ...parts.map((p, i) => el('button', { type: 'button', 'aria-current': i === parts.length - 1, onclick: () => this.show(parts.slice(0, i + 1).join('/')) }, p)));
    const b = r.body ?? {};
    this.list.hidden = !b.entries;
    this.text.hidden = r.status !== 200 || !!b.entries;
    this.told.replaceChildren(...(r.status !== 200 ? [sayServer(b.detail ?? r.status)] : b.entries && !b.entries.length ? coded(this.t(path ? 'none' : 'empty_files')) : []));
    this.protocol.replaceChildren(...this.records(b.protocol));
    this.text.textContent = b.entries ? '' : b.text ?? this.t('files_no_text');
    this.list.replaceChildren(...(b.entries ?? []).map((e) => el('li', {}, el('button', { type: 'button', onclick: () => this.show(path ? `${path}/${e.name}` : e.name) },
      el('span', {}, `${e.folder ? '▸' : '·'} ${e.name}${e.folder ? '/' : ''}`), el('small', {}, e.folder ? '' : size(e.bytes)), el('small', {}, new Date(e.ts_ms).toLocaleString([], { hour12: false }))))));
  }

  /** @param {any} p @returns {any[]} */
  records(p) {
    const { t } = this;
    if (!p) return [];
    if (p.error) return [el('h2', {}, t('files_faults')), el('p', { class: 'wrong' }, sayServer(p.error))];
    const row = (r) => el('tr', {}, el('th', { scope: 'row' }, r.kind), el('td', {}, r.id), el('td', {}, String(r.line)), el('td', {}, el('details', {}, el('summary', {}, brief(r.value)), el('pre', {}, JSON.stringify(r.value, null, 1)))));
    return [
      el('p', { class: 'moment' }, `${t('files_dialect')} ${p.dialect} · ${p.records.length}${p.generation ? ` · #${p.generation}` : ''}`),
      ...(p.faults.length ? [el('h2', {}, t('files_faults')), el('ul', { class: 'faults' }, ...p.faults.map((f) => el('li', {}, `${f.line}:${f.column} ${f.kind ?? ''} ${f.id ?? ''}: ${sayServer(f.what)}`)))] : []),
      ...(p.records.length ? [el('h2', {}, t('files_records')), el('div', { class: 'changes' }, el('table', { class: 'records' }, el('tbody', {}, ...p.records.map(row))))] : []),
      el('h2', {}, t('files_text')),
    ];
  }
}
