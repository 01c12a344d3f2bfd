// cmd_bt.c - `pons bt check|show|run`: behaviour trees without a robot, and `watch`, with one.
#include "cli/cli.h"
#include "cli/graphs/bt_groot.h"
#include "pons/bt.h"
#include "pons/dot_svg.h"
#include "pons/file.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MAX = 8 << 20 }; // [bytes]

typedef struct bt_args {
    const char *format, *script, *tree, *watch, *groot;
} bt_args;

typedef struct printer {
    bool json, failed;
    char last[16];
} printer;

// All faults of a file, one a line: file:line:col: message.
static void print_faults(const cli *c, const pons_value *faults)
{
    pons_each(f, faults) {
        if (c->json) {
            cli_print_json(f);
        } else {
            cli_err("%s:%d:%d: %s\n", pons_get_str(f, "file", "?"), (int)pons_get_int(f, "line", 0),
                    (int)pons_get_int(f, "col", 0), pons_get_str(f, "message", ""));
        }
    }
}

static int read_script(const char *path, pons_value **ret, pons_error *err)
{
    size_t n = 0;
    char *text = pons_file_text(path, SCRIPT_MAX, &n);
    int rc = n > SCRIPT_MAX
                 ? pons_error_set(err, PONS_EINVAL, "bt", "the script is larger than 8 MiB")
             : text ? pons_value_parse(text, n, ret, err)
                    : pons_error_set(err, PONS_EINVAL, "bt", "cannot read the script of leaves");
    if (rc < 0) {
        char where[64];
        snprintf(where, sizeof where, "%.40s", err->source);
        pons_error_source(err, "%s%s%s", path, *where ? ":" : "", where);
    }
    free(text);
    return rc;
}

static int no_leaf(pons_bt_call *call, void *user, pons_error *err)
{
    return pons_error_set(err, PONS_EUNSUPPORTED, "bt", "a leaf that is only checked");
}

// The names in a script's "leaves", so that check and show know them.
static int known_leaves(const bt_args *a, pons_bt_registry *r, pons_error *err)
{
    pons_autovalue script = NULL;
    int rc = a->script ? read_script(a->script, &script, err) : PONS_OK;
    pons_each_member(name, v, pons_get(script, "leaves")) {
        const pons_bt_leaf leaf = {.name = name, .fn = no_leaf};
        rc = rc < 0 ? rc : pons_bt_register(r, &leaf, err);
    }
    return rc;
}

static int bt_check(cli *c, const bt_args *a, pons_error *err)
{
    pons_bt_registry *leaves = pons_bt_registry_create();
    bool good = true;
    const int rc = leaves ? known_leaves(a, leaves, err)
                          : pons_error_set(err, PONS_ENOMEM, "bt", "out of memory");
    for (int i = 1; i < c->argc && rc >= 0; i++) {
        const pons_bt_load_options o = {.leaves = leaves, .tree = a->tree, .any_tree = true};
        pons_autovalue faults = NULL;
        pons_bt *bt = NULL;
        pons_error fault = PONS_ERROR_INIT;
        if (pons_bt_load_file(c->argv[i], &o, &bt, &faults, &fault) < 0) {
            good = false;
            if (faults) {
                print_faults(c, faults);
            } else {
                cli_tell(&fault); // and the next file is looked at
            }
        } else if (c->json) {
            pons_autovalue line = pons_object("file", json_string(c->argv[i]), "ok", json_true(),
                                              "nodes", json_integer(pons_bt_nodes(bt)), NULL);
            cli_print_json(line);
        } else {
            cli_out("%s: ok, %u nodes\n", c->argv[i], pons_bt_nodes(bt));
        }
        pons_bt_unref(bt);
    }
    pons_bt_registry_destroy(leaves);
    return rc < 0 ? rc : good ? PONS_OK : APP_FAULTY;
}

