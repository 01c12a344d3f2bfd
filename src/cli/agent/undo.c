// undo.c - what tools wrote, listed and taken back; and the folder that they write in, as a person at a terminal has it.
//
// The versions are those of a working folder (pons/tools.h, src/tools/undo_versions.c), whichever session wrote
// them: a session's name only says in which folder to look. A file that somebody changed since is left,
// and with it all of the undo, until force is said; then what it has now is kept aside.
#include "cli/agent/undo.h"

#include "app/agent/agent_setup.h"
#include "pons/tools.h"
#include "pons/yes_no.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A person at the terminal; anything but yes is no.
static bool ask_person(const char *folder)
{
    char answer[64] = "";
    cli_out("The agent would work in\n  %s\n", folder);
    cli_out("Its files reach the model, and the model writes there.\n"
            "Nothing in it configures pons.\n"
            "Trust this folder? y or n: ");
    cli_flush();
    size_t n = 0;
    for (char byte; n + 1 < sizeof answer && read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n';) {
        answer[n++] = byte;
    }
    return pons_yes_no_of(answer, NULL, NULL) == PONS_SAID_YES;
}

int cli_folder_find(cli *c, const char *wanted, app_folder_ask ask, char ret[PATH_MAX],
                    pons_error *err)
{
    char folder[PATH_MAX];
    const char *why = NULL;
    const int rc = app_folder_find(&c->app, wanted, ask, ask_person, ret, &why, err);
    if (rc >= 0 && why && !c->json && realpath(wanted ? wanted : ".", folder)) {
        cli_err("pons: %s: %s\n", folder, why);
        cli_err("pons: so files are the workspace's; --folder DIR trusts a folder\n");
    }
    return rc;
}

static int find_folder(cli *c, const cli_undo_words *words, const char *thread, char ret[PATH_MAX],
                       pons_error *err)
{
    if (thread && !words->folder) {
        const int named = app_thread_name(thread, err);
        if (named < 0) {
            return named;
        }
        return app_folder_of_session(&c->app, thread, ret)
                   ? PONS_OK
                   : app_bad(err, "agent undo: no session %s has worked here", thread);
    }
    // To ask for an undo is no trust, and one folder's undo is not another's.
    char wanted[PATH_MAX];
    const int rc = cli_folder_find(c, words->folder, APP_FOLDER_NEVER_ASK, ret, err);
    return rc >= 0 && words->folder && realpath(words->folder, wanted) && strcmp(wanted, ret) != 0
               ? app_bad(err, "agent undo: no agent was let into %s", words->folder)
               : rc;
}

int cli_agent_undo(cli *c, const cli_undo_words *words, pons_error *err)
{
    const char *thread = c->argc > 1 ? c->argv[1] : words->thread;
    char *end = NULL;
    const long steps = words->steps ? strtol(words->steps, &end, 10) : 1;
    char folder[PATH_MAX];
    pons_tools tools = {0};
    const pons_clock clock = pons_clock_real();
    cli_agent_view view = {0};
    if (c->argc > 2) {
        return app_bad(err, "agent undo: one session at most; words for the model go in quotes");
    }
    if (c->argc > 1 && words->thread && strcmp(c->argv[1], words->thread) != 0) {
        return app_bad(err, "agent undo: %s or %s: which session?", c->argv[1], words->thread);
    }
    if (steps < 1 || steps > CLI_UNDO_MAX || (end && *end)) {
        return app_bad(err, "agent undo: --steps takes a number from 1 to %d", CLI_UNDO_MAX);
    }
    if (words->list && (words->steps || words->force)) {
        return app_bad(err, "agent undo: --list only looks; --steps and --force undo");
    }
    int rc = app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : find_folder(c, words, thread, folder, err);
    rc = rc < 0 ? rc : app_core_tools(&c->app, &clock, folder, &tools, err);
    if (rc < 0) {
        return rc;
    }
    cli_agent_view_init(&view, c->json, false);
    rc = words->list ? cli_undo_list(&view, &tools, 1, err)
                     : cli_undo_take(&view, &tools, 1, (size_t)steps, words->force != NULL, err);
    cli_agent_view_fini(&view);
    tools.ops->close(tools.self);
    return rc;
}

int cli_undo_list(cli_agent_view *v, const pons_tools *tools, size_t n, pons_error *err)
{
    pons_autovalue list = NULL;
    int rc = PONS_EUNSUPPORTED;
    for (size_t i = 0; i < n && rc == PONS_EUNSUPPORTED; i++) {
        rc = pons_core_tools_writes(&tools[i], &list, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (v->json) {
        cli_print_json(list);
        return PONS_OK;
    }
    size_t i;
    pons_value *w;
    json_array_foreach(list, i, w) {
        char at[32];
        const time_t s = (time_t)(pons_get_int(w, "at_ms", 0) / 1000);
        struct tm t;
        localtime_r(&s, &t);
        strftime(at, sizeof at, "%m-%d %H:%M", &t);
        cli_agent_view_line(v, "", "%3zu  %s  %-10s %s%s%s", i + 1, at, pons_get_str(w, "tool", ""),
                            pons_get_str(w, "path", ""),
                            pons_get_bool(w, "created", false) ? " (new)" : "",
                            pons_get_bool(w, "changed", false) ? " (changed since: force)" : "");
    }
    if (json_array_size(list) == 0) {
        cli_agent_view_line(v, "", "%s", "there is nothing to undo");
    }
    return PONS_OK;
}

int cli_undo_take(cli_agent_view *v, const pons_tools *tools, size_t n, size_t steps, bool force,
                  pons_error *err)
{
    pons_autovalue done = NULL;
    int rc = PONS_EUNSUPPORTED;
    for (size_t i = 0; i < n && rc == PONS_EUNSUPPORTED; i++) {
        rc = pons_core_tools_undo(&tools[i], steps, force, &done, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (v->json) {
        cli_print_json(done);
        return PONS_OK;
    }
    pons_each(d, done) {
        const char *lost = pons_get_str(d, "lost", NULL);
        cli_agent_view_line(v, "undo", "%s %s%s%s%s", pons_get_str(d, "did", ""),
                            pons_get_str(d, "path", ""), lost ? " (what it had is in " : "",
                            lost ? lost : "", lost ? " of the workspace)" : "");
    }
    return PONS_OK;
}
