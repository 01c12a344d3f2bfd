// @ts-check
// drive.js - the pad of hold-to-drive: four buttons and the arrow keys, a speed, an end.
import { el } from '/ui/dom.js';

const WAYS = {
  up: { sign: '▲', v: 1, w: 0, key: 'ArrowUp' }, left: { sign: '◀', v: 0, w: 1, key: 'ArrowLeft' },
  right: { sign: '▶', v: 0, w: -1, key: 'ArrowRight' }, down: { sign: '▼', v: -1, w: 0, key: 'ArrowDown' },
};

export class Pad {
  /** @param {HTMLElement} parent @param {{hand: import('/ui/hand.js').Hand, t: (k: string) => any, end: () => void}} o */
  constructor(parent, { hand, t, end }) {
    this.parent = parent;
    this.hand = hand;
    this.t = t;
    this.speed = /** @type {HTMLInputElement} */ (el('input', { type: 'range', id: 'pad-speed', min: 0.05, max: 0.5, step: 0.05, value: 0.25 }));
    this.label = el('label', { for: 'pad-speed' });
    this.told = el('p', { id: 'pad-state', role: 'status' });
    this.over = el('button', { type: 'button', id: 'pad-end', onclick: end });
    this.keys = Object.entries(WAYS).map(([way, { sign, v, w, key }]) => {
      const b = el('button', { type: 'button', class: `key ${way}`, 'data-way': way }, sign);
      const press = () => { b.classList.add('held'); hand.press(way, v * this.mps(), w * 4 * this.mps()); };
      const release = () => { if (b.classList.contains('held')) { b.classList.remove('held'); hand.release(way); } };
      b.addEventListener('pointerdown', (e) => { e.preventDefault(); b.focus(); b.setPointerCapture(e.pointerId); press(); });
      for (const kind of ['pointerup', 'pointercancel', 'lostpointercapture', 'contextmenu', 'blur']) b.addEventListener(kind, release);
      b.addEventListener('keydown', (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); if (!e.repeat) press(); } });
      b.addEventListener('keyup', (e) => { if (e.key === 'Enter' || e.key === ' ') release(); });
      return { b, key, press, release, way };
    });
    this.box = el('div', { class: 'keys', tabindex: '0', role: 'group' }, ...this.keys.map((k) => k.b));
    parent.addEventListener('keydown', (e) => {
      const k = this.keys.find((x) => x.key === e.key);
      if (!k || e.target === this.speed) return;
      e.preventDefault();
      if (!e.repeat) k.press();
    });
    parent.addEventListener('keyup', (e) => this.keys.find((x) => x.key === e.key)?.release());
    this.box.addEventListener('focusout', (e) => {
      if (!this.box.contains(/** @type {Node|null} */ (e.relatedTarget))) for (const k of this.keys) k.release();
    });
    parent.append(this.told, this.box, el('div', { class: 'row' }, this.label, this.speed, this.over));
  }

  mps() { return Number(this.speed.value); }

  words() {
    this.label.textContent = this.t('speed');
    this.over.textContent = this.t('drive_end');
    this.box.setAttribute('aria-label', this.t('drive_keys'));
    for (const k of this.keys) k.b.setAttribute('aria-label', this.t('ways')[k.way]);
  }

  /** waits: the task is queued; on: it may be driven. */
  draw(/** @type {'off'|'waits'|'on'} */ is, /** @type {string} */ gate) {
    this.parent.hidden = is === 'off';
    this.hand.allow(is === 'on');
    if (is === 'on' && this.was !== 'on') {
      this.hand.greet();
      this.parent.scrollIntoView({ block: 'nearest' }); // with the map above it
    }
    this.was = is;
    const text = is === 'on' ? `${this.t('drive_on')}${gate ? ' · ' + gate : ''}` : this.t('drive_waits');
    if (this.told.textContent !== text) this.told.textContent = text;
    for (const k of this.keys) {
      k.b.disabled = is !== 'on';
      if (is !== 'on') k.b.classList.remove('held');
    }
  }
}
