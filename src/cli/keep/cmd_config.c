// cmd_config.c - `pons config path|show|check`: which configuration files count, where each comes
// from, what it says, and whether pons can read it.
//
// A file of the workspace stands for the one that pons ships, whole: they are not merged. check reads
// each as its user does; a fault is one line with file, line and column. Exit: 0 clean, 2 a fault.
#include "cli/agent/agent_cli.h"
#include "cli/cli.h"
#include "cli/fleet/fleet.h"
#include "cli/run/notify.h"
#include "pons/companion.h"
#include "pons/mcp.h"
#include "pons/module.h"
#include "pons/policy.h"
#include "pons/yaml.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct file_row {
    const char *name;        // as people call it
    const char *relative[2]; // in the workspace, the first that is there; [0] also as it is shipped
    bool shipped;            // else it is nobody's until somebody makes it
    const char *help;
    int (*check)(cli *c, const char *path, pons_error *err);
} file_row;

static int kernel(cli *c, const char *path, pons_error *err)
{
    pons_autovalue v = NULL;
    (void)path;
    return cli_config(c, &v, err);
}

static int intents(cli *c, const char *path, pons_error *err)
{
    pons_policy rules = {0};
    (void)path;
    const int rc = cli_policy(c, &rules, err);
    pons_rules_close(&rules);
    return rc;
}

static int agent(cli *c, const char *path, pons_error *err)
{
    pons_agent_config *config = NULL;
    (void)path;
    const int rc = cli_agent_config(c, &config, err);
    pons_agent_config_destroy(config);
    return rc;
}

static int tools(cli *c, const char *path, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    pons_tools opened = {0};
    if (access(c->workspace, F_OK) != 0) { // no folder yet for them to work in
        pons_yaml *yaml = NULL;
        const int read = pons_yaml_load(path, &yaml, err);
        pons_yaml_destroy(yaml);
        return read;
    }
    const int rc = cli_core_tools(c, &clock, NULL, &opened, err);
    if (opened.ops) {
        opened.ops->close(opened.self);
    }
    return rc;
}

static int world_view(cli *c, const char *path, pons_error *err)
{
    pons_world_view *view = NULL;
    (void)c;
    const int rc = pons_world_view_load(path, &view, err);
    pons_world_view_unref(view);
    return rc;
}

static int servers(cli *c, const char *path, pons_error *err)
{
    pons_autovalue list = NULL;
    (void)c;
    return pons_mcp_load(path, &list, err);
}

static int fleet(cli *c, const char *path, pons_error *err)
{
    cli_fleet_file file = {0};
    (void)path;
    const int rc = cli_fleet_load(c, &file, err);
    cli_fleet_free(&file);
    return rc;
}

static int vda5050(cli *c, const char *path, pons_error *err)
{
    pons_autovalue v = NULL;
    (void)path;
    return cli_yaml(c, "config/vda5050.yaml", "schemas/vda5050.json", &v, err);
}

static int notify(cli *c, const char *path, pons_error *err)
{
    (void)path;
    return cli_notify_check(c, err);
}

static const file_row files[] = {
    {"kernel.yaml",
     {"config/kernel.yaml"},
     true,
     "limits, approvals, budgets, what is kept",
     kernel},
    {"intents.yaml", {"config/intents.yaml"}, true, "the words that the rules understand", intents},
    {"graph_config.yaml",
     {"config/graph_config.yaml", "graph_config.yaml"},
     true,
     "the planning agent: model, prompts, tools, approvals",
     agent},
    {"tools.yaml", {"config/tools.yaml"}, true, "files, commands, pages, modules", tools},
    {"world-view.yaml",
     {"config/world-view.yaml"},
     true,
     "what the companion lives by",
     world_view},
    {"vda5050.yaml",
     {"config/vda5050.yaml"},
     true,
     "a master control's broker and actions",
     vda5050},
    {"notify.yaml",
     {"config/notify.yaml"},
     true,
     "who is told when the robot needs a person",
     notify},
    {"mcp.json", {"mcp.json", "config/mcp.json"}, false, "servers of tools", servers},
    {"fleet.yaml", {"fleet.yaml"}, false, "robots and the map of a fleet", fleet},
};
enum { FILES = sizeof files / sizeof files[0] };

