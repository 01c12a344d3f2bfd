// notify.c - a person is told when the robot needs one, or has seen what it watches for: by HTTP, or by a command of this machine.
//
//     events of the thread, as the store has them --after--> relevant? --> tell --2xx, exit 0--> after moves on
//                                                                           | else again, TRIES times in all
//
// Who is told is told from the log of events, never from the loop that makes them: a thread of its own, one notice at a
// time, reads on from `after`, an item of the store. So a question is told once, also when whoever asked it dies and asks
// on, and what was not told is told by the thread's next session. A death between telling and writing `after` tells it
// again: whoever hears it knows it by its id.
//
// Sent are the words of questions and goals, names of threads, and times (docs/reference/cli.md).
#include "app/notify/notify.h"

#include "app/notify/notify_command.h"
#include "app/notify/secret_filter.h"
#include "app/workspace/shown_language.h"
#include "base/text/utf8.h"
#include "pons/ext/http.h"
#include "pons/items.h"
#include "pons/log.h"
#include "pons/out_of_memory.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WHERE "notify"
#define SPACE "pons-notify"

enum {
    TRIES = 5,
    AGAIN_MS = 2000, // doubled each time
    LOOK_MS = 10000, // when nobody wakes it
    CONNECT_MS = 5000,
    WHOLE_MS = 15000,
    CLOSE_MS = 3000,
    CLOSE_LOOK_MS = 10,
    REPLY_MAX = 65536,
    PENDING_MAX = 64, // older ones are left out when there are more
    ASKED_MAX = 64,
    TEXT_MAX = 1000 // bytes of what is told
};

typedef struct notice {
    int64_t seq;
    pons_value *body;
    char question[64]; // empty: it is none
} notice;

struct app_notify {
    pons_store store;
    pons_clock clock;
    char thread[PONS_NAME_MAX], log[PATH_MAX];
    pons_value *config;
    const pons_http_ops *http; // NULL: no url
    void *client;
    uint64_t calls;
    pthread_t thread_id;
    bool has_thread;
    int wake, end, quiet; // eventfds; quiet: readable when all is told
    // the thread's
    int64_t after, kept_after;
    pons_value *asked; // ids of questions that were told, the newest last
    notice pending[PENDING_MAX];
    size_t n;
    int64_t last; // the newest event that was read
};

// ---- configuration ------------------------------------------------------------------------------

static int load(const app_context *c, pons_value **ret, pons_error *err)
{
    int rc = app_yaml(c, "config/notify.yaml", "schemas/notify.json", ret, err);
    const char *env = rc < 0 ? NULL : pons_get_str(*ret, "token_env", NULL);
    const char *token = env ? getenv(env) : NULL;
    if (rc >= 0 && token && token[strcspn(token, "\r\n")]) {
        rc = pons_error_set(err, PONS_EINVAL, WHERE, "$%s is no token: it has several lines", env);
    }
    return rc;
}

int app_notify_check(const app_context *c, pons_error *err)
{
    pons_autovalue v = NULL;
    return load(c, &v, err);
}

static bool wanted(const app_notify *n, const char *kind)
{
    const pons_value *on = pons_get(n->config, "on");
    bool any = !on;
    pons_each(one, on) {
        any = any || strcmp(json_string_value(one), kind) == 0;
    }
    return any;
}

// ---- what is told -------------------------------------------------------------------------------

static const char *kind_of(const char *type, const pons_value *p)
{
    const char *status = pons_get_str(p, "status", "");
    return strcmp(type, "approval.requested") == 0                           ? "ask"
           : strcmp(type, "stop") == 0 && pons_get_bool(p, "latched", false) ? "stop"
           : strcmp(type, "task.done") == 0 &&
                   (strcmp(status, "failed") == 0 || strcmp(status, "aborted") == 0)
               ? "failure"
           : strcmp(type, "schedule.missed") == 0                      ? "failure"
           : strcmp(type, "schedule.due") == 0 && pons_get(p, "watch") ? "seen"
                                                                       : NULL;
}

static void words_of(const app_notify *n, const char *type, const char *kind, const pons_value *p,
                     char *ret, size_t cap)
{
    const bool bare = !pons_get_bool(n->config, "words", true);
    const char *text = pons_get_str(p, "text", ""), *reason = pons_get_str(p, "reason", "");
    if (strcmp(kind, "ask") == 0) {
        snprintf(ret, cap, "pons asks: %s (pons approve %s)",
                 bare ? "a question" : pons_get_str(p, "question", "a question"), n->thread);
    } else if (strcmp(kind, "stop") == 0) {
        snprintf(ret, cap, "pons stopped%s%s", bare ? "" : ": ", bare ? "" : reason);
    } else if (strcmp(kind, "seen") == 0) {
        snprintf(ret, cap, "pons saw %s",
                 bare ? "something" : pons_get_str(p, "watch", "something"));
    } else if (bare) {
        snprintf(ret, cap, "pons failed: a task of %s", n->thread);
    } else {
        snprintf(ret, cap, "pons %s: %s: %s", strcmp(type, "task.done") == 0 ? "failed" : "missed",
                 text, reason);
    }
    char *translated = app_translated(ret, false);
    char *clean =
        app_without_secrets(translated ? translated : ret); // a key pasted into a goal stays here
    free(translated);
    snprintf(ret, cap, "%s", clean);
    free(clean);
    ret[strlen(ret) > TEXT_MAX ? pons__utf8_cut(ret, TEXT_MAX) : strlen(ret)] = '\0';
}

