// cmd_graph.c - `pons graph`: the graphs as they are compiled, drawn; and graphs of a person's own,
// run from the command line on a durable thread (graph_run.c).
//
// kernel and react are the brain's: they are drawn here and run by `pons run`, with a robot. agent
// is the planning agent's, drawn as the workspace has configured it, and run by `pons agent`.
// Others are modules, graph-NAME.so (graph_module.h), found where all modules are, or named by a
// path.
#include "cli/agent/agent_cli.h"
#include "cli/cli.h"
#include "cli/graphs/graph_run.h"
#include "pons/agent.h"
#include "pons/module.h"
#include "pons/protected_files.h"

#include <stdlib.h>
#include <string.h>

// ---- modules ------------------------------------------------------------------------------------

static void print_graph(const cli *c, const char *name, const char *help)
{
    if (c->json) {
        pons_autovalue row =
            pons_object("graph", json_string(name), "help", json_string(help), NULL);
        cli_print_json(row);
    } else {
        cli_out("  %-*s %s\n", 10, name, help);
    }
}

static int list(const cli *c)
{
    pons_autovalue names = app_graph_modules(&c->app);
    print_graph(c, "kernel", "the brain's outer loop; `pons run` runs it");
    print_graph(c, "react", "the brain's inner loop; `pons run` runs it");
    print_graph(c, "agent", "the planning agent; `pons agent` runs it");
    pons_each_member(name, ignored, names) {
        const void *ops = NULL;
        pons_error err = PONS_ERROR_INIT;
        char line[512];
        const bool good = pons_module_load("graph", name, &ops, &err) >= 0;
        print_graph(c, name,
                    good ? ((const pons_graph_module *)ops)->help
                         : pons_error_line(&err, line, sizeof line));
    }
    return PONS_OK;
}

static int show(const cli *c, const char *name, const char *format, const char *xray,
                pons_error *err)
{
    enum { LEVELS_MAX = 32 };
    double levels = xray ? -1 : 0;
    pons_graph *graph = NULL;
    const pons_graph_module *module = NULL;
    char *text = NULL;
    const bool brains = strcmp(name, "kernel") == 0 || strcmp(name, "react") == 0;
    const bool agents = strcmp(name, "agent") == 0; // as this workspace has configured it
    pons_agent_config *config = NULL;
    int rc = xray && strcmp(xray, "all") != 0
                 ? cli_number(xray, "--xray", 0, LEVELS_MAX, &levels, err)
                 : PONS_OK;
    rc = rc < 0 ? rc : agents ? app_agent_config(&c->app, &config, err) : PONS_OK;
    rc = rc < 0   ? rc
         : agents ? pons_agent_graph(config, &graph, err)
         : brains ? pons_brain_graph(name, &graph, err)
                  : app_graph_load(name, &module, &graph, err);
    pons_agent_config_destroy(config);
    const pons_draw_options how = {.format = format, .xray = (int)levels};
    rc = rc < 0 ? rc : pons_graph_draw_as(graph, &how, &text, err);
    if (rc >= 0) {
        cli_out_text(text, SIZE_MAX);
        if (*text && text[strlen(text) - 1] != '\n') {
            cli_out("\n");
        }
    }
    free(text);
    pons_graph_destroy(graph);
    return rc < 0 ? rc : PONS_OK;
}

int cmd_graph(cli *c, pons_error *err)
{
    graph_words w = {.format = "mermaid"};
    const cli_option options[] = {
        {"--format", "FORMAT",
         "show: mermaid (default), dot, svg (needs graphviz), json or langgraph (its API's)",
         &w.format},
        {"--xray", "N", "show: with N levels of subgraphs opened, or all", &w.xray},
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
        {"--rollback", NULL, "cancel: take the run's checkpoints back as well", &w.rollback},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    const char *verb = c->argc ? c->argv[0] : "";
    const char *what = c->argc == 2 ? c->argv[1] : NULL;
    if (strcmp(verb, "list") == 0 && c->argc == 1) {
        return list(c);
    }
    if (strcmp(verb, "show") == 0 && what) {
        return show(c, what, c->json ? "json" : w.format, w.xray, err);
    }
    if (strcmp(verb, "run") == 0 && what) {
        return cli_graph_run(c, what, &w, err);
    }
    if (strcmp(verb, "resume") == 0 && what) {
        return cli_graph_resume(c, what, &w, err);
    }
    if (strcmp(verb, "update") == 0 && what) {
        return cli_graph_update(c, what, &w, err);
    }
    if (strcmp(verb, "cancel") == 0 && what) {
        return cli_graph_cancel(c, what, &w, err);
    }
    return app_bad(err, "graph: use list, show NAME, run NAME, resume THREAD, update THREAD or "
                        "cancel THREAD");
}
