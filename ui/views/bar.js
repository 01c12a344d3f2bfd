// @ts-check
// bar.js - the pills at the top: is it live, mode, battery, zone, what is degraded.
import { $, fixed } from '/ui/dom.js';

function pill(id, text, tone) {
  const p = $(id);
  if (p.textContent !== text) p.textContent = text;
  p.className = 'pill ' + (tone ?? '');
  p.hidden = text === '';
}

/** Everything that is not as it should be, in the order in which it matters. */
export function wrongs(state, t) {
  const s = state.status, b = state.body, out = [];
  const latched = b?.stop?.latched ?? s?.stop?.latched;
  if (latched) out.push(t('latched') + (b?.stop?.reason ? ': ' + b.stop.reason : ''));
  if (state.fault) out.push(`${t('store_error')}: ${state.fault}`);
  if (s && !b && state.noBody) out.push(t('no_body'));
  if (b?.stop?.unsaved) out.push(t('unsaved'));
  if (b?.held) out.push(t('held'));
  if (b?.localization?.state && b.localization.state !== 'sure') out.push(t('lostpose'));
  const speed = state.map?.speed ?? 1;
  if (b && Number.isFinite(b.realtime) && b.realtime < 0.9 * speed) out.push(`${t('unreal')} (${fixed((100 * b.realtime) / speed, 0)} %)`);
  if (state.llm && state.llm !== 'up') out.push(t('rules_in_charge'));
  return out;
}

export function bar(state, t, zoneName) {
  const s = state.status, b = state.body;
  const rtt = state.rttMs === null ? '' : ` ${state.rttMs} ms`;
  const marks = { live: '●', slow: '◐', lost: '○', resync: '↻', connecting: '…', denied: '✕' };
  pill('live', `${marks[state.wire]} ${t(state.wire)}${state.wire === 'live' || state.wire === 'slow' ? rtt : ''}`,
    { live: 'good', slow: 'warn', resync: 'warn', lost: 'bad', denied: 'bad' }[state.wire]);
  const modes = t('modes');
  const latched = b?.stop?.latched ?? s?.stop?.latched;
  pill('mode', s ? `${modes[s.mode] ?? s.mode}${s.paused ? ' ‖ ' + t('paused') : ''}` : '', latched || s?.mode === 'SAFE' ? 'bad' : '');
  const pct = b?.battery_pct ?? s?.battery_pct;
  const charging = b?.battery_state === 'charging';
  pill('battery', Number.isFinite(pct) ? `${t('battery')} ${fixed(pct, 0)} %${charging ? ' ⚡' : ''}` : '', pct < 20 && !charging ? 'warn' : '');
  pill('zone', s ? zoneName(s.zone) ?? t('nowhere') : '');
  const wrong = wrongs(state, t);
  pill('degraded', wrong.length ? '⚠ ' + wrong.join(' · ') : '', 'warn');
  document.body.classList.toggle('lost', state.wire === 'lost' || state.wire === 'denied');
}
