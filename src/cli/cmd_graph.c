// cmd_graph.c - `pons graph`: the graphs as they are compiled, drawn; and graphs of a person's own,
// run from the command line on a durable thread (graph_run.c).
//
// kernel and react are the brain's: they are drawn here and run by `pons run`, with a robot. agent
// is the planning agent's, drawn as the workspace has configured it, and run by `pons agent`.
// Others are modules, graph-NAME.so (graph_module.h), found where all modules are, or named by a
// path.
#include "cli/cli.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/agent_cli.h"
#include "cli/graph_run.h"
#include "pons/agent.h"
#include "pons/module.h"

#define PREFIX "graph-"
#define SUFFIX ".so"

static int show(const cli *c, const char *name, const char *format);
static int list(const cli *c);
static bool module_of(const char *name, char *dir, size_t dir_cap, char *bare, size_t bare_cap);

int cmd_graph(cli *c)
{
    graph_words w = {.format = "mermaid"};
    const cli_option options[] = {
        {"--format", "FORMAT", "show: mermaid (default), dot, svg (needs graphviz) or json",
         &w.format},
        {"--thread", "ID", "run: on this thread; default: a new one", &w.thread},
        {"--input", "JSON", "run: {channel: value}; @FILE and - read it from there", &w.input},
        {"--at", "CHECKPOINT", "run: from there instead of from the newest (pons threads history)",
         &w.at},
        {"--answer", "VALUE", "resume: to the one open question; JSON, or a word", &w.answer},
        {"--answers", "JSON", "resume: {id: answer} when there are several", &w.answers},
        {"--step", NULL, "hold before each superstep: Enter goes on", &w.step},
        {"--before", "NODE,…", "hold the run before these nodes", &w.before},
        {"--after", "NODE,…", "hold the run after these nodes", &w.after},
        {"--stream", "MODE,…",
         "values, updates (default), messages, custom, tasks, checkpoints, debug", &w.stream},
        {"--quiet", NULL, "stream nothing, show the end", &w.quiet},
        {"--durability", "WHEN", "async (default), sync or exit", &w.durability},
        {"--limit", "N", "supersteps at most; default: the graph's", &w.limit},
        {"--values", "JSON", "update: {channel: value}", &w.values},
        {"--as", "NODE", "update: as if this node had written; default: who wrote last", &w.as},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find("graph"), options);
    if (parsed >= 0) {
        return parsed;
    }
    const char *verb = c->argc ? c->argv[0] : "";
    const char *what = c->argc == 2 ? c->argv[1] : NULL;
    if (strcmp(verb, "list") == 0 && c->argc == 1) {
        return list(c);
    }
    if (strcmp(verb, "show") == 0 && what) {
        return show(c, what, c->json ? "json" : w.format);
    }
    if (strcmp(verb, "run") == 0 && what) {
        return cli_graph_run(c, what, &w);
    }
    if (strcmp(verb, "resume") == 0 && what) {
        return cli_graph_resume(c, what, &w);
    }
    if (strcmp(verb, "update") == 0 && what) {
        return cli_graph_update(c, what, &w);
    }
    return cli_bad("graph: use list, show NAME, run NAME, resume THREAD or update THREAD");
}

static int show(const cli *c, const char *name, const char *format)
{
    pons_error err = PONS_ERROR_INIT;
    pons_graph *graph = NULL;
    const pons_graph_module *module = NULL;
    char *text = NULL;
    const bool brains = strcmp(name, "kernel") == 0 || strcmp(name, "react") == 0;
    const bool agents = strcmp(name, "agent") == 0; // as this workspace has configured it
    pons_agent_config *config = NULL;
    int rc = agents ? cli_agent_config(c, &config, &err) : PONS_OK;
    rc = rc < 0   ? rc
         : agents ? pons_agent_graph(config, &graph, &err)
         : brains ? pons_brain_graph(name, &graph, &err)
                  : cli_graph_load(name, &module, &graph, &err);
    pons_agent_config_destroy(config);
    rc = rc < 0 ? rc : pons_graph_draw(graph, format, &text, &err);
    if (rc >= 0) {
        fputs(text, stdout);
        if (*text && text[strlen(text) - 1] != '\n') {
            putchar('\n');
        }
    }
    free(text);
    pons_graph_destroy(graph);
    return rc < 0 ? cli_fail(&err) : EXIT_DONE;
}

