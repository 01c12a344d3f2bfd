// agent.c - a session of the planning agent: turns, answers, stopping, the loop around the graph.
//
// One turn: pons_agent_say commits the user's words as the input of a run and advances it until it
// waits. pons_agent_poll gives providers' events to the awaits that they answer and advances what
// became ready. The graph ends the turn itself: `done` is emitted in the commit that ends it.
//
//        say --> run: agent … --> done                 answer, inbox --> an interrupt
//                  ^      | awaits                      stop --> every await is answered "stopped"
//                  +------+-- host: models, tools                and the graph ends in good order
//
// Killed at any point, the run is resumed by the next open: see pending_calls.c for what becomes of calls.
//
//   plan_nodes.c   the outer graph: plan_gate, approval, replanner, summarizer
//   react_loop.c   the loop of agent and executor, a subgraph: think, act
//   tool_calls.c   one tool call: vetted, asked about, run, settled
//   plan_state.c    what the nodes do to a plan
//   tool_registry.c     the tools of all providers, who may use which
//   pending_calls.c    the awaits' other end: calls of models and tools under way
//   model_request.c      what a model is sent; context_window.c: how it is made to fit; summarize.c: notes in its place
//   middleware.c   debug, timing, rate_limit, redact; event_output.c: what may leave as an event
//   robot_tools.c  the body's skills as tools
//   config.c       graph_config.yaml: defaults, faults with positions
#include "pons/agent.h"

#include "agent/config.h"
#include "agent/context_window.h"
#include "agent/event_output.h"
#include "agent/graph/graphs.h"
#include "agent/graph/plan_state.h"
#include "agent/graph/plan_turn.h"
#include "agent/model_request.h"
#include "agent/pending_calls.h"
#include "agent/session.h"
#include "agent/standing_approvals.h"
#include "agent/summarize.h"
#include "agent/tool_registry.h"

#include <stdlib.h>
#include <string.h>

#define POLL_ROUNDS_MAX 64 // a poll ends after so many rounds though more could be done
#define STOP_ROUNDS_MAX 64 // each round answers all that waits; a plan has a handful

// ---- other processes ----------------------------------------------------------------------------

typedef struct mail {
    int64_t last;
    pons_value *answers;
} mail;

void pons_agent_wake(pons_agent *a)
{
    a->inbox_due = true;
}

static int take_mail(void *user, const pons_inbox_row *row)
{
    mail *m = user;
    pons_value *v = NULL;
    m->last = row->seq;
    if (strcmp(row->kind, "answer") == 0 &&
        pons_value_read(row->value.data, row->value.len, &v, NULL) >= 0) {
        json_array_append_new(m->answers, v);
    }
    return 0;
}

// Answers that other processes posted, each for the question that it names.
static int read_inbox(pons_agent *a, pons_error *err)
{
    if (!a->inbox_due || !a->opts.store.ops) {
        return 0;
    }
    a->inbox_due = false;
    mail m = {.last = a->inbox_seen, .answers = json_array()};
    pons_autovalue answers = m.answers;
    int did = 0;
    int rc = a->opts.store.ops->inbox_read(a->opts.store.self, a->thread_id, PONS_AGENT_NS,
                                           a->inbox_seen, take_mail, &m, err);
    if (rc < 0) {
        return rc;
    }
    a->inbox_seen = m.last;
    pons_each(v, answers) {
        pons_error late = PONS_ERROR_INIT;
        const char *id = pons_get_str(v, "id", NULL);
        if (id && pons_agent_answer(a, id, v, &late) >= 0) {
            did = 1;
        }
    }
    return did;
}

static void on_event(void *user, const pons_event *ev)
{
    pons_agent *a = user;
    if (strcmp(ev->type, "done") == 0) {
        const char *status = pons_get_str(ev->payload, "status", "");
        a->outcome = strcmp(status, "success") == 0   ? PONS_AGENT_SUCCEEDED
                     : strcmp(status, "stopped") == 0 ? PONS_AGENT_STOPPED
                                                      : PONS_AGENT_FAILED;
    }
    if (a->opts.on_event) {
        a->opts.on_event(a->opts.user, ev);
    }
}

