// @ts-check
// store.js - what the page knows, and how each message changes it: one pure function.
//
// Nothing here touches the document, the clock or the network: tests feed it messages and look at what
// comes out. Times are handed in.

import { slim } from './slim.js';

export const ROWS_MAX = 500;
export const TRAIL_MAX = 600;
const LOST_MS = 2500; // looked at four times a second: grey before three seconds are over
const ASLEEP_MS = 1500; // no look for so long: this page itself stood still, which says nothing of the server
const MISSES = 3; // of Stop's port, one after the other, while events still come: it may be slow

/** @typedef {'connecting'|'live'|'slow'|'lost'|'resync'|'denied'} WireState */

export const start = () => ({
  wire: /** @type {WireState} */ ('connecting'),
  bootId: '', restarts: 0, seq: 0, newest: 0, stopPort: 0, role: '', thread: '',
  heardMs: 0, nowMs: 0, wallMs: 0, skewMs: 0, // heard and now: a clock that only goes on 
  /** @type {number|null} */ rttMs: null, /** @type {boolean|null} */ stopReachable: null, misses: 0,
  /** @type {any} telemetry, or null: no body answers */ body: null,
  noBody: false, bodyMs: 0,
  /** @type {any} the way ahead and the scan */ view: null,
  /** @type {any} the navigator's tree, at work */ tree: null,
  /** @type {any} as GET /v1/state */ status: null,
  /** @type {any} */ map: null, mapFor: '', /** @type {any[]} of the map, without a name */ rooms: [], /** @type {any[]} that people named */ places: [], /** @type {any[]} as GET /v1/objects */ seen: [],
  /** @type {any} */ feedback: null,
  /** @type {number[][]} */ trail: [],
  /** @type {any[]} newest last: {seq, ts_ms, ns, type, payload, again} */ rows: [],
  stop: 'ready', // ready, pressed, latched, unconfirmed
  /** @type {any} as GET /v1/fleet; null: this is no fleet's workspace */ fleet: null,
  /** @type {any} its zones */ fleetMap: null, stopMs: 0,
  fault: '', // what the store, or the server behind it, cannot do
  decidedBy: '', llm: '', // who decided last; up, down, or '': no model was heard of
  again: false, stale: false,
});
/** @typedef {ReturnType<typeof start>} State */

/** Events after which what `GET /v1/state` says may be different. */
const CHANGES = /^(run|task|mode|decision|effect|approval|guard|stop|plan|ladder|system|body|question|pause)/;

const bounded = (/** @type {any[]} */ rows) => (rows.length > ROWS_MAX ? rows.slice(rows.length - ROWS_MAX) : rows);

/** Changes `next`, which is the caller's own copy; a row goes to `rows`, which are put behind the others once. */
function take(/** @type {State} */ next, /** @type {any} */ data, /** @type {any[]} */ rows) {
  if (!data || typeof data.type !== 'string' || (data.seq && data.seq <= next.seq)) return; // nothing, or it was here
  if (data.type === 'skill.feedback') { next.feedback = data.payload; return; }
  if (data.seq) next.seq = data.seq;
  if (next.wire === 'resync' && next.seq >= next.newest) next.wire = 'live';
  rows.push({ seq: data.seq, ts_ms: data.ts_ms, ns: data.ns, type: data.type, payload: slim(data.payload), again: next.again });
  next.again = false;
  if (CHANGES.test(data.type)) next.stale = true;
  if (data.type === 'effect' && /done|failed|canceled|unknown/.test(String(data.payload?.state))) next.feedback = null;
  if (data.type === 'decision' && data.payload?.source) {
    next.decidedBy = data.payload.source;
    if (next.decidedBy === 'llm') next.llm = 'up';
    else if (next.decidedBy === 'rule_engine' && next.llm === 'up') next.llm = 'down'; // it had decided before
  }
}

function events(/** @type {State} */ state, /** @type {any[]} */ list, /** @type {number} */ now) {
  const next = { ...state, heardMs: now };
  /** @type {any[]} */
  const rows = [];
  for (const data of list) take(next, data, rows);
  if (rows.length) next.rows = bounded(state.rows.concat(rows));
  return next;
}

