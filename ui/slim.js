// @ts-check
// slim.js - what an event may weigh in the page: pure, shared with the tests.
//
// The store keeps all of it; the page shows lines. A model's answer of ten megabytes, five hundred times, must
// not fill a phone.
const TEXT_MAX = 4000, LIST_MAX = 200, DEPTH_MAX = 12, BUDGET = 60000;

// A piece of a text keeps the whole of it in memory, unless it is made anew.
const encoder = new TextEncoder(), decoder = new TextDecoder();
const piece = (/** @type {string} */ text, /** @type {number} */ n) => decoder.decode(encoder.encode(text.slice(0, n))) + '…';

/** The value, cut where it is long. */
export function slim(/** @type {any} */ value) {
  let left = BUDGET;
  const walk = (/** @type {any} */ v, /** @type {number} */ depth) => {
    if (typeof v === 'string') {
      const most = Math.max(Math.min(TEXT_MAX, left), 16), out = v.length > most ? piece(v, most) : v;
      left -= out.length;
      return out;
    }
    if (!v || typeof v !== 'object') return v;
    if (depth > DEPTH_MAX || left <= 0) return '…';
    if (Array.isArray(v)) return v.slice(0, LIST_MAX).map((x) => { left -= 2; return walk(x, depth + 1); });
    /** @type {Record<string, any>} */
    const out = {};
    let n = 0;
    for (const k of Object.keys(v)) {
      if (n++ > LIST_MAX || left <= 0) break;
      left -= k.length + 4;
      out[k.length > 200 ? piece(k, 200) : k] = walk(v[k], depth + 1);
    }
    return out;
  };
  return walk(value, 0);
}