// ---- life ---------------------------------------------------------------------------------------

// The caller's stand outside of the configured ones.
static int open_middleware(pons_agent *a, pons_error *err)
{
    const pons_value *names = pons__cfg(a->config, "middleware");
    const size_t given = a->opts.n_middleware;
    a->mw = calloc(given + json_array_size(names) + 1, sizeof *a->mw);
    if (!a->mw) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory for middleware");
    }
    for (size_t i = 0; i < given; i++) {
        a->mw[a->n_mw++].m = a->opts.middleware[i];
    }
    for (size_t i = 0; i < json_array_size(names); i++) {
        const pons_value *item = json_array_get(names, i), *options = NULL;
        const char *name = json_string_value(item);
        pons_each_member(key, v, item) {
            name = key;
            options = v;
        }
        pons__mw *m = &a->mw[a->n_mw];
        const int rc = pons_agent_middleware_open(name, options, &a->opts.clock, &m->m, err);
        if (rc < 0) {
            char at[64];
            snprintf(at, sizeof at, "/graph/middleware/%zu", i);
            pons__cfg_blame(a->config, at, err);
            return rc;
        }
        m->own = true;
        a->n_mw++;
    }
    return PONS_OK;
}

static int check_tools(pons_agent *a, pons_error *err)
{
    static const char *const lists[] = {"/graph/nodes/agent/tools", "/graph/nodes/executor/tools"};
    int rc = PONS_OK;
    for (size_t i = 0; i < 2 && rc >= 0; i++) {
        const pons_value *specs =
            pons__cfg(a->config, i == 0 ? "nodes.agent.tools" : "nodes.executor.tools");
        rc = pons__specs_check(&a->registry, a->config, lists[i], specs, err);
    }
    // A risk that is raised under a name that nobody has would raise nothing.
    static const char *const names[] = {"tools.approve", "tools.risk"};
    for (size_t i = 0; i < 2 && rc >= 0; i++) {
        rc = pons__names_check(&a->registry, a->config, names[i], err);
    }
    return rc;
}

static int open_graphs(pons_agent *a, pons_error *err)
{
    int rc = PONS_OK;
    for (int i = 0; i < 2 && rc >= 0; i++) {
        a->roles[i] = (pons__role){.a = a, .executor = i == 1};
        rc = pons__loop_graph(&a->roles[i], &a->loops[i], err);
    }
    return rc < 0 ? rc : pons__agent_graph(a, a->config, a->loops, &a->graph, err);
}

static const pons_run_options run_options = {.durability = PONS_DURABILITY_SYNC};

static int read_state(pons_agent *a, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    pons_value *state = NULL;
    const int rc = pons_state_read(a->opts.store, a->thread_id, PONS_AGENT_NS, &state, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    pons_value_unref(a->state);
    a->state = rc < 0 ? NULL : state;
    return PONS_OK;
}

static int resume(pons_agent *a, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    int rc = pons_run_resume(a->thread, a->graph, PONS_AGENT_NS, &run_options, &a->run, &none);
    if (rc == PONS_OK && pons_run_state_get(a->run) == PONS_RUN_DONE) { // nothing is under way
        pons_run_destroy(a->run);
        a->run = NULL;
        rc = PONS_ENOTFOUND;
    }
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    if (rc == PONS_OK) {
        return rc;
    }
    rc = read_state(a, err);
    return rc < 0 || a->state ? rc : pons__allowed_nothing(a, err); // it begins
}

static int open_thread(pons_agent *a, pons_error *err)
{
    const pons_await_handler handlers[] = {
        {PONS__MODEL_CALL, pons__host_model_start, pons__host_cancel, a},
        {PONS__TOOL_CALL, pons__host_tool_start, pons__host_cancel, a},
    };
    const pons_thread_options thread = {.clock = a->opts.clock,
                                        .seed = a->opts.seed,
                                        .handlers = handlers,
                                        .n_handlers = sizeof handlers / sizeof *handlers,
                                        .on_event = on_event,
                                        .user = a};
    return pons_thread_open(a->opts.store, a->thread_id, &thread, &a->thread, err);
}

static int open_all(pons_agent *a, const pons_agent_options *opts, pons_error *err)
{
    int rc = PONS_OK;
    if (!a->config) {
        rc = pons_agent_config_load(NULL, &a->own_config, err);
        a->config = a->own_config;
    }
    if (rc < 0) {
        return rc;
    }
    a->providers = calloc(a->opts.n_tools + 1, sizeof *a->providers);
    // Without its place, what is allowed here would hold everywhere.
    if ((opts->place && !a->place) || (opts->pictures_to && !a->pictures_to) ||
        (opts->cameras && !a->cameras) || !a->providers) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory for an agent");
    }
    if (a->opts.n_tools > 0) {
        memcpy(a->providers, opts->tools, a->opts.n_tools * sizeof *a->providers);
    }
    rc = pons__registry_init(&a->registry, a->providers, a->opts.n_tools, err);
    if (rc >= 0 && !opts->offline) {
        rc = check_tools(a, err);
    }
    if (rc >= 0 && !opts->offline) {
        rc = open_middleware(a, err);
    }
    rc = rc < 0 ? rc : open_graphs(a, err);
    rc = rc < 0 ? rc : open_thread(a, err);
    return rc < 0 ? rc : resume(a, err);
}

