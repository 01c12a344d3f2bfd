// master.mjs - `pons vda5050` under a master that nobody here wrote: vda-5050-lib (npm), over Debian's mosquitto.
//
//     ./dev test --vda5050
//     PONS_VDA5050_SCHEMAS=DIR: each message of the vehicle is also held against VDA 5050's published schemas of 2.1
//     (json_schemas/ of github.com/VDA5050/VDA5050 at the tag 2.1.0), by Ajv.
//
// The library takes messages of version 2.0.0 alone, and checks them by that version's schemas: so the vehicle is
// told to say 2.0.0. What it says is else the same.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [modules] = process.argv.slice(2);
const need = createRequire(join(modules, "x.js"));
const { MasterController, BlockingType } = need("vda-5050-lib");
const mqtt = need("mqtt");
const Ajv = need("ajv/dist/2020").default;
const formats = need("ajv-formats").default;

const LIMIT_MS = 120000;
const dir = mkdtempSync(join(tmpdir(), "pons-vda5050-"));
const children = [];
const faults = [];
const counts = {};
const newest = {};

const freePort = () =>
    new Promise((done) => {
        const s = createServer().listen(0, "127.0.0.1", () => {
            const { port } = s.address();
            s.close(() => done(port));
        });
    });

function start(program, args, log) {
    const p = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
    p.stderr.on("data", (d) => (log.text += d));
    p.ended = new Promise((done) => p.on("exit", done));
    children.push(p);
    return p;
}

async function until(what, is) {
    const end = Date.now() + LIMIT_MS;
    while (!is()) {
        assert(Date.now() < end, `waited for ${what}; the last state: ${JSON.stringify(newest.state)}`);
        await new Promise((done) => setTimeout(done, 50));
    }
}

function checkers() {
    const from = process.env.PONS_VDA5050_SCHEMAS;
    if (!from) return null;
    const checks = {};
    for (const name of ["state", "connection", "factsheet", "visualization"]) {
        const ajv = new Ajv({ strict: false, allErrors: true });
        formats(ajv);
        checks[name] = ajv.compile(JSON.parse(readFileSync(join(from, `${name}.schema`), "utf8")));
    }
    return checks;
}

const node = (nodeId, sequenceId, x, y, actions = [], released = true) => ({
    nodeId, sequenceId, released, actions, nodePosition: { x, y, mapId: "house" },
});
const edge = (edgeId, sequenceId, startNodeId, endNodeId, released = true) => ({
    edgeId, sequenceId, startNodeId, endNodeId, released, actions: [],
});
const speak = (actionId, text) => ({
    actionId, actionType: "speak", blockingType: BlockingType.Hard, actionParameters: [{ key: "text", value: text }],
});

