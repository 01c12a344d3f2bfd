// @ts-check
// form.js - a form for a value, made from its JSON Schema; what a form cannot say is edited as JSON.
//
//     {type: object, properties} -> a field each, inside each other     {enum} -> a choice
//     number, integer -> a number with its limits     boolean -> a box     the rest -> JSON
//
// read() gives the value back, without fields that are empty and not required, or throws an error
// whose `field` is the control to correct.
import { el } from '/ui/dom.js';

let last = 0;

/** @typedef {{e: HTMLElement, read: () => any}} Field */

/** @param {any} schema @param {any} value @param {{name?: string, choices?: Record<string, string[]>}} o @returns {Field} */
export function schemaForm(schema, value, { name = '', choices = {} } = {}) {
  const type = Array.isArray(schema?.type) ? schema.type[0] : schema?.type;
  if (type === 'object' && schema.properties) return group(schema, value, name, choices);
  if (schema?.enum) return choice(name, schema.enum, value);
  if (type === 'boolean') return box(name, value);
  if (type === 'number' || type === 'integer') return number(name, schema, value, type === 'integer');
  if (type === 'string') return line(name, schema, value, choices[name]);
  return json(name, value);
}

function group(schema, value, name, choices) {
  /** @type {[string, Field][]} */
  const fields = Object.entries(schema.properties).map(([key, s]) => [key, schemaForm(s, value?.[key], { name: key, choices })]);
  const e = el('fieldset', {}, name ? el('legend', {}, name) : null, ...fields.map(([, f]) => f.e));
  const required = new Set(schema.required ?? []);
  return { e, read() {
    const out = {};
    for (const [key, f] of fields) {
      const v = f.read();
      if (v !== undefined && !(v && typeof v === 'object' && !Array.isArray(v) && !Object.keys(v).length && !required.has(key))) out[key] = v;
    }
    return out;
  } };
}

function labelled(name, input) {
  input.id = `f${++last}`;
  return el('div', { class: 'field' }, el('label', { for: input.id }, name || 'JSON'), input);
}

function wrong(input, message) {
  input.setCustomValidity(message);
  input.addEventListener('input', () => input.setCustomValidity(''), { once: true });
  return Object.assign(new Error(message), { field: input });
}

function number(name, schema, value, whole) {
  const input = el('input', { type: 'number', inputmode: 'decimal', step: whole ? 1 : 'any', min: schema.minimum ?? schema.exclusiveMinimum, max: schema.maximum ?? schema.exclusiveMaximum });
  if (Number.isFinite(value)) input.value = String(value);
  return { e: labelled(name, input), read() {
    if (!input.checkValidity()) throw Object.assign(new Error(input.validationMessage), { field: input });
    return input.value === '' ? undefined : Number(input.value);
  } };
}

function line(name, schema, value, known) {
  const input = el('input', { type: 'text', maxlength: schema.maxLength, autocomplete: 'off' });
  input.value = value ?? '';
  const e = labelled(name, input);
  if (known?.length) {
    e.append(el('datalist', { id: `${input.id}-known` }, ...known.map((k) => el('option', { value: k }))));
    input.setAttribute('list', `${input.id}-known`);
  }
  return { e, read: () => (input.value === '' ? undefined : input.value) };
}

function choice(name, list, value) {
  const input = el('select', {}, el('option', { value: '' }, ''), ...list.map((v) => el('option', { value: JSON.stringify(v), selected: v === value }, String(v))));
  return { e: labelled(name, input), read: () => (input.value === '' ? undefined : JSON.parse(input.value)) };
}

function box(name, value) {
  const input = el('input', { type: 'checkbox' });
  input.checked = value === true;
  return { e: labelled(name, input), read: () => (value === undefined && !input.checked ? undefined : input.checked) };
}

function json(name, value) {
  const input = el('textarea', { rows: 3, spellcheck: 'false' });
  input.value = value === undefined ? '' : JSON.stringify(value);
  return { e: labelled(name, input), read() {
    try {
      return input.value.trim() === '' ? undefined : JSON.parse(input.value);
    } catch (error) {
      throw wrong(input, String(error));
    }
  } };
}
