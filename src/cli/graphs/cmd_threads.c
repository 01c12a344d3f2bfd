// cmd_threads.c - `pons threads`: what the store has of each thread, its past, its events; copies,
// forks, and what can be forgotten.
//
// All of it works beside a brain that is running: reading takes nothing, a copy is made between two
// commits. What a running brain would be hurt by (rm, prune) is refused with its pid.
#include "app/notify/secret_filter.h"
#include "app/pictures/pictures.h"
#include "cli/cli.h"
#include "cli/graphs/thread_show.h"
#include "cli/graphs/thread_why.h"
#include "pons/agent.h"
#include "pons/brain.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#define HISTORY_ROWS    50
#define EVENTS_PER_READ 1000 // a page of the log: memory does not grow with its length
#define FOLLOW_EVERY_MS 100
#define MS_PER_DAY      86400000.0

typedef struct threads_options {
    const char *stream, *at, *ns, *follow, *why;
    double keep, days, limit, after; // of prune: days of events; -1: none go
    uint32_t modes;
} threads_options;

// ---- list ---------------------------------------------------------------------------------------

static int print_thread(void *user, const pons_thread_info *info)
{
    const cli *c = user;
    if (c->json) {
        pons_autovalue row = pons_object(
            "thread", json_string(info->thread), "created_ms", json_integer(info->created_ms),
            "updated_ms", json_integer(info->updated_ms), "checkpoints",
            json_integer(info->checkpoints), "events", json_integer(info->events), "bytes",
            json_integer(info->bytes), "holder_pid", json_integer(info->holder_pid), NULL);
        cli_print_json(row);
        return 0;
    }
    char when[CLI_MOMENT];
    cli_out("%-*s %s", 20, info->thread, cli_moment(info->updated_ms, when, "%F %T"));
    cli_out("  %6lld checkpoints %6lld events %8.1f kB  ", (long long)info->checkpoints,
            (long long)info->events, (double)info->bytes / 1e3);
    if (info->holder_pid) {
        cli_out("held by %lld\n", (long long)info->holder_pid);
    } else {
        cli_out("free\n");
    }
    return 0;
}

static int list_threads(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    char any[PONS_NAME_MAX];
    pons_error none = PONS_ERROR_INIT;
    const int rc = store.ops->threads(store.self, print_thread, c, err);
    if (rc >= 0 && !c->json && app_latest_thread(store, any, &none) < 0) {
        cli_err("pons: there is no thread yet; `pons run GOAL` begins one\n");
    }
    return rc;
}

// ---- state and history --------------------------------------------------------------------------

static int not_there(const char *thread, const char *ns, pons_error *err)
{
    return ns ? pons_error_set(err, PONS_ENOTFOUND, "threads", "thread %s has no namespace '%s'",
                               thread, ns)
              : pons_error_set(err, PONS_ENOTFOUND, "threads", "there is no thread %s", thread);
}

static int add_name(void *user, const char *ns)
{
    json_array_append_new((json_t *)user, json_string(ns));
    return 0;
}

