// goals.mjs PONS URL DIR [FILTER] - thirty goals in two languages: each by the rules, and again, from the
// same start, with a model, in a house of its own. A row for each: who decided, what was refused, how
// far it drove. A person stands by and says yes to whatever is asked.
//
// What must hold: every task succeeds, whoever gets it done; nothing that the model wanted is refused
// by the guard or by the body; and in sum a model costs at most three times the rules' decisions and
// metres.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const [pons, url, dir, filter = "."] = process.argv.slice(2);
const YES_MAX = 6, COST_MAX = 3;
const GOALS = [
    "go to the kitchen", "go to the bedroom", "go to the study", "go to the corridor", "go to the living room",
    "go to 1.5 2.0", "go to 7.5 2.4", "turn around", "turn left", "go forward 0.5 m", "back up 0.3 m",
    "where are you", "wait 3 seconds", "say hello", "charge", "patrol the kitchen and the bedroom",
    "go to the kitchen and then the study", "go to the study and come back", "去厨房", "去卧室", "去书房", "去走廊",
    "去充电", "等三秒", "说你好", "你在哪里", "掉头", "前进零点三米", "巡逻厨房和书房", "去卧室然后去厨房",
];

function events(args, workspace) {
    const done = spawnSync(pons, [...args, "--json", "--workspace", workspace], { encoding: "utf8",
        timeout: 1200e3, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
    return [done.status, done.stdout.split("\n").filter(Boolean).map((l) => JSON.parse(l))];
}

// One goal from its start to its end, with a person who says yes.
function play(name, goal, decider, speed) {
    const workspace = path.join(dir, name), began = Date.now();
    const common = ["--llm", decider];
    let [status, all] = events(["run", goal, "--driver", "kinematic", "--speed", String(speed), "--seed", "1",
        "--thread", "t", ...common], workspace);
    let asked = 0;
    for (; status === 4 && asked < YES_MAX; asked++) {
        spawnSync(pons, ["approve", "t", "approve", "--workspace", workspace]);
        const [next, more] = events(["resume", "t", ...common], workspace);
        status = next;
        all = all.concat(more);
    }
    spawnSync(pons, ["stop", "--workspace", workspace]);
    fs.rmSync(workspace, { recursive: true, force: true });
    const of = (type) => all.filter((e) => e.type === type);
    const by = (source) => of("decision").filter((d) => d.source === source).length;
    const ends = of("run.done");
    return { status: ends.at(-1)?.status ?? `status ${status}`, asked, llm: by("llm"),
        rules: by("rule_engine"), ladder: by("ladder"), guard: by("guard"),
        decisions: of("decision").length,
        refused: of("guard.refused").length + of("effect").filter((e) => e.state === "refused").length,
        metres: ends.reduce((most, e) => Math.max(most, e.distance_m), 0), s: (Date.now() - began) / 1e3,
        wanted: of("decision").filter((d) => d.source === "llm").map((d) => d.decision.ops?.length
            ? d.decision.ops.map((o) => `${o.skill ?? o.op} ${JSON.stringify(o.args ?? {})}`).join("+")
            : d.decision.type) };
}

const pad = (v, n) => String(v).padStart(n);
console.log(`${"goal".padEnd(38)} rules: n      m  model: n  llm rules ask      m refused  ended       s`);
const sum = { rules: [0, 0], model: [0, 0], refused: 0, alone: 0, failed: [] };
const goals = GOALS.filter((g) => new RegExp(filter).test(g));
for (const [i, goal] of goals.entries()) {
    const base = play(`r${i}`, goal, "rules", 20), with_model = play(`m${i}`, goal, url, 5);
    const wide = [...goal].filter((c) => c.codePointAt(0) > 0x2e80).length;
    console.log(goal + " ".repeat(Math.max(1, 38 - goal.length - wide)) + `${pad(base.decisions, 8)} ${pad(base.metres.toFixed(2), 6)} ` +
        `${pad(with_model.decisions, 9)} ${pad(with_model.llm, 4)} ${pad(with_model.rules, 5)} ${pad(with_model.asked, 3)} ` +
        `${pad(with_model.metres.toFixed(2), 6)} ${pad(with_model.refused, 7)}  ${with_model.status.padEnd(9)} ${pad(with_model.s.toFixed(0), 4)}` +
        (process.env.PONS_REAL_MODEL_SAYS ? `  ${with_model.wanted.join(" ")}` : ""));
    sum.rules[0] += base.decisions;
    sum.rules[1] += base.metres;
    sum.model[0] += with_model.decisions;
    sum.model[1] += with_model.metres;
    sum.refused += with_model.refused;
    sum.alone += with_model.status === "succeeded" && with_model.rules === 0 && with_model.asked === 0;
    if (with_model.status !== "succeeded" || base.status !== "succeeded") {
        sum.failed.push(goal);
    }
}
const ratio = (k) => sum.model[k] / Math.max(sum.rules[k], 1e-9);
let failed = 0;
function must(holds, what) {
    console.log(`${holds ? "ok  " : "FAIL"}  goals: ${what}`);
    failed += !holds;
}
must(sum.failed.length === 0, `all ${goals.length} are done${sum.failed.length ? `, but for: ${sum.failed.join("; ")}` : ""}; ` +
    `${sum.alone} of them by the model alone`);
must(sum.refused === 0, `nothing that it wanted was refused (${sum.refused})`);
must(ratio(0) <= COST_MAX, `${sum.model[0]} decisions, the rules alone ${sum.rules[0]}: ${ratio(0).toFixed(2)} times`);
must(ratio(1) <= COST_MAX, `${sum.model[1].toFixed(1)} m, the rules alone ${sum.rules[1].toFixed(1)} m: ${ratio(1).toFixed(2)} times`);
process.exit(failed ? 1 : 0);
