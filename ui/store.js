// store.js - what the page knows, and how each message changes it: one pure function.
//
// Nothing here touches the document, the clock or the network: tests feed it messages and look at what
// comes out. Times are handed in.

export const ROWS_MAX = 500;
export const TRAIL_MAX = 600;

export const start = () => ({
  wire: 'connecting', // connecting, live, slow, lost, denied
  bootId: '', restarts: 0, seq: 0, stopPort: 0, role: '',
  heardMs: 0, rttMs: null, stopReachable: null,
  body: null, // telemetry, or null: no body answers
  bodyMs: 0,
  status: null, // as GET /v1/state
  map: null, mapFor: '',
  feedback: null,
  trail: [],
  rows: [], // newest last: {seq, ts_ms, type, payload, again}
  stop: 'ready', // ready, pressed, latched, unconfirmed
});

/** Events after which what `GET /v1/state` says may be different. */
const CHANGES = /^(run|task|mode|decision|effect|approval|guard|stop|plan|ladder|system|body|question|pause)/;

function row(state, data, again) {
  const rows = state.rows.concat({ seq: data.seq, ts_ms: data.ts_ms, type: data.type, payload: data.payload, again });
  return rows.length > ROWS_MAX ? rows.slice(rows.length - ROWS_MAX) : rows;
}

/** @returns {any} the next state; `stale` is set when the status should be read again */
export function reduce(state, message) {
  switch (message.kind) {
    case 'hello': {
      const restarted = state.bootId !== '' && state.bootId !== message.data.boot_id;
      if (state.bootId === message.data.boot_id && state.wire === 'live') return state; // told twice
      return {
        ...state, wire: 'live', bootId: message.data.boot_id, role: message.data.role, stopPort: message.data.stop_port,
        restarts: state.restarts + (restarted ? 1 : 0), status: message.data.snapshot ?? state.status, heardMs: message.now,
        again: restarted, stale: true,
      };
    }
    case 'event': {
      const data = message.data;
      if (data.seq && data.seq <= state.seq) return state; // it was here
      const next = { ...state, heardMs: message.now };
      if (data.type === 'skill.feedback') return { ...next, feedback: data.payload };
      if (data.seq) next.seq = data.seq;
      next.rows = row(state, data, state.again);
      next.again = false;
      if (CHANGES.test(data.type)) next.stale = true;
      if (data.type === 'effect' && /done|failed|canceled|unknown/.test(String(data.payload?.state))) next.feedback = null;
      return next;
    }
    case 'hb': return { ...state, heardMs: message.now, wire: state.wire === 'denied' ? state.wire : 'live' };
    case 'telemetry': {
      const p = message.data.pose;
      const last = state.trail[state.trail.length - 1];
      const moved = p && (!last || Math.hypot(p.x - last[0], p.y - last[1]) > 0.05);
      const jumped = p && last && Math.hypot(p.x - last[0], p.y - last[1]) > 1.5;
      const trail = !moved ? state.trail : jumped ? [[p.x, p.y]] : state.trail.concat([[p.x, p.y]]).slice(-TRAIL_MAX);
      const latched = !!message.data.stop?.latched;
      const stop = latched ? 'latched' : state.stop === 'latched' ? 'ready' : state.stop;
      return { ...state, body: message.data, bodyMs: message.now, trail, stop };
    }
    case 'body': return { ...state, body: message.data.link ? state.body : null };
    case 'status': return { ...state, status: message.data, stale: false };
    case 'map': return { ...state, map: message.data, mapFor: message.data.boot_id };
    case 'denied': return { ...state, wire: 'denied' };
    case 'ping': return { ...state, rttMs: message.rttMs, stopReachable: message.rttMs !== null };
    case 'stop': return { ...state, stop: message.state };
    case 'tick': {
      if (state.wire === 'denied' || state.heardMs === 0) return state;
      const silent = message.now - state.heardMs;
      const wire = silent > 3000 ? 'lost' : silent > 1500 || (state.rttMs ?? 0) > 300 ? 'slow' : 'live';
      return wire === state.wire ? state : { ...state, wire };
    }
    default: return state;
  }
}
