// @ts-check
// stop.js - the Stop button: fires on pointerdown, repeats until the latch is confirmed.
//
// It goes to a port of its own (the browser holds a port's requests back when six are under way). After
// CONFIRM_MS without a latch the page says so, and goes on trying. Esc and Pause press it too, wherever the
// focus is; an Esc that ends the choice of a Chinese word does not.
const REPEAT_MS = 250, CONFIRM_MS = 500, PING_MS = 2000, SLOW_MS = 4000, GIVE_UP_MS = 10000;
const AT_ONCE = 4; // under way together: a slow way must not be filled by repeats of the same word

export class Stop {
  constructor({ button, url, on }) {
    this.button = button;
    this.url = url;
    this.on = on;
    this.pressed = false;
    button.addEventListener('pointerdown', (e) => { e.preventDefault(); this.press(); });
    button.addEventListener('click', () => this.press()); // a keyboard, a screen reader
    addEventListener('keydown', (e) => { if ((e.key === 'Escape' || e.key === 'Pause') && !e.repeat && !e.isComposing) this.press(); }, true);
    setInterval(() => this.ping(), PING_MS);
  }

  /** Until the latch holds, or the page is told by telemetry that it does. */
  async press() {
    if (this.pressed) return;
    this.pressed = true;
    this.control = new AbortController(); // of all that are under way: after a reset none may come to count
    this.on({ kind: 'stop', state: 'pressed' });
    const began = performance.now();
    const late = setTimeout(() => this.on({ kind: 'stop', state: 'unconfirmed' }), CONFIRM_MS);
    let under = 0;
    while (this.pressed) {
      const wait = new Promise((go) => setTimeout(() => go(false), REPEAT_MS));
      if (under >= AT_ONCE) { await wait; continue; }
      under++;
      const one = this.send().finally(() => { under--; });
      one.then((yes) => { if (yes) this.confirmed(late, began); });
      if (await Promise.race([one, wait])) break;
    }
  }

  confirmed(late, began) {
    if (!this.pressed) return;
    clearTimeout(late);
    this.pressed = false;
    this.control?.abort();
    this.tookMs = performance.now() - began;
    this.on({ kind: 'stop', state: 'latched' });
  }

  async send() {
    try {
      const r = await fetch(this.url() + '/stop', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"reason":"the page"}', keepalive: true,
        signal: AbortSignal.any ? AbortSignal.any([this.control.signal, AbortSignal.timeout(GIVE_UP_MS)]) : this.control.signal });
      const body = await r.json();
      return r.ok && body.latched === true;
    } catch {
      await new Promise((go) => setTimeout(go, REPEAT_MS));
      return false;
    }
  }

  async ping() {
    if (!this.url() || this.asks || document.hidden) return; // one after the other; a hidden page's clock stands still
    const began = performance.now();
    this.asks = true;
    try {
      const r = await fetch(this.url() + '/ping', { cache: 'no-store', signal: AbortSignal.timeout(SLOW_MS) });
      await r.json();
      this.on({ kind: 'ping', rttMs: Math.round(performance.now() - began) });
    } catch (error) {
      this.on({ kind: 'ping', rttMs: null, refused: /** @type {Error} */ (error).name !== 'TimeoutError' });
    } finally { this.asks = false; }
  }
}
