// serve.mjs MODEL.gguf - a real small model behind an OpenAI-compatible endpoint on 127.0.0.1, by
// llama.cpp through node-llama-cpp. Prints its port. One request at a time, as llama-server with one
// slot: the others wait.
//
// A json_schema becomes a grammar, so the answer has its form by construction; a schema that the
// grammar's maker does not take is refused with 400, as servers do. Tools become one choice of the
// grammar: {"tool": NAME, "arguments": {…}} or {"say": TEXT}. What is generated streams as it comes.
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";

const here = pathToFileURL(path.join(process.cwd(), "x.js"));
const { getLlama, LlamaChat, ChatMLChatWrapper } =
    await import(import.meta.resolve ? import.meta.resolve("node-llama-cpp", here) : "node-llama-cpp");

const CONTEXT_TOKENS = 8192;
// Threads that wait for each other by spinning are slow where others work too: one is quick enough.
const THREADS = Number(process.env.PONS_REAL_MODEL_THREADS ?? 1);
const ANSWER_TOKENS = 400; // a small model's grammar-bound answer that is longer is a loop

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error", progressLogs: false,
    maxThreads: THREADS });
const model = await llama.loadModel({ modelPath: process.argv[2], useMmap: true });
const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: THREADS });
const sequence = context.getSequence();
const chat = new LlamaChat({ contextSequence: sequence, chatWrapper: new ChatMLChatWrapper() });
let last = Promise.resolve();

function historyOf(messages) {
    const history = [];
    for (const m of messages) {
        const text = typeof m.content === "string" ? m.content : "";
        if (m.role === "system") {
            history.push({ type: "system", text });
        } else if (m.role === "assistant") {
            const calls = (m.tool_calls ?? []).map((c) =>
                JSON.stringify({ tool: c.function.name, arguments: JSON.parse(c.function.arguments) }));
            history.push({ type: "model", response: [[text, ...calls].filter(Boolean).join("\n")] });
        } else {
            history.push({ type: "user", text: m.role === "tool" ? `Result: ${text}` : text });
        }
    }
    return history;
}

async function grammarOf(q) {
    if (q.tools?.length) {
        const calls = q.tools.map((t) => ({
            type: "object",
            properties: {
                tool: { const: t.function.name },
                arguments: { type: "object", properties: t.function.parameters.properties ?? {} },
            },
        }));
        const say = { type: "object", properties: { say: { type: "string", maxLength: 200 } } };
        return llama.createGrammarForJsonSchema({ oneOf: q.tool_choice === "required" ? calls : [...calls, say] });
    }
    const form = q.response_format?.type;
    if (form === "json_schema") {
        return llama.createGrammarForJsonSchema(q.response_format.json_schema.schema);
    }
    return form === "json_object" ? llama.getGrammarFor("json") : undefined;
}

async function generate(q, grammar, onText, signal) {
    const history = historyOf(q.messages);
    if (q.tools?.length) {
        history.unshift({ type: "system", text: "You can call: " + q.tools.map((t) =>
            `${t.function.name} (${t.function.description ?? ""})`).join("; ") });
    }
    history.push({ type: "model", response: [] });
    let tokens = 0;
    const answer = await chat.generateResponse(history, {
        grammar, signal, stopOnAbortSignal: true,
        maxTokens: Math.min(q.max_tokens ?? q.max_completion_tokens ?? ANSWER_TOKENS, ANSWER_TOKENS),
        temperature: q.temperature ?? 0,
        onTextChunk: onText,
        onToken: (t) => { tokens += t.length; },
    });
    return { text: answer.response, why: answer.metadata.stopReason === "maxTokens" ? "length" : "stop", tokens };
}

// The end of an answer with tools: what was generated becomes a call, or words.
function toolDelta(text) {
    const said = JSON.parse(text);
    if (said.tool === undefined) {
        return [{ content: said.say }, "stop"];
    }
    const id = "call_" + Math.random().toString(16).slice(2, 10);
    return [{ tool_calls: [{ index: 0, id, type: "function",
        function: { name: said.tool, arguments: JSON.stringify(said.arguments ?? {}) } }] }, "tool_calls"];
}

async function answer(q, res) {
    let grammar;
    try {
        grammar = await grammarOf(q);
    } catch (e) {
        res.writeHead(400, { "Content-Type": "application/json" });
        res.end(JSON.stringify({ error: { message: `json_schema: ${e.message}` } }));
        return;
    }
    const abort = new AbortController();
    res.on("close", () => abort.abort());
    const send = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({
        object: "chat.completion.chunk", model: "smollm2", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    send({ role: "assistant", content: "" });
    const tools = q.tools?.length > 0;
    const made = await generate(q, grammar, (text) => { if (!tools) send({ content: text }); }, abort.signal);
    const [delta, why] = tools && made.why === "stop" ? toolDelta(made.text) : [{}, made.why];
    send(delta, why);
    const usage = { prompt_tokens: sequence.nextTokenIndex, completion_tokens: made.tokens };
    res.write(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    res.end();
}

const server = http.createServer((req, res) => {
    let body = "";
    req.on("data", (d) => { body += d; });
    req.on("end", () => {
        if (req.method === "GET") { // what there is, as llama.cpp's own server says it
            res.writeHead(200, { "Content-Type": "application/json" });
            res.end(JSON.stringify({ object: "list", data: [{ id: "smollm2", object: "model",
                meta: { n_ctx: context.contextSize } }] }));
            return;
        }
        const turn = last.then(() => res.destroyed || answer(JSON.parse(body), res)).catch((e) => {
            console.error(e.message);
            res.destroy();
        });
        last = turn;
    });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
