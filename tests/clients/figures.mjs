// figures.mjs - `pons serve` beside LangGraph's own development server, in one run: the same graphs
// (examples/graphs/parrot.c, letters.py), the same client, taking turns.
//
//     node figures.mjs PEERS [URL PID STARTED_MS]      without a peer only pons is measured
//
// The client is node's own HTTP with connections that stay, so that it is no figure of a library. Nothing
// here fails: a figure beyond its aim says so and a person looks. Memory is of all processes of a server
// together (PSS).
import fs from 'node:fs';
import http from 'node:http';
import { Server } from './server.mjs';

const [, , peers, peerUrl, peerPid, peerStarted] = process.argv;
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));
const rank = (list, p) => list.toSorted((a, b) => a - b)[Math.min(Math.ceil(list.length * p) - 1, list.length - 1)];
/** @type {any} */ let server = null;
const ROUNDS = 3, TOGETHER = 16, RUN_S = 3, WORDS = 200, LISTENERS = 1000;

class At {
  constructor(url, token) {
    this.url = new URL(url);
    this.token = token;
    this.agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
  }

  /** on: each piece of the answer; resolves with {status, text}. */
  ask(method, path, body, on) {
    return new Promise((go, fail) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const q = http.request({ agent: this.agent, host: this.url.hostname, port: this.url.port, method, path,
        headers: { ...(this.token ? { 'x-api-key': this.token } : {}), ...(text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {}) } }, (r) => {
        let all = '';
        r.setEncoding('utf8');
        r.on('data', (d) => { if (on) on(d, r); else all += d; });
        r.on('end', () => go({ status: r.statusCode, text: all }));
        r.on('error', fail);
      });
      q.on('error', fail);
      q.end(text);
    });
  }

  async thread() { return JSON.parse((await this.ask('POST', '/threads', {})).text).thread_id; }
}

const parrot = (words, more = {}) => ({ assistant_id: 'parrot', input: { messages: [{ role: 'user', content: words }], pause_ms: 0 }, ...more });

/** Runs a second, TOGETHER at a time, each on a thread of its own that is made for it. */
async function runs(at) {
  const end = performance.now() + RUN_S * 1000;
  let n = 0;
  const began = performance.now();
  await Promise.all(Array.from({ length: TOGETHER }, async () => {
    while (performance.now() < end) {
      const r = await at.ask('POST', '/runs/wait', parrot('hello'));
      if (r.status !== 200 || !r.text.includes('hello')) throw new Error(`${at.url}: ${r.status} ${r.text.slice(0, 200)}`);
      n++;
    }
  }));
  return n / ((performance.now() - began) / 1000);
}

/** Events a second of streamed runs, four at a time, each of so many words, in two modes. */
async function events(at) {
  const words = Array.from({ length: WORDS }, (_, i) => `w${i}`).join(' '), end = performance.now() + RUN_S * 1000;
  let n = 0;
  const began = performance.now();
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (performance.now() < end) {
      await at.ask('POST', '/runs/stream', parrot(words, { stream_mode: ['updates', 'custom'], config: { recursion_limit: 500 } }), (d) => {
        for (let i = d.indexOf('event: '); i >= 0; i = d.indexOf('event: ', i + 1)) n++;
      });
    }
  }));
  return n / ((performance.now() - began) / 1000);
}

/** From the request until the first event and the first of the graph's own, in ms, one run after the other. */
async function first(at) {
  const any = [], own = [];
  for (let i = 0; i < 40; i++) {
    const thread = await at.thread(), began = performance.now();
    let text = '', one = 0, two = 0;
    await at.ask('POST', `/threads/${thread}/runs/stream`, parrot('hello', { stream_mode: 'updates' }), (d) => {
      text += d;
      one ||= text.includes('event: ') ? performance.now() - began : 0;
      two ||= text.includes('event: updates') ? performance.now() - began : 0;
    });
    any.push(one);
    own.push(two);
  }
  return { any, own };
}