// Where the file that counts is; false: there is none.
static bool locate(const cli *c, const file_row *f, char path[PATH_MAX], const char **ret_from)
{
    pons_error none = PONS_ERROR_INIT;
    for (size_t i = 0; i < 2 && f->relative[i]; i++) {
        const int n = snprintf(path, PATH_MAX, "%s/%s", c->workspace, f->relative[i]);
        if (n < PATH_MAX && access(path, F_OK) == 0) {
            *ret_from = "workspace";
            return true;
        }
    }
    *ret_from = "shipped";
    path[0] = '\0';
    return f->shipped && pons_share_path(f->relative[0], path, PATH_MAX, &none) >= 0;
}

static void show_row(const cli *c, const file_row *f, const char *path, const char *from)
{
    if (c->json) {
        pons_autovalue row =
            pons_object("type", json_string("config"), "file", json_string(f->name), "path",
                        path ? pons_string(path) : json_null(), "from",
                        from ? json_string(from) : json_null(), "help", json_string(f->help), NULL);
        cli_print_json(row);
    } else {
        cli_out("%-18s %-10s %s\n", f->name, from ? from : "-", path ? path : f->help);
    }
}

static int print_file(const char *path, pons_error *err)
{
    char block[8192];
    FILE *f = fopen(path, "re");
    if (!f) {
        return cli_lacks(err, "cannot read %s: %s", path, strerror(errno));
    }
    pons_autobuf text = PONS_BUF_INIT;
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) {
        pons_buf_bytes(&text, block, n);
    }
    const bool bad = ferror(f);
    fclose(f);
    if (bad || text.failed) {
        return cli_lacks(err, "cannot read all of %s", path);
    }
    cli_out_text(text.len ? text.data : "", text.len);
    return PONS_OK;
}

// All faults are told; the first is not the last that a person learns of.
static void check_row(cli *c, const file_row *f, const char *path, const char *from, bool *ret_bad)
{
    pons_error fault = PONS_ERROR_INIT;
    char gone[PATH_MAX];
    const int rc = *path ? f->check(c, path, &fault)
                         : pons_share_path(f->relative[0], gone, sizeof gone, &fault);
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    *ret_bad |= rc < 0;
    if (c->json) {
        pons_autovalue row = pons_object("type", json_string("config"), "file",
                                         json_string(f->name), "path", json_string(path), "from",
                                         json_string(from), "ok", json_boolean(rc >= 0), NULL);
        if (rc < 0) {
            json_object_set_new(row, "fault",
                                json_string(pons_error_line(&fault, line, sizeof line)));
        }
        cli_print_json(row);
    } else if (rc < 0) {
        cli_tell(&fault);
    } else {
        cli_out("%-18s %-10s sound\n", f->name, from);
    }
}

int cmd_config(cli *c, pons_error *err)
{
    static const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *verb = c->argc > 0 ? c->argv[0] : "path", *name = c->argc > 1 ? c->argv[1] : NULL;
    const bool show = strcmp(verb, "show") == 0, check = strcmp(verb, "check") == 0;
    if (show && !name) {
        return cli_bad(err, "config show takes the name of a file; `pons config` lists them");
    }
    if (c->argc > 2) {
        return cli_bad(err, "config %s takes one file", verb);
    }
    bool known = !name, bad = false;
    int rc = PONS_OK;
    for (size_t i = 0; i < FILES && rc >= 0; i++) {
        const file_row *f = &files[i];
        char path[PATH_MAX];
        const char *from = NULL;
        if (name && strcmp(name, f->name) != 0) {
            continue;
        }
        known = true;
        const bool there = locate(c, f, path, &from);
        if (!there && name) {
            return cli_bad(err, "there is no %s here; it would be %s/%s", name, c->workspace,
                           f->relative[0]);
        }
        if (show) {
            rc = print_file(path, err);
        } else if (check && (there || f->shipped)) { // one that is shipped and gone is a fault, too
            check_row(c, f, path, from, &bad);
        } else if (!check) {
            show_row(c, f, there ? path : NULL, there ? from : NULL);
        }
    }
    if (!known) {
        return cli_bad(err, "config: there is no file '%s'; `pons config` lists them", name);
    }
    return rc < 0 ? rc : bad ? CLI_FAULTY : PONS_OK;
}
