// store_items.c - items: documents that belong to no thread, the same that `pons items` shows.
//
//     PUT  /store/items {namespace, key, value, index, ttl}      GET /store/items?namespace=a.b&key=k
//     DELETE /store/items {namespace, key}      POST /store/items/search      POST /store/namespaces
//
// What the server keeps for itself among them (runs/job_store.h) is neither shown nor written here.
#include "serve/langgraph/langgraph_json.h"
#include "serve/langgraph/run_request.h"
#include "serve/runs/job_store.h"

#include <string.h>

enum { LIMIT = 10, SPACES = 100, FIELDS_MAX = 32, MS_PER_MINUTE = 60000 };

static bool own(const char *ns)
{
    const size_t n = strlen(PONS__OWN);
    return strncmp(ns, PONS__OWN, n) == 0 && (ns[n] == '\0' || ns[n] == '.');
}

// The namespace of a body, as one text.
static int space(pons__request *r, char ret[PONS_ITEM_MAX])
{
    const int rc = pons_items_ns(pons_get(r->body, "namespace"), ret, PONS_ITEM_MAX, &r->err);
    return rc >= 0 && own(ret) ? pons__reply_error(r, 403, "%s is the server's own", PONS__OWN)
                               : rc;
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

static int put(pons__request *r)
{
    char ns[PONS_ITEM_MAX];
    const char *fields[FIELDS_MAX + 1] = {NULL};
    const pons_value *index = pons_get(r->body, "index"), *ttl = pons_get(r->body, "ttl");
    pons_item_put o = {.unsearched = json_is_false(index),
                       .ttl_ms = (int64_t)(json_number_value(ttl) * MS_PER_MINUTE)};
    pons_each(one, index) {
        fields[one_at] = json_string_value(one);
    }
    o.fields = fields[0] ? fields : NULL;
    if (space(r, ns) < 0 ||
        pons_items_put(pons__runhost_items(r->s->host), ns, pons_get_str(r->body, "key", ""),
                       pons_get(r->body, "value"), &o, &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_done(r);
}

static int get(pons__request *r)
{
    pons_autovalue item = NULL;
    const char *ns = pons_get_str(r->query, "namespace", ""),
               *key = pons_get_str(r->query, "key", "");
    const int rc = own(ns)
                       ? PONS_ENOTFOUND
                       : pons_items_get(pons__runhost_items(r->s->host), ns, key, &item, &r->err);
    return rc == PONS_ENOTFOUND ? pons__reply_json(r, 200, NULL)
                                : pons__reply_result(r, rc, shown(item, false));
}

static int forget(pons__request *r)
{
    char ns[PONS_ITEM_MAX];
    if (space(r, ns) < 0 || pons_items_delete(pons__runhost_items(r->s->host), ns,
                                              pons_get_str(r->body, "key", ""), &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_done(r);
}

// ---- many ---------------------------------------------------------------------------------------

// The body's labels of this name as one text; none: "".
static int labels(pons__request *r, const char *name, char ret[PONS_ITEM_MAX])
{
    const pons_value *v = pons_get(r->body, name);
    *ret = '\0';
    return json_array_size(v) == 0 ? PONS_OK : pons_items_ns(v, ret, PONS_ITEM_MAX, &r->err);
}

// Of items, or of namespaces, those that are not the server's own: the part that the body asks for.
static pons_value *page(const pons__request *r, const pons_value *rows, bool items, int64_t most)
{
    int64_t offset = pons_get_int(r->body, "offset", 0);
    const int64_t limit = pons_get_int(r->body, "limit", most);
    pons_value *list = json_array();
    pons_each(one, rows) {
        const pons_value *labels = items ? pons_get(one, "namespace") : one;
        const char *first = json_string_value(json_array_get(labels, 0));
        if (strcmp(first ? first : "", PONS__OWN) != 0 && offset-- <= 0 &&
            (int64_t)json_array_size(list) < limit) {
            json_array_append_new(list, items ? shown(one, true) : pons_value_ref(one));
        }
    }
    return list;
}

static int search(pons__request *r)
{
    char prefix[PONS_ITEM_MAX];
    pons_autovalue items = NULL;
    const pons_value *filter = pons_get(r->body, "filter");
    const char *query = pons_get_str(r->body, "query", NULL);
    const pons_items_query q = {.prefix = prefix,
                                .filter = json_object_size(filter) ? filter : NULL,
                                .query = query && *query ? query : NULL,
                                .limit = -1};
    int rc = labels(r, "namespace_prefix", prefix);
    rc = rc < 0 ? rc : pons_items_search(pons__runhost_items(r->s->host), &q, &items, &r->err);
    return pons__reply_result(r, rc, pons_object("items", page(r, items, true, LIMIT), NULL));
}

static int namespaces(pons__request *r)
{
    char prefix[PONS_ITEM_MAX], suffix[PONS_ITEM_MAX];
    pons_autovalue spaces = NULL;
    const pons_items_spaces q = {.prefix = prefix,
                                 .suffix = suffix,
                                 .max_depth = pons_get_int(r->body, "max_depth", 0),
                                 .limit = -1};
    int rc = labels(r, "prefix", prefix);
    rc = rc < 0 ? rc : labels(r, "suffix", suffix);
    rc = rc < 0 ? rc : pons_items_namespaces(pons__runhost_items(r->s->host), &q, &spaces, &r->err);
    return pons__reply_result(r, rc,
                              pons_object("namespaces", page(r, spaces, false, SPACES), NULL));
}

const pons__route pons__lg_store_routes[] = {
    {"PUT", "/store/items", PONS__OPERATOR, put},
    {"GET", "/store/items", PONS__VIEWER, get},
    {"DELETE", "/store/items", PONS__OPERATOR, forget},
    {"POST", "/store/items/search", PONS__VIEWER, search},
    {"POST", "/store/namespaces", PONS__VIEWER, namespaces},
    {NULL, NULL, PONS__NOBODY, NULL},
};
