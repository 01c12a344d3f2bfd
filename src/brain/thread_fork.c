// thread_fork.c - a thread as another one was at one of its checkpoints.
//
// The brain has two lines of checkpoints on one thread, and a checkpoint is of one of them. Their
// ids sort by time, so "at this checkpoint" has a meaning for both: of each line the newest one
// that is not younger. Each is gone on from by the engine's own fork, which makes interrupts fire
// again and every effect wait for a person.
//
// What the two lines had said to each other and not yet heard is not in a checkpoint: messages are
// the store's, and a copy has none, also one of the thread as it stands. An activation, or a word to let
// go, that the inner loop had not read is said again; when the inner loop had ended, or was between two
// of its runs, and the kernel had not heard so, the kernel believes it idle, and its next tick activates
// the task anew.
#include "brain/records/event_fields.h"
#include "brain/state/self.h"

#include <string.h>

typedef struct line { // one of the two, at the moment of the fork
    const char *ns;
    char id[32];     // the checkpoint to go on from; empty: it had none yet
    bool is_head;    // nothing came after it
    bool later;      // something did
    bool pruned;     // what there was at that moment is gone
    char oldest[32]; // that is there and can be read by itself
} line;

typedef struct finding {
    line *l;
    const char *at;
    bool any;
} finding;

// What was pruned can't be gone on from: neither the checkpoint itself, nor one of a graph when the
// other's of that moment is gone.
static int refuse(const char *from, const char *at, bool known, const line *kernel,
                  const line *react, pons_error *err)
{
    const bool pruned = kernel->pruned || react->pruned;
    if (!at || (known && !pruned)) {
        return PONS_OK;
    }
    return pruned ? pons_error_set(err, PONS_ENOTFOUND, "brain",
                                   "thread %s as it was at %s is pruned: %s is the oldest that it "
                                   "can be forked at",
                                   from, at,
                                   strcmp(kernel->oldest, react->oldest) > 0 ? kernel->oldest
                                                                             : react->oldest)
                  : pons_error_set(err, PONS_ENOTFOUND, "brain", "thread %s has no checkpoint %s",
                                   from, at);
}

static int find_row(void *user, const pons_checkpoint_row *row)
{
    finding *f = user;
    if (strcmp(row->id, f->at) > 0) {
        f->any = true;
        f->l->pruned = row->parent[0]; // of the oldest: something was before it
        memcpy(f->l->oldest, row->id, sizeof f->l->oldest);
        return 0;
    }
    f->l->pruned = false;
    memcpy(f->l->id, row->id, sizeof f->l->id);
    f->l->is_head = !f->any;
    return 1;
}

