// server.mjs - `pons serve` in a workspace of its own, for clients that nobody here wrote.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

// Waits without the event loop, which has ended where this is called last: a child that is dead and not yet
// waited for is gone as well.
function untilGone(pid) {
  const nap = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < 500; i++) {
    let state = 'Z';
    try { state = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)[0]; } catch { /* it is gone */ }
    if (state === 'Z') return;
    Atomics.wait(nap, 0, 0, 20);
  }
}

export class Server {
  constructor(config = {}, more = []) {
    this.more = more;
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'pons-clients-'));
    this.workspace = path.join(this.dir, 'ws');
    this.listen = '127.0.0.1:0';
    this.stopPort = [];
    for (const [name, text] of Object.entries(config)) {
      fs.mkdirSync(path.join(this.workspace, 'config'), { recursive: true });
      fs.writeFileSync(path.join(this.workspace, 'config', name), text);
    }
    process.once('exit', () => this.end());
  }

  // Ready when this resolves. Its ports are those of the first start.
  async start() {
    this.child = spawn(process.env.PONS_PROGRAM, ['serve', '--workspace', this.workspace, '--json', '--driver', 'kinematic', '--seed', '3', '--speed', '5',
      '--listen', this.listen, ...this.stopPort, ...this.more], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = new Promise((go) => this.child.once('exit', go));
    const ready = await new Promise((go, fail) => {
      let text = '', told = false;
      this.child.stdout.on('data', (d) => {
        if (told) return;
        text += d;
        const end = text.indexOf('\n');
        if (end >= 0) { told = true; go(JSON.parse(text.slice(0, end))); }
      });
      this.child.once('exit', (code) => fail(new Error(`pons serve ended with ${code}`)));
    });
    this.url = ready.url;
    this.listen = new URL(ready.url).host;
    this.stopPort = ['--stop-port', new URL(ready.stop_url).port];
    this.token = /operator (\w+)/.exec(fs.readFileSync(ready.token_file, 'utf8'))[1];
  }

  async kill(signal = 'SIGKILL') {
    this.child.kill(signal);
    await this.ended;
  }

  // Also of a test that threw: the server, and the body that it started, each by its pid.
  end() {
    if (!this.dir) return;
    this.child?.kill('SIGKILL');
    if (this.child) untilGone(this.child.pid);
    try {
      const { pid } = JSON.parse(fs.readFileSync(path.join(this.workspace, 'run/body.json'), 'utf8'));
      process.kill(pid, 'SIGTERM');
      untilGone(pid); // whoever still writes there would keep the folder
    } catch { /* it is gone */ }
    fs.rmSync(this.dir, { recursive: true, force: true });
    this.dir = '';
  }
}

// A model for the agent that answers by what it is told; the caller removes the file's folder.
const said = (words, reply) => `- when: {messages.-1.role: user, messages.-1.content: {contains: ${words}}}\n  repeat: true\n  ${reply}\n`;
const told = (words, reply) => `- when: {messages.-1.role: tool, messages.-1.content: {contains: ${words}}}\n  repeat: true\n  ${reply}\n`;
export function writeScript() {
  const script = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'pons-script-')), 'script.yaml');
  fs.writeFileSync(script, 'replies:\n'
    + said('hello', 'content: hello there my friend')
    + said('list', 'tool_calls: [{name: list_dir, arguments: {path: .}}]')
    + said('remove', "tool_calls: [{name: terminal, arguments: {command: 'rm -rf none'}}]")
    + said('a plan', 'tool_calls: [{name: plan_create, arguments: {title: T, steps: [one]}}]')
    + said('slowly', 'delay_ms: 3000\n  tokens: 30\n  content: one two three four five six seven eight nine ten')
    + said('Your step', 'content: did one')
    + told('refused', 'content: then not')
    + told('Not carried', 'content: then not')
    + told('rejected', 'content: then no plan')
    + '- when: {messages.-1.role: tool}\n  repeat: true\n  content: all is done here\n'
    + '- repeat: true\n  content: what?\n');
  return script;
}
