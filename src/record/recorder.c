// recorder.c - a recording as it is made: a queue, and the thread that writes.
//
//     any thread: report, event, world, picture --> queue (bounded) --> writer: topics --> file
//
// What other software says (ext/topics.h) is recorded as it is, with its own schemas.
//
// Whoever tells something never waits for the disk: it takes a lock that nobody holds while doing
// work, and where the queue is full what it tells is dropped and counted. The file says how many were
// dropped, where it happened (/log) and in its metadata. When the disk is full that is told once, what
// is there is closed, and everything after is dropped.
#include "pons/record.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MODULE        "record"
#define QUEUE_MAX     4096
#define PICTURES_MAX  8 // that wait
#define FLUSH_MS      1000
#define TOPICS_MAX    512
#define OURS          "/pons" // before the names of ours, where others' are recorded too
#define OTHERS        "/ros2" // before one of theirs that is called as one of ours
#define RAW_BYTES_MAX (64U * 1024U * 1024U) // of other software's messages that wait

typedef enum kind { REPORT, EVENT, WORLD, PICTURE, RAW } kind;

typedef struct item {
    struct item *next;
    kind kind;
    int64_t wall_ns;
    pons_value *value; // report, world; of an event {thread, ns, type, seq, ts_ms, payload}
    char name[64];     // of a picture
    void *data;        // of a picture, or raw; malloc
    size_t n;
    int raw; // whose it is
} item;

typedef struct topic {
    char *name, *schema; // schema: of a topic
    int id;
} topic;

typedef struct raw { // a topic of other software: const, once it is counted
    char *name, *type, *encoding, *schema_encoding, *schema;
} raw;

struct pons_recorder {
    pons_recorder_options o;    // const
    int64_t wall0_ns, mono0_ns; // const
    pthread_t thread;           // const
    bool has_thread;            // const
    pthread_mutex_t mtx;
    pthread_cond_t some;
    item *first, **last;      // [mtx]
    size_t waiting, pictures; // [mtx]
    size_t raw_bytes;         // [mtx] that wait
    raw raws[TOPICS_MAX];     // [mtx] (n_raws)
    int n_raws;               // [mtx]
    _Atomic bool apart;
    bool closing;              // [mtx]
    pons_recorder_about about; // [mtx]
    pons_mcap_writer *w;       // the writer's, as all below
    topic topics[TOPICS_MAX];
    size_t n_topics;
    topic schemas[TOPICS_MAX];
    size_t n_schemas;
    uint64_t reported_dropped;
    int64_t now_ns; // of the item that is written
    bool failed, crowded;
};

// ---- the writer ---------------------------------------------------------------------------------

static void tell(const pons_recorder *r, const char *text)
{
    if (r->o.tell) {
        r->o.tell(r->o.user, text);
    }
}

static void fail(pons_recorder *r, const pons_error *err)
{
    char line[1024], text[1200];
    if (r->failed) {
        return;
    }
    r->failed = true;
    snprintf(text, sizeof text, "%s; the recording ends here, the robot goes on",
             pons_error_line(err, line, sizeof line));
    tell(r, text);
    pthread_mutex_lock(&r->mtx);
    r->about.ended = true;
    pthread_mutex_unlock(&r->mtx);
}

// of: of other software; NULL: of ours.
static int schema_id(pons_recorder *r, const char *name, const raw *of, pons_error *err)
{
    for (size_t i = 0; i < r->n_schemas; i++) {
        if (strcmp(r->schemas[i].name, name) == 0) {
            return r->schemas[i].id;
        }
    }
    const bool room = r->n_schemas < TOPICS_MAX;
    char *text = !room ? NULL : of ? strdup(of->schema) : pons_record_schema(name);
    char *copy = text ? strdup(name) : NULL;
    const int id =
        copy ? pons_mcap_schema(r->w, name, of ? of->schema_encoding : "jsonschema", text, err)
             : pons_error_set(err, PONS_EINVAL, MODULE, "no schema %.60s", name);
    free(text);
    if (id < 0) {
        free(copy);
        return id;
    }
    r->schemas[r->n_schemas++] = (topic){copy, NULL, id};
    return id;
}

