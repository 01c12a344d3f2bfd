// react.mjs - React's hook useStream of LangGraph's client in a browser: `node react.mjs PEERS PACKAGE`. A page of
// another origin, which the server was told to admit, talks to the agent: tokens, a tool, a question, a reload.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { finish, must, test } from '../page/plain.mjs';
import { Server, writeScript } from './server.mjs';

const [, , peers, pkg] = process.argv;
const modules = path.join(peers, 'node_modules');
const load = (name) => import(pathToFileURL(path.join(modules, name)));
const { build } = (await load('esbuild/lib/main.js')).default;
const { chromium } = (await load('playwright-core/index.js')).default;

const app = `
import React, { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useStream } from 'the-sdk/react';
const q = new URLSearchParams(location.search);
function App() {
  const [threadId, setThreadId] = useState(q.get('thread'));
  const [custom, setCustom] = useState([]);
  const s = useStream({ apiUrl: q.get('api'), apiKey: q.get('key'), assistantId: 'agent', threadId, messagesKey: 'messages', fetchStateHistory: true, reconnectOnMount: true,
    onThreadId: (id) => { setThreadId(id); q.set('thread', id); history.replaceState(null, '', '?' + q); },
    onCustomEvent: (e) => setCustom((all) => [...all, e.type]) });
  const say = (text) => s.submit({ messages: [{ type: 'human', content: text }] }, { streamMode: ['values', 'messages-tuple', 'custom'], streamResumable: true, onDisconnect: 'continue' });
  const answer = (decision) => s.submit(undefined, { command: { resume: { decisions: [decision] } } });
  window.seen = window.seen || [];
  const shown = s.messages.map((m) => m.type + ': ' + (m.tool_calls?.length ? m.tool_calls[0].name : m.content));
  if (window.seen.at(-1) !== shown.at(-1)) window.seen.push(shown.at(-1));
  return <div>
    <button id="list" onClick={() => say('list it')}>list</button> <button id="remove" onClick={() => say('remove it')}>remove</button>
    <button id="slow" onClick={() => say('slowly')}>slow</button> <button id="stop" onClick={() => s.stop()}>stop</button>
    <button id="yes" onClick={() => answer({ type: 'approve' })}>yes</button> <button id="no" onClick={() => answer({ type: 'reject', message: 'not today' })}>no</button>
    <p id="state">{s.isLoading ? 'busy' : 'idle'} {String(s.error ?? '')}</p>
    <p id="custom">{custom.join(' ')}</p><p id="asked">{s.interrupt ? JSON.stringify(s.interrupt.value) : ''}</p><p id="past">{s.history?.length ?? 0}</p>
    <ol>{shown.map((m, i) => <li key={i}>{m}</li>)}</ol></div>;
}
createRoot(document.getElementById('app')).render(<App />);`;
const { outputFiles } = await build({ stdin: { contents: app, loader: 'jsx', resolveDir: peers }, bundle: true, write: false, format: 'esm', platform: 'browser', jsx: 'automatic',
  nodePaths: [modules], alias: { 'the-sdk/react': path.join(pkg, 'dist/react/index.js') }, define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'error' });
const site = http.createServer((q, r) => {
  const script = q.url.startsWith('/app.js');
  r.setHeader('content-type', script ? 'text/javascript' : 'text/html');
  r.end(script ? outputFiles[0].text : '<!doctype html><meta charset="utf-8"><div id="app"></div><script type="module" src="/app.js"></script>');
});
await new Promise((go) => site.listen(0, '127.0.0.1', go));
const home = `http://127.0.0.1:${site.address().port}`;
const script = writeScript();
const server = new Server({}, ['--llm', `script:${script}`, '--origin', home]);
await server.start();
const browser = await chromium.launch({ executablePath: process.env.PONS_CHROMIUM, args: ['--no-sandbox'] });
console.log(`# useStream of ${JSON.parse(fs.readFileSync(path.join(pkg, 'package.json'), 'utf8')).version} in Chromium`);

