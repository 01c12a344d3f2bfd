// app.js - the page: joins the wire, what is known, and the views.
//
//     wire (events, telemetry) --> reduce --> state --> one drawing a frame
//     buttons --> wire: the server's words; Stop: a port of its own (stop.js)
import { $ } from '/ui/dom.js';
import en from '/ui/i18n/en.js';
import zh from '/ui/i18n/zh.js';
import { reduce, start } from '/ui/store.js';
import { Stop } from '/ui/stop.js';
import { Wire } from '/ui/wire.js';
import { asks } from '/ui/views/asks.js';
import { bar } from '/ui/views/bar.js';
import { LogView } from '/ui/views/log.js';
import { MapView } from '/ui/views/map.js';
import { now, queue } from '/ui/views/now.js';

const texts = { en, zh };
const saved = (key) => { try { return localStorage.getItem(key) ?? ''; } catch { return ''; } };
const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private window */ } };

// The token comes behind #, which a browser sends to nobody, and goes from the address at once.
const given = /[#&]token=([0-9a-f]{64})/.exec(location.hash);
if (given) {
  save('pons.token', given[1]);
  history.replaceState(null, '', location.pathname + location.search);
}
let language = saved('pons.language') || (navigator.language.startsWith('zh') ? 'zh' : 'en');
const t = (key) => texts[language][key] ?? en[key] ?? key;
const thread = new URLSearchParams(location.search).get('thread');
const query = thread ? '?thread=' + encodeURIComponent(thread) : '';
const wire = new Wire({ token: given?.[1] ?? saved('pons.token') });

let state = start(), drawn = null, reading = false;
const log = new LogView($('events'));
const map = new MapView($('map-body'), { onGoal: propose, t, language: () => language });
const stop = new Stop({
  button: $('stop'), on: apply,
  url: () => (state.stopPort ? `${location.protocol}//${location.hostname}:${state.stopPort}` : ''),
});

function apply(message) {
  const before = state;
  state = reduce(state, { now: Date.now(), ...message });
  if (state.stale && !reading) readState();
  if (state !== before && drawn === null) drawn = requestAnimationFrame(draw);
}

// The status is read again after events that may have changed it, five times a second at most.
async function readState() {
  reading = true;
  try {
    const r = await wire.ask('GET', '/v1/state' + query);
    if (r.status === 200) apply({ kind: 'status', data: r.body });
  } catch { /* the stream tells that the server is gone */ }
  setTimeout(() => { reading = false; if (state.stale) readState(); }, 200);
}

async function readMap() {
  try {
    const r = await wire.ask('GET', '/v1/map');
    if (r.status === 200) apply({ kind: 'map', data: r.body });
  } catch { /* as above */ }
}

// What a listener hears, its own or the tabs' common one (worker.js).
function heard(message) {
  if (message.kind === 'telemetry' && state.mapFor !== message.data.boot_id) {
    state.mapFor = message.data.boot_id;
    readMap();
  }
  apply(message);
  if (message.kind === 'denied') askToken();
  if (message.kind === 'hello') stop.ping();
}

function listen() {
  const key = `pons ${wire.token} ${query}`;
  if (globalThis.SharedWorker && globalThis.BroadcastChannel) {
    const worker = new SharedWorker('/ui/worker.js', { type: 'module', name: 'pons' });
    new BroadcastChannel(key).onmessage = (e) => heard(e.data);
    worker.port.onmessage = (e) => heard(e.data);
    worker.port.start();
    worker.port.postMessage({ key, token: wire.token, query });
    return;
  }
  wire.listen('/v1/events' + query, { on: (what, e) => {
    if (what === 'denied') heard({ kind: 'denied' });
    else if (what !== 'event' || e.event === 'dropped') return;
    else if (e.event === 'hello' || e.event === 'hb') heard({ kind: e.event, data: e.data });
    else heard({ kind: 'event', data: e.data });
  } });
  wire.listen('/v1/live?hz=10', { on: (what, e) => { if (what === 'event') heard({ kind: e.event, data: e.data }); } });
}

// ---- drawing ----

function zoneName(id) {
  const z = state.map?.world?.zones?.find((x) => x.id === id);
  return z ? (z.names?.[language] ?? z.names?.en ?? [id])[0] : id || null;
}

function draw() {
  drawn = null;
  bar(state, t, zoneName);
  asks($('asks'), state, t, answer);
  now($('now-body'), state, t);
  queue($('queue'), state, t);
  map.draw(state);
  log.draw(state, t);
  const latched = state.stop === 'latched' || state.body?.stop?.latched;
  $('stop').classList.toggle('latched', !!latched);
  $('stop-word').textContent = t('stop');
  $('stop-state').textContent = latched ? t('stopped') : state.stop === 'pressed' ? t('pressed') : t('hold');
  $('reset').hidden = !latched;
  const alarm = state.stop === 'unconfirmed' ? t('unconfirmed') : state.stopReachable === false ? t('unreachable') : '';
  $('alarm').hidden = !alarm;
  if ($('alarm').textContent !== alarm) $('alarm').textContent = alarm;
  const lost = state.wire === 'lost' || state.wire === 'denied';
  for (const b of document.querySelectorAll('main button, main input')) b.disabled = lost;
}

function speak() {
  document.documentElement.lang = language;
  for (const e of document.querySelectorAll('[data-t]')) e.textContent = t(e.dataset.t);
  for (const e of document.querySelectorAll('[data-t-label]')) e.setAttribute('aria-label', t(e.dataset.tLabel));
  $('lang').textContent = t('language');
  for (const e of document.querySelectorAll('[data-key]')) delete e.dataset.key;
  draw();
}

// ---- what a person does ----

function tell(text) { $('said').textContent = text; }

async function send(method, path, body, done) {
  try {
    const r = await wire.ask(method, path, body);
    if (r.status === 401) askToken();
    tell(r.status < 300 ? done : r.body?.detail ?? `${r.status}`);
    apply({ kind: 'none' });
    readState();
    return r.status < 300;
  } catch (e) {
    tell(String(e));
    return false;
  }
}

const say = (text) => send('POST', '/v1/say' + query, { text }, `${t('said')}: ${text}`);
const answer = (id, what) => send('POST', `/v1/approvals/${encodeURIComponent(id)}${query}`, what, t('answered'));

function propose(x, y) {
  const text = `go to ${x.toFixed(2)} ${y.toFixed(2)}`;
  $('goal').value = text;
  $('goal').focus();
  tell(t('go_here'));
}

function askToken() {
  const dialog = $('key');
  if (!dialog.open) dialog.showModal();
}

$('key-form').addEventListener('submit', () => {
  save('pons.token', $('token').value.trim());
  location.reload();
});
$('say').addEventListener('submit', async (e) => {
  e.preventDefault();
  const input = $('goal');
  if (await say(input.value)) input.value = '';
});
$('pause').addEventListener('click', () => send('POST', '/v1/pause' + query, {}, t('pause')));
$('continue').addEventListener('click', () => send('POST', '/v1/continue' + query, {}, t('continue')));
$('cancel').addEventListener('click', () => send('POST', '/v1/cancel' + query, {}, t('cancel')));
// Reset is held for a second: a slip of the hand lifts no latch.
let held = 0;
$('reset').addEventListener('pointerdown', () => { held = setTimeout(() => send('POST', '/v1/reset', {}, 'reset'), 1000); });
for (const kind of ['pointerup', 'pointerleave', 'pointercancel']) $('reset').addEventListener(kind, () => clearTimeout(held));
$('reset').addEventListener('keydown', (e) => { if (e.key === 'Enter' && !e.repeat) held = setTimeout(() => send('POST', '/v1/reset', {}, 'reset'), 1000); });
$('reset').addEventListener('keyup', () => clearTimeout(held));
$('lang').addEventListener('click', () => { language = language === 'zh' ? 'en' : 'zh'; save('pons.language', language); speak(); });

setInterval(() => apply({ kind: 'tick' }), 500);
speak();
listen();
