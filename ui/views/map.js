// @ts-check
// map.js - the map: walls, rooms, places and objects by name, the robot, where it was and goes, what it sees; a finger on
// it; and all of it as a list, for who sees no map or has no finger.
//
// What stands is drawn once, all walls as one path, so a map of 20,000 boxes costs as much a frame as an
// empty one; what moves is one element each. Fingers: a tap proposes a goal, with the tool "It is here" a
// press and a drag give a place and a heading, and a zoomed map is dragged along.
import { $, el, fixed } from '/ui/dom.js';
import { put } from '/ui/i18n/deeds.js';
import { inside } from '/ui/route.js';

const f = (/** @type {number} */ n) => String(Math.round(n * 1000) / 1000);
const points = (/** @type {number[][]} */ list) => list.map(([x, y]) => `${f(x)},${f(y)}`).join(' ');
/** A list of x and y by turns. */
const pairs = (/** @type {number[]} */ list, /** @type {string} */ word, /** @type {string} */ tail) => {
  let out = '';
  for (let i = 0; i + 1 < list.length; i += 2) out += `${word}${list[i]} ${list[i + 1]}${tail}`;
  return out;
};

/** A box of a world, its middle and its sides, turned: four corners of a path. */
export function boxPath(b) {
  const sx = (b.sx ?? b.size?.[0] ?? 0) / 2, sy = (b.sy ?? b.size?.[1] ?? 0) / 2;
  const x = b.x ?? b.pos?.[0] ?? 0, y = b.y ?? b.pos?.[1] ?? 0, c = Math.cos(b.yaw ?? 0), s = Math.sin(b.yaw ?? 0);
  const at = (u, v) => `${f(x + u * c - v * s)} ${f(y + u * s + v * c)}`;
  return `M${at(-sx, -sy)}L${at(sx, -sy)}L${at(sx, sy)}L${at(-sx, sy)}Z`;
}

/** The middle of a polygon by its area: where its name stands. */
export function centre(polygon) {
  let a = 0, x = 0, y = 0;
  polygon.forEach(([x0, y0], i) => {
    const [x1, y1] = polygon[(i + 1) % polygon.length], k = x0 * y1 - x1 * y0;
    a += k; x += (x0 + x1) * k; y += (y0 + y1) * k;
  });
  return a ? [x / (3 * a), y / (3 * a)] : polygon[0];
}

/** What is shown of a world: its bounds; of a map that grows what it has so far, with the robot's start, in whole metres. */
export function reach(w) {
  if (!w.grows || !w.boxes?.length) return w.bounds;
  const ends = (k, s) => w.boxes.flatMap((b) => [b[k] - b[s] / 2, b[k] + b[s] / 2]), xs = [-1, 1, ...ends('x', 'sx')], ys = [-1, 1, ...ends('y', 'sy')];
  const low = (list) => Math.floor(list.reduce((a, b) => Math.min(a, b))), high = (list) => Math.ceil(list.reduce((a, b) => Math.max(a, b)));
  return [low(xs), low(ys), high(xs), high(ys)];
}

const LOOKS = 4000; // rooms times boxes: in a larger map a name stands in the middle of its room

/** Where a room's name stands: near its middle, and on no piece of furniture. */
export function spot(polygon, boxes) {
  const [cx, cy] = centre(polygon), xs = polygon.map((p) => p[0]), ys = polygon.map((p) => p[1]), x0 = Math.min(...xs), y0 = Math.min(...ys), w = Math.max(...xs) - x0, h = Math.max(...ys) - y0;
  const gap = (x, y) => Math.min(...boxes.map((b) => Math.max(Math.abs(x - b.x) - (b.sx ?? 0) / 2 - 0.5, Math.abs(y - b.y) - (b.sy ?? 0) / 2)), x - x0 - 0.6, x0 + w - x - 0.6, y - y0, y0 + h - y);
  let best = [cx, cy], most = Math.min(gap(cx, cy), 0.35);
  for (let i = 1; i < 12; i++) {
    for (let j = 1; j < 12; j++) {
      const x = x0 + (w * i) / 12, y = y0 + (h * j) / 12, good = Math.min(gap(x, y), 0.35) - 0.05 * Math.hypot(x - cx, y - cy);
      if (good > most && inside(polygon, x, y)) { most = good; best = [x, y]; }
    }
  }
  return best;
}

