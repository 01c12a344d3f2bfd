// @ts-check
// app.js - the page: joins the wire, what is known, and the views.
//
//     wire (events, telemetry) --> reduce --> state --> one drawing a frame
//     buttons --> wire: the server's words; Stop: a port of its own (stop.js)
import { $, anew, el, plain } from '/ui/dom.js';
import { followFleet } from '/ui/fleet.js';
import { Hand } from '/ui/hand.js';
import { listenTo } from '/ui/listen.js';
import { put } from '/ui/i18n/deeds.js';
import { sayServer } from '/ui/i18n/say.js';
import { know, language, speak, t } from '/ui/i18n/words.js';
import { inside } from '/ui/route.js';
import { latches, reduce, start } from '/ui/store.js';
import { Stop } from '/ui/stop.js';
import { Wire } from '/ui/wire.js';
import { asks } from '/ui/views/asks.js';
import { bar } from '/ui/views/bar.js';
import { CameraView } from '/ui/views/camera.js';
import { Pad } from '/ui/views/drive.js';
import { answerTo, line, LogView } from '/ui/views/log.js';
import { MapView } from '/ui/views/map.js';
import { need, now, offers, queue } from '/ui/views/now.js';
import { Tabs } from '/ui/tabs.js';

/** @returns {any[]} */
const all = (/** @type {string} */ selector) => [...document.querySelectorAll(selector)];
const saved = (key) => { try { return localStorage.getItem(key) ?? ''; } catch { return ''; } };
const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private window */ } };