async function main() {
    const port = await freePort();
    const log = { text: "" };
    writeFileSync(join(dir, "mosquitto.conf"), `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
    start("mosquitto", ["-c", join(dir, "mosquitto.conf")], { text: "" });
    const brokerUrl = `mqtt://127.0.0.1:${port}`;
    const checks = checkers();
    const ear = mqtt.connect(brokerUrl, { reconnectPeriod: 100 });
    ear.on("connect", () => ear.subscribe("uagv/#"));
    ear.on("message", (topic, bytes) => {
        const name = topic.split("/").at(-1);
        const message = JSON.parse(bytes.toString());
        counts[name] = (counts[name] ?? 0) + 1;
        newest[name] = message;
        const check = checks?.[name]; // version is a text to the schemas
        if (check && !check(message)) faults.push({ name, errors: check.errors, message });
    });
    mkdirSync(join(dir, "work", "config"), { recursive: true, mode: 0o700 });
    const config = readFileSync(join(process.env.PONS_SHARE, "config/vda5050.yaml"), "utf8");
    writeFileSync(join(dir, "work", "config", "vda5050.yaml"), config.replace("version: 2.1.0", "version: 2.0.0"), { mode: 0o600 });
    const robot = start(process.env.PONS_PROGRAM, ["--workspace", join(dir, "work"), "vda5050", "--broker", brokerUrl,
        "--driver", "kinematic", "--seed", "3", "--speed", "5"], log);
    const master = new MasterController(
        { interfaceName: "uagv", transport: { brokerUrl }, vdaVersion: "2.0.0" }, {});
    await master.start();
    const agv = { manufacturer: "pons", serialNumber: "pons-1" };
    await until("ONLINE", () => newest.connection?.connectionState === "ONLINE");
    await until("a place", () => newest.state?.agvPosition?.positionInitialized);

    // An order, and more of it while it is driven.
    const first = {
        orderId: "first", orderUpdateId: 0,
        nodes: [node("start", 0, 2.0, 1.6), node("room", 2, 2.2, 2.7, [speak("hello", "hello")]),
            node("kitchen", 4, 6.7, 6.4, [], false)],
        edges: [edge("e1", 1, "start", "room"), edge("e2", 3, "room", "kitchen", false)],
    };
    const more = {
        orderId: "first", orderUpdateId: 1,
        nodes: [node("room", 2, 2.2, 2.7, [speak("hello", "hello")]), node("kitchen", 4, 6.7, 6.4, [speak("bye", "bye")])],
        edges: [edge("e2", 3, "room", "kitchen")],
    };
    const traversed = [];
    const actions = {};
    const processed = [];
    const handler = {
        onOrderProcessed: (error, cancelled, active) => processed.push({ error: error?.errorType, cancelled, active }),
        onNodeTraversed: (n) => traversed.push(n.nodeId),
        onActionStateChanged: (s) => (actions[s.actionId] = s.actionStatus),
    };
    await master.assignOrder(agv, first, handler);
    await until("the room", () => traversed.includes("room") && actions.hello === "FINISHED");
    await master.assignOrder(agv, more, handler);
    await until("the end of the order", () => processed.some((p) => !p.active && !p.error));
    assert.deepEqual(traversed.filter((n, i) => traversed.indexOf(n) === i), ["start", "room", "kitchen"]);
    assert.equal(actions.bye, "FINISHED");
    console.log("  ok  an order and its update, by vda-5050-lib's controller");

    // One that the vehicle cannot do.
    const refused = [];
    await master.assignOrder(agv, {
        orderId: "fly", orderUpdateId: 0, edges: [],
        nodes: [node("kitchen", 0, 6.7, 6.4, [{ actionId: "f", actionType: "fly", blockingType: BlockingType.Hard }])],
    }, { onOrderProcessed: (error) => refused.push(error?.errorType) });
    await until("a refusal", () => refused.length > 0);
    assert.equal(refused[0], "orderError");
    console.log("  ok  an order that is refused");

    // One that is cancelled on its way.
    const ended = [];
    await master.assignOrder(agv, {
        orderId: "back", orderUpdateId: 0,
        nodes: [node("kitchen", 0, 6.7, 6.4), node("bedroom", 2, 3.2, 6.5)], edges: [edge("e3", 1, "kitchen", "bedroom")],
    }, { onOrderProcessed: (error, cancelled, active) => ended.push({ error: error?.errorType, cancelled, active }) });
    await until("driving", () => newest.state.orderId === "back" && newest.state.driving);
    const instant = [];
    await master.initiateInstantActions(agv, {
        instantActions: [{ actionId: "c1", actionType: "cancelOrder", blockingType: BlockingType.Hard, actionParameters: [] }],
    }, { onActionStateChanged: (s) => instant.push(s.actionStatus), onActionError: (e) => instant.push(e.errorType) });
    await until("the cancel", () => instant.includes("FINISHED"));
    await until("its end", () => newest.state.actionStates.some((a) => a.actionId === "c1" && a.actionStatus === "FINISHED"));
    assert(!ended.some((p) => p.error));
    assert.equal(newest.state.nodeStates.length, 0);
    console.log("  ok  an order that is cancelled");

    robot.kill("SIGTERM");
    await until("OFFLINE", () => newest.connection.connectionState === "OFFLINE");
    assert.equal(await robot.ended, 0, log.text);
    await master.stop();
    ear.end(true);
    if (checks) {
        for (const f of faults.slice(0, 3)) console.error(JSON.stringify(f, null, 1));
        assert.equal(faults.length, 0, `${faults.length} messages are not of the published schemas`);
        console.log(`  ok  by the published schemas of 2.1: ${JSON.stringify(counts)}`);
    } else {
        console.log("  --  PONS_VDA5050_SCHEMAS is not set: messages were not held against the published schemas of 2.1");
    }
}

let status = 0;
try {
    await main();
} catch (e) {
    console.error(e);
    status = 1;
} finally {
    for (const p of children) p.kill("SIGTERM");
    await Promise.all(children.map((p) => p.ended));
    try {
        const pid = JSON.parse(readFileSync(join(dir, "work/run/body.json"), "utf8")).pid;
        process.kill(pid, "SIGKILL"); // a body that a run which failed has left
    } catch { /* it has ended */ }
    rmSync(dir, { recursive: true, force: true });
}
process.exit(status);
