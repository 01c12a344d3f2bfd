// attacks.mjs - the page against what it meets on a bad day: names that are markup, events without an end,
// nonsense for numbers, a server that is dead, hung or stopped, a token that is gone, two who answer at
// once, a slow way, a phone that slept, a clock that jumps. Whatever happens, Stop works and says the truth.
import fs from 'node:fs';
import path from 'node:path';
import { browser, finish, must, Server, test, until } from './bench.mjs';

const b = await browser();
const desktop = { width: 1360, height: 900 };

async function page(server, { token = server.token, prepare } = {}) {
  const context = await b.newContext({ viewport: desktop, locale: 'en-US' });
  context.setDefaultTimeout(Number(process.env.PONS_PAGE_HANG_MS || 120000));
  const p = await context.newPage();
  p.errors = [];
  p.on('pageerror', (e) => p.errors.push(e.stack));
  if (prepare) await p.addInitScript(prepare);
  await p.goto(server.url + '/' + (token ? '#token=' + token : ''));
  return p;
}
const live = (p) => p.waitForSelector('#live.good, #live.warn');
/** Says something on the channel by which a tab hears everything, as the server would. */
const pretend = (p, s, message) => p.evaluate(([token, m]) => new BroadcastChannel(`pons ${token} `).postMessage(m), [s.token, message]);
const latched = async (s) => (await s.ask('GET', '/v1/state')).body.stop?.latched === true;
const reset = (s) => until('the reset', async () => { await s.ask('POST', '/v1/reset', {}); return !(await latched(s)); });

const s = new Server({ args: ['--speed', '1'] });
await s.start();
await until('a body', async () => (await s.ask('GET', '/v1/state')).body.pose);

await test('markup in goals, events, questions and names is text', async () => {
  const p = await page(s), evil = '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><b>bold</b>';
  await live(p);
  await s.ask('POST', '/v1/say', { text: `go to ${evil}` });
  const rows = ['task.queued', 'task.active', 'task.done', 'mode', 'decision', 'effect', 'guard.refused', 'approval.requested', 'approval.resolved', evil, 'error'];
  await pretend(p, s, { kind: 'batch', list: rows.map((type, i) => ({ seq: 1e6 + i, ts_ms: Date.now(), type, payload: { text: evil, task: { id: evil, text: evil }, mode: evil, reason: evil, decision: { reason: evil }, state: 'dispatched', skill: evil, args: { [evil]: evil }, rules: [{ message: evil }], question: evil, action: evil, by: evil } })) });
  await p.waitForFunction(() => [...document.querySelectorAll('#events li')].some((e) => e.textContent.includes('onerror')));
  for (const view of ['plan', 'threads', 'now']) await p.click(`#tab-${view}`);
  must(!(await p.evaluate(() => globalThis.pwned || document.querySelector('main img:not(#camera-picture), main script, main section b b'))), 'markup has become an element');
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
});

await test('what a model writes in a chat is no markup but its own: no element, no picture, no script, no link into this page', async () => {
  const p = await page(s), evil = ['<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script>', '![x](https://evil.example/p.png) ![y](javascript:globalThis.pwned=1)', '[go](javascript:globalThis.pwned=1) [reset](/v1/reset) [home](https://home.example)',
    '```html\n<iframe srcdoc="<script>globalThis.pwned=1</script>"></iframe>\n```', '| <b>a</b> | b |\n|--|--|\n| <svg onload=globalThis.pwned=1> | c |', '# <a href=x>h</a>', '**<i>bold</i>** `<u>code</u>`'].join('\n\n');
  const asked = [];
  p.on('request', (r) => asked.push(r.url()));
  await live(p);
  await p.click('#tab-chat');
  await p.waitForSelector('#chat-text');
  const chat = (list) => p.evaluate(([token, m]) => new BroadcastChannel(`pons ${token} ?thread=main_session`).postMessage(m), [s.token, { kind: 'batch', list }]);
  await chat([{ seq: 10, type: 'llm_start', payload: {} }, { seq: 11, type: 'token', payload: { content: evil } }, { seq: 12, type: 'tool_start', payload: { tool: evil, input: { [evil]: evil } } }, { seq: 13, type: 'tool_end', payload: { tool: evil, output: evil } },
    { seq: 14, type: 'plan_created', payload: { plan: { plan_id: 'p', title: evil, steps: [{ id: 1, title: evil, status: evil }] } } }, { seq: 15, type: 'error', payload: { content: evil } }, { seq: 16, type: 'approval_request', payload: { request_id: 'r', tool: evil, input: { [evil]: evil }, why: evil } }]);
  await p.waitForSelector('.asked article');
  await p.waitForSelector('.chat .words table');
  must(!(await p.evaluate(() => globalThis.pwned || document.querySelector('#view-chat :is(img, script, iframe, svg, i, u, b b)'))), 'markup has become an element');
  const links = await p.evaluate(() => [...document.querySelectorAll('#view-chat a')].map((a) => `${a.protocol}//${a.host} ${a.rel} ${a.target}`));
  must(links.length > 0 && links.every((l) => /^https:\/\/(evil|home)\.example noopener noreferrer nofollow _blank$/.test(l)), links.join('\n'));
  must(asked.every((u) => u.startsWith(s.url) || u.startsWith(s.stopUrl)), asked.filter((u) => !u.startsWith(s.url)).join(' '));
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
});

