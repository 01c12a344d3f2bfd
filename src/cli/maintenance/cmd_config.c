// cmd_config.c - `pons config path|show|check`: which configuration files count, where each comes
// from, what it says, and whether pons can read it.
//
// A file of the workspace stands for a person's, and that for the one that pons ships, whole: they are not
// merged (config_file.h). check reads each as its user does; a fault is one line with file, line and column. Exit: 0 clean, 2 a fault.
#include "app/fleet/fleet.h"
#include "app/notify/notify.h"
#include "app/sight/sight.h"
#include "app/workspace/onboarded_workspace.h"
#include "cli/agent/agent_cli.h"
#include "cli/cli.h"
#include "pons/body.h"
#include "pons/companion.h"
#include "pons/config_file.h"
#include "pons/mcp.h"
#include "pons/module.h"
#include "pons/protected_files.h"
#include "pons/rule_policy.h"
#include "pons/spelling.h"
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
    bool of_a_workspace; // no person has one for all
} file_row;

// Names of skills in a list of kernel.yaml: one that is almost one of pons's own is a fault; another one
// may be a module's, or the robot's own.
static int skill_names(const pons_yaml *y, const char *list, pons_error *err)
{
    const pons_value *names = pons_get(pons_get(pons_yaml_value(y), "approval"), list);
    pons_each(name, names) {
        const char *word = json_string_value(name);
        char at[64], place[PONS_ERROR_SOURCE_MAX];
        pons_meant m = pons_meant_of(word, strlen(word));
        bool is = false;
        const char *known;
        for (size_t k = 0; (known = pons_body_skill_name(k)); k++) {
            pons_meant_try(&m, known, strlen(known));
            is = is || strcmp(known, word) == 0;
        }
        if (is) {
            continue;
        }
        snprintf(at, sizeof at, "/approval/%s/%zu", list, name_at);
        pons_yaml_position(y, at, place, sizeof place);
        if (m.best) {
            pons_error_set(err, PONS_EINVAL, "config",
                           "approval.%s: there is no skill '%s', did you mean '%s'?", list, word,
                           m.best);
            return pons_error_source(err, "%s", place);
        }
        cli_err("pons: %s: approval.%s: pons has no skill '%s'; it counts when a module or the "
                "robot has one\n",
                place, list, word);
    }
    return PONS_OK;
}

static int kernel(cli *c, const char *path, pons_error *err)
{
    pons_autovalue v = NULL;
    pons_yaml *y = NULL;
    int rc = app_config(&c->app, &v, err);
    rc = rc < 0 ? rc : pons_yaml_load(path, &y, err);
    rc = rc < 0 ? rc : skill_names(y, "skills", err);
    rc = rc < 0 ? rc : skill_names(y, "ask_on_unknown", err);
    pons_yaml_destroy(y);
    return rc;
}

static int intents(cli *c, const char *path, pons_error *err)
{
    pons_policy rules = {0};
    const int rc = app_policy(&c->app, &rules, err);
    pons_rules_close(&rules);
    return rc;
}

static int agent(cli *c, const char *path, pons_error *err)
{
    pons_agent_config *config = NULL;
    int rc = app_agent_config(&c->app, &config, err);
    if (rc >= 0 && access(c->app.workspace, F_OK) == 0) { // the core tools work in its folder
        rc = app_agent_names_check(&c->app, config, err);
    }
    pons_agent_config_destroy(config);
    return rc;
}

static int tools(cli *c, const char *path, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    pons_tools opened = {0};
    if (access(c->app.workspace, F_OK) != 0) { // no folder yet for them to work in
        pons_yaml *yaml = NULL;
        const int read = pons_yaml_load(path, &yaml, err);
        pons_yaml_destroy(yaml);
        return read;
    }
    const int rc = app_core_tools(&c->app, &clock, NULL, &opened, err);
    if (opened.ops) {
        opened.ops->close(opened.self);
    }
    return rc;
}

static int world_view(cli *c, const char *path, pons_error *err)
{
    pons_world_view *view = NULL;
    const int rc = pons_world_view_load(path, &view, err);
    pons_world_view_unref(view);
    return rc;
}

static int servers(cli *c, const char *path, pons_error *err)
{
    pons_autovalue list = NULL;
    int rc = pons_mcp_load(path, c->app.workspace, &list, err);
    pons_each_member(name, spec, list) {
        const char *fault = pons_get_str(spec, "fault", NULL);
        rc = rc >= 0 && fault ? pons_error_set(err, PONS_EINVAL, "config", "%s", fault) : rc;
    }
    return rc;
}

static int fleet(cli *c, const char *path, pons_error *err)
{
    app_fleet_file file = {0};
    const int rc = app_fleet_load(&c->app, &file, err);
    app_fleet_free(&file);
    return rc;
}

