// cmd_bt.c - `pons bt check|show|run`: behaviour trees without a robot, and `watch`, with one.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pons/bt.h"

enum { SCRIPT_MAX = 8 << 20 }; // [bytes]

typedef struct bt_args {
    const char *format, *script, *tree, *watch;
} bt_args;

static int bt_check(cli *c, const bt_args *a);
static int bt_show(cli *c, const bt_args *a);
static int bt_run(cli *c, const bt_args *a);

int cmd_bt(cli *c)
{
    bt_args a = {.format = "text"};
    const cli_option options[] = {
        {"--format", "FORMAT", "of show: text (default), dot or svg", &a.format},
        {"--script", "FILE", "what the leaves answer; for run, and the leaves that check knows",
         &a.script},
        {"--watch", NULL, "run: also a line for every change of a node's state", &a.watch},
        {"--tree", "NAME", "which tree of the file (default: the main one)", &a.tree},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find("bt"), options);
    if (parsed >= 0) {
        return parsed;
    }
    if (c->argc >= 2 && strcmp(c->argv[0], "check") == 0) {
        return bt_check(c, &a);
    }
    if (c->argc == 2 && strcmp(c->argv[0], "show") == 0) {
        return bt_show(c, &a);
    }
    if (c->argc == 2 && strcmp(c->argv[0], "run") == 0) {
        return bt_run(c, &a);
    }
    if (c->argc == 1 && strcmp(c->argv[0], "watch") == 0) {
        return cli_bt_watch(c);
    }
    return cli_bad("bt: use `pons bt check FILE…`, `pons bt show FILE`, "
                   "`pons bt run FILE --script S.json` or `pons bt watch`");
}

// All faults of a file, one a line: file:line:col: message.
static void print_faults(const cli *c, const pons_value *faults)
{
    size_t i;
    pons_value *f;
    json_array_foreach((pons_value *)faults, i, f)
    {
        if (c->json) {
            cli_print_json(f);
        } else {
            fprintf(stderr, "%s:%d:%d: %s\n", pons_get_str(f, "file", "?"),
                    (int)pons_get_int(f, "line", 0), (int)pons_get_int(f, "col", 0),
                    pons_get_str(f, "message", ""));
        }
    }
}

static int read_script(const char *path, pons_value **ret, pons_error *err)
{
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(SCRIPT_MAX + 1) : NULL;
    const size_t n = text ? fread(text, 1, SCRIPT_MAX + 1, f) : 0;
    int rc = n > SCRIPT_MAX
                 ? pons_error_set(err, PONS_EINVAL, "bt", "the script is larger than 8 MiB")
             : f ? pons_value_parse(text ? text : "", n, ret, err)
                 : pons_error_set(err, PONS_EINVAL, "bt", "cannot read the script of leaves");
    if (rc < 0) {
        char where[64];
        snprintf(where, sizeof where, "%.40s", err->source);
        pons_error_source(err, "%s%s%s", path, *where ? ":" : "", where);
    }
    if (f) {
        fclose(f);
    }
    free(text);
    return rc;
}

static int no_leaf(pons_bt_call *call, void *user, pons_error *err)
{
    (void)call;
    (void)user;
    return pons_error_set(err, PONS_EUNSUPPORTED, "bt", "a leaf that is only checked");
}

// The names in a script's "leaves", so that check and show know them.
static int known_leaves(const bt_args *a, pons_bt_registry *r, pons_error *err)
{
    pons_autovalue script = NULL;
    int rc = a->script ? read_script(a->script, &script, err) : PONS_OK;
    const char *name;
    pons_value *v;
    json_object_foreach((pons_value *)pons_get(script, "leaves"), name, v)
    {
        const pons_bt_leaf leaf = {.name = name, .fn = no_leaf};
        rc = rc < 0 ? rc : pons_bt_register(r, &leaf, err);
    }
    return rc;
}

