// run_job.c - one run that a client asked for: what it is to do, and how far it is.
//
//     pending --> running --> success | error | interrupted | timeout
//        +------------------> interrupted
//
// What it is to do is JSON as the client said it (`kwargs`), which is kept and shown as it is, and
// decoded once into a pons__order that borrows from it. A job that was running when the process
// ended is read back as pending, with the number of its attempts.
#include "serve/runs/run_job.h"

#include "pons/random.h"
#include "serve/access/server.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "serve"

static const char *const states[] = {"pending", "running",     "success",
                                     "error",   "interrupted", "timeout"};
static const char *const multitasks[] = {"enqueue", "reject", "interrupt", "rollback"};

const char *pons__job_word(pons__job_state s)
{
    return states[s];
}

const char *pons__multitask_word(pons__multitask m)
{
    return multitasks[m];
}

bool pons__multitask_of(const char *word, pons__multitask *ret)
{
    const int at = pons__word_at(multitasks, PONS__MULTITASKS, word);
    *ret = at < 0 ? PONS__MULTITASK_ENQUEUE : (pons__multitask)at;
    return at >= 0;
}

bool pons__job_ended(const pons__job *j)
{
    return j->state >= PONS__JOB_SUCCESS;
}

void pons__uuid(int64_t wall_ms, char ret[PONS__UUID])
{
    static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
    static pons_rand rand;
    static bool seeded;
    static int64_t last_ms; // the order of ids is that of calls, within a millisecond too
    static unsigned turn;   // 12 bits
    pthread_mutex_lock(&mtx);
    if (!seeded) {
        pons_rand_seed_os(&rand);
        seeded = true;
    }
    const uint64_t low = pons_rand_u64(&rand);
    if (wall_ms > last_ms || turn >= 0xfff) {
        last_ms = wall_ms > last_ms ? wall_ms : last_ms + 1;
        turn = (unsigned)pons_rand_below(&rand, 0x100);
    } else {
        turn++;
    }
    const uint64_t ms = (uint64_t)last_ms;
    const unsigned in_ms = turn;
    pthread_mutex_unlock(&mtx);
    snprintf(ret, PONS__UUID, "%08" PRIx64 "-%04" PRIx64 "-7%03x-%04" PRIx64 "-%012" PRIx64,
             ms >> 16 & 0xffffffff, ms & 0xffff, in_ms & 0xfff, (low >> 48 & 0x3fff) | 0x8000,
             low & UINT64_C(0xffffffffffff));
}

// ---- what a run is to do ------------------------------------------------------------------------

// A member that says something: null is as good as none.
static const pons_value *member(const pons_value *v, const char *name)
{
    const pons_value *m = pons_get(v, name);
    return json_is_null(m) ? NULL : m;
}

// The words of clients for the engine's modes; those that it has not are 0.
static uint32_t mode_of(const char *word)
{
    if (strcmp(word, "events") == 0) { // what callbacks are made of
        return PONS_STREAM_TASKS | PONS_STREAM_MESSAGES | PONS_STREAM_CUSTOM;
    }
    return strcmp(word, "messages-tuple") == 0 ? PONS_STREAM_MESSAGES : pons_stream_mode(word);
}

static void read_modes(const pons_value *modes, pons__order *o)
{
    o->stream = PONS_STREAM_VALUES; // a client that comes later finds these at least
    if (json_is_string(modes)) {
        o->stream |= mode_of(json_string_value(modes));
    }
    pons_each(one, modes) {
        o->stream |= mode_of(json_is_string(one) ? json_string_value(one) : "");
    }
}

static int read_command(const pons_value *command, pons__order *o, pons_error *err)
{
    if (!command) {
        return PONS_OK;
    }
    o->command = true;
    o->update = member(command, "update");
    o->go = member(command, "goto");
    o->go = json_is_array(o->go) && json_array_size(o->go) == 0 ? NULL : o->go; // Command's default
    o->resume = pons_get(command, "resume"); // null is an answer, if only it is said
    if (json_is_null(o->resume) && (o->update || o->go)) {
        o->resume = NULL;
    }
    if (!o->update && !o->go && !o->resume) {
        o->command = false;
    }
    if (o->resume && o->go) {
        return pons_error_set(err, PONS_EINVAL, HOST,
                              "command: resume and goto do not go together");
    }
    return PONS_OK;
}

static pons_durability durability_of(const pons_value *k)
{
    static const char *const words[] = {"async", "sync", "exit"};
    const char *said = pons_get_str(k, "durability", NULL);
    const bool during = said || pons_get_bool(k, "checkpoint_during", true);
    const int at = said ? pons__word_at(words, 3, said) : 0;
    return !during ? PONS_DURABILITY_EXIT : (pons_durability)(at < 0 ? 0 : at);
}

