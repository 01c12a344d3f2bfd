// agent_view.c - an agent's events: for programs one JSON object a line, for people the answer as
// it comes, short lines of what is done, and the plan as a list that ticks off.
//
// On a terminal the list is redrawn in place as long as nothing was printed below it; elsewhere a
// step's change is a line of its own.
#include "cli/agent/agent_cli.h"
#include "pons/buf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_SHOWN  160   // bytes of a value on a line
#define ASKED_SHOWN 16384 // bytes of what a person is asked about

static void event_json(const pons_event *ev);
static void event_text(cli_agent_view *v, const pons_event *ev);
static void begin_line(cli_agent_view *v);
static void end_line(cli_agent_view *v);
static void line(cli_agent_view *v, const char *label, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void show_plan(cli_agent_view *v, bool again);
static void step_changed(cli_agent_view *v, const pons_value *p);
static bool list_stands(const cli_agent_view *v);
static void plan_revised(cli_agent_view *v, const pons_value *p);
static void ask_call(cli_agent_view *v, const pons_value *q);
static void ask_plan(cli_agent_view *v, const pons_value *q);
static void short_text(const pons_value *value, char *buf, size_t cap);

void cli_agent_view_init(cli_agent_view *v, bool json, bool live)
{
    *v = (cli_agent_view){.json = json, .live = live && !json};
}

void cli_agent_view_fini(cli_agent_view *v)
{
    if (v->token_open) {
        cli_out("\n");
    }
    cli_flush();
    pons_value_unref(v->plan);
    *v = (cli_agent_view){0};
}

void cli_agent_view_event(cli_agent_view *v, const pons_event *ev)
{
    if (v->json) {
        event_json(ev);
    } else {
        event_text(v, ev);
    }
}

void cli_agent_view_note(cli_agent_view *v, const char *fmt, ...)
{
    va_list ap;
    begin_line(v);
    cli_flush();
    va_start(ap, fmt);
    cli_err("pons: ");
    cli_verr(fmt, ap);
    cli_err("\n");
    va_end(ap);
    end_line(v);
}

// ---- for programs -------------------------------------------------------------------------------

static void event_json(const pons_event *ev)
{
    pons_autovalue out =
        pons_object("ts_ms", json_integer(ev->ts_ms), "thread", json_string(ev->thread), "type",
                    json_string(ev->type), "seq", ev->seq > 0 ? json_integer(ev->seq) : NULL, NULL);
    json_object_update_missing(out, (pons_value *)(uintptr_t)ev->payload);
    cli_print_json(out);
}

// ---- for people ---------------------------------------------------------------------------------

static void event_text(cli_agent_view *v, const pons_event *ev)
{
    const pons_value *p = ev->payload;
    char text[LINE_SHOWN], doing[96];
    if (strcmp(ev->type, "token") == 0) {
        if (!v->token_open) {
            begin_line(v);
            v->token_open = true;
        }
        v->said_any = true;
        cli_out_text(pons_get_str(p, "content", ""), SIZE_MAX);
        cli_flush();
    } else if (strcmp(ev->type, "llm_start") == 0) {
        v->said_any = false;
        if (v->prompting) {
            cli_prompt_show("agent (thinking)");
        }
    } else if (strcmp(ev->type, "tool_start") == 0) {
        short_text(pons_get(p, "input"), text, sizeof text);
        if (list_stands(v)) {
            snprintf(doing, sizeof doing, "agent (%s)", pons_get_str(p, "tool", ""));
            cli_prompt_show(v->prompting ? doing : NULL);
            return;
        }
        line(v, "tool", "%s %s", pons_get_str(p, "tool", ""), text);
    } else if (strcmp(ev->type, "tool_end") == 0) {
        short_text(pons_get(p, "output"), text, sizeof text);
        if (!list_stands(v)) {
            line(v, "", "→ %s", text);
        }
    } else if (strcmp(ev->type, "plan_created") == 0) {
        pons_value_unref(v->plan);
        v->plan = json_deep_copy(pons_get(p, "plan"));
        show_plan(v, false);
    } else if (strcmp(ev->type, "plan_updated") == 0) {
        step_changed(v, p);
    } else if (strcmp(ev->type, "plan_revised") == 0) {
        plan_revised(v, p);
    } else if (strcmp(ev->type, "plan_approval_resolved") == 0) {
        line(v, "plan", "%s", pons_get_bool(p, "approved", false) ? "approved" : "rejected");
    } else if (strcmp(ev->type, "error") == 0) {
        cli_agent_view_note(v, "%s", pons_get_str(p, "content", ""));
    } else if (strcmp(ev->type, "done") == 0) {
        const char *status = pons_get_str(p, "status", "");
        if (strcmp(status, "success") == 0 && !v->said_any) { // a model that does not stream
            begin_line(v);
            cli_out_text(pons_get_str(p, "content", ""), SIZE_MAX);
            cli_out("\n");
        } else if (strcmp(status, "stopped") == 0) {
            begin_line(v);
            cli_out("(stopped)\n");
        }
        if (v->token_open) {
            cli_out("\n");
            v->token_open = false;
        }
        cli_flush();
        if (v->prompting) {
            cli_prompt_show("agent");
        }
    }
}

void cli_agent_view_question(cli_agent_view *v, const pons_value *q)
{
    const char *type = pons_get_str(q, "type", "");
    const pons_value *input = pons_get(q, "input");
    if (v->json) {
        return; // approval_request and plan_approval_request have said it
    }
    if (strcmp(type, "plan_approval") == 0) {
        ask_plan(v, q);
    } else if (strcmp(type, "question") == 0) {
        line(v, "ask", "%s", pons_get_str(input, "question", ""));
    } else if (strcmp(type, "step_confirmation") == 0) {
        line(v, "ask", "%s  y, or n REASON", pons_get_str(input, "question", ""));
    } else {
        ask_call(v, q);
    }
    if (v->prompting) {
        cli_prompt_show("answer");
    }
}

// A yes is for all of it, so all of it is shown: what a line has no room for may be what matters.
static void ask_call(cli_agent_view *v, const pons_value *q)
{
    char *text = NULL;
    const char *why = pons_get_str(q, "why", "");
    if (pons_value_line(pons_get(q, "input"), &text) < 0) {
        text = NULL;
    }
    const size_t n = text ? strlen(text) : 0;
    size_t shown = 0;
    while (shown < n) {
        const size_t k = pons_utf8_sequence(text + shown, n - shown);
        if (k == 0 || shown + k > ASKED_SHOWN) {
            break;
        }
        shown += k;
    }
    line(v, "ask", "may it call %s %.*s ?%s%s  y, n REASON, or edit {arguments}",
         pons_get_str(q, "tool", ""), (int)shown, text ? text : "", *why ? " " : "", why);
    if (shown < n) {
        line(v, "", "NOT ALL OF IT IS SHOWN: %zu bytes more; `pons approve THREAD` shows them",
             n - shown);
    }
    free(text);
}

// A step's title is the model's to choose; what the step does is said beside it.
static void ask_plan(cli_agent_view *v, const pons_value *q)
{
    size_t i;
    pons_value *step;
    json_array_foreach((pons_value *)(uintptr_t)pons_get(q, "steps"), i, step)
    {
        pons_autovalue rest = json_copy(step);
        char *does = NULL;
        json_object_del(rest, "id");
        json_object_del(rest, "title");
        json_object_del(rest, "status");
        if (json_object_size(rest) > 0 && pons_value_line(rest, &does) >= 0) {
            line(v, "", "%lld. %s: %s", (long long)pons_get_int(step, "id", 0),
                 pons_get_str(step, "title", ""), does);
        } else if (v->live) { // the list above has cut it
            line(v, "", "%lld. %s", (long long)pons_get_int(step, "id", 0),
                 pons_get_str(step, "title", ""));
        }
        free(does);
    }
    line(v, "ask", "carry out this plan? y, n REASON, or edit {\"steps\": […]}");
}

// What stands on the line is ended first: tokens, or the prompt.
static void begin_line(cli_agent_view *v)
{
    if (v->prompting) {
        cli_prompt_hide();
    }
    if (v->token_open) {
        cli_out("\n");
        v->token_open = false;
    }
    v->plan_last = false;
}

static void end_line(cli_agent_view *v)
{
    cli_flush();
    if (v->prompting) {
        cli_prompt_show(NULL);
    }
}

static void line(cli_agent_view *v, const char *label, const char *fmt, ...)
{
    va_list ap;
    begin_line(v);
    cli_out("  %-5s ", label);
    va_start(ap, fmt);
    cli_vout(fmt, ap);
    va_end(ap);
    cli_out("\n");
    end_line(v);
}

// ---- the plan -----------------------------------------------------------------------------------

static const char *tick(const char *status)
{
    static const struct {
        const char *status, *mark;
    } marks[] = {{"completed", "✓"}, {"failed", "✗"},  {"skipped", "–"},
                 {"running", "▸"},   {"pending", " "}, {"wait_confirmation", "?"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strcmp(marks[i].status, status) == 0) {
            return marks[i].mark;
        }
    }
    return " ";
}

// Columns that a list's titles may have, so that a line stays one line on the terminal.
static size_t columns_for_titles(const cli_agent_view *v)
{
    struct winsize size = {0};
    if (!v->live || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) {
        return v->live ? 60 : SIZE_MAX;
    }
    return size.ws_col - 16U;
}

static void show_step(const cli_agent_view *v, const pons_value *step)
{
    const char *title = pons_get_str(step, "title", "");
    const size_t most = columns_for_titles(v);
    size_t n = 0, columns = 0;
    while (title[n]) {
        const size_t k = pons_utf8_sequence(title + n, strlen(title + n));
        columns += k > 1 ? 2 : 1; // at most
        if (k == 0 || columns > most) {
            break;
        }
        n += k;
    }
    cli_out("    [%s] %lld. ", tick(pons_get_str(step, "status", "")),
            (long long)pons_get_int(step, "id", 0));
    cli_out("%.*s", (int)n, title);
    cli_out("%s\n", title[n] ? "…" : "");
}

static void show_plan(cli_agent_view *v, bool again)
{
    const pons_value *steps = pons_get(v->plan, "steps");
    const size_t n = json_array_size(steps);
    const bool in_place = again && v->plan_last && v->live;
    begin_line(v);
    if (in_place) {
        cli_lines_up(n + 1);
        cli_erase_line();
    }
    cli_out("  plan  ");
    cli_out("%s", pons_get_str(v->plan, "title", ""));
    cli_out("\n");
    for (size_t i = 0; i < n; i++) {
        if (in_place) {
            cli_erase_line();
        }
        show_step(v, json_array_get(steps, i));
    }
    end_line(v);
    v->plan_last = !v->prompting || v->live;
}

// The list is the last thing on a terminal: it ticks off in place, and what the steps call is not
// printed between.
static bool list_stands(const cli_agent_view *v)
{
    return v->live && v->plan && v->plan_last;
}

void cli_agent_view_plan(cli_agent_view *v, const pons_value *plan)
{
    if (!json_is_object(plan)) {
        return;
    }
    pons_value *steps = json_array();
    const pons_value *list = pons_get(plan, "steps");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *s = json_array_get(list, i);
        const char *status = pons_get_str(s, "status", ""),
                   *text = pons_get_str(s, "description", "");
        const char *title = pons_get_str(pons_get(s, "metadata"), "title",
                                         *text ? text : pons_get_str(s, "action", ""));
        json_array_append_new(
            steps,
            pons_object("id", json_integer(pons_get_int(s, "step_id", 0)), "title",
                        json_string(title), "status",
                        json_string(strcmp(status, "success") == 0 ? "completed" : status), NULL));
    }
    pons_value_unref(v->plan);
    v->plan =
        pons_object("title", json_string(pons_get_str(plan, "goal", "")), "steps", steps, NULL);
    if (!v->json) {
        show_plan(v, false);
    }
}

