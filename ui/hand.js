// @ts-check
// hand.js - hold to drive: a dead man's handle between a finger and the robot.
//
// While something is held, one request after the other goes out, ten a second at most; each has the
// tick of the reply before it, without which a velocity means nothing to the server. Letting go sends
// a zero at once; so do a hidden tab, a lost focus, a lost connection. And if none of that gets
// through, the body stands after 300 ms without a request: the page is never what makes it stop.
import { sayServer } from '/ui/i18n/say.js';

const EVERY_MS = 100, ASK_MS = 500;

export class Hand {
  /** @param {{wire: import('/ui/wire.js').Wire, told: (error: string) => void}} o */
  constructor({ wire, told }) {
    this.wire = wire;
    this.told = told;
    this.pilot = Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');
    this.n = 0;
    this.tick = 0;
    /** @type {Map<string, {v: number, w: number}>} what is held, by its key */
    this.held = new Map();
    this.running = false;
    this.may = false;
    addEventListener('blur', () => this.release());
    addEventListener('pagehide', () => this.release());
    document.addEventListener('visibilitychange', () => { if (document.hidden) this.release(); });
  }

  /** Whether driving is possible at all now; taking that away lets go. */
  allow(/** @type {boolean} */ may) {
    this.may = may;
    if (!may && this.held.size) this.release();
  }

  press(/** @type {string} */ key, /** @type {number} */ v, /** @type {number} */ w) {
    if (!this.may || document.hidden) return;
    this.held.set(key, { v, w });
    this.run();
  }

  release(/** @type {string|undefined} */ key = undefined) {
    if (key === undefined) this.held.clear();
    else this.held.delete(key);
    if (!this.held.size) this.send(0, 0, false); // beside the one that may be under way, and after it
  }

  /** The person has finished: the task ends well. */
  letGo() {
    this.held.clear();
    return this.send(0, 0, true);
  }

  /** Begins before the first touch, so the first touch has a tick. */
  greet() { return this.send(0, 0, false); }

  async run() {
    if (this.running) return;
    this.running = true;
    while (this.held.size && this.may) {
      const began = performance.now();
      let v = 0, w = 0;
      for (const h of this.held.values()) { v += h.v; w += h.w; }
      if (!(await this.send(v, w, false))) break;
      const rest = EVERY_MS - (performance.now() - began);
      if (rest > 0) await new Promise((go) => setTimeout(go, rest));
    }
    this.running = false;
  }

  async send(/** @type {number} */ v, /** @type {number} */ w, /** @type {boolean} */ over) {
    const n = ++this.n;
    try {
      const r = await this.wire.ask('POST', '/v1/drive', { pilot: this.pilot, n, tick: this.tick, v, w, let_go: over }, AbortSignal.timeout(ASK_MS));
      if (r.status === 202) {
        this.tick = r.body.tick;
        return true;
      }
      if (n === this.n) this.told(sayServer(r.body?.detail ?? r.status)); // overtaken ones say nothing
    } catch { /* the body stands by itself; the stream shows that the way is broken */ }
    return this.held.size > 0; // a held finger tries again
  }
}
