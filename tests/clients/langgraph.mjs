// langgraph.mjs - LangGraph's own JavaScript client against a server: `node langgraph.mjs PACKAGE URL KEY [oracle|oracle-js]`.
//
// The same script runs against `pons serve` and against LangGraph's own servers, of PyPI (oracle) and of npm (oracle-js).
// What one of them does not do is not asked of it (`ours`, `npm`), and listed in docs/reference/http.md.
import path from 'node:path';
import { finish, must, test } from '../page/plain.mjs';

const [, , pkg, apiUrl, apiKey, kind] = process.argv;
const ours = !kind, npm = kind === 'oracle-js';
const { Client } = await import(path.join(pkg, 'dist/index.js'));
const client = new Client({ apiUrl, apiKey, callerOptions: { maxRetries: 0 } });
const { version } = JSON.parse((await import('node:fs')).readFileSync(path.join(pkg, 'package.json'), 'utf8'));

const all = async (stream) => { const list = []; for await (const e of stream) if (e.event !== 'end') list.push(e); return list; };
const names = (list) => list.map((e) => e.event);
const same = (a, b, what) => must(JSON.stringify(a) === JSON.stringify(b), `${what}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
// npm's tells whoever waits for a run that asks of the question alone.
const values = async (thread, end) => (npm || !end ? (await client.threads.getState(thread)).values : end);
const human = (content) => [{ type: 'human', content }];
async function throws(status, run) {
  try { await run(); } catch (e) {
    must((e.status ?? e.response?.status) === status || String(e.message).includes(`${status}`), `${e.status} ${e.message}, not ${status}`);
    return;
  }
  throw new Error(`nothing was thrown, and ${status} was to be`);
}
async function until(what, ask) {
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((go) => setTimeout(go, 20))) {
    const got = await ask();
    if (got) return got;
  }
  throw new Error(`it did not happen: ${what}`);
}

console.log(`# @langchain/langgraph-sdk ${version} at ${apiUrl}`);

await test('assistants: found by graph, made, changed, versions, deleted', async () => {
  const [own] = await client.assistants.search({ graphId: 'letters', metadata: { created_by: 'system' } });
  same(own.graph_id, 'letters', 'graph');
  same((await client.assistants.get(own.assistant_id)).assistant_id, own.assistant_id, 'get');
  const mine = await client.assistants.create({ graphId: 'letters', name: 'mine', metadata: { x: 1 }, config: { recursion_limit: 50 } });
  const changed = await client.assistants.update(mine.assistant_id, { name: 'ours', metadata: { y: 2 }, graphId: 'letters' });
  same([changed.name, changed.version], ['ours', 2], 'update');
  const versions = await client.assistants.getVersions(mine.assistant_id);
  same(versions.map((v) => v.version).sort(), [1, 2], 'versions');
  same((await client.assistants.setLatest(mine.assistant_id, 1)).name, 'mine', 'latest');
  same(await client.assistants.count({ metadata: { x: 1 }, graphId: 'letters' }) >= 1, true, 'count');
  const graph = await client.assistants.getGraph(own.assistant_id);
  same(graph.nodes.map((n) => n.id).includes('write'), true, 'graph');
  if (!npm) same((await client.assistants.getSchemas(own.assistant_id)).graph_id, 'letters', 'schemas'); // npm's reads TypeScript alone
  await client.assistants.getSubgraphs(own.assistant_id);
  await client.assistants.delete(mine.assistant_id);
  await throws(404, () => client.assistants.get(mine.assistant_id));
});

await test('threads: made, found, changed, copied, counted, deleted', async () => {
  const mark = `m${Math.random()}`;
  const t = await client.threads.create({ metadata: { mark }, graphId: 'letters' });
  same(t.status, 'idle', 'status');
  same((await client.threads.create({ threadId: t.thread_id, ifExists: 'do_nothing' })).thread_id, t.thread_id, 'do_nothing');
  await throws(409, () => client.threads.create({ threadId: t.thread_id, ifExists: 'raise' }));
  same((await client.threads.update(t.thread_id, { metadata: { room: 3 } })).metadata.room, 3, 'update');
  same((await client.threads.search({ metadata: { mark } })).map((x) => x.thread_id), [t.thread_id], 'search');
  same(await client.threads.count({ metadata: { mark } }), 1, 'count');
  await client.runs.wait(t.thread_id, 'letters', { input: { wanted: 1 } });
  const copy = await client.threads.copy(t.thread_id);
  same((await client.threads.getState(copy.thread_id)).values.letters, ['letter 1'], 'copy');
  same((await client.threads.search({ metadata: { mark }, status: 'interrupted' })).length >= 1, true, 'by status');
  await client.threads.delete(copy.thread_id);
  await throws(404, () => client.threads.get(copy.thread_id));
});

await test('a run in every mode, an interrupt, and its answer', async () => {
  const t = await client.threads.create();
  let created;
  const list = await all(client.runs.stream(t.thread_id, 'letters', {
    input: { wanted: 2 }, streamMode: ['values', 'updates', 'custom', 'tasks', 'checkpoints', 'debug', 'messages-tuple'],
    onRunCreated: (r) => { created = r; } }));
  must(created?.run_id === list[0].data.run_id, 'onRunCreated');
  same(list[0].event, 'metadata', 'first');
  for (const mode of ['values', 'updates', 'custom', 'tasks', 'checkpoints', 'debug']) must(names(list).includes(mode), `no ${mode}`);
  same(list.filter((e) => e.event === 'custom').map((e) => e.data), [{ writing: 1 }, { writing: 2 }], 'custom');
  const updates = list.filter((e) => e.event === 'updates').map((e) => e.data);
  must('write' in updates[0], 'updates are keyed by node');
  same(updates.at(-1).__interrupt__[0].value, 'post 2 letters?', 'updates.__interrupt__');
  same(list.filter((e) => e.event === 'values').at(-1).data.__interrupt__[0].value, 'post 2 letters?', 'values.__interrupt__');
  const state = await client.threads.getState(t.thread_id);
  same(state.next, ['ask'], 'next');
  same(state.tasks[0].interrupts[0].value, 'post 2 letters?', 'tasks[].interrupts');
  same((await client.threads.get(t.thread_id)).status, 'interrupted', 'status');
  const id = state.tasks[0].interrupts[0].id;
  const end = await client.runs.wait(t.thread_id, 'letters', { command: { resume: { [id]: 'yes' } } });
  same(end.posted, true, 'resumed by id');
  same((await client.threads.get(t.thread_id)).status, 'idle', 'status');
});

await test('what callbacks say', async () => {
  const said = (await all(client.runs.stream(null, 'parrot', { input: { messages: human('hello') }, streamMode: ['events'] }))).filter((e) => e.event === 'events').map((e) => e.data);
  const root = said[0].run_id;
  same(said[0].event, 'on_chain_start', 'the graph begins');
  same(said.at(-1).event, 'on_chain_end', 'the graph ends');
  same(said.at(-1).run_id, root, 'the same');
  const starts = said.filter((e) => e.event === 'on_chain_start' && ['listen', 'speak', 'finish'].includes(e.name)).map((e) => e.name);
  same(starts.join(' '), 'listen speak finish', 'nodes');
});

await test('messages: tokens, then the message; an approval with approve, edit and reject', async () => {
  for (const [decision, text] of [
    [{ type: 'approve' }, 'please say hello'],
    [{ type: 'edit', edited_action: { name: 'speak', args: { text: 'good day' } } }, 'good day'],
    [{ type: 'reject', message: 'not now' }, 'I say nothing: not now']]) {
    const t = await client.threads.create();
    const asked = await client.runs.wait(t.thread_id, 'parrot', { input: { messages: human('please say hello') } });
    same(asked.__interrupt__[0].value.action_requests[0].args.text, 'please say hello', 'asked');
    const list = await all(client.runs.stream(t.thread_id, 'parrot', { command: { resume: { decisions: [decision] } }, streamMode: ['values', 'messages-tuple'] }));
    same(list.filter((e) => e.event === 'values').at(-1).data.messages.at(-1).content, text, decision.type);
    if (ours && decision.type !== 'reject') {
      same(list.filter((e) => e.event === 'messages').map((e) => e.data[0].content).join(''), text, 'tokens');
    }
  }
});

await test('history, time travel, state made by hand', async () => {
  const t = await client.threads.create();
  await client.runs.wait(t.thread_id, 'letters', { input: { wanted: 3 } });
  const past = await client.threads.getHistory(t.thread_id, { limit: 20 });
  same(past[0].values.letters.length, 3, 'newest first');
  const second = past.find((s) => s.values.letters?.length === 1);
  same((await client.threads.getState(t.thread_id, second.checkpoint.checkpoint_id)).values.letters.length, 1, 'at');
  same((await client.threads.getState(t.thread_id, second.checkpoint)).values.letters.length, 1, 'at a checkpoint');
  if (ours) same((await client.threads.getHistory(t.thread_id, { before: second.checkpoint, limit: 20 })).every((s) => (s.values.letters ?? []).length <= 1), true, 'before');
  const forked = await values(t.thread_id, await client.runs.wait(t.thread_id, 'letters', { checkpointId: second.checkpoint.checkpoint_id }));
  same(forked.letters.length, 3, 'forked');
  const changed = await client.threads.updateState(t.thread_id, { values: { letters: ['by hand'] }, asNode: 'write' });
  must(changed.checkpoint.checkpoint_id, 'a checkpoint');
  same((await client.threads.getState(t.thread_id)).values.letters.at(-1), 'by hand', 'update');
  if (ours) await client.threads.patchState(t.thread_id, { mood: 'good' });
});

await test('a background run: joined, listed newest first, streamed again, deleted', async () => {
  const t = await client.threads.create();
  const one = await client.runs.create(t.thread_id, 'letters', { input: { wanted: 2 }, streamMode: ['values', 'updates'], streamResumable: true });
  const end = await values(t.thread_id, await client.runs.join(t.thread_id, one.run_id));
  if (ours) same(end.letters.length, 2, 'join');
  const two = await client.runs.create(t.thread_id, 'letters', { command: { resume: 'no' } });
  await client.runs.join(t.thread_id, two.run_id);
  const listed = (await client.runs.list(t.thread_id)).map((r) => r.run_id);
  same(npm ? listed.reverse() : listed, [two.run_id, one.run_id], 'list');
  same((await client.runs.get(t.thread_id, one.run_id)).status, 'success', 'status');
  if (ours) {
    const list = await all(client.runs.joinStream(t.thread_id, one.run_id, { lastEventId: '-1', streamMode: ['values'] }));
    same([...new Set(names(list))], ['metadata', 'values'], 'joinStream');
    for (const e of list.filter((x) => x.id)) {
      const rest = await all(client.runs.joinStream(t.thread_id, one.run_id, { lastEventId: e.id, streamMode: ['values'] }));
      same(rest.map((x) => x.id ?? ''), list.slice(list.indexOf(e) + 1).map((x) => x.id ?? ''), `after ${e.id}`);
    }
  }
  await client.runs.delete(t.thread_id, one.run_id);
  await throws(404, () => client.runs.get(t.thread_id, one.run_id));
});

const slow = { input: { messages: human('one two three four five six seven eight'), pause_ms: 250 } };

await test('cancel: interrupt leaves it where it is, rollback takes it back', async () => {
  const t = await client.threads.create();
  const one = await client.runs.create(t.thread_id, 'parrot', slow);
  await until('it runs', async () => (await client.threads.getState(t.thread_id)).values?.said);
  await client.runs.cancel(t.thread_id, one.run_id, true, 'interrupt');
  same((await client.runs.get(t.thread_id, one.run_id)).status, 'interrupted', 'status');
  const left = await client.threads.getState(t.thread_id);
  same(left.next, ['speak'], 'next');
  const two = await client.runs.create(t.thread_id, 'parrot', slow);
  await until('it runs', async () => (await client.runs.get(t.thread_id, two.run_id)).status === 'running');
  await client.runs.cancel(t.thread_id, two.run_id, true, 'rollback');
  if (!npm) await throws(404, () => client.runs.get(t.thread_id, two.run_id));
  if (ours) same((await client.threads.getState(t.thread_id)).values, left.values, 'rolled back');
});

await test('multitask: reject, enqueue, interrupt, rollback', async () => {
  const t = await client.threads.create();
  const one = await client.runs.create(t.thread_id, 'parrot', slow);
  await until('it runs', async () => (await client.runs.get(t.thread_id, one.run_id)).status === 'running');
  same((await client.threads.get(t.thread_id)).status, 'busy', 'busy');
  await throws(npm ? 422 : 409, () => client.runs.create(t.thread_id, 'parrot', { ...slow, multitaskStrategy: 'reject' }));
  if (!npm) await throws(409, () => client.threads.updateState(t.thread_id, { values: { said: 'x' } }));
  const two = await client.runs.create(t.thread_id, 'parrot', { ...slow, multitaskStrategy: 'enqueue' });
  same(two.status, 'pending', 'enqueued');
  const three = await client.runs.create(t.thread_id, 'parrot', { ...slow, multitaskStrategy: 'interrupt' });
  await until('they gave way', async () => (await client.runs.get(t.thread_id, one.run_id)).status === 'interrupted');
  await until('it runs', async () => (await client.runs.get(t.thread_id, three.run_id)).status === 'running');
  const last = await client.runs.wait(t.thread_id, 'parrot', { input: { messages: human('done'), pause_ms: 0 }, multitaskStrategy: 'rollback' });
  same(last.messages.at(-1).content, 'done', 'the last one');
  if (!npm) await throws(404, () => client.runs.get(t.thread_id, three.run_id));
});

await test('a failure is thrown by wait, and is an event of a stream', async () => {
  const t = await client.threads.create();
  const list = await all(client.runs.stream(t.thread_id, 'parrot', { input: { messages: human('an error') } }));
  must(list.some((e) => e.event === 'error' && /does not say that/.test(e.data.message)), 'error event');
  same((await client.threads.get(t.thread_id)).status, 'error', 'status');
  try {
    await client.runs.wait(t.thread_id, 'parrot', { input: { messages: human('error') } });
  } catch (e) {
    must(/does not say that/.test(e.message), e.message);
    return;
  }
  throw new Error('wait did not throw');
});

await test('runs without a thread: stream, wait, batch', async () => {
  const list = await all(client.runs.stream(null, 'letters', { input: { wanted: 1 }, streamMode: 'updates' }));
  must(names(list).includes('updates'), 'updates');
  if (!npm) same((await client.runs.wait(null, 'letters', { input: { wanted: 1 } })).letters, ['letter 1'], 'wait');
  const batch = await client.runs.createBatch([{ assistantId: 'letters', input: { wanted: 1 } }, { assistantId: 'letters', input: { wanted: 2 } }]);
  same(batch.length, 2, 'batch');
});

await test('breakpoints, a deferred run, a thread made by its run', async () => {
  const t = await client.threads.create();
  const held = await client.runs.wait(t.thread_id, 'letters', { input: { wanted: 2 }, interruptBefore: ['ask'] });
  same((await values(t.thread_id, held)).letters.length, 2, 'held');
  same((await client.threads.getState(t.thread_id)).next, ['ask'], 'next');
  const id = crypto.randomUUID();
  const later = await client.runs.create(id, 'letters', { input: { wanted: 1 }, ifNotExists: 'create', afterSeconds: 1 });
  same(later.status, 'pending', 'later');
  const end = await values(id, await client.runs.join(id, later.run_id));
  same(end.letters, ['letter 1'], 'it ran');
  await throws(npm ? 422 : 404, () => client.runs.create(crypto.randomUUID(), 'letters', { input: { wanted: 1 } }));
});

await test('store: put, got, found, listed, deleted', async () => {
  const space = ['tests', `s${Math.random()}`.replace('.', '')];
  await client.store.putItem(space, 'k', { author: 'mara', n: 1 });
  const one = await client.store.getItem(space, 'k');
  await client.store.putItem(space, 'k', { author: 'mara', n: 2 });
  const two = await client.store.getItem(space, 'k');
  same([two.value.n, ours ? two.createdAt : ''], [2, ours ? one.createdAt : ''], 'a second put keeps created_at');
  same((await client.store.searchItems(space, { filter: { author: 'mara' } })).items.length, 1, 'search');
  same((await client.store.listNamespaces({ prefix: ['tests'] })).namespaces.some((n) => n[1] === space[1]), true, 'namespaces');
  await client.store.deleteItem(space, 'k');
  same(await client.store.getItem(space, 'k'), null, 'deleted');
});

if (!npm) await test('crons: made, found, changed, counted, deleted', async () => {
  const t = await client.threads.create();
  const one = await client.crons.create('letters', { schedule: '*/5 * * * *', input: { wanted: 1 }, metadata: { a: 1 } });
  const two = await client.crons.createForThread(t.thread_id, 'letters', { schedule: '0 0 1 1 *', input: { wanted: 1 } });
  same(two.thread_id, t.thread_id, 'its thread');
  const found = await client.crons.search({ assistantId: one.assistant_id, limit: 50 });
  same(found.some((c) => c.cron_id === one.cron_id), true, 'search');
  must(new Date(one.next_run_date) > new Date(), 'next_run_date');
  must(await client.crons.count() >= 2, 'count');
  if (client.crons.update) same((await client.crons.update(one.cron_id, { schedule: '0 12 * * *' })).schedule, '0 12 * * *', 'update');
  await client.crons.delete(one.cron_id);
  await client.crons.delete(two.cron_id);
  same((await client.crons.search({ limit: 50 })).some((c) => c.cron_id === one.cron_id), false, 'deleted');
});

if (client.threads.stream) await test('the newer protocol: started, asked, answered', async () => {
  const s = client.threads.stream({ assistantId: 'parrot' });
  await s.run.start({ input: { messages: human('please say hello') } });
  for await (const v of s.values) must(Array.isArray(v.messages), 'values');
  must(s.interrupted, 'interrupted');
  same(s.interrupts[0].payload.action_requests[0].args.text, 'please say hello', 'asked');
  await s.respondInput({ namespace: s.interrupts[0].namespace, interrupt_id: s.interrupts[0].interruptId, response: { decisions: [{ type: 'approve' }] } });
  await until('its end', async () => (await client.threads.get(s.threadId)).status === 'idle');
  const { values } = await client.threads.getState(s.threadId);
  same(values.messages.at(-1).content, 'please say hello', 'answered');
  await s.close();
});

finish();
