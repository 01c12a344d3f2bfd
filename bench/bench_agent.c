// bench_agent.c - what a turn of the planning agent costs, beside LangGraph JS with the same
// server.
//
// A turn: the user's words, a model call that asks for a tool, the tool, a model call that answers.
// The model is tests/llm/scripted_model on the loopback, reached through the module llm-openai; the
// tool answers at once; every step is committed to SQLite before it is shown (the peer keeps its
// checkpoints in memory). Figures: agent.turn, wall time with the server's part in it; agent.cpu,
// processor time of this process, all its threads.
#include "bench.h"
#include "pons/agent.h"
#include "pons/module.h"

#include <poll.h>

#define TURNS 200
#define WARM  40

typedef struct tool_job {
    uint64_t call;
    bool there;
} tool_job;

static int tool_list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret =
        json_pack("[{ss ss ss ss sb s{ss s{s{ss}} s[s]}}]", "name", "look", "category", "core",
                  "description", "look at something", "risk", "safe", "read_only", 1, "parameters",
                  "type", "object", "properties", "at", "type", "string", "required", "at");
    return PONS_OK;
}

static int tool_start(void *self, uint64_t call, const char *tool, const pons_value *args,
                      const char *key, pons_error *err)
{
    (void)tool;
    (void)args;
    (void)key;
    (void)err;
    *(tool_job *)self = (tool_job){call, true};
    return PONS_OK;
}

static bool tool_next(void *self, pons_tool_event *ret)
{
    tool_job *j = self;
    if (!j->there) {
        return false;
    }
    j->there = false;
    *ret = (pons_tool_event){.call = j->call,
                             .kind = PONS_TOOL_DONE,
                             .value = pons_object("output", json_string("the door is open"), NULL)};
    return true;
}

static void tool_cancel(void *self, uint64_t call)
{
    (void)call;
    ((tool_job *)self)->there = false;
}

static void tool_close(void *self)
{
    (void)self;
}

static int tool_fd(void *self)
{
    (void)self;
    return -1;
}

static const pons_tools_ops tool_ops = {.abi = PONS_TOOL_ABI,
                                        .name = "bench",
                                        .close = tool_close,
                                        .list = tool_list,
                                        .start = tool_start,
                                        .cancel = tool_cancel,
                                        .event_fd = tool_fd,
                                        .next = tool_next};

// The server's process, and its port.
static pid_t start_server(int *ret_port)
{
    char program[4096], text[32] = "";
    int out[2];
    snprintf(program, sizeof program, "%s/../tests/scripted_model", pons_exe_dir());
    if (pipe(out) != 0) {
        exit(1);
    }
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        execl(program, "scripted_model", "bench/peers/langgraph-agent/script.json", (char *)NULL);
        fprintf(stderr, "bench: cannot start %s\n", program);
        _exit(127);
    }
    close(out[1]);
    if (read(out[0], text, sizeof text - 1) <= 0) {
        fprintf(stderr, "bench: the model server did not start\n");
        exit(1);
    }
    close(out[0]);
    *ret_port = atoi(text);
    return pid;
}

static void turn(pons_store store, const pons_clock *clock, const pons_llm *llm,
                 const pons_tools *tools, int n)
{
    char thread[32];
    pons_error err = PONS_ERROR_INIT;
    pons_agent *a = NULL;
    snprintf(thread, sizeof thread, "t%d", n);
    const pons_agent_options opts = {.store = store,
                                     .thread = thread,
                                     .clock = *clock,
                                     .llm = llm,
                                     .model = "scripted",
                                     .tools = tools,
                                     .n_tools = 1};
    bench_must(pons_agent_open(&opts, &a, &err), &err);
    bench_must(pons_agent_say(a, "is the door open?", &err), &err);
    while (pons_agent_state_get(a) != PONS_AGENT_IDLE) {
        struct pollfd fds[4];
        const int did = pons_agent_poll(a, &err);
        bench_must(did, &err);
        if (did || pons_agent_state_get(a) == PONS_AGENT_IDLE) {
            continue;
        }
        const size_t k = pons_agent_fds(a, fds, 4);
        int64_t wait_ms = (pons_agent_next_due_ns(a) - pons_now_ns(clock)) / PONS_NS_PER_MS;
        poll(fds, k, (int)(wait_ms < 0 ? 0 : wait_ms > 1000 ? 1000 : wait_ms));
    }
    if (pons_agent_outcome_get(a) != PONS_AGENT_SUCCEEDED) {
        fprintf(stderr, "bench: a turn failed\n");
        exit(1);
    }
    pons_agent_close(a);
}

int main(int argc, char **argv)
{
    if (!bench_wants(argc, argv, "agent.turn") && !bench_wants(argc, argv, "agent.cpu")) {
        return 0;
    }
    char dir[256], path[300], url[64];
    const pons_clock clock = pons_clock_real();
    pons_error err = PONS_ERROR_INIT;
    pons_store store = {0};
    pons_llm llm = {0};
    const void *ops = NULL;
    tool_job job = {0};
    const pons_tools tools = {&tool_ops, &job};
    int port = 0;
    pons_value_init();
    bench_folder(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/pons.db", dir);
    bench_must(pons_store_open(path, &store, &err), &err);
    const pid_t server = start_server(&port);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", port);
    bench_must(pons_module_load("llm", "openai", &ops, &err), &err);
    llm.ops = ops;
    pons_autovalue config =
        pons_object("url", json_string(url), "model", json_string("scripted"), NULL);
    bench_must(llm.ops->open(config, &clock, &llm.self, &err), &err);
    for (int n = 0; n < WARM; n++) {
        turn(store, &clock, &llm, &tools, n);
    }
    const double from_s = bench_now_s(), cpu_s = bench_cpu_s();
    for (int n = 0; n < TURNS; n++) {
        turn(store, &clock, &llm, &tools, WARM + n);
    }
    bench_print("agent.turn", (bench_now_s() - from_s) * 1e3 / TURNS, "ms");
    bench_print("agent.cpu", (bench_cpu_s() - cpu_s) * 1e3 / TURNS, "ms");
    llm.ops->close(llm.self);
    pons_store_close(&store);
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    bench_remove(dir);
    return 0;
}
