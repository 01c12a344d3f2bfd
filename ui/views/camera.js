// @ts-check
// camera.js - what a camera of the world sees, asked for again every EVERY_MS while somebody can see it.
import { $, el, fill } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';

const EVERY_MS = 1500;

export class CameraView {
  /** @param {{wire: import('/ui/wire.js').Wire, t: (k: string) => any}} o */
  constructor({ wire, t }) {
    this.wire = wire;
    this.t = t;
    this.at = 0;
    $('camera-name').addEventListener('change', () => { this.at = 0; $('camera-picture').hidden = true; });
  }

  draw(/** @type {import('/ui/store.js').State} */ state) {
    const names = (Array.isArray(state.map?.world?.cameras) ? state.map.world.cameras : []).map((c) => c?.id).filter((n) => typeof n === 'string');
    $('camera').hidden = !names.length;
    if (!names.length) return;
    fill($('camera-name'), names.join(), el('option', { value: '' }, '–'), ...names.map((n) => el('option', { value: n }, n)));
    if ($('camera-name').value && !document.hidden && state.wire !== 'lost' && !this.asks && performance.now() - this.at > EVERY_MS) this.take($('camera-name').value);
  }

  async take(/** @type {string} */ name) {
    const img = $('camera-picture');
    this.asks = true;
    try {
      const r = await fetch(`/v1/cameras/${encodeURIComponent(name)}`, { headers: this.wire.headers(), cache: 'no-store' });
      if (!r.ok) throw new Error((await r.json().catch(() => null))?.detail ?? String(r.status));
      const reader = new FileReader(), blob = await r.blob();
      await new Promise((go) => { reader.onload = go; reader.readAsDataURL(blob); });
      if ($('camera-name').value !== name) return;
      img.src = String(reader.result);
      img.alt = `${this.t('camera')} ${name}`;
      img.hidden = false;
      $('camera-told').textContent = '';
    } catch (error) {
      img.hidden = true;
      $('camera-told').textContent = sayServer(/** @type {Error} */ (error).message);
    } finally {
      this.at = performance.now();
      this.asks = false;
    }
  }
}
