// @ts-check
// files.js - the workspace's files, to look at.
import { el } from '/ui/dom.js';

const size = (n) => (n < 1024 ? `${n} B` : n < 1048576 ? `${(n / 1024).toFixed(0)} kB` : `${(n / 1048576).toFixed(1)} MB`);

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
    section.append(this.title, this.way, this.told, this.list, this.text);
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
    this.told.textContent = r.status !== 200 ? b.detail ?? String(r.status) : b.entries && !b.entries.length ? this.t('none') : '';
    this.text.textContent = b.entries ? '' : b.text ?? this.t('files_no_text');
    this.list.replaceChildren(...(b.entries ?? []).map((e) => el('li', {}, el('button', { type: 'button', onclick: () => this.show(path ? `${path}/${e.name}` : e.name) },
      el('span', {}, `${e.folder ? '▸' : '·'} ${e.name}${e.folder ? '/' : ''}`), el('small', {}, e.folder ? '' : size(e.bytes)), el('small', {}, new Date(e.ts_ms).toLocaleString([], { hour12: false }))))));
  }
}
