// figures.mjs - `./dev bench page` and `./dev bench serve`: how quick, how large, beside what was aimed at.
//
// Nothing here fails: a figure beyond its aim says so and a person looks. Times are of this machine, with
// whatever else runs on it.
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import zlib from 'node:zlib';
import { browser, Server, until } from './bench.mjs';

const which = (process.env.PONS_FIGURES ?? 'page serve').split(' ');
const show = (name, value, unit, aim) => console.log(`${value <= aim ? 'ok  ' : 'OVER'} ${name.padEnd(58)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit.padEnd(6)} (aim ${aim})`);
const rank = (list, p) => list.toSorted((a, b) => a - b)[Math.min(Math.ceil(list.length * p) - 1, list.length - 1)];
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

async function reset(s) {
  await until('the reset', async () => {
    await s.ask('POST', '/v1/reset', {});
    return !(await s.ask('GET', '/v1/state')).body.stop.latched;
  });
}

/** From now on; the function that it gives ends it: the processor time of a page's thread between two frames, whose marks
 * are called `frame`, at most, and its longest task's, in ms. A frame's length is also the machine's, which may have other
 * things to do. */
async function tracing(b) {
  const cdp = await b.newBrowserCDPSession(), events = [];
  cdp.on('Tracing.dataCollected', (d) => { for (const e of d.value) if (e.name === 'frame' || (e.tdur && e.name.endsWith('RunTask'))) events.push(e); });
  await cdp.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'blink.user_timing'] } });
  return async () => {
    await new Promise((go) => { cdp.once('Tracing.tracingComplete', go); cdp.send('Tracing.end'); });
    const key = (e) => `${e.pid} ${e.tid}`, page = key(events.find((e) => e.name === 'frame')); // it alone has marks
    let frame = NaN, most = 0, task = 0, end = 0;
    for (const e of events.filter((x) => key(x) === page).toSorted((x, y) => x.ts - y.ts)) {
      if (e.name === 'frame') {
        most = Math.max(most, frame || 0);
        frame = 0;
      } else if (e.ts >= end) { // no task within a task
        end = e.ts + e.dur;
        frame += e.tdur / 1000;
        task = Math.max(task, e.tdur / 1000);
      }
    }
    return { frame: most, task };
  };
}

async function page() {
  const s = new Server({ args: ['--speed', '1'] }), b = await browser();
  await s.start();
  await until('a map', async () => (await s.ask('GET', '/v1/map')).status === 200);
  const files = fs.readdirSync('ui', { recursive: true }).filter((f) => fs.statSync(`ui/${f}`).isFile());
  const sent = (f) => new Promise((go) => http.get(`${s.url}/ui/${f}`, { headers: { 'accept-encoding': 'gzip' } }, (r) => { let n = 0; r.on('data', (d) => { n += d.length; }); r.on('end', () => go(n)); }));
  let packed = 0;
  for (const f of files) packed += await sent(f);
  show(`the page, ${files.length} files, gzipped`, packed / 1024, 'kB', 85);

  const context = await b.newContext({ viewport: { width: 1360, height: 900 } });
  context.setDefaultTimeout(120000);
  await context.addInitScript(() => {
    const look = () => { if (document.querySelector('#live.good, #live.warn')) globalThis.liveAt ??= performance.now(); else requestAnimationFrame(look); };
    look();
  });
  const open = async () => {
    const p = await context.newPage();
    await p.goto(`${s.url}/#token=${s.token}`);
    await p.waitForSelector('#live.good, #live.warn');
    return p;
  };
  const first = await open();
  const opened = [];
  for (let i = 0; i < 9; i++) {
    await first.reload();
    await first.waitForFunction(() => globalThis.liveAt > 0);
    opened.push(await first.evaluate(() => globalThis.liveAt));
  }
  show('from the address to live, median of 9', rank(opened, 0.5), 'ms', 300);

  const tabs = [first];
  while (tabs.length < 8) tabs.push(await open());
  const p = tabs[7], took = [];
  await p.bringToFront();
  for (let i = 0; i < 20; i++) {
    await until('a page without a latch', async () => { // a press is repeated, and one that comes late latches again
      await reset(s);
      return p.evaluate(() => !document.querySelector('#stop.latched'));
    });
    took.push(await p.evaluate(() => new Promise((go) => {
      const stop = document.getElementById('stop'), began = performance.now();
      new MutationObserver((_, o) => { if (stop.classList.contains('latched')) { o.disconnect(); go(performance.now() - began); } }).observe(stop, { attributes: true });
      stop.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, cancelable: true }));
    })));
  }
  await reset(s);
  show('press to latched on the screen, eight tabs, median of 20', rank(took, 0.5), 'ms', 100);
  show('the same, the slowest', rank(took, 1), 'ms', 100);
  for (const t of tabs.slice(1)) await t.close();

  // 100,000 events, in batches on the channel by which a tab hears everything.
  const eye = tabs[0];
  await eye.bringToFront();
  const work = await tracing(b), before = (await s.ask('GET', '/v1/threads')).body.find((x) => x.thread === 'main').events;
  // What begins a trace, and ends seven tabs, is none of the page's frames.
  await eye.evaluate(() => new Promise((go) => { let n = 0; const frame = () => (++n < 60 ? requestAnimationFrame(frame) : go(0)); frame(); }));
  const began = Date.now();
  await eye.evaluate(async ([token, from]) => {
    globalThis.frames = [];
    let last = performance.now();
    const frame = () => {
      const now = performance.now(); // not what the frame is told: that is when it should have been
      globalThis.frames?.push(now - last);
      performance.mark('frame');
      last = now;
      if (globalThis.frames) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const channel = new BroadcastChannel(`pons ${token} `);
    for (let i = 0; i < 100000; i += 500) {
      channel.postMessage({ kind: 'batch', list: Array.from({ length: 500 }, (_, k) => ({ seq: from + i + k + 1, ts_ms: Date.now(), type: 'decision', payload: { decision: { type: 'CONTINUE', reason: `event ${i + k} of a long day` }, source: 'llm' } })) });
      await new Promise((go) => setTimeout(go, 0));
    }
  }, [s.token, before + 1000000]);
  await eye.waitForFunction(() => document.querySelector('#events li:last-child')?.textContent.includes('event 99999 '));
  const cdp = await context.newCDPSession(eye);
  const frames = await eye.evaluate(() => { const f = globalThis.frames; globalThis.frames = null; return f; }), most = await work();
  await cdp.send('HeapProfiler.collectGarbage');
  await cdp.send('Performance.enable');
  const heap = (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'JSHeapUsedSize').value;
  show(`100,000 events in ${((Date.now() - began) / 1000).toFixed(1)} s: the heap after them`, heap / 1048576, 'MB', 100);
  show(`the longest of their ${frames.length} frames`, rank(frames, 1), 'ms', 50);
  show('p99 of them', rank(frames, 0.99), 'ms', 50);
  show("a frame's processor time on the page's thread, at most", most.frame, 'ms', 50);
  show('and that of a task', most.task, 'ms', 50);

  const killed = Date.now();
  await s.kill();
  await eye.waitForSelector('body.lost');
  show('the server killed: grey after', (Date.now() - killed) / 1000, 's', 3);
  await b.close();
  await s.close();
}