int pons_agent_open(const pons_agent_options *opts, pons_agent **ret, pons_error *err)
{
    pons_agent *a = calloc(1, sizeof *a);
    if (!a) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory for an agent");
    }
    a->opts = *opts;
    snprintf(a->thread_id, sizeof a->thread_id, "%s", opts->thread);
    a->opts.thread = a->thread_id;
    a->place = opts->place ? strdup(opts->place) : NULL;
    a->opts.place = a->place;
    a->pictures_to = opts->pictures_to ? strdup(opts->pictures_to) : NULL;
    a->cameras = opts->cameras ? strdup(opts->cameras) : NULL;
    a->prompts = pons_value_ref(opts->prompts);
    a->config = opts->config;
    a->inbox_due = true;
    if (opts->offline) {
        a->opts.n_tools = a->opts.n_middleware = 0;
    } else if (opts->llm) {
        a->llm = *opts->llm;
    }
    const int rc = open_all(a, opts, err);
    if (rc < 0) {
        pons_agent_close(a);
        return rc;
    }
    *ret = a;
    return PONS_OK;
}

void pons_agent_close(pons_agent *a)
{
    if (!a) {
        return;
    }
    pons__host_drop(a);
    pons_run_destroy(a->run);
    pons_thread_close(a->thread);
    pons_graph_destroy(a->graph);
    pons_graph_destroy(a->loops[0]);
    pons_graph_destroy(a->loops[1]);
    pons__registry_fini(&a->registry);
    for (size_t i = 0; i < a->n_mw; i++) {
        if (a->mw[i].own && a->mw[i].m.close) {
            a->mw[i].m.close(a->mw[i].m.user);
        }
    }
    free(a->mw);
    free(a->providers);
    free(a->place);
    free(a->pictures_to);
    free(a->cameras);
    pons_value_unref(a->prompts);
    pons_value_unref(a->draft);
    pons_value_unref(a->state);
    pons_agent_config_destroy(a->own_config);
    free(a);
}

int pons_agent_config_check(const pons_agent_config *c, const pons_tools *tools, size_t n,
                            pons_error *err)
{
    pons_agent a = {.config = c};
    int rc = pons__registry_init(&a.registry, tools, n, err);
    rc = rc < 0 ? rc : check_tools(&a, err);
    pons__registry_fini(&a.registry);
    return rc;
}

// ---- the loop -----------------------------------------------------------------------------------

