// Supersteps a second without a checkpointer: one node that adds one to a counter, and a conditional
// edge that goes back to it until the counter is full. The same graph as graph.loop in bench_graph.c.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const STEPS = 2000;
const graph = new StateGraph(Annotation.Root({ n: Annotation() }))
  .addNode("step", (state) => ({ n: state.n + 1 }))
  .addEdge(START, "step")
  .addConditionalEdges("step", (state) => (state.n < STEPS ? "step" : END))
  .compile();

const run = async () => {
  const from = process.hrtime.bigint();
  const end = await graph.invoke({ n: 0 }, { recursionLimit: STEPS + 10 });
  if (end.n !== STEPS) throw new Error(`ended at ${end.n}`);
  return STEPS / (Number(process.hrtime.bigint() - from) / 1e9);
};
await run(); // warm: the compiler has seen it
const best = Math.max(await run(), await run(), await run());
console.log(JSON.stringify({ peer: "langgraph-js", key: "loop", value: best, unit: "steps/s" }));
