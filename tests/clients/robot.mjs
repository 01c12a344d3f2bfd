// robot.mjs - the robot by LangGraph's JavaScript client, and a server that is killed while it streams:
// `node robot.mjs PACKAGE`.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { finish, must, test } from '../page/plain.mjs';
import { Server } from './server.mjs';

const { Client } = await import(path.join(process.argv[2], 'dist/index.js'));
const own = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../config/kernel.yaml');
const asks = fs.readFileSync(own, 'utf8').replace('skills: []', 'skills: [navigate_to_pose]');
const server = new Server({ 'kernel.yaml': asks });
await server.start();
const client = new Client({ apiUrl: server.url, apiKey: server.token, callerOptions: { maxRetries: 20 } });
const human = (content) => ({ messages: [{ type: 'human', content }] });
async function until(what, ask) {
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((go) => setTimeout(go, 20))) {
    const got = await ask();
    if (got) return got;
  }
  throw new Error(`it did not happen: ${what}`);
}

await test('a goal, asked about and rejected: the reason is in the tool\'s message, and nothing moves', async () => {
  const t = await client.threads.create();
  const asked = await client.runs.wait(t.thread_id, 'react', { input: human('go to the kitchen') });
  const request = asked.__interrupt__[0].value.action_requests[0];
  must(request.name === 'navigate_to_pose' && request.args.zone === 'kitchen', JSON.stringify(request));
  must(asked.messages.at(-1).tool_calls[0].name === 'navigate_to_pose', 'the call is shown');
  const end = await client.runs.wait(t.thread_id, 'react', { command: { resume: { decisions: [{ type: 'reject', message: 'the floor is wet' }] } } });
  must(end.messages.some((m) => m.type === 'tool' && m.content === 'the floor is wet'), JSON.stringify(end.messages));
  must(end.outcome.status !== 'succeeded', JSON.stringify(end.outcome));
});

await test('a goal, edited: the robot goes where the edit says, and the call is shown as edited', async () => {
  const t = await client.threads.create();
  await client.runs.wait(t.thread_id, 'react', { input: human('go to the kitchen') });
  const list = [];
  const decision = { type: 'edit', edited_action: { name: 'navigate_to_pose', args: { zone: 'bedroom' } } };
  for await (const e of client.runs.stream(t.thread_id, 'react', { command: { resume: { decisions: [decision] } }, streamMode: ['values', 'custom'] })) list.push(e);
  const end = list.filter((e) => e.event === 'values').at(-1).data;
  must(end.messages.some((m) => m.tool_calls?.[0]?.args?.zone === 'bedroom'), JSON.stringify(end.messages));
  must(list.some((e) => e.event === 'custom' && e.data.type === 'skill' && e.data.name === 'navigate_to_pose'), 'progress with the skill\'s name');
});

await test('a canceled run cancels its task', async () => {
  const t = await client.threads.create();
  await client.runs.wait(t.thread_id, 'react', { input: human('go to the kitchen') });
  const run = await client.runs.create(t.thread_id, 'react', { command: { resume: { decisions: [{ type: 'approve' }] } } });
  await until('it drives', async () => (await client.threads.getState(t.thread_id)).values?.goal?.task && (await client.runs.get(t.thread_id, run.run_id)).status === 'running');
  await client.runs.cancel(t.thread_id, run.run_id, true);
  const ask = (where) => fetch(server.url + where, { headers: { 'x-api-key': server.token } }).then((r) => r.json());
  const { values } = await client.threads.getState(t.thread_id);
  await until('its task has ended', async () => (await ask('/v1/threads/main/events?limit=1000')).some((e) => e.type === 'task.done' && e.payload.task_id === values.goal.task && e.payload.status !== 'succeeded'));
});

