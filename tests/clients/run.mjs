// run.mjs - every script against one server: `node run.mjs PEERS [URL oracle|oracle-js]`, PEERS has node_modules and a venv.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Server } from './server.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const [, , peers, oracle, kind] = process.argv;
const packages = ['sdk1', 'sdk2'].map((n) => path.join(peers, 'node_modules', n));
let failed = 0;
const run = (program, ...args) => { failed += spawnSync(program, args, { stdio: 'inherit' }).status !== 0; };

if (oracle) {
  for (const p of packages) run('node', path.join(here, 'langgraph.mjs'), p, oracle, 'none', kind);
  run(path.join(peers, 'venv/bin/python'), path.join(here, 'langgraph.py'), oracle, 'none', kind);
} else {
  const server = new Server();
  await server.start();
  for (const p of packages) run('node', path.join(here, 'langgraph.mjs'), p, server.url, server.token);
  run(path.join(peers, 'venv/bin/python'), path.join(here, 'langgraph.py'), server.url, server.token);
  server.end();
  for (const p of packages) run('node', path.join(here, 'robot.mjs'), p);
  for (const p of packages) run('node', path.join(here, 'agent.mjs'), p);
  for (const p of process.env.PONS_CHROMIUM ? packages : []) run('node', path.join(here, 'react.mjs'), peers, p);
}
process.exit(failed ? 1 : 0);
