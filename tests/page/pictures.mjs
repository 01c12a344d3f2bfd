// pictures.mjs - the pictures of docs/pictures: each view, two sizes, two themes, of a robot at work.
// WebP, which Chromium itself writes: a fifth of a PNG's size.
import fs from 'node:fs';
import path from 'node:path';
import { browser, Server, until } from './bench.mjs';

const sizes = { desktop: { width: 1280, height: 760 }, phone: { width: 390, height: 844 } };
const views = ['now', 'chat', 'day', 'threads', 'graph', 'tree', 'plan', 'files', 'fleet', 'system'].filter((v) => (process.env.PONS_PICTURES || v).split(' ').includes(v));
// A model that says what it is told to, for the chat alone: the robot's brain decides by its rules.
const script = path.join(fs.mkdtempSync('/tmp/pons-script-'), 'script.yaml');
fs.writeFileSync(script, `- content: "The kitchen has a table, four chairs and the sink; the blue cup stands left of it."
- tool_calls: [{name: plan_create, arguments: {title: "Look after the kitchen", steps: [{action: "go to the kitchen"}, {action: "look whether the window is open"}, {action: "come back and tell"}]}}]
`);
const s = new Server({ args: ['--speed', '1'] });
const agent = new Server({ args: ['--llm', `script:${script}`] });
const companion = new Server({ command: ['companion', 'run', '--from', '2026-03-02T05:00', '--speed', '3000', '--llm', 'rules'] });
fs.mkdirSync(agent.workspace, { recursive: true });
fs.writeFileSync(path.join(agent.workspace, 'graph_config.yaml'), 'graph:\n  nodes:\n    approval: {enabled: true}\n');
const lab = new Server({ fleet: true });
const b = await browser();
await lab.start();
await s.start();
await agent.start();
await companion.start();
fs.mkdirSync('docs/pictures', { recursive: true });
fs.mkdirSync(path.join(s.workspace, 'notes'), { recursive: true });
fs.writeFileSync(path.join(s.workspace, 'notes', 'kitchen.md'), '# Kitchen\n\nThe blue cup stands left of the sink.\n');
fs.writeFileSync(path.join(s.workspace, 'shopping.txt'), 'tea\nrice\n');
await until('a map', async () => (await s.ask('GET', '/v1/map')).status === 200);
for (const message of ['What is in the kitchen?', 'Please look after the kitchen.']) await agent.ask('POST', '/api/chat', { message, stream: false });
const life = () => companion.ask('GET', '/v1/companion').then((r) => r.body?.time ?? '');
for (const [time, text, from] of [['T12', 'Lunch is ready', 'mother'], ['T15', 'Shall we play football?', 'Li']]) {
  await until(`it is ${time}`, async () => (await life()).slice(10) >= time);
  await companion.ask('POST', '/v1/companion/message', { text, from });
}
await until('its evening', async () => (await life()).slice(10) >= 'T20');
const goals = ['go to the kitchen', '去卧室', 'go to the study', 'go to the living room'];
for (const text of goals) await s.ask('POST', '/v1/say', { text });
let next = 0;
/** The robot has something to do, and something to do next. */
async function busy() {
  const is = (await s.ask('GET', '/v1/state')).body;
  if (is.queue.length < 2) await s.ask('POST', '/v1/say', { text: goals[next++ % goals.length] });
}
const drives = () => (document.querySelector('#map .path')?.getAttribute('points') ?? '').split(' ').length > 20
  && (document.querySelector('.trail')?.getAttribute('points') ?? '').split(' ').length > 12;

for (const [size, viewport] of Object.entries(sizes)) for (const scheme of ['light', 'dark']) {
  for (const [of, shown] of [[s, views.filter((v) => !['chat', 'day', 'fleet'].includes(v))], [lab, views.filter((v) => v === 'fleet')], [agent, views.filter((v) => v === 'chat')], [companion, views.filter((v) => v === 'day')]]) {
    if (!shown.length) continue;
    const context = await b.newContext({ viewport, colorScheme: scheme, locale: 'en-US' });
    context.setDefaultTimeout(120000);
    const p = await context.newPage(), cdp = await context.newCDPSession(p);
    await p.goto(`${of.url}/#token=${of.token}`);
    for (const view of shown) {
      await p.click(`#tab-${view}`);
      await p.waitForSelector('#live.good, #live.warn');
      if (of === s) await busy();
      if (view === 'chat') await p.waitForSelector('.asked article');
      if (view === 'fleet') await p.waitForSelector('#fleet-map .robot');
      if (view === 'day') await p.waitForFunction(() => document.querySelectorAll('.moments li').length > 4);
      if (view === 'now') {
        await until('it drives', async () => { await busy(); return p.evaluate(drives); });
        if (size === 'phone') await p.evaluate(() => scrollTo(0, 0));
      } else await p.waitForTimeout(1500); // it has asked for what it shows
      const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
      fs.writeFileSync(`docs/pictures/${view}-${size}-${scheme}.webp`, Buffer.from(data, 'base64'));
    }
    await context.close();
  }
}
await b.close();
for (const server of [s, lab, agent, companion]) await server.close();
const all = fs.readdirSync('docs/pictures');
console.log(`${all.length} pictures, ${(all.reduce((n, f) => n + fs.statSync(`docs/pictures/${f}`).size, 0) / 1024).toFixed(0)} kB`);
