// pictures.mjs - the pictures of docs/pictures: each view, two sizes, two themes, of a robot at work.
// WebP, which Chromium itself writes: a fifth of a PNG's size.
import fs from 'node:fs';
import path from 'node:path';
import { browser, Server, until } from './bench.mjs';

const sizes = { desktop: { width: 1280, height: 760 }, phone: { width: 390, height: 844 } };
const views = ['now', 'threads', 'graph', 'tree', 'plan', 'files', 'system'];
const s = new Server({ args: ['--speed', '1'] });
const b = await browser();
await s.start();
fs.mkdirSync('docs/pictures', { recursive: true });
fs.mkdirSync(path.join(s.workspace, 'notes'), { recursive: true });
fs.writeFileSync(path.join(s.workspace, 'notes', 'kitchen.md'), '# Kitchen\n\nThe blue cup stands left of the sink.\n');
fs.writeFileSync(path.join(s.workspace, 'shopping.txt'), 'tea\nrice\n');
await until('a map', async () => (await s.ask('GET', '/v1/map')).status === 200);
const goals = ['go to the kitchen', '去卧室', 'go to the study', 'go to the living room'];
for (const text of goals) await s.ask('POST', '/v1/say', { text });
let next = 0;
for (const [size, viewport] of Object.entries(sizes)) for (const scheme of ['light', 'dark']) {
  const context = await b.newContext({ viewport, colorScheme: scheme, locale: 'en-US' });
  context.setDefaultTimeout(120000);
  const p = await context.newPage();
  await p.goto(`${s.url}/#token=${s.token}`);
  const cdp = await context.newCDPSession(p);
  for (const view of views) {
    const queue = (await s.ask('GET', '/v1/state')).body.queue;
    if (queue.length < 3) await s.ask('POST', '/v1/say', { text: goals[next++ % goals.length] });
    await p.click(`#tab-${view}`);
    await p.waitForSelector('#live.good, #live.warn');
    if (view === 'now') {
      await p.waitForFunction(() => (document.querySelector('#map .path')?.getAttribute('points') ?? '').split(' ').length > 20
        && (document.querySelector('.trail')?.getAttribute('points') ?? '').split(' ').length > 12);
      if (size === 'phone') await p.evaluate(() => scrollTo(0, 0));
    } else await p.waitForTimeout(1500); // it has asked for what it shows
    const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
    fs.writeFileSync(`docs/pictures/${view}-${size}-${scheme}.webp`, Buffer.from(data, 'base64'));
  }
  await context.close();
}
await b.close();
await s.close();
const all = fs.readdirSync('docs/pictures');
console.log(`${all.length} pictures, ${(all.reduce((n, f) => n + fs.statSync(`docs/pictures/${f}`).size, 0) / 1024).toFixed(0)} kB`);
