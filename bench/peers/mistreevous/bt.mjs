// bt.mjs - mistreevous beside bench_bt.c: the same definitions, leaves that answer at once. Ticks are
// timed by the processor's time, loads by the clock. Arguments choose figures: leaves, running, load.
import { BehaviourTree, State } from "mistreevous";

const LEAVES_EACH = 5;
const TICKED = 20; // composites: 121 nodes
const LOADED = 164; // composites: 985 nodes
const LOADS = 101;

const agent = { A: () => State.SUCCEEDED, R: () => State.RUNNING };
const cpuMs = () => {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1000;
};
const print = (key, value, unit) =>
  console.log(JSON.stringify({ peer: "mistreevous", key, value, unit }));

// n composites of 5 leaves under one; the last leaf of all may be another one.
function definition(n, last) {
  const leaf = (i, k) => `    action [${i === n - 1 && k === LEAVES_EACH - 1 ? last : "A"}]\n`;
  const composite = (i) =>
    `  sequence {\n${Array.from({ length: LEAVES_EACH }, (_, k) => leaf(i, k)).join("")}  }\n`;
  return `root { sequence {\n${Array.from({ length: n }, (_, i) => composite(i)).join("")}} }`;
}

function ticks(key, last) {
  const tree = new BehaviourTree(definition(TICKED, last), agent);
  let n = 0;
  let began = 0;
  for (const ms of [1000, 1000]) { // the first one warms up
    began = cpuMs();
    for (n = 0; cpuMs() - began < ms; n += 1000) {
      for (let i = 0; i < 1000; i++) tree.step();
    }
  }
  print(key, n / ((cpuMs() - began) / 1000), "ticks/s");
}

function load() {
  const text = definition(LOADED, "A");
  const ms = [];
  for (let i = 0; i < LOADS; i++) {
    const began = performance.now();
    new BehaviourTree(text, agent);
    ms.push(performance.now() - began);
  }
  print("load", ms.sort((a, b) => a - b)[(LOADS - 1) / 2], "ms");
}

const wanted = process.argv.slice(2);
if (wanted.includes("leaves")) ticks("leaves", "A");
if (wanted.includes("running")) ticks("running", "R");
if (wanted.includes("load")) load();