static int bt_check(cli *c, const bt_args *a)
{
    pons_error err = PONS_ERROR_INIT;
    pons_bt_registry *leaves = pons_bt_registry_create();
    int status = EXIT_DONE;
    int rc = leaves ? known_leaves(a, leaves, &err) : PONS_ENOMEM;
    if (rc < 0) {
        status = cli_fail(&err);
    }
    for (int i = 1; i < c->argc && rc >= 0; i++) {
        const pons_bt_load_options o = {.leaves = leaves, .tree = a->tree};
        pons_autovalue faults = NULL;
        pons_bt *bt = NULL;
        pons_error fault = PONS_ERROR_INIT;
        if (pons_bt_load_file(c->argv[i], &o, &bt, &faults, &fault) < 0) {
            status = EXIT_BAD_INPUT;
            if (faults) {
                print_faults(c, faults);
            } else {
                cli_fail(&fault);
            }
        } else if (c->json) {
            pons_autovalue line = pons_object("file", json_string(c->argv[i]), "ok", json_true(),
                                              "nodes", json_integer(pons_bt_nodes(bt)), NULL);
            cli_print_json(line);
        } else {
            printf("%s: ok, %u nodes\n", c->argv[i], pons_bt_nodes(bt));
        }
        pons_bt_unref(bt);
    }
    pons_bt_registry_destroy(leaves);
    return status;
}

// graphviz makes the picture: dot's text goes in, svg comes out.
static int print_svg(const char *dot)
{
    fflush(stdout);
    FILE *p = popen("dot -Tsvg", "w");
    if (p) {
        fputs(dot, p);
    }
    const int rc = p ? pclose(p) : -1;
    if (rc != 0) {
        fputs("pons: show --format svg needs graphviz (the program `dot`)\n", stderr);
        return EXIT_ENVIRONMENT;
    }
    return EXIT_DONE;
}

static int bt_show(cli *c, const bt_args *a)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue faults = NULL;
    pons_bt *bt = NULL;
    char *text = NULL;
    const bool svg = strcmp(a->format, "svg") == 0;
    const pons_bt_load_options o = {.tree = a->tree, .any_leaf = true};
    int rc = pons_bt_load_file(c->argv[1], &o, &bt, &faults, &err);
    if (rc < 0 && faults) {
        print_faults(c, faults);
        return EXIT_BAD_INPUT;
    }
    rc = rc < 0 ? rc : pons_bt_draw(bt, svg ? "dot" : a->format, &text, &err);
    int status = rc < 0 ? cli_fail(&err) : EXIT_DONE;
    if (rc >= 0 && svg) {
        status = print_svg(text);
    } else if (rc >= 0) {
        fputs(text, stdout);
    }
    free(text);
    pons_bt_unref(bt);
    return status;
}

typedef struct printer {
    bool json, failed;
    char last[16];
} printer;

static void print_line(void *user, const pons_value *line)
{
    printer *p = user;
    const char *error = pons_get_str(line, "error", NULL);
    if (pons_get(line, "path")) { // a change
        if (p->json) {
            cli_print_json(line);
        } else {
            printf("%4d  %s: %s -> %s\n", (int)pons_get_int(line, "tick", 0),
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
    printf("%4d  %-9s  %s ", (int)pons_get_int(line, "tick", 0), p->last,
           pons_get_str(line, "states", ""));
    size_t i;
    pons_value *v;
    json_array_foreach((pons_value *)pons_get(line, "calls"), i, v)
    {
        printf(" %s", json_string_value(v));
    }
    putchar('\n');
    if (error) {
        fflush(stdout);
        fprintf(stderr, "pons: %s\n", error);
    }
}

static int bt_run(cli *c, const bt_args *a)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue script = NULL;
    pons_autovalue faults = NULL;
    printer p = {.json = c->json};
    int rc = a->script ? read_script(a->script, &script, &err) : PONS_OK;
    if (rc >= 0 && !script) {
        script = json_object();
    }
    if (rc >= 0 && a->tree) {
        json_object_set_new(script, "tree", json_string(a->tree));
    }
    if (rc >= 0 && a->watch) {
        json_object_set_new(script, "watch", json_true());
    }
    rc = rc < 0 ? rc : pons_bt_try(c->argv[1], NULL, script, print_line, &p, &faults, &err);
    if (rc < 0 && faults) {
        print_faults(&(cli){.json = false}, faults);
        return EXIT_BAD_INPUT;
    }
    if (rc < 0 && a->script && !*err.source) {
        pons_error_source(&err, "%s", a->script);
    }
    return rc < 0 ? cli_fail(&err) : p.failed ? EXIT_NO_SUCCESS : EXIT_DONE;
}
