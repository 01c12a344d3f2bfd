// agent.mjs - the agent and the companion by LangGraph's JavaScript client: `node agent.mjs PACKAGE`.
//
// The model is a script, everything else is what a person would have: tools, walls, questions, kills.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { finish, must, test } from '../page/plain.mjs';
import { Server, writeScript } from './server.mjs';

const { Client } = await import(path.join(process.argv[2], 'dist/index.js'));
const script = writeScript();
const server = new Server({ 'graph_config.yaml': 'graph:\n  nodes:\n    approval: {enabled: true}\n' }, ['--llm', `script:${script}`]);
await server.start();
const client = new Client({ apiUrl: server.url, apiKey: server.token, callerOptions: { maxRetries: 20 } });
const human = (content) => ({ messages: [{ type: 'human', content }] });
const MODES = ['values', 'updates', 'custom', 'messages-tuple'];
const resume = (...decisions) => ({ command: { resume: { decisions } } });
const types = (v) => v.messages.map((m) => m.type).join(' ');
async function run(thread, payload, graph = 'agent') {
  const list = [];
  for await (const e of client.runs.stream(thread, graph, { streamMode: MODES, ...payload })) list.push(e);
  const values = list.filter((e) => e.event === 'values').at(-1)?.data;
  return { list, values, asked: values?.__interrupt__?.[0]?.value, custom: list.filter((e) => e.event === 'custom').map((e) => e.data), error: list.find((e) => e.event === 'error')?.data };
}
const text = (list, id) => list.filter((e) => e.event === 'messages' && e.data[0].id === id).map((e) => e.data[0].content).join('');
async function until(what, ask) {
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((go) => setTimeout(go, 20))) {
    const got = await ask();
    if (got) return got;
  }
  throw new Error(`it did not happen: ${what}`);
}

await test('a turn: tokens that make the message, the tool\'s call and result, updates by node', async () => {
  const t = await client.threads.create();
  const { list, values, custom } = await run(t.thread_id, { input: human('list it') });
  must(types(values) === 'human ai tool ai', types(values));
  const [, call, tool, last] = values.messages;
  must(last.content === 'all is done here' && text(list, last.id) === last.content, JSON.stringify(list.filter((e) => e.event === 'messages')));
  must(call.tool_calls[0].name === 'list_dir' && tool.tool_call_id === call.tool_calls[0].id, JSON.stringify(call));
  const streamed = list.filter((e) => e.event === 'messages').map((e) => e.data[0]);
  must(streamed.some((m) => m.id === call.id && m.tool_call_chunks[0].name === 'list_dir'), 'the call is streamed');
  must(streamed.filter((m) => m.id === tool.id && m.content === tool.content).length === 1, 'the result is streamed once');
  must(list.filter((e) => e.event === 'messages').every((e) => e.data[1].langgraph_node === 'agent'), 'of the node agent');
  must(list.some((e) => e.event === 'updates' && 'agent' in e.data), 'updates.agent');
  must(custom.some((c) => c.type === 'tool_start' && c.name === 'list_dir'), JSON.stringify(custom));
  const again = await run(t.thread_id, { input: human('hello') });
  must(types(again.values) === 'human ai tool ai human ai' && again.values.session.name === values.session.name, types(again.values));
  must((await client.threads.getState(t.thread_id)).values.outcome.status === 'success', 'state');
  must((await client.threads.getHistory(t.thread_id)).some((s) => s.values.messages?.length === 4), 'history');
});

