// talk.mjs PONS URL WORK LINES - a chat of as many turns as LINES has lines with a real model, by the agent's
// own lines in and events out: the next is said when a turn is over, and what is asked is refused. Whatever
// the model makes of it, every turn ends, nothing dangerous runs, and the session is left by its person alone.
import fs from "node:fs";
import readline from "node:readline";
import { spawn } from "node:child_process";

const [pons, url, work, lines] = process.argv.slice(2);
const words = fs.readFileSync(lines, "utf8").split("\n").filter(Boolean);
// Such a model calls the same thing for ever: so many calls a turn, and then the turn has failed in good order.
fs.mkdirSync(`${work}/talk/config`, { recursive: true });
fs.writeFileSync(`${work}/talk/config/graph_config.yaml`, "graph: {nodes: {agent: {max_iterations: 4}}, settings: {model_calls: 6}}\n");
const agent = spawn(pons, ["agent", "--json", "--workspace", `${work}/talk`, "--llm", url],
    { cwd: work, stdio: ["pipe", "pipe", fs.openSync(`${work}/talk.err`, "w")] });
const seen = {}, ends = [], ran = [], asked = new Set(), refused = new Set(), begun = {};
let at = 0, prompt = 0, failed = 0;

// Of one tool some calls are asked about, and others are harmless.
const call = (e) => `${e.tool} ${JSON.stringify(e.input)}`;

function say(text) {
    agent.stdin.write(text + "\n");
}

function next() {
    if (at === words.length) {
        agent.stdin.end();
    } else {
        say(words[at++]);
    }
}

readline.createInterface({ input: agent.stdout }).on("line", (line) => {
    const e = JSON.parse(line);
    seen[e.type] = (seen[e.type] ?? 0) + 1;
    if (e.type === "done") {
        ends.push(e.status);
        next();
    } else if (e.type.endsWith("approval_request")) {
        asked.add(e.tool ?? "plan");
        refused.add(call(e));
        say("n not now");
    } else if (e.type === "tool_start") {
        (begun[e.tool] ??= []).push(call(e));
    } else if (e.type === "tool_end") {
        const what = begun[e.tool]?.shift();
        if (refused.has(what) && !/^(error: )?a person (has )?refused/.test(e.output)) {
            ran.push(`${what}: ${e.output}`);
        }
    } else if (e.type === "llm_end") {
        prompt = Math.max(prompt, e.tokens?.prompt ?? 0);
    }
});

function must(holds, what) {
    console.log(`${holds ? "ok  " : "FAIL"}  talk: ${what}`);
    failed += !holds;
}

agent.on("exit", (status, signal) => {
    const many = ["success", "failed", "stopped"].map((s) => `${ends.filter((e) => e === s).length} ${s}`);
    must(ends.length === words.length, `every turn ends (${ends.length} of ${words.length}: ${many.join(", ")})`);
    must(at === words.length && signal === null && (status === 0 || status === 1),
        `the session is left by its person alone (status ${status ?? signal})`);
    must(ran.length === 0, `what a person refuses does not run (${ran.join("; ").slice(0, 200) || "nothing of it did"})`);
    console.log(`      ${seen.llm_end ?? 0} answers, ${seen.tool_start ?? 0} tools, ` +
        `${seen.plan_created ?? 0} plans, asked about ${[...asked].join(" ") || "nothing"}; a request has ${prompt} tokens at most`);
    process.exit(failed ? 1 : 0);
});
next();
