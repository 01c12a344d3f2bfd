// @ts-check
// bar.js - the pills at the top: is it live, mode, battery, how fast it may be, zone, what is degraded.
import { $, fixed, plain } from '/ui/dom.js';
import { wrongs } from '/ui/wrong.js';

function pill(id, said, tone) {
  const p = $(id), text = plain(said).slice(0, 300);
  if (p.textContent !== text) p.textContent = text;
  p.className = 'pill ' + (tone ?? '');
  p.hidden = text === '';
}

export function bar(state, t, zoneName) {
  const s = state.status, b = state.body;
  const marks = { live: '●', slow: '◐', lost: '○', resync: '↻', connecting: '…', denied: '✕' };
  const silent = Math.max(Math.round((state.nowMs - state.heardMs) / 1000), 0);
  const words = state.wire === 'lost' ? t('lost_since').replace('{s}', String(silent)) : state.wire === 'slow' ? t('slow_why') : t(state.wire);
  pill('live', `${marks[state.wire]} ${words}`, { live: 'good', slow: 'warn', resync: 'warn', lost: 'bad', denied: 'bad' }[state.wire]);
  const modes = t('modes');
  const latched = b?.stop?.latched ?? s?.stop?.latched;
  const m = state.map;
  pill('robot', b && m ? `${t('robot_short').replace('{id}', m.robot_id || '?').replace('{world}', m.world?.name || '?')}${m.simulated ? ` · ${t('robot_simulated')}` : ` · ${m.driver}`}` : '');
  const stands = latched ? t('stopped') : s?.paused || s?.stopped ? t('paused') : modes[s?.mode] ?? s?.mode ?? '';
  pill('mode', stands, latched || s?.mode === 'SAFE' ? 'bad' : '');
  const pct = b?.battery_pct ?? s?.battery_pct;
  const charging = b?.battery_state === 'charging';
  pill('battery', Number.isFinite(pct) ? `${t('battery')} ${fixed(pct, 0)} %${charging ? ' ⚡' : ''}` : '', pct < 20 && !charging ? 'warn' : '');
  const pace = b?.pace_percent ?? s?.pace_percent;
  pill('pace', Number.isFinite(pace) && pace < 100 ? `${t('pace')} ${fixed(pace, 0)} %` : '', 'warn');
  pill('zone', s ? zoneName(s.zone) ?? t('nowhere') : '');
  const wrong = wrongs(state, t);
  pill('degraded', wrong.length ? '⚠ ' + wrong.join(' · ') : '', 'warn');
  document.body.classList.toggle('lost', state.wire === 'lost' || state.wire === 'denied');
}
