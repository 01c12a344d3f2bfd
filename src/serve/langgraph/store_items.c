// store_items.c - items: documents that belong to no thread, the same that `pons items` shows.
//
//     PUT  /store/items {namespace, key, value, index, ttl}      GET /store/items?namespace=a.b&key=k
//     DELETE /store/items {namespace, key}      POST /store/items/search      POST /store/namespaces
//
// What the server keeps for itself among them (runs/job_store.h) is neither shown nor written here.
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/routes.h"
#include "serve/langgraph/run_request.h"
#include "serve/runs/job_store.h"

#include <string.h>

enum { LIMIT = 10, SPACES = 100, FIELDS_MAX = 32, MS_PER_MINUTE = 60000 };

static bool own(const char *ns)
{
    const size_t n = strlen(PONS__OWN);
    return strncmp(ns, PONS__OWN, n) == 0 && (ns[n] == '\0' || ns[n] == '.');
}

static bool refused(pons__request *r, const pons_error *err)
{
    pons__reply_fault(r, err);
    return false;
}

// The namespace of a body, as one text.
static bool space(pons__request *r, const pons_value *labels, char ret[PONS_ITEM_MAX])
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_items_ns(labels, ret, PONS_ITEM_MAX, &err) < 0) {
        return refused(r, &err);
    }
    if (own(ret)) {
        pons__reply_error(r, 403, "%s is the server's own", PONS__OWN);
        return false;
    }
    return true;
}

static pons_value *shown(const pons_value *item, bool found)
{
    const pons_value *score = pons_get(item, "score");
    return pons_object("namespace", pons_value_ref(pons_get(item, "namespace")), "key",
                       pons_value_ref(pons_get(item, "key")), "value",
                       pons_value_ref(pons_get(item, "value")), "created_at",
                       pons__lg_time_value(pons_get_int(item, "created_ms", 0)), "updated_at",
                       pons__lg_time_value(pons_get_int(item, "updated_ms", 0)), "score",
                       !found  ? NULL
                       : score ? pons_value_ref(score)
                               : json_null(),
                       NULL);
}

// ---- one ----------------------------------------------------------------------------------------

static void put(pons__request *r)
{
    char ns[PONS_ITEM_MAX];
    const char *fields[FIELDS_MAX + 1] = {NULL};
    pons_error err = PONS_ERROR_INIT;
    const pons_value *index = pons_get(r->body, "index"), *ttl = pons_get(r->body, "ttl");
    pons_item_put o = {.unsearched = json_is_false(index),
                       .ttl_ms = (int64_t)(json_number_value(ttl) * MS_PER_MINUTE)};
    size_t i;
    json_t *one;
    json_array_foreach(index, i, one) {
        fields[i] = json_string_value(one);
    }
    o.fields = fields[0] ? fields : NULL;
    if (!space(r, pons_get(r->body, "namespace"), ns)) {
        return;
    }
    if (pons_items_put(pons__runhost_items(r->s->host), ns, pons_get_str(r->body, "key", ""),
                       pons_get(r->body, "value"), &o, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_bytes(r, 204, "application/json", NULL, "", 0);
}

static void get(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue item = NULL;
    const char *ns = pons_get_str(r->query, "namespace", ""),
               *key = pons_get_str(r->query, "key", "");
    const int rc = own(ns) ? PONS_ENOTFOUND
                           : pons_items_get(pons__runhost_items(r->s->host), ns, key, &item, &err);
    if (rc == PONS_ENOTFOUND) {
        pons__reply_json(r, 200, NULL);
    } else if (rc < 0) {
        pons__reply_fault(r, &err);
    } else {
        pons__reply_json(r, 200, shown(item, false));
    }
}

static void forget(pons__request *r)
{
    char ns[PONS_ITEM_MAX];
    pons_error err = PONS_ERROR_INIT;
    if (!space(r, pons_get(r->body, "namespace"), ns)) {
        return;
    }
    if (pons_items_delete(pons__runhost_items(r->s->host), ns, pons_get_str(r->body, "key", ""),
                          &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_bytes(r, 204, "application/json", NULL, "", 0);
}

// ---- many ---------------------------------------------------------------------------------------

// Labels as one text; none: "".
static bool labels(pons__request *r, const pons_value *v, char ret[PONS_ITEM_MAX])
{
    pons_error err = PONS_ERROR_INIT;
    *ret = '\0';
    if (json_array_size(v) == 0) {
        return true;
    }
    return pons_items_ns(v, ret, PONS_ITEM_MAX, &err) >= 0 || refused(r, &err);
}

static void search(pons__request *r)
{
    char prefix[PONS_ITEM_MAX];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue items = NULL;
    const pons_value *filter = pons_get(r->body, "filter");
    const char *query = pons_get_str(r->body, "query", NULL);
    int64_t offset = pons_get_int(r->body, "offset", 0),
            limit = pons_get_int(r->body, "limit", LIMIT);
    if (!labels(r, pons_get(r->body, "namespace_prefix"), prefix)) {
        return;
    }
    const pons_items_query q = {.prefix = prefix,
                                .filter = json_object_size(filter) ? filter : NULL,
                                .query = query && *query ? query : NULL,
                                .limit = -1};
    if (pons_items_search(pons__runhost_items(r->s->host), &q, &items, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons_value *list = json_array();
    pons_each(one, items) {
        const pons_value *first = json_array_get(pons_get(one, "namespace"), 0);
        if (strcmp(json_string_value(first), PONS__OWN) != 0 && offset-- <= 0 &&
            (int64_t)json_array_size(list) < limit) {
            json_array_append_new(list, shown(one, true));
        }
    }
    pons__reply_json(r, 200, pons_object("items", list, NULL));
}

static void namespaces(pons__request *r)
{
    char prefix[PONS_ITEM_MAX], suffix[PONS_ITEM_MAX];
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue spaces = NULL;
    int64_t offset = pons_get_int(r->body, "offset", 0),
            limit = pons_get_int(r->body, "limit", SPACES);
    if (!labels(r, pons_get(r->body, "prefix"), prefix) ||
        !labels(r, pons_get(r->body, "suffix"), suffix)) {
        return;
    }
    const pons_items_spaces q = {.prefix = prefix,
                                 .suffix = suffix,
                                 .max_depth = pons_get_int(r->body, "max_depth", 0),
                                 .limit = -1};
    if (pons_items_namespaces(pons__runhost_items(r->s->host), &q, &spaces, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons_value *list = json_array();
    pons_each(one, spaces) {
        const char *first = json_string_value(json_array_get(one, 0));
        if (strcmp(first ? first : "", PONS__OWN) != 0 && offset-- <= 0 &&
            (int64_t)json_array_size(list) < limit) {
            json_array_append_new(list, pons_value_ref(one));
        }
    }
    pons__reply_json(r, 200, pons_object("namespaces", list, NULL));
}

const pons__route pons__lg_store_routes[] = {
    {"PUT", "/store/items", PONS__OPERATOR, put},
    {"GET", "/store/items", PONS__VIEWER, get},
    {"DELETE", "/store/items", PONS__OPERATOR, forget},
    {"POST", "/store/items/search", PONS__VIEWER, search},
    {"POST", "/store/namespaces", PONS__VIEWER, namespaces},
    {NULL, NULL, PONS__NOBODY, NULL},
};
