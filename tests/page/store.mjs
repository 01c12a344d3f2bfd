// store.mjs - the page's reducer and its reader of streams, fed by hand: needs no browser.
import { decider, latches, reduce, robotOf, start, timeOf, why, ROWS_MAX } from '../../ui/store.js';
import { catalogue, sayServer } from '../../ui/i18n/say.js';
import { deed } from '../../ui/i18n/deeds.js';
import { lengthOf, route } from '../../ui/route.js';
import { sseParser } from '../../ui/wire.js';
import { slim } from '../../ui/slim.js';
import { begin, hear } from '../../ui/turn.js';
import { wrongs } from '../../ui/wrong.js';
import en from '../../ui/i18n/en.js';
import { translated } from '../../ui/i18n/words.js';
import { readFileSync } from 'node:fs';
import { finish, must, test } from './plain.mjs';

const messages = JSON.parse(readFileSync(new URL('../../ui/messages.zh.json', import.meta.url), 'utf8')), zh = translated(messages, en);

const hello = (boot, seq = 0) => ({ kind: 'hello', now: 1000, data: { boot_id: boot, seq, role: 'operator', stop_port: 2025, snapshot: { mode: 'IDLE' } } });
const event = (seq, type = 'mode', payload = {}) => ({ kind: 'event', now: 2000, data: { seq, ts_ms: seq, type, payload } });