export class MapView {
  constructor(parent, { onGoal, onPose, onName, onRoom, t, language }) {
    this.parent = parent;
    this.onGoal = onGoal;
    this.onPose = onPose;
    this.onName = onName;
    this.onRoom = onRoom;
    this.t = t;
    this.language = language;
    this.made = '';
    this.tool = 'goal';
    this.ghost = null;
  }

  make(map) {
    const w = map.world ?? {}, [x0, y0, x1, y1] = reach(w) ?? [0, 0, 10, 8], pad = 0.02 * Math.max(x1 - x0, y1 - y0) + 0.05;
    const all = { x: x0 - pad, y: y0 - pad, w: x1 - x0 + 2 * pad, h: y1 - y0 + 2 * pad };
    const whole = !this.all || !this.svg?.classList.contains('near'); // else the part that is looked at stays
    this.all = all;
    if (whole || all.w < this.box.w) this.box = { ...all };
    else { this.box.y += y0 + y1 - this.turn; this.stay(); }
    this.turn = y0 + y1; // y grows upwards on a map and downwards on a screen
    this.flip = el('g', { transform: `translate(0 ${this.turn}) scale(1 -1)` });
    this.over = el('g', { transform: `translate(0 ${this.turn}) scale(1 -1)` }); // what moves, over the names
    this.names = el('g', {});
    this.svg = el('svg', { role: 'img', 'aria-describedby': 'map-list' }, this.flip, this.names, this.over);
    this.rooms = (w.zones ?? []).map((z) => ({ id: z.id, e: el('polygon', { class: 'room', points: points(z.polygon) }) }));
    // Where nobody goes, and where it drives slowly: over the rooms, under what moves; why, to who points at it.
    const areas = [['shut', w.keep_out], ['slow', w.speed_zones]].flatMap(([kind, list]) => (list ?? []).map((z) => ({ z, e: el('polygon', { class: kind, points: points(z.polygon) },
      el('title', {}, [this.name(z), this.t(`area_${kind}`), this.limit(z), z.reason].filter(Boolean).join(' · '))) })));
    const nameless = this.nameless.map((r) => el('polygon', { class: 'room nameless', points: points(r.polygon) }));
    this.trail = el('polyline', { class: 'trail' });
    this.path = el('polyline', { class: 'path' });
    this.asked = el('polyline', { class: 'path asked' });
    this.end = el('circle', { class: 'end', r: 0.12 });
    this.scan = el('path', { class: 'scan' });
    this.moving = el('g', {});
    this.doubt = el('circle', { class: 'doubt', r: 0 });
    const shape = map.limits?.footprint;
    this.robot = el('g', { class: 'robot' }, shape ? el('polygon', { points: points(shape) }) : el('circle', { r: Math.max(map.limits?.radius_m ?? 0.2, 0.16) }), el('path', { d: 'M.17 0L-.1 .11L-.05 0L-.1 -.11Z' }));
    this.mark = el('g', { class: 'ghost' }, el('circle', { r: 0.2 }), el('path', { d: 'M.2 0H.6M.48 .09L.6 0L.48 -.09' }));
    this.mark.style.display = 'none';
    const dock = w.charger?.pose;
    this.flip.append(...nameless, ...this.rooms.map((r) => r.e), ...areas.map((a) => a.e), this.trail, this.scan, el('path', { class: 'wall', d: (w.boxes ?? []).map(boxPath).join('') }),
      ...(dock ? [el('path', { class: 'dock', d: 'M.02 .16L-.1 -.02H-.02L-.03 -.16L.1 .03H.02Z', transform: `translate(${dock.x} ${dock.y}) scale(1.3)` })] : []));
    this.over.append(this.path, this.asked, this.end, this.moving, this.doubt, this.robot, this.mark);
    const few = (w.zones ?? []).length * (w.boxes ?? []).length < LOOKS;
    this.labels = (w.zones ?? []).map((z) => this.write(few ? spot(z.polygon, w.boxes ?? []) : centre(z.polygon), 'label', this.name(z)));
    for (const r of this.nameless) this.labels.push(this.write([r.x, r.y], 'label nameless', String(r.number)));
    for (const { z, e } of areas) this.labels.push(this.write(centre(z.polygon), `label ${e.getAttribute('class')}`, [this.name(z), this.limit(z)].filter(Boolean).join(' ')));
    const seen = this.seen.filter((o) => o.known).slice(0, 200).map((o) => ({ id: o.id, kind: 'seen', name: this.word(o), x: o.position[0], y: o.position[1] }));
    this.things = [...seen, ...(w.objects ?? []).filter((o) => Array.isArray(o.position)).map((o) => ({ id: o.id, kind: 'object', name: this.name(o), x: o.position[0], y: o.position[1] })),
      ...this.places.map((p) => ({ id: p.name, kind: 'place', name: p.name, x: p.x, y: p.y }))];
    for (const o of this.things) {
      this.flip.append(el('path', { class: o.kind, d: o.kind === 'place' ? 'M0 0L.13 .3A.15 .15 0 1 1 -.13 .3Z' : 'M0 .1L.1 0L0 -.1L-.1 0Z', transform: `translate(${f(o.x)} ${f(o.y)})` }, el('title', {}, o.name)));
      o.label = el('text', { class: `label ${o.kind}` }, o.name);
      this.names.append(o.label);
    }
    this.fingers();
    this.look();
    this.parent.replaceChildren(this.svg);
  }

