// @ts-check
// tabs.js - the views beside Now; each is loaded when it is first looked at, and asked to draw only
// while it is shown.
//
//     views/NAME.js: export class View { constructor(section, tools); words(); show(); hide(); draw(state) }
//
// Which one is shown stands in the address (?view=NAME), so a reload and a bookmark keep it.
import { $, el } from '/ui/dom.js';

const NAMES = ['now', 'chat', 'day', 'threads', 'graph', 'tree', 'plan', 'files', 'fleet', 'system'];

export class Tabs {
  /** @param {HTMLElement} list @param {HTMLElement} main @param {any} tools */
  constructor(list, main, tools) {
    this.list = list;
    this.main = main;
    this.tools = { ...tools, empty: (/** @type {string} */ key) => this.empty(key) };
    /** @type {Map<string, any>} */
    this.views = new Map();
    this.shown = 'now';
    this.gone = false;
    this.buttons = NAMES.map((name) => el('button', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': `view-${name}`, onclick: () => this.go(name) }));
    list.append(...this.buttons);
    list.addEventListener('keydown', (e) => {
      const at = NAMES.indexOf(this.shown), to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const i = (to + NAMES.length) % NAMES.length;
      this.go(NAMES[i]);
      this.buttons[i].focus();
    });
    addEventListener('popstate', () => this.show(this.wanted()));
    this.show(this.wanted());
  }

  /** The view of the address. */
  wanted() {
    const name = new URLSearchParams(location.search).get('view') ?? 'now';
    return NAMES.includes(name) ? name : 'now';
  }

  /** Whether somebody has chosen one. */
  asked() { return this.gone || new URLSearchParams(location.search).has('view'); }

  /** A person goes there, and Back comes back. */
  go(/** @type {string} */ name) {
    const address = new URL(location.href);
    this.gone = true;
    if (name === 'now') address.searchParams.delete('view');
    else address.searchParams.set('view', name);
    if (address.href !== location.href) history.pushState(null, '', address);
    return this.show(name);
  }

  /** What a view shows that has nothing yet: what would fill it, and the way there. */
  empty(/** @type {string} */ key) {
    return el('div', { class: 'empty' }, el('p', {}, this.tools.t(key)), el('button', { type: 'button', onclick: () => { this.go('now'); $('goal').focus(); } }, this.tools.t('to_now')));
  }

  words() {
    this.buttons.forEach((b, i) => { b.textContent = this.tools.t('tabs')[NAMES[i]]; });
    for (const v of this.views.values()) v.words?.();
  }

  async show(/** @type {string} */ name) {
    if (this.shown !== name) this.views.get(this.shown)?.hide?.();
    this.shown = name;
    this.buttons.forEach((b, i) => {
      b.setAttribute('aria-selected', String(NAMES[i] === name));
      b.tabIndex = NAMES[i] === name ? 0 : -1;
    });
    if (name !== 'now' && !this.views.has(name)) {
      const section = el('section', { class: 'view', id: `view-${name}`, role: 'tabpanel', 'aria-labelledby': `tab-${name}`, tabindex: '0' });
      this.main.append(section);
      this.views.set(name, {});
      const { View } = await import(`/ui/views/${name}.js`);
      this.views.set(name, new View(section, this.tools));
      this.views.get(name).words?.();
    }
    this.buttons[NAMES.indexOf(name)].scrollIntoView({ block: 'nearest', inline: 'nearest' });
    for (const v of this.main.querySelectorAll('.view')) /** @type {HTMLElement} */ (v).hidden = v.id !== `view-${this.shown}`;
    this.views.get(this.shown)?.show?.();
    this.tools.onShow();
  }

  draw(/** @type {import('/ui/store.js').State} */ state) {
    this.views.get(this.shown)?.draw?.(state);
  }
}
