// now.js - what it does, why, who decided, and what comes next.
import { el, fill, fixed } from '/ui/dom.js';

const pair = (term, ...what) => [el('dt', {}, term), el('dd', {}, ...what)];

export function now(parent, state, t) {
  const s = state.status;
  if (!s) return;
  const task = s.active_task, d = s.decision, f = state.feedback, failure = s.last_failure;
  const skill = (s.skills ?? [])[0];
  const rows = [];
  if (d) rows.push(pair(t('decision'), `${d.type}${d.reason ? ': ' + d.reason : ''}`));
  if (d?.by || s.decided_by) rows.push(pair(t('by'), t(d?.by ?? s.decided_by)));
  if (skill) rows.push(pair(t('skill'), skill.skill));
  if (f?.distance_remaining_m !== undefined && f.distance_remaining_m !== null && skill) {
    rows.push(pair(t('distance'), `${fixed(f.distance_remaining_m)} m`));
    if (Number.isFinite(f.eta_s)) rows.push(pair(t('eta'), `${fixed(f.eta_s, 0)} s`));
  }
  if (failure) rows.push(pair(t('failure'), `${failure.skill}: ${failure.error_msg} → ${failure.recovery ?? ''}`));
  const headline = task ? task.text : t('idle');
  fill(parent, JSON.stringify([headline, rows.map((r) => r[1].textContent), t('idle')]),
    el('p', { class: 'headline' }, headline), el('dl', {}, ...rows.flat()));
}

export function queue(parent, state, t) {
  const list = (state.status?.queue ?? []).filter((q) => q.id !== state.status?.active_task?.id);
  parent.dataset.none = t('none');
  fill(parent, JSON.stringify(list), ...list.map((q) =>
    el('li', {}, `${q.text}${q.deadline ? ' · ' + q.deadline : ''}${q.priority !== undefined ? ' · ' + q.priority : ''}`)));
}
