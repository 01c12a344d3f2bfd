// A turn of an agent as the seed writes one: a StateGraph with an agent node whose hand-written loop
// calls a streaming ChatOpenAI, runs its tool and calls again; a MemorySaver, so nothing is kept on a
// disk. Two model calls and one tool call a turn, each turn on a thread of its own; the model is the
// same scripted server as for bench_agent.c. Figures: wall time and processor time of this process.
import { spawn } from "node:child_process";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";

const TURNS = 200;
const WARM = 40;
const server = spawn(process.env.SCRIPTED_MODEL, ["script.json"], { stdio: ["ignore", "pipe", "inherit"] });
const port = await new Promise((resolve, reject) => {
  server.stdout.once("data", (text) => resolve(parseInt(text, 10)));
  server.once("error", reject);
});

const look = tool(async ({ at }) => `the ${at} is open`, {
  name: "look",
  description: "look at something",
  schema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
});
const model = new ChatOpenAI({
  model: "scripted",
  apiKey: "none",
  streaming: true,
  configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
}).bindTools([look]);

const agent = async (state) => {
  const said = [];
  for (let i = 0; i < 50; i++) {
    const reply = await model.invoke([...state.messages, ...said]);
    said.push(reply);
    if (!reply.tool_calls?.length) break;
    for (const call of reply.tool_calls) {
      said.push(new ToolMessage({ content: await look.invoke(call.args), tool_call_id: call.id }));
    }
  }
  return { messages: said };
};
const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", agent)
  .addEdge(START, "agent")
  .addEdge("agent", END)
  .compile({ checkpointer: new MemorySaver() });

const turn = async (n) => {
  let last;
  const stream = await graph.stream(
    { messages: [new HumanMessage("is the door open?")] },
    { configurable: { thread_id: `t${n}` }, streamMode: ["messages", "updates"] },
  );
  for await (const [mode, chunk] of stream) if (mode === "updates") last = chunk;
  const text = last.agent.messages.at(-1).content;
  if (!text.startsWith("The door is open")) throw new Error(`ended with ${text}`);
};
for (let n = 0; n < WARM; n++) await turn(`warm${n}`);
const from = process.hrtime.bigint();
const cpu = process.cpuUsage();
for (let n = 0; n < TURNS; n++) await turn(n);
const wall_ms = Number(process.hrtime.bigint() - from) / 1e6;
const used = process.cpuUsage(cpu);
server.kill();
const say = (key, value) => console.log(JSON.stringify({ peer: "langgraph-agent", key, value, unit: "ms" }));
say("turn", wall_ms / TURNS);
say("cpu", (used.user + used.system) / 1e3 / TURNS);
