// run_worker.c - a run, from its first superstep to its last word.
//
//     take a session --> lease of its thread --> run.started --> begin --> supersteps --> run.ended
//                                                                 ^           | parked: sleeps until a
//                                                                 +-----------+ deadline, a blocking
//                                                                               node, mail or a stop
//
// What "begin" is, is told by the order: an input, a command, an older checkpoint, or nothing, which
// goes on. A run that a server before this one had begun is told by its run.started in the log, and
// goes on from its checkpoints; answers that it brought are given again where the same questions are
// still open. When run.ended is in the log already, only the record was missing.
//
// A store that cannot write (a full disk) is waited for: the run is put away as if the server had
// died here, and gone on with in the same way, again and again until there is room.
//
// The server's closing is no end of a run: it stays open in the store, for the next server.
#include "pons/log.h"
#include "serve/runs/internal.h"
#include "serve/runs/run_begin.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LEASE_TRIES = 100, LEASE_WAIT_MS = 100, AWAY_FIRST_MS = 100, AWAY_MAX_MS = 1600 };

typedef enum went { WENT_TO_ITS_END, WENT_CLOSING, WENT_AWAY } went; // AWAY: the store was

typedef struct carried {
    pons__runhost *h;
    pons__session *session;
    const pons__job *job;
    const pons_serve_graph *graph;
    pons_thread *t;
    pons_run *run;
    pons_cancel *cancel; // tells a node that is at work
    int wake, attempt;
    pons__halt halt;
} carried;

static void on_event(void *user, const pons_event *ev)
{
    const carried *c = user;
    pons__watcher_event(c->h->watcher, ev->thread);
}

// What a run says is queued, and read from the store by who follows it.
static void on_stored(void *user)
{
    const carried *c = user;
    pons__watcher_event(c->h->watcher, c->job->thread);
}

static int64_t wall(const carried *c)
{
    return pons_wall_ms(&c->h->s->o.clock);
}

// ---- opening ------------------------------------------------------------------------------------

// Somebody else may have the thread for a moment: a command line, a server that has just died.
static int open_thread(carried *c, pons_error *err)
{
    const pons_thread_options o = {.clock = c->h->s->o.clock,
                                   .handlers = c->graph->handlers,
                                   .n_handlers = c->graph->n_handlers,
                                   .on_event = on_event,
                                   .on_stored = on_stored,
                                   .user = c,
                                   .items = &c->h->items.opts};
    int rc = PONS_EBUSY;
    for (int i = 0; i < LEASE_TRIES && rc == PONS_EBUSY && !c->halt; i++) {
        struct pollfd p = {.fd = c->wake, .events = POLLIN};
        if (i > 0) {
            poll(&p, 1, LEASE_WAIT_MS);
        }
        *err = (pons_error)PONS_ERROR_INIT;
        rc = pons_thread_open(c->h->s->o.store, c->job->thread, &o, &c->t, err);
        if (rc == PONS_EBUSY) { // a stop shows in the mail
            pons__jobs_mail(&c->h->queue, c->session, &c->halt);
        }
    }
    return rc;
}

static int tell_started(carried *c, pons_error *err)
{
    int64_t last = 0;
    const pons_store store = c->h->s->o.store;
    int rc = store.ops->event_last(store.self, c->job->thread, &last, err);
    if (rc >= 0 && last == 0) { // whose thread it is, for the command line
        rc = pons_thread_emit(c->t, c->graph->ns, "graph.started",
                              pons_object("graph", json_string(c->graph->id), NULL), err);
    }
    return rc < 0 ? rc
                  : pons_thread_emit(c->t, c->graph->ns, PONS__RUN_STARTED,
                                     pons_object("run_id", json_string(c->job->id), "graph_id",
                                                 json_string(c->graph->id), "assistant_id",
                                                 json_string(c->job->assistant), "attempt",
                                                 json_integer(c->attempt), NULL),
                                     err);
}

// ---- running ------------------------------------------------------------------------------------

