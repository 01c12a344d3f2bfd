// brain.c - the robot brain: two graphs, one thread, one loop.
//
// One goal, end to end. A person's words are committed to the kernel's inbox. The next tick takes
// them (K1), turns them into a task in the queue (K5), and posts `activate` to the inner loop (K6),
// all in the tick's own commits. The loop below sees that the inner loop is idle and has mail, and
// starts a run of the react graph. R1 reads the mail and the world into an observation, R2 decides,
// R4 holds the decision against the rules and writes the intent, R6 makes DISPATCHED durable and
// sends the goal, R7 parks. The body's result wakes the await; R7 settles the effect; R2 sees the
// goal met and says FINISH; R8 posts `task_result` to the kernel, whose next tick ends the task.
// What a person is shown are the events that these commits carried.
//
//     people, other processes, task_result
//        v
//     inbox kernel --> K1 K2 K3 K4 K5 K6 --> inbox react --> R1 ... R8 <--> port <--> body
//                      tick: 10 Hz, events                     ^
//                                                              v
//                                                            model
//
// Nothing here is lost when the process dies between any two instructions: at open, the two
// namespaces are read, what was cut short is resumed, open effects are loaded, and the first hello
// asks the body about each of them. Preemption and answers are level-triggered: they are read off
// the kernel's stored state again and again until the inner loop has them, so there is no message
// to lose.
#include "brain/body_link/body_port.h"
#include "brain/body_link/heartbeat.h"
#include "brain/body_link/speed_request.h"
#include "brain/body_link/telemetry_sync.h"
#include "brain/goals/scheduled_goals.h"
#include "brain/kernel/run_end.h"
#include "brain/kernel/stop_state.h"
#include "brain/model/knowledge_query.h"
#include "brain/model/model_await.h"
#include "brain/react/react_run.h"
#include "brain/records/await_fields.h"
#include "brain/records/inbox_fields.h"
#include "brain/state/graphs.h"
#include "brain/state/self.h"
#include "brain/store_outage.h"
#include "brain/tasks/picture_consent.h"
#include "brain/tasks/questions.h"
#include "brain/tasks/tasks.h"
#include "pons/log.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_MAX_NS                                                                               \
    (100 * PONS_NS_PER_MS) // the heart must hear of the loop, however slow it ticks
#define POLL_ROUNDS_MAX                                                                            \
    64 // fairness: a poll ends after so many rounds even when more could be done

// ---- life ---------------------------------------------------------------------------------------

