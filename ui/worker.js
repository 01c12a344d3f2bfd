// @ts-check
// worker.js - one listener for all tabs: it holds the streams, the tabs hear what comes.
//
// A browser gives a server six connections, for all tabs together; two streams a tab would use them up
// at the third. So a SharedWorker listens once for each token and thread, keeps the newest events, and
// tells every tab by a BroadcastChannel, which needs no list of tabs that may have died. A tab that
// joins is first told what the others know; the reducer drops what comes twice.
import { Wire } from '/ui/wire.js';

const KEEP = 500, BATCH = 500, BATCH_MS = 30;
const feeds = new Map();

function open(key, token, query) {
  const feed = { hello: null, rows: [], newest: new Map(), denied: false };
  const channel = new BroadcastChannel(key);
  // Events go in batches: who has missed thousands of them must not be woken by each.
  let batch = [], timer = 0;
  const flush = () => {
    clearTimeout(timer);
    timer = 0;
    if (batch.length) channel.postMessage({ kind: 'batch', list: batch });
    batch = [];
  };
  const say = (message) => { flush(); channel.postMessage(message); };
  const wire = new Wire({ token });
  feeds.set(key, feed);
  wire.listen('/v1/events' + (query ? query + '&' : '?') + 'last=200', { on: (what, e) => {
    if (what === 'denied') { feed.denied = true; feeds.delete(key); say({ kind: 'denied' }); }
    if (what !== 'event' || e.event === 'dropped') return;
    if (e.event === 'hello') { feed.hello = { kind: 'hello', data: e.data }; say(feed.hello); }
    else if (e.event === 'hb') say({ kind: 'hb', data: e.data });
    else {
      const message = { kind: 'event', data: e.data };
      if (e.data.seq) feed.rows = feed.rows.concat([message]).slice(-KEEP);
      batch.push(message.data);
      if (batch.length >= BATCH) flush();
      else timer ||= setTimeout(flush, BATCH_MS);
    }
  } });
  wire.listen('/v1/live?hz=10&view=1', { on: (what, e) => {
    if (what !== 'event') return;
    if (e.event === 'body') feed.newest.clear();
    else feed.newest.set(e.event, { kind: e.event, data: e.data });
    say({ kind: e.event, data: e.data });
  } });
  return feed;
}

/** @type {any} */ (self).onconnect = (/** @type {MessageEvent} */ connection) => {
  const port = connection.ports[0];
  port.onmessage = ({ data: { key, token, query } }) => {
    const feed = feeds.get(key) ?? open(key, token, query);
    if (feed.hello) port.postMessage(feed.hello);
    for (const row of feed.rows) port.postMessage(row);
    for (const message of feed.newest.values()) port.postMessage(message);
  };
};
