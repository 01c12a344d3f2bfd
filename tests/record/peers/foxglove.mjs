// Sees the robot of `pons serve` with npm's @foxglove/ws-protocol, the client that Foxglove's own program had:
//     foxglove.mjs HOST:PORT TOKEN
// Every message of a foxglove.* schema is held against the schema that Foxglove publishes (@foxglove/schemas, by ajv),
// every other one against what the server says of it (where null is what is not known). Then a goal is published, as the tool for a goal does, and the
// robot has to go there. One line a check; 1: one failed.
import Ajv from "ajv";
import foxglove from "@foxglove/ws-protocol";
import published from "@foxglove/schemas/jsonschema.js";
import WebSocket from "ws";

const [host, token] = process.argv.slice(2);
const goal = { x: 1.0, y: 1.2 };
const ajv = new Ajv({ strict: false, validateFormats: false });
const theirs = new Map(Object.values(published).map((s) => [s.title, s]));
const client = new foxglove.FoxgloveClient({
  ws: new WebSocket(`ws://${host}/foxglove?token=${token}`, [foxglove.FoxgloveClient.SUPPORTED_SUBPROTOCOL]),
});
const topics = new Map(), seen = new Map(), faults = new Set(), said = [];
let failed = false, last, info;

const check = (what, ok, more = "") => {
  console.log(`${ok ? "ok   " : "FAIL "} ${what}${more ? `: ${more}` : ""}`);
  failed ||= !ok;
};
const until = async (what, test) => {
  for (let i = 0; i < 600; i++) {
    if (test()) return check(what, true);
    await new Promise((go) => setTimeout(go, 100));
  }
  check(what, false, JSON.stringify({ last, seen: Object.fromEntries(seen), said }));
};

client.on("error", (e) => said.push(e.message));
client.on("status", (s) => said.push(s.message));
client.on("serverInfo", (i) => (info = i));
client.on("advertise", (channels) => {
  for (const c of channels) {
    const name = c.schemaName.replace("foxglove.", "");
    const of = c.schemaName.startsWith("foxglove.") ? theirs.get(c.schemaName) ?? theirs.get(name) : JSON.parse(c.schema);
    if (!of) faults.add(`${c.topic}: Foxglove has no schema ${c.schemaName}`);
    else topics.set(client.subscribe(c.id), { ...c, valid: ajv.compile({ ...of, $schema: undefined, $id: undefined }) });
  }
});
client.on("message", ({ subscriptionId, timestamp, data }) => {
  const c = topics.get(subscriptionId), message = JSON.parse(new TextDecoder().decode(data), (k, v) => (v === null ? undefined : v));
  seen.set(c.topic, (seen.get(c.topic) ?? 0) + 1);
  if (!c.valid(message)) faults.add(`${c.topic}: ${ajv.errorsText(c.valid.errors)}`);
  if (Math.abs(Number(timestamp) / 1e6 - Date.now()) > 60000) faults.add(`${c.topic}: its time is ${timestamp}`);
  if (c.topic === "/pose") last = message.pose.position;
});

const wanted = ["/tf", "/pose", "/scan", "/path", "/obstacles", "/zones", "/map", "/body/telemetry"];
await until("every topic has come", () => wanted.every((t) => seen.has(t)));
check("a person may publish", info?.capabilities.includes("clientPublish"));
const channel = client.advertise({ topic: "/goal_pose", encoding: "json", schemaName: "geometry_msgs/PoseStamped" });
const pose = { position: { ...goal, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } };
client.sendMessage(channel, new TextEncoder().encode(JSON.stringify({ header: { frame_id: "map" }, pose })));
await until("a published goal is driven to", () => last && Math.hypot(last.x - goal.x, last.y - goal.y) < 0.3);
await until("its events have come", () => seen.get("/events") > 2 && seen.get("/log") > 2);
check(`${[...seen.values()].reduce((a, b) => a + b, 0)} messages are valid by their schemas`, faults.size === 0, [...faults].slice(0, 5).join("; "));
client.close();
process.exit(failed ? 1 : 0);