// The token comes behind #, which a browser sends to nobody, and goes from the address at once.
const given = /[#&]token=([0-9a-f]{64})/.exec(location.hash);
if (given) {
  save('pons.token', given[1]);
  history.replaceState(null, '', location.pathname + location.search);
}
const thread = new URLSearchParams(location.search).get('thread');
const query = thread ? '?thread=' + encodeURIComponent(thread) : '';
const wire = new Wire({ token: given?.[1] ?? saved('pons.token') });

let strayed = false, held = 0; // the focus was on what is gone; Reset is being held
let state = start(), drawn = null, reading = false, wantsDrive = false, spoken = null; // what was said last, until it is answered
const log = new LogView($('events'));
const map = new MapView($('map-body'), { onGoal: proposeGoal, onPose: proposePose, onName: proposeName, onRoom: nameRoom, t, language: () => language });
const camera = new CameraView({ wire, t });
const hand = new Hand({ wire, told: tell });
const pad = new Pad($('pad'), { hand, t, end: () => { hand.letGo(); tool('goal'); } });
const stop = new Stop({
  button: $('stop'), on: apply,
  url: () => (state.stopPort ? `${location.protocol}//${location.hostname}:${state.stopPort}` : ''),
});
const tabs = new Tabs($('tabs'), $('main'), { wire, t, query, language: () => language, tell, onShow: () => apply({ kind: 'none' }) });

function apply(message) {
  const before = state;
  state = reduce(state, { now: performance.now(), wall: Date.now(), ...message });
  if (state.stale && !reading) readState();
  if (state !== before && drawn === null) drawn = requestAnimationFrame(draw);
}

// The status is read again after events that may have changed it, five times a second at most.
async function readState() {
  reading = true;
  try {
    const r = await wire.ask('GET', '/v1/state' + query);
    if (r.status === 200) apply({ kind: 'status', data: r.body });
    else if (r.status >= 500) apply({ kind: 'fault', text: r.body?.detail ?? String(r.status) });
  } catch { /* the stream tells that the server is gone */ }
  setTimeout(() => { reading = false; if (state.stale || state.fault) readState(); }, state.fault ? 1000 : 200);
}

let named = ''; // what the words on the page have been filled with

async function readMap() {
  try {
    const r = await wire.ask('GET', '/v1/map');
    if (r.status === 200 && JSON.stringify(r.body) !== JSON.stringify(state.map)) apply({ kind: 'map', data: r.body });
    const rooms = explores() ? null : await wire.ask('GET', '/v1/map/rooms'); // of a map that is made
    apply({ kind: 'rooms', list: rooms?.status === 200 ? rooms.body.rooms : [] });
    const found = await wire.ask('POST', '/store/items/search', { namespace_prefix: ['pons-places'], limit: 200 });
    if (found.status === 200) apply({ kind: 'places', list: (found.body.items ?? []).map((i) => i.value) });
    await readSeen();
    const names = JSON.stringify([state.map?.world?.zones, state.map?.world?.objects, state.places]);
    if (names !== named) await namesAnew(); // which fills everything anew: whoever is in the midst of it loses the focus
    named = names;
  } catch { /* as above */ }
}

// While it explores the map grows: it is read again now and then, and once more when that is over.
const GROWS_MS = 5000, explores = () => state.body?.goal?.skill === 'explore';
let explored = false;
setInterval(() => {
  if (document.hidden || !state.map) return;
  const now = explores();
  if (now || explored) readMap();
  explored = now;
}, GROWS_MS);

// What the robot has seen changes without an event: it is read again now and then, while somebody looks.
async function readSeen() {
  const r = await wire.ask('GET', '/v1/objects?limit=200');
  if (r.status === 200) apply({ kind: 'seen', list: r.body.objects });
}
setInterval(() => { if (state.map && !document.hidden) readSeen().catch(() => { /* as above */ }); }, 10000);

// What a listener hears, its own or the tabs' common one (worker.js).
function heard(message) {
  if (message.kind === 'telemetry' && state.mapFor !== message.data.boot_id) {
    state.mapFor = message.data.boot_id;
    readMap();
  }
  const list = message.kind === 'batch' ? message.list : message.kind === 'event' ? [message.data] : [];
  if (list.some((e) => /^(place\.(kept|forgotten)|charger\.kept)/.test(e?.type))) readMap();
  apply(message);
  if (message.kind === 'world') readMap(); // it is called otherwise, or another one
  if (message.kind === 'denied') askToken();
  if (message.kind === 'hello') stop.ping();
}

// ---- drawing ----

const zoneName = (id) => (id ? t.called(id) : null);

function drawDrive(lost) {
  const byHand = state.body?.goal?.skill === 'drive_by_hand' && !state.body.stop?.latched;
  if (byHand) wantsDrive = true; // somebody asked for it, here or elsewhere
  else if (wantsDrive && pad.was === 'on') { wantsDrive = false; tool('goal'); } // it is over
  const gate = state.body?.zone_of_safety;
  pad.draw(!wantsDrive ? 'off' : byHand && !lost ? 'on' : 'waits', t('gates')[gate] ?? '');
}

/** A view that cannot draw what somebody sent must not take Stop along. */
function safely(/** @type {() => void} */ run) {
  try { run(); } catch (error) { console.warn(error); }
}

function drawStop() {
  const fleet = latches(state), latched = state.stop === 'latched' || (state.body?.stop?.latched === true && !fleet);
  $('stop').classList.toggle('latched', latched);
  $('stop-word').textContent = t('stop');
  $('stop-state').textContent = latched ? t('stopped') : state.stop === 'pressed' ? t('pressed') : fleet?.n ? `${t('stopped')} ${fleet.n} / ${fleet.of}` : t('hold');
  $('reset').hidden = !latched && !fleet?.n;
  const alarm = state.stop === 'unconfirmed' ? t('unconfirmed') : state.stopReachable === false ? t('unreachable') : '';
  $('alarm').hidden = !alarm;
  if ($('alarm').textContent !== alarm) $('alarm').textContent = alarm;
}

/** What a person has to press next stands out; what would do nothing is not there. */
function drawControls(/** @type {Element|null} */ had) {
  const s = state.status, wants = need(state, t).button, idle = !!s && !s.active_task && !s.queue?.length;
  $('continue').classList.toggle('main', wants === 'continue');
  $('reset').classList.toggle('main', wants === 'reset');
  $('pause').hidden = wants !== '' || idle;
  $('continue').hidden = !!s && wants !== 'continue' && !state.fleet;
  $('cancel').hidden = idle;
  // A keyboard's way goes on where it was, but not before the key is up: held on, it would press what comes next too.
  if (had instanceof HTMLElement && had.hidden) strayed = true;
  if (!strayed || held) return;
  strayed = false;
  ['reset', 'continue', 'pause', 'goal'].map((id) => $(id)).find((e) => !e.hidden).focus();
}

function draw() {
  drawn = null;
  const had = document.activeElement; // before anything is hidden
  const lost = state.wire === 'lost' || state.wire === 'denied';
  know(state.map, state.places);
  drawStop(); // first, and whatever becomes of the rest
  safely(() => bar(state, t, zoneName));
  safely(() => asks($('asks'), state, t, answer, (way) => map.propose(way)));
  if (tabs.shown === 'now') {
    safely(() => now($('now-body'), state, t));
    safely(() => offers($('offers'), state, t, say));
    safely(() => queue($('queue'), state, t));
    safely(() => drawControls(had));
    safely(hearAnswer);
    safely(() => map.draw(state));
    safely(() => camera.draw(state));
    safely(() => { if (log.draw(state, t)) drawn ??= requestAnimationFrame(draw); });
  }
  safely(() => tabs.draw(state));
  for (const b of all('main button, main input, main select, main textarea')) b.disabled = lost;
  safely(() => drawDrive(lost));
}

/** The language, with what there is to name by now. */
function namesAnew() {
  know(state.map, state.places); // a page that nobody looks at draws nothing
  return speak(language, words);
}

function words() {
  document.documentElement.lang = language;
  for (const e of all('[data-t]')) e.textContent = t(e.dataset.t);
  for (const e of all('[data-t-label]')) e.setAttribute('aria-label', t(e.dataset.tLabel));
  $('lang').textContent = language === 'zh' ? 'English' : '中文';
  $('lang').lang = language === 'zh' ? 'en' : 'zh';
  anew();
  $('legend').replaceChildren(...t('legend').map((word, i) => el('span', { class: ['l-path', 'l-trail', 'l-scan', 'l-dock', 'l-object', 'l-place'][i] }, word)));
  pad.words();
  tabs.words();
  $('events').dataset.none = t('log_none');
  log.again();
  draw();
}

// ---- what a person does ----

function tell(text, tone = '') {
  const said = plain(text);
  if ($('said').textContent === said) return;
  $('said').textContent = said;
  $('said').className = tone;
  if (said && $('talk').contains(document.activeElement)) $('said').scrollIntoView({ block: 'nearest' });
}

/** What became of the words that were said last. */
function hearAnswer() {
  const row = spoken && answerTo(state.rows, spoken), is = row && line(row, t);
  if (!is) return;
  const wants = need(state, t);
  if (row.type === 'task.queued' && wants.button) { tell(put(t('said_stopped'), { text: spoken.text, need: wants.text }), 'warn'); return; }
  tell(`${is[0]} ${is[2]}`, is[1]);
  // What was not understood stands in the field again, to be mended.
  const { text, seq } = spoken, begun = state.rows.some((r) => r.seq > seq && r.type === 'task.active' && r.payload?.task?.text === text);
  if (is[1] !== 'bad') return;
  if (!begun && !$('goal').value) { $('goal').value = text; $('goal').select(); }
  spoken = null;
}


async function send(method, path, body, done) {
  try {
    const r = await wire.ask(method, path, body);
    if (r.status === 401) askToken();
    tell(r.status < 300 ? done : sayServer(r.body?.detail ?? r.status), r.status < 300 ? '' : 'bad');
    apply({ kind: 'none' });
    readState();
    return r.status < 300;
  } catch (e) {
    tell(String(e), 'bad');
    return false;
  }
}

const say = (text) => {
  spoken = { text, seq: state.seq };
  return send('POST', '/v1/say' + query, { text }, `${t('said')}: ${text}`);
};
const answer = (id, what) => send('POST', `/v1/approvals/${encodeURIComponent(id)}${query}`, what, t('answered'));

/** A question under the map: nothing that a finger does there moves the robot before it is answered. */
function ask(text, yes, run) {
  const box = $('map-ask');
  box.hidden = !text;
  map.place(text && run ? map.ghost : null);
  if (!text) { box.replaceChildren(); return; }
  const close = () => ask(null);
  const go = run && el('button', { type: 'button', class: 'main', onclick: () => { close(); run(); } }, yes);
  box.replaceChildren(el('span', {}, text), ...(go ? [go, el('button', { type: 'button', onclick: close }, t('no'))] : []));
  go?.focus({ preventScroll: true });
}

const zoneAt = (x, y) => zoneName(state.map?.world?.zones?.find((z) => inside(z.polygon, x, y))?.id);

function proposeGoal(x, y) {
  const at = `${x.toFixed(2)} ${y.toFixed(2)}`, zone = zoneAt(x, y);
  ask(`${t('go_ask')} ${at}${zone ? ` (${zone})` : ''}?`, t('go_here'), () => say(`go to ${at}`));
}

function proposeName(name, text) { ask(`${put(t('map_go'), { name })}?`, t('go_here'), () => say(text)); }

/** The name of a room that the map has: asked for under it. */
function nameRoom(room) {
  const box = $('map-ask'), close = () => ask(null);
  const field = (key) => el('input', { name: key, maxlength: 60, autocomplete: 'off', lang: key, 'aria-label': t(`room_${key}`), placeholder: t(`room_${key}`) });
  const en = field('en'), zh = field('zh');
  const give = async (e) => {
    e.preventDefault();
    const names = Object.fromEntries([en, zh].map((i) => [i.name, i.value.trim()]).filter(([, v]) => v));
    if (!Object.keys(names).length) { en.focus(); return; }
    if (await send('POST', '/v1/map/rooms', { x: room.x, y: room.y, ...names }, t('room_named'))) { close(); readMap(); } // and once more when the robot has heard it
  };
  ask(' ');
  box.replaceChildren(el('form', { class: 'row', onsubmit: give }, el('span', {}, put(t('room_n'), { n: room.number, m2: room.area_m2 })), en, zh, el('button', { type: 'submit', class: 'main' }, t('room_name')), el('button', { type: 'button', onclick: close }, t('no'))));
  en.focus({ preventScroll: true });
}

function proposePose(x, y, yaw) {
  ask(`${t('pose_ask')} ${Math.round((yaw * 180) / Math.PI)}°: ${x.toFixed(2)} ${y.toFixed(2)}?`, t('yes'), async () => {
    if (await send('POST', '/v1/pose', { x, y, yaw }, t('placed'))) tool('goal');
  });
}

function tool(name) {
  map.tool = name;
  for (const k of ['goal', 'drive', 'pose']) $(`tool-${k}`).setAttribute('aria-pressed', String(k === name));
  if (name !== 'drive' && wantsDrive) {
    wantsDrive = false;
    if (pad.was === 'on') hand.letGo();
  }
  ask(null);
  if (name === 'pose') ask(t('pose_help'));
  if (name === 'drive') {
    ask(t('drive_ask'), t('drive'), async () => {
      wantsDrive = true;
      const busy = state.status?.active_task || state.status?.queue?.length;
      if (busy && !(await send('POST', '/v1/cancel' + query, {}, t('cancel')))) return;
      if (!(await say('drive by hand'))) wantsDrive = false;
    });
  }
  apply({ kind: 'tick' });
}
for (const k of ['goal', 'drive', 'pose']) $(`tool-${k}`).addEventListener('click', () => tool(k));
$('zoom-in').addEventListener('click', () => map.zoom(1.6));
$('zoom-out').addEventListener('click', () => map.zoom(1 / 1.6));
$('zoom-all').addEventListener('click', () => map.zoom(0));

// Not modal: Stop needs no token, and must not lie behind a question for one.
function askToken() {
  const dialog = $('key');
  if (!dialog.open) dialog.show();
}

// Where Stop is, is known before anybody may see anything.
async function findStop() {
  try {
    const { port } = await (await fetch('/v1/stop', { cache: 'no-store' })).json(); // with a wrong token it would be refused
    if (!Number.isInteger(port)) throw new Error('no port');
    apply({ kind: 'stop_port', port });
  } catch { setTimeout(findStop, 2000); }
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
const letGo = () => { clearTimeout(held); held = 0; apply({ kind: 'tick' }); };
const lift = () => send('POST', '/v1/reset', {}, t('reset_done'));
$('reset').addEventListener('pointerdown', () => { held = setTimeout(lift, 1000); });
for (const kind of ['pointerup', 'pointerleave', 'pointercancel', 'keyup']) addEventListener(kind, () => { if (held) letGo(); }, true);
$('reset').addEventListener('keydown', (e) => { if ((e.key === 'Enter' || e.key === ' ') && !e.repeat) held = setTimeout(lift, 1000); });
$('lang').addEventListener('click', () => { const other = language === 'zh' ? 'en' : 'zh'; save('pons.language', other); ask(null); speak(other, words); });
$('log-raw').addEventListener('change', () => { log.raw = $('log-raw').checked; log.again(); draw(); });

setInterval(() => apply({ kind: 'tick' }), 250);
speak(saved('pons.language') || (navigator.language.startsWith('zh') ? 'zh' : 'en'), words);
findStop();
listenTo({ token: wire.token, query, heard });
followFleet({ wire, heard: apply, shown: () => tabs.shown === 'fleet', first: () => { if (!thread && !tabs.asked()) tabs.show('fleet'); } });