// ---------------------------------------------------------------- modules

int cli_graph_load(const char *name, const pons_graph_module **ret_module, pons_graph **ret,
                   pons_error *err)
{
    char dir[PATH_MAX], bare[PONS_NAME_MAX];
    const void *ops = NULL;
    if (strchr(name, '/') || strstr(name, SUFFIX)) {
        if (!module_of(name, dir, sizeof dir, bare, sizeof bare)) {
            return pons_error_set(err, PONS_EINVAL, "graph",
                                  "a graph's module is a file graph-NAME.so, not %s", name);
        }
        // The loader looks in directories; this one comes first from now on.
        const char *path = getenv("PONS_MODULE_PATH");
        char all[PATH_MAX * 2];
        snprintf(all, sizeof all, "%s%s%s", dir, path ? ":" : "", path ? path : "");
        setenv("PONS_MODULE_PATH", all, 1);
        name = bare;
    }
    int rc = pons_module_load("graph", name, &ops, err);
    if (rc == PONS_ENOTFOUND) { // and no word of where it was not: that is for who writes modules
        return pons_error_set(err, PONS_ENOTFOUND, "graph",
                              "there is no graph '%s'; `pons graph list` has those that there are",
                              name);
    }
    if (rc < 0) {
        return rc;
    }
    const pons_graph_module *module = ops;
    if (module->abi != PONS_GRAPH_MODULE_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "graph",
                              "graph %s was built for version %u of graph_module.h, this is %u",
                              name, module->abi, PONS_GRAPH_MODULE_ABI);
    }
    *ret_module = module;
    return module->build(ret, err);
}

// "a/graph-x.so" as its directory and "x".
static bool module_of(const char *path, char *dir, size_t dir_cap, char *bare, size_t bare_cap)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const size_t n = strlen(file), around = strlen(PREFIX) + strlen(SUFFIX);
    if (strncmp(file, PREFIX, strlen(PREFIX)) != 0 || n <= around ||
        strcmp(file + n - strlen(SUFFIX), SUFFIX) != 0 || n - around >= bare_cap) {
        return false;
    }
    snprintf(bare, bare_cap, "%.*s", (int)(n - around), file + strlen(PREFIX));
    const int d = slash ? snprintf(dir, dir_cap, "%.*s", (int)(slash - path), path)
                        : snprintf(dir, dir_cap, ".");
    return d < (int)dir_cap;
}

static void add_modules(pons_value *names, const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char where[PATH_MAX], name[PONS_NAME_MAX];
        if (module_of(e->d_name, where, sizeof where, name, sizeof name)) {
            json_object_set_new(names, name, json_true());
        }
    }
    if (d) {
        closedir(d);
    }
}

static void print_graph(const cli *c, const char *name, const char *help)
{
    if (c->json) {
        pons_autovalue row =
            pons_object("graph", json_string(name), "help", json_string(help), NULL);
        cli_print_json(row);
    } else {
        printf("  %-10s %s\n", name, help);
    }
}

static int list(const cli *c)
{
    pons_autovalue names = json_object();
    const char *path = getenv("PONS_MODULE_PATH");
    char dir[PATH_MAX];
    print_graph(c, "kernel", "the brain's outer loop; `pons run` runs it");
    print_graph(c, "react", "the brain's inner loop; `pons run` runs it");
    print_graph(c, "agent", "the planning agent; `pons agent` runs it");
    while (path && *path) {
        const size_t n = strcspn(path, ":");
        snprintf(dir, sizeof dir, "%.*s", (int)n, path);
        add_modules(names, dir);
        path += n + (path[n] == ':');
    }
    static const char *const below[] = {"lib/pons", "../lib/pons"};
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        snprintf(dir, sizeof dir, "%s/%s", pons_exe_dir(), below[i]);
        add_modules(names, dir);
    }
    const char *name;
    json_t *ignored;
    json_object_foreach(names, name, ignored)
    {
        const void *ops = NULL;
        pons_error err = PONS_ERROR_INIT;
        char line[512];
        const bool good = pons_module_load("graph", name, &ops, &err) >= 0;
        print_graph(c, name,
                    good ? ((const pons_graph_module *)ops)->help
                         : pons_error_line(&err, line, sizeof line));
    }
    return EXIT_DONE;
}