// Tokens that came while the last ones were written: one chunk, one commit.
static void join_chunks(pons__mail *m)
{
    while (m->what == PONS__TELL_MESSAGE && m->next && m->next->what == PONS__TELL_MESSAGE &&
           strcmp(m->next->await, m->await) == 0 && !pons_get(m->next->value, "tool_calls") &&
           strcmp(pons_get_str(m->next->value, "id", ""), pons_get_str(m->value, "id", "-")) == 0) {
        pons__mail *gone = m->next;
        json_object_set_new(m->value, "content",
                            json_sprintf("%s%s", pons_get_str(m->value, "content", ""),
                                         pons_get_str(gone->value, "content", "")));
        m->next = gone->next;
        pons_value_unref(gone->value);
        free(gone);
    }
}

// Whose words a chunk is, where that is not the node that waits: taken out of it.
static pons_value *origin(pons_value *chunk)
{
    pons_autovalue node = pons_value_ref(pons_get(chunk, PONS__TELL_NODE));
    json_object_del(chunk, PONS__TELL_NODE);
    return node ? pons_object(PONS__TELL_NODE, pons_value_ref(node), NULL) : NULL;
}

static bool store_failed(const carried *c, const pons_error *why)
{
    const pons_store *s = &c->h->s->o.store;
    return (s->ops->away && s->ops->away(s->self)) ||
           (why->status == PONS_EIO &&
            (strcmp(why->module, "store") == 0 || strcmp(why->module, "graph") == 0));
}

// What cannot be stored now is not lost: whoever said it says it again to the run that is taken up.
static int take_mail(carried *c, pons_error *ret_err)
{
    int failed = PONS_OK;
    pons__mail *m = pons__jobs_mail(&c->h->queue, c->session, &c->halt);
    while (m) {
        pons_error err = PONS_ERROR_INIT;
        join_chunks(m);
        pons__mail *next = m->next;
        const int rc = m->what == PONS__TELL_ANSWER
                           ? pons_run_answer(c->run, m->await, m->value, &err)
                       : m->what == PONS__TELL_MESSAGE
                           ? pons_run_message(c->run, m->await, m->value, origin(m->value), &err)
                           : pons_run_custom(c->run, m->await, m->value, &err);
        if (rc < 0 && store_failed(c, &err)) {
            *ret_err = err;
            failed = rc;
        } else if (rc < 0) {
            pons_log(PONS_LOG_DEBUG, PONS__SERVE, "%s", err.message); // not asked any more
        }
        free(m);
        m = next;
    }
    return failed;
}

static void sleep_until(const carried *c, int64_t due_ns)
{
    struct pollfd p[2] = {{.fd = c->wake, .events = POLLIN},
                          {.fd = pons_thread_fd(c->t), .events = POLLIN}};
    int64_t ms = -1;
    if (due_ns != INT64_MAX) {
        ms = (due_ns - pons_now_ns(&c->h->s->o.clock) + PONS_NS_PER_MS - 1) / PONS_NS_PER_MS;
        ms = ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : ms;
    }
    poll(p, 2, (int)ms);
    eventfd_t ignored;
    if (p[0].revents) {
        eventfd_read(c->wake, &ignored);
    }
    pons_thread_deliver(c->t);
}

static int go(carried *c, pons_error *err)
{
    int rc = take_mail(c, err);
    while (rc >= 0 && !c->halt) {
        const pons_run_state state = pons_run_state_get(c->run);
        if (state == PONS_RUN_READY) {
            rc = pons_run_step(c->run, err);
        } else if (state == PONS_RUN_PARKED) {
            const int64_t due = pons_run_deadlines(c->run, err);
            if (pons_run_state_get(c->run) == PONS_RUN_PARKED) {
                sleep_until(c, due);
            }
        } else {
            break;
        }
        const int received = take_mail(c, err);
        rc = rc < 0 ? rc : received;
    }
    return rc;
}

// ---- ending -------------------------------------------------------------------------------------

// What a client's program would have called it.
static const char *error_name(const pons_error *err)
{
    switch (err->status) {
    case PONS_ERECURSION:
        return "GraphRecursionError";
    case PONS_ECONCURRENT:
        return "InvalidUpdateError";
    case PONS_EINVAL:
        return "ValueError";
    case PONS_ETIMEOUT:
        return "TimeoutError";
    default:
        return "RuntimeError";
    }
}

static pons_value *error_value(const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_CAUSE_MAX];
    return pons_object("error", json_string(error_name(err)), "message",
                       pons_string(pons_error_line(err, line, sizeof line)), NULL);
}