// The engine could not go on (the recursion limit, say): the turn ends, and its thread is in order
// for the next one.
static int end_failed(pons_agent *a, pons_error *err)
{
    pons_error why = *pons_run_error(a->run);
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX];
    pons_error_line(&why, line, sizeof line);
    pons_plan *p = NULL;
    const pons_value *data = pons_run_get(a->run, "plan_data");
    pons_autovalue message = NULL;
    if (json_is_object(data) && pons__agent_plan_load(data, &p, err) >= 0) {
        pons_autovalue last = json_sprintf("It was broken off: %s", line);
        message = pons__agent_plan_message(data, p, pons_run_get(a->run, "past_steps"),
                                           json_string_value(last));
        pons_plan_destroy(p);
    }
    pons_autovalue update =
        pons_object("plan_data", json_null(), "agent_outcome", json_string("respond"), "messages",
                    pons_value_ref(message), NULL);
    pons__host_drop(a);
    pons_run_destroy(a->run);
    a->run = NULL;
    char checkpoint[32];
    int rc =
        pons_state_update(a->thread, a->graph, PONS_AGENT_NS, update, "agent", checkpoint, err);
    rc = rc < 0 ? rc
                : pons_thread_emit(a->thread, PONS_AGENT_NS, "error",
                                   pons_object("content", pons__agent_cut(line, sizeof line), NULL),
                                   err);
    rc = rc < 0 ? rc
                : pons_thread_emit(a->thread, PONS_AGENT_NS, "done",
                                   pons_object("status", json_string("failed"), "content",
                                               pons__agent_cut(line, sizeof line), NULL),
                                   err);
    return rc < 0 ? rc : read_state(a, err);
}

static int advance(pons_agent *a, pons_error *err)
{
    int rc = pons_run_advance(a->run, err);
    if (rc < 0) {
        return rc;
    }
    const pons_run_state state = pons_run_state_get(a->run);
    if (state == PONS_RUN_FAILED) {
        return end_failed(a, err);
    }
    if (state == PONS_RUN_DONE) {
        pons__host_drop(a);
        pons_run_destroy(a->run);
        a->run = NULL;
        rc = read_state(a, err);
    }
    return rc;
}

int pons_agent_poll(pons_agent *a, pons_error *err)
{
    int any = 0;
    for (int round = 0; round < POLL_ROUNDS_MAX && !a->opts.offline; round++) {
        int did = pons__host_poll(a, err);
        if (did < 0) {
            return did;
        }
        if (a->run) {
            pons_run_deadlines(a->run, err);
            const int came = read_inbox(a, err);
            if (came < 0) {
                return came;
            }
            did |= came;
        }
        if (a->run && pons_run_state_get(a->run) == PONS_RUN_READY) {
            did = 1;
        }
        const int rc = a->run ? advance(a, err) : PONS_OK;
        if (rc < 0) {
            return rc;
        }
        if (!did) {
            break;
        }
        any = 1;
    }
    return any;
}

int64_t pons_agent_next_due_ns(pons_agent *a)
{
    pons_error ignored = PONS_ERROR_INIT;
    int64_t due = pons__host_next_due_ns(a);
    if (a->run) {
        const int64_t deadline = pons_run_deadlines(a->run, &ignored);
        due = deadline < due ? deadline : due;
        due = pons_run_state_get(a->run) == PONS_RUN_READY ? 0 : due;
    }
    return due;
}