async function open() {
  const p = await browser.newPage();
  p.setDefaultTimeout(30000);
  p.errors = [];
  p.on('pageerror', (e) => p.errors.push(e.message));
  await p.goto(`${home}/?api=${encodeURIComponent(server.url)}&key=${server.token}`);
  return p;
}
const lines = (p) => p.locator('li').allTextContents();
const comes = (p, text) => p.waitForFunction((t) => document.querySelector('ol').innerText.includes(t), text);
const idle = (p) => p.waitForFunction(() => document.getElementById('state').innerText.trim() === 'idle');

await test('a turn: tokens, the tool and its result, the history', async () => {
  const p = await open();
  await p.click('#list');
  await comes(p, 'all is done here');
  await idle(p);
  const all = await lines(p);
  must(all.length === 4 && all[0] === 'human: list it' && all[1] === 'ai: list_dir' && all[2].startsWith('tool: '), JSON.stringify(all));
  const seen = await p.evaluate(() => window.seen);
  must(seen.some((m) => m && m.startsWith('ai: all') && m !== 'ai: all is done here') || seen.includes('ai: all is done here'), JSON.stringify(seen));
  must(/tool_start tool_end/.test(await p.textContent('#custom')), await p.textContent('#custom'));
  await p.waitForFunction(() => Number(document.getElementById('past').innerText) > 2);
  must(p.errors.length === 0, p.errors.join('\n'));
  await p.close();
});

await test('a question: shown, kept over a reload, answered', async () => {
  for (const [button, end] of [['#no', 'then not'], ['#yes', 'all is done here']]) {
    const p = await open();
    await p.click('#remove');
    await p.waitForFunction(() => document.getElementById('asked').innerText.includes('rm -rf none'));
    await p.reload();
    await p.waitForFunction(() => document.getElementById('asked').innerText.includes('rm -rf none'));
    await p.click(button);
    await comes(p, end);
    await idle(p);
    must((await p.textContent('#asked')) === '', 'nothing is asked any more');
    must((await lines(p)).filter((m) => m === 'ai: terminal').length === 1, JSON.stringify(await lines(p)));
    must(p.errors.length === 0, p.errors.join('\n'));
    await p.close();
  }
});

await test('a page that is reloaded in the midst of a turn goes on with it', async () => {
  const p = await open();
  await p.click('#slow');
  // A run that the page does not know of yet, it cannot find again: the hook keeps the run's id for its thread.
  await p.waitForFunction(() => sessionStorage.getItem(`lg:stream:${new URLSearchParams(location.search).get('thread')}`));
  await p.reload();
  await comes(p, 'ai: one two three four five six seven eight nine ten');
  await idle(p);
  must((await lines(p)).length === 2, JSON.stringify(await lines(p)));
  await p.close();
});

await test('stop ends the turn', async () => {
  const p = await open();
  await p.click('#slow');
  await p.waitForFunction(() => new URLSearchParams(location.search).get('thread') && document.getElementById('state').innerText.includes('busy'));
  await p.click('#stop');
  await idle(p);
  await p.click('#list');
  await comes(p, 'all is done here');
  await p.close();
});

await test('a page of an origin that nobody admitted gets nothing', async () => {
  const other = http.createServer((q, r) => r.end('<!doctype html>'));
  await new Promise((go) => other.listen(0, '127.0.0.1', go));
  const p = await browser.newPage();
  await p.goto(`http://127.0.0.1:${other.address().port}/`);
  const got = await p.evaluate(async ([url, key]) => { try { return (await fetch(url + '/threads/search', { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' }, body: '{}' })).status; } catch (e) { return e.message; } }, [server.url, server.token]);
  must(got === 'Failed to fetch', String(got));
  await p.close();
  other.close();
});

await browser.close();
site.close();
server.end();
fs.rmSync(path.dirname(script), { recursive: true });
finish();