static int topic_id(pons_recorder *r, const char *name, const char *schema, const raw *of_other,
                    pons_error *err)
{
    char other[256];
    for (size_t i = 0; i < r->n_topics; i++) {
        if (strcmp(r->topics[i].name, name) == 0) {
            if (strcmp(r->topics[i].schema, schema) == 0) {
                return r->topics[i].id;
            }
            if (!of_other || strncmp(name, OTHERS, sizeof OTHERS - 1) == 0) {
                return pons_error_set(err, PONS_EINVAL, MODULE, "%.100s is %.60s, and %.60s", name,
                                      r->topics[i].schema, schema);
            }
            snprintf(other, sizeof other, OTHERS "%s", name);
            return topic_id(r, other, schema, of_other, err);
        }
    }
    const int of = r->n_topics < TOPICS_MAX
                       ? schema_id(r, schema, of_other, err)
                       : pons_error_set(err, PONS_EINVAL, MODULE, "too many topics");
    const int id =
        of < 0 ? of
               : pons_mcap_channel(r->w, of, name, of_other ? of_other->encoding : "json", err);
    char *copy = id < 0 ? NULL : strdup(name), *form = copy ? strdup(schema) : NULL;
    if (id >= 0 && !form) {
        free(copy);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a topic");
    }
    if (id >= 0) {
        r->topics[r->n_topics++] = (topic){copy, form, id};
    }
    return id;
}

// False: it is not recorded. More topics than there may be are told once, and the others go on.
static bool may_go_on(pons_recorder *r, int rc, const pons_error *err)
{
    if (rc == PONS_EINVAL && !r->crowded) {
        r->crowded = true;
        tell(r, err->message);
    } else if (rc < 0 && rc != PONS_EINVAL) {
        fail(r, err);
    }
    return rc >= 0;
}

static void write_message(pons_recorder *r, int id, const void *data, size_t n)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_mcap_write(r->w, id, r->now_ns, data, n, &err) < 0) {
        fail(r, &err);
    }
}

static void put(void *user, const char *name, const char *schema, const pons_value *message)
{
    pons_recorder *r = user;
    pons_error err = PONS_ERROR_INIT;
    char *text = NULL, apart[256];
    if (r->failed) {
        return;
    }
    // What `pons replay` goes by, and events, are called the same in every recording.
    const bool drawn = strncmp(schema, "pons.", 5) != 0;
    snprintf(apart, sizeof apart, OURS "%s", name);
    const int id = topic_id(r, drawn && atomic_load(&r->apart) ? apart : name, schema, NULL, &err);
    if (!may_go_on(r, id, &err)) {
        return;
    }
    const long n = pons_value_line(message, &text);
    if (n >= 0) {
        write_message(r, id, text, (size_t)n);
    } else {
        pons_error_set(&err, PONS_ENOMEM, MODULE, "no memory for a message");
        fail(r, &err);
    }
    free(text);
}

static void put_raw(pons_recorder *r, const item *i)
{
    pons_error err = PONS_ERROR_INIT;
    if (r->failed) {
        return;
    }
    pthread_mutex_lock(&r->mtx);
    const raw of = r->raws[i->raw];
    pthread_mutex_unlock(&r->mtx);
    const int id = topic_id(r, of.name, of.type, &of, &err);
    if (may_go_on(r, id, &err)) {
        write_message(r, id, i->data, i->n);
    }
}

static void write_item(pons_recorder *r, const item *i)
{
    r->now_ns = i->wall_ns;
    switch (i->kind) {
    case REPORT:
        pons_record_report(i->value, i->wall_ns, put, r);
        break;
    case WORLD:
        pons_record_world(i->value, i->wall_ns, put, r);
        break;
    case PICTURE:
        pons_record_picture(i->name, i->data, i->n, i->wall_ns, put, r);
        break;
    case RAW:
        put_raw(r, i);
        break;
    case EVENT:
        pons_record_event_tell(&(pons_record_event){.thread = pons_get_str(i->value, "thread", ""),
                                                    .ns = pons_get_str(i->value, "ns", ""),
                                                    .type = pons_get_str(i->value, "type", ""),
                                                    .seq = pons_get_int(i->value, "seq", 0),
                                                    .ts_ms = pons_get_int(i->value, "ts_ms", 0),
                                                    .payload = pons_get(i->value, "payload")},
                               put, r);
        break;
    }
}

static void item_free(item *i)
{
    pons_value_unref(i->value);
    free(i->data);
    free(i);
}

