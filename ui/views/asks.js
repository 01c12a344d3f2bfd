// @ts-check
// asks.js - what a person has to decide: each open question with its operations, to approve, edit or
// reject, with a reason, and the time that is left.
import { clock, el, fill } from '/ui/dom.js';
import { schemaForm } from '/ui/form.js';

/** Zones by name, for fields that want one. */
const choicesOf = (state) => ({ zone: (state.map?.world?.zones ?? []).map((z) => z.id) });
const schemaOf = (state, skill) => (state.map?.skills ?? []).find((k) => k.name === skill)?.args_schema;

export function asks(parent, state, t, answer) {
  const list = state.status?.approvals ?? [];
  const was = parent.hidden;
  parent.hidden = list.length === 0;
  fill(parent, JSON.stringify([list, t('asks'), !!state.map]), el('h2', {}, '⚠ ' + t('asks')), ...list.map((q) => question(q, state, t, answer)));
  if (was && !parent.hidden) parent.querySelector('button')?.focus();
  for (const e of parent.querySelectorAll('[data-until]')) {
    const left = Math.max((Number(e.dataset.until) - (state.wallMs + (state.skewMs ?? 0))) / 1000, 0);
    const text = `${t('left')} ${clock(left)}`;
    if (e.textContent !== text) e.textContent = text;
    e.classList.toggle('soon', left < 15);
  }
}

function operation(q, op, i, state, t, answer, reason) {
  const rules = (op.asks ?? []).map((r) => `${r.rule}: ${r.message}`).join('; ');
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
  } }, `${t('edit')}: ${op.skill}`);
  const args = Object.entries(op.args ?? {});
  return el('div', { class: 'op' }, el('p', {}, el('b', {}, op.skill), rules ? el('span', { class: 'rule' }, rules) : null),
    args.length ? el('dl', {}, ...args.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, typeof v === 'string' ? v : JSON.stringify(v))])) : null, open, edit);
}

function question(q, state, t, answer) {
  const why = el('input', { 'aria-label': t('why'), placeholder: t('why'), maxlength: 400 });
  const reason = () => why.value || undefined;
  const ops = (q.ops ?? []).map((op, i) => operation(q, op, i, state, t, answer, reason));
  const options = (q.options ?? []).map((o) => el('button', { type: 'button', onclick: () => answer(q.id, { action: 'answer', answer: o }) }, o));
  return el('article', {},
    el('p', { class: 'headline' }, q.question ?? ''), q.deadline_ms ? el('p', { class: 'deadline', 'data-until': q.deadline_ms }) : null,
    q.reason && q.reason !== q.question ? el('p', {}, q.reason) : null, ...ops,
    el('div', { class: 'row' }, ...options,
      el('button', { type: 'button', class: 'main', onclick: () => answer(q.id, { action: 'approve', reason: reason() }) }, t('approve')),
      why, el('button', { type: 'button', onclick: () => answer(q.id, { action: 'reject', reason: why.value }) }, t('reject'))));
}
