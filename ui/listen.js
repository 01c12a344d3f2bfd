// @ts-check
// listen.js - what happens in a thread, told to this tab: by the tabs' common listener (worker.js), or
// by a stream of its own where there are no SharedWorkers.
import { slim } from '/ui/slim.js';
import { Wire } from '/ui/wire.js';

const HERE_MS = 20000; // so often a tab says that it still listens

/**
 * live: telemetry too. heard gets {kind, data} and {kind: 'batch', list}, as the reducers take them.
 * @param {{token: string, query?: string, live?: boolean, heard: (message: any) => void}} o
 * @returns {{stop: () => void}}
 */
export function listenTo({ token, query = '', live = true, heard }) {
  const key = `pons ${token} ${query}`;
  if (globalThis.SharedWorker && globalThis.BroadcastChannel) {
    const worker = new SharedWorker('/ui/worker.js', { type: 'module', name: 'pons' });
    const channel = new BroadcastChannel(key);
    const here = () => worker.port.postMessage({ key, token, query, live });
    channel.onmessage = (e) => heard(e.data);
    worker.port.onmessage = (e) => heard(e.data);
    worker.port.start();
    worker.port.postMessage({ key, token, query, live, first: true });
    const timer = setInterval(here, HERE_MS);
    return { stop: () => {
      clearInterval(timer);
      channel.close();
      worker.port.onmessage = null;
      worker.port.postMessage({ key, bye: true });
    } };
  }
  return streams(new Wire({ token }), query, live, heard);
}

/** The streams themselves. heard: {kind: 'event', data} one by one. */
export function streams(/** @type {Wire} */ wire, /** @type {string} */ query, /** @type {boolean} */ live, /** @type {(m: any) => void} */ heard) {
  const events = wire.listen('/v1/events' + (query ? query + '&' : '?') + 'last=200', { on: (what, e) => {
    if (what === 'denied') heard({ kind: 'denied' });
    else if (what !== 'event' || e.event === 'dropped') return;
    else if (e.event === 'hello' || e.event === 'hb') heard({ kind: e.event, data: e.data });
    else heard({ kind: 'event', data: e.data && { ...e.data, payload: slim(e.data.payload) } });
  } });
  const telemetry = live ? wire.listen('/v1/live?hz=10&view=1', { on: (what, e) => { if (what === 'event') heard({ kind: e.event, data: e.data }); } }) : null;
  return { stop: () => { events.stop(); telemetry?.stop(); } };
}