await test('an event that comes twice is shown once', () => {
  let s = reduce(start(), hello('a'));
  for (const m of [event(1), event(2), event(2), event(1), event(3)]) s = reduce(s, m);
  must(s.rows.map((r) => r.seq).join() === '1,2,3', s.rows.map((r) => r.seq).join());
});
await test('another boot id is a restart, and a divider stands before the next row', () => {
  let s = reduce(reduce(start(), hello('a')), event(1));
  s = reduce(reduce(s, hello('b')), event(2));
  must(s.restarts === 1 && s.rows[1].again && !s.rows[0].again, JSON.stringify(s.rows));
});
await test('a batch is its events, one after the other', () => {
  const list = [1, 2, 2, 3].map((seq) => event(seq).data);
  const s = reduce(reduce(start(), hello('a')), { kind: 'batch', now: 5, list });
  must(s.rows.map((r) => r.seq).join() === '1,2,3' && s.seq === 3, s.rows.map((r) => r.seq).join());
});
await test('rows are bounded', () => {
  let s = reduce(start(), hello('a'));
  for (let i = 1; i <= 5 * ROWS_MAX; i++) s = reduce(s, event(i));
  must(s.rows.length === ROWS_MAX && s.rows.at(-1).seq === 5 * ROWS_MAX, String(s.rows.length));
});
await test('who decided is named, and a question is shown once', () => {
  for (const words of [en, zh]) {
    const t = (/** @type {string} */ key) => /** @type {any} */ (words)[key];
    const names = ['llm', 'rule_engine', 'ladder', 'plan', 'guard'].map((by) => decider(by, t));
    must(new Set(names).size === 5 && names.every(Boolean), names.join());
    must(decider('oracle', t) === 'oracle', 'unknown is no model');
  }
  const asks = { decision: { type: 'ASK_HUMAN', reason: 'go on?' }, approvals: [{ question: 'go on?' }] };
  must(why(asks) === '' && why({ ...asks, approvals: [] }) === 'go on?' && why({}) === '', why(asks));
});
await test('which robot it is stands in both languages, and what is not known is a ?', () => {
  for (const words of [en, zh]) {
    const t = (/** @type {string} */ key) => /** @type {any} */ (words)[key], ms = 1700000000000;
    const is = robotOf({ driver: 'ros2', robot_id: 'pons-1', world: { name: 'house' }, started_ms: ms }, t);
    must(['ros2', 'pons-1', 'house', timeOf(ms)].every((x) => is.includes(x)) && !/[{}?]/.test(is), is);
    must(robotOf({ driver: '{id}', robot_id: '', world: null }, t).split('?').length === 4 && robotOf(null, t) === '', 'an old body');
  }
});
await test('silence is slow, then lost, then live again', () => {
  let s = reduce(start(), hello('a'));
  const at = (now) => (s = reduce(s, { kind: 'tick', now })).wire;
  const until = (end) => { while (s.nowMs < end) at(s.nowMs + 250); return s.wire; };
  must(at(2000) === 'live' && until(2750) === 'slow' && until(3750) === 'lost', s.wire);
  s = reduce(s, { kind: 'hb', now: 5000 });
  must(s.wire === 'live', s.wire);
});
await test('a page that stood still itself says nothing of the server before it has listened again', () => {
  let s = reduce(reduce(start(), hello('a')), { kind: 'tick', now: 1200 });
  s = reduce(s, { kind: 'tick', now: 61000 });
  must(s.wire !== 'lost', 'a page that slept takes the server for lost');
  s = reduce(s, { kind: 'hb', now: 61010 });
  must(reduce(s, { kind: 'tick', now: 61250 }).wire === 'live', s.wire);
  for (let now = 61250; now < 64250; now += 250) s = reduce(s, { kind: 'tick', now });
  must(s.wire === 'lost', 'a server that is gone since is not lost');
});
await test("Stop's port that is slow is slow; one that is gone is unreachable", () => {
  const late = { kind: 'ping', rttMs: null, refused: false }, refused = { kind: 'ping', rttMs: null, refused: true };
  const live = reduce(reduce(start(), hello('a')), { kind: 'ping', rttMs: 5 });
  const after = (...list) => list.reduce((s, m) => reduce(s, m), live);
  must(after(late).stopReachable === true && reduce(after(late), { kind: 'tick', now: 1300 }).wire === 'slow', 'one late answer is an alarm');
  must(after(late, late).stopReachable === true, 'two late answers are an alarm while events come');
  must(after(late, late, late).stopReachable === false, 'three are none');
  must(after(refused).stopReachable === true && after(refused, refused).stopReachable === false, 'nobody listens there');
  must(reduce({ ...live, wire: 'lost' }, late).stopReachable === false, 'everything is silent');
  must(after(late, late, late, { kind: 'ping', rttMs: 9 }).stopReachable === true, 'it is back');
});
await test('a latch that the body tells of is shown, whoever set it', () => {
  let s = reduce(start(), { kind: 'telemetry', now: 1, data: { pose: { x: 0, y: 0, yaw: 0 }, stop: { latched: true } } });
  must(s.stop === 'latched', s.stop);
  s = reduce(s, { kind: 'telemetry', now: 1, data: { pose: { x: 0, y: 0, yaw: 0 }, stop: { latched: false } } });
  must(s.stop === 'ready', s.stop);
});
await test('telemetry does not take back a press that is not confirmed', () => {
  let s = reduce(start(), { kind: 'stop', state: 'unconfirmed' });
  s = reduce(s, { kind: 'telemetry', now: 1, data: { stop: { latched: false } } });
  must(s.stop === 'unconfirmed', s.stop);
});
await test('a stream that is cut anywhere is read the same', () => {
  const text = 'id: 1\nevent: mode\ndata: {"a":"x\\n\\ny"}\n\nevent: hb\ndata: {}\n\n: note\n\nid: 2\nevent: task.done\ndata: {"b":"去"}\n\n';
  for (let cut = 0; cut <= text.length; cut++) {
    const got = [];
    const feed = sseParser((e) => got.push(e));
    feed(text.slice(0, cut));
    feed(text.slice(cut));
    must(got.length === 3 && got[0].id === '1' && got[1].event === 'hb' && got[2].data.b === '去', `cut at ${cut}`);
  }
});
await test('what was missed is caught up with, and then it is live', () => {
  let s = reduce(reduce(start(), hello('a')), event(3));
  s = reduce({ ...s, wire: 'lost' }, { kind: 'hello', now: 9000, data: { boot_id: 'a', seq: 3, newest: 5 } });
  must(s.wire === 'resync', s.wire);
  must(reduce(s, { kind: 'hb', now: 9100 }).wire === 'resync', 'a heartbeat is not enough');
  s = reduce(reduce(s, event(4)), event(5));
  must(s.wire === 'live' && s.rows.length === 3, s.wire);
});
await test('a fault of the store is shown until the status can be read again', () => {
  let s = reduce(start(), { kind: 'fault', text: 'disk full' });
  must(s.fault === 'disk full', s.fault);
  must(reduce(s, { kind: 'status', data: {} }).fault === '', 'it stays');
});
await test('rules are in charge when a model has decided before, and does no more', () => {
  const decide = (s, seq, source) => reduce(s, event(seq, 'decision', { source }));
  let s = decide(reduce(start(), hello('a')), 1, 'rule_engine');
  must(s.llm === '', 'no model was ever heard of');
  s = decide(decide(s, 2, 'llm'), 3, 'rule_engine');
  must(s.llm === 'down', s.llm);
  for (const by of ['ladder', 'plan', 'guard']) must(decide(decide(s, 4, 'llm'), 5, by).llm === 'up', `${by} is no sign that the model is gone`);
  must(decide(s, 4, 'llm').llm === 'up', 'it came back');
});
await test('a body that is gone takes its picture along; one that was never heard of is not lost', () => {
  let s = reduce(start(), hello('a'));
  must(!s.noBody, 'lost before anything was heard');
  s = reduce(s, { kind: 'telemetry', now: 1, data: { pose: { x: 0, y: 0, yaw: 0 } } });
  s = reduce(reduce(s, { kind: 'view', data: { path: [1, 2], scan: [] } }), { kind: 'body', data: { link: false } });
  must(s.noBody && s.body === null && s.view === null, JSON.stringify(s.view));
});
await test('everything that is degraded is named, and nothing else', () => {
  const well = reduce(reduce(start(), hello('a')), { kind: 'telemetry', now: 1, data: { pose: { x: 0, y: 0, yaw: 0 }, stop: { latched: false }, realtime: 1, localization: { state: 'sure' } } });
  const names = (s) => wrongs(s, (key) => key).map((w) => w.split(/[ :]/)[0]).join();
  must(names(well) === '', names(well));
  const with_ = (body) => names({ ...well, body: { ...well.body, ...body } });
  for (const [is, want] of [
    [with_({ stop: { latched: true, reason: 'a person' } }), 'latched'],
    [with_({ stop: { latched: true, unsaved: 'no space' } }), 'latched,unsaved'],
    [with_({ realtime: 0.5 }), 'unreal'],
    [with_({ held: true }), 'held'],
    [with_({ localization: { state: 'lost' } }), 'lostpose'],
    [names(reduce(well, { kind: 'body', data: { link: false } })), 'no_body'],
    [names(reduce(well, { kind: 'fault', text: 'disk full' })), 'store_error'],
    [names({ ...well, llm: 'down' }), 'rules_in_charge'],
    [names({ ...well, llm: 'up' }), ''],
  ]) must(is === want, `${is} is not ${want}`);
});
const turn = (...list) => list.reduce((t, [type, payload], i) => hear(t, { seq: i + 1, type, payload }), begin());
await test('a turn: tokens are one answer, a tool has its end, a plan its steps', () => {
  const t = turn(['llm_start', {}], ['token', { content: 'Hel' }], ['token', { content: 'lo' }], ['tool_start', { tool: 'look', input: 1 }], ['tool_end', { tool: 'look', output: 'a cup', duration_ms: 3 }],
    ['plan_created', { plan: { plan_id: 'p', title: 'T', steps: [{ id: 1, title: 'a', status: 'pending' }, { id: 2, title: 'b', status: 'pending' }] } }],
    ['plan_updated', { plan_id: 'p', step_id: 1, status: 'completed' }], ['plan_revised', { plan_id: 'p', keep_completed: 1, revised_steps: [{ id: 2, title: 'c', status: 'pending' }] }]);
  must(t.items.map((i) => i.kind).join() === 'say,tool,plan' && t.items[0].text === 'Hello' && t.items[1].output === 'a cup', JSON.stringify(t.items));
  must(t.items[2].plan.steps.map((s) => s.title + s.status).join() === 'acompleted,cpending', JSON.stringify(t.items[2]));
  must(t.working && !t.over, 'it is not at work');
});
await test('a question stands until anything else happens, and a turn that is over is begun anew', () => {
  let t = turn(['llm_start', {}], ['phase', { phase: 'approval' }], ['plan_approval_request', { plan_id: 'p', title: 'T', steps: [] }]);
  must(t.asks.length === 1 && !t.working, JSON.stringify(t));
  must(hear(t, { seq: 2, type: 'token', payload: {} }).asks.length === 1, 'what was here already counts again');
  t = hear(t, { seq: 9, type: 'plan_updated', payload: { plan_id: 'p', step_id: 1, status: 'running' } });
  must(t.asks.length === 0, 'it still asks');
  t = hear(hear(t, { seq: 10, type: 'error', payload: { content: 'no' } }), { seq: 11, type: 'done', payload: { status: 'failed' } });
  must(t.over && t.failed === 'failed' && t.items.at(-1).text === 'no', JSON.stringify(t));
  must(hear(t, { seq: 12, type: 'llm_start', payload: {} }).items.length === 0, 'the turn before is still there');
});
await test('nonsense from a server is no exception', () => {
  for (const payload of [undefined, null, {}, { plan: null }, { content: 7 }, { steps: 'x' }, { plan_id: 'p', revised_steps: null }]) {
    for (const type of ['token', 'tool_start', 'tool_end', 'plan_created', 'plan_updated', 'plan_revised', 'approval_request', 'plan_approval_request', 'phase', 'error', 'done', 'what', '']) {
      turn(['llm_start', {}], ['plan_created', { plan: { plan_id: 'p' } }], [type, payload]);
    }
  }
});
await test('an event of 10 MB is read in its pieces, and kept small', () => {
  const got = [], feed = sseParser((e) => got.push(e)), text = `id: 1\nevent: x\ndata: {"a":"${'x'.repeat(10 << 20)}"}\n\n`;
  for (let i = 0; i < text.length; i += 65536) feed(text.slice(i, i + 65536));
  must(got.length === 1 && got[0].data.a.length === 10 << 20, 'it is not whole');
  must(JSON.stringify(slim(got[0].data)).length < 5000, 'it stays large');
  must(JSON.stringify(slim({ list: Array.from({ length: 1e5 }, () => ({ text: 'y'.repeat(100) })) })).length < 100000, 'a list stays large');
  must(slim({ a: 1, b: [true, null, 'x'] }).b[2] === 'x', 'a small one is another');
  let deep = {};
  for (let i = 0; i < 10000; i++) deep = { deep };
  slim(deep);
});
await test('words between events that are no JSON end nothing', () => {
  const got = [];
  sseParser((e) => got.push(e))('event: x\ndata: <html>502</html>\n\nevent: y\ndata: {}\n\n');
  must(got.length === 1 && got[0].event === 'y', JSON.stringify(got));
});
await test('a fleet is stopped when all of it is, and what is a little old takes no stop back', () => {
  const robots = (...is) => ({ running: true, robots: is.map((latched, i) => ({ id: `r${i}`, connected: true, latched })) });
  let s = reduce(start(), { kind: 'stop', state: 'latched', now: 1000 });
  s = reduce(s, { kind: 'fleet', data: robots(false, false), now: 1500 });
  must(s.stop === 'latched', 'an answer of before the stop has taken it back');
  s = reduce(s, { kind: 'fleet', data: robots(true, false), now: 6000 });
  must(s.stop === 'ready' && latches(s).n === 1, 'a fleet of which one drives is shown as stopped');
  s = reduce(s, { kind: 'fleet', data: robots(true, true), now: 7000 });
  must(s.stop === 'latched', 'a fleet that stands is shown as one that drives');
  s = reduce(s, { kind: 'fleet', data: { ...robots(false, false), running: false }, now: 90000 });
  must(s.stop === 'latched' && latches(s) === null, 'nobody knows, and it is taken back');
  for (const data of [null, 7, {}, { robots: 'x', held: 7, tasks: {} }, { running: true, robots: [null, 7], held: [7, null] }]) s = reduce(s, { kind: 'fleet', data, now: 1 });
});
await test('a clock that jumps moves neither what is live nor what is left of a deadline', () => {
  let s = reduce(start(), hello('a'));
  s = reduce(s, { kind: 'hb', now: 2000, wall: 5e12, data: { ts_ms: 5e12 } });
  s = reduce(s, { kind: 'tick', now: 2400, wall: 5e12 - 3600e3 });
  must(s.wire === 'live', s.wire);
  s = reduce(s, { kind: 'hb', now: 2500, wall: 5e12 - 3600e3, data: { ts_ms: 5e12 + 500 } });
  s = reduce(s, { kind: 'tick', now: 2600, wall: 5e12 - 3600e3 + 100 });
  must(Math.abs(s.wallMs + s.skewMs - 5e12 - 600) < 10, `${s.wallMs + s.skewMs}`);
  for (let now = 2850; now < 9000; now += 250) s = reduce(s, { kind: 'tick', now, wall: 1 });
  must(s.wire === 'lost', 'a dead server is live');
});
await test("a server's sentence is said in the page's language: places in order, by number, and sentences in them", () => {
  catalogue({ 'unknown zone "%s"; known zones: %s': '有：%2$s；没有“%1$s”', 'kernel: %s (%s)': '内核：%s', 'a task is waiting': '有任务在等', '%s is under way, %.1f s, %.2f m to go.': '%s：%.1f 秒，还有 %.2f 米', '100 %% of all %d': '%d 的 100 %%', 'by {who}': '{who} 做的', 'kept at %d%%': '在 %d %%' }, { navigate_to_pose: '行驶', living_room: '客厅' });
  for (const [text, want] of [
    ['unknown zone "a.b*"; known zones: x, y', '有：x, y；没有“a.b*”'], ['kernel: a task is waiting (EXEC)', '内核：有任务在等'], ['navigate_to_pose is under way, 5.0 s, 3.66 m to go.', '行驶：5.0 秒，还有 3.66 米'],
    ['100 % of all 7', '7 的 100 %'], ['kept at 7%', '在 7 %'], ['nobody knows this', 'nobody knows this'], ['by him', 'by him'], ['it is in living_room', 'it is in 客厅'], ['', ''], [undefined, ''], [404, '404'], ['kernel: $1 $& (x)', '内核：$1 $&'],
  ]) must(sayServer(text) === want, `${text}: ${sayServer(text)}`);
  const shared = JSON.parse(readFileSync(new URL('../base/catalogue_rows.json', import.meta.url), 'utf8'));
  catalogue(shared.catalogue);
  for (const [text, want] of shared.rows) must(sayServer(text) === (want ?? text), `${text}: ${sayServer(text)}`);
  catalogue({ '%s aaaa %s aaaa %s aaaa %s aaaa %s aaaa %s aaaa %s bbbb': 'x' });
  must(sayServer('aaaa '.repeat(300)).startsWith('aaaa'), 'a text that fits in many ways');
  catalogue(null);
  must(sayServer('a task is waiting') === 'a task is waiting', 'another language stays');
});
await test('what a robot does is said in words, and a skill that nobody named too', () => {
  for (const [words, will] of [[en, 'drive to the kitchen'], [zh, '去厨房']]) {
    const t = Object.assign((/** @type {string} */ key) => /** @type {any} */ (words)[key], { called: () => (words === zh ? '厨房' : 'kitchen'), at: (p) => (p.x === 1 ? 'the nest' : '') });
    must(deed('navigate_to_pose', { zone: 'kitchen' }, t) === will, deed('navigate_to_pose', { zone: 'kitchen' }, t));
    must(deed('navigate_to_pose', { pose: { x: 1, y: 2 } }, t).endsWith('the nest') && deed('navigate_to_pose', { pose: { x: 3, y: 2 } }, t).includes('(3, 2)'), 'a pose');
    must(deed('wash_up', { plates: 3 }, t) === 'wash up plates 3', deed('wash_up', { plates: 3 }, t));
    for (const skill of Object.keys(words.deeds)) for (const form of /** @type {(0|1|2)[]} */ ([0, 1, 2])) must(!/[{}]|undefined|null|NaN/.test(deed(skill, {}, t, form)), `${skill}: ${deed(skill, {}, t, form)}`);
  }
});
await test('each of the page\'s words has its Chinese, with the same places', () => {
  const places = (/** @type {string} */ text) => (text.match(/\{\w+\}/g) ?? []).sort().join();
  const pairs = (/** @type {any} */ a, /** @type {any} */ b) => (typeof a === 'string' ? [[a, b]] : Object.keys(a).flatMap((k) => pairs(a[k], b[k])));
  const all = pairs(en, zh), bad = all.filter(([a, b]) => (/[a-z]/i.test(a.replace(/\{\w+\}/g, '')) && !/[一-鿿]/.test(b) && !/^(the )?\{\w+\}( in \{world\})?$/.test(a)) || places(a) !== places(b));
  must(all.length > 400 && bad.length === 0, JSON.stringify(bad));
  must(translated(null, en).send === 'Send' && translated({ Send: 'x', 'page: Send': '发送' }, en).send === '发送', 'a word of the page alone goes before');
});
await test('a way goes around a wall, and there is none through it', () => {
  const world = { bounds: [0, 0, 10, 10], boxes: [{ x: 5, y: 4, sx: 0.2, sy: 8, yaw: 0 }] };
  const way = route(world, 0.2, { x: 2, y: 2 }, { x: 8, y: 2 });
  must(way && way.every(([x, y]) => Math.abs(x - 5) > 0.25 || y > 8.1) && lengthOf(way) > 12, JSON.stringify(way));
  must(route({ ...world, boxes: [{ x: 5, y: 5, sx: 0.2, sy: 10 }] }, 0.2, { x: 2, y: 2 }, { x: 8, y: 2 }) === null, 'through a wall');
  must(route(world, 0.2, { x: 2, y: 2 }, { x: 2, y: 2 }).length === 2, 'to where it is');
});
finish();
