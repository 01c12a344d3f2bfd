// page.mjs - the page as a person meets it: a real server with a simulated robot, a real browser.
import fs from 'node:fs';
import path from 'node:path';
import { axeSource, browser, finish, must, Server, test, until } from './bench.mjs';

const b = await browser();
const sizes = { desktop: { width: 1360, height: 900 }, phone: { width: 390, height: 844 } };

async function page(server, { size = 'desktop', scheme = 'light', locale = 'en-US', token = server.token } = {}) {
  const context = await b.newContext({ viewport: sizes[size], colorScheme: scheme, locale });
  context.setDefaultTimeout(Number(process.env.PONS_PAGE_HANG_MS || 120000));
  const p = await context.newPage();
  p.errors = [];
  p.asked = [];
  p.on('pageerror', (e) => p.errors.push(e.message));
  p.on('request', (r) => p.asked.push(r.url()));
  await p.goto(server.url + '/' + (token ? '#token=' + token : ''));
  return p;
}
// On a busy machine it may be slow: that is connected, too.
const live = (p) => p.waitForSelector('#live.good, #live.warn');
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
    must(await inside(p, 'now-body'), 'Now is out of sight');
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
  const now = () => p.evaluate(() => Object.fromEntries([...document.querySelectorAll('#now-body dt')].map((e) => [e.textContent, e.nextSibling.textContent])));
  await until('the skill', async () => (await now()).Skill);
  const is = await now(), status = (await s.ask('GET', '/v1/state')).body;
  must(/^navigate_to_pose · since \d+:\d\d:\d\d$/.test(is.Skill) && is.Goal === status.skills[0].goal_id, JSON.stringify(is));
  must(/^CONTINUE · since \d/.test(is.Decision) && /^\d+ · since \d/.test(is.Iteration), JSON.stringify(is));
  must((await p.textContent('#robot')) === 'pons-1 in house · simulated', await p.textContent('#robot'));
  await p.click('#lang');
  await p.waitForFunction(() => document.getElementById('robot').textContent === 'pons-1，house · 模拟'); // its words are loaded
  must(/^继续 · \d+:\d\d:\d\d 起$/.test((await now()).决策), JSON.stringify(await now()));
  await p.click('#lang');
  await p.waitForFunction(() => (document.querySelector('.trail')?.getAttribute('points') ?? '').split(' ').length > 10);
  await p.waitForFunction(() => document.getElementById('zone').textContent === 'kitchen', null, { timeout: 120000 });
  await p.waitForFunction(() => !!document.querySelector('#events [data-type="task.done"]'), null, { timeout: 60000 });
  const log = await p.innerText('#events');
  for (const said of ['A person: “去厨房”', 'The robot drives to the kitchen.', 'It is there: the kitchen.', 'Done: 去厨房']) must(log.includes(said), `${said}: ${log}`);
  must(!/navigate_to_pose|robot_ms|[{}]/.test(log), log);
  await p.getByLabel('All events, as they are').check();
  await p.locator('#events summary', { hasText: 'observation' }).first().click();
  must((await p.innerText('#events')).includes('"observation": {'), 'the events themselves are nowhere');
  await p.click('#tab-system');
  await p.waitForFunction(() => /kinematic pons-1 in house, since \d+:\d\d:\d\d/.test(document.getElementById('view-system').textContent));
  await p.context().close();
});

await test('a robot that was told to be slower says so', async () => {
  const p = await page(s);
  await live(p);
  must(await p.isHidden('#pace'), 'it is slowed');
  await p.fill('#goal', 'slower');
  await p.press('#goal', 'Enter');
  await p.waitForFunction(() => document.getElementById('pace').textContent === 'slowed to 75 %');
  await p.fill('#goal', '正常速度');
  await p.press('#goal', 'Enter');
  await p.waitForFunction(() => document.getElementById('pace').hidden);
  await p.context().close();
});

await test('Stop latches with eight tabs open, by press and by Esc; Reset is held', async () => {
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
  await tabs[0].focus('#goal'); // wherever the focus is
  await tabs[0].keyboard.press('Escape');
  await until('the stop', async () => (await s.ask('GET', '/v1/state')).body.stop.latched);
  await context.close(); // and with it presses that are still under way: one after the reset would count
  await until('the reset', async () => {
    await s.ask('POST', '/v1/reset', {});
    return !(await s.ask('GET', '/v1/state')).body.stop.latched;
  });
});

const english = (p) => p.evaluate(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), out = [];
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (e.checkVisibility() && !e.closest('[lang=en], pre, code, .tree') && /[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,}/.test(n.textContent)) out.push(n.textContent.trim());
  }
  return out.concat([...document.querySelectorAll('[aria-label], [placeholder], [title]')].filter((e) => e.checkVisibility()).flatMap((e) => ['aria-label', 'placeholder', 'title'].map((a) => e.getAttribute(a) ?? '')).filter((x) => /[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,}/.test(x)));
});

await test('what comes after a stop: a goal is answered, Reset, then Continue stands out, and nothing says why of before', async () => {
  const p = await page(s);
  await live(p);
  await p.fill('#goal', 'go to the corridor');
  await p.press('#goal', 'Enter');
  await p.getByRole('button', { name: 'Pause' }).waitFor();
  await p.getByRole('button', { name: /^STOP/ }).click();
  await p.getByText('Nothing moves.', { exact: false }).first().waitFor();
  must(await p.isHidden('#continue'), 'Continue would do nothing yet');
  await p.fill('#goal', 'go to the kitchen');
  await p.press('#goal', 'Enter');
  await p.getByText('It has heard “go to the kitchen”, and stands', { exact: false }).waitFor();
  await p.focus('#reset');
  await p.keyboard.down('Enter');
  await p.locator('#now-body', { hasText: 'Press Continue to go on with “go to the corridor”' }).waitFor();
  await p.keyboard.up('Enter');
  await p.waitForFunction(() => document.activeElement?.id === 'continue' && document.activeElement.classList.contains('main')); // its way goes on
  must(!/latched/.test(await p.innerText('main')), await p.innerText('main'));
  must((await p.innerText('#events')).includes('The stop was reset.'), 'the log has no word of it');
  await p.keyboard.press('Enter');
  await p.getByRole('button', { name: 'Cancel all' }).click();
  await p.getByText('Try one of these').waitFor();
  await p.context().close();
});