static void tell_dropped(pons_recorder *r, uint64_t dropped)
{
    char text[128];
    if (dropped == r->reported_dropped || r->failed) {
        return;
    }
    snprintf(text, sizeof text, "%llu messages found no room in the queue and are not recorded",
             (unsigned long long)(dropped - r->reported_dropped));
    if (r->reported_dropped == 0) {
        tell(r, text);
    }
    r->reported_dropped = dropped;
    r->now_ns = pons_recorder_now_ns(r);
    pons_record_line(text, 3, r->now_ns, put, r);
}

static void flush(pons_recorder *r)
{
    pons_error err = PONS_ERROR_INIT;
    if (!r->failed && pons_mcap_flush(r->w, &err) < 0) {
        fail(r, &err);
    }
}

static void *run(void *user)
{
    pons_recorder *r = user;
    int64_t flushed_ns = pons_now_ns(&r->o.clock);
    bool closing = false;
    while (!closing) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += FLUSH_MS / 1000;
        pthread_mutex_lock(&r->mtx);
        while (!r->first && !r->closing && pthread_cond_timedwait(&r->some, &r->mtx, &until) == 0) {
        }
        item *all = r->first;
        r->first = NULL;
        r->last = &r->first;
        r->waiting = r->pictures = r->raw_bytes = 0;
        closing = r->closing;
        const uint64_t dropped = r->about.dropped;
        pthread_mutex_unlock(&r->mtx);
        while (all) {
            item *next = all->next;
            write_item(r, all);
            item_free(all);
            all = next;
        }
        tell_dropped(r, dropped);
        const int64_t now = pons_now_ns(&r->o.clock);
        if (now - flushed_ns >= FLUSH_MS * PONS_NS_PER_MS) {
            flushed_ns = now;
            flush(r);
        }
        pthread_mutex_lock(&r->mtx);
        r->about.bytes = pons_mcap_size(r->w);
        pthread_mutex_unlock(&r->mtx);
    }
    return NULL;
}

// ---- who tells ----------------------------------------------------------------------------------

// Takes what i has.
static void queue(pons_recorder *r, item i)
{
    const size_t most = r->o.queue_max ? r->o.queue_max : QUEUE_MAX;
    i.wall_ns = i.wall_ns ? i.wall_ns : pons_recorder_now_ns(r);
    item *kept = malloc(sizeof *kept);
    pthread_mutex_lock(&r->mtx);
    r->about.received++;
    const bool room = kept && !r->about.ended && !r->closing && r->waiting < most &&
                      (i.kind != PICTURE || r->pictures < PICTURES_MAX) &&
                      (i.kind != RAW || r->raw_bytes + i.n <= RAW_BYTES_MAX);
    if (!room) {
        r->about.dropped += !r->about.ended;
    } else if (!r->o.at_once) {
        *kept = i;
        *r->last = kept;
        r->last = &kept->next;
        r->waiting++;
        r->pictures += i.kind == PICTURE;
        r->raw_bytes += i.kind == RAW ? i.n : 0;
        pthread_cond_signal(&r->some);
    }
    pthread_mutex_unlock(&r->mtx);
    if (room && !r->o.at_once) {
        return;
    }
    if (room) {
        write_item(r, &i);
    }
    pons_value_unref(i.value);
    free(i.data);
    free(kept);
}

void pons_recorder_report(pons_recorder *r, const pons_value *report, int64_t wall_ns)
{
    queue(r, (item){.kind = REPORT, .wall_ns = wall_ns, .value = pons_value_ref(report)});
}

void pons_recorder_world(pons_recorder *r, const pons_value *world, int64_t wall_ns)
{
    queue(r, (item){.kind = WORLD, .wall_ns = wall_ns, .value = pons_value_ref(world)});
}

void pons_recorder_event(pons_recorder *r, const pons_record_event *e)
{
    pons_value *value = pons_object("thread", pons_string(e->thread), "ns", pons_string(e->ns),
                                    "type", pons_string(e->type), "seq", json_integer(e->seq),
                                    "ts_ms", json_integer(e->ts_ms), "payload",
                                    e->payload ? pons_value_ref(e->payload) : json_object(), NULL);
    queue(r, (item){.kind = EVENT, .wall_ns = e->ts_ms * PONS_NS_PER_MS, .value = value});
}

void pons_recorder_picture(pons_recorder *r, const char *name, const void *jpeg, size_t n)
{
    item i = {.kind = PICTURE, .data = malloc(n ? n : 1), .n = n};
    snprintf(i.name, sizeof i.name, "%s", name);
    if (i.data) {
        memcpy(i.data, jpeg, n);
        queue(r, i);
    }
}

