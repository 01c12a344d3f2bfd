// assistants.c - graphs with a name, a config and metadata of their own, which runs are asked of.
//
//     POST /assistants      GET, PATCH, DELETE /assistants/A      POST /assistants/search, /count
//     POST /assistants/A/versions, /latest      GET /assistants/A/graph?xray, /schemas, /subgraphs
//
// Every graph has one from the start, whose id is made from the graph's name, the same on every
// machine; a client may say the name instead. One that a client makes or changes is an item of the
// store with all of its versions; a change of a graph's own makes it one as well.
#include "pons/random.h"
#include "serve/access/reply.h"
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/list_page.h"
#include "serve/langgraph/run_request.h"
#include "serve/runs/job_store.h"
#include "serve/runs/run_host.h"

#include <stdio.h>
#include <string.h>

#define SPACE PONS__OWN ".assistants"

enum { LIMIT = 10, ID_HASH_BYTES = 16 };

// The parts of an assistant that a version has of its own.
static const char *const versioned[] = {"graph_id", "config",      "context", "metadata",
                                        "name",     "description", NULL};

// ---- finding ------------------------------------------------------------------------------------

static void id_of(const char *graph, char ret[PONS__UUID])
{
    char text[PONS_NAME_MAX + 16];
    uint8_t h[32];
    const int n = snprintf(text, sizeof text, "pons graph %s", graph);
    pons_sha256(text, (size_t)n, h);
    h[6] = (uint8_t)((h[6] & 0x0f) | 0x50); // a name's: the same name, the same id
    h[8] = (uint8_t)((h[8] & 0x3f) | 0x80);
    snprintf(ret, PONS__UUID,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", h[0], h[1],
             h[2], h[3], h[4], h[5], h[6], h[7], h[8], h[9], h[10], h[11], h[12], h[13], h[14],
             h[15]);
}

// An assistant of its first version (taken).
static pons_value *begun(pons_value *first, const char *id, int64_t now_ms)
{
    json_object_set_new(first, "version", json_integer(1));
    json_object_set_new(first, "created_ms", json_integer(now_ms));
    pons_value *a = json_copy(first);
    json_object_set_new(a, "assistant_id", json_string(id));
    json_object_set_new(a, "updated_ms", json_integer(now_ms));
    json_object_set_new(a, "versions", json_pack("[o]", first));
    return a;
}

static pons_value *of_graph(const pons_serve_graph *g)
{
    char id[PONS__UUID];
    id_of(g->id, id);
    pons_value *first = pons_object(
        "graph_id", json_string(g->id), "config", json_object(), "context", json_object(),
        "metadata", pons_object("created_by", json_string("system"), NULL), "name",
        json_string(g->id), "description", g->help ? json_string(g->help) : json_null(), NULL);
    return begun(first, id, 1);
}