size_t pons_agent_fds(pons_agent *a, struct pollfd *fds, size_t cap)
{
    size_t n = 0;
    const int model = a->llm.ops ? a->llm.ops->event_fd(a->llm.self) : -1;
    if (model >= 0 && n < cap) {
        fds[n++] = (struct pollfd){.fd = model, .events = POLLIN};
    }
    for (size_t i = 0; i < a->opts.n_tools && n < cap; i++) {
        const int fd = a->providers[i].ops->event_fd(a->providers[i].self);
        if (fd >= 0) {
            fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
    }
    return n;
}

// ---- turns --------------------------------------------------------------------------------------

static int begin(pons_agent *a, const pons_value *input, pons_error *err)
{
    const int rc =
        pons_run_start(a->thread, a->graph, PONS_AGENT_NS, input, &run_options, &a->run, err);
    if (rc < 0) {
        return rc;
    }
    a->outcome = PONS_AGENT_NONE;
    a->turns++;
    pons_value_unref(a->state);
    a->state = NULL;
    return advance(a, err);
}

// A turn that waits for a person gives way to the next; one that works does not.
static int make_room(pons_agent *a, pons_error *err)
{
    const pons_agent_state state = pons_agent_state_get(a);
    if (state == PONS_AGENT_WORKING) {
        return pons_error_set(err, PONS_EBUSY, PONS__AGENT, "a turn is under way in %s",
                              a->thread_id);
    }
    return state == PONS_AGENT_WAITING ? pons_agent_stop(a, err) : PONS_OK;
}

// given: a person's plan, or NULL.
static int begin_turn(pons_agent *a, const pons_value *messages, const pons_value *given,
                      bool crowded, pons_error *err)
{
    char *system = pons__agent_system(a, "agent"); // once a turn: what a server has cached stays so
    pons_autovalue input = pons_object(
        "messages", pons_value_ref(messages), PONS__GIVEN,
        given ? pons_value_ref(given) : json_null(), "agent_outcome", json_null(),
        "agent_iterations", json_integer(0), "plan_data", json_null(), "current_step_index",
        json_integer(0), "past_steps", pons_object("__overwrite__", json_array(), NULL),
        "step_response", json_string(""), "replan_action", json_null(), "turn_calls",
        json_integer(0), "compact", crowded ? json_string(PONS__COMPACT_FIRST) : json_null(),
        "pending_events", pons_object("__overwrite__", json_array(), NULL), "session_id",
        json_string(a->thread_id), "system_prompt",
        json_string(system ? system : pons__agent_prompt(a, "agent")), NULL);
    free(system);
    return begin(a, input, err);
}

int pons_agent_say(pons_agent *a, const char *text, pons_error *err)
{
    return pons_agent_say_with_pictures(a, text, NULL, err);
}

int pons_agent_say_with_pictures(pons_agent *a, const char *text, const pons_value *pictures,
                                 pons_error *err)
{
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT, "there is nothing to say");
    }
    pons_autovalue words = json_string(text);
    if (!words) {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT, "the text is not valid UTF-8");
    }
    const int rc = make_room(a, err);
    pons_autovalue messages =
        pons_object("role", json_string("user"), "content", pons_value_ref(words), "pictures",
                    json_array_size(pictures) > 0 ? pons_value_ref(pictures) : NULL, NULL);
    return rc < 0
               ? rc
               : begin_turn(a, messages, NULL, pons__model_crowded(a, pons_agent_messages(a)), err);
}

int pons_agent_plan(pons_agent *a, const pons_plan *plan, pons_error *err)
{
    pons_autovalue messages = NULL;
    pons_autovalue given = NULL;
    int rc = PONS_OK;
    if (!pons__cfg_bool(a->config, "nodes.planner.enabled")) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__AGENT,
                              "graph.nodes.planner.enabled is false: no plan is carried out");
    }
    rc = pons__given_begin(a, plan, &messages, &given, err);
    rc = rc < 0 ? rc : make_room(a, err);
    return rc < 0 ? rc : begin_turn(a, messages, given, false, err);
}

bool pons_agent_plan_is_given(pons_store store, const char *thread)
{
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    return pons_state_read(store, thread, PONS_AGENT_NS, &state, &none) >= 0 &&
           json_is_object(pons_get(state, PONS__GIVEN));
}

int pons_agent_compact(pons_agent *a, pons_error *err)
{
    if (pons_agent_state_get(a) != PONS_AGENT_IDLE) {
        return pons_error_set(err, PONS_EBUSY, PONS__AGENT, "a turn is under way in %s",
                              a->thread_id);
    }
    if (json_array_size(pons_agent_messages(a)) == 0) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__AGENT, "there is nothing to sum up in %s",
                              a->thread_id);
    }
    pons_autovalue input = pons_object(
        "agent_outcome", json_null(), "agent_iterations", json_integer(0), "turn_calls",
        json_integer(0), "compact", json_string(PONS__COMPACT_ONLY), "plan_data", json_null(),
        PONS__GIVEN, json_null(), "session_id", json_string(a->thread_id), NULL);
    return begin(a, input, err);
}