function processes(pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const rss = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, mb: Number(rss[1]) / 1024 };
}

async function serve() {
  const s = new Server({ args: ['--speed', '1'] });
  await s.start();
  await until('a body', async () => (await s.ask('GET', '/v1/state')).body.pose);
  const pid = s.child.pid, alone = processes(pid), agent = new http.Agent({ maxSockets: Infinity });
  const streams = [];
  let heard = 0;
  for (let i = 0; i < 1000; i++) {
    streams.push(await new Promise((go, fail) => {
      const q = http.get(`${s.url}/v1/events`, { agent, headers: { 'x-api-key': s.token } }, (r) => {
        r.on('data', (d) => { for (let at = d.indexOf('event: '); at >= 0; at = d.indexOf('event: ', at + 1)) heard++; });
        go(r);
      });
      q.on('error', fail);
    }));
  }
  for (const text of ['go to the kitchen', 'go to the bedroom', 'go to the study']) await s.ask('POST', '/v1/say', { text });
  // Feedback of the drive is some five a second; goals that are said make it ten.
  let more = true;
  const saying = (async () => { while (more) { await s.ask('POST', '/v1/say', { text: 'go to the kitchen' }); await sleep(150); } })();
  await sleep(2000);
  const from = processes(pid), at = Date.now(), was = heard;
  await sleep(10000);
  const to = processes(pid), seconds = (Date.now() - at) / 1000;
  more = false;
  await saying;
  const rate = (heard - was) / seconds / 1000;
  show(`1,000 clients, each ${rate.toFixed(1)} events a second: memory (${alone.mb.toFixed(0)} MB without them)`, to.mb, 'MB', 64);
  show('and cores of the server', (to.cpu - from.cpu) / seconds, 'cores', 1);
  const took = [];
  for (let i = 0; i < 100; i++) {
    await reset(s);
    const began = performance.now();
    const r = await fetch(s.stopUrl + '/stop', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"reason":"a figure"}' });
    const body = await r.json();
    took.push(performance.now() - began);
    if (!body.latched) throw new Error('not latched');
  }
  show('a stop with the 1,000 listening, median of 100', rank(took, 0.5), 'ms', 100);
  show('the same, p99', rank(took, 0.99), 'ms', 100);
  for (const r of streams) r.destroy();
  agent.destroy();
  await s.close();
}

console.log(`     load average ${os.loadavg().map((x) => x.toFixed(1)).join(' ')} on ${os.cpus().length} processors`);
if (which.includes('page')) await page();
if (which.includes('serve')) await serve();
process.exit(0);
