// map.js - the map: walls, rooms, the robot, where it was, where it goes; a click proposes a goal.
import { el, fixed } from '/ui/dom.js';

const points = (list) => list.map(([x, y]) => `${fixed(x, 3)},${fixed(y, 3)}`).join(' ');

function wall(b) {
  // A box of a world: its middle and its half or whole sides, turned.
  const sx = b.sx ?? b.size?.[0] ?? 0, sy = b.sy ?? b.size?.[1] ?? 0;
  const x = b.x ?? b.pos?.[0] ?? 0, y = b.y ?? b.pos?.[1] ?? 0, yaw = (b.yaw ?? 0) * 180 / Math.PI;
  return el('rect', { class: 'wall', x: -sx / 2, y: -sy / 2, width: sx, height: sy, transform: `translate(${x} ${y}) rotate(${yaw})` });
}

export class MapView {
  constructor(parent, { onGoal, t, language }) {
    Object.assign(this, { parent, onGoal, t, language });
    this.made = '';
  }

  make(map) {
    const w = map.world ?? {}, [x0, y0, x1, y1] = w.bounds ?? [0, 0, 10, 8], pad = 0.3;
    // y grows upwards on a map and downwards on a screen.
    this.flip = el('g', { transform: `translate(0 ${y0 + y1}) scale(1 -1)` });
    const svg = el('svg', { viewBox: `${x0 - pad} ${y0 - pad} ${x1 - x0 + 2 * pad} ${y1 - y0 + 2 * pad}`, role: 'img', 'aria-label': this.t('map') }, this.flip);
    this.rooms = (w.zones ?? []).map((z) => ({ id: z.id, e: el('polygon', { class: 'room', points: points(z.polygon) }) }));
    this.flip.append(...this.rooms.map((r) => r.e), ...(w.boxes ?? []).map(wall));
    const dock = w.charger?.pose;
    if (dock) this.flip.append(el('rect', { class: 'dock', x: dock.x - 0.12, y: dock.y - 0.12, width: 0.24, height: 0.24 }));
    this.path = el('polyline', { class: 'path' });
    this.trail = el('polyline', { class: 'trail' });
    this.scan = el('g', {});
    this.moving = el('g', {});
    this.doubt = el('circle', { class: 'doubt', r: 0 });
    this.robot = el('path', { class: 'robot', d: 'M.26 0L-.2 .18L-.12 0L-.2 -.18Z' });
    this.flip.append(this.path, this.trail, this.scan, this.moving, this.doubt, this.robot);
    for (const z of w.zones ?? []) {
      const n = z.polygon.length, cx = z.polygon.reduce((a, p) => a + p[0], 0) / n, cy = z.polygon.reduce((a, p) => a + p[1], 0) / n;
      svg.append(el('text', { class: 'label', x: cx, y: y0 + y1 - cy }, (z.names?.[this.language()] ?? z.names?.en ?? [z.id])[0]));
    }
    svg.addEventListener('click', (e) => {
      const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(this.flip.getScreenCTM().inverse());
      this.onGoal(p.x, p.y);
    });
    this.parent.replaceChildren(svg);
  }

  draw(state) {
    if (!state.map) return;
    const key = state.mapFor + this.language();
    if (key !== this.made) {
      this.make(state.map);
      this.made = key;
    }
    const b = state.body, p = b?.pose;
    for (const r of this.rooms) r.e.classList.toggle('here', r.id === state.status?.zone);
    this.trail.setAttribute('points', points(state.trail));
    this.path.setAttribute('points', points(b?.path ?? []));
    this.scan.replaceChildren(...(b?.scan ?? []).map(([x, y]) => el('circle', { class: 'scan', cx: x, cy: y, r: 0.03 })));
    this.moving.replaceChildren(...(b?.obstacles ?? []).map((o) => el('circle', { class: 'moving', cx: o.x, cy: o.y, r: o.r ?? 0.2 })));
    if (p) {
      this.robot.style.transform = `translate(${p.x}px, ${p.y}px) rotate(${p.yaw}rad)`;
      this.robot.classList.toggle('stopped', !!b.stop?.latched);
      this.doubt.setAttribute('cx', p.x);
      this.doubt.setAttribute('cy', p.y);
      this.doubt.setAttribute('r', Math.min(2 * (b.pose_std_m ?? 0), 3));
    }
  }
}
