// bench_heart.c - the heartbeat of a brain whose store, or whose model, misbehaves (docs/internals/benchmarks.md).
//
//   brain.heart.well.*    the longest times between two heartbeats of a brain that drives a robot
//   brain.heart.store.*   the same while every fourth commit takes 0.4 s
//   brain.heart.model.*   the same while the model's client blocks the loop for 0.4 s at each question,
//                         and what comes then is 64 KB of nonsense
//
// A heartbeat comes every 100 ms, while the loop comes round within a second (two of these stalls may lie
// in one round); the body holds after 300 ms. Real time: the brain is this process's main
// thread, body and wire are another one's, which writes down when a heartbeat arrives.
#include "bench.h"
#include "bench_share.h"
#include "pons/body.h"
#include "pons/brain.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "pons/rule_policy.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#define SECONDS   12.0
#define STALL_S   0.4
#define STALLS    4 // every so many commits
#define GAPS_MAX  4096
#define NONSENSE  65536
#define ROUND_S   0.002
#define ALL_PARTS 3

typedef struct rig {
    char dir[256];
    pons_value *intents, *config, *house;
    pons_policy rules;
    pons_store store, inner;
    pons_store_ops ops;
    pons_llm_ops model;
    uint64_t call; // of the model, that is to be answered; 0: none
    long commits;
    bool stalls;
    pons_brain *brain;
    pons_link *wire; // the far end of the brain's link
    pons_body *body;
    pons_link *body_end;
    pthread_t thread;
    _Atomic bool over;
    double gap_ms[GAPS_MAX];
    size_t n;
} rig;

// ---- what misbehaves ----------------------------------------------------------------------------

static rig *live; // callbacks of the store have no place for a pointer of ours

static int slow_commit(void *self, const pons_commit *c, pons_error *err)
{
    if (live->stalls && ++live->commits % STALLS == 0) {
        bench_sleep_s(STALL_S);
    }
    return live->inner.ops->commit(self, c, err);
}

static int model_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    (void)request;
    (void)err;
    bench_sleep_s(STALL_S);
    ((rig *)self)->call = call;
    return PONS_OK;
}

static void model_cancel(void *self, uint64_t call)
{
    (void)call;
    ((rig *)self)->call = 0;
}

static int model_fd(void *self)
{
    (void)self;
    return -1;
}

static bool model_next(void *self, pons_llm_event *ret)
{
    static char text[NONSENSE];
    rig *r = self;
    if (r->call == 0) {
        return false;
    }
    memset(text, '{', sizeof text - 1);
    *ret = (pons_llm_event){.call = r->call, .kind = PONS_LLM_DONE};
    ret->value = pons_object("content", json_string(text), NULL);
    r->call = 0;
    return true;
}

// ---- body and wire ------------------------------------------------------------------------------

static void *be_the_body(void *arg)
{
    rig *r = arg;
    pons_error err = PONS_ERROR_INIT;
    pons_value *msg = NULL;
    double received = 0.0, stepped = bench_now_s();
    while (!atomic_load(&r->over)) {
        bench_sleep_s(ROUND_S);
        const double now = bench_now_s();
        while (pons_link_recv(r->wire, &msg, &err) == 1) {
            if (strcmp(pons_get_str(msg, "type", ""), "heartbeat") == 0) {
                if (received > 0.0 && r->n < GAPS_MAX) {
                    r->gap_ms[r->n++] = (now - received) * 1e3;
                }
                received = now;
            }
            pons_link_send(r->body_end, msg, &err);
        }
        bench_must(pons_body_step(r->body, (int64_t)((now - stepped) * 1e9), &err), &err);
        stepped = now;
        while (pons_link_recv(r->body_end, &msg, &err) == 1) {
            pons_link_send(r->wire, msg, &err);
        }
        pons_link_flush(r->wire, &err);
    }
    return NULL;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    rig *r = user;
    pons_link *theirs = NULL;
    int fds[2];
    if (r->wire) {
        return PONS_EAGAIN; // once is enough
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) {
        return pons_error_set(err, PONS_EIO, "bench", "no sockets");
    }
    bench_must(pons_link_pair(&r->body_end, &theirs, err), err);
    bench_must(pons_body_attach(r->body, theirs, err), err);
    *ret = pons_link_from_fd(fds[0]);
    r->wire = pons_link_from_fd(fds[1]);
    return pthread_create(&r->thread, NULL, be_the_body, r) == 0 ? PONS_OK : PONS_EIO;
}