// The namespaces that have checkpoints, or the one that was asked for. *ret: the caller's.
static int namespaces(cli *c, pons_store store, const threads_options *o, pons_value **ret,
                      pons_error *err)
{
    pons_autovalue all = json_array();
    pons_error none = PONS_ERROR_INIT;
    const int rc = store.ops->namespaces(store.self, c->argv[1], add_name, all, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    pons_value *wanted = json_array();
    pons_each(name, all) {
        if (!o->ns || strcmp(o->ns, json_string_value(name)) == 0) {
            json_array_append(wanted, name);
        }
    }
    if (json_array_size(wanted) == 0) {
        pons_value_unref(wanted);
        return not_there(c->argv[1], json_array_size(all) > 0 ? o->ns : NULL, err);
    }
    *ret = wanted;
    return PONS_OK;
}

static int show_thread(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    pons_autovalue names = NULL;
    pons_autovalue out = json_object();
    int rc = namespaces(c, store, o, &names, err);
    for (size_t i = 0; i < json_array_size(names) && rc >= 0; i++) {
        const char *ns = json_string_value(json_array_get(names, i));
        pons_value *state = NULL;
        rc = pons_state_read(store, c->argv[1], ns, &state, err);
        json_object_set_new(out, ns, state);
    }
    if (rc >= 0 && o->why) {
        return cli_why(store, c->argv[1], 0, err);
    }
    if (rc >= 0 && !c->json) {
        return cli_thread_show(store, c->argv[1], out, !o->ns, err);
    }
    if (rc >= 0) {
        cli_print_json(out);
    }
    return rc;
}

static void print_checkpoint(const char *ns, const pons_value *row)
{
    char when[CLI_MOMENT];
    cli_out("%-*s %5lld  %-26s %s", 7, ns, (long long)pons_get_int(row, "step", 0),
            pons_get_str(row, "checkpoint_id", ""),
            cli_moment(pons_get_int(row, "ts_ms", 0), when, "%F %T"));
    cli_out("  %-7s →", pons_get_str(row, "source", ""));
    const pons_value *next = pons_get(row, "next");
    pons_each(name, next) {
        cli_out(" %s", json_string_value(name));
    }
    cli_out("%s\n", json_array_size(next) ? "" : " end");
}

// What is not in a history any more, if it is a brain's.
static void show_pruned(cli *c, pons_store store)
{
    pons_autovalue gone = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (pons_brain_pruned(store, c->argv[1], &gone, &none) < 0) {
        return;
    }
    if (c->json) {
        pons_autovalue out = json_copy(gone);
        json_object_set_new(out, "type", json_string("pruned"));
        cli_print_json(out);
        return;
    }
    cli_out(
        "pruned: %lld checkpoints that %lld ended tasks left are gone (store.keep); %lld keep all "
        "of theirs\n",
        (long long)pons_get_int(gone, "checkpoints", 0), (long long)pons_get_int(gone, "tasks", 0),
        (long long)pons_get_int(gone, "tasks_kept", 0));
}

static int show_history(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    const int64_t limit = o->limit > 0 ? (int64_t)o->limit : HISTORY_ROWS;
    pons_autovalue names = NULL;
    int rc = namespaces(c, store, o, &names, err);
    for (size_t i = 0; i < json_array_size(names) && rc >= 0; i++) {
        const char *ns = json_string_value(json_array_get(names, i));
        pons_autovalue list = NULL;
        rc = pons_state_history(store, c->argv[1], ns, limit, c->json, &list, err);
        pons_each(row, list) {
            if (c->json) {
                pons_autovalue out = json_copy(row);
                json_object_set_new(out, "ns", json_string(ns));
                cli_print_json(out);
            } else {
                print_checkpoint(ns, row);
            }
        }
    }
    if (rc >= 0) {
        show_pruned(c, store);
    }
    return rc;
}

// ---- events -------------------------------------------------------------------------------------

typedef struct replay {
    cli *c;
    const threads_options *o;
    cli_display *display;
    int64_t last; // the newest number that was read
    int64_t left; // events that may still be shown; < 0: no limit
} replay;

static int replay_row(void *user, const pons_event_row *row)
{
    replay *r = user;
    const threads_options *o = r->o;
    static const char prefix[] = "stream.";
    pons_autovalue payload = NULL;
    r->last = row->seq;
    const bool streamed = strncmp(row->type, prefix, strlen(prefix)) == 0;
    const uint32_t mode = streamed ? pons_stream_mode(row->type + strlen(prefix)) : 0;
    if ((o->ns && strcmp(o->ns, row->ns) != 0) || (o->modes && !(mode & o->modes)) ||
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) < 0) {
        return 0;
    }
    if (!r->c->json) {
        pons_value *clean = app_value_without_secrets(payload);
        pons_value_unref(payload);
        payload = clean;
    }
    cli_display_event(r->display, &(pons_event){.seq = row->seq,
                                                .thread = r->c->argv[1],
                                                .ns = row->ns,
                                                .ts_ms = row->ts_ms,
                                                .type = row->type,
                                                .payload = payload});
    r->left -= r->left > 0;
    return r->left == 0;
}

