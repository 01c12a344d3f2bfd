// graph_config.c - the agent's configuration, looked at and changed.
//
//     GET /api/graph-config                          {text, config}: the file, and all that is in force
//     PUT /api/graph-config {text | config, dry_run?} {status, changed, diff, config}
//
// A PUT is an admin's: what the configuration says is what a model may do. It is read as the file
// would be (an unknown key, a wrong type: 422 with line and column), and told as a diff; with dry_run
// that is all. It holds from the next turn of each session on.
#include "pons/buf.h"
#include "serve/access/reply.h"
#include "serve/access/route.h"
#include "serve/chat/session_threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 2000
#define NAME      "graph_config.yaml"

// ---- a diff -------------------------------------------------------------------------------------

typedef struct lines {
    const char *at[LINES_MAX];
    size_t len[LINES_MAX];
    size_t n;
} lines;

static bool split(const char *text, lines *ret)
{
    ret->n = 0;
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, "\n");
        if (ret->n == LINES_MAX) {
            return false;
        }
        ret->at[ret->n] = at;
        ret->len[ret->n++] = n;
        at += n + (at[n] == '\n');
    }
    return true;
}

static bool same(const lines *a, size_t i, const lines *b, size_t k)
{
    return a->len[i] == b->len[k] && memcmp(a->at[i], b->at[k], a->len[i]) == 0;
}

static void line(pons_buf *b, char sign, const lines *l, size_t i)
{
    pons_buf_printf(b, "%c%.*s\n", sign, (int)l->len[i], l->at[i]);
}

// The longest common lines stay; what is between them went or came. Lines that stay are not shown.
static int diff(const char *was, const char *is, pons_buf *b)
{
    lines *a = calloc(2, sizeof *a), *c = a ? a + 1 : NULL;
    if (!a || !split(was, a) || !split(is, c)) {
        free(a);
        return a ? PONS_EINVAL : PONS_ENOMEM;
    }
    const size_t w = c->n + 1;
    uint16_t *lcs = calloc((a->n + 1) * w, sizeof *lcs);
    if (!lcs) {
        free(a);
        return PONS_ENOMEM;
    }
    for (size_t i = a->n; i-- > 0;) {
        for (size_t k = c->n; k-- > 0;) {
            const uint16_t down = lcs[(i + 1) * w + k], right = lcs[i * w + k + 1];
            lcs[i * w + k] = same(a, i, c, k) ? (uint16_t)(lcs[(i + 1) * w + k + 1] + 1)
                             : down > right   ? down
                                              : right;
        }
    }
    for (size_t i = 0, k = 0; i < a->n || k < c->n;) {
        if (i < a->n && k < c->n && same(a, i, c, k)) {
            i++;
            k++;
        } else if (k == c->n || (i < a->n && lcs[(i + 1) * w + k] >= lcs[i * w + k + 1])) {
            line(b, '-', a, i++);
        } else {
            line(b, '+', c, k++);
        }
    }
    free(lcs);
    free(a);
    return b->failed ? PONS_ENOMEM : PONS_OK;
}

// ---- the routes ---------------------------------------------------------------------------------

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int read_text(const pons_serve *s, char **ret, pons_error *err)
{
    pthread_mutex_lock(&one_at_a_time);
    const int rc = s->o.host.graph_config(s->o.host.user, ret, err);
    pthread_mutex_unlock(&one_at_a_time);
    return rc;
}

static int get(pons__request *r)
{
    char *text = NULL;
    pons_agent_config *config = NULL;
    if (!r->s->chat_host) {
        return pons__reply_error(r, 404, "there is no agent here");
    }
    int rc = read_text(r->s, &text, &r->err);
    rc = rc < 0 ? rc : pons_agent_config_parse(text, strlen(text), NAME, &config, &r->err);
    pons_value *is = rc < 0 ? NULL
                            : pons_object("text", json_string(text), "config",
                                          pons_value_ref(pons_agent_config_value(config)), NULL);
    pons_agent_config_destroy(config);
    free(text);
    return pons__reply_result(r, rc, is);
}

// The text that is to be: as it came, or the value as JSON, which is YAML. NULL: no memory.
static char *text_of(const pons_value *body)
{
    const pons_value *text = pons_get(body, "text"), *config = pons_get(body, "config");
    if (json_is_string(text)) {
        return strdup(json_string_value(text));
    }
    char *dumped = json_dumps(config, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_printf(&b, "%s\n", dumped ? dumped : "");
    free(dumped);
    return pons_buf_take(&b, NULL);
}

static int change(pons__request *r, const char *text, pons_buf *b, bool *ret_changed,
                  pons_error *err)
{
    char *was = NULL;
    const pons_serve_host *h = &r->s->o.host;
    pthread_mutex_lock(&one_at_a_time);
    int rc = h->graph_config(h->user, &was, err);
    if (rc >= 0 && (rc = diff(was, text, b)) < 0) {
        pons_error_set(err, rc, PONS__SERVE, "at most %d lines", LINES_MAX);
    }
    *ret_changed = rc >= 0 && strcmp(was, text) != 0;
    if (*ret_changed && !pons_get_bool(r->body, "dry_run", false)) {
        rc = h->graph_config_put(h->user, text, strlen(text), err);
    }
    pthread_mutex_unlock(&one_at_a_time);
    free(was);
    return rc;
}

static int put(pons__request *r)
{
    pons_agent_config *config = NULL;
    pons_autobuf b = PONS_BUF_INIT;
    const bool only = pons_get_bool(r->body, "dry_run", false);
    bool changed = false;
    if (!r->s->chat_host) {
        return pons__reply_error(r, 404, "there is no agent here");
    }
    char *text = text_of(r->body);
    int rc = text ? pons_agent_config_parse(text, strlen(text), NAME, &config, &r->err)
                  : pons_error_set(&r->err, PONS_ENOMEM, PONS__SERVE, "no memory");
    rc = rc < 0 ? rc : change(r, text, &b, &changed, &r->err);
    if (rc >= 0 && changed && !only) {
        pons__chat_host_renew(r->s->chat_host);
    }
    pons_value *is = rc < 0 ? NULL
                            : pons_object("status", json_string(only ? "dry_run" : "ok"), "changed",
                                          json_boolean(changed), "diff",
                                          json_stringn(b.data ? b.data : "", b.len), "config",
                                          pons_value_ref(pons_agent_config_value(config)), NULL);
    pons_agent_config_destroy(config);
    free(text);
    return pons__reply_result(r, rc, is);
}

const pons__route pons__graph_config_routes[] = {
    {"GET", "/api/graph-config", PONS__VIEWER, get},
    {"PUT", "/api/graph-config", PONS__ADMIN, put},
    {NULL, NULL, PONS__NOBODY, NULL},
};