// ---- the figures --------------------------------------------------------------------------------

static void open_rig(rig *r, bool with_model)
{
    char path[300], world[4096];
    pons_error err = PONS_ERROR_INIT;
    live = r;
    bench_folder(r->dir, sizeof r->dir);
    snprintf(path, sizeof path, "%s/pons.db", r->dir);
    bench_must(pons_store_sqlite_open(path, &r->inner, &err), &err);
    r->ops = *r->inner.ops;
    r->ops.commit = slow_commit;
    r->ops.close = NULL;
    r->store = (pons_store){.ops = &r->ops, .self = r->inner.self};
    r->intents = bench_share("config/intents.yaml");
    r->config = bench_share("config/kernel.yaml");
    bench_must(pons_rules_open(r->intents, &r->rules, &err), &err);
    bench_must(pons_share_path("worlds/house.yaml", world, sizeof world, &err), &err);
    bench_must(pons_world_load(world, &r->house, &err), &err);
    pons_body_options body = PONS_BODY_OPTIONS_INIT;
    body.robot = &pons_robot_kinematic;
    body.world = r->house;
    body.clock = pons_clock_real();
    body.seed = 1;
    bench_must(pons_body_create(&body, &r->body, &err), &err);
    r->model = (pons_llm_ops){.abi = PONS_LLM_ABI,
                              .name = "bad",
                              .start = model_start,
                              .cancel = model_cancel,
                              .event_fd = model_fd,
                              .next = model_next};
    const pons_llm llm = {.ops = &r->model, .self = r};
    const pons_brain_options opts = {.store = r->store,
                                     .thread = "bench",
                                     .clock = pons_clock_real(),
                                     .seed = 1,
                                     .config = r->config,
                                     .policy = r->rules,
                                     .llm = with_model ? &llm : NULL,
                                     .connect = connect_body,
                                     .user = r,
                                     .keep_running = true};
    bench_must(pons_brain_open(&opts, &r->brain, &err), &err);
}

static void close_rig(rig *r)
{
    atomic_store(&r->over, true);
    pthread_join(r->thread, NULL);
    pons_brain_close(r->brain);
    pons_link_close(r->wire);
    pons_link_close(r->body_end);
    pons_body_destroy(r->body);
    pons_rules_close(&r->rules);
    pons_store_close(&r->inner);
    pons_value_unref(r->house);
    pons_value_unref(r->intents);
    pons_value_unref(r->config);
    bench_remove(r->dir);
}

static void heart(const char *name, bool stalls, bool with_model)
{
    static const char *const goals[] = {"go to the kitchen", "go to the bedroom", "go to the study",
                                        "go to the living room", "wait 60 seconds"};
    static rig r;
    char line[64];
    pons_error err = PONS_ERROR_INIT;
    r = (rig){.stalls = false};
    open_rig(&r, with_model);
    bench_must(pons_brain_add_goals(r.brain, goals, sizeof goals / sizeof goals[0], &err), &err);
    const double from = bench_now_s();
    while (bench_now_s() - from < SECONDS) {
        struct pollfd fds[8];
        const size_t n = pons_brain_fds(r.brain, fds, 8);
        r.stalls = stalls && bench_now_s() - from > 1.0;
        poll(fds, n, 5);
        bench_must(pons_brain_poll(r.brain, &err), &err);
    }
    close_rig(&r);
    if (r.n == 0) {
        fprintf(stderr, "bench: %s: no heartbeat came\n", name);
        exit(1);
    }
    snprintf(line, sizeof line, "%s.p50", name);
    bench_print(line, bench_quantile(r.gap_ms, r.n, 0.5), "ms");
    snprintf(line, sizeof line, "%s.max", name);
    bench_print(line, bench_quantile(r.gap_ms, r.n, 1.0), "ms");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool stalls, model;
    } parts[ALL_PARTS] = {{"brain.heart.well", false, false},
                          {"brain.heart.store", true, false},
                          {"brain.heart.model", false, true}};
    pons_value_init();
    for (size_t i = 0; i < ALL_PARTS; i++) {
        if (bench_wants(argc, argv, parts[i].name)) {
            heart(parts[i].name, parts[i].stalls, parts[i].model);
        }
    }
    return 0;
}
