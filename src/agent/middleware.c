// middleware.c - the middlewares that come with pons; docs/reference/agent.md has their options.
//
//   debug       logs every call and its answer (PONS_LOG=agent shows them)
//   timing      counts calls and their time by name, and logs the table at the end
//   rate_limit  at most so many model calls a minute: a call beyond that waits its turn
//   redact      replaces secrets in what a model is sent, in what tools say and in what is shown
#include "agent/event_output.h"
#include "agent/pending_calls.h"
#include "pons/agent.h"
#include "pons/log.h"
#include "pons/redact.h"

#include <stdlib.h>
#include <string.h>

#define WHERE     "middleware"
#define NAMES_MAX 128
#define MINUTE_MS 60000
#define RATE_MAX  10000

// ---- debug --------------------------------------------------------------------------------------

static char *line_of(const pons_value *v)
{
    char *text = NULL;
    return pons_value_line(v, &text) < 0 ? NULL : text;
}

static int debug_before(void *user, const pons_agent_call *call, pons_value **request,
                        int64_t *ret_wait_ms, pons_error *err)
{
    if (pons_log_enabled(PONS_LOG_DEBUG, "agent")) {
        char *text = line_of(*request);
        pons_log(PONS_LOG_DEBUG, "agent", "%s %s %s <- %s", call->node, call->name, call->id,
                 text ? text : "");
        free(text);
    }
    return PONS_OK;
}

static void debug_after(void *user, const pons_agent_call *call, pons_value **answer)
{
    if (pons_log_enabled(PONS_LOG_DEBUG, "agent")) {
        char *text = line_of(*answer);
        pons_log(PONS_LOG_DEBUG, "agent", "%s %s %s -> %s", call->node, call->name, call->id,
                 text ? text : "");
        free(text);
    }
}

// ---- timing -------------------------------------------------------------------------------------

typedef struct timing {
    struct timing_row {
        char name[80], id[PONS__CALL_ID_MAX]; // id: of the call under way
        int64_t calls, total_ms, began_ms;
    } rows[NAMES_MAX];
    size_t n;
} timing;

static struct timing_row *timing_row(timing *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->rows[i].name, name) == 0) {
            return &t->rows[i];
        }
    }
    if (t->n == NAMES_MAX) {
        return &t->rows[NAMES_MAX - 1]; // the rest is counted together
    }
    snprintf(t->rows[t->n].name, sizeof t->rows[t->n].name, "%s", name);
    return &t->rows[t->n++];
}

static int timing_before(void *user, const pons_agent_call *call, pons_value **request,
                         int64_t *ret_wait_ms, pons_error *err)
{
    struct timing_row *r = timing_row(user, call->name);
    r->began_ms = call->now_ms;
    snprintf(r->id, sizeof r->id, "%s", call->id);
    return PONS_OK;
}

static void timing_after(void *user, const pons_agent_call *call, pons_value **answer)
{
    struct timing_row *r = timing_row(user, call->name);
    r->calls++;
    if (strcmp(r->id, call->id) == 0) {
        r->total_ms += call->now_ms - r->began_ms;
    }
    pons_log(PONS_LOG_INFO, "agent", "%s %s: call %lld, %lld ms in all", call->node, call->name,
             (long long)r->calls, (long long)r->total_ms);
}

// ---- rate_limit ---------------------------------------------------------------------------------

typedef struct rate {
    int64_t at_ms[RATE_MAX]; // a ring of when the last calls were let through
    size_t per_minute, next, n;
} rate;

static int rate_before(void *user, const pons_agent_call *call, pons_value **request,
                       int64_t *ret_wait_ms, pons_error *err)
{
    rate *r = user;
    if (!call->model) {
        return PONS_OK;
    }
    if (r->n == r->per_minute) {
        const int64_t oldest = r->at_ms[r->next];
        if (call->now_ms - oldest < MINUTE_MS) {
            *ret_wait_ms = oldest + MINUTE_MS - call->now_ms;
            return PONS_OK;
        }
    }
    r->at_ms[r->next] = call->now_ms;
    r->next = (r->next + 1) % r->per_minute;
    r->n += r->n < r->per_minute;
    return PONS_OK;
}

// ---- redact -------------------------------------------------------------------------------------

static char *redact_text(void *user, const char *text)
{
    return pons_redact_text(user, text);
}