// The log from a number on, page by page: a client that lost its connection misses nothing, and
// with --follow goes on hearing.
static int show_events(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    const char *thread = c->argv[1];
    replay r = {
        .c = c, .o = o, .last = (int64_t)o->after, .left = o->limit > 0 ? (int64_t)o->limit : -1};
    int64_t newest = 0;
    pons_error none = PONS_ERROR_INIT;
    int rc = store.ops->event_last(store.self, thread, &newest, &none);
    pons_lease holder = {0};
    bool held = store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
    if ((rc < 0 || newest == 0) && !held) {
        pons_autovalue names = NULL; // a thread without an event is one all the same
        rc = namespaces(c, store, &(threads_options){0}, &names, err);
        if (rc < 0) {
            return rc;
        }
    }
    r.display = cli_display_create(c, false);
    for (bool more = true; more && rc >= 0 && r.left != 0;) {
        const int64_t before = r.last;
        held = o->follow && store.ops->lease_peek(store.self, thread, &holder, &none) >= 0;
        rc = store.ops->events(store.self, thread, r.last, EVENTS_PER_READ, replay_row, &r, err);
        more = r.last > before || held; // looked at the holder first: its last words are read
        if (held && r.last == before) {
            poll(NULL, 0, FOLLOW_EVERY_MS);
        }
    }
    cli_display_destroy(r.display);
    return rc;
}

// ---- copies and forks ---------------------------------------------------------------------------

static int copy_thread(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    const char *from = c->argv[1], *to = c->argv[2];
    const pons_clock clock = pons_clock_real();
    int rc = app_thread_name(to, err);
    if (rc >= 0 && app_graph_of(store, from)) {
        rc = pons_state_copy(store, from, to, err);
    } else if (rc >=
               0) { // of the robot's two graphs what they had said to each other is said again
        rc = pons_brain_fork(store, &clock, from, NULL, to, err);
    }
    if (rc >= 0 && !c->json) {
        cli_out("%s is a copy of %s\n", c->argv[2], c->argv[1]);
    }
    return rc;
}

static int fork_thread(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    const char *from = c->argv[1], *to = c->argv[2];
    const pons_clock clock = pons_clock_real();
    int rc = app_thread_name(to, err);
    const bool own = rc >= 0 && app_graph_of(store, from);
    if (rc >= 0 && o->at && pons_agent_thread_is(store, from)) {
        return pons_error_set(
            err, PONS_EINVAL, "threads",
            "%s is an agent's thread, which is copied as it stands: leave --at out", from);
    }
    if (rc >= 0) {
        rc = own ? app_graph_fork(store, from, o->at, to, err)
                 : pons_brain_fork(store, &clock, from, o->at, to, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (c->json) {
        pons_autovalue out = pons_object("thread", json_string(to), "from", json_string(from), "at",
                                         o->at ? json_string(o->at) : json_null(), NULL);
        cli_print_json(out);
    } else {
        cli_out("%s is %s %s%s; `pons %sresume %s` goes on\n", to, from,
                o->at ? "as it was at " : "as it stands", o->at ? o->at : "", own ? "graph " : "",
                to);
    }
    return PONS_OK;
}

// ---- forgetting ---------------------------------------------------------------------------------

typedef struct size_of {
    const char *thread;
    int64_t bytes;
} size_of;

static int find_size(void *user, const pons_thread_info *info)
{
    size_of *s = user;
    if (strcmp(info->thread, s->thread) == 0) {
        s->bytes = info->bytes;
    }
    return 0;
}

static int64_t thread_bytes(pons_store store, const char *thread)
{
    pons_error none = PONS_ERROR_INIT;
    size_of s = {.thread = thread};
    store.ops->threads(store.self, find_size, &s, &none);
    return s.bytes;
}

// Old checkpoints go, and old events when that is asked for; effects and messages stay. What the
// thread had and has, and what the store gave back to the disk, is said.
static int prune_thread(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    const char *thread = c->argv[1];
    pons_prune_result done = {0};
    if (!store.ops->prune) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "threads", "this store can't be pruned");
    }
    cli_busy("pruning the thread", 0);
    const int64_t before = thread_bytes(store, thread);
    const pons_clock clock = pons_clock_real();
    const int64_t since = pons_wall_ms(&clock) - (int64_t)(o->days * MS_PER_DAY);
    const pons_prune what = {.keep_last = (int64_t)o->keep,
                             .events_since_ms = o->days >= 0.0 ? since : 0};
    int rc = pons_state_prune_as(store, thread, &what, &done, err);
    rc = rc < 0 ? rc : app_pictures_prune(&c->app, store, NULL, err);
    if (rc < 0) {
        return rc;
    }
    const int64_t after = thread_bytes(store, thread);
    if (c->json) {
        pons_autovalue row = pons_object(
            "thread", json_string(thread), "removed", json_integer(done.checkpoints), "events",
            json_integer(done.events), "bytes_before", json_integer(before), "bytes_after",
            json_integer(after), "store_bytes_before", json_integer(done.bytes_before),
            "store_bytes_after", json_integer(done.bytes_after), NULL);
        cli_print_json(row);
    } else {
        cli_out("%lld checkpoints", (long long)done.checkpoints);
        if (done.events) {
            cli_out(" and %lld events", (long long)done.events);
        }
        cli_out(" removed from %s: %.1f kB, was %.1f kB; the store %.1f kB, was %.1f kB\n", thread,
                (double)after / 1e3, (double)before / 1e3, (double)done.bytes_after / 1e3,
                (double)done.bytes_before / 1e3);
    }
    return PONS_OK;
}