static void step_changed(cli_agent_view *v, const pons_value *p)
{
    const pons_value *steps = pons_get(v->plan, "steps");
    size_t i;
    pons_value *step;
    json_array_foreach((pons_value *)(uintptr_t)steps, i, step)
    {
        if (pons_get_int(step, "id", 0) != pons_get_int(p, "step_id", -1)) {
            continue;
        }
        json_object_set_new(step, "status", json_string(pons_get_str(p, "status", "")));
        if (v->live) {
            show_plan(v, true);
        } else {
            begin_line(v);
            show_step(v, step);
            end_line(v);
        }
    }
}

static void plan_revised(cli_agent_view *v, const pons_value *p)
{
    const pons_value *old = pons_get(v->plan, "steps");
    const int64_t keep = pons_get_int(p, "keep_completed", 0);
    pons_value *steps = json_array();
    for (int64_t i = 0; i < keep && i < (int64_t)json_array_size(old); i++) {
        json_array_append(steps, json_array_get(old, (size_t)i));
    }
    pons_autovalue added = json_deep_copy(pons_get(p, "revised_steps"));
    json_array_extend(steps, added);
    line(v, "plan", "revised: %s", pons_get_str(p, "reason", ""));
    v->plan = v->plan ? v->plan : json_object();
    json_object_set_new(v->plan, "steps", steps);
    show_plan(v, false);
}