// Of a module, which says more when it is opened.
static int by_schema(cli *c, const char *path, pons_error *err)
{
    char file[64], schema[64];
    pons_autovalue v = NULL;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const int n = (int)strcspn(name, ".");
    snprintf(file, sizeof file, PONS_DIR_CONFIG "/%.32s", name);
    snprintf(schema, sizeof schema, "schemas/%.*s.json", n < 32 ? n : 32, name);
    return app_yaml(&c->app, file, schema, &v, err);
}

static int robot(cli *c, const char *path, pons_error *err)
{
    pons_autovalue config = NULL;
    pons_ws_dialect dialect;
    return app_workspace_config(&c->app, &config, &dialect, err);
}

static int notify(cli *c, const char *path, pons_error *err)
{
    return app_notify_check(&c->app, err);
}

static int sight(cli *c, const char *path, pons_error *err)
{
    pons_autovalue v = NULL;
    return app_sight_config(&c->app, &v, err);
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
     by_schema},
    {"ros2.yaml", {"config/ros2.yaml"}, true, "a ROS 2 robot's topics and actions", by_schema},
    {"gazebo.yaml", {"config/gazebo.yaml"}, true, "a robot in Gazebo: its topics", by_schema},
    {"notify.yaml",
     {"config/notify.yaml"},
     true,
     "who is told when the robot needs a person",
     notify},
    {"sight.yaml",
     {"config/sight.yaml"},
     true,
     "who looks for things, and how they are remembered",
     sight},
    {"vision.yaml", {"config/vision.yaml"}, true, "which pictures a model gets", by_schema},
    {"config.json", {"config.json"}, false, "which robot this workspace has", robot, true},
    {"mcp.json", {"mcp.json", "config/mcp.json"}, false, "servers of tools", servers},
    {"fleet.yaml", {"fleet.yaml"}, false, "robots and the map of a fleet", fleet, true},
};
enum { FILES = sizeof files / sizeof files[0] };

// Where one is, in the order in which they count.
typedef struct place_row {
    char path[PATH_MAX]; // "": see fault
    const char *from;
    pons_error fault; // it is there and does not count: pons refuses to go on
} place_row;
enum { PLACES_MAX = 4 }; // two names in the workspace, a person's, the shipped

// All places that have it; the first is in force.
static size_t locate(const cli *c, const file_row *f, place_row at[PLACES_MAX])
{
    size_t n = 0;
    for (int place = 0; place < PONS_CONFIG_PLACES; place++) {
        const bool workspace = place == PONS_CONFIG_WORKSPACE;
        if ((place == PONS_CONFIG_SHIPPED && !f->shipped) ||
            (place == PONS_CONFIG_PERSON && f->of_a_workspace)) {
            continue;
        }
        for (size_t i = 0; i < (workspace ? 2 : 1) && f->relative[i]; i++) {
            place_row *row = &at[n];
            *row = (place_row){.from = pons_config_place_name((pons_config_place)place),
                               .fault = PONS_ERROR_INIT};
            const int rc = pons_config_at((pons_config_place)place, c->app.workspace,
                                          f->relative[i], row->path, sizeof row->path, &row->fault);
            n += rc != PONS_ENOTFOUND;
        }
    }
    return n;
}

static void show_row(const cli *c, const file_row *f, const place_row *at, size_t n)
{
    if (c->json) {
        pons_autovalue beneath = json_array();
        for (size_t i = 1; i < n; i++) {
            json_array_append_new(beneath, pons_object("path", pons_string(at[i].path), "from",
                                                       json_string(at[i].from), NULL));
        }
        pons_autovalue row =
            pons_object("type", json_string("config"), "file", json_string(f->name), "path",
                        n && at->path[0] ? pons_string(at->path) : json_null(), "from",
                        n ? json_string(at->from) : json_null(), "beneath", pons_value_ref(beneath),
                        "fault", n && !at->path[0] ? json_string(at->fault.message) : NULL, "help",
                        json_string(f->help), NULL);
        cli_print_json(row);
        return;
    }
    cli_out("%-18s %-10s %s\n", f->name, n ? at->from : "-",
            !n            ? f->help
            : at->path[0] ? at->path
                          : at->fault.message);
    for (size_t i = 1; i < n; i++) {
        cli_out("%-18s %-10s %s\n", "", "  beneath", at[i].path[0] ? at[i].path : at[i].from);
    }
}