await test('names of a fleet that are markup, and numbers that are none', async () => {
  const p = await page(s), evil = '<img src=x onerror="globalThis.pwned=1">';
  await live(p);
  await p.route('**/v1/fleet/map', (r) => r.fulfill({ json: { name: evil, zones: [{ id: evil, kind: evil, x: 0, y: 0, to: [evil, null, 7] }, { id: 'b', x: 'x', y: null }, null, { id: 'c', kind: 'dock', x: 3, y: 1e308, to: evil }] } }));
  await p.route('**/v1/fleet', (r) => r.fulfill({ json: { running: true, pid: evil, host: evil, map: evil, held: [[evil, evil], ['c', null], null, 7, [null]], robots: [null, 7, { id: evil, state: evil, zone: evil, next: evil, to: evil, waits_for: evil, held_by: evil, why: evil, x: 'NaN', y: null, battery_pct: evil, task: evil, thread: 'javascript:globalThis.pwned=1', latched: evil, connected: evil }, { id: 'r2', zone: 'c', x: 1e308, y: -1e308 }],
    tasks: [null, { id: evil, name: evil, state: evil, robot: evil, stops: [evil, null], priority: evil, deadline_ms: 1e300 }, { id: 't', state: 'outcome_unknown', stops: null }] } }));
  await p.click('#tab-fleet');
  await p.waitForFunction(() => document.querySelectorAll('#view-fleet tr').length >= 4, null, { timeout: 30000 });
  must(!(await p.evaluate(() => globalThis.pwned || document.querySelector('#view-fleet img'))), 'markup has become an element');
  must(await p.evaluate(() => [...document.querySelectorAll('#view-fleet a')].every((a) => a.origin === location.origin)), 'a name leads elsewhere');
  await p.dispatchEvent('#stop', 'pointerdown');
  await until('the latch', () => latched(s));
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await reset(s);
});

await test('what cannot be seen, or turns a line around, is shown as what it is', async () => {
  const p = await page(s);
  await live(p);
  await pretend(p, s, { kind: 'batch', list: [{ seq: 1e6, ts_ms: Date.now(), type: 'task.queued', payload: { text: 'go to \u202Enehctik\u202C\u200B\uFEFF\u0007 \u2066x\u2069' } }] });
  await p.waitForFunction(() => [...document.querySelectorAll('#events li')].some((e) => e.textContent.includes('nehctik')));
  const text = await p.evaluate(() => [...document.querySelectorAll('#events li')].find((e) => e.textContent.includes('nehctik')).textContent);
  must(!/[\u202A-\u202E\u2066-\u2069\u200B\uFEFF\u0007]/.test(text) && text.includes('U+202E'), JSON.stringify(text));
  await p.context().close();
});

