// cmd_graph.c - `pons graph show NAME`: the graphs as they are compiled, not as somebody drew them.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

int cmd_graph(cli *c)
{
    const char *format = "mermaid";
    const cli_option options[] = {
        {"--format", "FORMAT", "mermaid (default), dot, svg (needs graphviz) or json", &format},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, cli_find("graph"), options);
    if (parsed >= 0) {
        return parsed;
    }
    if (c->argc != 2 || strcmp(c->argv[0], "show") != 0) {
        return cli_bad("graph: use `pons graph show kernel` or `pons graph show react`");
    }
    pons_error err = PONS_ERROR_INIT;
    pons_graph *graph = NULL;
    char *text = NULL;
    int rc = pons_brain_graph(c->argv[1], &graph, &err);
    rc = rc < 0 ? rc : pons_graph_draw(graph, c->json ? "json" : format, &text, &err);
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
