// From exec to the first event of a run with a SQLite checkpointer, and the memory (PSS) after it:
// what a brain made of LangGraph pays before it begins. STARTED_NS is the time of exec.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

const dir = mkdtempSync(join(tmpdir(), "pons-bench-"));
const saver = SqliteSaver.fromConnString(join(dir, "start.db"));
const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("step", (state) => ({ n: state.n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", (state) => (state.n < 20 ? "step" : END))
  .compile({ checkpointer: saver });

let started = 0;
const stream = await graph.stream(
  { n: 0 },
  { configurable: { thread_id: "t" }, streamMode: "updates", recursionLimit: 50 },
);
for await (const _ of stream) started ||= Date.now();
const pss = Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync("/proc/self/smaps_rollup", "utf8"))[1]);
rmSync(dir, { recursive: true, force: true });
const print = (key, value, unit) =>
  console.log(JSON.stringify({ peer: "langgraph-js", key, value, unit }));
print("start", started - Number(process.env.STARTED_MS), "ms");
print("pss", pss / 1024, "MiB");
