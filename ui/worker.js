// @ts-check
// worker.js - one listener for all tabs: it holds the streams, the tabs hear what comes.
//
// A browser gives a server six connections, for all tabs together; two streams a tab would use them up
// at the third. So a SharedWorker listens once for each token and thread, keeps the newest events, and
// tells every tab by a BroadcastChannel, which needs no list of tabs that may have died. A tab that
// joins is first told what the others know; the reducer drops what comes twice. A thread that only a
// view looks at (a chat) is let go of when its last tab says so, or has been silent for GONE_MS.
import { streams } from '/ui/listen.js';
import { Wire } from '/ui/wire.js';

const KEEP = 500, BATCH = 500, BATCH_MS = 30, GONE_MS = 150000;
const feeds = new Map();

function open(key, token, query, live) {
  const feed = { hello: null, rows: [], newest: new Map(), live, /** @type {Map<any, number>} */ ports: new Map(), stop: () => {} };
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
  feeds.set(key, feed);
  const both = streams(new Wire({ token }), query, live, (message) => {
    if (message.kind === 'denied') feeds.delete(key);
    if (message.kind === 'hello') feed.hello = message;
    if (message.kind === 'event') {
      if (message.data.seq) feed.rows = feed.rows.concat([message]).slice(-KEEP);
      batch.push(message.data);
      if (batch.length >= BATCH) flush();
      else timer ||= setTimeout(flush, BATCH_MS);
      return;
    }
    if (message.kind === 'body') feed.newest.clear();
    else if (!['hello', 'hb', 'denied'].includes(message.kind)) feed.newest.set(message.kind, message);
    say(message);
  });
  feed.stop = () => { both.stop(); clearTimeout(timer); channel.close(); feeds.delete(key); };
  return feed;
}

/** @type {any} */ (self).onconnect = (/** @type {MessageEvent} */ connection) => {
  const port = connection.ports[0];
  port.onmessage = ({ data: { key, token, query, live, first, bye } }) => {
    if (bye) {
      const feed = feeds.get(key);
      feed?.ports.delete(port);
      if (feed && !feed.live && !feed.ports.size) feed.stop();
      return;
    }
    const had = feeds.get(key), feed = had ?? open(key, token, query, live);
    feed.ports.set(port, Date.now());
    if (!first) return;
    if (feed.hello) port.postMessage(feed.hello);
    for (const row of feed.rows) port.postMessage(row);
    for (const message of feed.newest.values()) port.postMessage(message);
  };
};

setInterval(() => {
  for (const feed of feeds.values()) {
    for (const [port, at] of feed.ports) if (Date.now() - at > GONE_MS) feed.ports.delete(port);
    if (!feed.live && !feed.ports.size) feed.stop();
  }
}, 30000);