// The folders themselves, whether they are there or not.
static void show_places(const cli *c)
{
    char path[PATH_MAX + sizeof "/config"];
    for (int place = 0; place < PONS_CONFIG_PLACES; place++) {
        pons_error none = PONS_ERROR_INIT;
        snprintf(path, sizeof path, "%s/" PONS_DIR_CONFIG, c->app.workspace);
        const int rc = place == PONS_CONFIG_PERSON
                           ? pons_config_person_dir(path, sizeof path, &none)
                       : place == PONS_CONFIG_SHIPPED
                           ? pons_share_path(PONS_DIR_CONFIG, path, sizeof path, &none)
                           : PONS_OK;
        const char *name = pons_config_place_name((pons_config_place)place);
        const bool there = rc >= 0 && access(path, F_OK) == 0;
        if (c->json) {
            pons_autovalue row = pons_object(
                "type", json_string("config.place"), "place", json_string(name), "path",
                rc < 0 ? json_null() : pons_string(path), "there", json_boolean(there), NULL);
            cli_print_json(row);
        } else {
            cli_out("%-10s %s%s\n", name, rc < 0 ? none.message : path,
                    rc < 0 || there ? "" : " (not there)");
        }
    }
    if (!c->json) {
        cli_out("\n");
    }
}

static int print_file(const char *path, pons_error *err)
{
    char block[8192];
    FILE *f = fopen(path, "re");
    if (!f) {
        return app_lacks(err, "cannot read %s: %s", path, strerror(errno));
    }
    pons_autobuf text = PONS_BUF_INIT;
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) {
        pons_buf_bytes(&text, block, n);
    }
    const bool bad = ferror(f);
    fclose(f);
    if (bad || text.failed) {
        return app_lacks(err, "cannot read all of %s", path);
    }
    cli_out_text(text.len ? text.data : "", text.len);
    return PONS_OK;
}

// What is wrong with the one in force. One that is shipped and gone is a fault, too.
static int look_at(cli *c, const file_row *f, const place_row *at, size_t n, pons_error *fault)
{
    char gone[PATH_MAX];
    if (n == 0) {
        return f->shipped ? pons_share_path(f->relative[0], gone, sizeof gone, fault) : PONS_OK;
    }
    *fault = at->fault;
    return *at->path ? f->check(c, at->path, fault) : fault->status;
}

int cli_config_check(cli *c, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; i < FILES && rc >= 0; i++) {
        place_row at[PLACES_MAX];
        const size_t n = locate(c, &files[i], at);
        rc = look_at(c, &files[i], at, n, err);
    }
    return rc;
}

// Whether it is sound. All faults are told; one of a file that others read too is told once.
static bool check_row(cli *c, const file_row *f, const place_row *at, size_t n,
                      pons_value *reported)
{
    pons_error fault = PONS_ERROR_INIT;
    const char *from = n ? at->from : "shipped", *path = n ? at->path : "";
    const int rc = look_at(c, f, at, n, &fault);
    char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX + 64];
    if (rc < 0) {
        pons_error_line(&fault, line, sizeof line);
    }
    if (c->json) {
        pons_autovalue row = pons_object("type", json_string("config"), "file",
                                         json_string(f->name), "path", json_string(path), "from",
                                         json_string(from), "ok", json_boolean(rc >= 0), NULL);
        if (rc < 0) {
            json_object_set_new(row, "fault", pons_string(line));
        }
        cli_print_json(row);
    } else if (rc < 0 && !pons_get(reported, line)) {
        cli_tell(&fault);
    } else if (rc >= 0) {
        cli_out("%-18s %-10s sound\n", f->name, from);
    }
    if (rc < 0) { // a line that is no UTF-8 is told again
        json_object_set_new(reported, line, json_true());
    }
    return rc >= 0;
}

const char *cli_config_name(size_t i)
{
    return i < FILES ? files[i].name : NULL;
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
        return app_bad(err, "config show takes the name of a file; `pons config` lists them");
    }
    if (c->argc > 2) {
        return app_bad(err, "config %s takes one file", verb);
    }
    bool known = !name;
    pons_autovalue reported = json_object(); // by its line
    bool sound = true;
    if (!name && !check) {
        show_places(c);
    }
    int rc = PONS_OK;
    for (size_t i = 0; i < FILES && rc >= 0; i++) {
        const file_row *f = &files[i];
        place_row at[PLACES_MAX];
        if (name && strcmp(name, f->name) != 0) {
            continue;
        }
        known = true;
        const size_t n = locate(c, f, at);
        if (n == 0 && name) {
            return app_bad(err, "there is no %s here; it would be %s/%s", name, c->app.workspace,
                           f->relative[0]);
        }
        if (show && !at->path[0]) {
            *err = at->fault;
            rc = at->fault.status;
        } else if (show) {
            rc = print_file(at->path, err);
        } else if (check && (n > 0 || f->shipped)) {
            sound &= check_row(c, f, at, n, reported);
        } else if (!check) {
            show_row(c, f, at, n);
        }
    }
    if (!known) {
        pons_autovalue names = json_array();
        for (size_t i = 0; i < FILES; i++) {
            app_name_add(names, files[i].name, strlen(files[i].name));
        }
        return app_no_such_of(names, "configuration file", name, err);
    }
    return rc < 0 ? rc : sound ? PONS_OK : APP_FAULTY;
}
