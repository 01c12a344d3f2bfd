// check.mjs brain|agent EVENTS STATUS - what must hold of a run with a real model, however badly it
// plans: tokens stream, every decision is one, nothing happens that was not allowed, and it ends.
import fs from "node:fs";

const [kind, file, status] = process.argv.slice(2);
const events = fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((l) => JSON.parse(l));
const of = (type) => events.filter((e) => e.type === type);
let failed = 0;
function must(holds, what) {
    console.log(`${holds ? "ok  " : "FAIL"}  ${kind}: ${what}`);
    failed += !holds;
}

if (kind === "brain") {
    const decisions = of("decision"), mine = decisions.filter((d) => d.source === "llm");
    const forms = ["CONTINUE", "REPLAN", "FINISH", "ABORT", "ASK_HUMAN"];
    must(of("token").length > 0, `tokens stream (${of("token").length})`);
    must(mine.length > 0, `the model decides (${mine.length} of ${decisions.length} decisions)`);
    must(decisions.every((d) => forms.includes(d.decision.type) && d.decision.reason), "every decision is one");
    const done = events.at(-1);
    // Decisions that lead nowhere end at a person, whom nobody answers here.
    must(done?.type === "run.done" || status === "4", `the run ends (${done?.status}, status ${status})`);
    must(["0", "1", "4"].includes(status), "with a status that says how");
    // Each effect goes its way: intended, sent once, ended; the guard's refusals are not among them.
    const ways = new Map();
    for (const e of of("effect")) {
        ways.set(e.goal_id, [...(ways.get(e.goal_id) ?? []), e.state]);
    }
    const legal = /^intended( dispatched( accepted)?)?( done| failed| canceled| refused| outcome_unknown)$/;
    must([...ways.values()].every((w) => legal.test(w.join(" "))), `every effect is legal and has ended (${ways.size})`);
    console.log(`      refused by the guard: ${of("guard.refused").length}; said: ` +
        mine.map((d) => `${d.decision.type} "${d.decision.reason}"`).join("; ").slice(0, 300));
} else {
    const asked = of("llm_start"), answered = of("llm_end"), risky = of("approval_request");
    const ran = of("tool_start").map((e) => e.tool);
    must(asked.length > 0 && answered.length > 0, `the model is asked and answers (${answered.length})`);
    must(answered.every((e) => e.tokens?.prompt > 0 && e.tokens.completion > 0), "what it used is counted");
    must(risky.every((e) => !ran.includes(e.tool)), `nothing dangerous ran unasked (${risky.map((e) => e.tool)})`);
    must(["done", "error", "approval_request", "plan_approval_request"].includes(events.at(-1)?.type),
        `the turn ends (${events.at(-1)?.type}, status ${status})`);
    must(["0", "1", "4"].includes(status), "with a status that says how");
    console.log(`      tools: ${ran.join(" ") || "none"}; said: ${JSON.stringify(of("token").map((e) => e.content).join("")).slice(0, 200)}`);
}
process.exit(failed ? 1 : 0);