await test('a dangerous call: approved, edited, rejected with a reason', async () => {
  for (const [decision, runs, end] of [
    [{ type: 'approve' }, 'rm -rf none', 'all is done here'],
    [{ type: 'edit', edited_action: { name: 'terminal', args: { command: 'echo edited' } } }, 'echo edited', 'all is done here'],
    [{ type: 'reject', message: 'not today' }, null, 'then not']]) {
    const t = await client.threads.create();
    const { asked, values, list } = await run(t.thread_id, { input: human('remove it') });
    must(asked.action_requests[0].name === 'terminal' && asked.action_requests[0].args.command === 'rm -rf none', JSON.stringify(asked));
    must(values.messages.at(-1).tool_calls[0].name === 'terminal', 'the call is shown');
    must(list.filter((e) => e.event === 'messages' && e.data[0].tool_call_chunks).length === 1, 'the call is streamed, once');
    must((await client.threads.get(t.thread_id)).status === 'interrupted', 'interrupted');
    const after = await run(t.thread_id, resume(decision));
    must(after.values.messages.at(-1).content === end, JSON.stringify(after.values.messages));
    const started = after.custom.filter((c) => c.type === 'tool_start');
    must(!runs || (started.length === 1 && started[0].input.command === runs), JSON.stringify(after.custom));
    must(runs || after.values.messages.at(-2).content.includes('not today'), JSON.stringify(after.values.messages.at(-2)));
    must(!after.list.some((e) => e.event === 'messages' && e.data[0].tool_call_chunks), 'the call is not streamed again');
  }
});

await test('an edit that is none is asked again, and says why', async () => {
  const t = await client.threads.create();
  await run(t.thread_id, { input: human('a plan please') });
  const again = await run(t.thread_id, resume({ type: 'edit', edited_action: { name: 'plan', args: { nonsense: 1 } } }));
  must(/Not taken: .*nonsense/s.test(again.asked?.action_requests[0].description), JSON.stringify(again.asked));
  const end = await run(t.thread_id, resume({ type: 'reject', message: 'no' }));
  must(end.values.messages.at(-1).content === 'then no plan', JSON.stringify(end.values.messages));
});

await test('a plan: shown, approved, carried out', async () => {
  const t = await client.threads.create();
  const { asked } = await run(t.thread_id, { input: human('a plan please') });
  must(asked.action_requests[0].name === 'plan' && asked.action_requests[0].args.title === 'T', JSON.stringify(asked));
  const { values, custom } = await run(t.thread_id, resume({ type: 'approve' }));
  must(values.messages.at(-1).content === 'all is done here', JSON.stringify(values.messages));
  must(custom.filter((c) => c.type === 'plan_updated').map((c) => c.status).join() === 'running,completed', JSON.stringify(custom));
});

await test('a copy goes on in a session of its own, which knows the past', async () => {
  const t = await client.threads.create();
  const one = await run(t.thread_id, { input: human('list it') });
  const copy = await client.threads.copy(t.thread_id);
  const first = await run(t.thread_id, { input: human('hello') });
  const second = await run(copy.thread_id, { input: human('hello too') });
  must(first.values.session.name === one.values.session.name, 'the first goes on');
  must(second.values.session.name !== one.values.session.name, 'the second does not');
  must(types(second.values) === 'human ai tool ai human ai', types(second.values));
});

