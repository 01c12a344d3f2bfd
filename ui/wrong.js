// @ts-check
// wrong.js - what is not as it should be, beside the connection: pure, as the reducer is.

import { sayServer } from './i18n/say.js';

/** Everything that is not as it should be, in the order in which it matters. */
export function wrongs(/** @type {import('./store.js').State} */ state, /** @type {(key: string) => any} */ t) {
  const s = state.status, b = state.body, out = [];
  const latched = b?.stop?.latched ?? s?.stop?.latched;
  if (latched) out.push(t('latched') + (b?.stop?.reason ? ': ' + sayServer(b.stop.reason) : ''));
  if (state.fault) out.push(`${t('store_error')}: ${sayServer(state.fault)}`);
  if (s && !b && state.noBody && !state.fleet) out.push(t('no_body'));
  const away = (state.fleet?.robots ?? []).filter((r) => r.state === 'lost' || r.state === 'astray').map((r) => r.id);
  if (state.fleet && !state.fleet.running) out.push(t('fleet_still'));
  if (away.length) out.push(`${t('fleet_states').lost}: ${away.slice(0, 5).join(', ')}${away.length > 5 ? ' …' : ''}`);
  if (b?.stop?.unsaved) out.push(t('unsaved'));
  if (b?.held) out.push(t('held'));
  if (b?.localization?.state && b.localization.state !== 'sure') out.push(t('lostpose'));
  const speed = state.map?.speed ?? 1;
  if (b && Number.isFinite(b.realtime) && b.realtime < 0.9 * speed) out.push(`${t('unreal')} (${Math.round((100 * b.realtime) / speed)} %)`);
  if (state.llm && state.llm !== 'up') out.push(t('rules_in_charge'));
  return out;
}