  /** What people call a zone, in the page's language, or in any, or its id. */
  name(z) {
    return (z.names?.[this.language()] ?? z.names?.en ?? z.names?.zh ?? [z.id])[0];
  }

  /** What a thing that was seen is called: its words are of both languages, its label is what the detector says. */
  word(o) {
    return String((this.language() === 'zh' && (o.names ?? []).find((n) => /[\u4e00-\u9fff]/.test(n))) || o.label);
  }

  /** "2 min ago" */
  ago(ms) {
    const s = Math.max((Date.now() - ms) / 1000, 0), [n, unit] = s < 120 ? [s, 'second'] : s < 7200 ? [s / 60, 'minute'] : s < 172800 ? [s / 3600, 'hour'] : [s / 86400, 'day'];
    return new Intl.RelativeTimeFormat(this.language(), { style: 'short' }).format(-Math.round(n), /** @type {any} */ (unit));
  }

  /** How fast it may be driven through. */
  limit(z) {
    return z.percent !== undefined ? `${f(z.percent)} %` : z.speed_max_mps !== undefined ? `≤ ${f(z.speed_max_mps)} m/s` : '';
  }

  write([cx, cy], kind, text) {
    const e = el('text', { class: kind, x: f(cx), y: f(this.turn - cy) }, text);
    this.names.append(e);
    return { e, x: cx, y: this.turn - cy, n: text.length };
  }

  /** Names of things beside them, where no other name stands; where there is no room, they are in the list. */
  lay(unit) {
    const wide = (text) => [...text].reduce((n, c) => n + (c.charCodeAt(0) > 0x2e80 ? 1 : 0.55), 0);
    const taken = this.labels.map((l) => [l.x, l.y, wide(l.e.textContent) * unit, unit * 1.15]);
    for (const o of this.things) {
      const w = wide(o.name) * unit * 0.8, h = unit, lift = o.kind === 'place' ? 0.3 : 0, y = this.turn - o.y - lift;
      const free = [[w / 2 + 0.22, 0], [-w / 2 - 0.22, 0], [0, -h * 0.9 - 0.1], [0, h * 0.9 + 0.1]].map(([dx, dy]) => [o.x + dx, y + dy])
        .find(([x, v]) => taken.every(([a, b, c, d]) => Math.abs(x - a) > (w + c) / 2 || Math.abs(v - b) > (h + d) / 2));
      o.label.style.display = free ? '' : 'none';
      if (!free) continue;
      o.label.setAttribute('x', f(free[0]));
      o.label.setAttribute('y', f(free[1]));
      taken.push([...free, w, h]);
    }
  }