await test('an event of 10 MB, and a thousand of them, neither stop the page nor fill it', async () => {
  const p = await page(s);
  await live(p);
  const big = await p.evaluate(async (token) => {
    const channel = new BroadcastChannel(`pons ${token} `), text = 'x'.repeat(10 << 20);
    channel.postMessage({ kind: 'batch', list: [{ seq: 1e6, ts_ms: Date.now(), type: 'task.queued', payload: { text } }] });
    for (let i = 1; i < 600; i++) channel.postMessage({ kind: 'event', data: { seq: 1e6 + i, ts_ms: Date.now(), type: 'decision', payload: { decision: { reason: `${i} ${'y'.repeat(1 << 18)}` } } } });
    while (!document.querySelector('#events')?.textContent.includes('599 y')) await new Promise((go) => setTimeout(go, 50));
    return document.querySelector('#events').textContent.length;
  }, s.token);
  must(big < 1000000, `${big} letters are in the list`);
  const cdp = await p.context().newCDPSession(p);
  await cdp.send('HeapProfiler.collectGarbage');
  await cdp.send('Performance.enable');
  const heap = (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'JSHeapUsedSize').value;
  must(heap < 60 << 20, `the page keeps ${Math.round(heap / 1048576)} MB`);
  await p.context().close();
});

await test('poses, times and lists that are none: no exception, and Stop is drawn', async () => {
  const p = await page(s);
  await live(p);
  await p.waitForSelector('#map-body svg');
  const nonsense = [null, {}, { x: null, y: null, yaw: null }, { x: 'NaN', y: [], yaw: {} }, { x: 1e308, y: -1e308, yaw: 1e308 }, 7, 'x'];
  for (const pose of nonsense) await pretend(p, s, { kind: 'telemetry', data: { pose, twist: pose, battery_pct: pose, pace_percent: pose, localization: pose, obstacles: pose, stop: pose, realtime: pose, distance_remaining_m: pose } });
  for (const ts of [null, 'x', 1e300, -1e300, {}]) await pretend(p, s, { kind: 'batch', list: [{ seq: 2e6, ts_ms: ts, type: 'decision', payload: { decision: null } }, null, 7, { seq: 2e6 + 1, type: null }] });
  for (const view of [null, { path: 'x', scan: {} }, { path: [null, 'a'], scan: [1] }]) await pretend(p, s, { kind: 'view', data: view });
  for (const tree of [null, { nodes: 7 }, { nodes: [null, { path: 7 }] }]) await pretend(p, s, { kind: 'tree', data: tree });
  await pretend(p, s, { kind: 'status', data: { mode: {}, queue: 7, approvals: [null, 7, { id: {}, ops: 'x', options: 3 }], active_task: { text: {} }, skills: 'x', last_failure: 3, decision: 5 } });
  for (const name of ['tree', 'plan', 'system', 'now']) {
    await p.click(`#tab-${name}`);
    await pretend(p, s, { kind: 'stop', state: 'unconfirmed' });
    await p.waitForFunction(() => document.getElementById('alarm').textContent.includes('NOT CONFIRMED'));
    await pretend(p, s, { kind: 'stop', state: 'ready' });
    await p.waitForFunction(() => document.getElementById('alarm').hidden);
  }
  must(p.errors.length === 0, p.errors[0]);
  await p.context().close();
});

await test('Stop while the server hangs: not confirmed, and latched when it is back; and never again after a reset', async () => {
  const p = await page(s);
  await live(p);
  await p.waitForFunction(() => !document.querySelector('#stop.latched'));
  s.child.kill('SIGSTOP');
  await p.dispatchEvent('#stop', 'pointerdown');
  await p.waitForFunction(() => document.getElementById('alarm').textContent.includes('NOT CONFIRMED'));
  await p.waitForSelector('body.lost');
  must(await p.isEnabled('#stop'), 'Stop is off');
  s.child.kill('SIGCONT');
  await p.waitForFunction(() => document.getElementById('alarm').hidden && document.querySelector('#stop.latched'));
  must(await latched(s), 'the body is not latched');
  // What was repeated meanwhile is over with it: a reset lasts.
  let again = 0;
  p.on('request', (r) => { if (r.url().endsWith('/stop')) again++; });
  await p.waitForTimeout(1500);
  must(again === 0, `${again} stops were sent after the latch`);
  await reset(s);
  await p.waitForTimeout(1500);
  must(!(await latched(s)), 'a stop from before the reset has latched again');
  await p.context().close();
});

