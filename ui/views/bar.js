// bar.js - the pills at the top: is it live, mode, battery, zone, what is degraded.
import { $, fill, fixed } from '/ui/dom.js';

function pill(id, text, tone) {
  const p = $(id);
  if (p.textContent !== text) p.textContent = text;
  p.className = 'pill ' + (tone ?? '');
  p.hidden = text === '';
}

export function bar(state, t, zoneName) {
  const s = state.status, b = state.body;
  const rtt = state.rttMs === null ? '' : ` ${state.rttMs} ms`;
  const marks = { live: '●', slow: '◐', lost: '○', connecting: '…', denied: '✕' };
  pill('live', `${marks[state.wire]} ${t(state.wire)}${state.wire === 'live' ? rtt : ''}`,
    { live: 'good', slow: 'warn', lost: 'bad', denied: 'bad' }[state.wire]);
  const modes = t('modes');
  const latched = b?.stop?.latched ?? s?.stop?.latched;
  pill('mode', s ? `${modes[s.mode] ?? s.mode}${s.paused ? ' ‖' : ''}` : '', latched || s?.mode === 'SAFE' ? 'bad' : '');
  const pct = b?.battery_pct ?? s?.battery_pct;
  pill('battery', Number.isFinite(pct) ? `${t('battery')} ${fixed(pct, 0)} %${b?.docked ? ' ⚡' : ''}` : '', pct < 20 ? 'warn' : '');
  pill('zone', s ? zoneName(s.zone) ?? t('nowhere') : '');
  const wrong = [];
  if (s && !b) wrong.push(t('no_body'));
  if (latched) wrong.push(t('latched') + (b?.stop?.reason ? ': ' + b.stop.reason : ''));
  if (b && b.realtime !== undefined && b.realtime < 0.9) wrong.push(t('unreal'));
  if (b?.pose_state && b.pose_state !== 'sure' && b.pose_state !== 'ok') wrong.push(t('lostpose'));
  pill('degraded', wrong.length ? '⚠ ' + wrong.join(' · ') : '', 'warn');
  document.body.classList.toggle('lost', state.wire === 'lost' || state.wire === 'denied');
}
