// Durable supersteps a second: the loop of loop.mjs with the SQLite checkpointer (WAL, synchronous
// NORMAL), and then the size of the file after 1,000 appended messages, one a superstep.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, END, START, StateGraph, messagesStateReducer } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { AIMessage } from "@langchain/core/messages";

const dir = mkdtempSync(join(tmpdir(), "pons-bench-"));
const open = (name) => {
  const saver = SqliteSaver.fromConnString(join(dir, name));
  saver.setup(); // creates the tables and chooses WAL
  saver.db.pragma("synchronous = NORMAL");
  return saver;
};
const print = (key, value, unit) =>
  console.log(JSON.stringify({ peer: "langgraph-js", key, value, unit }));

try {
  const STEPS = 500;
  const counter = (saver) =>
    new StateGraph(Annotation.Root({ n: Annotation() }))
      .addNode("step", (state) => ({ n: state.n + 1 }))
      .addEdge(START, "step")
      .addConditionalEdges("step", (state) => (state.n < STEPS ? "step" : END))
      .compile({ checkpointer: saver });
  for (const durability of ["sync", "async"]) {
    const graph = counter(open(`${durability}.db`));
    let best = 0;
    for (let i = 0; i < 4; i++) {
      const from = process.hrtime.bigint();
      await graph.invoke(
        { n: 0 },
        { configurable: { thread_id: `t${i}` }, recursionLimit: STEPS + 10, durability },
      );
      const rate = STEPS / (Number(process.hrtime.bigint() - from) / 1e9);
      if (i > 0) best = Math.max(best, rate); // the first one is warm-up
    }
    print(durability, best, "steps/s");
  }

  const MESSAGES = 1000;
  const TEXT = "x".repeat(100);
  const saver = open("messages.db");
  const State = Annotation.Root({
    messages: Annotation({ reducer: messagesStateReducer, default: () => [] }),
  });
  const chat = new StateGraph(State)
    .addNode("say", (state) => ({
      messages: [new AIMessage({ content: TEXT, id: `m${state.messages.length}` })],
    }))
    .addEdge(START, "say")
    .addConditionalEdges("say", (state) => (state.messages.length < MESSAGES ? "say" : END))
    .compile({ checkpointer: saver });
  await chat.invoke(
    { messages: [] },
    { configurable: { thread_id: "chat" }, recursionLimit: MESSAGES + 10 },
  );
  saver.db.pragma("wal_checkpoint(TRUNCATE)");
  saver.db.close();
  print("messages_bytes", statSync(join(dir, "messages.db")).size, "B");
} finally {
  rmSync(dir, { recursive: true, force: true });
}
