// chat_sessions.c - the sessions of a store: what they are about, and where they were left.
//
// A session has no title of its own: its first words say what it is about, and what the agent said last
// says where it stands. Both are read from the session's state, of the newest ones only.
#include "app/agent/agent_setup.h"
#include "cli/agent/chat.h"
#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN   20
#define MESSAGE 100 // columns of what was said

typedef struct found {
    cli_session_row *at;
    size_t n, room;
} found;

static int take(void *user, const pons_thread_info *info)
{
    found *f = user;
    if (!pons_list_reserve(&f->at, &f->room, f->n + 1, sizeof *f->at)) {
        return PONS_ENOMEM;
    }
    cli_session_row *row = &f->at[f->n++];
    *row = (cli_session_row){.updated_ms = info->updated_ms};
    snprintf(row->thread, sizeof row->thread, "%s", info->thread);
    return 0;
}

static int newest_first(const void *a, const void *b)
{
    const cli_session_row *one = a, *other = b;
    return one->updated_ms < other->updated_ms   ? 1
           : one->updated_ms > other->updated_ms ? -1
                                                 : strcmp(one->thread, other->thread);
}

static void first_line(const char *text, char *buf, size_t cap)
{
    text += strspn(text, " \t\r\n#");
    const size_t n = strcspn(text, "\r\n");
    const size_t cut = cli_cut(text, cap - sizeof "…");
    snprintf(buf, cap, "%.*s%s", (int)(n < cut ? n : cut), text, cut < n ? "…" : "");
}

static bool read_row(pons_store store, cli_session_row *row)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue state = NULL;
    if (pons_state_read(store, row->thread, PONS_AGENT_NS, &state, &none) < 0) {
        return false;
    }
    pons_each(m, pons_get(state, "messages")) {
        const char *role = pons_get_str(m, "role", ""), *text = pons_get_str(m, "content", "");
        row->messages++;
        if (strcmp(role, "user") == 0 && !row->title[0]) {
            first_line(text, row->title, sizeof row->title);
        } else if (strcmp(role, "assistant") == 0 && *text) {
            first_line(text, row->last, sizeof row->last);
        }
    }
    return true;
}

int cli_sessions(pons_store store, cli_session_row *rows, size_t cap, size_t *ret_n,
                 pons_error *err)
{
    found f = {0};
    const int rc = store.ops->threads(store.self, take, &f, err);
    *ret_n = 0;
    if (rc < 0) {
        free(f.at);
        return rc;
    }
    if (f.n > 0) {
        qsort(f.at, f.n, sizeof *f.at, newest_first);
    }
    for (size_t i = 0; i < f.n && *ret_n < cap; i++) {
        if (read_row(store, &f.at[i])) {
            rows[(*ret_n)++] = f.at[i];
        }
    }
    free(f.at);
    return PONS_OK;
}

int cli_sessions_print(cli_chat *s, pons_error *err)
{
    cli_session_row *rows = calloc(SHOWN, sizeof *rows);
    size_t n = 0;
    const int rc =
        rows ? cli_sessions(s->store, rows, SHOWN, &n, err)
             : pons_error_set(err, PONS_ENOMEM, "agent", "no memory for the list of sessions");
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        if (s->c->json) {
            pons_autovalue row = pons_object(
                "session", json_string(rows[i].thread), "updated_ms",
                json_integer(rows[i].updated_ms), "messages", json_integer(rows[i].messages),
                "title", json_string(rows[i].title), "last", json_string(rows[i].last), NULL);
            cli_print_json(row);
            continue;
        }
        char at[CLI_MOMENT];
        cli_moment(rows[i].updated_ms, at, "%m-%d %H:%M");
        const bool here = s->a && strcmp(rows[i].thread, s->thread) == 0;
        cli_agent_view_line(&s->view, here ? "▸" : "", "%s  %s  “%s”", rows[i].thread, at,
                            rows[i].title);
        if (rows[i].last[0]) {
            cli_agent_view_line(&s->view, "", "   … %s", rows[i].last);
        }
    }
    if (rc >= 0 && n == 0) {
        cli_agent_view_line(&s->view, "", "%s", "there is no session yet");
    }
    free(rows);
    return rc;
}

int cli_session_newest(const cli *c, pons_store store, const char *folder, char ret[PONS_NAME_MAX],
                       pons_error *err)
{
    cli_session_row *rows = calloc(SHOWN, sizeof *rows);
    size_t n = 0;
    int rc = rows ? cli_sessions(store, rows, SHOWN, &n, err)
                  : pons_error_set(err, PONS_ENOMEM, "agent", "no memory for the list of sessions");
    if (rc >= 0 && n == 0) {
        rc = pons_error_set(err, PONS_ENOTFOUND, "agent",
                            "there is no session to continue; `pons agent` begins one");
    }
    if (rc >= 0) {
        size_t pick = 0;
        for (size_t i = n; i-- > 0;) {
            char of[PATH_MAX];
            const bool here =
                app_folder_of_session(&c->app, rows[i].thread, of) && strcmp(of, folder) == 0;
            pick = here ? i : pick;
        }
        memcpy(ret, rows[pick].thread, PONS_NAME_MAX);
    }
    free(rows);
    return rc;
}