  /** Shows the part of the map that is looked at. */
  look() {
    const b = this.box;
    this.svg.setAttribute('viewBox', `${f(b.x)} ${f(b.y)} ${f(b.w)} ${f(b.h)}`);
    // Names keep their size on the screen, more or less, whatever the map's.
    const unit = Math.max(b.w, b.h * 1.25) / (this.parent.clientWidth && this.parent.clientWidth < 500 ? 26 : 34);
    this.svg.style.setProperty('--unit', `${f(unit)}px`);
    this.lay(unit);
    this.svg.classList.toggle('near', b.w < this.all.w * 0.999);
  }

  zoom(factor) {
    if (!this.svg) return;
    if (!factor) this.box = { ...this.all };
    else {
      const b = this.box, w = Math.min(Math.max(b.w / factor, 1.5), this.all.w), h = w * this.all.h / this.all.w;
      const p = this.near ?? { x: b.x + b.w / 2, y: b.y + b.h / 2 };
      this.box = { x: p.x - w / 2, y: p.y - h / 2, w, h };
      this.stay();
    }
    this.look();
  }

  stay() {
    const b = this.box, a = this.all;
    b.x = Math.min(Math.max(b.x, a.x), a.x + a.w - b.w);
    b.y = Math.min(Math.max(b.y, a.y), a.y + a.h - b.h);
  }

  at(e) {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(this.flip.getScreenCTM().inverse());
    return { x: p.x, y: p.y };
  }

  fingers() {
    let from = null;
    this.svg.addEventListener('pointerdown', (e) => {
      if (e.button > 0) return;
      from = { px: e.clientX, py: e.clientY, p: this.at(e), box: { ...this.box }, yaw: 0, moved: false };
      if (this.tool === 'pose') this.svg.setPointerCapture(e.pointerId);
      if (this.tool === 'pose') this.place({ ...from.p, yaw: 0 });
    });
    this.svg.addEventListener('pointermove', (e) => {
      if (!from) return;
      const dx = e.clientX - from.px, dy = e.clientY - from.py;
      from.moved = from.moved || Math.hypot(dx, dy) > 6;
      if (!from.moved) return;
      if (this.tool === 'pose') {
        const p = this.at(e);
        from.yaw = Math.atan2(p.y - from.p.y, p.x - from.p.x);
        this.place({ ...from.p, yaw: from.yaw });
      } else if (this.box.w < this.all.w) {
        const k = this.box.w / this.svg.clientWidth;
        this.box.x = from.box.x - dx * k;
        this.box.y = from.box.y - dy * k;
        this.stay();
        this.look();
      }
    });
    this.svg.addEventListener('pointerup', () => {
      if (from && this.tool === 'pose') this.onPose(from.p.x, from.p.y, from.yaw);
      else if (from && this.tool === 'goal' && !from.moved) {
        this.place({ ...from.p, yaw: null });
        this.onGoal(from.p.x, from.p.y);
      }
      from = null;
    });
    this.svg.addEventListener('pointercancel', () => { from = null; });
  }

  /** What is proposed, until it is answered; null: nothing. */
  place(ghost) {
    this.ghost = ghost;
    if (!this.mark) return;
    this.mark.style.display = ghost ? '' : 'none';
    if (!ghost) return;
    this.mark.style.transform = `translate(${ghost.x}px, ${ghost.y}px) rotate(${ghost.yaw ?? 0}rad)`;
    this.mark.lastElementChild.style.display = ghost.yaw === null ? 'none' : '';
  }

  /** The way of a question that is open, and the room where it ends. */
  propose(way) {
    this.way = way;
    this.asked?.setAttribute('points', way ? points(way.points) : '');
    for (const r of this.rooms ?? []) r.e.classList.toggle('asked', !!way?.zones.includes(r.id));
  }