await test('Stop while the server is dead: not confirmed, and latched by the next one', async () => {
  const p = await page(s);
  await live(p);
  await s.kill();
  await p.waitForSelector('body.lost');
  await p.keyboard.press('Escape');
  await p.keyboard.press('Escape');
  await p.waitForFunction(() => document.getElementById('alarm').textContent.includes('NOT CONFIRMED'));
  await s.start();
  await p.waitForFunction(() => document.getElementById('alarm').hidden && document.querySelector('#stop.latched'));
  must(await latched(s), 'the body is not latched');
  await reset(s);
  await p.context().close();
});

await test('in Chinese, with a list of words that hangs, is not there or is cut: English, and Stop works; what it has is text', async () => {
  const answers = { hangs: () => {}, lacks: (r) => r.fulfill({ status: 404, body: '' }), cut: (r) => r.fulfill({ body: '{"Send' }), marks: (r) => r.fulfill({ json: { 'page: STOP': '<b>停</b>', 'page: Send': 5 } }) };
  for (const [name, answer] of Object.entries(answers)) {
    const context = await b.newContext({ viewport: desktop, locale: 'zh-CN' }), p = await context.newPage(), errors = [];
    p.on('pageerror', (e) => errors.push(e.stack));
    await p.route('**/ui/messages.zh.json', answer);
    await p.goto(`${s.url}/#token=${s.token}`);
    await live(p);
    const word = name === 'marks' ? '<b>停</b>' : 'STOP';
    await p.waitForFunction((w) => document.getElementById('stop-word').textContent === w, word);
    await p.click('#stop');
    await until(`a latch: ${name}`, () => latched(s));
    await reset(s);
    must(errors.length === 0, `${name}: ${errors.join('\n')}`);
    await context.close();
  }
});

await test('without a token, and with one that is gone, Stop works', async () => {
  const p = await page(s, { token: '' });
  await p.waitForSelector('#key[open]');
  await p.click('#stop');
  await p.waitForFunction(() => document.querySelector('#stop.latched'));
  must(await latched(s), 'the body is not latched');
  await reset(s);
  await p.evaluate(() => localStorage.setItem('pons.token', '0'.repeat(64)));
  await p.reload();
  await p.waitForSelector('#key[open]');
  await p.click('#stop');
  await until('the latch', () => latched(s));
  await reset(s);
  // Forgotten while it runs: what is open goes on, and the next one asks.
  const q = await page(s);
  await live(q);
  await q.evaluate(() => localStorage.clear());
  await s.ask('POST', '/v1/say', { text: 'go to the kitchen' });
  await q.waitForFunction(() => document.querySelector('.headline')?.textContent === 'go to the kitchen');
  await s.ask('POST', '/v1/cancel', {});
  await q.reload();
  await q.waitForSelector('#key[open]');
  await q.context().close();
  await p.context().close();
});

await test('Back goes to the view before, and a page that comes back is live', async () => {
  const p = await page(s);
  await live(p);
  await p.click('#tab-system');
  await p.click('#tab-files');
  await p.goBack();
  await p.waitForSelector('#view-system:not([hidden])');
  await p.goBack();
  await p.waitForSelector('#view-now:not([hidden])');
  await p.goForward();
  await p.waitForSelector('#view-system:not([hidden])');
  await p.goto('about:blank');
  await p.goBack();
  await live(p);
  await p.waitForSelector('#view-system:not([hidden])');
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
});

await test('a slow way: it says so, Stop is not confirmed until it is, and is told then', async () => {
  const p = await page(s);
  await live(p);
  const cdp = await p.context().newCDPSession(p);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', { offline: false, latency: 800, downloadThroughput: 20000, uploadThroughput: 20000 });
  await p.waitForSelector('#live.warn');
  await p.dispatchEvent('#stop', 'pointerdown');
  await p.waitForFunction(() => document.getElementById('alarm').textContent.includes('NOT CONFIRMED'));
  await p.waitForFunction(() => document.getElementById('alarm').hidden && document.querySelector('#stop.latched'));
  await cdp.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await reset(s);
  await p.waitForFunction(() => !document.querySelector('#stop.latched'));
  await p.context().close();
});