await test('a server that is killed while it streams: no event lost, none twice, and the run ends', async () => {
  const t = await client.threads.create();
  const words = 'one two three four five six seven eight nine ten';
  const run = await client.runs.create(t.thread_id, 'parrot', { input: { ...human(words), pause_ms: 200 }, streamMode: ['custom', 'values'] });
  const got = [];
  let killed = false;
  for (let last = '-1', over = false; !over;) {
    try {
      for await (const e of client.runs.joinStream(t.thread_id, run.run_id, { lastEventId: last, streamMode: ['custom', 'values'] })) {
        if (e.event === 'end') { over = true; break; }
        if (!e.event) continue;
        got.push(e);
        last = e.id ?? last;
        if (!killed && got.filter((x) => x.event === 'custom').length === 4) {
          killed = true;
          await server.kill();
          await server.start();
        }
      }
    } catch (error) { must(killed, error.stack); }
  }
  must(killed, 'it was killed');
  const ids = got.map((e) => e.id);
  must(new Set(ids).size === ids.length, `none twice: ${ids}`);
  const said = got.filter((e) => e.event === 'custom').map((e) => e.data.speaking);
  must(said.join(' ') === words || [...new Set(said)].join(' ') === words, said.join(' '));
  must(got.filter((e) => e.event === 'values').at(-1).data.messages.at(-1).content === words, 'the last values');
  await until('success', async () => (await client.runs.get(t.thread_id, run.run_id)).status === 'success');
});

await test('a webhook is told of the end: again until it listens, and by the next server when this one is killed', async () => {
  const heard = [];
  let answer = 503;
  const hook = http.createServer((q, r) => {
    let text = '';
    q.on('data', (d) => { text += d; });
    q.on('end', () => { heard.push(JSON.parse(text)); r.statusCode = answer; r.end(); });
  });
  await new Promise((go) => hook.listen(0, '127.0.0.1', go));
  const webhook = `http://127.0.0.1:${hook.address().port}/told?x=1`;
  const t = await client.threads.create();
  const run = await client.runs.create(t.thread_id, 'parrot', { input: human('hello'), webhook });
  await until('it was told', () => heard.length === 1);
  await server.kill();
  answer = 200;
  await server.start();
  await until('it is told again', () => heard.length === 2);
  must(heard.every((h) => h.run_id === run.run_id && h.status === 'success' && h.values.messages.at(-1).content === 'hello'), JSON.stringify(heard));
  const failed = await client.runs.create(t.thread_id, 'parrot', { input: human('error'), webhook });
  await until('a failure is told', () => heard.length === 3);
  must(heard[2].run_id === failed.run_id && heard[2].status === 'error' && /does not say/.test(heard[2].error.message), JSON.stringify(heard[2]));
  for (const bad of ['file:///etc/passwd', '/relative', 'ftp://x/', `http://${'x'.repeat(3000)}/`]) {
    try { await client.runs.create(t.thread_id, 'parrot', { input: human('x'), webhook: bad }); } catch (e) { must(String(e.status) === '422' || /422/.test(e.message), e.message); continue; }
    throw new Error(`${bad} was taken`);
  }
  hook.close();
});

await test('a server that is killed at every event: no event lost, none twice', async () => {
  const words = 'one two three four five';
  const whole = [];
  for (let cut = 0; cut < 14; cut++) {
    const t = await client.threads.create();
    const run = await client.runs.create(t.thread_id, 'parrot', { input: { ...human(words), pause_ms: 60 }, streamMode: ['custom', 'values', 'updates', 'messages-tuple'] });
    const got = [];
    let killed = false;
    for (let last = '-1', over = false; !over;) {
      try {
        for await (const e of client.runs.joinStream(t.thread_id, run.run_id, { lastEventId: last, streamMode: ['custom', 'values', 'updates', 'messages-tuple'] })) {
          if (e.event === 'end') { over = true; break; }
          if (!e.event) continue;
          got.push(e);
          last = e.id ?? last;
          if (!killed && got.length > cut) {
            killed = true;
            await server.kill();
            await server.start();
          }
        }
      } catch (error) { must(killed, error.stack); }
    }
    const ids = got.map((e) => e.id);
    must(killed && new Set(ids).size === ids.length, `cut at ${cut}: ${ids}`);
    const again = [];
    for await (const e of client.runs.joinStream(t.thread_id, run.run_id, { lastEventId: '-1', streamMode: ['custom', 'values', 'updates', 'messages-tuple'] })) if (e.event && e.event !== 'end') again.push(e);
    must(JSON.stringify(again) === JSON.stringify(got), `cut at ${cut}: what was heard is not what the log says: ${ids} / ${again.map((e) => e.id)}`);
    must(got.filter((e) => e.event === 'values').at(-1).data.messages.at(-1).content === words, `cut at ${cut}`);
    whole.push(got.length);
  }
  must(Math.min(...whole) >= 14, `every event was a place to cut: ${whole}`);
});

server.end();
finish();