  /** The same in words, with a button for each that can be gone to. */
  list(w) {
    const { t } = this, room = (x, y) => { const z = (w.zones ?? []).find((r) => inside(r.polygon, x, y)); return z ? ` · ${put(t('map_in'), { zone: this.name(z) })}` : ''; };
    const go = (name) => put(t('try_go'), { z: name.replace(/^the /, '') }), dock = w.charger?.pose;
    const rows = [...(w.zones ?? []).map((z) => ['zone', this.name(z), go(this.name(z)), '']), ...this.things.filter((o) => o.kind !== 'seen').map((o) => [o.kind, o.name, o.kind === 'place' ? go(o.name) : '', room(o.x, o.y)]),
      ...this.seen.map((o) => ['seen', this.word(o), '', `${room(o.position[0], o.position[1])} · ${this.ago(o.last_ms)} · ${Math.round(100 * o.belief)} %`]),
      ...(dock ? [['dock', t('map_is').dock, t('try_charge'), room(dock.x, dock.y)]] : [])].slice(0, 500);
    $('map-list').querySelector('ul').replaceChildren(...rows.map(([kind, name, say, where]) => el('li', {}, el('span', {}, `${t('map_is')[kind]}: ${name}${where}`),
      say ? el('button', { type: 'button', 'aria-label': put(t('map_go'), { name }), onclick: () => this.onName(name, say) }, t('go_here')) : null)));
    this.rooms_ = (w.zones ?? []).slice(0, 30).map((z) => this.name(z)).join(', ') || '–';
  }

  /** A button for each room that has no name. */
  offer() {
    const { t } = this, buttons = this.nameless.slice(0, 20).map((r) => el('button', { type: 'button', 'aria-label': `${put(t('room_n'), { n: r.number, m2: r.area_m2 })}: ${t('room_name')}`, onclick: () => this.onRoom(r) }, String(r.number)));
    $('map-rooms').replaceChildren(...(buttons.length ? [el('span', {}, t('map_rooms')), ...buttons] : []));
  }

  /** Where the robot is, in words. */
  say(state) {
    const { t } = this, p = state.body?.pose, zone = state.status?.zone ? t.called(state.status.zone) : p ? `${fixed(p.x)}, ${fixed(p.y)}` : '';
    if (this.where === zone) return;
    this.where = zone;
    $('map-where').textContent = zone ? put(t('map_here'), { where: zone }) : t('map_unknown');
    this.svg.setAttribute('aria-label', put(t('map_says'), { where: zone || '–', zones: this.rooms_ }));
  }

  draw(state) {
    if (!state.map) return;
    const key = state.mapFor + this.language() + JSON.stringify([state.rooms, state.places, state.seen.map((o) => [o.id, o.known, f(o.position[0]), f(o.position[1])])]);
    if (key !== this.made || this.of !== state.map) {
      this.of = state.map;
      this.nameless = state.rooms;
      this.places = state.places.filter((p) => !p.world || p.world === state.map.world?.name);
      this.seen = state.seen;
      this.make(state.map);
      this.made = key;
      this.drawnTrail = this.drawnView = null;
      this.propose(this.way);
      this.list(state.map.world ?? {});
      this.offer();
      this.where = null;
    }
    if (this.seen !== state.seen) { // seen again, or fading
      this.seen = state.seen;
      this.list(state.map.world ?? {});
    }
    this.say(state);
    const b = state.body, p = b?.pose, view = state.view;
    this.near = p && { x: p.x, y: this.turn - p.y };
    this.svg.dataset.tool = this.tool;
    for (const r of this.rooms) r.e.classList.toggle('here', r.id === state.status?.zone);
    if (this.drawnTrail !== state.trail) this.trail.setAttribute('points', points(this.drawnTrail = state.trail));
    if (this.drawnView !== view) {
      this.drawnView = view;
      const way = view?.path ?? [];
      this.path.setAttribute('points', pairs(way, '', ' '));
      this.end.style.display = way.length ? '' : 'none';
      if (way.length) { this.end.setAttribute('cx', way.at(-2)); this.end.setAttribute('cy', way.at(-1)); }
      this.scan.setAttribute('d', pairs(view?.scan ?? [], 'M', 'h0'));
    }
    this.moving.replaceChildren(...(b?.obstacles ?? []).map((o) => el('circle', { class: 'moving', cx: o.x, cy: o.y, r: Math.max(o.r ?? 0.2, 0.08) })));
    this.robot.style.display = p ? '' : 'none';
    if (p) {
      this.robot.style.transform = `translate(${fixed(p.x, 3)}px, ${fixed(p.y, 3)}px) rotate(${fixed(p.yaw, 3)}rad)`;
      this.robot.classList.toggle('stopped', !!b.stop?.latched);
      this.doubt.setAttribute('cx', p.x);
      this.doubt.setAttribute('cy', p.y);
      this.doubt.setAttribute('r', String(Math.min(2 * (b.pose_std_m ?? 0), 3)));
    }
  }
}
