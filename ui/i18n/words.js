// @ts-check
// words.js - the page's language: t('key') is one of its own words, t.called('kitchen') what people call a zone or an
// object, t.at(pose) a place that somebody named. What the server says goes through say.js.
import en from './en.js';
import { catalogue } from './say.js';
import zh from './zh.js';

const texts = { en, zh };
const NEAR_M = 0.3;
/** @type {{map: any, places: any[]}} */ let world = { map: null, places: [] };
/** @type {Record<string, Promise<any>>} */ const fetched = {};
export let language = 'en';

export const t = Object.assign((/** @type {string} */ key) => texts[language][key] ?? en[key] ?? key, {
  called: (/** @type {string} */ id) => {
    const w = world.map?.world, x = [...(w?.zones ?? []), ...(w?.objects ?? [])].find((z) => z.id === id);
    return x ? (x.names?.[language] ?? x.names?.en ?? x.names?.zh ?? [id])[0] : String(id);
  },
  at: (/** @type {any} */ pose) => world.places.find((p) => Math.hypot(p.x - pose.x, p.y - pose.y) < NEAR_M)?.name ?? '',
});

/** The server's sentences in a language, once; there is none of its own. */
const messages = (/** @type {string} */ of) => (fetched[of] ??= of === 'en' ? Promise.resolve(null)
  : fetch(`/ui/messages.${of}.json`).then((r) => (r.ok ? r.json() : null)).catch(() => { delete fetched[of]; return null; }));

/** Another language; done: at once, and again when the server's sentences are there too. */
export async function speak(/** @type {string} */ of, /** @type {() => void} */ done) {
  const take = (/** @type {any} */ list) => {
    const w = world.map?.world, ids = [...(w?.zones ?? []), ...(w?.objects ?? [])].map((z) => [z.id, t.called(z.id)]);
    catalogue(list, { ...t('skill_names'), ...Object.fromEntries(ids) });
    done();
  };
  const other = language !== of;
  language = of;
  if (other || of === 'en') take(null);
  if (of === 'en') return;
  const list = await messages(of);
  if (language === of) take(list);
}

/** What there is to be named. */
export function know(/** @type {any} */ map, /** @type {any[]} */ places) {
  world = { map, places };
}