const sane = (/** @type {any} */ p) => (p && [p.x, p.y, p.yaw].every((n) => Number.isFinite(n) && Math.abs(n) < 1e7) ? p : null);
const numbers = (/** @type {any} */ list) => (Array.isArray(list) ? list.map((n) => (Number.isFinite(n) ? n : 0)) : []);
const objects = (/** @type {any} */ list) => (Array.isArray(list) ? list.filter((x) => x && typeof x === 'object') : []);

/** What the rest of the page may rely on: a status has lists where it has lists. */
function status(/** @type {any} */ data) {
  if (!data || typeof data !== 'object') return null;
  return { ...data, queue: objects(data.queue), skills: objects(data.skills), approvals: objects(data.approvals).map((q) => ({ ...q, ops: objects(q.ops), options: Array.isArray(q.options) ? q.options : [] })) };
}

function telemetry(/** @type {State} */ state, /** @type {any} */ said, /** @type {number} */ now) {
  if (!said || typeof said !== 'object') return state;
  const p = sane(said.pose), data = { ...said, pose: p, obstacles: objects(said.obstacles).filter((o) => Number.isFinite(o.x) && Number.isFinite(o.y)) };
  const last = state.trail[state.trail.length - 1];
  const far = p && last ? Math.hypot(p.x - last[0], p.y - last[1]) : Infinity;
  const trail = !p || far <= 0.05 ? state.trail : far > 1.5 ? [[p.x, p.y]] : state.trail.concat([[p.x, p.y]]).slice(-TRAIL_MAX);
  const stop = data.stop?.latched ? 'latched' : state.stop === 'latched' ? 'ready' : state.stop;
  return { ...state, body: data, noBody: false, bodyMs: now, trail, stop };
}

/** How many of a fleet's robots are latched, of those that are there; null: no fleet, or nobody says how it stands. */
export function latches(/** @type {State} */ state) {
  const there = state.fleet?.running ? state.fleet.robots.filter((/** @type {any} */ r) => r.connected) : [];
  return there.length ? { n: there.filter((/** @type {any} */ r) => r.latched).length, of: there.length } : null;
}

// What the orchestrator says is a little old: it takes a stop that was just confirmed back no sooner than AFTER_MS.
const AFTER_MS = 4000;
function fleet(/** @type {State} */ state, /** @type {any} */ data, /** @type {number} */ now) {
  if (!data || typeof data !== 'object') return state;
  const next = { ...state, fleet: { ...data, robots: objects(data.robots), tasks: objects(data.tasks), held: Array.isArray(data.held) ? data.held.filter(Array.isArray) : [] } };
  const all = latches(next);
  if (all && all.n === all.of) next.stop = 'latched';
  else if (all && state.stop === 'latched' && now - state.stopMs > AFTER_MS) next.stop = 'ready';
  return next;
}

/** An answer of Stop's port, its refusal, or none in time: one that is slow is not one that is gone. */
function ping(/** @type {State} */ state, /** @type {any} */ m) {
  if (m.rttMs !== null) return { ...state, rttMs: m.rttMs, stopReachable: true, misses: 0 };
  const misses = state.misses + 1, gone = misses >= MISSES || (m.refused && misses > 1) || state.wire === 'lost';
  return { ...state, rttMs: null, misses, stopReachable: gone ? false : state.stopReachable };
}