void pons_recorder_apart(pons_recorder *r)
{
    atomic_store(&r->apart, true);
}

static void raw_free(const raw *x)
{
    free(x->name);
    free(x->type);
    free(x->encoding);
    free(x->schema_encoding);
    free(x->schema);
}

int pons_recorder_topic(pons_recorder *r, const pons_topic *t)
{
    const raw x = {strdup(t->name), strdup(t->type), strdup(t->encoding),
                   strdup(t->schema_encoding), strdup(t->schema)};
    int n = PONS_EINVAL;
    pthread_mutex_lock(&r->mtx);
    if (x.name && x.type && x.encoding && x.schema_encoding && x.schema && r->n_raws < TOPICS_MAX) {
        n = r->n_raws++;
        r->raws[n] = x;
    }
    pthread_mutex_unlock(&r->mtx);
    if (n < 0) {
        raw_free(&x);
    }
    return n;
}

void pons_recorder_raw(pons_recorder *r, int number, const void *data, size_t n)
{
    item i = {.kind = RAW, .data = malloc(n ? n : 1), .n = n, .raw = number};
    if (i.data) {
        memcpy(i.data, data, n);
        queue(r, i);
    }
}

int64_t pons_recorder_now_ns(const pons_recorder *r)
{
    return r->wall0_ns + (pons_now_ns(&r->o.clock) - r->mono0_ns);
}

pons_recorder_about pons_recorder_look(pons_recorder *r)
{
    pthread_mutex_lock(&r->mtx);
    const pons_recorder_about about = r->about;
    pthread_mutex_unlock(&r->mtx);
    return about;
}

// ---- opening and closing ------------------------------------------------------------------------

int pons_recorder_open(const pons_recorder_options *o, pons_recorder **ret, pons_error *err)
{
    pthread_condattr_t monotonic;
    pons_recorder *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to record with");
    }
    r->o = *o;
    r->wall0_ns = pons_wall_ms(&o->clock) * PONS_NS_PER_MS;
    r->mono0_ns = pons_now_ns(&o->clock);
    r->last = &r->first;
    atomic_init(&r->apart, o->apart);
    const int rc = pons_mcap_create(o->path, &r->w, err);
    if (rc < 0) {
        free(r);
        return rc;
    }
    pthread_mutex_init(&r->mtx, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->some, &monotonic);
    pthread_condattr_destroy(&monotonic);
    r->has_thread = !o->at_once && pthread_create(&r->thread, NULL, run, r) == 0;
    if (!o->at_once && !r->has_thread) {
        pons_recorder_close(r, NULL, NULL);
        return pons_error_set(err, PONS_EENV, MODULE, "no thread to record with");
    }
    *ret = r;
    return PONS_OK;
}

int pons_recorder_close(pons_recorder *r, pons_recorder_about *ret, pons_error *err)
{
    char dropped[32];
    if (!r) {
        return PONS_OK;
    }
    pthread_mutex_lock(&r->mtx);
    r->closing = true;
    pthread_cond_signal(&r->some);
    pthread_mutex_unlock(&r->mtx);
    if (r->has_thread) {
        pthread_join(r->thread, NULL);
    }
    tell_dropped(r, r->about.dropped);
    snprintf(dropped, sizeof dropped, "%llu", (unsigned long long)r->about.dropped);
    const char *const pairs[] = {"version", PONS_VERSION, "dropped", dropped, NULL};
    int rc = r->failed ? PONS_OK : pons_mcap_metadata(r->w, "pons", pairs, err);
    const int closed =
        pons_mcap_close(r->w, &r->about.messages, &r->about.bytes, rc < 0 ? NULL : err);
    rc = rc < 0 ? rc : closed;
    if (ret) {
        *ret = r->about;
    }
    while (r->first) {
        item *next = r->first->next;
        item_free(r->first);
        r->first = next;
    }
    for (size_t i = 0; i < r->n_topics; i++) {
        free(r->topics[i].name);
        free(r->topics[i].schema);
    }
    for (int i = 0; i < r->n_raws; i++) {
        raw_free(&r->raws[i]);
    }
    for (size_t i = 0; i < r->n_schemas; i++) {
        free(r->schemas[i].name);
    }
    pthread_cond_destroy(&r->some);
    pthread_mutex_destroy(&r->mtx);
    free(r);
    return rc;
}