static pons__job_state outcome(const carried *c, int rc, const pons_error *err,
                               pons_value **ret_error)
{
    *ret_error = NULL;
    if (c->halt) {
        return PONS__JOB_INTERRUPTED;
    }
    if (rc < 0) {
        *ret_error = error_value(err);
        return PONS__JOB_ERROR;
    }
    if (!c->run || pons_run_state_get(c->run) != PONS_RUN_FAILED) {
        return PONS__JOB_SUCCESS; // one that waits for people has done what it could
    }
    const pons_error *why = pons_run_error(c->run);
    *ret_error = error_value(why);
    return why->status == PONS_ETIMEOUT ? PONS__JOB_TIMEOUT : PONS__JOB_ERROR;
}

// [{id, value}] of what the run asks people; NULL: nothing.
static pons_value *asked(const carried *c)
{
    if (!c->run || pons_run_state_get(c->run) != PONS_RUN_INTERRUPTED) {
        return NULL;
    }
    pons_autovalue pending = pons_run_pending(c->run);
    pons_value *list = json_array();
    pons_each(one, pending) {
        if (strcmp(pons_get_str(one, "kind", ""), "human") == 0) {
            json_array_append_new(list,
                                  pons_object("id", pons_value_ref(pons_get(one, "id")), "value",
                                              pons_value_ref(pons_get(one, "request")), NULL));
        }
    }
    return list;
}

static int tell_ended(carried *c, pons__job_state state, const pons_value *error, pons_error *err)
{
    return !c->t ? PONS_OK
                 : pons_thread_emit(c->t, c->graph->ns, PONS__RUN_ENDED,
                                    pons_object("run_id", json_string(c->job->id), "status",
                                                json_string(pons__job_word(state)), "error",
                                                error ? pons_value_ref(error) : NULL, "interrupts",
                                                asked(c), NULL),
                                    err);
}

// From the lease to the last superstep.
static int run(carried *c, bool again, pons_error *err)
{
    const pons_serve_options *o = &c->h->s->o;
    int rc = open_thread(c, err);
    rc = rc < 0 || c->halt ? rc : pons_cancel_create(&c->cancel, err);
    if (c->cancel) {
        pons__jobs_cancel(&c->h->queue, c->session, c->cancel);
    }
    rc = rc < 0 || c->halt ? rc : tell_started(c, err);
    rc = rc < 0 || c->halt
             ? rc
             : pons__job_begin(o, c->job, c->graph, c->t, again, c->cancel, &c->run, err);
    return rc < 0 || c->halt || !c->run ? rc : go(c, err);
}

// Whoever serves what the run waits for hears that nobody wants it now.
static void cancel_awaits(const carried *c)
{
    pons_autovalue pending = c->run ? pons_run_pending(c->run) : NULL;
    if (c->run && c->graph->stop) {
        c->graph->stop(c->graph->user, c->job->thread, c->run);
        return;
    }
    pons_each(one, pending) {
        const char *kind = pons_get_str(one, "kind", "");
        for (size_t k = 0; k < c->graph->n_handlers; k++) {
            const pons_await_handler *h = &c->graph->handlers[k];
            if (h->cancel && strcmp(h->kind, kind) == 0) {
                h->cancel(h->user, c->run, pons_get_str(one, "id", ""));
            }
        }
    }
}

static void put_away(carried *c)
{
    pons__jobs_cancel(&c->h->queue, c->session, NULL);
    pons_cancel_destroy(c->cancel);
    pons_run_destroy(c->run);
    pons_thread_close(c->t);
    c->cancel = NULL;
    c->run = NULL;
    c->t = NULL;
}

// The store cannot write: nobody of whom the run waits for is to tell it anything any more.
static went let_go(carried *c, int tries, const pons_error *err)
{
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_CAUSE_MAX];
    if (tries == 0) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "run %s waits for the store: %s", c->job->id,
                 pons_error_line(err, line, sizeof line));
    }
    if (c->run && c->graph->let_go) {
        c->graph->let_go(c->graph->user, c->job->thread, c->run);
    }
    return WENT_AWAY;
}