/** A run that speaks a word each 20 ms is told to end: from the request until the server has ended it. */
async function cancel(at) {
  const took = [], words = Array.from({ length: WORDS }, (_, i) => `w${i}`).join(' ');
  for (let i = 0; i < 15; i++) {
    const thread = await at.thread(), body = parrot(words, { config: { recursion_limit: 500 } });
    body.input.pause_ms = 20;
    const run = JSON.parse((await at.ask('POST', `/threads/${thread}/runs`, body)).text).run_id;
    await sleep(100);
    const began = performance.now();
    await at.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=true&action=interrupt`, {});
    took.push(performance.now() - began);
  }
  return rank(took, 0.5);
}

/** LISTENERS clients on one thread's stream while its run speaks: what memory and processor time the server takes. */
async function crowd(at, pid) {
  const thread = await at.thread(), words = Array.from({ length: 300 }, (_, i) => `w${i}`).join(' '), open = [];
  const body = parrot(words, { stream_mode: ['custom'], stream_resumable: true, config: { recursion_limit: 700 } });
  body.input.pause_ms = 100; // ten words a second
  const run = JSON.parse((await at.ask('POST', `/threads/${thread}/runs`, body)).text).run_id;
  let heard = 0, refused = 0;
  for (let i = 0; i < LISTENERS; i++) {
    await new Promise((go) => {
      const q = http.request({ agent: at.agent, host: at.url.hostname, port: at.url.port, path: `/threads/${thread}/runs/${run}/stream?stream_mode=custom`, headers: at.token ? { 'x-api-key': at.token } : {} }, (r) => {
        if (r.statusCode !== 200) refused++;
        r.on('data', (d) => { for (let k = d.indexOf('event: '); k >= 0; k = d.indexOf('event: ', k + 1)) heard++; });
        r.on('error', () => {});
        go(0);
      });
      q.on('error', () => { refused++; go(0); });
      q.setTimeout(20000, () => { refused++; q.destroy(); go(0); });
      q.end();
      open.push(q);
    });
    if (refused > 20) break;
  }
  await sleep(1000);
  const from = cpu(pid), was = heard, began = performance.now();
  await sleep(5000);
  const s = (performance.now() - began) / 1000, is = { mb: memory(pid), cores: (cpu(pid) - from) / s, each: (heard - was) / s / Math.max(open.length - refused, 1), refused };
  for (const q of open) q.destroy();
  await at.ask('POST', `/threads/${thread}/runs/${run}/cancel?wait=true&action=interrupt`, {}).catch(() => {});
  return is;
}

function family(pid) {
  if (pid === server?.child.pid) return [pid]; // without the body, which is another program
  const all = fs.readdirSync('/proc').filter((n) => /^\d+$/.test(n)), parent = new Map();
  for (const n of all) try { parent.set(n, fs.readFileSync(`/proc/${n}/stat`, 'utf8').split(') ')[1].split(' ')[1]); } catch { /* it ended */ }
  const mine = new Set([String(pid)]);
  for (let grew = true; grew;) {
    grew = false;
    for (const [n, p] of parent) if (mine.has(p) && !mine.has(n)) { mine.add(n); grew = true; }
  }
  return [...mine];
}
const each = (pid, of) => family(pid).reduce((sum, n) => { try { return sum + of(n); } catch { return sum; } }, 0);
const memory = (pid) => each(pid, (n) => Number(/Pss:\s+(\d+)/.exec(fs.readFileSync(`/proc/${n}/smaps_rollup`, 'utf8'))[1])) / 1024;
const cpu = (pid) => each(pid, (n) => { const s = fs.readFileSync(`/proc/${n}/stat`, 'utf8').split(') ')[1].split(' '); return (Number(s[11]) + Number(s[12])) / 100; });

async function started() {
  const s = new Server();
  const began = performance.now();
  await s.start();
  return { s, ms: performance.now() - began };
}

const times = [];

for (let i = 0; i < 5; i++) {
  server?.end();
  const r = await started();
  server = r.s;
  times.push(r.ms);
}
const here = new At(server.url, server.token), there = peerUrl ? new At(peerUrl) : null;
const rows = [];
const row = (name, ours, theirs, unit, aim) => {
  rows.push({ name, ours, theirs, unit });
  const n = (v) => (v === null || v === undefined || !Number.isFinite(v) ? '–' : v.toFixed(v < 10 ? 2 : 0));
  console.log(`${!aim ? '    ' : aim.ok ? 'ok  ' : 'OVER'} ${name.padEnd(62)} ${n(ours).padStart(9)} ${n(theirs).padStart(9)} ${unit}${aim ? `  (aim ${aim.text})` : ''}`);
};
const best = async (what) => {
  let a = 0, b = 0;
  for (let i = 0; i < ROUNDS; i++) {
    a = Math.max(a, await what(here));
    if (there) b = Math.max(b, await what(there));
  }
  return [a, there ? b : NaN];
};

console.log(`     ${''.padEnd(62)} ${'pons'.padStart(9)} ${'langgraph'.padStart(9)}`);
row('from exec until it answers, median of 5 (the peer: once)', rank(times, 0.5), Number(peerStarted), 'ms');
await sleep(3000);
row("memory (PSS), idle; of pons without the robot's body", memory(server.child.pid), there ? memory(peerPid) : NaN, 'MB');
const f = await first(here), g = there ? await first(there) : null;
row('first event after POST /runs/stream, median of 40', rank(f.any, 0.5), g && rank(g.any, 0.5), 'ms', { ok: rank(f.any, 0.5) <= 10, text: '10' });
row('first update of the graph, median of 40', rank(f.own, 0.5), g && rank(g.own, 0.5), 'ms');
row('the same, the slowest', rank(f.own, 1), g && rank(g.own, 1), 'ms');
const [r1, r2] = await best(runs);
row(`runs a second, ${TOGETHER} at once, best of ${ROUNDS}`, r1, r2, '/s', there && { ok: r1 >= 20 * r2, text: `20 × the peer's, is ${(r1 / r2).toFixed(0)} ×` });
const [e1, e2] = await best(events);
row(`streamed events a second, 4 runs at once, best of ${ROUNDS}`, e1, e2, '/s', there && { ok: e1 >= 20 * e2, text: `20 × the peer's, is ${(e1 / e2).toFixed(0)} ×` });
row('cancel with wait of a run at work, median of 15', await cancel(here), there ? await cancel(there) : NaN, 'ms');
const c1 = await crowd(here, server.child.pid), c2 = there ? await crowd(there, peerPid) : null;
row(`${LISTENERS} clients of one run at 10 events/s: memory`, c1.mb, c2?.mb, 'MB');
row('and cores', c1.cores, c2?.cores, 'cores', { ok: c1.cores <= 1, text: '1' });
row('and events a second that each of them got', c1.each, c2?.each, '/s');
row('and clients that were refused', c1.refused, c2?.refused, '');
row('memory (PSS) afterwards', memory(server.child.pid), there ? memory(peerPid) : NaN, 'MB');
server.end();
process.exit(0);