static void keep(pons_value *to, const pons_value *from, const char *key)
{
    if (pons_get(from, key)) {
        json_object_set_new(to, key, pons_value_ref(pons_get(from, key)));
    }
}

// What a model is sent; a tool gets its arguments as they are, or it could not work. What a model itself has
// sent beside its words goes back as it came, and so do the names of pictures: a signature, or a hash, looks like a key.
static int redact_before(void *user, const pons_agent_call *call, pons_value **request,
                         int64_t *ret_wait_ms, pons_error *err)
{
    if (call->model) {
        const pons_value *old = pons_get(*request, "messages");
        pons_value *messages = pons__agent_texts(old, redact_text, user);
        for (size_t i = 0; i < json_array_size(old); i++) {
            keep(json_array_get(messages, i), json_array_get(old, i), "extra");
            keep(json_array_get(messages, i), json_array_get(old, i), "pictures");
        }
        pons_value *next = pons__agent_put_in(*request, "messages", messages);
        pons_value_unref(*request);
        *request = next;
    }
    return PONS_OK;
}

static void redact_after(void *user, const pons_agent_call *call, pons_value **answer)
{
    if (!call->model) { // before it is stored
        pons_value *next = pons__agent_texts(*answer, redact_text, user);
        keep(next, *answer, "pictures");
        pons_value_unref(*answer);
        *answer = next;
    }
}

static void redact_close(void *user)
{
    pons_redact_close(user);
}

// ---- opening ------------------------------------------------------------------------------------

static int bad_options(pons_error *err, const char *name, const char *why)
{
    return pons_error_set(err, PONS_EINVAL, WHERE, "%s: %s", name, why);
}

static int check_options(const char *name, const pons_value *options, const char *known,
                         pons_error *err)
{
    if (options && !json_is_object(options) && !json_is_null(options)) {
        return bad_options(err, name, "expected a mapping of options");
    }
    pons_each_member(key, v, options) {
        if (!known || strcmp(key, known) != 0) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "%s: unknown option %s", name, key);
        }
    }
    return PONS_OK;
}

int pons_agent_middleware_open(const char *name, const pons_value *options, const pons_clock *clock,
                               pons_agent_middleware *ret, pons_error *err)
{
    (void)clock; // a call carries its time
    pons_agent_middleware m = {.name = name};
    int rc = PONS_OK;
    if (strcmp(name, "debug") == 0) {
        rc = check_options(name, options, NULL, err);
        m = (pons_agent_middleware){.name = "debug", .before = debug_before, .after = debug_after};
    } else if (strcmp(name, "timing") == 0) {
        rc = check_options(name, options, NULL, err);
        m = (pons_agent_middleware){.name = "timing",
                                    .before = timing_before,
                                    .after = timing_after,
                                    .close = free,
                                    .user = rc < 0 ? NULL : calloc(1, sizeof(timing))};
    } else if (strcmp(name, "rate_limit") == 0) {
        rc = check_options(name, options, "per_minute", err);
        const int64_t n = pons_get_int(options, "per_minute", 0);
        if (rc >= 0 && (n < 1 || n > RATE_MAX)) {
            rc = bad_options(err, name, "per_minute: expected an integer, 1 to 10000");
        }
        rate *r = rc < 0 ? NULL : calloc(1, sizeof *r);
        if (r) {
            r->per_minute = (size_t)n;
        }
        m = (pons_agent_middleware){
            .name = "rate_limit", .before = rate_before, .close = free, .user = r};
    } else if (strcmp(name, "redact") == 0) {
        pons_redact *r = NULL;
        rc = check_options(name, options, "patterns", err);
        rc = rc < 0 ? rc : pons_redact_open(pons_get(options, "patterns"), &r, err);
        m = (pons_agent_middleware){.name = "redact",
                                    .before = redact_before,
                                    .after = redact_after,
                                    .shown = redact_text,
                                    .close = redact_close,
                                    .user = r};
    } else {
        rc = pons_error_set(
            err, PONS_ENOTFOUND, WHERE,
            "there is no middleware %.40s; there are: debug timing rate_limit redact", name);
    }
    if (rc >= 0 && m.close && !m.user) {
        rc = pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for %s", name);
    }
    if (rc >= 0) {
        *ret = m;
    }
    return rc;
}
