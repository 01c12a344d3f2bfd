// @ts-check
// route.js - a way over a map for people to look at before they say yes: pure, shared with the tests. The robot plans
// its own; this one knows the walls, and keeps the robot's radius from them.
const CELLS = 160; // along the longer side, at most
const STEPS = [[1, 0, 1], [-1, 0, 1], [0, 1, 1], [0, -1, 1], [1, 1, Math.SQRT2], [1, -1, Math.SQRT2], [-1, 1, Math.SQRT2], [-1, -1, Math.SQRT2]];

/** @param {any} world with bounds and boxes @param {number} radius @param {{x: number, y: number}} from @param {{x: number, y: number}} to @returns {number[][]|null} points; null: no way is found */
export function route(world, radius, from, to) {
  const [x0, y0, x1, y1] = world?.bounds ?? [0, 0, 10, 8], cell = Math.max((x1 - x0) / CELLS, (y1 - y0) / CELLS, 0.1);
  const w = Math.ceil((x1 - x0) / cell), h = Math.ceil((y1 - y0) / cell), shut = new Uint8Array(w * h);
  const col = (/** @type {number} */ x) => Math.min(Math.max(Math.floor((x - x0) / cell), 0), w - 1), row = (/** @type {number} */ y) => Math.min(Math.max(Math.floor((y - y0) / cell), 0), h - 1);
  for (const b of world?.boxes ?? []) {
    const sx = (b.sx ?? 0) / 2 + radius, sy = (b.sy ?? 0) / 2 + radius, c = Math.cos(b.yaw ?? 0), s = Math.sin(b.yaw ?? 0), reach = Math.hypot(sx, sy);
    for (let j = row(b.y - reach); j <= row(b.y + reach); j++) {
      for (let i = col(b.x - reach); i <= col(b.x + reach); i++) {
        const dx = x0 + (i + 0.5) * cell - b.x, dy = y0 + (j + 0.5) * cell - b.y;
        if (Math.abs(dx * c + dy * s) < sx && Math.abs(dy * c - dx * s) < sy) shut[j * w + i] = 1;
      }
    }
  }
  const start = row(from.y) * w + col(from.x), goal = row(to.y) * w + col(to.x), cost = new Float64Array(w * h).fill(Infinity), back = new Int32Array(w * h).fill(-1);
  const far = (/** @type {number} */ k) => Math.hypot((k % w) - (goal % w), Math.floor(k / w) - Math.floor(goal / w));
  /** @type {number[][]} by length, in whole cells */
  const open = [];
  let n = 0;
  const add = (/** @type {number} */ k) => { (open[Math.max(n, Math.floor(cost[k] + far(k)))] ??= []).push(k); };
  shut[start] = shut[goal] = 0;
  cost[start] = 0;
  add(start);
  for (; n < open.length; n++) {
    while (open[n]?.length) {
      const k = /** @type {number} */ (open[n].pop()), i = k % w, j = Math.floor(k / w);
      if (k === goal) { n = open.length; break; }
      for (const [dx, dy, d] of STEPS) {
        const a = i + dx, b = j + dy, m = b * w + a;
        if (a < 0 || b < 0 || a >= w || b >= h || shut[m] || cost[k] + d >= cost[m]) continue;
        cost[m] = cost[k] + d;
        back[m] = k;
        add(m);
      }
    }
  }
  if (!Number.isFinite(cost[goal])) return null;
  const out = [[to.x, to.y]];
  for (let k = back[goal]; k >= 0 && k !== start; k = back[k]) out.unshift([x0 + ((k % w) + 0.5) * cell, y0 + (Math.floor(k / w) + 0.5) * cell]);
  return [[from.x, from.y], ...out];
}

export const lengthOf = (/** @type {number[][]} */ way) => way.reduce((sum, [x, y], i) => sum + (i ? Math.hypot(x - way[i - 1][0], y - way[i - 1][1]) : 0), 0);

/** Whether a point is in a polygon. */
export const inside = (/** @type {number[][]} */ polygon, /** @type {number} */ x, /** @type {number} */ y) => polygon.reduce((odd, [x0, y0], i) => {
  const [x1, y1] = polygon[(i + 1) % polygon.length];
  return (y0 > y) !== (y1 > y) && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0 ? !odd : odd;
}, false);
