// @ts-check
// graph.js - a graph of the brain, and where it is: the nodes that come next, and the one that has just been.
//
// The server says which nodes and edges there are (so the drawing cannot be another graph's); where they
// lie is found here: ranks by the longest way from the start, edges back on the left, edges that leap
// on the right, edges that depend on something dashed.
import { el } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';

/** Events that tell of a node of the react graph. */
const NODES = {
  observation: 'build_observation', decision: 'react_decide', 'guard.refused': 'guardrails_and_resource_check',
  'approval.requested': 'human_approval_interrupt', 'approval.resolved': 'human_approval_interrupt',
};
const nodeOf = (row) => (row.type === 'effect' ? (/intended|dispatched/.test(row.payload?.state) ? 'dispatch_skills' : 'observe_execution_result') : NODES[row.type]);
const W = 270, H = 44, DX = 300, DY = 78;

/** Ranks, and which edges lead back. */
export function layers(nodes, edges) {
  const out = new Map(nodes.map((n) => [n, []])), back = new Set(), order = [], state = new Map();
  edges.forEach((e) => out.get(e.from)?.push(e));
  const visit = (n) => {
    state.set(n, 1);
    for (const e of out.get(n) ?? []) {
      if (state.get(e.to) === 1) back.add(e);
      else if (!state.get(e.to)) visit(e.to);
    }
    state.set(n, 2);
    order.unshift(n);
  };
  ['__start__', ...nodes].forEach((n) => { if (out.has(n) && !state.get(n)) visit(n); });
  const rank = new Map(nodes.map((n) => [n, 0]));
  for (const n of order) for (const e of out.get(n)) if (!back.has(e)) rank.set(e.to, Math.max(rank.get(e.to), rank.get(n) + 1));
  return { rank, back };
}

function picture({ name, nodes, edges }, called) {
  const { rank, back } = layers(nodes, edges), rows = [];
  for (const n of nodes) (rows[rank.get(n)] ??= []).push(n);
  const at = new Map();
  rows.forEach((row, y) => row.forEach((n, i) => at.set(n, { x: (i - (row.length - 1) / 2) * DX, y: y * DY })));
  let bends = 0;
  const wide = Math.max(...rows.map((r) => r.length)) * DX / 2;
  const lines = edges.map((e) => {
    const a = at.get(e.from), b = at.get(e.to);
    let d = `M${a.x} ${a.y + H / 2}L${b.x} ${b.y - H / 2 - 7}`;
    if (back.has(e) || rank.get(e.to) - rank.get(e.from) > 1) {
      const side = a.x > 0 || (a.x === 0 && !back.has(e)) ? 1 : -1, out = side * (wide + 10 + 14 * (bends++ % 6));
      d = `M${a.x + side * W / 2} ${a.y}C${out + side * 40} ${a.y} ${out + side * 40} ${b.y} ${b.x + side * (W / 2 + 7)} ${b.y}`;
    }
    return el('path', { class: 'edge' + (e.conditional ? ' maybe' : ''), d, 'marker-end': 'url(#tip)' });
  });
  const marks = new Map(nodes.map((n) => {
    const p = at.get(n), end = n.startsWith('__');
    return [n, el('g', { class: 'node' + (end ? ' end' : ''), transform: `translate(${p.x} ${p.y})` },
      el('rect', { x: -(end ? 55 : W / 2), y: -H / 2, width: end ? 110 : W, height: H, rx: end ? H / 2 : 10 }), el('text', { y: 1 }, called(n)))];
  }));
  const half = wide + 130, svg = el('svg', { viewBox: `${-half} ${-H} ${2 * half} ${(rows.length - 1) * DY + 2 * H}`, role: 'img', 'aria-label': `${name}: ${edges.map((e) => `${called(e.from)} → ${called(e.to)}`).join(', ')}` });
  const tip = document.createElementNS('http://www.w3.org/2000/svg', 'marker');
  for (const [k, v] of Object.entries({ id: 'tip', viewBox: '0 0 8 8', refX: 4, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' })) tip.setAttribute(k, String(v));
  tip.append(el('path', { d: 'M0 0L8 4L0 8Z' }));
  svg.append(tip, ...lines, ...marks.values());
  return { svg, marks };
}

export class View {
  constructor(section, { wire, t }) {
    this.wire = wire;
    this.t = t;
    this.marks = new Map();
    this.seen = 0;
    this.asked = 0;
    this.which = el('select', { id: 'graph', onchange: () => this.show() }, ...['react', 'kernel'].map((g) => el('option', { value: g }, g)));
    this.title = el('h1');
    this.label = el('label', { for: 'graph' });
    this.told = el('p', { class: 'moment' });
    this.picture = el('div', { class: 'picture', tabindex: '0', role: 'group' });
    section.append(this.title, el('div', { class: 'row' }, this.label, this.which), this.told, this.picture);
  }

  words() {
    this.title.textContent = this.label.textContent = this.t('tabs').graph;
    this.picture.setAttribute('aria-label', this.t('tabs').graph);
    [...this.which.options].forEach((o) => { o.textContent = this.t('graph_kinds')[o.value] ?? o.value; });
    if (this.marks.size) this.show();
  }

  async show() {
    const r = await this.wire.ask('GET', `/v1/graphs/${this.which.value}`);
    if (r.status !== 200) {
      this.told.textContent = sayServer(r.body?.detail ?? r.status);
      return;
    }
    const { svg, marks } = picture(r.body, (n) => this.name(n));
    this.marks = marks;
    this.picture.replaceChildren(svg);
    this.asked = 0;
  }

  /** What a node is called. */
  name(n) { const id = n.replaceAll('__', ''); return this.t('graph_names')[id] ?? id.replaceAll('_', ' '); }

  async where(thread) {
    this.asked = performance.now();
    const r = await this.wire.ask('GET', `/v1/threads/${encodeURIComponent(thread)}/history?ns=${this.which.value}&limit=1`);
    const next = r.status === 200 ? r.body[0]?.next ?? [] : [];
    for (const [name, g] of this.marks) g.classList.toggle('next', next.includes(name));
    this.told.textContent = next.length ? `${this.t('graph_next')}: ${next.map((n) => this.name(n)).join(', ')}` : this.t('graph_rests');
  }

  draw(state) {
    if (!this.marks.size || !state.thread) return;
    if (performance.now() - this.asked > 1000) this.where(state.thread).catch(() => {});
    const row = state.rows.at(-1);
    if (!row || row.seq === this.seen) return;
    this.seen = row.seq;
    const node = this.which.value === 'react' ? nodeOf(row) : null;
    for (const [name, g] of this.marks) g.classList.toggle('now', name === node);
  }
}