static int find(pons_store store, const char *thread, const char *at, line *l, bool *ret_known,
                pons_error *err)
{
    finding f = {.l = l, .at = at};
    if (!at) {
        return PONS_OK;
    }
    pons_error none = PONS_ERROR_INIT;
    int rc = store.ops->history(store.self, thread, l->ns, "", 0, find_row, &f, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    l->later = f.any;
    *ret_known = *ret_known || strcmp(l->id, at) == 0;
    return PONS_OK;
}

static int fork_line(pons_thread *t, const line *l, pons_error *err)
{
    pons_graph *g = NULL;
    pons_run *run = NULL;
    if (!l->id[0] || l->is_head) {
        return PONS_OK;
    }
    int rc = pons_brain_graph(l->ns, &g, err);
    if (rc >= 0) {
        rc = pons_run_fork(t, g, l->ns, l->id, NULL,
                           &(pons_run_options){.durability = PONS_DURABILITY_SYNC}, &run, err);
    }
    pons_run_destroy(run); // nothing has run; a resume does
    pons_graph_destroy(g);
    return rc;
}

static int say_idle(pons__tasks *t, pons_thread *thread, pons_error *err)
{
    pons_graph *g = NULL;
    t->react->state = PONS_INNER_IDLE;
    pons_autovalue values = pons_object("tasks", pons__record_write(&pons__tasks_record, t), NULL);
    int rc = pons_brain_graph(PONS_NS_KERNEL, &g, err);
    if (rc >= 0) {
        rc = pons_state_update(thread, g, PONS_NS_KERNEL, values, "kernel_route", NULL, err);
    }
    pons_graph_destroy(g);
    return rc;
}

static int say_again(pons_store store, const char *id, int kind, pons_value *mail, pons_error *err)
{
    const int rc = pons_inbox_post(store, id, PONS_NS_REACT, pons__mail_words[kind], mail, err);
    pons_value_unref(mail);
    return rc;
}

// The word to begin with the task: with its questions, which stood in the letter alone.
static int say_activate(pons_store store, const char *id, const pons__tasks *t, pons_error *err)
{
    const pons__activate mail = {.activation = t->react->activation,
                                 .mode = t->react->mode,
                                 .reason = t->mode_reason,
                                 .task = pons__queue_find(t, t->react->task_id)};
    return say_again(store, id, PONS_MAIL_ACTIVATE,
                     pons__record_write(&pons__activate_record, &mail), err);
}

// The word to let go of it.
static int say_preempt(pons_store store, const char *id, const pons__tasks *t, pons_error *err)
{
    const bool ended = *t->react->task_id && !pons__queue_find(t, t->react->task_id);
    const pons__preempt mail = {.activation = t->react->activation,
                                .mode = t->react->mode,
                                .reason = t->mode_reason,
                                .stop_base = ended || t->react->mode == PONS_MODE_SAFE};
    return say_again(store, id, PONS_MAIL_PREEMPT, pons__record_write(&pons__preempt_record, &mail),
                     err);
}

// What the kernel has told the inner loop, and that has not read, goes back to its task.
static void take_back_asks(pons__tasks *t)
{
    pons__task *task = pons__queue_find(t, t->react->task_id);
    if (task && t->react->asks.n > 0) {
        pons__list_clear(&pons__question_record, &task->asks);
        pons__list_copy(&pons__question_record, &task->asks, &t->react->asks);
    }
}

static int mend(pons_store store, pons_thread *thread, pons_error *err)
{
    const char *id = pons_thread_id(thread);
    pons_autovalue state = NULL;
    pons_autovalue inner = NULL;
    pons_autovalue heads = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (pons_state_read(store, id, PONS_NS_KERNEL, &state, &none) < 0) {
        return PONS_OK; // it was asked before its first tick: there is nothing to agree on
    }
    pons_state_read(store, id, PONS_NS_REACT, &inner, &none); // it may not have begun
    pons_state_history(store, id, PONS_NS_REACT, 1, false, &heads, &none);
    PONS__AUTO(tasks) t = pons__record_read(&pons__tasks_record, pons_get(state, "tasks"));
    if (!t->react) {
        t->react = pons__record_new(&pons__reported_record);
    }
    PONS__AUTO(react) in = pons__record_read(&pons__react_record, pons_get(inner, "react"));
    const bool received = in->activation == t->react->activation;
    const bool at_work = json_array_size(pons_get(json_array_get(heads, 0), "next")) > 0;
    const bool lets_go = in->preempt;
    const int reported = t->react->state;
    int rc = PONS_OK;
    if (!received) {
        take_back_asks(t);
    }
    if (reported == PONS_INNER_ACTIVE && !received) {
        rc = say_activate(store, id, t, err);
    } else if (reported == PONS_INNER_STOPPING && received && at_work && !lets_go) {
        rc = say_preempt(store, id, t, err);
    } else if (reported != PONS_INNER_IDLE && !(received && at_work)) {
        // It has ended, or was to go on, or never began, and the message is not here.
        rc = say_idle(t, thread, err);
    }
    return rc;
}

static int keep_started(void *user, const pons_event_row *row)
{
    pons_value **newest = user;
    pons_value *payload = NULL;
    if (strcmp(row->type, "run.started") == 0 &&
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        pons_value_unref(*newest);
        *newest = payload;
    }
    return 0;
}

// The log was copied whole, with a run.done that the fork is not: it begins anew, as it was begun.
static int say_started(pons_store store, pons_thread *t, const char *from, const char *checkpoint,
                       pons_error *err)
{
    pons_autovalue was = NULL;
    const int rc = store.ops->events(store.self, pons_thread_id(t), 0, 0, keep_started, &was, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *robot = pons_get(was, "robot_ms"); // of then: nothing has moved since
    PONS__AUTO(run_started) again = pons__record_read(&pons__run_started_record, was);
    pons_autovalue none = json_array();
    const pons__fork_point point = {.thread = from, .checkpoint_id = checkpoint};
    pons_value *said = PONS__WRITE(run_started, .goal = again->goal ? again->goal : none,
                                   .options = again->options, .forked = &point);
    json_object_set_new(said, "robot_ms", robot ? pons_value_ref(robot) : json_integer(0));
    return pons_thread_emit(t, PONS_NS_KERNEL, pons__run_started_record.name, said, err);
}

int pons_brain_fork(pons_store store, const pons_clock *clock, const char *from,
                    const char *checkpoint, const char *to, pons_error *err)
{
    line kernel = {.ns = PONS_NS_KERNEL}, react = {.ns = PONS_NS_REACT};
    bool known = checkpoint == NULL;
    int rc = find(store, from, checkpoint, &kernel, &known, err);
    rc = rc < 0 ? rc : find(store, from, checkpoint, &react, &known, err);
    rc = rc < 0 ? rc : refuse(from, checkpoint, known, &kernel, &react, err);
    rc = rc < 0 ? rc : pons_state_copy(store, from, to, err);
    if (rc < 0) {
        return rc;
    }
    pons_thread *t = NULL;
    if (!react.id[0] && react.later) { // it had not begun
        rc = store.ops->prune(store.self, to, &(pons_prune){.ns = PONS_NS_REACT, .keep_last = -1},
                              NULL, err);
    }
    if (rc >= 0) {
        rc = pons_thread_open(store, to, &(pons_thread_options){.clock = *clock}, &t, err);
    }
    rc = rc < 0 ? rc : fork_line(t, &kernel, err);
    rc = rc < 0 ? rc : fork_line(t, &react, err);
    rc = rc < 0 ? rc : mend(store, t, err);
    rc = rc < 0 || !checkpoint ? rc : say_started(store, t, from, checkpoint, err);
    pons_thread_close(t);
    if (rc < 0) { // half a fork is none
        pons_error none = PONS_ERROR_INIT;
        store.ops->thread_delete(store.self, to, &none);
    }
    return rc;
}