// From where the run stands to its end.
static went carry_on(carried *c, bool again, int tries)
{
    pons__past was = {0};
    pons_error err = PONS_ERROR_INIT;
    pons_value *error = NULL;
    c->halt = PONS__HALT_NOT;
    int rc = again ? pons__job_past(c->h->s->o.store, c->job, &was, &err) : PONS_OK;
    if (rc >= 0 && was.ended) { // only the record was missing
        pons__jobs_ending(&c->h->queue, c->session, was.state, was.error, wall(c));
        return WENT_TO_ITS_END;
    }
    c->attempt = was.started + 1;
    rc = rc < 0 ? rc : run(c, was.started > 0, &err);
    if (c->halt == PONS__HALT_CLOSING) { // the next server goes on
        return WENT_CLOSING;
    }
    const bool failed = c->run && pons_run_state_get(c->run) == PONS_RUN_FAILED;
    if (rc < 0 ? store_failed(c, &err) : failed && store_failed(c, pons_run_error(c->run))) {
        return let_go(c, tries, rc < 0 ? &err : pons_run_error(c->run));
    }
    pons_error why = PONS_ERROR_INIT;
    if (c->halt == PONS__HALT_STOP || (c->halt == PONS__HALT_ROLLBACK && c->graph->stop)) {
        cancel_awaits(c);
    }
    int reported =
        c->halt == PONS__HALT_ROLLBACK && c->run ? pons_run_rollback(c->run, &why) : PONS_OK;
    if (reported >= 0) {
        const pons__job_state state = outcome(c, rc, &err, &error);
        pons__jobs_ending(&c->h->queue, c->session, state, error, wall(c));
        reported = tell_ended(c, state, error, &why);
    }
    if (reported < 0 && store_failed(c, &why)) {
        pons__jobs_not_ended(&c->h->queue, c->session);
        return let_go(c, tries, &why);
    }
    if (reported < 0) {
        pons_log(PONS_LOG_WARN, PONS__SERVE, "run %s: %s", c->job->id, why.message);
    }
    return WENT_TO_ITS_END;
}

// A while, or until the server closes. What was told meanwhile was for a run that is put away.
static bool wait_for_store(carried *c, int tries)
{
    eventfd_t ignored;
    struct pollfd p = {.fd = c->wake, .events = POLLIN};
    const int ms = tries < 4 ? AWAY_FIRST_MS << tries : AWAY_MAX_MS;
    if (poll(&p, 1, ms) > 0) {
        eventfd_read(c->wake, &ignored);
    }
    pons__mail_drop(pons__jobs_mail(&c->h->queue, c->session, &c->halt));
    return c->halt != PONS__HALT_CLOSING;
}

// Its record, when the log has its end. A server that closes meanwhile leaves that to the next one.
static void keep(carried *c)
{
    pons_error err = PONS_ERROR_INIT;
    for (int tries = 0; pons__runhost_ended(c->h, c->job, &err) < 0; tries++) {
        if (!store_failed(c, &err) || !wait_for_store(c, tries)) {
            pons_log(PONS_LOG_WARN, PONS__SERVE, "run %s: %s", c->job->id, err.message);
            return;
        }
        err = (pons_error)PONS_ERROR_INIT;
    }
}

static void carry(carried *c)
{
    went w = carry_on(c, c->job->taken_up, 0);
    for (int tries = 0; w == WENT_AWAY; tries++) {
        put_away(c);
        w = wait_for_store(c, tries) ? carry_on(c, true, tries + 1) : WENT_CLOSING;
    }
    put_away(c);
    if (w == WENT_TO_ITS_END) {
        keep(c);
        pons__watcher_ended(c->h->watcher, c->job->thread, c->job->id);
    }
    pons__jobs_done(&c->h->queue, c->session, wall(c));
}

void *pons__worker(void *user)
{
    pons__runhost *h = user;
    const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (;;) {
        pons__session *s = pons__jobs_take(&h->queue, wake);
        if (!s) {
            break;
        }
        carried c = {.h = h,
                     .session = s,
                     .job = s->jobs,
                     .graph = pons__runhost_graph(h, s->jobs->graph),
                     .wake = wake};
        carry(&c);
    }
    if (wake >= 0) {
        close(wake);
    }
    return NULL;
}
