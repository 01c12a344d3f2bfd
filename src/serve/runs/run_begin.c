// run_begin.c - how a run begins, or goes on after its server's death.
//
//     command                 resume: the open question, or {id: answer}; else update and goto
//     checkpoint              a fork of it, with the input, or the answer to what it asks again
//     input                   a new invocation
//     nothing                 goes on with what was left
//
// A checkpoint carries which run it is of, so after a death it shows whether a run's beginning was
// stored. If so, it goes on. If not, it begins; an answer that was stored before the first checkpoint
// is not asked for any more, and then it goes on as well.
#include "serve/runs/run_begin.h"

#include <string.h>

enum { NODES_MAX = 64 };

typedef struct starting {
    const pons__job *j;
    const pons_serve_graph *g;
    pons_store store;
    pons_thread *t;
    pons_run_options o;
    pons_value *head; // a snapshot without values; NULL: there is no checkpoint
    const char *before[NODES_MAX + 1], *after[NODES_MAX + 1];
} starting;

// ---- the log ------------------------------------------------------------------------------------

typedef struct past_reading {
    const pons__job *j;
    pons__past *past;
} past_reading;

static int see(void *user, const pons_event_row *row)
{
    past_reading *r = user;
    const bool started = strcmp(row->type, PONS__RUN_STARTED) == 0;
    if (!started && strcmp(row->type, PONS__RUN_ENDED) != 0) {
        return 0;
    }
    pons_autovalue v = NULL;
    if (pons_value_read(row->payload.data, row->payload.len, &v, NULL) < 0 ||
        strcmp(pons_get_str(v, "run_id", ""), r->j->id) != 0) {
        return 0;
    }
    if (started) {
        r->past->started++;
        return 0;
    }
    const char *word = pons_get_str(v, "status", "");
    r->past->ended = true;
    for (int s = 0; s < PONS__JOB_STATES; s++) {
        if (strcmp(pons__job_word((pons__job_state)s), word) == 0) {
            r->past->state = (pons__job_state)s;
        }
    }
    r->past->error = pons_value_ref(pons_get(v, "error"));
    return 1;
}

int pons__job_past(pons_store store, const pons__job *j, pons__past *ret, pons_error *err)
{
    past_reading r = {.j = j, .past = ret};
    *ret = (pons__past){.state = PONS__JOB_SUCCESS};
    const int rc = store.ops->events(store.self, j->thread, j->after, 0, see, &r, err);
    return rc == PONS_ENOTFOUND ? PONS_OK : rc;
}

// ---- options ------------------------------------------------------------------------------------

static const char *const *nodes(const pons_value *v, const char *ret[NODES_MAX + 1])
{
    size_t n = 0;
    if (json_is_string(v)) {
        ret[n++] = json_string_value(v);
    }
    pons_each(one, v) {
        if (n < NODES_MAX) {
            ret[n++] = json_string_value(one);
        }
    }
    ret[n] = NULL;
    return n ? ret : NULL;
}

static pons_value *metadata(const pons__job *j)
{
    pons_value *m = json_deep_copy(j->metadata);
    json_object_set_new(m, "graph_id", json_string(j->graph));
    json_object_set_new(m, "assistant_id", json_string(j->assistant));
    json_object_set_new(m, "thread_id", json_string(j->thread));
    json_object_set_new(m, PONS__RUN_MEMBER, json_string(j->id));
    return m;
}

// ---- each way -----------------------------------------------------------------------------------

static bool asks(const starting *s, const char *id)
{
    return pons_find(pons_get(s->head, "interrupts"), "id", id) != NULL;
}

// Whether an answer is {id of an open question: its answer, …}.
static bool is_map(const starting *s, const pons_value *resume)
{
    if (json_object_size(resume) == 0) {
        return false;
    }
    pons_each_member(id, v, resume) {
        if (!asks(s, id)) {
            return false;
        }
    }
    return true;
}

static int go_on(const starting *s, pons_run **ret, pons_error *err)
{
    return pons_run_resume(s->t, s->g->graph, s->g->ns, &s->o, ret, err);
}

