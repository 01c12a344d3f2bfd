// cmd_items.c - `pons items`: what is kept in the store beside threads, by namespace and key. Reading
// takes nothing and may go on beside a brain, and so may writing.
#include "cli/cli.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

typedef struct items_options {
    const char *filter, *prefix, *suffix;
    double limit, offset, depth, ttl_s;
} items_options;

// ---- shown --------------------------------------------------------------------------------------

static void print_labels(const pons_value *labels)
{
    pons_each(label, labels) {
        cli_out("%s%s", label_at ? "." : "", json_string_value(label));
    }
}

static void print_item(const cli *c, const pons_value *item)
{
    if (c->json) {
        cli_print_json(item);
        return;
    }
    char *text = NULL;
    const pons_value *score = pons_get(item, "score");
    if (pons_value_line(pons_get(item, "value"), &text) < 0) {
        return;
    }
    print_labels(pons_get(item, "namespace"));
    cli_out("  %s  %s", pons_get_str(item, "key", ""), text);
    if (json_is_real(score)) {
        cli_out("  (%.2f)", json_real_value(score));
    }
    cli_out("\n");
    free(text);
}

static int search(cli *c, const pons_items *it, const items_options *o, const char *prefix,
                  const char *text, pons_error *err)
{
    pons_autovalue filter = NULL;
    pons_autovalue list = NULL;
    int rc = o->filter ? cli_value(o->filter, "--filter", &filter, err) : PONS_OK;
    const pons_items_query q = {.prefix = prefix,
                                .query = text,
                                .filter = filter,
                                .limit = (int64_t)o->limit,
                                .offset = (int64_t)o->offset};
    rc = rc < 0 ? rc : pons_items_search(it, &q, &list, err);
    pons_each(item, list) {
        print_item(c, item);
    }
    return rc;
}

static int list_items(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    return search(c, it, o, c->argc > 1 ? c->argv[1] : NULL, NULL, err);
}

static int search_items(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    return search(c, it, o, c->argc > 2 ? c->argv[2] : NULL, c->argv[1], err);
}

static int show_spaces(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    pons_autovalue list = NULL;
    const pons_items_spaces q = {.prefix = o->prefix,
                                 .suffix = o->suffix,
                                 .max_depth = (int64_t)o->depth,
                                 .limit = (int64_t)o->limit,
                                 .offset = (int64_t)o->offset};
    const int rc = pons_items_namespaces(it, &q, &list, err);
    pons_each(labels, list) {
        if (c->json) {
            cli_print_json(labels);
        } else {
            print_labels(labels);
            cli_out("\n");
        }
    }
    return rc;
}

static int show_item(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    pons_autovalue item = NULL;
    const int rc = pons_items_get(it, c->argv[1], c->argv[2], &item, err);
    if (rc == PONS_ENOTFOUND) {
        return app_bad(err, "there is no item %s in %s", c->argv[2], c->argv[1]);
    }
    if (rc == PONS_OK) {
        print_item(c, item);
    }
    return rc;
}

// ---- changed ------------------------------------------------------------------------------------

static int put_item(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    pons_autovalue value = NULL;
    const pons_item_put put = {.ttl_ms = (int64_t)(o->ttl_s * 1000.0)};
    const int rc = cli_value(c->argv[3], "put", &value, err);
    return rc < 0 ? rc : pons_items_put(it, c->argv[1], c->argv[2], value, &put, err);
}

static int delete_item(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    return pons_items_delete(it, c->argv[1], c->argv[2], err);
}

static int sweep_items(cli *c, const pons_items *it, const items_options *o, pons_error *err)
{
    int64_t removed = 0;
    const int rc = pons_items_sweep(it, &removed, err);
    if (rc == PONS_OK && c->json) {
        pons_autovalue row = pons_object("removed", json_integer(removed), NULL);
        cli_print_json(row);
    } else if (rc == PONS_OK) {
        cli_out("%lld expired items removed\n", (long long)removed);
    }
    return rc;
}

static const struct { // as the table of commands has them
    int least, most;  // words after the verb
    const char *takes;
    int (*run)(cli *c, const pons_items *it, const items_options *o, pons_error *err);
    bool writes;
} verbs[] = {
    {0, 1, "at most a namespace", list_items, false},
    {1, 2, "a text, and at most a namespace", search_items, false},
    {0, 0, "nothing more", show_spaces, false},
    {2, 2, "a namespace and a key", show_item, false},
    {3, 3, "a namespace, a key and a JSON object", put_item, true},
    {2, 2, "a namespace and a key", delete_item, true},
    {0, 0, "nothing more", sweep_items, true},
};

int cmd_items(cli *c, pons_error *err)
{
    items_options o = {.limit = 0};
    const cli_option options[] = {
        {"--filter", "JSON", "list, search: {member: value}, or {member: {\"$gt\": 3}}", &o.filter},
        {"--limit", "N", "list, search, namespaces: at most so many; default 10, of namespaces 100",
         CLI_NUMBER(&o.limit, 1.0, 1e9)},
        {"--offset", "N", "list, search, namespaces: without the first so many",
         CLI_NUMBER(&o.offset, 0.0, 1e9)},
        {"--prefix", "NS", "namespaces: that begin so; * is any label", &o.prefix},
        {"--suffix", "NS", "namespaces: that end so", &o.suffix},
        {"--depth", "N", "namespaces: cut to so many labels", CLI_NUMBER(&o.depth, 1.0, 1e3)},
        {"--ttl", "SECONDS", "put: it goes after that time", CLI_NUMBER(&o.ttl_s, 0.001, 1e10)},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const int v = c->which_word(c, err);
    if (v < 0) {
        return v;
    }
    const int words = c->argc ? c->argc - 1 : 0;
    if (words < verbs[v].least || words > verbs[v].most) {
        return app_bad(err, "items %s takes %s", c->self->words[v].name, verbs[v].takes);
    }
    pons_items it = {.clock = pons_clock_real()};
    int rc = PONS_OK;
    if (verbs[v].writes) {
        rc = app_workspace(&c->app, verbs[v].run == put_item, err); // the first item makes it
        rc = rc < 0 ? rc : app_store(&c->app, &it.store, err);
    } else {
        rc = app_store_read(&c->app, &it.store, err);
    }
    rc = rc < 0 ? rc : verbs[v].run(c, &it, &o, err);
    pons_store_close(&it.store);
    return rc < 0 ? rc : PONS_OK;
}
