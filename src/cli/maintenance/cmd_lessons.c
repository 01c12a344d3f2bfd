// cmd_lessons.c - `pons lessons search Q`: what LESSONS.md has about it, by the tool that a model searches it
// with. No hit is no success: a script asks before it does something.
#include "cli/agent/agent_cli.h"
#include "pons/buf.h"

#include <poll.h>
#include <string.h>

#define TOOL    "search_lessons"
#define WAIT_MS 1000

static int ask(const pons_tools *tools, const pons_value *args, pons_tool_event *ret,
               pons_error *err)
{
    const int rc = tools->ops->start(tools->self, 1, TOOL, args, "", err);
    if (rc < 0) {
        return rc;
    }
    for (;;) {
        struct pollfd fd = {.fd = tools->ops->event_fd(tools->self), .events = POLLIN};
        while (tools->ops->next(tools->self, ret)) {
            if (ret->kind == PONS_TOOL_FAILED) {
                *err = ret->error;
                return err->status;
            }
            if (ret->kind == PONS_TOOL_DONE) {
                return PONS_OK;
            }
            pons_tool_event_clear(ret);
        }
        poll(&fd, 1, WAIT_MS);
    }
}

static void show(const cli *c, const pons_value *found)
{
    pons_each(l, found) {
        const char *text = pons_get_str(l, "text", "");
        if (c->json) {
            pons_autovalue row = pons_object(
                "type", json_string("lesson"), "heading", pons_optional(pons_get(l, "heading")),
                "line", pons_optional(pons_get(l, "line")), "text", json_string(text), NULL);
            cli_print_json(row);
        } else {
            cli_out_text(text, strlen(text));
            cli_out("%s", l_at + 1 < json_array_size(found) ? "\n" : "");
        }
    }
}

int cmd_lessons(cli *c, pons_error *err)
{
    double n = 5;
    const cli_option options[] = {
        {"--limit", "N", "at most so many, to 20; default 5", CLI_NUMBER(&n, 1, 20)},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc < 2 || strcmp(c->argv[0], "search") != 0) {
        return app_bad(err, "lessons: use `pons lessons search WORDS`");
    }
    pons_autobuf query = PONS_BUF_INIT;
    const int joined = cli_words(c, 1, SIZE_MAX, &query, err);
    if (joined < 0 || query.data[strspn(query.data, " \t\n")] == '\0') {
        return joined < 0 ? joined : app_bad(err, "lessons: the words are empty");
    }
    const pons_clock clock = pons_clock_real();
    pons_tools tools = {0};
    pons_tool_event e = {0};
    int rc = app_workspace(&c->app, false, err);
    rc = rc < 0 ? rc : app_core_tools(&c->app, &clock, NULL, &tools, err);
    pons_autovalue args =
        pons_object("query", pons_string(query.data), "results", json_integer((json_int_t)n), NULL);
    rc = rc < 0 ? rc : ask(&tools, args, &e, err);
    const pons_value *found = pons_get(pons_get(e.value, "data"), "lessons");
    if (rc >= 0) {
        show(c, found);
        if (json_array_size(found) == 0) {
            cli_err("none of the %lld lessons fits\n",
                    (long long)pons_get_int(pons_get(e.value, "data"), "of", 0));
            rc = APP_NO_SUCCESS;
        }
    }
    pons_tool_event_clear(&e);
    if (tools.ops) {
        tools.ops->close(tools.self);
    }
    return rc;
}
