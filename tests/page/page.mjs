// page.mjs - the page as a person meets it: a real server with a simulated robot, a real browser.
import fs from 'node:fs';
import path from 'node:path';
import { axeSource, browser, finish, must, Server, test, until } from './bench.mjs';

const b = await browser();
const sizes = { desktop: { width: 1360, height: 900 }, phone: { width: 390, height: 844 } };

async function page(server, { size = 'desktop', scheme = 'light', locale = 'en-US', token = server.token } = {}) {
  const context = await b.newContext({ viewport: sizes[size], colorScheme: scheme, locale });
  const p = await context.newPage();
  p.errors = [];
  p.asked = [];
  p.on('pageerror', (e) => p.errors.push(e.message));
  p.on('request', (r) => p.asked.push(r.url()));
  await p.goto(server.url + '/' + (token ? '#token=' + token : ''));
  return p;
}
const live = (p) => p.waitForSelector('#live.good');
const inside = (p, id) => p.evaluate((i) => {
  const r = document.getElementById(i).getBoundingClientRect();
  return r.width > 0 && r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
}, id);

const s = new Server({ args: ['--speed', '2'] });
await s.start();

for (const size of Object.keys(sizes)) for (const scheme of ['light', 'dark']) for (const locale of ['en-US', 'zh-CN']) {
  await test(`axe finds nothing, Stop and Now are in sight: ${size} ${scheme} ${locale}`, async () => {
    const p = await page(s, { size, scheme, locale });
    await live(p);
    await p.waitForSelector('#map-body svg');
    const found = await p.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
    must(found.length === 0, found.join('\n'));
    must(await inside(p, 'stop'), 'Stop is out of sight');
    must(await inside(p, 'now-title'), 'Now is out of sight');
    const stop = await p.locator('#stop').boundingBox();
    must(stop.height >= (size === 'phone' ? 72 : 56), `Stop is ${stop.height} px high`);
    must(await p.getAttribute('html', 'lang') === (locale === 'zh-CN' ? 'zh' : 'en'), 'the language');
    const foreign = p.asked.filter((u) => !u.startsWith(s.url) && !u.startsWith(s.stopUrl) && !u.startsWith('data:'));
    must(foreign.length === 0, 'asked elsewhere: ' + foreign.join(' '));
    must(p.errors.length === 0, p.errors.join('\n'));
    must(!(await p.evaluate(() => location.hash)), 'the token stays in the address');
    await p.context().close();
  });
}

await test('without a token it asks for one, and shows nothing', async () => {
  const p = await page(s, { token: '' });
  await p.waitForSelector('#key[open]');
  must((await p.textContent('#now-body')) === '', 'something is shown');
  await p.fill('#token', s.token);
  await p.click('#key button');
  await live(p);
  await p.context().close();
});

await test('a goal is said, driven and seen', async () => {
  const p = await page(s);
  await live(p);
  await p.fill('#goal', '去厨房');
  await p.press('#goal', 'Enter');
  await p.waitForFunction(() => document.querySelector('.headline')?.textContent === '去厨房');
  await p.waitForFunction(() => (document.querySelector('.trail')?.getAttribute('points') ?? '').split(' ').length > 10);
  await p.waitForFunction(() => document.getElementById('zone').textContent === 'kitchen', null, { timeout: 120000 });
  await p.waitForFunction(() => [...document.querySelectorAll('#events b')].some((e) => e.textContent === 'task.done'), null, { timeout: 60000 });
  await p.context().close();
});

await test('Stop latches with eight tabs open, by press and by Esc Esc; Reset is held', async () => {
  const context = await b.newContext({ viewport: sizes.desktop });
  const tabs = [];
  for (let i = 0; i < 8; i++) {
    const p = await context.newPage();
    await p.goto(`${s.url}/#token=${s.token}`);
    await live(p);
    tabs.push(p);
  }
  const p = tabs[7];
  await p.dispatchEvent('#stop', 'pointerdown');
  await p.waitForSelector('#stop.latched');
  must((await s.ask('GET', '/v1/state')).body.stop.latched === true, 'the body is not latched');
  await tabs[0].bringToFront();
  await tabs[0].waitForSelector('#stop.latched');
  await tabs[0].click('#reset'); // a click is too short
  must((await s.ask('GET', '/v1/state')).body.stop.latched === true, 'a click has reset it');
  await tabs[0].locator('#reset').dispatchEvent('pointerdown');
  await until('the reset', async () => !(await s.ask('GET', '/v1/state')).body.stop.latched);
  await tabs[0].keyboard.press('Escape');
  await tabs[0].keyboard.press('Escape');
  await until('the stop', async () => (await s.ask('GET', '/v1/state')).body.stop.latched);
  await context.close(); // and with it presses that are still under way: one after the reset would count
  await until('the reset', async () => {
    await s.ask('POST', '/v1/reset', {});
    return !(await s.ask('GET', '/v1/state')).body.stop.latched;
  });
});

await test('the server is killed: grey; back: live, without a reload, no row twice', async () => {
  const p = await page(s);
  await live(p);
  await p.evaluate(() => { globalThis.notReloaded = true; });
  await s.ask('POST', '/v1/say', { text: 'go to the living room' });
  await p.waitForFunction(() => document.querySelector('.headline')?.textContent.includes('living room'));
  await s.kill();
  await p.waitForSelector('body.lost');
  must(await p.isEnabled('#stop'), 'Stop is off');
  must(await p.isDisabled('#goal'), 'a goal can be said to nobody');
  await s.start();
  await live(p);
  await p.waitForFunction(() => [...document.querySelectorAll('#events b')].filter((e) => e.textContent === 'task.done').length > 0, null, { timeout: 120000 });
  must(await p.evaluate(() => globalThis.notReloaded === true), 'it was reloaded');
  must(await p.locator('#events li.again').count() === 1, 'the restart is not shown');
  const done = await p.evaluate(() => [...document.querySelectorAll('#events li')].filter((e) => e.textContent.includes('task.done')).length);
  must(done === 1, `${done} ends of one task`);
  await p.context().close();
});
await s.close();

await test('a question survives a reload and a restart, and is answered once', async () => {
  const share = fs.mkdtempSync('/tmp/pons-share-');
  for (const f of fs.readdirSync(process.env.PONS_SHARE)) {
    if (['config', 'worlds', 'schemas', 'trees', 'ui'].includes(f)) fs.cpSync(path.join(process.env.PONS_SHARE, f), path.join(share, f), { recursive: true });
  }
  const kernel = path.join(share, 'config/kernel.yaml');
  const text = fs.readFileSync(kernel, 'utf8');
  must(text.includes('  skills: []'), 'config/kernel.yaml has changed');
  fs.writeFileSync(kernel, text.replace('  skills: []', '  skills: [navigate_to_pose]'));
  const q = new Server({ share, args: ['--speed', '4'] });
  await q.start();
  const p = await page(q);
  await live(p);
  await q.ask('POST', '/v1/say', { text: 'go to the kitchen' });
  await p.waitForSelector('#asks:not([hidden])');
  await p.reload();
  await p.waitForSelector('#asks:not([hidden])');
  await q.kill();
  await q.start();
  await live(p);
  await p.waitForSelector('#asks:not([hidden]) button.main');
  await p.click('#asks button.main');
  await p.waitForSelector('#asks', { state: 'hidden' });
  await p.waitForFunction(() => document.getElementById('zone').textContent === 'kitchen', null, { timeout: 120000 });
  await p.context().close();
  await q.close();
  fs.rmSync(share, { recursive: true });
});

await b.close();
finish();
