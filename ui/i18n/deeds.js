// @ts-check
// deeds.js - what a robot does, in words: a skill with its arguments, as something that will be, is, or was done.

/** @typedef {((key: string) => any) & {called?: (id: string) => string, at?: (pose: any) => string}} Words */

const brief = (/** @type {any} */ v) => (typeof v === 'object' ? JSON.stringify(v) : String(v));
const number = (/** @type {any} */ n) => (Number.isFinite(n) ? String(Math.round(n * 100) / 100) : '');

/** A text with {places} filled; one that nobody fills is empty. */
export const put = (/** @type {string} */ text, /** @type {Record<string, any>} */ values) => text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? '')).replace(/ +/g, ' ').trim();

/** "the kitchen", and "Anna's room", "the nest", "3B". */
const the = (/** @type {string} */ name, /** @type {Words} */ t) => (/^(?!the )[a-z]/.test(name) ? put(t('the'), { name }) : name);

/** Where arguments lead: a zone's name, an object's, or two numbers. */
export function target(/** @type {any} */ args, /** @type {Words} */ t) {
  const name = (/** @type {string} */ id) => the(t.called?.(id) ?? id, t), at = (/** @type {any} */ p) => (Number.isFinite(p?.x) ? t.at?.(p) || `(${number(p.x)}, ${number(p.y)})` : '');
  const list = Array.isArray(args?.zones) ? args.zones.map(name) : Array.isArray(args?.poses) ? args.poses.map(at) : [];
  return list.length ? list.join(' → ') : args?.zone ? name(String(args.zone)) : at(args?.pose);
}

/** @param {string} skill @param {any} args @param {Words} t @param {0|1|2} form will, does, has done; '' of the last: nothing to say */
export function deed(skill, args, t, form = 0) {
  const words = t('deeds')[skill], a = args ?? {};
  if (!words) {
    const plain = `${String(skill).replaceAll('_', ' ')} ${Object.entries(a).map(([k, v]) => `${k} ${brief(v)}`).join(', ').slice(0, 140)}`.trim();
    return form === 2 ? put(t('deed_done'), { what: plain }) : plain;
  }
  const name = (/** @type {any} */ id) => (id ? t.called?.(String(id)) ?? String(id) : '');
  const where = target(a, t) || name(a.place ?? a.on ?? a.support ?? a.target);
  const to = where || t('deed_somewhere');
  return put(words[form] ?? (form === 2 ? t('deed_done').replace('{what}', words[0]) : words[0]),
    { to, text: a.text, s: number(a.s), degrees: number((a.angle_rad * 180) / Math.PI), m: number(Math.abs(a.distance_m)), object: name(a.object ?? a.object_id ?? a.id) || t('deed_something'), where });
}