static int bt_show(cli *c, const bt_args *a, pons_error *err)
{
    pons_autovalue faults = NULL;
    pons_bt *bt = NULL;
    char *text = NULL;
    const bool svg = strcmp(a->format, "svg") == 0;
    const pons_bt_load_options o = {.tree = a->tree, .any_leaf = true};
    int rc = pons_bt_load_file(c->argv[1], &o, &bt, &faults, err);
    if (rc < 0 && faults) {
        print_faults(c, faults);
        return APP_FAULTY;
    }
    rc = rc < 0 ? rc : pons_bt_draw(bt, svg ? "dot" : a->format, &text, err);
    if (rc >= 0 && svg) {
        char *picture = NULL;
        rc = pons_picture_svg(text, &picture, err);
        free(text);
        text = picture;
    }
    if (rc >= 0) {
        cli_out_text(text, SIZE_MAX);
    }
    free(text);
    pons_bt_unref(bt);
    return rc < 0 ? rc : PONS_OK;
}

static void print_line(void *user, const pons_value *line)
{
    printer *p = user;
    const char *error = pons_get_str(line, "error", NULL);
    if (pons_get(line, "path")) { // a change
        if (p->json) {
            cli_print_json(line);
        } else {
            cli_out("%4d  %s: %s -> %s\n", (int)pons_get_int(line, "tick", 0),
                    pons_get_str(line, "path", ""), pons_get_str(line, "from", ""),
                    pons_get_str(line, "to", ""));
        }
        return;
    }
    snprintf(p->last, sizeof p->last, "%s", pons_get_str(line, "status", ""));
    p->failed |= error != NULL;
    if (p->json) {
        cli_print_json(line);
        return;
    }
    cli_out("%4d  %-9s  %s ", (int)pons_get_int(line, "tick", 0), p->last,
            pons_get_str(line, "states", ""));
    pons_each(v, pons_get(line, "calls")) {
        cli_out(" %s", json_string_value(v));
    }
    cli_out("\n");
    if (error) {
        cli_flush();
        cli_err("pons: %s\n", error);
    }
}

static int bt_run(cli *c, const bt_args *a, pons_error *err)
{
    pons_autovalue script = NULL;
    pons_autovalue faults = NULL;
    printer p = {.json = c->json};
    int rc = a->script ? read_script(a->script, &script, err) : PONS_OK;
    if (rc >= 0 && !script) {
        script = json_object();
    }
    if (rc >= 0 && a->tree) {
        json_object_set_new(script, "tree", json_string(a->tree));
    }
    if (rc >= 0 && a->watch) {
        json_object_set_new(script, "watch", json_true());
    }
    cli_groot *groot = NULL;
    rc = rc < 0 || !a->groot ? rc : cli_groot_open(a->groot, &groot, err);
    if (rc >= 0) {
        rc = groot ? cli_groot_try(groot, c->argv[1], script, print_line, &p, &faults, err)
                   : pons_bt_try(c->argv[1], NULL, script, print_line, &p, &faults, err);
    }
    cli_groot_close(groot);
    if (rc < 0 && faults) {
        print_faults(&(cli){.json = false}, faults);
        return APP_FAULTY;
    }
    if (rc < 0 && a->script && !*err->source) {
        pons_error_source(err, "%s", a->script);
    }
    return rc < 0 ? rc : p.failed ? APP_NO_SUCCESS : PONS_OK;
}

int cmd_bt(cli *c, pons_error *err)
{
    bt_args a = {.format = "text"};
    const cli_option options[] = {
        {"--format", "FORMAT", "of show: text (default), dot, svg or groot", &a.format},
        {"--script", "FILE", "what the leaves answer; for run, and the leaves that check knows",
         &a.script},
        {"--watch", NULL, "run: also a line for every change of a node's state", &a.watch},
        {"--groot", "PORT", "run, watch: Groot2 may look at the tree, at 127.0.0.1 or ADDR:PORT",
         &a.groot},
        {"--tree", "NAME", "which tree of the file (default: the main one)", &a.tree},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc >= 2 && strcmp(c->argv[0], "check") == 0) {
        return bt_check(c, &a, err);
    }
    if (c->argc == 2 && strcmp(c->argv[0], "show") == 0) {
        return bt_show(c, &a, err);
    }
    if (c->argc == 2 && strcmp(c->argv[0], "run") == 0) {
        return bt_run(c, &a, err);
    }
    if (c->argc == 1 && strcmp(c->argv[0], "watch") == 0) {
        return cli_bt_watch(c, a.groot, err);
    }
    return app_bad(err, "bt: use `pons bt check FILE…`, `pons bt show FILE`, "
                        "`pons bt run FILE --script S.json` or `pons bt watch`");
}
