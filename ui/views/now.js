// @ts-check
// now.js - what it does, why, who decided, and what comes next.
import { el, fill, fixed } from '/ui/dom.js';
import { decider, timeOf, why } from '/ui/store.js';

const MOST = 1000; // letters
const since = (text, ms, t) => (timeOf(ms) ? `${text} · ${t('since').replace('{at}', timeOf(ms))}` : text);
const pair = (term, ...what) => [el('dt', {}, term), el('dd', { dir: 'auto' }, ...what.map((w) => String(w).slice(0, MOST)))];

export function now(parent, state, t) {
  const s = state.status;
  if (!s) return;
  const task = s.active_task, d = s.decision, f = state.feedback, failure = s.last_failure;
  const skill = (s.skills ?? [])[0];
  const rows = [];
  if (task && why(s)) rows.push(pair(t('decision'), why(s)));
  const by = d?.source ?? state.decidedBy;
  if (by && task) rows.push(pair(t('by'), decider(by, t)));
  if (d?.type && task) rows.push(pair(t('decided'), since(t('decision_types')[d.type] ?? d.type, s.decided_ms, t)));
  if (s.iter && task) rows.push(pair(t('iteration'), since(s.iter, s.iter_ms, t)));
  for (const k of s.skills ?? []) {
    rows.push(pair(t('skill'), since(k.skill, k.started_ms, t)), pair(t('goal_id'), k.goal_id));
  }
  const togo = state.body?.distance_remaining_m ?? f?.distance_remaining_m;
  if (Number.isFinite(togo) && skill) {
    rows.push(pair(t('distance'), `${fixed(togo)} m`));
    if (Number.isFinite(f?.eta_s)) rows.push(pair(t('eta'), `${fixed(f.eta_s, 0)} s`));
  }
  if (skill && Number.isFinite(f?.elapsed_s)) rows.push(pair(t('elapsed'), `${fixed(f.elapsed_s, 0)} s${skill.timeout_s ? ` / ${fixed(skill.timeout_s, 0)} s` : ''}`));
  if (failure) rows.push(pair(t('failure'), `${failure.skill}: ${failure.error_msg}${failure.recovery ? ' → ' + failure.recovery : ''}`));
  const headline = task ? task.text : s.paused ? t('paused') : t('idle');
  fill(parent, JSON.stringify([headline, rows.map((r) => [r[0].textContent, r[1].textContent])]),
    el('p', { class: 'headline' + (task ? '' : ' calm'), dir: 'auto' }, String(headline).slice(0, MOST)), el('dl', {}, ...rows.flat()));
}

export function queue(parent, state, t) {
  const list = (state.status?.queue ?? []).filter((q) => q.id !== state.status?.active_task?.id);
  parent.dataset.none = t('none');
  fill(parent, JSON.stringify([list, t('none')]), ...list.map((q) => el('li', {}, q.text,
    q.deadline ? el('span', { class: 'chip' }, `${t('until')} ${new Date(q.deadline).toLocaleTimeString([], { hour12: false })}`) : null,
    q.priority !== undefined && q.priority !== 50 ? el('span', { class: 'chip' }, `${t('priority')} ${q.priority}`) : null)));
}
