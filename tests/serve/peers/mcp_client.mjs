// The official client of the Model Context Protocol (npm) with a server: URL TOKEN NAME. Lists tools,
// asks the world, has its person asked and answers, loses its connection in the middle of a call and
// gets the answer all the same. Says "ok" at the end.
import assert from "node:assert";
import { createRequire } from "node:module";
import path from "node:path";

const need = createRequire(path.join(process.env.PONS_SERVE_PEERS, "x.js"));
const load = (name) => import(need.resolve(name));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ElicitRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");

const [url, token, name] = process.argv.slice(2);
let cut = false;
// A connection that breaks after so many bytes of a stream of events.
const breaking = async (input, init) => {
    const reply = await fetch(input, init);
    const type = reply.headers.get("content-type") ?? "";
    if (!cut || init?.method !== "POST" || !type.includes("event-stream")) return reply;
    cut = false;
    const reader = reply.body.getReader();
    const body = new ReadableStream({
        async start(c) {
            const { value } = await reader.read(); // the first event, and no more
            c.enqueue(value);
            await reader.cancel();
            c.close();
        },
    });
    return new Response(body, { status: reply.status, headers: reply.headers });
};

const client = new Client({ name, version: "1" }, { capabilities: { elicitation: {} } });
let asked = 0;
client.setRequestHandler(ElicitRequestSchema, async (request) => {
    asked++;
    assert.match(request.params.message, /May terminal run/);
    return asked === 1 ? { action: "decline" } : { action: "accept", content: { allow: true } };
});
const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    fetch: breaking,
    reconnectionOptions: { initialReconnectionDelay: 50, maxReconnectionDelay: 1000, reconnectionDelayGrowFactor: 1.5, maxRetries: 10 },
});
await client.connect(transport);
assert.ok(transport.sessionId);
const { tools } = await client.listTools();
const names = tools.map((t) => t.name);
for (const want of ["query_world", "robot_goal", "terminal", "list_dir"]) assert.ok(names.includes(want), want);
const ask = () => client.callTool({ name: "query_world", arguments: {} });
let world = await ask();
for (let i = 0; i < 600 && !JSON.stringify(world).includes("kitchen"); i++) {
    await new Promise((done) => setTimeout(done, 100)); // the body starts after the server
    world = await ask();
}
assert.ok(!world.isError && JSON.stringify(world).includes("kitchen"), JSON.stringify(world));
const where = await client.readResource({ uri: "pons://status" });
assert.ok(JSON.parse(where.contents[0].text).connected);

// A person's word, no and yes.
const rm = { name: "terminal", arguments: { command: `rm -rf ${name}-none` } };
const no = await client.callTool(rm);
assert.ok(no.isError && asked === 1, JSON.stringify(no));
const yes = await client.callTool(rm);
assert.ok(!yes.isError && asked === 2, JSON.stringify(yes));

// A call whose connection breaks after its first event: the answer comes by the one that follows.
cut = true;
const slow = await client.callTool({ name: "terminal", arguments: { command: "sleep 1; echo after" } });
assert.ok(!cut && JSON.stringify(slow).includes("after"), JSON.stringify(slow));

// The robot, by way of its brain.
const steps = [];
const goal = await client.callTool({ name: "robot_goal", arguments: { text: name === "one" ? "go to the kitchen" : "go to the bedroom" } },
    undefined, { onprogress: (p) => steps.push(p.message), timeout: 240000, resetTimeoutOnProgress: true });
assert.ok(!goal.isError && goal.structuredContent.status === "succeeded", JSON.stringify(goal));
assert.ok(steps.length > 0);

await transport.terminateSession();
await client.close();
console.log("ok");