/** @param {State} state @param {any} message @returns {State} the next state; `stale`: the status should be read again */
export function reduce(state, message) {
  switch (message.kind) {
    case 'hello': {
      const restarted = state.bootId !== '' && state.bootId !== message.data.boot_id;
      if (state.bootId === message.data.boot_id && (state.wire === 'live' || state.wire === 'resync')) return state; // told twice
      const newest = message.data.newest ?? 0, behind = state.seq > 0 && newest > state.seq;
      return {
        ...state, wire: behind ? 'resync' : 'live', newest, bootId: message.data.boot_id, role: message.data.role, stopPort: message.data.stop_port,
        thread: message.data.thread ?? state.thread, restarts: state.restarts + (restarted ? 1 : 0), status: status(message.data.snapshot) ?? state.status,
        heardMs: message.now, again: state.again || restarted, stale: true,
      };
    }
    case 'event': return events(state, [message.data], message.now);
    case 'batch': return events(state, message.list, message.now);
    case 'hb': {
      const wire = state.wire === 'denied' || state.wire === 'resync' ? state.wire : 'live';
      return { ...state, heardMs: message.now, wire, skewMs: Number.isFinite(message.data?.ts_ms) && message.wall ? message.data.ts_ms - message.wall : state.skewMs };
    }
    case 'telemetry': return telemetry(state, message.data, message.now);
    case 'view': return { ...state, view: message.data && { ...message.data, path: numbers(message.data.path), scan: numbers(message.data.scan) } };
    case 'tree': return { ...state, tree: message.data && { ...message.data, nodes: objects(message.data.nodes).filter((n) => typeof n.path === 'string') } };
    case 'body': return message.data.link ? state : { ...state, body: null, view: null, noBody: true };
    case 'status': return { ...state, status: status(message.data), stale: false, fault: '' };
    case 'fault': return { ...state, stale: false, fault: message.text };
    case 'map': return { ...state, map: message.data, mapFor: message.data.boot_id };
    case 'rooms': return { ...state, rooms: objects(message.list).filter((r) => !r.zone && Array.isArray(r.polygon) && Number.isFinite(r.x) && Number.isFinite(r.y)) };
    case 'denied': return { ...state, wire: 'denied' };
    case 'ping': return ping(state, message);
    case 'seen': return { ...state, seen: objects(message.list).filter((o) => Array.isArray(o.position) && o.position.slice(0, 2).every(Number.isFinite)) };
    case 'places': return { ...state, places: objects(message.list).filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y)) };
    case 'stop_port': return state.stopPort ? state : { ...state, stopPort: message.port };
    case 'stop': return { ...state, stop: message.state, stopMs: message.now };
    case 'fleet': return fleet(state, message.data, message.now);
    case 'fleet_map': return { ...state, fleetMap: message.data && { ...message.data, zones: objects(message.data.zones).filter((z) => Number.isFinite(z.x) && Number.isFinite(z.y)) } };
    case 'tick': {
      const next = { ...state, nowMs: message.now, wallMs: message.wall ?? state.wallMs };
      if (state.wire === 'denied' || state.heardMs === 0) return next;
      if (state.nowMs && message.now - state.nowMs > ASLEEP_MS) next.heardMs = Math.max(state.heardMs, message.now - ASLEEP_MS);
      const silent = message.now - next.heardMs;
      if (silent > LOST_MS) next.wire = 'lost';
      else if (silent > 1500 || (state.rttMs ?? 0) > 300 || state.misses > 0) next.wire = 'slow';
      else if (next.wire !== 'resync') next.wire = 'live';
      return next;
    }
    default: return state;
  }
}

/** Who made a decision, by the `source` of its event (docs/reference/events.md); a word that the page does not know is shown as it is. */
export const decider = (/** @type {string} */ source, /** @type {(key: string) => any} */ t) => t('deciders')[source] ?? source;

/** @param {any} map as GET /v1/map @param {(key: string) => any} t @returns {string} which robot this is: its driver, its name, its world, since when */
export function robotOf(map, t) {
  if (!map) return '';
  const put = /** @type {Record<string, any>} */ ({ driver: map.driver, id: map.robot_id, world: map.world?.name, since: timeOf(map.started_ms) });
  return t('robot_is').replace(/\{(\w+)\}/g, (/** @type {string} */ _, /** @type {string} */ key) => String(put[key] || '?'));
}

/** The time of a day, of a Unix time in milliseconds; '': none is known. */
export const timeOf = (/** @type {any} */ ms) => (Number.isFinite(ms) && ms > 0 ? new Date(ms).toLocaleTimeString([], { hour12: false }) : '');

/** Why it does what it does: a question that is open is shown where it is answered, and not here too. */
export function why(/** @type {any} */ status) {
  const d = status.decision;
  const asked = (status.approvals ?? []).some((/** @type {any} */ q) => q.question === d?.reason);
  return d && !asked ? d.reason || d.type : '';
}