await test('a phone that slept wakes up: nothing is shown as live that is not, no row twice', async () => {
  const p = await page(s);
  await live(p);
  const cdp = await p.context().newCDPSession(p);
  await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
  await s.ask('POST', '/v1/say', { text: 'go to the bedroom' });
  await until('it is at work', async () => (await s.ask('GET', '/v1/state')).body.active_task);
  await s.ask('POST', '/v1/cancel', {});
  await until('it is over', async () => !(await s.ask('GET', '/v1/state')).body.active_task);
  await cdp.send('Page.setWebLifecycleState', { state: 'active' });
  await live(p);
  await p.waitForFunction(() => [...document.querySelectorAll('#events [data-type="task.done"]')].some((e) => e.textContent.includes('go to the bedroom')));
  const shown = await p.evaluate(() => [...document.querySelectorAll('#events [data-type="task.done"]')].filter((e) => e.textContent.includes('go to the bedroom')).map((e) => e.textContent));
  const stored = (await s.ask('GET', '/v1/threads/main/events?after=0&limit=1000')).body.filter((e) => e.type === 'task.done' && JSON.stringify(e.payload).includes('go to the bedroom'));
  must(shown.length === stored.length, `${shown.length} ends of ${stored.length}: ${shown.join(' ')}`);
  await p.context().close();
});

await test('a clock that jumps an hour, either way, keeps no dead server live and kills no living one', async () => {
  for (const jump of [3600e3, -3600e3]) {
    const p = await page(s, { prepare: () => { const now = Date.now; globalThis.jump = 0; Date.now = () => now() + globalThis.jump; } });
    await live(p);
    await p.evaluate((ms) => { globalThis.jump = ms; }, jump);
    await p.waitForTimeout(1000);
    must(!(await p.$('body.lost')), `a jump of ${jump} ms: it takes the server for dead`);
    s.child.kill('SIGSTOP');
    await p.waitForSelector('body.lost');
    s.child.kill('SIGCONT');
    await live(p);
    await p.context().close();
  }
});
await s.close();

await test('two tabs, one approves and one refuses: one counts, the other is told', async () => {
  const share = fs.mkdtempSync('/tmp/pons-share-');
  for (const f of fs.readdirSync(process.env.PONS_SHARE)) {
    if (['config', 'worlds', 'schemas', 'trees', 'ui'].includes(f)) fs.cpSync(path.join(process.env.PONS_SHARE, f), path.join(share, f), { recursive: true });
  }
  const kernel = path.join(share, 'config/kernel.yaml');
  fs.writeFileSync(kernel, fs.readFileSync(kernel, 'utf8').replace('  skills: []', '  skills: [navigate_to_pose]'));
  const q = new Server({ share, args: ['--speed', '4'] });
  await q.start();
  const one = await page(q), two = await page(q);
  await live(one);
  await live(two);
  await q.ask('POST', '/v1/say', { text: 'go to the kitchen' });
  for (const p of [one, two]) await p.waitForSelector('#asks:not([hidden]) article > .row > .main');
  // Both buttons are held before either is pressed: one answer takes the question from the other's page.
  const yes = await one.$('#asks article > .row > .main'), no = await two.$('#asks article > .row > button:last-of-type');
  await Promise.all([yes.evaluate((e) => e.click()), no.evaluate((e) => e.click())]);
  for (const p of [one, two]) {
    await p.waitForSelector('#asks', { state: 'hidden' });
    await p.waitForFunction(() => document.getElementById('said').textContent !== '');
  }
  const told = [await one.textContent('#said'), await two.textContent('#said')];
  const events = (await q.ask('GET', '/v1/threads/main/events?after=0&limit=1000')).body.filter((e) => e.type === 'approval.resolved');
  const counted = JSON.stringify(events.at(-1));
  // A no still counts after a yes, until the skill starts: then nobody was too late.
  must(told.filter((x) => x === 'answered').length === (counted.includes('"reject"') && told[0] === 'answered' ? 2 : 1), JSON.stringify(told) + counted);
  for (const p of [one, two]) { must(p.errors.length === 0, p.errors.join('\n')); await p.context().close(); }
  await q.close();
  fs.rmSync(share, { recursive: true });
});

await b.close();
finish();