static int go_to(const starting *s, const pons_value *go, pons_value *update, pons_run **ret,
                 pons_error *err)
{
    pons_autovalue list = json_is_array(go) ? pons_value_ref(go) : json_pack("[O]", go);
    const char *names[NODES_MAX + 1] = {NULL};
    pons_send sends[NODES_MAX];
    pons_command cmd = {.update = update, .go = names, .sends = sends};
    size_t n = 0;
    pons_each(one, list) {
        const char *node = pons_get_str(one, "node", NULL);
        if (json_is_string(one) && n < NODES_MAX) {
            names[n++] = json_string_value(one);
        } else if (node && cmd.n_sends < NODES_MAX) {
            const pons_value *input = pons_get(one, "input"), *args = pons_get(one, "args");
            sends[cmd.n_sends++] = (pons_send){node, pons_value_ref(input ? input : args)};
        }
    }
    return pons_run_command(s->t, s->g->graph, s->g->ns, &cmd, &s->o, ret, err);
}

static int command(const starting *s, bool again, pons_run **ret, pons_error *err)
{
    const pons__order *w = &s->j->order;
    pons_command cmd = {.update = pons_value_ref(w->update)};
    if (w->go) {
        return go_to(s, w->go, cmd.update, ret, err);
    }
    if (w->resume && is_map(s, w->resume)) {
        cmd.resume_map = w->resume;
    } else {
        cmd.resume = w->resume;
    }
    const int rc = pons_run_command(s->t, s->g->graph, s->g->ns, &cmd, &s->o, ret, err);
    if (rc < 0 && again) { // the answer was there already
        *err = (pons_error)PONS_ERROR_INIT;
        return go_on(s, ret, err);
    }
    return rc;
}

// An older checkpoint asks its questions again, and then gets the answers.
static int fork_and_answer(const starting *s, pons_run **ret, pons_error *err)
{
    const pons__order *w = &s->j->order;
    pons_run *r = NULL;
    int rc = pons_run_fork(s->t, s->g->graph, s->g->ns, w->checkpoint, w->command ? NULL : w->input,
                           &s->o, &r, err);
    if (rc >= 0 && w->resume) {
        rc = pons_run_wait(r, err);
        rc = rc < 0 ? rc : pons_run_resume_value(r, w->resume, err);
    }
    if (rc < 0) {
        pons_run_destroy(r);
        return rc;
    }
    *ret = r;
    return rc;
}

static bool is_ours(const starting *s)
{
    return strcmp(pons_get_str(pons_get(s->head, "metadata"), PONS__RUN_MEMBER, ""), s->j->id) == 0;
}

// It had been begun. Nothing when it had come to its end, or to a question, but for saying so.
static int take_up(const starting *s, pons_run **ret, pons_error *err)
{
    const size_t next = json_array_size(pons_get(s->head, "next"));
    return next == 0 ? PONS_OK : go_on(s, ret, err);
}

int pons__job_begin(const pons_serve_options *o, const pons__job *j, const pons_serve_graph *g,
                    pons_thread *t, bool again, pons_cancel *cancel, pons_run **ret,
                    pons_error *err)
{
    const pons__order *w = &j->order;
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue meta = metadata(j);
    starting s = {.j = j, .g = g, .store = o->store, .t = t};
    s.o = (pons_run_options){.durability = w->durability,
                             .recursion_limit = w->recursion_limit,
                             .stream = w->stream,
                             .stream_subgraphs = w->subgraphs,
                             .metadata = meta,
                             .interrupt_before = nodes(w->before, s.before),
                             .interrupt_after = nodes(w->after, s.after),
                             .context = w->context,
                             .cancel = cancel};
    int rc = pons_state_snapshot(o->store, j->thread, g->ns, &(pons_snapshot_options){.bare = true},
                                 &s.head, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    if (again && is_ours(&s)) {
        rc = take_up(&s, ret, err);
    } else if (w->checkpoint &&
               strcmp(w->checkpoint, pons_get_str(s.head, "checkpoint_id", "")) != 0) {
        rc = fork_and_answer(&s, ret, err);
    } else if (w->command) {
        rc = command(&s, again, ret, err);
    } else if (w->input) {
        rc = pons_run_start(t, g->graph, g->ns, w->input, &s.o, ret, err);
    } else if (!s.head) {
        rc = pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                            "there is no input, and nothing to go on with");
    } else {
        rc = go_on(&s, ret, err);
    }
    pons_value_unref(s.head);
    return rc;
}
