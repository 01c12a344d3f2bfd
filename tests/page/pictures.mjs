// pictures.mjs - the pictures of docs/pictures: each view, two sizes, two themes, of a robot at work.
import fs from 'node:fs';
import { browser, Server, until } from './bench.mjs';

const sizes = { desktop: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } };
const s = new Server({ args: ['--speed', '1'] });
const b = await browser();
await s.start();
fs.mkdirSync('docs/pictures', { recursive: true });
await until('a map', async () => (await s.ask('GET', '/v1/map')).status === 200);
await s.ask('POST', '/v1/say', { text: 'go to the kitchen' });
await s.ask('POST', '/v1/say', { text: '去卧室' });
for (const [size, viewport] of Object.entries(sizes)) for (const scheme of ['light', 'dark']) {
  const context = await b.newContext({ viewport, colorScheme: scheme, locale: 'en-US' });
  const p = await context.newPage();
  await p.goto(`${s.url}/#token=${s.token}`);
  await p.waitForSelector('#live.good');
  await p.waitForFunction(() => (document.querySelector('.trail')?.getAttribute('points') ?? '').split(' ').length > 8);
  await p.screenshot({ path: `docs/pictures/now-${size}-${scheme}.png` });
  await context.close();
}
await b.close();
await s.close();
console.log(fs.readdirSync('docs/pictures').join(' '));
