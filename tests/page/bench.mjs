// bench.mjs - `pons serve` in a workspace of its own, and a browser that looks at it.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const peers = process.env.PONS_PAGE_PEERS;
export const { chromium } = await import(path.join(peers, 'node_modules/playwright-core/index.mjs'));
export const axeSource = fs.readFileSync(path.join(peers, 'node_modules/axe-core/axe.min.js'), 'utf8');
const pons = process.env.PONS_PROGRAM;
export const HANG_MS = 120000; // whoever waits so long has failed

const servers = new Set();
process.on('exit', () => { for (const s of servers) s.end(); });

export class Server {
  constructor({ share = '', args = [], command = ['serve'], driver = 'kinematic', fleet = false } = {}) {
    this.fleet = fleet;
    this.command = command;
    this.driver = driver;
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'pons-page-'));
    this.workspace = path.join(this.dir, 'ws');
    servers.add(this);
    this.args = args;
    this.ports = command[0] === 'serve' ? ['--listen', '127.0.0.1:0'] : ['--serve', '127.0.0.1:0'];
    this.env = share ? { ...process.env, PONS_SHARE: share } : process.env;
  }

  // A fleet of two with three tasks, which an orchestrator of its own runs.
  begin() {
    const run = (...words) => execFileSync(pons, [...words, '--workspace', this.workspace], { env: this.env, stdio: ['ignore', 'ignore', 'inherit'] });
    run('onboard', '--fleet');
    run('fleet', 'assign', '<i>water</i>', '--stops', 'kitchen,desk');
    run('fleet', 'assign', 'tidy', '--stops', 'bedroom,kitchen');
    run('fleet', 'assign', 'sleeps', '--stops', 'desk', '--priority', 'low');
    this.orchestrator = spawn(pons, ['fleet', 'run', '--workspace', this.workspace], { env: this.env, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  // Resolves with the ready line. The ports of the first start are kept.
  async start() {
    if (this.fleet && !this.orchestrator) this.begin();
    this.child = spawn(pons, [...this.command, '--workspace', this.workspace, '--json', ...(this.fleet ? [] : ['--driver', this.driver]), '--seed', '3', ...this.ports, ...this.args],
      { env: this.env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.ended = new Promise((go) => this.child.once('exit', go));
    const ready = await new Promise((go, fail) => {
      let text = '', told = false;
      this.child.stdout.on('data', (d) => {
        text += d;
        const end = text.indexOf('\n');
        if (end >= 0 && !told) { told = true; go(JSON.parse(text.slice(0, end))); }
      });
      this.child.once('exit', (code) => fail(new Error(`pons serve ended with ${code}`)));
    });
    this.url = ready.url;
    this.stopUrl = ready.stop_url;
    const stopPort = new URL(ready.stop_url).port;
    if (this.command[0] === 'serve') this.ports = ['--listen', new URL(ready.url).host, '--stop-port', stopPort];
    this.token = /operator (\w+)/.exec(fs.readFileSync(ready.token_file, 'utf8'))[1];
    return ready;
  }

  async kill(signal = 'SIGKILL') {
    this.child.kill(signal);
    await this.ended;
  }

  async ask(method, where, body) {
    const r = await fetch(this.url + where, { method, headers: { 'x-api-key': this.token, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    return { status: r.status, body: await r.json() };
  }

  // Ends the server, and the body that it started, by its pid.
  async close() {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill('SIGTERM');
    this.end();
  }

  // Also of a test that threw.
  end() {
    servers.delete(this);
    this.child?.kill('SIGKILL');
    this.orchestrator?.kill('SIGKILL');
    for (const of of this.fleet ? ['robots/r1/', 'robots/r2/'] : ['']) {
      try {
        const { pid } = JSON.parse(fs.readFileSync(path.join(this.workspace, `${of}run/body.json`), 'utf8'));
        process.kill(pid, 'SIGTERM');
        for (let i = 0; i < 400; i++) { // until it is gone: at its end it writes its state
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
          process.kill(pid, 0);
        }
      } catch { /* it is gone */ }
    }
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
}

export const browser = () => chromium.launch({
  executablePath: process.env.PONS_CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

export async function until(what, condition) {
  const end = Date.now() + HANG_MS;
  for (;;) {
    const got = await condition();
    if (got) return got;
    if (Date.now() > end) throw new Error(`it did not happen: ${what}`);
    await new Promise((go) => setTimeout(go, 50));
  }
}

export { finish, must, test } from './plain.mjs';
