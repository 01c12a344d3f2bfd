// thread_show.c - `pons threads show THREAD` for a person: what it is about, what it waits for, and what
// happened last.
//
//     thread    t
//     mode      IDLE (no task)
//     goal      go to the kitchen: succeeded. The goal is done.
//     waits     for nobody
//
//     18:02:11  It was asked to "go to the kitchen" (task-1, priority 50).
//
// A thread of a graph or of the agent has no such words of its own: its channels are shown, a line each.
// Everything goes through secret_filter.c.
#include "cli/graphs/thread_show.h"

#include "app/notify/secret_filter.h"
#include "cli/graphs/thread_why.h"
#include "pons/brain.h"
#include "pons/buf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LAST_EVENTS   12
#define LAST_MESSAGES 6
#define SHOWN_BYTES   240 // of a value

// A line without secrets; a long value is cut after they are out, so that no half of one is left.
static void line(const char *label, const char *text)
{
    char *clean = app_without_secrets(text);
    size_t n = strlen(clean);
    const bool cut = n > SHOWN_BYTES;
    for (n = cut ? SHOWN_BYTES : n; cut && n > 0 && ((unsigned char)clean[n] & 0xc0) == 0x80; n--) {
    }
    cli_out("%-9s %.*s%s\n", label, (int)n, clean, cut ? "…" : "");
    free(clean);
}

__attribute__((format(printf, 2, 3))) static void linef(const char *label, const char *fmt, ...)
{
    pons_autobuf text = PONS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    cli_buf(&text, fmt, ap);
    va_end(ap);
    line(label, text.len ? text.data : "");
}

static void show_brain(const char *thread, const pons_value *s)
{
    const pons_value *task = pons_get(s, "active_task"), *asks = pons_get(s, "approvals");
    const pons_value *failure = pons_get(s, "last_failure");
    linef("mode", "%s (%-s)%-s", pons_get_str(s, "mode", ""), pons_get_str(s, "mode_reason", ""),
          pons_get_bool(s, "paused", false) ? ", paused" : "");
    pons_each(item, pons_get(s, "finished")) {
        linef("goal", "%s: %-s. %-s", pons_get_str(item, "text", ""),
              pons_get_str(item, "status", ""), pons_get_str(item, "reason", ""));
    }
    if (json_is_object(task)) {
        linef("goal", "%s: at work", pons_get_str(task, "text", ""));
    }
    pons_each(item, pons_get(s, "queue")) {
        if (strcmp(pons_get_str(item, "id", ""), pons_get_str(task, "id", "")) != 0) {
            linef("goal", "%s: queued", pons_get_str(item, "text", ""));
        }
    }
    if (json_is_object(failure)) {
        linef("failure", "%s: %s", pons_get_str(failure, "skill", ""),
              pons_get_str(failure, "error_msg", ""));
    }
    pons_each(item, asks) {
        linef("waits", "for a person: %s", pons_get_str(item, "question", ""));
        cli_out("          pons approve %s\n", thread);
    }
    if (json_is_object(pons_get(s, "stopped"))) {
        line("waits", "for `pons reset` and `pons continue`: it was stopped");
    } else if (json_array_size(asks) == 0) {
        line("waits", json_is_object(task) ? "for its goal to end" : "for nobody");
    }
}

static void show_channel(const char *name, const pons_value *v)
{
    if (strcmp(name, "messages") == 0 && json_is_array(v)) {
        const size_t n = json_array_size(v);
        for (size_t i = n > LAST_MESSAGES ? n - LAST_MESSAGES : 0; i < n; i++) {
            const pons_value *m = json_array_get(v, i);
            const pons_value *content = pons_get(m, "content");
            const char *role = pons_get_str(m, "role", pons_get_str(m, "type", "message"));
            char *text = NULL;
            if (json_is_string(content)) {
                line(role, json_string_value(content));
            } else if (pons_value_line(m, &text) >= 0) {
                line(role, text);
            }
            free(text);
        }
        return;
    }
    char *text = NULL;
    if (json_is_string(v)) {
        line(name, json_string_value(v));
    } else if (pons_value_line(v, &text) >= 0) {
        line(name, text);
    }
    free(text);
}

int cli_thread_show(pons_store store, const char *thread, const pons_value *states, bool brief,
                    pons_error *err)
{
    pons_autovalue status = NULL;
    pons_error none = PONS_ERROR_INIT;
    const bool brain = brief && pons_get(states, "kernel") &&
                       pons_status_read(store, thread, NULL, NULL, &status, &none) >= 0;
    cli_out("thread    %s\n", thread);
    if (brain) {
        show_brain(thread, status);
        cli_out("\n");
        return cli_why(store, thread, LAST_EVENTS, err);
    }
    pons_each_member(ns, channels, states) {
        cli_out("\n%s\n", *ns ? ns : "(root)");
        pons_each_member(name, v, channels) {
            show_channel(name, v);
        }
    }
    return PONS_OK;
}