static int take_row(void *user, const pons_event_row *row)
{
    app_notify *n = user;
    pons_autovalue p = NULL;
    char text[4096], id[PONS_NAME_MAX + 24];
    n->last = row->seq;
    if (pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
        return 0;
    }
    const char *kind = kind_of(row->type, p), *question = pons_get_str(p, "id", "");
    if (!kind || !wanted(n, kind)) {
        return 0;
    }
    if (n->n == PENDING_MAX) { // the oldest is the least of a person's worries
        pons_value_unref(n->pending[0].body);
        memmove(n->pending, n->pending + 1, sizeof n->pending - sizeof n->pending[0]);
        n->n--;
    }
    notice *one = &n->pending[n->n++];
    *one = (notice){.seq = row->seq};
    if (strcmp(kind, "ask") == 0) {
        snprintf(one->question, sizeof one->question, "%.63s", question);
    }
    words_of(n, row->type, kind, p, text, sizeof text);
    snprintf(id, sizeof id, "%s/%lld", n->thread, (long long)row->seq);
    one->body = pons_object("id", json_string(id), "kind", json_string(kind), "thread",
                            json_string(n->thread), "question_id",
                            *one->question ? json_string(one->question) : NULL, "text",
                            json_string(text), "ts_ms", json_integer(row->ts_ms), NULL);
    return 0;
}

// ---- by HTTP ------------------------------------------------------------------------------------

static bool ending(const app_notify *n, int ms)
{
    struct pollfd p = {.fd = n->end, .events = POLLIN};
    return poll(&p, 1, ms) > 0;
}

static bool post(app_notify *n, const char *text)
{
    const char *env = pons_get_str(n->config, "token_env", NULL), *token = env ? getenv(env) : NULL;
    char bearer[4096];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", token ? token : "");
    const char *const headers[] = {"Content-Type: application/json", token ? bearer : NULL, NULL};
    const pons_http_request r = {.method = "POST",
                                 .url = pons_get_str(n->config, "url", ""),
                                 .headers = headers,
                                 .body = text,
                                 .body_n = strlen(text),
                                 .body_max = REPLY_MAX,
                                 .connect_ms = CONNECT_MS,
                                 .whole_ms = WHOLE_MS};
    const int status = pons_http_status(n->http, n->client, ++n->calls, &r, n->end);
    return status >= 200 && status < 300;
}

// ---- the thread ---------------------------------------------------------------------------------

static void keep_after(app_notify *n)
{
    const pons_items it = {.store = n->store, .clock = n->clock};
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v =
        pons_object("after", json_integer(n->after), "asked", pons_value_ref(n->asked), NULL);
    if (n->after == n->kept_after) {
        return;
    }
    if (pons_items_put(&it, SPACE, n->thread, v, &(pons_item_put){.unsearched = true, .ttl_ms = -1},
                       &err) >= 0) {
        n->kept_after = n->after;
    } else {
        pons_log(PONS_LOG_DEBUG, WHERE, "%s", err.message);
    }
}

static bool was_asked(const app_notify *n, const char *question)
{
    pons_each(one, n->asked) {
        if (*question && strcmp(json_string_value(one), question) == 0) {
            return true;
        }
    }
    return false;
}

// False: the session ends before it could be told.
static bool tell(app_notify *n, const notice *one)
{
    char *text = NULL;
    bool by_url = !n->http, by_command = !pons_get(n->config, "command");
    if (was_asked(n, one->question) || pons_value_line(one->body, &text) < 0) {
        return true;
    }
    for (int tries = 1;; tries++) {
        by_url = by_url || post(n, text);
        by_command =
            by_command || (!ending(n, 0) && app_notify_command(pons_get(n->config, "command"),
                                                               one->body, text, n->log, n->end));
        if (by_url && by_command) {
            break;
        }
        if (ending(n, 0)) { // cut short, which says nothing of who is told
            free(text);
            return false;
        }
        pons_log(PONS_LOG_WARN, WHERE, "%s: %s (%d of %d)", pons_get_str(one->body, "id", ""),
                 by_url ? "the command failed: run/notify.log" : "the address did not take it",
                 tries, TRIES);
        if (tries == TRIES) {
            break;
        }
        if (ending(n, AGAIN_MS << (tries - 1))) {
            free(text);
            return false;
        }
    }
    free(text);
    if (*one->question) {
        pons_value *asked = json_copy(n->asked); // one that is kept is not changed
        json_array_append_new(asked, json_string(one->question));
        if (json_array_size(asked) > ASKED_MAX) {
            json_array_remove(asked, 0);
        }
        pons_value_unref(n->asked);
        n->asked = asked;
    }
    return true;
}