await test('a goal that is not understood is answered below its field, and stands there to be mended', async () => {
  const p = await page(s, { size: 'phone' });
  await live(p);
  await p.fill('#goal', 'go to the kichen');
  await p.press('#goal', 'Enter');
  await p.locator('#said.bad', { hasText: 'kitchen' }).waitFor();
  await p.waitForFunction(() => document.getElementById('goal').value === 'go to the kichen'); // the typed text is back
  await p.waitForFunction(() => { const r = document.getElementById('said').getBoundingClientRect(); return document.elementFromPoint(r.x + 5, r.bottom - 5)?.id === 'said'; }); // and not behind Stop
  await p.context().close();
});

await test('at the first look there are three things to click, and the map says by itself where what is', async () => {
  const p = await page(s);
  await live(p);
  await p.getByText('Try one of these').waitFor();
  must(await p.locator('#offers button:visible').count() === 3, 'not three');
  await s.ask('POST', '/v1/say', { text: 'remember this place as the nest' });
  await p.locator('#map text', { hasText: 'the nest' }).waitFor();
  for (const name of ['apple', 'fruit basket', 'study']) must(await p.locator('#map text.label', { hasText: name }).count() === 1, `${name} is not on the map`);
  await p.getByText('What is on the map, as a list').click();
  await p.getByText(/^The robot is here: /).waitFor();
  for (const words of ['room: study', 'object: apple · in: kitchen', 'named place: the nest']) must((await p.innerText('#map-list')).includes(words), words);
  await p.getByRole('button', { name: 'Go to: the nest' }).click();
  await p.getByRole('button', { name: 'Go there' }).last().waitFor();
  must((await p.innerText('#map-ask')).includes('the nest'), await p.innerText('#map-ask'));
  must(/^Map\. The robot: .+ Rooms: .*kitchen/.test(await p.getAttribute('#map-body svg', 'aria-label')), 'the map has no words');
  await p.context().close();
});

await test('in Chinese no sentence is English: idle, at work, stopped, refused, and every view', async () => {
  const q = new Server({ args: ['--speed', '2'] });
  await q.start();
  const p = await page(q, { locale: 'zh-CN' });
  await live(p);
  const none = async (what) => { const found = await english(p); must(found.length === 0, `${what}: ${found.join(' | ')}`); };
  await p.getByRole('button', { name: '去书房' }).or(p.getByRole('button', { name: /^去/ })).first().waitFor();
  await none('idle');
  await p.fill('#goal', '去书房');
  await p.press('#goal', 'Enter');
  await p.getByText('正去书房', { exact: false }).first().waitFor();
  await p.click('details.more summary');
  await none('at work');
  await p.keyboard.press('Escape');
  await p.getByText('什么都不会动', { exact: false }).first().waitFor();
  await none('stopped');
  await p.locator('#reset').dispatchEvent('pointerdown');
  await p.getByText('停止已解除', { exact: false }).first().waitFor();
  await none('reset');
  await p.click('#continue');
  await p.click('#cancel');
  await p.fill('#goal', '去阁楼');
  await p.press('#goal', 'Enter');
  await p.locator('#said.bad').waitFor();
  await none('refused');
  await p.click('#map-list summary');
  for (const name of ['chat', 'day', 'threads', 'graph', 'tree', 'plan', 'files', 'fleet', 'system', 'now']) {
    await p.click(`#tab-${name}`);
    await p.waitForSelector(`#view-${name}:not([hidden])`);
    await p.waitForFunction((n) => n !== 'threads' || document.querySelector('#view-threads .moment').textContent !== '', name);
    await none(name);
  }
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await q.close();
});

await test("Stop's port that cannot be reached is an alarm, and one that is back is none", async () => {
  const p = await page(s);
  await live(p);
  const [port] = [new URL(s.stopUrl).port];
  await p.route(`**://127.0.0.1:${port}/**`, (r) => r.abort('connectionrefused'));
  await p.getByRole('alert').filter({ hasText: 'STOP UNREACHABLE' }).waitFor();
  await p.getByText('answers slowly').or(p.locator('#live.warn')).first().waitFor(); // the status does not claim that all is well
  await p.unroute(`**://127.0.0.1:${port}/**`);
  await p.getByRole('alert').waitFor({ state: 'hidden' });
  await p.context().close();
});

