// server.mjs - `pons serve` in a workspace of its own, for clients that nobody here wrote.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

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
    try {
      process.kill(JSON.parse(fs.readFileSync(path.join(this.workspace, 'run/body.json'), 'utf8')).pid, 'SIGTERM');
    } catch { /* it is gone */ }
    fs.rmSync(this.dir, { recursive: true, force: true });
    this.dir = '';
  }
}
