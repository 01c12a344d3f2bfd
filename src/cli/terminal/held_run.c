// held_run.c - one superstep at a time: what a held run shows, and the words that a person lets it go
// on with.
//
// A run is held before a superstep, not in the middle of one: everything before it is committed, so
// leaving here loses nothing, and a resume, stepping or not, goes on at the same place.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define CHANNEL_TEXT_MAX 160 // bytes of a value that a person is shown; --json has all

cli_step_word cli_step_parse(const char *line)
{
    static const struct {
        const char *words[4];
        cli_step_word is;
    } rows[] = {{{"", "n", "next", "step"}, CLI_STEP_NEXT},
                {{"c", "continue", "go", "run"}, CLI_STEP_CONTINUE},
                {{"s", "state", "values", "show"}, CLI_STEP_STATE},
                {{"q", "quit", "exit", "leave"}, CLI_STEP_QUIT}};
    char word[16];
    line += strspn(line, " \t\r\n");
    const size_t n = strcspn(line, " \t\r\n");
    if (n >= sizeof word) {
        return CLI_STEP_OTHER;
    }
    snprintf(word, sizeof word, "%.*s", (int)n, line);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < 4; k++) {
            if (strcmp(rows[i].words[k], word) == 0) {
                return rows[i].is;
            }
        }
    }
    return CLI_STEP_OTHER;
}

static void show_value(cli_display *d, const char *channel, const char *key, const char *sign,
                       const pons_value *value)
{
    char *text = NULL;
    if (pons_value_line(value, &text) >= 0) {
        const size_t shown = cli_cut(text, CHANNEL_TEXT_MAX);
        cli_display_line(d, "", "%s%s%s %s %.*s%s", channel, *key ? "." : "", key, sign, (int)shown,
                         text, text[shown] ? " …" : "");
    }
    free(text);
}

// The channels whose values differ, with the new ones; null when a channel is empty now.
static pons_value *changes(const pons_value *before, const pons_value *after)
{
    pons_value *out = json_object();
    pons_each_member(channel, value, after) {
        const pons_value *was = pons_get(before, channel);
        if (was != value && (!was || !json_equal((json_t *)was, value))) {
            json_object_set(out, channel, value);
        }
    }
    pons_each_member(channel, value, before) {
        if (!pons_get(after, channel)) {
            json_object_set_new(out, channel, json_null());
        }
    }
    return out;
}

// What became of a channel, by its parts: the members of an object that differ, what a list has
// more.
static void show_change(cli_display *d, const char *channel, const pons_value *was,
                        const pons_value *is)
{
    const size_t had = json_array_size(was);
    bool grew = json_is_array(was) && json_is_array(is) && json_array_size(is) > had;
    for (size_t i = 0; i < had && grew; i++) {
        grew = json_equal(json_array_get(was, i), json_array_get(is, i));
    }
    for (size_t i = had; i < json_array_size(is) && grew; i++) {
        show_value(d, channel, "", "+", json_array_get(is, i));
    }
    if (grew) {
        return;
    }
    if (!json_is_object(was) || !json_is_object(is)) {
        show_value(d, channel, "", "=", is);
        return;
    }
    pons_autovalue parts = changes(was, is);
    pons_each_member(key, value, parts) {
        show_value(d, channel, key, "=", value);
    }
}

static void join(const pons_value *names, char *buf, size_t cap)
{
    size_t used = 0;
    *buf = '\0';
    pons_each(name, names) {
        const int n = snprintf(buf + used, cap - used, "%s%s", name_at ? ", " : "",
                               json_string_value(name) ? json_string_value(name) : "");
        used += (size_t)n;
        if (used >= cap) {
            return;
        }
    }
}

void cli_step_show(cli_display *d, const cli *c, const char *thread, const char *ns,
                   const pons_value *ran, const pons_value *before, const pons_value *after,
                   const pons_value *next)
{
    pons_autovalue changed = changes(before, after);
    if (c->json) {
        pons_autovalue out = pons_object(
            "type", json_string("step"), "thread", json_string(thread), "ns", json_string(ns),
            "ran", ran ? pons_value_ref(ran) : json_array(), "changed", pons_value_ref(changed),
            "next", next ? pons_value_ref(next) : json_array(), NULL);
        cli_print_json(out);
        return;
    }
    char names[512];
    if (json_array_size(ran) > 0) {
        join(ran, names, sizeof names);
        cli_display_line(d, "ran", "%s", names);
    }
    pons_each_member(channel, value, changed) {
        show_change(d, channel, pons_get(before, channel), value);
    }
    join(next, names, sizeof names);
    cli_display_line(d, "next", "%s", *names ? names : "end");
}
