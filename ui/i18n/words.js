// @ts-check
// words.js - the page's language: t('key') is one of its own words, t.called('kitchen') what people call a zone or an
// object, t.at(pose) a place that somebody named. What the server says goes through say.js.
//
// The one list of another language is /ui/messages.LANGUAGE.json, for the page and the server: a text of en.js is
// looked up there as it is. 'page: WORD' is a word that stands for something else elsewhere.
import en from './en.js';
import { catalogue } from './say.js';

const NEAR_M = 0.3, WAIT_MS = 500;
/** @type {Record<string, any>} */ let texts = en;
/** @type {{map: any, places: any[]}} */ let world = { map: null, places: [] };
/** @type {Record<string, Promise<any>>} */ const fetched = {};
export let language = 'en';

export const t = Object.assign((/** @type {string} */ key) => texts[key] ?? key, {
  called: (/** @type {string} */ id) => {
    const w = world.map?.world, x = [...(w?.zones ?? []), ...(w?.objects ?? [])].find((z) => z.id === id);
    return x ? (x.names?.[language] ?? x.names?.en ?? x.names?.zh ?? [id])[0] : String(id);
  },
  at: (/** @type {any} */ pose) => world.places.find((p) => Math.hypot(p.x - pose.x, p.y - pose.y) < NEAR_M)?.name ?? '',
});

/** The page's own words by a list; what it lacks stays. @param {Record<string, string>|null} list @param {any} words @returns {any} */
export function translated(list, words) {
  if (typeof words === 'string') return String(list?.['page: ' + words] ?? list?.['label: ' + words] ?? list?.[words] ?? words);
  return Array.isArray(words) ? words.map((w) => translated(list, w)) : Object.fromEntries(Object.entries(words).map(([key, w]) => [key, translated(list, w)]));
}

/** The list of a language, fetched once; English has none. */
const messages = (/** @type {string} */ of) => (fetched[of] ??= of === 'en' ? Promise.resolve(null)
  : fetch(`/ui/messages.${of}.json`).then((r) => (r.ok ? r.json() : null)).catch(() => { delete fetched[of]; return null; }));

/** Another language, as soon as its list is here; until then, where that takes long, English. */
export async function speak(/** @type {string} */ of, /** @type {() => void} */ done) {
  const take = (/** @type {any} */ list) => {
    const w = world.map?.world, ids = [...(w?.zones ?? []), ...(w?.objects ?? [])].map((z) => [z.id, t.called(z.id)]);
    texts = translated(list, en);
    catalogue(list, { ...t('skill_names'), ...Object.fromEntries(ids) });
    done();
  };
  language = of;
  const late = setTimeout(() => { if (language === of) take(null); }, WAIT_MS), list = await messages(of);
  clearTimeout(late);
  if (language === of) take(list);
}

/** What there is to be named. */
export function know(/** @type {any} */ map, /** @type {any[]} */ places) {
  world = { map, places };
}