int pons__lg_assistant(pons_serve *s, const char *id, pons_value **ret, pons_error *err)
{
    pons_error none = PONS_ERROR_INIT;
    char own[PONS__UUID], named[PONS__UUID];
    if (pons__runhost_graph(s->host, id)) { // a graph's name means its own
        id_of(id, named);
        id = named;
    }
    const int rc = strlen(id) < PONS__UUID
                       ? pons__own_get(pons__runhost_items(s->host), SPACE, id, ret, &none)
                       : PONS_ENOTFOUND;
    if (rc >= 0) {
        return PONS_OK;
    }
    if (rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    for (size_t i = 0; i < s->n_graphs; i++) {
        id_of(s->graphs[i].id, own);
        if (strcmp(own, id) == 0) {
            *ret = of_graph(&s->graphs[i]);
            return PONS_OK;
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, PONS__SERVE,
                          "there is no assistant %.80s; graphs are assistants by their names", id);
}

static pons_value *shown(const pons_value *a)
{
    static const char *const members[] = {"assistant_id", "graph_id", "config",
                                          "context",      "metadata", "name",
                                          "description",  "version",  NULL};
    const int64_t created = pons_get_int(a, "created_ms", 0);
    return pons__lg_put_all(pons_object("created_at", pons__lg_time_value(created), "updated_at",
                                        pons__lg_time_value(pons_get_int(a, "updated_ms", created)),
                                        NULL),
                            a, members);
}

// The one that the path names; NULL: there is none (r->err).
static pons_value *find(pons__request *r)
{
    pons_value *a = NULL;
    pons__lg_assistant(r->s, r->args[0], &a, &r->err);
    return a;
}

// ---- making and changing ------------------------------------------------------------------------

static int keep(pons__request *r, const pons_value *a)
{
    const int rc = pons__own_put(pons__runhost_items(r->s->host), SPACE,
                                 pons_get_str(a, "assistant_id", ""), a, &r->err);
    return rc < 0 ? rc : pons__reply_json(r, 200, shown(a));
}

static bool has_graph(pons__request *r)
{
    const char *graph = pons_get_str(r->body, "graph_id", NULL);
    return !graph || pons__runhost_graph(r->s->host, graph) ||
           pons__reply_error(r, 404, "there is no graph %.80s", graph) >= 0;
}

static pons_value *or_empty(const pons_value *v)
{
    return v && !json_is_null(v) ? pons_value_ref(v) : json_object();
}

static pons_value *fresh(const pons__request *r, const char *id)
{
    const pons_value *b = r->body, *text = pons_get(b, "description");
    pons_value *first = pons_object(
        "graph_id", pons_value_ref(pons_get(b, "graph_id")), "config",
        or_empty(pons_get(b, "config")), "context", or_empty(pons_get(b, "context")), "metadata",
        or_empty(pons_get(b, "metadata")), "name", json_string(pons_get_str(b, "name", "Untitled")),
        "description", pons__lg_or_null(text), NULL);
    return begun(first, id, pons_wall_ms(&r->s->o.clock));
}

static int create(pons__request *r)
{
    pons_autovalue there = NULL;
    pons_error none = PONS_ERROR_INIT;
    char id[PONS__UUID];
    const char *wanted = pons_get_str(r->body, "assistant_id", NULL);
    if (!has_graph(r)) {
        return PONS_EREFUSED;
    }
    pons__uuid(pons_wall_ms(&r->s->o.clock), id);
    if (wanted && pons__lg_assistant(r->s, wanted, &there, &none) >= 0) {
        return strcmp(pons_get_str(r->body, "if_exists", "raise"), "do_nothing") == 0
                   ? pons__reply_json(r, 200, shown(there))
                   : pons__reply_error(r, 409, "there is an assistant %s already", wanted);
    }
    pons_autovalue a = fresh(r, wanted ? wanted : id);
    return keep(r, a);
}

static int change(pons__request *r)
{
    pons_autovalue was = find(r);
    if (!was || !has_graph(r)) {
        return r->err.status;
    }
    pons_autovalue a = json_deep_copy(was);
    pons_value *versions = json_object_get(a, "versions");
    int64_t newest = 0;
    pons_each(one, versions) {
        const int64_t n = pons_get_int(one, "version", 0);
        newest = n > newest ? n : newest;
    }
    for (size_t i = 0; versioned[i]; i++) {
        const pons_value *v = pons_get(r->body, versioned[i]);
        if (v && !json_is_null(v) && strcmp(versioned[i], "metadata") == 0) {
            json_object_update(json_object_get(a, "metadata"), (pons_value *)(uintptr_t)v);
        } else if (v && !json_is_null(v)) {
            json_object_set_new(a, versioned[i], pons_value_ref(v));
        }
    }
    const int64_t now = pons_wall_ms(&r->s->o.clock);
    json_object_set_new(a, "version", json_integer(newest + 1));
    json_object_set_new(a, "updated_ms", json_integer(now));
    json_array_append_new(versions,
                          pons__lg_put_all(pons_object("version", json_integer(newest + 1),
                                                       "created_ms", json_integer(now), NULL),
                                           a, versioned));
    return keep(r, a);
}

static int set_latest(pons__request *r)
{
    pons_autovalue was = find(r);
    const int64_t wanted = pons_get_int(r->body, "version", 0);
    if (!was) {
        return r->err.status;
    }
    pons_autovalue a = json_deep_copy(was);
    pons_each(one, json_object_get(a, "versions")) {
        if (pons_get_int(one, "version", 0) != wanted) {
            continue;
        }
        pons__lg_put_all(a, one, versioned);
        json_object_set_new(a, "version", json_integer(wanted));
        json_object_set_new(a, "updated_ms", json_integer(pons_wall_ms(&r->s->o.clock)));
        return keep(r, a);
    }
    return pons__reply_error(r, 404, "assistant %s has no version %lld", r->args[0],
                             (long long)wanted);
}

// All of its threads but those that are at work.
static void delete_threads(pons_serve *s, const char *assistant)
{
    pons_autovalue list = NULL;
    pons_autovalue wanted = pons_object("assistant_id", json_string(assistant), NULL);
    pons_error err = PONS_ERROR_INIT;
    pons_threads_find(s->o.store, &(pons_threads_query){.metadata = wanted, .limit = -1}, &list,
                      &err);
    pons_each(one, list) {
        pons__runhost_thread_delete(s->host, pons_get_str(one, "thread_id", ""), &err);
    }
}

static int forget(pons__request *r)
{
    pons_autovalue a = find(r);
    if (!a || pons_items_delete(pons__runhost_items(r->s->host), SPACE,
                                pons_get_str(a, "assistant_id", ""), &r->err) < 0) {
        return r->err.status;
    }
    if (pons_get_bool(r->query, "delete_threads", false)) {
        delete_threads(r->s, pons_get_str(a, "assistant_id", ""));
    }
    return pons__reply_done(r);
}

// ---- looking ------------------------------------------------------------------------------------

static int get(pons__request *r)
{
    pons_autovalue a = find(r);
    return a ? pons__reply_json(r, 200, shown(a)) : r->err.status;
}

static bool fits(const pons_value *a, const pons_value *q)
{
    const char *graph = pons_get_str(q, "graph_id", NULL), *name = pons_get_str(q, "name", NULL);
    const pons_value *m = pons_get(q, "metadata");
    return (!graph || strcmp(graph, pons_get_str(a, "graph_id", "")) == 0) &&
           (!name || strcasestr(pons_get_str(a, "name", ""), name)) &&
           (!json_is_object(m) || pons_items_fits(pons_get(a, "metadata"), m));
}

// Takes it.
static void add_fitting(const pons__request *r, pons_value *to, pons_value *a)
{
    if (fits(a, r->body)) {
        json_array_append_new(to, shown(a));
    }
    pons_value_unref(a);
}

static int search(pons__request *r)
{
    const pons_items *items = pons__runhost_items(r->s->host);
    pons_autovalue kept = NULL;
    pons_autovalue found = json_array();
    if (pons__own_list(items, SPACE, &kept, &r->err) < 0) {
        return r->err.status;
    }
    pons_each(one, kept) {
        add_fitting(r, found, pons_value_ref(one));
    }
    for (size_t i = 0; i < r->s->n_graphs; i++) {
        char id[PONS__UUID];
        pons_autovalue changed = NULL;
        id_of(r->s->graphs[i].id, id);
        if (pons__own_get(items, SPACE, id, &changed, NULL) < 0) {
            add_fitting(r, found, of_graph(&r->s->graphs[i]));
        }
    }
    return pons__lg_reply_asked(r, found, "created_at");
}

static int versions(pons__request *r)
{
    pons_autovalue a = find(r);
    pons_autovalue found = json_array();
    const pons_value *list = pons_get(a, "versions");
    if (!a) {
        return r->err.status;
    }
    for (size_t i = json_array_size(list); i > 0; i--) { // newest first
        const pons_value *one = json_array_get(list, i - 1);
        const pons_value *m = pons_get(r->body, "metadata");
        if (json_is_object(m) && !pons_items_fits(pons_get(one, "metadata"), m)) {
            continue;
        }
        pons_autovalue whole = json_copy((pons_value *)(uintptr_t)one);
        json_object_set_new(whole, "assistant_id", pons_value_ref(pons_get(a, "assistant_id")));
        json_array_append_new(found, shown(whole));
    }
    return pons__lg_reply_page(r, found,
                               &(pons__lg_page){.limit = pons_get_int(r->body, "limit", LIMIT),
                                                .offset = pons_get_int(r->body, "offset", 0)});
}

const pons__route pons__lg_assistant_routes[] = {
    {"POST", "/assistants", PONS__OPERATOR, create},
    {"POST", "/assistants/search", PONS__VIEWER, search},
    {"POST", "/assistants/count", PONS__VIEWER, search, .word = "count"},
    {"GET", "/assistants/*", PONS__VIEWER, get},
    {"PATCH", "/assistants/*", PONS__OPERATOR, change},
    {"DELETE", "/assistants/*", PONS__OPERATOR, forget},
    {"POST", "/assistants/*/versions", PONS__VIEWER, versions},
    {"POST", "/assistants/*/latest", PONS__OPERATOR, set_latest},
    {NULL, NULL, PONS__NOBODY, NULL},
};