// ---- answers ------------------------------------------------------------------------------------

static bool word_is(const char *line, const char *word, const char **rest)
{
    const size_t n = strlen(word);
    if (strncasecmp(line, word, n) != 0 || (line[n] != '\0' && !isspace((unsigned char)line[n]))) {
        return false;
    }
    *rest = line + n + strspn(line + n, " \t");
    return true;
}

bool cli_agent_answer(const pons_value *question, const char *line, pons_value **ret,
                      pons_error *err)
{
    static const char *const yes[] = {"y", "yes", "approve", "ok", "是", "好"};
    static const char *const no[] = {"n", "no", "reject", "否", "不"};
    const char *rest = "";
    if (strcmp(pons_get_str(question, "type", ""), "question") == 0) {
        *ret = pons_object("action", json_string("approve"), "answer", json_string(line), NULL);
        return *ret != NULL;
    }
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (word_is(line, yes[i], &rest) && !*rest) {
            *ret = pons_object("action", json_string("approve"), NULL);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        if (word_is(line, no[i], &rest)) {
            *ret = pons_object("action", json_string("reject"), "reason", json_string(rest), NULL);
            return true;
        }
    }
    if (word_is(line, "edit", &rest)) {
        pons_value *edit = NULL;
        if (pons_value_parse(rest, strlen(rest), &edit, err) < 0) {
            pons_error_context(err, "edit needs JSON");
            return false;
        }
        *ret = pons_object("action", json_string("edit"), "args", edit, NULL);
        return true;
    }
    pons_error_set(err, PONS_EINVAL, "agent",
                   "a question is open: y, n REASON, or edit JSON (Ctrl-C stops the turn)");
    return false;
}

// ---- small things -------------------------------------------------------------------------------

static void short_text(const pons_value *value, char *buf, size_t cap)
{
    char *text = NULL;
    buf[0] = '\0';
    if (json_is_string(value)) {
        text = strdup(json_string_value(value));
    } else if (!value || pons_value_line(value, &text) < 0) {
        text = NULL;
    }
    size_t n = 0;
    for (const char *c = text ? text : ""; *c;) {
        const size_t k = pons_utf8_sequence(c, strlen(c));
        if (k == 0 || n + k + sizeof "…" > cap) {
            memcpy(buf + n, "…", sizeof "…" - 1);
            n += sizeof "…" - 1;
            break;
        }
        memcpy(buf + n, c, k);
        if (k == 1 && (unsigned char)buf[n] < ' ') { // what a terminal would act on
            buf[n] = ' ';
        }
        n += k;
        c += k;
    }
    buf[n] = '\0';
    free(text);
}
