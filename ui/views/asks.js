// asks.js - what a person has to decide: each open question with its operations, to approve, edit or reject.
import { el, fill } from '/ui/dom.js';

export function asks(parent, state, t, answer) {
  const list = state.status?.approvals ?? [];
  const was = parent.hidden;
  parent.hidden = list.length === 0;
  fill(parent, JSON.stringify([list, t('asks')]), el('h2', {}, '⚠ ' + t('asks')), ...list.map((q) => question(q, t, answer)));
  if (was && !parent.hidden) parent.querySelector('button')?.focus();
}

function question(q, t, answer) {
  const ops = (q.ops ?? []).map((op, i) => {
    const input = el('textarea', { rows: 3, 'aria-label': `${op.skill} ${t('edit')}`, hidden: true });
    input.value = JSON.stringify(op.args ?? {}, null, 1);
    const go = el('button', { type: 'button', hidden: true, onclick: () => {
      let args;
      try { args = JSON.parse(input.value); } catch (e) { input.setCustomValidity(String(e)); input.reportValidity(); return; }
      answer(q.id, { action: 'edit', op: i + 1, args });
    } }, t('approve'));
    const edit = el('button', { type: 'button', onclick: () => { input.hidden = go.hidden = false; input.focus(); } }, t('edit'));
    const rules = (op.asks ?? []).map((r) => `${r.rule}: ${r.message}`).join('; ');
    return el('div', {}, el('p', {}, el('b', {}, op.skill), rules ? ' · ' + rules : ''), el('pre', {}, JSON.stringify(op.args ?? {})), input, el('div', { class: 'row' }, go, edit));
  });
  const options = (q.options ?? []).map((o) => el('button', { type: 'button', onclick: () => answer(q.id, { action: 'answer', text: o }) }, o));
  const why = el('input', { 'aria-label': t('why_not'), placeholder: t('why_not') });
  return el('article', {}, el('p', { class: 'headline' }, q.question ?? ''), el('p', {}, q.reason ?? ''), ...ops,
    el('div', { class: 'row' }, ...options,
      el('button', { type: 'button', class: 'main', onclick: () => answer(q.id, { action: 'approve' }) }, t('approve')),
      why, el('button', { type: 'button', onclick: () => answer(q.id, { action: 'reject', reason: why.value }) }, t('reject'))));
}