await test('everything that can be touched is large enough, at 320 px nothing is cut off, and nothing moves for who wants no motion', async () => {
  const p = await page(s, { size: 'phone' });
  await live(p);
  await p.emulateMedia({ reducedMotion: 'reduce' });
  await p.waitForSelector('#map .robot');
  must(await p.evaluate(() => getComputedStyle(document.querySelector('#map .robot')).transitionDuration === '0s'), 'the robot glides');
  await p.setViewportSize({ width: 320, height: 512 });
  for (const name of ['now', 'chat', 'day', 'threads', 'graph', 'tree', 'plan', 'files', 'fleet', 'system']) {
    await p.click(`#tab-${name}`);
    await p.waitForSelector(`#view-${name}:not([hidden])`);
    const small = await p.evaluate(() => [...document.querySelectorAll('button, input, select, textarea, summary, a[href]')].filter((e) => e.checkVisibility() && !e.matches('.skip')).map((e) => ({ e, r: e.getBoundingClientRect() }))
      .filter(({ e, r }) => r.width < 24 || r.height < (e.id === 'stop' ? 44 : 24)).map(({ e }) => e.outerHTML.slice(0, 120)));
    must(small.length === 0, `${name}: ${small.join('\n')}`);
    must(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than 320 px`);
  }
  await p.context().close();
});

await test('the server is killed: grey; back: live, without a reload, no row twice', async () => {
  const p = await page(s);
  await live(p);
  await p.evaluate(() => { globalThis.notReloaded = true; });
  await s.ask('POST', '/v1/say', { text: 'go to the study' });
  await p.waitForFunction(() => document.querySelector('.headline')?.textContent.includes('study'));
  await s.kill();
  await p.waitForSelector('body.lost');
  must(await p.isEnabled('#stop'), 'Stop is off');
  must(await p.isDisabled('#goal'), 'a goal can be said to nobody');
  await s.start();
  await live(p);
  await p.waitForFunction(() => [...document.querySelectorAll('#events [data-type="task.done"]')].some((e) => e.textContent.includes('study')), null, { timeout: 120000 });
  must(await p.evaluate(() => globalThis.notReloaded === true), 'it was reloaded');
  must(await p.locator('#events li.again').count() === 1, 'the restart is not shown');
  const done = await p.evaluate(() => [...document.querySelectorAll('#events [data-type="task.done"]')].filter((e) => e.textContent.includes('study')).length);
  must(done === 1, `${done} ends of one task`);
  await p.context().close();
});
await s.close();

// ---- a finger on the map ------------------------------------------------------------------------

const f = new Server({ args: ['--speed', '1'] });
await f.start();
await until('a body', async () => (await f.ask('GET', '/v1/state')).body.pose);
const pose = async () => (await f.ask('GET', '/v1/state')).body.pose;
const still = async () => {
  let last = await pose();
  await until('it stands', async () => {
    await new Promise((go) => setTimeout(go, 400));
    const now = await pose(), same = Math.hypot(now.x - last.x, now.y - last.y) < 0.01;
    last = now;
    return same;
  });
};
const onMap = (p, x, y) => p.evaluate(([mx, my]) => {
  const svg = document.querySelector('#map-body svg'), at = new DOMPoint(mx, my).matrixTransform(svg.firstElementChild.getScreenCTM());
  return [at.x, at.y];
}, [x, y]);

await test('a click on the map asks first; its way and its scan are shown', async () => {
  const p = await page(f);
  await live(p);
  await p.waitForFunction(() => (document.querySelector('#map .scan')?.getAttribute('d') ?? '').length > 200);
  await p.mouse.click(...await onMap(p, 3.2, 2.6));
  await p.waitForSelector('#map-ask:not([hidden]) .main');
  must((await p.textContent('#map-ask')).includes('living room'), await p.textContent('#map-ask'));
  must((await f.ask('GET', '/v1/state')).body.active_task === null, 'it went without an answer');
  await p.click('#map-ask button:not(.main)');
  await p.waitForSelector('#map-ask', { state: 'hidden' });
  await p.mouse.click(...await onMap(p, 3.2, 2.6));
  await p.click('#map-ask .main');
  await p.waitForFunction(() => (document.querySelector('#map .path')?.getAttribute('points') ?? '').length > 20);
  await until('it is there', async () => { const at = await pose(); return Math.hypot(at.x - 3.2, at.y - 2.6) < 0.3; });
  await until('it is done', async () => !(await f.ask('GET', '/v1/state')).body.active_task);
  await p.context().close();
});

await test('hold to drive: it moves while a key is held, and stands when it is let go of', async () => {
  const p = await page(f);
  await live(p);
  await p.click('#tool-drive');
  must((await f.ask('GET', '/v1/state')).body.active_task === null, 'it began without an answer');
  await p.click('#map-ask .main');
  await p.waitForSelector('.key.up:not([disabled])');
  const drive = async (begin, end, what) => {
    const from = await pose();
    await begin();
    await until(`${what}: it moves`, async () => { const at = await pose(); return Math.hypot(at.x - from.x, at.y - from.y) > 0.05 || Math.abs(at.yaw - from.yaw) > 0.1; });
    await end();
    await still();
  };
  must(await inside(p, 'pad'), 'what it is driven with is out of sight');
  const left = await p.locator('.key.left').boundingBox();
  await p.mouse.move(left.x + 10, left.y + 10);
  await drive(() => p.mouse.down(), () => p.mouse.up(), 'the mouse');
  await p.locator('.keys').focus();
  await drive(() => p.keyboard.down('ArrowLeft'), () => p.keyboard.up('ArrowLeft'), 'a key');
  await drive(() => p.keyboard.down('ArrowLeft'), () => p.evaluate(() => {
    Object.defineProperty(document, 'hidden', { get: () => true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }), 'a tab that is hidden');
  await p.keyboard.up('ArrowLeft');
  await p.evaluate(() => { delete document.hidden; });
  await drive(() => p.keyboard.down('ArrowLeft'), () => p.context().setOffline(true), 'a connection that is lost');
  await p.keyboard.up('ArrowLeft');
  await p.context().setOffline(false);
  await live(p);
  await p.click('#pad-end');
  await until('it has ended', async () => !(await f.ask('GET', '/v1/state')).body.active_task);
  await p.waitForSelector('#pad', { state: 'hidden' });
  const ledger = fs.readFileSync(path.join(f.workspace, 'run/body.ledger'), 'utf8');
  must(/drive_by_hand.*"done"|"done".*drive_by_hand/.test(ledger), 'the ledger has no drive by hand');
  await p.context().close();
});

await test('where it is, is told by a press and a drag, and asked first', async () => {
  const p = await page(f);
  await live(p);
  const was = await pose();
  await p.click('#tool-pose');
  const [x, y] = await onMap(p, was.x + 0.2, was.y), [ex, ey] = await onMap(p, was.x + 0.2 + Math.cos(was.yaw), was.y + Math.sin(was.yaw));
  await p.mouse.move(x, y);
  await p.mouse.down();
  await p.mouse.move((x + ex) / 2, (y + ey) / 2);
  await p.mouse.move(ex, ey);
  await p.mouse.up();
  await p.click('#map-ask .main');
  await p.waitForFunction(() => document.getElementById('said').textContent !== '');
  must((await p.textContent('#said')) === 'It takes itself to be there.', await p.textContent('#said'));
  await p.context().close();
});
// ---- the other views ----------------------------------------------------------------------------

const views = ['chat', 'day', 'threads', 'graph', 'tree', 'plan', 'files', 'fleet', 'system'];
fs.mkdirSync(path.join(f.workspace, 'notes'));
fs.writeFileSync(path.join(f.workspace, 'notes/day.md'), '<b>a plain text</b>');
const view = async (name, o) => {
  const p = await page(f, o);
  await live(p);
  await p.click(`#tab-${name}`);
  await p.waitForSelector(`#view-${name}:not([hidden]) h1`);
  return p;
};

for (const o of [{ size: 'desktop', scheme: 'light', locale: 'en-US' }, { size: 'phone', scheme: 'dark', locale: 'zh-CN' }, { size: 'desktop', scheme: 'dark', locale: 'zh-CN' }, { size: 'phone', scheme: 'light', locale: 'en-US' }]) {
  await test(`axe finds nothing in the other views: ${Object.values(o).join(' ')}`, async () => {
    const p = await page(f, o);
    await live(p);
    for (const name of views) {
      await p.click(`#tab-${name}`);
      await p.waitForSelector(`#view-${name}:not([hidden]) h1`);
      await p.waitForFunction((n) => n !== 'threads' || document.querySelector('#view-threads .moment').textContent !== '', name);
      const found = await p.evaluate((p.axed ? '' : axeSource) + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
      p.axed = true;
      must(found.length === 0, `${name}: ${found.join('\n')}`);
      must(await inside(p, 'stop'), `${name}: Stop is out of sight`);
      must(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the window`);
    }
    must(p.errors.length === 0, p.errors.join('\n'));
    await p.context().close();
  });
}

await test('a view that has nothing yet says what would fill it', async () => {
  const q = new Server({ args: ['--speed', '1'] });
  await q.start();
  const early = await Promise.all(['/v1/state', '/v1/threads'].map((at) => q.ask('GET', at)));
  must(early[0].status === 200 && early[1].body[0]?.events > 0, `it was announced before its thread was there: ${JSON.stringify(early[1].body)}`);
  const p = await page(q);
  await live(p);
  for (const [name, words] of [['chat', 'Write to the agent below'], ['day', 'pons companion run'], ['plan', 'Goals and their steps come here'], ['files', 'pons onboard'], ['fleet', 'pons onboard --fleet']]) {
    await p.click(`#tab-${name}`);
    await p.locator(`#view-${name}`, { hasText: words }).waitFor();
  }
  await p.click('#tab-plan');
  await p.getByRole('button', { name: 'To “Now”' }).click();
  must(await p.evaluate(() => document.activeElement?.id === 'goal'), 'the way leads not to the goal');
  await p.context().close();
  await q.close();
});

await test('a thread is called by its goals and times', async () => {
  await f.ask('POST', '/v1/say', { text: 'go to the bedroom' });
  const p = await view('threads');
  await p.waitForFunction(() => /go to .+ · .*\d+:\d\d.* · main/.test([...document.querySelectorAll('#thread option')].find((o) => o.value === 'main')?.textContent ?? ''));
  await f.ask('POST', '/v1/cancel', {});
  await p.context().close();
});

await test('a chat follows its end, and leaves a reader who has scrolled up where he is', async () => {
  const p = await view('chat', { size: 'phone' });
  let seq = 10;
  const more = (list) => p.evaluate(([token, m]) => new BroadcastChannel(`pons ${token} ?thread=main_session`).postMessage(m), [f.token, { kind: 'batch', list: list.map((e) => ({ seq: ++seq, ...e })) }]);
  const say = (word) => more([{ type: 'token', payload: { content: Array.from({ length: 40 }, (_, i) => `${word} ${i}\n\n`).join('') } }]);
  const end = () => p.evaluate(() => innerHeight + scrollY > document.documentElement.scrollHeight - 120);
  await more([{ type: 'llm_start', payload: {} }]);
  await say('one');
  await p.getByText('one 39').waitFor();
  await until('the end is followed', end);
  await p.mouse.move(100, 300);
  await p.mouse.wheel(0, -900);
  await p.getByRole('button', { name: 'To the end' }).waitFor();
  const at = await p.evaluate(() => scrollY);
  await say('two');
  await p.getByText('two 39').waitFor();
  must(Math.abs(await p.evaluate(() => scrollY) - at) < 5 && !(await end()), 'the reader was carried away');
  await p.getByRole('button', { name: 'To the end' }).click();
  await until('the end', end);
  await say('three');
  await p.getByText('three 39').waitFor();
  await until('the end is followed again', end);
  await p.context().close();
});

await test('the tree, the graph and the plan follow the robot', async () => {
  const p = await view('tree');
  await f.ask('POST', '/v1/say', { text: 'go to the study' });
  await p.waitForSelector('.tree li.running');
  await p.click('#tab-graph');
  await p.waitForFunction(() => document.querySelectorAll('.picture .node').length === 10);
  await p.waitForSelector('.picture .node.next');
  await p.click('#tab-plan');
  await p.waitForFunction(() => [...document.querySelectorAll('.task')].some((e) => e.textContent.includes('go to the study') && e.querySelector('.works')));
  await p.reload();
  await p.waitForSelector('#view-plan:not([hidden]) .task'); // the address has the view
  await p.context().close();
});

await test('the past is looked at, and a fork of it moves nothing', async () => {
  const p = await view('threads');
  await p.waitForFunction(() => Number(document.getElementById('moment').max) > 1);
  await p.focus('#moment');
  await p.keyboard.press('Home');
  await p.waitForFunction(() => document.querySelector('#view-threads .moment').textContent.startsWith('1 / '));
  must((await p.textContent('#view-threads .past')).includes('not changed'), 'it does not say that it is the past');
  const goals = () => fs.readFileSync(path.join(f.workspace, 'run/body.ledger'), 'utf8').split('\n').filter((l) => l.includes('"started"')).length;
  const thread = (name) => f.ask('GET', '/v1/threads').then((r) => r.body.find((x) => x.thread === name));
  await p.fill('#fork-name', 'what-if');
  p.once('dialog', (d) => d.dismiss());
  await p.click('#view-threads form button');
  must(!(await thread('what-if')), 'it was forked without a confirmation');
  const before = goals();
  p.once('dialog', (d) => d.accept());
  await p.click('#view-threads form button');
  await until('the fork', () => thread('what-if'));
  await new Promise((go) => setTimeout(go, 500)); // whoever would move for it had time to
  must(goals() === before, 'a fork has moved the robot');
  await p.context().close();
});

await test('a fork with other values: what a person edits is what it has', async () => {
  const p = await view('threads');
  await p.waitForFunction(() => Number(document.getElementById('moment').max) > 1);
  await p.selectOption('#space', 'kernel');
  await p.waitForFunction(() => document.querySelector('#view-threads .moment').textContent.includes('step'));
  await p.click('#fork-edit summary');
  await p.waitForFunction(() => document.getElementById('fork-values').value.includes('"hci"'));
  const values = JSON.parse(await p.inputValue('#fork-values'));
  await p.fill('#fork-values', '{"hci": no JSON');
  await p.fill('#fork-name', 'edited');
  await p.click('#view-threads form button[type=submit]');
  await p.waitForFunction(() => document.querySelector('#view-threads').textContent.includes('SyntaxError'));
  values.hci.user_utterance = 'edited by hand';
  await p.fill('#fork-values', JSON.stringify(values));
  await p.fill('#fork-node', 'kernel_route');
  p.once('dialog', (d) => d.accept());
  await p.click('#view-threads form button[type=submit]');
  await until('the edited fork', async () => (await f.ask('GET', '/v1/threads/edited/state?ns=kernel')).body.values?.hci?.user_utterance === 'edited by hand');
  const bad = await f.ask('POST', '/v1/threads/main/fork', { to: 'bad', edit: { ns: 'kernel', values: { no_such_channel: 1 }, as_node: 'kernel_route' } });
  must(bad.status >= 400 && !(await f.ask('GET', '/v1/threads')).body.some((x) => x.thread === 'bad'), `half a fork is there: ${bad.status}`);
  await p.context().close();
});

await test('a protocol file is shown with what it says, and with where it is wrong', async () => {
  fs.writeFileSync(path.join(f.workspace, 'ACTION.md'), '# ACTION\n\n```json\n{"queue": [\n  {"id": "act-1", "action_type": "navigate_to", "parameters": {"zone": "kitchen"}, "status": "pending"},\n  {"id": 7}\n]}\n```\n');
  const p = await view('files');
  await p.click('.files button:has-text("ACTION.md")');
  await p.waitForSelector('.records tr');
  must((await p.textContent('.records')).includes('act-1'), await p.textContent('.records'));
  must(/6:\d+/.test(await p.textContent('.faults')), await p.textContent('.faults'));
  await p.click('#view-files .row button');
  fs.rmSync(path.join(f.workspace, 'ACTION.md'));
  await p.context().close();
});

await test('files of the workspace are shown, and none that has a secret; the doctor looks', async () => {
  const p = await view('files');
  await p.click('.files button:has-text("notes")');
  await p.click('.files button:has-text("day.md")');
  await p.waitForFunction(() => document.querySelector('#view-files pre').textContent === '<b>a plain text</b>');
  await p.click('#view-files .row button');
  must(!(await p.textContent('.files')).includes('run'), 'run/ is shown');
  await p.click('#tab-system');
  await p.click('#view-system .row button');
  await p.waitForFunction(() => document.querySelectorAll('.doctor li').length > 3);
  await p.context().close();
});
await f.close();

// ---- the agent and the companion ------------------------------------------------------------------

const script = path.join(fs.mkdtempSync('/tmp/pons-script-'), 'script.yaml');
fs.writeFileSync(script, [
  '- content: "Hello, **I** am <b>the agent</b>."',
  '- tool_calls: [{name: plan_create, arguments: {title: "Tour <i>of</i> it", steps: [{action: look around}, {action: say so}]}}]',
  '- content: looked', '- content: said', '- content: all is done',
  '- tool_calls: [{name: plan_create, arguments: {title: "Another", steps: [{action: one}]}}]',
  '- content: then not', '- content: after the restart',
].join('\n') + '\n');
const agentServer = (extra = []) => {
  const q = new Server({ args: ['--speed', '1', '--llm', `script:${script}`, ...extra] });
  fs.mkdirSync(q.workspace, { recursive: true });
  fs.writeFileSync(path.join(q.workspace, 'graph_config.yaml'), 'graph:\n  nodes:\n    approval: {enabled: true}\n');
  return q;
};
const chat = async (q, o) => {
  const p = await page(q, o);
  await live(p);
  await p.click('#tab-chat');
  await p.waitForSelector('#chat-text');
  return p;
};
const tell = async (p, text) => { await p.fill('#chat-text', text); await p.press('#chat-text', 'Enter'); };

await test('a chat: words, a plan that asks, its answer in another tab, and a reload in between', async () => {
  const q = agentServer();
  await q.start();
  const p = await chat(q);
  await tell(p, 'hello');
  await p.waitForFunction(() => [...document.querySelectorAll('.chat .words')].some((e) => e.textContent === 'Hello, I am <b>the agent</b>.' && e.querySelector('strong')?.textContent === 'I'));
  await tell(p, 'make a tour');
  await p.waitForSelector('.asked article');
  must(!(await p.$('.chat i, .asked i, .chat .words b')), 'a model has made markup');
  const found = await p.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(found.length === 0, found.join('\n'));
  const other = await chat(q, { size: 'phone', scheme: 'dark', locale: 'zh-CN' });
  await other.waitForSelector('.asked article');
  await p.reload();
  await p.waitForSelector('.asked article'); // the address has the view, the session the question
  await other.click('.asked .main');
  await p.waitForSelector('.asked article', { state: 'detached' });
  await p.waitForFunction(() => [...document.querySelectorAll('.chat .words')].some((e) => e.textContent.includes('all is done')));
  await other.waitForFunction(() => document.querySelector('.chat')?.textContent.includes('all is done'));
  must(await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the chat is wider than a phone');
  await other.context().close();
  // A question outlives the server; its answer goes on with the turn.
  await tell(p, 'another');
  await p.waitForSelector('.asked article');
  await q.kill();
  await p.waitForSelector('body.lost');
  await q.start();
  await live(p);
  await p.waitForSelector('.asked article');
  await p.fill('.asked input', 'not today');
  await p.click('.asked article > .row > button:nth-of-type(2)');
  await p.waitForSelector('.asked article', { state: 'detached' });
  await p.waitForFunction(() => document.querySelectorAll('.chat .user').length === 3 && document.querySelectorAll('.chat .assistant').length === 3);
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await q.close();
});

await test("a companion's day: its moments, a message, what it remembers", async () => {
  const q = new Server({ command: ['companion', 'run', '--from', '2026-03-02T05:00', '--speed', '1200', '--llm', 'rules'] });
  await q.start();
  const p = await page(q);
  await live(p);
  await p.click('#tab-day');
  await p.waitForFunction(() => [...document.querySelectorAll('.moments li')].some((e) => e.textContent.includes('sleep')));
  await p.fill('#day-text', 'call me <b>now</b>');
  await p.fill('#day-from', 'mother');
  await p.check('#day-urgent');
  await p.click('#view-day form button');
  await p.waitForFunction(() => [...document.querySelectorAll('#view-day .moments')].some((l) => l.textContent.includes('mother') && l.textContent.includes('call me <b>now</b>')));
  await p.waitForFunction(() => document.querySelectorAll('#view-day .moments')[1].textContent.includes('mother'));
  const z = await page(q, { locale: 'zh-CN' });
  await live(z);
  await z.click('#tab-day');
  await z.waitForFunction(() => [...document.querySelectorAll('.moments li b')].some((e) => e.textContent === '起床'));
  await z.context().close();
  await p.check('#day-all');
  await p.waitForSelector('.moments .decided details');
  const found = await p.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(found.length === 0, found.join('\n'));
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await q.close();
});

await test('a fleet: robots, zones and who has them, tasks; Stop is for all of them', async () => {
  const lab = new Server({ args: [], fleet: true });
  await lab.start();
  const p = await page(lab);
  await live(p);
  await p.waitForSelector('#view-fleet:not([hidden]) .robot'); // a fleet's page begins there
  await p.waitForFunction(() => document.querySelectorAll('#fleet-map .held').length > 1 && /· r[12]/.test(document.querySelector('#fleet-map').textContent));
  await p.waitForFunction(() => [...document.querySelectorAll('#view-fleet tr')].some((e) => e.textContent.includes('<i>water</i>')));
  must(!(await p.$('#view-fleet i')), 'a task has become markup');
  const found = await p.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(found.length === 0, found.join('\n'));
  await p.dispatchEvent('#stop', 'pointerdown');
  await p.waitForSelector('#stop.latched');
  await until('both are latched', async () => (await lab.ask('GET', '/v1/fleet')).body.robots.every((r) => r.latched));
  await p.waitForTimeout(5000); // what the orchestrator says is heard by now, and agrees
  must(await p.isVisible('#stop.latched'), 'a fleet that stands is shown as one that does not');
  await p.click('#tab-now');
  await p.locator('#reset').dispatchEvent('pointerdown');
  await until('the reset', async () => (await lab.ask('GET', '/v1/fleet')).body.robots.every((r) => !r.latched));
  await p.waitForSelector('#stop:not(.latched)');
  await p.click('#tab-fleet');
  await p.click('#view-fleet .row button'); // continue all
  await p.waitForFunction(() => [...document.querySelectorAll('#view-fleet tr')].some((e) => e.textContent.includes('<i>water</i>') && e.textContent.includes('at work')), null, { timeout: 120000 });
  await p.fill('#view-fleet [name=name]', 'tea');
  await p.fill('#view-fleet [name=stops]', 'nowhere');
  await p.click('#view-fleet form button');
  await p.locator('#view-fleet [role=status]', { hasText: 'nowhere' }).waitFor();
  await p.fill('#view-fleet [name=stops]', 'kitchen,desk');
  await p.click('#view-fleet form button');
  await p.locator('#view-fleet tr', { hasText: 'tea' }).waitFor();
  await p.locator('#view-fleet tr', { hasText: 'sleeps' }).locator('button').click();
  await p.waitForFunction(() => [...document.querySelectorAll('#view-fleet tr')].some((e) => e.textContent.includes('sleeps') && e.textContent.includes('cancelled')));
  await lab.orchestrator.kill('SIGKILL');
  await p.waitForFunction(() => document.getElementById('degraded').textContent.includes('no orchestrator runs'));
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await lab.close();
});

await test('a camera of the world is chosen, and its picture is shown', async () => {
  const q = new Server({ driver: 'mujoco', args: ['--world', 'tabletop'] });
  await q.start();
  const p = await page(q);
  await live(p);
  await p.waitForSelector('#camera:not([hidden])');
  await p.selectOption('#camera-name', 'front');
  await p.waitForFunction(() => { const i = document.getElementById('camera-picture'); return !i.hidden && i.naturalWidth === 640; });
  const found = await p.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(found.length === 0, found.join('\n'));
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await q.close();
});

await test('a map of 20,000 boxes and 300 rooms is drawn, and stays one path', async () => {
  const q = new Server({ args: ['--speed', '1'] });
  await q.start();
  const context = await b.newContext({ viewport: sizes.desktop });
  const p = await context.newPage();
  await p.route('**/v1/map', async (route) => {
    const reply = await route.fetch(), map = await reply.json();
    map.world.bounds = [0, 0, 200, 160];
    map.world.boxes = Array.from({ length: 20000 }, (_, i) => ({ x: (i % 200) + 0.5, y: Math.floor(i / 200) * 1.6 + 0.5, sx: 0.4, sy: 0.3, yaw: i }));
    map.world.zones = Array.from({ length: 300 }, (_, i) => ({ id: `z${i}`, names: { en: [`room ${i}`] }, polygon: [[i % 20 * 10, Math.floor(i / 20) * 10], [i % 20 * 10 + 9, Math.floor(i / 20) * 10], [i % 20 * 10 + 9, Math.floor(i / 20) * 10 + 9]] }));
    await route.fulfill({ response: reply, json: map });
  });
  await p.goto(`${q.url}/#token=${q.token}`);
  await live(p);
  await p.waitForFunction(() => (document.querySelector('#map .wall')?.getAttribute('d') ?? '').split('Z').length === 20001);
  await p.click('#zoom-in');
  await p.waitForSelector('#map-body svg.near');
  must(await p.locator('#map .wall').count() === 1, 'more than one path');
  await context.close();
  await q.close();
});

// A cup 1.5 m ahead of a robot whose simulated detector sees things.
function seeing() {
  const q = new Server({ args: ['--speed', '2', '--world', 'seen'] });
  const house = fs.readFileSync(path.join(import.meta.dirname, '../../worlds/house.yaml'), 'utf8');
  fs.mkdirSync(path.join(q.workspace, 'worlds'), { recursive: true });
  fs.writeFileSync(path.join(q.workspace, 'worlds/seen.yaml'), house.replace(/^mjcf:.*\n/m, '').replace(/^lidar:/m, 'sight: {hz: 5, range_m: 4.5, noise_m: 0.02}\n\nlidar:')
    .replace(/position: \[8.5, 5.95, 0.80\], on: table_01/, 'position: [3.5, 1.6, 0.80]'));
  return q;
}

await test('what the robot has seen is on the map and in its list, and a look says what it sees', async () => {
  const q = seeing();
  await q.start();
  const p = await page(q);
  await live(p);
  await p.getByText('What is on the map, as a list').click();
  await p.waitForFunction(() => /seen: cup · in: living room · .*\d+ %/.test(document.querySelector('#map-list').innerText));
  await p.locator('#map text', { hasText: 'cup' }).first().waitFor();
  await q.ask('POST', '/v1/say', { text: 'what do you see' });
  await p.getByText('The robot says: “I see: cup; nothing else in 3 s.”').first().waitFor();
  await p.getByText('It has looked around. cup; nothing else in 3 s').first().waitFor();
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await q.close();
});

await test('keep-out areas, slow zones and the robot\'s own outline are on the map, by their names in the page\'s language', async () => {
  const q = new Server({ args: ['--speed', '1'] });
  await q.start();
  for (const [locale, names] of [['en-GB', ['wet floor', 'people 40 %', '≤ 0.3 m/s']], ['zh-CN', ['湿地', '有人 40 %', '≤ 0.3 m/s']]]) {
    const context = await b.newContext({ viewport: sizes.desktop, locale });
    const p = await context.newPage();
    await p.route('**/v1/map', async (route) => {
      const reply = await route.fetch(), map = await reply.json();
      map.world.keep_out = [{ id: 'wet', names: { en: ['wet floor'], zh: ['湿地'] }, reason: 'just mopped', polygon: [[1, 1], [2, 1], [2, 2], [1, 2]] }];
      map.world.speed_zones = [{ id: 'people', names: { en: ['people'], zh: ['有人'] }, percent: 40, polygon: [[3, 1], [4, 1], [4, 2]] }, { id: 'ramp', speed_max_mps: 0.3, polygon: [[5, 1], [6, 1], [6, 2]] }];
      map.limits.footprint = [[0.5, 0.2], [-0.3, 0.2], [-0.3, -0.2], [0.5, -0.2]];
      await route.fulfill({ response: reply, json: map });
    });
    await p.goto(`${q.url}/#token=${q.token}`);
    await live(p);
    await p.waitForSelector('#map polygon.shut');
    must(await p.locator('#map polygon.shut').count() === 1 && await p.locator('#map polygon.slow').count() === 2, 'the areas');
    const words = await p.locator('#map text.label').allTextContents();
    for (const name of names) must(words.some((w) => w.includes(name)), `${name} in ${words.join(', ')}`);
    must((await p.locator('#map polygon.shut title').textContent()).includes('just mopped'), 'why');
    must(await p.locator('#map .robot polygon').count() === 1 && await p.locator('#map .robot circle').count() === 0, 'the outline');
    await context.close();
  }
  await q.close();
});

// The house's robot in a new world whose map grows; lines: further lines of the world's file.
function mapped(lines, files = {}) {
  const q = new Server({ args: ['--speed', '4', '--world', 'flat'] }), worlds = path.join(q.workspace, 'worlds');
  const house = path.join(import.meta.dirname, '../../worlds/house.yaml');
  const parts = fs.readFileSync(house, 'utf8').match(/^(robot|battery|lidar|odometry):\n(  .*\n)+/gm).join('');
  fs.mkdirSync(worlds, { recursive: true });
  fs.writeFileSync(path.join(worlds, 'flat.yaml'), `name: flat\nmap: {file: flat.map.yaml, grows: true}\nstart: {x: 0, y: 0, yaw: 0}\n${parts}${lines}`);
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(worlds, name), text);
  return q;
}

await test('a room without a name gets one under the map, and the robot knows it', async () => {
  // Two rooms of 4 by 4 m with a door of 0.9 m between them.
  const cell = (x, y) => (x < 2 || y < 2 || x > 161 || y > 81 || (x > 80 && x < 83 && (y < 33 || y > 50)) ? 0 : 254);
  const pgm = Buffer.concat([Buffer.from('P5 164 84 255\n'), Buffer.from(Array.from({ length: 164 * 84 }, (_, i) => cell(i % 164, Math.floor(i / 164))))]);
  const q = mapped('', { 'flat.map.yaml': 'image: flat.map.pgm\nresolution: 0.05\norigin: [-2, -2, 0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.2\n', 'flat.map.pgm': pgm });
  await q.start();
  const p = await page(q), other = await page(q, { locale: 'zh-CN', size: 'phone' });
  await live(p);
  await p.locator('#map-rooms button').nth(1).waitFor();
  must(await p.locator('#map polygon.nameless').count() === 2, 'the rooms are not drawn');
  await p.getByRole('button', { name: /^Room 2, \d+(\.\d)? m²: Name it$/ }).click();
  const found = await p.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(found.length === 0, found.join('\n'));
  await p.keyboard.press('Enter'); // nothing is typed
  await p.getByLabel('Its name in English').fill('pantry');
  await p.getByLabel('Its name in Chinese').fill('食品间');
  await p.keyboard.press('Enter');
  await p.locator('#map text.label', { hasText: 'pantry' }).waitFor();
  must(await p.locator('#map-rooms button').count() === 1 && await p.isHidden('#map-ask'), 'it is offered still');
  await q.ask('POST', '/v1/say', { text: '去食品间' });
  await p.getByText('It is there: the pantry.').first().waitFor();
  await other.reload();
  await other.locator('#map text.label', { hasText: '食品间' }).waitFor();
  await other.getByText('还没有名字的房间').waitFor();
  must(p.errors.length === 0 && other.errors.length === 0, p.errors.concat(other.errors).join('\n'));
  await p.context().close();
  await other.context().close();
  await q.close();
});

await test('while it explores, the map on the page grows', async () => {
  const q = mapped(`simulated: ${path.join(import.meta.dirname, '../../worlds/house.yaml')}\n`);
  await q.start();
  const p = await page(q), walls = () => p.getAttribute('#map .wall', 'd');
  await live(p);
  await p.waitForSelector('#map-body svg');
  must(await walls() === '', 'there is a map already');
  await q.ask('POST', '/v1/say', { text: 'explore' });
  await p.waitForFunction(() => document.querySelector('#map .wall').getAttribute('d'));
  const first = await walls();
  await p.waitForFunction((was) => document.querySelector('#map .wall').getAttribute('d') !== was, first);
  must((await q.ask('GET', '/v1/state')).body.skills[0]?.skill === 'explore', 'it explores no more');
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.context().close();
  await q.close();
});

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
  // By keyboard alone, from the first look to a task that is approved and done.
  const k = await page(q);
  await live(k);
  await k.locator('#offers button').first().waitFor();
  const to = async (name) => {
    for (let i = 0; i < 60; i++) {
      await k.keyboard.press('Tab');
      const seen = await k.evaluate(() => { const e = document.activeElement, r = e?.getBoundingClientRect(); return { name: e?.textContent?.trim(), shown: r && r.bottom > 0 && r.top < innerHeight && !!document.elementFromPoint(r.x + r.width / 2, Math.min(Math.max(r.y + r.height / 2, 1), innerHeight - 1))?.closest('button, a, input, select, summary, [tabindex]') }; });
      must(seen.shown, `the focus is out of sight at ${seen.name}`);
      if (seen.name === name) return i;
    }
    throw new Error(`no way by Tab to ${name}`);
  };
  await k.keyboard.press('Tab');
  must((await k.evaluate(() => document.activeElement?.textContent)) === 'To the robot', 'the first stop is not the way past the bar');
  await k.keyboard.press('Enter');
  must(await to('go to the kitchen') < 3, 'it is far to the first thing to do');
  await k.keyboard.press('Enter');
  await k.getByText('The robot wants to drive to the kitchen.').waitFor();
  const card = await k.innerText('#asks');
  must(/Why it asks: .+yes/.test(card) && /About \d+\.\d m, \d+ s: living room → corridor → kitchen/.test(card) && !/[{}]|navigate_to_pose/.test(card), card);
  const z = await page(q, { size: 'phone', scheme: 'dark', locale: 'zh-CN' });
  await z.getByText('机器人想去厨房。').waitFor();
  const faults = await z.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(faults.length === 0, faults.join('\n'));
  await z.context().close();
  must(await k.locator('#map .room.asked').count() === 1 && (await k.getAttribute('#map .path.asked', 'points')).split(' ').length > 10, 'it is not on the map');
  await k.waitForFunction(() => document.activeElement?.closest('#asks'));
  must(await to('Approve') === 0, 'Approve is not next');
  await k.keyboard.press('Enter');
  await k.waitForSelector('#asks', { state: 'hidden' });
  await k.getByText('Done: go to the kitchen').first().waitFor();
  const found = await k.evaluate(axeSource + ';axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))');
  must(found.length === 0, found.join('\n'));
  await k.context().close();
  const p = await page(q);
  await live(p);
  await q.ask('POST', '/v1/say', { text: 'go to the study' });
  await p.waitForSelector('#asks:not([hidden])');
  await p.reload();
  await p.waitForSelector('#asks:not([hidden])');
  await q.kill();
  await q.start();
  await live(p);
  await p.waitForSelector('#asks:not([hidden]) article > .row > .main');
  await p.click('#asks article > .row > .main');
  await p.waitForSelector('#asks', { state: 'hidden' });
  await p.waitForFunction(() => document.getElementById('zone').textContent === 'study', null, { timeout: 120000 });
  await p.context().close();
  await q.close();
  fs.rmSync(share, { recursive: true });
});

await b.close();
finish();