// Its pictures go with it, but those that another thread names.
static int remove_thread(cli *c, pons_store store, const threads_options *o, pons_error *err)
{
    pons_autovalue pictures = app_pictures_of(store, c->argv[1]);
    const int rc = store.ops->thread_delete(store.self, c->argv[1], err);
    return rc < 0 ? rc : app_pictures_prune(&c->app, store, pictures, err);
}

// ---- public functions ---------------------------------------------------------------------------

static const struct { // as the table of commands has them
    int words;        // after the verb
    const char *takes;
    int (*run)(cli *c, pons_store store, const threads_options *o, pons_error *err);
    bool writes;
} verbs[] = {
    {0, "nothing more", list_threads, false},
    {1, "one thread", show_thread, false},
    {1, "one thread", show_history, false},
    {1, "one thread", show_events, false},
    {2, "a thread and the name of its fork", fork_thread, true},
    {2, "a thread and the name of its copy", copy_thread, true},
    {1, "one thread", prune_thread, true},
    {1, "one thread", remove_thread, true},
};

int cmd_threads(cli *c, pons_error *err)
{
    threads_options o = {.keep = 1, .days = -1, .limit = -1};
    const cli_option options[] = {
        {"--ns", "NAME", "show, history, events: of this namespace only", &o.ns},
        {"--limit", "N", "history, events: at most so many; history's default is 50",
         CLI_NUMBER(&o.limit, 1.0, 1e9)},
        {"--after", "SEQ", "events: those with higher numbers than the last one you have",
         CLI_NUMBER(&o.after, 0.0, 9007199254740991.0)},
        {"--stream", "MODE,…", "events: only what was streamed in these modes", &o.stream},
        {"--follow", NULL, "events: and what comes, until nobody runs the thread", &o.follow},
        {"--at", "CHECKPOINT", "fork: as it was there (see history); default: as it stands", &o.at},
        {"--why", NULL, "show: what was decided, and why, as prose", &o.why},
        {"--keep", "N", "prune: checkpoints of each namespace that stay; default 1",
         CLI_NUMBER(&o.keep, 1.0, 1e9)},
        {"--events", "DAYS", "prune: events that are older go as well",
         CLI_NUMBER(&o.days, 0.0, 1e5)},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const int v = c->which_word(c, err);
    if (v < 0) {
        return v;
    }
    if (c->argc > 0 && c->argc != verbs[v].words + 1) {
        return app_bad(err, "threads %s takes %s", c->self->words[v].name, verbs[v].takes);
    }
    pons_store store = {0};
    int rc = o.stream ? cli_modes(o.stream, &o.modes, err) : PONS_OK;
    if (rc >= 0 && verbs[v].writes) {
        rc = app_workspace(&c->app, false, err);
        rc = rc < 0 ? rc : app_store(&c->app, &store, err);
    } else if (rc >= 0) {
        rc = app_store_read(&c->app, &store, err);
    }
    rc = rc < 0 ? rc : verbs[v].run(c, store, &o, err);
    pons_store_close(&store);
    return rc < 0 ? rc : PONS_OK;
}