// Every await gets an answer that says so, and the graph ends by itself: effects are settled, what
// was said is kept, the plan's steps that have not run are skipped.
int pons_agent_stop(pons_agent *a, pons_error *err)
{
    for (int round = 0; a->run && round < STOP_ROUNDS_MAX; round++) {
        pons_autovalue pending = pons_run_pending(a->run);
        pons_each(p, pending) {
            const char *id = pons_get_str(p, "id", ""), *kind = pons_get_str(p, "kind", "");
            const char *said = "";
            for (const pons__flight *f = a->flights; f; f = f->next) {
                said = f->model && strcmp(f->await, id) == 0 && f->said.data ? f->said.data : said;
            }
            pons_value *answer =
                strcmp(kind, "human") == 0 ? pons_object("action", json_string("reject"), "reason",
                                                         json_string("the user stopped here"),
                                                         "stopped", json_true(), NULL)
                : strcmp(kind, PONS__MODEL_CALL) == 0
                    ? pons_object("stopped", json_true(), "said", pons__agent_cut(said, SIZE_MAX),
                                  NULL)
                    : pons_object("ok", json_false(), "stopped", json_true(), "unknown",
                                  json_true(), "started", json_true(), "output",
                                  json_string("stopped by the user; whether it had done something "
                                              "is not known"),
                                  NULL);
            pons__host_cancel(a, a->run, id);
            const int rc = pons_run_answer(a->run, id, answer, err);
            if (rc < 0 && rc != PONS_ENOTPENDING) {
                return rc;
            }
        }
        const int rc = advance(a, err);
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// A time limit that went by while nobody ran the thread still has gone by.
static bool too_late(const pons_agent *a, const char *await)
{
    pons_autovalue pending = pons_run_pending(a->run);
    pons_each(p, pending) {
        const int64_t due_ms = pons_get_int(p, "deadline_ms", 0);
        if (strcmp(pons_get_str(p, "id", ""), await) == 0 && due_ms > 0) {
            return pons_wall_ms(&a->opts.clock) >= due_ms;
        }
    }
    return false;
}

// The await that an id, or a request's id, names; NULL as id: the only one.
static const char *question_id(const pons_value *questions, const char *id)
{
    if (!id) {
        return json_array_size(questions) == 1
                   ? pons_get_str(json_array_get(questions, 0), "id", NULL)
                   : NULL;
    }
    pons_each(q, questions) {
        if (strcmp(pons_get_str(q, "id", ""), id) == 0 ||
            strcmp(pons_get_str(q, "request_id", ""), id) == 0) {
            return pons_get_str(q, "id", NULL);
        }
    }
    return NULL;
}

int pons_agent_answer(pons_agent *a, const char *id, const pons_value *answer, pons_error *err)
{
    pons_autovalue questions = pons_agent_questions(a);
    const char *await = question_id(questions, id);
    if (!await) {
        return pons_error_set(
            err, json_array_size(questions) > 1 ? PONS_EAMBIGUOUS : PONS_ENOTPENDING, PONS__AGENT,
            json_array_size(questions) > 1 ? "%zu questions are open: say which"
                                           : "nothing waits for an answer (%zu questions)",
            json_array_size(questions));
    }
    const pons_value *question = NULL;
    for (size_t i = 0; !question && i < json_array_size(questions); i++) {
        const pons_value *q = json_array_get(questions, i);
        question = strcmp(pons_get_str(q, "id", ""), await) == 0 ? q : NULL;
    }
    const int rc = pons_agent_answer_check(question, answer, err);
    if (rc < 0) {
        return rc;
    }
    if (strcmp(pons_get_str(answer, "action", "reject"), "reject") != 0 && too_late(a, await)) {
        return pons_error_set(err, PONS_ETIMEOUT, PONS__AGENT,
                              "nobody answered in time: the question counts as refused");
    }
    const pons_value *always = pons_get(answer, "always");
    const bool pictures = strcmp(pons_get_str(question, "tool", ""), PONS__SEND_PICTURES) == 0 &&
                          strcmp(pons_get_str(answer, "action", ""), "approve") == 0;
    if (pictures || (always && !json_is_false(always))) { // kept before the call runs
        const int kept = pons__allow(a, question, pictures ? NULL : always, err);
        if (kept < 0) {
            return kept;
        }
    }
    return pons_run_answer(a->run, await, pons_value_ref(answer), err);
}

static int check_always(const pons_value *question, const pons_value *answer,
                        const pons_value *always, pons_error *err)
{
    const char *scope = json_string_value(always);
    const bool tool = scope && strcmp(scope, "tool") == 0;
    const char *kind = pons_get_str(pons_get(question, "preview"), "kind", "");
    if (strcmp(pons_get_str(answer, "action", ""), "approve") != 0 ||
        strcmp(pons_get_str(question, "type", ""), "tool_approval") != 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                              "always goes with the approval of a call alone");
    }
    if (!json_is_true(always) && !tool && !(scope && strcmp(scope, "call") == 0)) {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                              "always: expected \"call\" (these arguments) or \"tool\"");
    }
    if (tool && (strcmp(kind, "command") == 0 ||
                 strcmp(pons_get_str(question, "tool", ""), "terminal") == 0)) {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                              "a command is allowed word for word: always \"call\"");
    }
    return PONS_OK;
}

