// @ts-check
// now.js - what it does, why, and what a person has to do next; and what comes after it.
import { el, fill, fixed } from '/ui/dom.js';
import { deed, put } from '/ui/i18n/deeds.js';
import { sayServer } from '/ui/i18n/say.js';
import { decider, timeOf, why } from '/ui/store.js';

const MOST = 1000; // letters
const since = (text, ms, t) => (timeOf(ms) ? `${text} · ${t('since').replace('{at}', timeOf(ms))}` : text);
const pair = (term, ...what) => [el('dt', {}, term), el('dd', { dir: 'auto' }, ...what.map((w) => String(w).slice(0, MOST)))];
const list = (rows) => el('dl', {}, ...rows.flat());

/** What a person must do before anything moves: which button, and in words. @returns {{button: ''|'reset'|'continue', text: string}} */
export function need(state, t) {
  const s = state.status, latched = state.body?.stop?.latched ?? s?.stop?.latched, task = s?.active_task ?? s?.queue?.[0];
  if (latched) return { button: 'reset', text: t('need_reset') };
  if (s?.stopped) return { button: 'continue', text: task ? put(t('need_continue'), { text: task.text }) : t('need_continue_none') };
  if (s?.paused) return { button: 'continue', text: t('need_resume') };
  return { button: '', text: '' };
}

/** The goals that can be tried here, in the page's language. */
export function tries(state, t) {
  const w = state.map?.world, zone = w?.zones?.find((z) => z.id !== state.status?.zone && z.target) ?? w?.zones?.find((z) => z.id !== state.status?.zone);
  const unknown = !w?.zones?.length && state.map?.skills?.some((k) => k.name === 'explore');
  return [unknown && t('try_explore'), zone && put(t('try_go'), { z: t.called(zone.id) }), (w?.zones?.length ?? 0) > 1 && t('try_patrol'), w?.charger && t('try_charge'), t('try_where')].filter(Boolean).slice(0, 3);
}

/** What the robot is told to do now: a skill with its arguments, of the newest event that tells of it. */
const doing = (state, skill, t) => deed(skill.skill, state.rows.findLast((r) => r.type === 'effect' && r.payload?.goal_id === skill.goal_id)?.payload.args, t);

function details(state, t) {
  const s = state.status, d = s.decision, f = state.feedback, skill = (s.skills ?? [])[0], rows = [], by = d?.source ?? state.decidedBy;
  if (by) rows.push(pair(t('by'), decider(by, t)));
  if (d?.type) rows.push(pair(t('decided'), since(t('decision_types')[d.type] ?? d.type, s.decided_ms, t)));
  if (s.iter) rows.push(pair(t('iteration'), since(s.iter, s.iter_ms, t)));
  for (const k of s.skills ?? []) rows.push(pair(t('skill'), since(k.skill, k.started_ms, t)), pair(t('goal_id'), k.goal_id));
  if (skill && Number.isFinite(f?.elapsed_s)) rows.push(pair(t('elapsed'), `${fixed(f.elapsed_s, 0)} s${skill.timeout_s ? ` / ${fixed(skill.timeout_s, 0)} s` : ''}`));
  return rows;
}

export function now(parent, state, t) {
  const s = state.status;
  if (!s) return;
  const task = s.active_task, d = s.decision, f = state.feedback, failure = s.last_failure, skill = (s.skills ?? [])[0];
  const wants = need(state, t), rows = [];
  if (skill) rows.push(pair(t('doing'), doing(state, skill, t)));
  const underWay = skill && d?.type === 'CONTINUE' && !d.ops?.length; // it is told by what is to go
  if (task && !wants.button && why(s) && !underWay) rows.push(pair(t('decision'), sayServer(why(s))));
  const togo = state.body?.distance_remaining_m ?? f?.distance_remaining_m;
  if (Number.isFinite(togo) && skill) rows.push(pair(t('distance'), `${fixed(togo)} m${Number.isFinite(f?.eta_s) ? ` · ${t('eta')} ${fixed(f.eta_s, 0)} s` : ''}`));
  if (failure && task && !wants.button) rows.push(pair(t('failure'), `${deed(failure.skill, {}, t)}: ${sayServer(failure.error_msg)}`));
  const more = task ? details(state, t) : [], headline = String(task ? task.text : s.paused ? t('paused') : t('idle')).slice(0, MOST);
  const [said, facts, rest] = parent.children; // the first one is read out; what counts down is not
  fill(said, `${headline} ${wants.text}`, el('p', { class: 'headline' + (task ? '' : ' calm'), dir: 'auto' }, headline), wants.text ? el('p', { class: 'need', dir: 'auto' }, wants.text) : null);
  fill(facts, JSON.stringify(rows.map((r) => [r[0].textContent, r[1].textContent])), list(rows));
  rest.hidden = !more.length;
  fill(rest, JSON.stringify(more.map((r) => [r[0].textContent, r[1].textContent])), el('summary', {}, t('more')), list(more));
}

/** What can be clicked when there is nothing to do. */
export function offers(parent, state, t, say) {
  const s = state.status, list = s && !s.active_task && !s.queue?.length && !need(state, t).button ? tries(state, t) : [];
  parent.hidden = !list.length;
  fill(parent, JSON.stringify(list), el('p', {}, t('try_title')), ...list.map((text) => el('button', { type: 'button', onclick: () => say(text) }, text)));
}

export function queue(parent, state, t) {
  const list = (state.status?.queue ?? []).filter((q) => q.id !== state.status?.active_task?.id);
  parent.dataset.none = t('none');
  fill(parent, JSON.stringify([list, t('none')]), ...list.map((q) => el('li', {}, q.text,
    q.deadline ? el('span', { class: 'chip' }, `${t('until')} ${new Date(q.deadline).toLocaleTimeString([], { hour12: false })}`) : null,
    q.priority !== undefined && q.priority !== 50 ? el('span', { class: 'chip' }, `${t('priority')} ${q.priority}`) : null)));
}