static bool tell_all(app_notify *n)
{
    pons_error err = PONS_ERROR_INIT;
    bool all = true;
    n->last = n->after;
    const int rc = n->store.ops->events(n->store.self, n->thread, n->after, 0, take_row, n, &err);
    for (size_t i = 0; i < n->n; i++) {
        all = all && !ending(n, 0) && tell(n, &n->pending[i]);
        if (all) {
            n->after = n->pending[i].seq;
            keep_after(n);
        }
        pons_value_unref(n->pending[i].body);
    }
    n->n = 0;
    if (all && rc >= 0) {
        n->after = n->last;
    }
    return all;
}

static void *work(void *user)
{
    app_notify *n = user;
    for (;;) {
        const bool all = tell_all(n);
        uint64_t count;
        struct pollfd p[2] = {{.fd = n->wake, .events = POLLIN}, {.fd = n->end, .events = POLLIN}};
        if (all && poll(p, 1, 0) == 0) {
            eventfd_write(n->quiet, 1);
        }
        poll(p, 2, LOOK_MS);
        if (p[0].revents) {
            eventfd_read(n->quiet, &count); // before wake: who closes looks at both
            eventfd_read(n->wake, &count);
        }
        if (p[1].revents) {
            break;
        }
    }
    if (n->after > n->kept_after) {
        keep_after(n);
    }
    return NULL;
}

// ---- life ---------------------------------------------------------------------------------------

// From where on: where the last session was, else from now.
static int begin_after(app_notify *n, pons_error *err)
{
    const pons_items it = {.store = n->store, .clock = n->clock};
    pons_autovalue row = NULL;
    const int rc = pons_items_get(&it, SPACE, n->thread, &row, err);
    if (rc == PONS_ENOTFOUND) {
        n->asked = json_array();
        n->kept_after = -1;
        return n->store.ops->event_last(n->store.self, n->thread, &n->after, err);
    }
    const pons_value *v = pons_get(row, "value"), *asked = pons_get(v, "asked");
    n->asked = json_is_array(asked) ? pons_value_ref(asked) : json_array();
    n->after = n->kept_after = pons_get_int(v, "after", 0);
    return rc;
}

static int open_http(app_notify *n, pons_error *err)
{
    pons_http_url split = {0};
    if (!pons_get(n->config, "url")) {
        return PONS_OK;
    }
    int rc = pons_http_load(&n->http, err);
    rc = rc < 0 ? rc : n->http->url(pons_get_str(n->config, "url", ""), "", &split, err);
    free(split.url);
    free(split.shown);
    return rc < 0 ? rc : n->http->open(NULL, NULL, &n->client, err);
}

int app_notify_open(const app_context *c, pons_store store, const char *thread, app_notify **ret,
                    pons_error *err)
{
    pons_autovalue config = NULL;
    int rc = load(c, &config, err);
    if (rc < 0 || (!pons_get(config, "url") && !pons_get(config, "command"))) {
        return rc;
    }
    app_notify *n = pons_need_zeroed(1, sizeof *n);
    n->store = store;
    n->clock = pons_clock_real();
    n->config = pons_value_ref(config);
    snprintf(n->thread, sizeof n->thread, "%s", thread);
    if (snprintf(n->log, sizeof n->log, "%s/notify.log", c->run_dir) >= (int)sizeof n->log) {
        n->log[0] = '\0';
    }
    n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    n->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    n->quiet = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = begin_after(n, err);
    rc = rc < 0 ? rc : open_http(n, err);
    if (rc >= 0) {
        n->has_thread = pthread_create(&n->thread_id, NULL, work, n) == 0;
        rc = n->has_thread ? PONS_OK : pons_error_set(err, PONS_EENV, WHERE, "no thread for it");
    }
    if (rc < 0) {
        app_notify_close(n);
        return rc;
    }
    *ret = n;
    return PONS_OK;
}

void app_notify_event(app_notify *n, const pons_event *ev)
{
    if (n && ev->seq > 0 && kind_of(ev->type, ev->payload)) {
        eventfd_write(n->wake, 1);
    }
}

void app_notify_close(app_notify *n)
{
    if (!n) {
        return;
    }
    if (n->has_thread) {
        eventfd_write(n->wake, 1); // the last events too
        for (int waited = 0; waited < CLOSE_MS; waited += CLOSE_LOOK_MS) {
            struct pollfd p[2] = {{.fd = n->wake, .events = POLLIN},
                                  {.fd = n->quiet, .events = POLLIN}};
            poll(p, 2, 0);
            if (!p[0].revents && p[1].revents) {
                break;
            }
            poll(NULL, 0, CLOSE_LOOK_MS);
        }
        eventfd_write(n->end, 1);
        pthread_join(n->thread_id, NULL);
    }
    if (n->client) {
        n->http->close(n->client);
    }
    const int fds[] = {n->wake, n->end, n->quiet};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    pons_value_unref(n->asked);
    pons_value_unref(n->config);
    free(n);
}
