// @ts-check
// wire.js - the page's way to the server: requests, and streams of events that come back by themselves.
//
// A stream is read with fetch, since an EventSource cannot show a token. It remembers the number of the
// last event, and asks for what came after it whenever the connection breaks; so nothing is lost or
// seen twice. What has no number (telemetry, heartbeats) is only ever the newest.

/** One server-sent event. @typedef {{id: string|null, event: string, data: any}} Sse */

/** Splits a stream of text into events; a text may end anywhere. */
export function sseParser(/** @type {(e: Sse) => void} */ emit) {
  let rest = '', seen = 0; // of rest, where no event ends: a long one is not looked through at each piece
  return (/** @type {string} */ text) => {
    rest += text;
    for (;;) {
      const end = rest.indexOf('\n\n', seen);
      if (end < 0) {
        seen = Math.max(rest.length - 1, 0);
        return;
      }
      const lines = rest.slice(0, end).split('\n');
      rest = rest.slice(end + 2);
      seen = 0;
      let id = null, event = 'message', data = '';
      for (const line of lines) {
        if (line.startsWith('id: ')) id = line.slice(4);
        else if (line.startsWith('event: ')) event = line.slice(7);
        else if (line.startsWith('data: ')) data += (data ? '\n' : '') + line.slice(6);
      }
      let value;
      try { value = JSON.parse(data); } catch { continue; } // nothing, or a proxy's words between ours
      emit({ id, event, data: value });
    }
  };
}

export class Wire {
  constructor({ base = '', token = '' } = {}) {
    this.base = base;
    this.token = token;
  }

  /** @param {Record<string, string>} more @returns {Record<string, string>} */
  headers(more = {}) {
    return this.token ? { authorization: 'Bearer ' + this.token, ...more } : more;
  }

  /**
   * @param {string} method @param {string} path @param {any} [body] @param {AbortSignal} [signal]
   * @returns {Promise<{status: number, body: any}>}
   */
  async ask(method, path, body, signal) {
    const reply = await fetch(this.base + path, {
      method,
      headers: this.headers(body === undefined ? {} : { 'content-type': 'application/json' }),
      body: body === undefined ? undefined : JSON.stringify(body), signal,
    });
    const text = await reply.text();
    let value = null;
    try { value = text ? JSON.parse(text) : null; } catch { value = { detail: text }; }
    return { status: reply.status, body: value };
  }

  /**
   * Reads a stream until stop() is called. told: 'open', 'event', 'denied', 'broken'.
   * @param {string} path @param {{last?: string, on: (what: string, e?: any) => void}} o
   * @returns {{stop: () => void}}
   */
  listen(path, { last = '', on }) {
    const control = new AbortController();
    let wait = 250;
    const read = async () => {
      while (!control.signal.aborted) {
        try {
          const reply = await fetch(this.base + path, {
            headers: this.headers(last ? { 'last-event-id': last } : {}), signal: control.signal, cache: 'no-store',
          });
          if (reply.status === 401 || reply.status === 403) {
            on('denied', reply.status);
            return;
          }
          if (!reply.ok || !reply.body) throw new Error(String(reply.status));
          wait = 250;
          on('open');
          const feed = sseParser((e) => {
            if (e.id) last = e.id;
            on('event', e);
          });
          const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            feed(value);
          }
        } catch (error) {
          if (control.signal.aborted) return;
        }
        on('broken');
        await new Promise((go) => setTimeout(go, wait));
        wait = Math.min(wait * 2, 2000);
      }
    };
    read();
    return { stop: () => control.abort() };
  }
}
