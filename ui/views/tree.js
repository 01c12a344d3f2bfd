// @ts-check
// tree.js - the navigator's behaviour tree at work: every node with its state, as the body tells it.
import { el } from '/ui/dom.js';

const SIGNS = { RUNNING: '▶', SUCCESS: '✓', FAILURE: '✕', IDLE: '·', SKIPPED: '–' };

export class View {
  constructor(section, { t, empty }) {
    this.none = el('div', { hidden: true });
    this.empty = empty;
    this.t = t;
    this.made = '';
    this.rows = [];
    this.title = el('h1');
    this.file = el('p', { class: 'moment' });
    this.list = el('ul', { class: 'tree' });
    section.append(this.title, this.file, this.none, this.list);
  }

  words() {
    this.title.textContent = this.t('tabs').tree;
    this.made = '';
    this.told = undefined;
    this.none.replaceChildren(this.empty('empty_tree'));
  }

  draw(state) {
    const tree = state.tree, nodes = tree?.nodes ?? [];
    const text = nodes.length ? `${(tree.file ?? '').split('/').at(-1)}${tree.goal_id ? '' : ` · ${this.t('tree_rests')}`}` : '';
    this.none.hidden = nodes.length > 0;
    if (this.told !== text) this.file.textContent = this.told = text;
    const key = `${tree?.tree} ${nodes.length}`;
    if (key !== this.made) {
      this.made = key;
      this.rows = nodes.map((n) => {
        const parts = n.path.split(' > '), [kind, name] = (parts.at(-1) ?? '').split(':');
        const sign = el('span', { class: 'sign', 'aria-hidden': 'true' }), word = el('span', { class: 'state' });
        const e = el('li', { style: `--depth:${parts.length - 1}` }, sign, el('span', {}, el('b', {}, name ?? kind), name && name !== kind ? el('small', {}, ' ' + kind) : null), word);
        return { e, sign, word, is: '' };
      });
      this.list.replaceChildren(...this.rows.map((r) => r.e));
    }
    this.rows.forEach((r, i) => {
      const is = nodes[i]?.state ?? '';
      if (is === r.is) return;
      r.is = is;
      r.e.className = is.toLowerCase();
      r.sign.textContent = SIGNS[is] ?? '';
      r.word.textContent = this.t('tree_states')[is] ?? is;
    });
  }
}
