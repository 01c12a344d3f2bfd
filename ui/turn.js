// @ts-check
// turn.js - a turn of the agent, from its events: pure, shared with the tests.
//
//     llm_start … token … tool_start tool_end … plan_created plan_updated … approval_request … done
//
// A turn that asks waits, so its questions are its newest events: whatever comes after settles them.

/**
 * @typedef {{kind: string, text?: string, tool?: string, input?: any, output?: string, ms?: number, plan?: any}} Item
 * @typedef {{items: Item[], asks: any[], phase: string, working: boolean, over: boolean, seq: number, failed: string}} Turn
 */

/** @returns {Turn} */
export const begin = () => ({ items: [], asks: [], phase: '', working: false, over: true, seq: 0, failed: '' });

const TEXT_MAX = 200000; // of one answer: a model without an end must not fill the page
const ITEMS_MAX = 300;
const changed = (/** @type {Item[]} */ list, /** @type {number} */ i, /** @type {Item} */ item) => list.map((x, k) => (k === i ? item : x));
const last = (/** @type {Item[]} */ list, /** @type {(x: Item) => boolean} */ is) => { for (let i = list.length - 1; i >= 0; i--) if (is(list[i])) return i; return -1; };

function steps(/** @type {Item[]} */ items, /** @type {any} */ p, /** @type {(plan: any) => any} */ next) {
  const i = last(items, (x) => x.kind === 'plan' && x.plan?.plan_id === p.plan_id);
  return i < 0 ? items : changed(items, i, { ...items[i], plan: next(items[i].plan) });
}

/** @param {Turn} turn @param {any} e {seq?, type, payload} @returns {Turn} */
export function hear(turn, e) {
  if (e.seq && e.seq <= turn.seq) return turn; // it was here
  const p = e.payload ?? {}, asks = e.type === 'approval_request' || e.type === 'plan_approval_request';
  let t = { ...turn, seq: e.seq || turn.seq };
  if (turn.over && e.type !== 'done') t = { ...begin(), seq: t.seq, over: false, working: true };
  if (!asks && e.type !== 'phase') t.asks = [];
  const items = t.items.length > ITEMS_MAX ? t.items.slice(-ITEMS_MAX) : t.items;
  const push = (/** @type {Item} */ item) => { t.items = items.concat(item); };
  switch (e.type) {
    case 'token': {
      const i = items.length - 1;
      if (items[i]?.kind !== 'say') push({ kind: 'say', text: String(p.content ?? '') });
      else if ((items[i].text ?? '').length < TEXT_MAX) t.items = changed(items, i, { ...items[i], text: items[i].text + String(p.content ?? '') });
      return t;
    }
    case 'tool_start': push({ kind: 'tool', tool: p.tool, input: p.input }); return t;
    case 'tool_end': {
      const i = last(items, (x) => x.kind === 'tool' && x.tool === p.tool && x.output === undefined);
      const item = { kind: 'tool', tool: p.tool, input: items[i]?.input, output: typeof p.output === 'string' ? p.output : JSON.stringify(p.output ?? ''), ms: p.duration_ms };
      if (i < 0) push(item);
      else t.items = changed(items, i, item);
      return t;
    }
    case 'plan_created': push({ kind: 'plan', plan: p.plan }); return t;
    case 'plan_updated':
      t.items = steps(items, p, (plan) => ({ ...plan, steps: (plan.steps ?? []).map((/** @type {any} */ s) => (s.id === p.step_id ? { ...s, status: p.status } : s)) }));
      return t;
    case 'plan_revised':
      t.items = steps(items, p, (plan) => ({ ...plan, steps: (plan.steps ?? []).slice(0, p.keep_completed ?? 0).concat(p.revised_steps ?? []) }));
      return t;
    case 'approval_request':
    case 'plan_approval_request': t.asks = t.asks.concat({ ...p, plan: e.type === 'plan_approval_request' }); t.working = false; return t;
    case 'phase': t.phase = p.phase ?? ''; return t;
    case 'error': push({ kind: 'error', text: String(p.content ?? '') }); return t;
    case 'done':
      t.over = true;
      t.working = false;
      t.phase = '';
      t.failed = p.status === 'success' ? '' : p.status ?? '';
      return t;
    default: t.working = !t.asks.length; return t;
  }
}