int pons_agent_answer_check(const pons_value *question, const pons_value *answer, pons_error *err)
{
    const char *type = pons_get_str(question, "type", "");
    if (!json_is_object(answer)) {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                              "an answer is {action: approve, edit or reject, …}");
    }
    const pons_value *always = pons_get(answer, "always");
    if (always && !json_is_false(always)) {
        const int rc = check_always(question, answer, always, err);
        if (rc < 0) {
            return rc;
        }
    }
    const bool wants_words = strcmp(type, "question") == 0 ||
                             strcmp(pons_get_str(question, "tool", ""), "ask_user") == 0;
    if (pons_get(answer, "answer") && !wants_words) { // "no" would be a yes
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                              "this question takes no words: approve, edit JSON, or reject REASON");
    }
    if (strcmp(pons_get_str(answer, "action", ""), "edit") != 0) {
        return PONS_OK;
    }
    if (strcmp(type, "plan_approval") == 0) {
        return pons__agent_plan_edit_check(answer, err);
    }
    if (strcmp(type, "tool_approval") != 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                              "there is nothing to edit here: approve, or reject REASON");
    }
    return json_is_object(pons_get(answer, "args"))
               ? PONS_OK
               : pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                                "an edit of a call is an object: all of its arguments");
}

pons_value *pons_agent_questions(const pons_agent *a)
{
    pons_value *list = json_array();
    pons_autovalue pending = a->run ? pons_run_pending(a->run) : NULL;
    pons_each(p, pending) {
        if (strcmp(pons_get_str(p, "kind", ""), "human") == 0) {
            json_array_append_new(list, pons__agent_put_in(pons_get(p, "request"), "id",
                                                           pons_value_ref(pons_get(p, "id"))));
        }
    }
    return list;
}

// ---- looking ------------------------------------------------------------------------------------

pons_agent_state pons_agent_state_get(const pons_agent *a)
{
    if (!a->run) {
        return PONS_AGENT_IDLE;
    }
    return pons_run_state_get(a->run) == PONS_RUN_INTERRUPTED ? PONS_AGENT_WAITING
                                                              : PONS_AGENT_WORKING;
}

pons_agent_outcome pons_agent_outcome_get(const pons_agent *a)
{
    return a->outcome;
}

const pons_value *pons_agent_get(const pons_agent *a, const char *channel)
{
    return a->run ? pons_run_get(a->run, channel) : pons_get(a->state, channel);
}

pons_value *pons_agent_budget(const pons_agent *a)
{
    const pons_value *messages = pons_agent_messages(a);
    const int64_t window = pons__model_tokens(a);
    const double tokens = (double)pons__context_size(messages) / pons__model_bytes(a);
    return pons_object(
        "context_tokens", window > 0 ? json_integer(window) : json_null(), "prompt_tokens",
        a->prompt_tokens > 0 ? json_integer(a->prompt_tokens) : json_null(), "conversation_tokens",
        json_integer((json_int_t)tokens), "model_calls",
        json_integer(json_integer_value(pons_agent_get(a, "turn_calls"))), "model_calls_max",
        json_integer(pons__cfg_int(a->config, "settings.model_calls")), NULL);
}

const pons_value *pons_agent_messages(const pons_agent *a)
{
    return pons_agent_get(a, "messages");
}

bool pons_agent_thread_is(pons_store store, const char *thread)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue state = NULL;
    return pons_state_read(store, thread, PONS_AGENT_NS, &state, &none) >= 0;
}