await test('what somebody else answers counts, and the client is told how it went', async () => {
  const t = await client.threads.create();
  const { values } = await run(t.thread_id, { input: human('remove it') });
  const post = (where, body) => fetch(server.url + where, { method: 'POST', headers: { 'x-api-key': server.token, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  must((await post('/api/approve', { request_id: values.question.request_id, approved: false })).status === 200, 'answered on another page');
  const after = await run(t.thread_id, resume({ type: 'approve' }));
  must(after.values.messages.at(-1).content === 'then not', JSON.stringify(after.values.messages));
});

await test('a canceled run stops the turn, and the next one begins', async () => {
  const t = await client.threads.create();
  const one = await client.runs.create(t.thread_id, 'agent', { input: human('slowly') });
  const { session } = await until('it runs', async () => { const { values } = await client.threads.getState(t.thread_id); return values?.session && values; });
  await client.runs.cancel(t.thread_id, one.run_id, true);
  must((await client.runs.get(t.thread_id, one.run_id)).status === 'interrupted', 'canceled');
  const { values } = await run(t.thread_id, { input: human('hello') });
  must(values.session.name === session.name, 'the same session');
  must(values.messages.at(-1).content === 'hello there my friend', JSON.stringify(values.messages));
});

await test('a server that is killed while it asks: the question is open, and its answer counts', async () => {
  const t = await client.threads.create();
  const { asked } = await run(t.thread_id, { input: human('remove it') });
  must(asked, 'asked');
  await server.kill();
  await server.start();
  const { values } = await run(t.thread_id, resume({ type: 'approve' }));
  must(values.messages.at(-1).content === 'all is done here' && types(values) === 'human ai tool ai', types(values));
});

await test('a server that is killed in the midst of a turn: the words are said once, nothing comes twice', async () => {
  for (let cut = 1; cut <= 4; cut++) { // tokens that come together are one event
    const t = await client.threads.create();
    const one = await client.runs.create(t.thread_id, 'agent', { input: human('slowly'), streamMode: MODES, streamResumable: true });
    const got = [];
    let killed = false;
    for (let last = '-1', over = false; !over;) {
      try {
        for await (const e of client.runs.joinStream(t.thread_id, one.run_id, { lastEventId: last, streamMode: MODES })) {
          if (e.event === 'end') { over = true; break; }
          if (!e.event) continue;
          got.push(e);
          last = e.id ?? last;
          if (!killed && got.length >= cut) {
            killed = true;
            await server.kill();
            await server.start();
          }
        }
      } catch (error) { must(killed, error.stack); }
    }
    const ids = got.map((e) => e.id);
    must(killed && new Set(ids).size === ids.length, `none twice: ${ids}`);
    const { values } = await client.threads.getState(t.thread_id);
    must(types(values) === 'human ai' && /^one .* ten$/.test(values.messages[1].content), JSON.stringify(values.messages));
    const whole = text(got, values.messages[1].id);
    must(values.messages[1].content.startsWith(whole), `tokens: ${whole}`);
    const log = await fetch(`${server.url}/v1/threads/${values.session.name}/events?limit=100`, { headers: { 'x-api-key': server.token } }).then((r) => r.json());
    must(log.filter((e) => e.type === 'done').length === 1, 'one turn');
  }
});

await test('the Python client: a turn, a question and its answer', async () => {
  const python = path.join(process.argv[2], '../../venv/bin/python');
  // Not spawnSync: while that waits nobody sees that the server closes connections that nothing was asked on.
  const child = spawn(python, [path.join(import.meta.dirname, 'agent.py'), server.url, server.token], { stdio: 'inherit' });
  const status = await new Promise((go) => child.once('exit', go));
  must(status === 0, `status ${status}`);
});

await test('more conversations at once than sessions', async () => {
  const threads = await Promise.all(Array.from({ length: 24 }, () => client.threads.create()));
  const ends = await Promise.all(threads.map((t) => client.runs.wait(t.thread_id, 'agent', { input: human('hello') })));
  must(ends.every((v) => v.messages.at(-1).content === 'hello there my friend'), JSON.stringify(ends.find((v) => v.messages.length !== 2)));
});

await test('the companion: a message reaches its phone, and the run says what was decided', async () => {
  const t = await client.threads.create();
  const none = await run(t.thread_id, { input: human('call me') }, 'companion');
  must(/no companion/.test(none.error?.message), JSON.stringify(none.list));
  const args = ['companion', 'run', '--workspace', server.workspace, '--llm', 'rules', '--from', '2026-03-02', '--days'];
  must(spawnSync(process.env.PONS_PROGRAM, [...args, '1']).status === 0, 'a day');
  const asleep = await run(t.thread_id, { input: human('nobody hears') }, 'companion');
  must(/Nobody lives/.test(asleep.values.messages.at(-1).content), JSON.stringify(asleep.values.messages));
  const life = spawn(process.env.PONS_PROGRAM, [...args, '300', '--speed', '600'], { stdio: 'ignore' });
  const ended = new Promise((go) => life.once('exit', go));
  try {
    // Another life than the day before: between the old one's end and its own first minute there is none.
    const state = () => spawnSync(process.env.PONS_PROGRAM, ['companion', 'status', '--workspace', server.workspace, '--json'], { encoding: 'utf8' }).stdout;
    await until('it lives', () => JSON.parse(state() || '{}').pid);
    const heard = await run(t.thread_id, { input: human('call me now'), context: { sender: 'mother', urgent: true } }, 'companion');
    must(/heard/.test(heard.values.messages.at(-1).content), JSON.stringify(heard.values.messages));
    must(heard.custom.some((c) => c.type === 'external.message' && c.from === 'mother' && c.urgent), JSON.stringify(heard.custom));
  } finally {
    life.kill('SIGTERM');
    await ended;
  }
});

server.end();
fs.rmSync(path.dirname(script), { recursive: true });
finish();
