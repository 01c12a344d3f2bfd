// @ts-check
// asks.js - what a person has to decide: each open question as what will happen, why it is asked and the way, to
// approve, edit or reject, with a reason, and the time that is left. The request itself comes last.
import { clock, el, fill, fixed } from '/ui/dom.js';
import { schemaForm } from '/ui/form.js';
import { deed, put } from '/ui/i18n/deeds.js';
import { sayServer } from '/ui/i18n/say.js';
import { inside, lengthOf, route } from '/ui/route.js';

/** Zones by name, for fields that want one. */
const choicesOf = (state) => ({ zone: (state.map?.world?.zones ?? []).map((z) => z.id) });
const schemaOf = (state, skill) => (state.map?.skills ?? []).find((k) => k.name === skill)?.args_schema;

/** The way that is asked about: points, how long, through what; null: it goes nowhere on this map. */
export function wayOf(state, q, t) {
  const w = state.map?.world, at = state.body?.pose ?? state.status?.pose;
  if (!w || !at) return null;
  const ends = (q.ops ?? []).flatMap((op) => [...(op.args?.zones ?? []), op.args?.zone].filter(Boolean).map((id) => ({ zone: id, ...w.zones?.find((z) => z.id === id)?.target }))
    .concat([...(op.args?.poses ?? []), op.args?.pose].filter(Boolean), op.skill === 'dock_to_charger' && w.charger?.pose ? [w.charger.pose] : []));
  let from = at, points = [];
  for (const to of ends.filter((e) => Number.isFinite(e.x) && Number.isFinite(e.y))) {
    const leg = route(w, state.map.limits?.radius_m ?? 0.2, from, to);
    if (!leg) return { points: [], zones: ends.map((e) => e.zone), m: 0, s: 0, passes: [], slow: false };
    points = points.concat(leg);
    from = to;
  }
  if (!points.length) return null;
  const m = lengthOf(points), on = (/** @type {any[]} */ list) => (list ?? []).filter((z) => points.some(([x, y]) => inside(z.polygon, x, y)));
  const passes = [...new Set(points.map(([x, y]) => w.zones?.find((z) => inside(z.polygon, x, y))?.id).filter(Boolean))];
  return { points, zones: ends.map((e) => e.zone), m, s: m / (state.map.limits?.speed_max_mps || 0.5), passes: passes.map((id) => t.called(id)), slow: on(w.speed_zones).length > 0 };
}

export function asks(parent, state, t, answer, show) {
  const list = state.status?.approvals ?? [], key = JSON.stringify([list, t('asks'), !!state.map]);
  const was = parent.hidden, fresh = parent.dataset.key !== key;
  parent.hidden = list.length === 0;
  if (fresh) {
    const ways = list.map((q) => wayOf(state, q, t));
    parent.dataset.key = key;
    show(ways.find((w) => w) ?? null);
    fill(parent, key, el('h2', { tabindex: -1 }, '⚠ ' + t('asks')), ...list.map((q, i) => question(q, ways[i], state, t, answer)));
  }
  // Whoever types goes on typing: an Enter that was meant for a goal must not answer.
  if (was && !parent.hidden && !document.activeElement?.matches('input, textarea, select')) parent.querySelector('h2')?.focus();
  for (const e of parent.querySelectorAll('[data-until]')) {
    const left = Math.max((Number(e.dataset.until) - (state.wallMs + (state.skewMs ?? 0))) / 1000, 0);
    const text = `${t('left')} ${clock(left)}`;
    if (e.textContent !== text) e.textContent = text;
    e.classList.toggle('soon', left < 15);
  }
}

function operation(q, op, i, state, t, answer, reason) {
  const form = schemaForm(schemaOf(state, op.skill) ?? {}, op.args ?? {}, { choices: choicesOf(state) });
  const go = el('button', { type: 'submit', class: 'main' }, t('approve_edited'));
  const edit = el('form', { hidden: true, class: 'edit', novalidate: true }, form.e, el('div', { class: 'row' }, go));
  edit.addEventListener('submit', (e) => {
    e.preventDefault();
    try {
      answer(q.id, { action: 'edit', op: i + 1, args: form.read(), reason: reason() });
    } catch (error) {
      error.field?.reportValidity();
    }
  });
  const open = el('button', { type: 'button', 'aria-expanded': 'false', onclick: () => {
    edit.hidden = !edit.hidden;
    open.setAttribute('aria-expanded', String(!edit.hidden));
    if (!edit.hidden) edit.querySelector('input,select,textarea')?.focus();
  } }, `${t('edit')}: ${deed(op.skill, op.args, t)}`);
  return el('div', { class: 'op' }, open, edit, el('details', {}, el('summary', {}, t('ask_json')), el('pre', {}, JSON.stringify({ skill: op.skill, args: op.args ?? {}, asks: op.asks, reason: op.reason ?? q.reason }, null, 1))));
}

/** What will happen in words, the risk, the way; then the answers; what it is made of comes last. */
function question(q, way, state, t, answer) {
  const why = el('input', { 'aria-label': t('why'), placeholder: t('why'), maxlength: 400 });
  const reason = () => why.value || undefined, ops = q.ops ?? [];
  const options = (q.options ?? []).map((o) => el('button', { type: 'button', onclick: () => answer(q.id, { action: 'answer', answer: o }) }, sayServer(o)));
  const deeds = ops.map((op) => deed(op.skill, op.args, t)), asked = sayServer(q.question ?? '');
  const will = deeds.length ? [put(t('ask_will'), { what: [deeds[0], ...deeds.slice(1).map((what) => put(t('ask_also'), { what }))].join(t('comma')) })] : [];
  const risks = ops.flatMap((op) => (op.asks ?? []).map((r) => t('ask_rules')[r.rule] ?? sayServer(r.message ?? r.rule)));
  const usual = /^(may I do this\?|可以这样做吗？)$/i.test(q.question ?? '');
  return el('article', {},
    el('p', { class: 'headline', dir: 'auto' }, will[0] ?? asked), will.length && !usual ? el('p', { dir: 'auto' }, asked) : null,
    risks.length ? el('p', { class: 'rule' }, el('b', {}, `${t('ask_risk')}: `), [...new Set(risks)].join(' ')) : null,
    way?.points.length ? el('p', {}, `${put(t('ask_way'), { m: fixed(way.m), s: fixed(way.s, 0), zones: `${way.passes.join(' → ')}${way.slow ? ` (${t('ask_slow')})` : ''}` })} ${t('ask_map')}`) : null,
    q.refused ? el('p', { class: 'wrong' }, sayServer(q.refused)) : null,
    q.deadline_ms ? el('p', { class: 'deadline', 'data-until': q.deadline_ms }) : null,
    !will.length && q.reason && q.reason !== q.question ? el('p', { dir: 'auto' }, sayServer(q.reason)) : null,
    el('div', { class: 'row' }, ...options,
      el('button', { type: 'button', class: 'main', onclick: () => answer(q.id, { action: 'approve', reason: reason() }) }, t('approve')),
      el('button', { type: 'button', onclick: () => answer(q.id, { action: 'reject', reason: why.value }) }, t('reject')), why),
    ...ops.map((op, i) => operation(q, op, i, state, t, answer, reason)));
}