// What was cut short is resumed; what was out is followed again.
static int load(pons_brain *b, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue state = NULL;
    int rc = pons_state_read(b->opts.store, b->opts.thread, PONS_NS_KERNEL, &state, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    pons__tasks_of(b, pons_get(state, "tasks"));
    pons__keep_hear(&b->keep, pons_get(state, "keep"));
    pons__hci_of(b, pons_get(state, "hci"));
    rc = pons__port_load(&b->port, err);
    if (rc < 0) {
        return rc;
    }
    const pons_run_options sync = pons__inner_options(b);
    rc = pons_run_resume(b->thread, b->react, PONS_NS_REACT, &sync, &b->react_run, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    if (b->react_run && pons_run_state_get(b->react_run) == PONS_RUN_DONE) { // nothing is under way
        pons_run_destroy(b->react_run);
        b->react_run = NULL;
    }
    // An answer may be in the inbox already: the first tick must know to which question.
    if (b->react_run) {
        const pons__react *react = pons__inner_of(b);
        const pons__question *approval = react ? react->asking.question : NULL;
        snprintf(b->approval_id, sizeof b->approval_id, "%s", approval ? approval->id : "");
        PONS__AUTO_LIST(waits) people = pons__inner_people(b->react_run);
        if (people.n > 0 && !approval) { // see ask_confirmation
            const pons__waits *human = people.at[0];
            snprintf(b->approval_id, sizeof b->approval_id, "%s", human->id);
        }
    }
    b->kernel_unfinished = true; // the first tick finds out
    return PONS_OK;
}

// The thread's lease, and what is stored of it.
static int take(pons_brain *b, pons_error *err)
{
    const pons_await_handler handlers[] = {
        {.kind = "body",
         .start = pons__port_await_start,
         .cancel = pons__port_await_cancel,
         .user = b},
        {.kind = "llm", .start = pons__model_start, .cancel = pons__model_cancel, .user = b},
        {.kind = "knowledge",
         .start = pons__documents_start,
         .cancel = pons__documents_cancel,
         .user = b},
    };
    const pons_thread_options thread = {.clock = b->opts.clock,
                                        .seed = b->opts.seed,
                                        .handlers = handlers,
                                        .n_handlers = sizeof handlers / sizeof handlers[0],
                                        .on_event = b->opts.on_event,
                                        .user = b->opts.user};
    const int rc = pons_thread_open(b->opts.store, b->opts.thread, &thread, &b->thread, err);
    return rc < 0 ? rc : load(b, err);
}

static void brain_free(pons_brain *b)
{
    pons_run_destroy(b->kernel_run);
    pons_run_destroy(b->react_run);
    pons_thread_close(b->thread);
    pons_graph_destroy(b->kernel);
    pons_graph_destroy(b->react);
    pons__port_fini(&b->port);
    pons__heart_fini(&b->heart);
    pons__documents_close(b);
    pons__doors_close(&b->doors);
    pons_value_unref(b->llm_waits);
    pons_critic_destroy(b->critic);
    pons_value_unref(b->critic_of);
    pons_value_unref(b->config);
    pons__senses_forget(b);
    pons__tasks_forget(b);
    pons__keep_forget(&b->keep);
    pons__record_free(&pons__react_record, b->inner);
    pons_value_unref(b->inner_of);
    pons_value_unref(b->rested);
    pons_value_unref(b->unreachable);
    pons_value_unref(b->known_objects);
    pons_value_unref(b->opts.object_words);
    pons_value_unref(b->opts.map);
    free((char *)b->opts.objects);
    pons__hci_forget(b);
    free((char *)b->opts.thread);
    free((char *)b->opts.priority);
    free((char *)b->opts.schedules);
    free((char *)b->opts.places);
    free(b);
}

int pons_brain_open(const pons_brain_options *opts, pons_brain **ret, pons_error *err)
{
    pons_brain *b = calloc(1, sizeof *b);
    if (!b) {
        return pons_error_set(err, PONS_ENOMEM, "brain", "no memory for a brain");
    }
    b->opts = *opts;
    b->opts.thread = strdup(opts->thread);
    b->opts.priority = opts->priority ? strdup(opts->priority) : NULL;
    b->opts.schedules = opts->schedules ? strdup(opts->schedules) : NULL;
    b->opts.places = opts->places ? strdup(opts->places) : NULL;
    b->opts.objects = opts->objects ? strdup(opts->objects) : NULL;
    b->opts.object_words = pons__or_null(opts->object_words);
    b->opts.map = pons__or_null(opts->map);
    b->config = pons_value_ref(opts->config);
    pons__rules_read(b->config, &b->rules);
    pons__keep_init(&b->keep, &b->rules.keep, opts->store, b->opts.thread, &opts->clock);
    b->prompt_ratio = 1.0;
    pons__heart_init(&b->heart, &opts->clock);
    pons__port_init(&b->port, b);
    int rc = pons__doors_open(err);
    rc = rc < 0 ? rc : pons__kernel_graph(b, &b->kernel, err);
    rc = rc < 0 ? rc : pons__react_graph(b, &b->react, err);
    rc = rc < 0 ? rc : take(b, err);
    if (rc >= 0 && opts->resumed) {
        const pons__said said = {.text = "", .word = "resume", .by = "", .stop_boot = ""};
        pons_autovalue word = pons__record_write(&pons__said_record, &said);
        rc = pons_inbox_post(opts->store, opts->thread, PONS_NS_KERNEL, "control", word, err);
    }
    if (rc < 0) {
        brain_free(b);
        return rc;
    }
    b->next_tick_ns = pons_now_ns(&opts->clock);
    *ret = b;
    return PONS_OK;
}

// What a death would leave: the options, and nothing that was learnt since.
static void let_go(pons_brain *b)
{
    pons_run_destroy(b->kernel_run);
    pons_run_destroy(b->react_run);
    b->kernel_run = b->react_run = NULL;
    pons_value_unref(b->rested);
    b->rested = NULL;
    pons_thread_close(b->thread);
    b->thread = NULL;
    pons__port_fini(&b->port);
    pons__port_init(&b->port, b);
    pons__documents_close(b);
    if (b->llm_await[0]) {
        b->opts.llm->ops->cancel(b->opts.llm->self, b->llm_call);
    }
    b->llm_await[0] = b->knowledge_await[0] = b->approval_id[0] = b->confirm_id[0] = '\0';
    b->llm_run = b->knowledge_run = NULL;
    pons_value_unref(b->llm_waits);
    b->llm_waits = NULL;
    pons__tasks_forget(b);
    pons__tasks_of(b, NULL);
    pons__hci_forget(b);
    pons__hci_of(b, NULL);
    pons__keep_forget(&b->keep);
    pons_value **const learnt[] = {&b->critic_of, &b->unreachable};
    for (size_t i = 0; i < sizeof learnt / sizeof learnt[0]; i++) {
        pons_value_unref(*learnt[i]);
        *learnt[i] = NULL;
    }
    pons__senses_forget(b);
    pons_critic_destroy(b->critic);
    b->critic = NULL;
    b->received = false;
    b->stop_sent_ms = b->reset_sent_ms = 0;
    b->opts.resumed = false; // what happens from here on happened after that word
    b->people_since_ns = 0;
}

int64_t pons_brain_body(const pons_brain *b, const pons_value **ret_hello,
                        const pons_value **ret_telemetry)
{
    *ret_hello = b->port.hello;
    *ret_telemetry = b->port.telemetry;
    return b->port.ready && b->port.telemetry
               ? (pons_now_ns(&b->opts.clock) - b->port.telemetry_ns) / PONS_NS_PER_MS
               : -1;
}

void pons_brain_finish(pons_brain *b)
{
    b->opts.keep_running = false;
}

const char *pons_brain_body_stays(pons_brain *b)
{
    pons_autovalue status = pons_brain_status(b);
    bool asks = b->human_open;
    pons_each(q, pons_get(status, "approvals")) { // of a picture's question nobody waits
        const char *what = pons_get_str(json_array_get(pons_get(q, "ops"), 0), "skill", "");
        asks = asks || strcmp(what, PONS_SEND_PICTURES) != 0;
    }
    return pons_get_str(b->port.telemetry, "holding", NULL) ? "it holds an object"
           : asks                                           ? "a question is open"
           : b->outcome == PONS_BRAIN_WAITING               ? "a stop or a pause is in force"
                                                            : NULL;
}

void pons_brain_close(pons_brain *b)
{
    if (!b) {
        return;
    }
    pons__port_bye(&b->port, b->opts.stop_body && !pons_brain_body_stays(b));
    brain_free(b);
}

void pons_brain_kill(pons_brain *b)
{
    brain_free(b);
}

// ---- kernel -------------------------------------------------------------------------------------

// Somebody said stop or pause, and the mode is still that of a robot at work.
static bool preempts_itself(const pons_brain *b)
{
    const pons__tasks *t = b->tasks;
    return (t->mode == PONS_MODE_EXEC && t->paused) ||
           ((t->mode == PONS_MODE_EXEC || t->mode == PONS_MODE_CHARGE) && t->stopped);
}

static int kernel_tick(pons_brain *b, pons_error *err)
{
    const pons_run_options sync = {.durability = PONS_DURABILITY_SYNC,
                                   .stream = b->opts.stream_kernel ? b->opts.stream : 0};
    int rc = PONS_ENOTFOUND;
    if (b->kernel_unfinished) {
        pons_error none = PONS_ERROR_INIT;
        rc = pons_run_resume(b->thread, b->kernel, PONS_NS_KERNEL, &sync, &b->kernel_run, &none);
        b->kernel_unfinished = false;
        if (rc == PONS_OK && pons_run_state_get(b->kernel_run) == PONS_RUN_DONE) {
            pons_run_destroy(b->kernel_run);
            b->kernel_run = NULL;
            rc = PONS_ENOTFOUND;
        }
    }
    if (rc == PONS_ENOTFOUND) {
        rc = pons_run_start(b->thread, b->kernel, PONS_NS_KERNEL, NULL, &sync, &b->kernel_run, err);
    }
    if (rc < 0) {
        return rc;
    }
    rc = pons_run_advance(b->kernel_run, err);
    if (rc >= 0 && pons_run_state_get(b->kernel_run) == PONS_RUN_FAILED) {
        *err = *pons_run_error(b->kernel_run);
        rc = err->status;
    }
    if (rc >= 0) {
        pons__tasks_of(b, pons_run_get(b->kernel_run, "tasks"));
        pons__keep_hear(&b->keep, pons_run_get(b->kernel_run, "keep"));
        pons__hci_of(b, pons_run_get(b->kernel_run, "hci"));
    }
    pons_run_destroy(b->kernel_run);
    b->kernel_run = NULL;
    return rc;
}

// ---- loop ---------------------------------------------------------------------------------------

// What ended tasks have left, a little a tick. That it can't be done now is no reason to stop.
static int take_away(pons_brain *b, pons_error *err)
{
    char line[512];
    pons_error own = PONS_ERROR_INIT;
    const int rc = pons__keep_work(&b->keep, b->thread, &own);
    const pons_store *s = &b->opts.store;
    if (rc == PONS_ESTALE || (rc < 0 && s->ops->away && s->ops->away(s->self))) {
        *err = own;
        return rc;
    }
    if (rc < 0) {
        pons_log(PONS_LOG_WARN, "brain", "old rows stay for now: %s",
                 pons_error_line(&own, line, sizeof line));
    }
    return PONS_OK;
}

// All that is due.
static int work(pons_brain *b, pons_error *err)
{
    bool ticked = false;
    for (int round = 0; round < POLL_ROUNDS_MAX; round++) {
        int did = pons__port_poll(&b->port, err);
        if (did < 0) {
            return did;
        }
        // The kernel first: what it has to say goes before whatever the inner loop would do next.
        // No tick before the first hello: goals are understood with the body's zones at hand.
        const int64_t now = pons_now_ns(&b->opts.clock);
        const bool due = now >= b->next_tick_ns;
        if (b->port.hello && b->port.telemetry && (due || b->tick_now || b->wake)) {
            b->tick_now = b->wake = false;
            int rc = kernel_tick(b, err);
            if (rc >= 0 && preempts_itself(b)) { // stop and pause take effect before anything else
                rc = kernel_tick(b, err);
            }
            if (rc < 0) {
                return rc;
            }
            ticked = true;
            pons__stopped_send(b);
            pons__speed_request_send(b);
            if (!b->received) {
                b->received = true;
                pons__port_inbox_read(&b->port);
            }
            did = 1;
        }
        if (due) {
            b->next_tick_ns = now + (int64_t)(1e9 / b->rules.tick_hz);
        }
        const int model = pons__model_poll(b, err);
        const int inner = model < 0 ? model : pons__inner_work(b, err);
        if (inner < 0) {
            return inner;
        }
        did |= model | inner | pons__documents_poll(b);
        if (!did && !b->tick_now) {
            break;
        }
    }
    const int rc = ticked ? take_away(b, err) : PONS_OK;
    return rc < 0 ? rc : pons__done_check(b, err);
}

int pons_brain_poll(pons_brain *b, pons_error *err)
{
    int rc = b->thread ? PONS_OK : pons__away_poll(b, let_go, take, err);
    if (rc >= 0 && b->thread) {
        rc = pons__schedules_look(b, err);
        rc = rc < 0 ? rc : work(b, err);
        rc = rc < 0 ? pons__away_or(b, rc, err, let_go) : rc;
    }
    if (rc >= 0) {
        pons__heart_tick(&b->heart);
    }
    return rc;
}

int64_t pons_brain_next_due_ns(pons_brain *b)
{
    pons_error ignored = PONS_ERROR_INIT;
    int64_t due = b->next_tick_ns;
    const int64_t alive = pons_now_ns(&b->opts.clock) + ROUND_MAX_NS;
    due = alive < due ? alive : due;
    const int64_t port = b->thread ? pons__port_next_due_ns(&b->port) : INT64_MAX;
    due = port < due ? port : due;
    if (b->react_run) {
        const int64_t deadline = pons_run_deadlines(b->react_run, &ignored);
        due = deadline < due ? deadline : due;
    }
    return due;
}

size_t pons_brain_fds(pons_brain *b, struct pollfd *fds, size_t cap)
{
    size_t n = 0;
    if (b->port.link && pons_link_fd(b->port.link) >= 0 && n < cap) {
        const short out = pons_link_wants_write(b->port.link) ? POLLOUT : 0;
        fds[n++] =
            (struct pollfd){.fd = pons_link_fd(b->port.link), .events = (short)(POLLIN | out)};
    }
    const int model = b->opts.llm ? b->opts.llm->ops->event_fd(b->opts.llm->self) : -1;
    if (model >= 0 && n < cap) {
        fds[n++] = (struct pollfd){.fd = model, .events = POLLIN};
    }
    const int known = b->knowledge.ops ? b->knowledge.ops->event_fd(b->knowledge.self) : -1;
    if (known >= 0 && n < cap) {
        fds[n++] = (struct pollfd){.fd = known, .events = POLLIN};
    }
    return n;
}

void pons_brain_wake(pons_brain *b)
{
    b->wake = true;
}

int64_t pons_brain_busy_ms(const pons_brain *b, const char **ret_why)
{
    *ret_why = b->port.busy;
    return b->port.busy_since_ms ? pons_now_ms(&b->opts.clock) - b->port.busy_since_ms : 0;
}

pons_brain_outcome pons_brain_outcome_get(const pons_brain *b)
{
    return b->done_emitted ? b->outcome : PONS_BRAIN_RUNNING;
}

int pons_brain_graph(const char *name, pons_graph **ret, pons_error *err)
{
    if (strcmp(name, "kernel") == 0) {
        return pons__kernel_graph(NULL, ret, err);
    }
    if (strcmp(name, "react") == 0) {
        return pons__react_graph(NULL, ret, err);
    }
    return pons_error_set(err, PONS_ENOTFOUND, "brain",
                          "no graph named %s; there are: kernel react", name);
}
