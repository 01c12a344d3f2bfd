// @ts-check
// stop.js - the Stop button: fires on pointerdown, repeats until the latch is confirmed.
//
// It goes to a port of its own (the browser holds a port's requests back when six are under way). After
// CONFIRM_MS without a latch the page says so, and goes on trying. Esc twice within 600 ms, and Pause,
// press it too.
const REPEAT_MS = 250, CONFIRM_MS = 500, TWICE_MS = 600, PING_MS = 2000, GIVE_UP_MS = 10000;
const AT_ONCE = 4; // under way together: a slow way must not be filled by repeats of the same word

export class Stop {
  constructor({ button, url, on }) {
    this.button = button;
    this.url = url;
    this.on = on;
    this.pressed = false;
    button.addEventListener('pointerdown', (e) => { e.preventDefault(); this.press(); });
    button.addEventListener('click', () => this.press()); // a keyboard, a screen reader
    let escape = -TWICE_MS;
    addEventListener('keydown', (e) => {
      if (e.key === 'Pause' && !e.repeat) this.press();
      if (e.key !== 'Escape' || e.repeat) return;
      if (e.timeStamp - escape < TWICE_MS) this.press();
      escape = e.timeStamp;
    });
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
    if (!this.url()) return;
    const began = performance.now();
    try {
      const r = await fetch(this.url() + '/ping', { cache: 'no-store', signal: AbortSignal.timeout(1900) });
      await r.json();
      this.on({ kind: 'ping', rttMs: Math.round(performance.now() - began) });
    } catch {
      this.on({ kind: 'ping', rttMs: null });
    }
  }
}