int pons__order_read(const pons_value *k, pons__order *o, pons_error *err)
{
    const pons_value *config = member(k, "config"), *at = member(k, "checkpoint");
    const pons_value *configurable = member(config, "configurable");
    *o = (pons__order){.input = member(k, "input"),
                       .before = member(k, "interrupt_before"),
                       .after = member(k, "interrupt_after"),
                       .context = member(k, "context"),
                       .webhook = pons_get_str(k, "webhook", NULL),
                       .subgraphs = pons_get_bool(k, "stream_subgraphs", false)};
    o->recursion_limit = (int)pons_get_int(config, "recursion_limit", 0);
    o->context = o->context ? o->context : configurable;
    o->checkpoint = pons_get_str(k, "checkpoint_id", pons_get_str(at, "checkpoint_id", NULL));
    o->checkpoint =
        o->checkpoint ? o->checkpoint : pons_get_str(configurable, "checkpoint_id", NULL);
    o->checkpoint_ns = pons_get_str(at, "checkpoint_ns", "");
    o->durability = durability_of(k);
    read_modes(member(k, "stream_mode"), o);
    return read_command(member(k, "command"), o, err);
}

// ---- life ---------------------------------------------------------------------------------------

int pons__job_create(pons_value *kwargs, pons_value *metadata, pons__job **ret, pons_error *err)
{
    pons__job *j = calloc(1, sizeof *j);
    if (!j || !kwargs) {
        pons_value_unref(kwargs);
        pons_value_unref(metadata);
        free(j);
        return pons_error_set(err, PONS_ENOMEM, HOST, "no memory for a run");
    }
    j->refs = 1;
    j->kwargs = kwargs;
    j->metadata = metadata ? metadata : json_object();
    const int rc = pons__order_read(kwargs, &j->order, err);
    if (rc < 0) {
        pons__job_free(j);
        return rc;
    }
    *ret = j;
    return PONS_OK;
}

void pons__job_free(pons__job *j)
{
    if (j) {
        pons_value_unref(j->kwargs);
        pons_value_unref(j->metadata);
        pons_value_unref(j->error);
        free(j);
    }
}

// ---- as the store keeps it ----------------------------------------------------------------------

pons_value *pons__job_keep(const pons__job *j)
{
    return pons_object("run_id", json_string(j->id), "thread_id", json_string(j->thread),
                       "assistant_id", json_string(j->assistant), "graph_id", json_string(j->graph),
                       "status", json_string(pons__job_word(j->state)), "multitask_strategy",
                       json_string(pons__multitask_word(j->multitask)), "created_ms",
                       json_integer(j->created_ms), "updated_ms", json_integer(j->updated_ms),
                       "due_ms", json_integer(j->due_ms), "after", json_integer(j->after),
                       "attempt", json_integer(j->attempt), "temporary", json_boolean(j->temporary),
                       "metadata", pons_value_ref(j->metadata), "kwargs", pons_value_ref(j->kwargs),
                       "error", j->error ? pons_value_ref(j->error) : NULL, NULL);
}

static bool take(const pons_value *v, const char *name, char *ret, size_t cap)
{
    const char *text = pons_get_str(v, name, "");
    return *text && (size_t)snprintf(ret, cap, "%s", text) < cap;
}

int pons__job_read(const pons_value *v, pons__job **ret, pons_error *err)
{
    pons__job *j = NULL;
    const pons_value *metadata = pons_get(v, "metadata"), *kwargs = pons_get(v, "kwargs");
    const int state = pons__word_at(states, PONS__JOB_STATES, pons_get_str(v, "status", ""));
    int rc = pons__job_create(pons_value_ref(kwargs), pons_value_ref(metadata), &j, err);
    if (rc < 0) {
        return rc;
    }
    const bool ok = take(v, "run_id", j->id, sizeof j->id) &&
                    take(v, "thread_id", j->thread, sizeof j->thread) &&
                    take(v, "assistant_id", j->assistant, sizeof j->assistant) &&
                    take(v, "graph_id", j->graph, sizeof j->graph) && state >= 0 &&
                    pons__multitask_of(pons_get_str(v, "multitask_strategy", ""), &j->multitask);
    if (!ok) {
        pons__job_free(j);
        return pons_error_set(err, PONS_ECORRUPT, HOST, "a run that was kept cannot be read");
    }
    j->state = state == PONS__JOB_RUNNING ? PONS__JOB_PENDING : (pons__job_state)state;
    j->created_ms = pons_get_int(v, "created_ms", 0);
    j->updated_ms = pons_get_int(v, "updated_ms", 0);
    j->due_ms = pons_get_int(v, "due_ms", 0);
    j->after = pons_get_int(v, "after", 0);
    j->attempt = (int)pons_get_int(v, "attempt", 0);
    j->temporary = pons_get_bool(v, "temporary", false);
    j->error = pons_value_ref(pons_get(v, "error"));
    *ret = j;
    return PONS_OK;
}
