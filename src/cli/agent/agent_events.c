// agent_events.c - an agent's events: for programs one JSON object a line, for people the answer as
// it comes, short lines of what is done, and the plan as a list that ticks off.
//
// On a terminal whose lower end can be drawn again (status_area.c) the unfinished part of an answer, the plan,
// the tools under way with what they say, and what waits to be said stand there, with a status line below
// the prompt; what is finished is printed above, Markdown in its styles. Elsewhere an answer is printed
// as it was written, piece by piece, and each change of a step is a line.
#include "cli/agent/agent_events.h"

#include "cli/agent/agent_cli.h"
#include "cli/terminal/status_area.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SHOWN 160 // bytes of a value on a line

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

static void on_token(cli_agent_view *v, const char *text)
{
    v->said_any = true;
    v->thinking = false;
    if (v->live) {
        cli_autorows done = {0};
        cli_markdown_add(&v->answer, text, SIZE_MAX, cli_screen_width(), cli_screen_style(), &done);
        if (done.n > 0) {
            cli_screen_print(&done);
        }
        cli_agent_view_draw(v);
        return;
    }
    if (!v->token_open) {
        cli_agent_begin_line(v);
        v->token_open = true;
    }
    cli_out_text(text, SIZE_MAX);
    cli_flush();
}

static void on_tool_start(cli_agent_view *v, const pons_value *p)
{
    char text[LINE_SHOWN];
    const char *tool = pons_get_str(p, "tool", "");
    cli_agent_short(pons_get(p, "input"), text, sizeof text);
    v->thinking = false;
    if (!v->live) {
        cli_agent_dim_line(v, "tool", "%s %s", tool, text);
        return;
    }
    cli_agent_answer_ends(v);
    if (v->n_work < CLI_AGENT_WORK_MAX) {
        cli_agent_work *w = &v->work[v->n_work++];
        *w = (cli_agent_work){.since_ms = cli_agent_now_ms()};
        snprintf(w->tool, sizeof w->tool, "%.*s", (int)cli_cut(tool, sizeof w->tool - 1), tool);
        snprintf(w->input, sizeof w->input, "%.*s", (int)cli_cut(text, sizeof w->input - 1), text);
    }
    cli_agent_view_draw(v);
}

static cli_agent_work *work_of(cli_agent_view *v, const char *tool)
{
    for (size_t i = 0; i < v->n_work; i++) {
        if (strncmp(v->work[i].tool, tool, sizeof v->work[i].tool - 1) == 0) {
            return &v->work[i];
        }
    }
    return NULL;
}

static void on_tool_end(cli_agent_view *v, const pons_value *p)
{
    char text[LINE_SHOWN];
    cli_agent_short(pons_get(p, "output"), text, sizeof text);
    if (!v->live) {
        cli_agent_dim_line(v, "", "→ %s", text);
        return;
    }
    const char *tool = pons_get_str(p, "tool", "");
    cli_agent_work *w = work_of(v, tool);
    const bool error = strncmp(text, "error", 5) == 0;
    cli_agent_dim_line(v, "tool", "%s %s", tool, w ? w->input : "");
    if (w) {
        memmove(w, w + 1, (size_t)(v->work + v->n_work - (w + 1)) * sizeof *w);
        v->n_work--;
    }
    if (error) {
        cli_agent_view_line(v, "!", "%s", text);
    } else {
        cli_agent_dim_line(v, "", "→ %s", text);
    }
    cli_agent_view_draw(v);
}

static void on_done(cli_agent_view *v, const pons_value *p)
{
    const char *status = pons_get_str(p, "status", "");
    v->thinking = false;
    v->n_work = 0;
    cli_agent_answer_ends(v);
    if (v->plan_live) {
        v->plan_live = false;
        cli_agent_plan_print(v);
        v->plan_live = false;
    }
    if (strcmp(status, "success") == 0 && !v->said_any) { // a model that does not stream
        cli_agent_view_markdown(v, pons_get_str(p, "content", ""));
    } else if (strcmp(status, "stopped") == 0) {
        cli_agent_begin_line(v);
        cli_out("(stopped)\n");
    }
    cli_flush();
    if (v->prompting) {
        cli_prompt_show("agent");
    }
    cli_agent_view_draw(v);
}

static void event_text(cli_agent_view *v, const pons_event *ev)
{
    const pons_value *p = ev->payload;
    if (strcmp(ev->type, "token") == 0) {
        on_token(v, pons_get_str(p, "content", ""));
    } else if (strcmp(ev->type, "llm_start") == 0) {
        v->said_any = false;
        v->thinking = true;
        v->thinking_since_ms = cli_agent_now_ms();
        cli_agent_view_draw(v);
    } else if (strcmp(ev->type, "llm_end") == 0) {
        v->thinking = false;
        cli_agent_answer_ends(v);
        cli_agent_view_draw(v);
    } else if (strcmp(ev->type, "tool_start") == 0) {
        on_tool_start(v, p);
    } else if (strcmp(ev->type, "tool_progress") == 0) {
        cli_agent_work *w = work_of(v, pons_get_str(p, "tool", ""));
        if (w) {
            const char *said = pons_get_str(p, "content", "");
            snprintf(w->progress, sizeof w->progress, "%.*s",
                     (int)cli_cut(said, sizeof w->progress - 1), said);
            cli_agent_view_draw(v);
        }
    } else if (strcmp(ev->type, "tool_end") == 0) {
        on_tool_end(v, p);
    } else if (strcmp(ev->type, "plan_created") == 0) {
        pons_value_unref(v->plan);
        v->plan = json_deep_copy(pons_get(p, "plan"));
        cli_agent_plan_print(v);
    } else if (strcmp(ev->type, "plan_updated") == 0) {
        cli_agent_plan_changed(v, p);
    } else if (strcmp(ev->type, "plan_revised") == 0) {
        cli_agent_plan_revised(v, p);
    } else if (strcmp(ev->type, "plan_approval_resolved") == 0) {
        cli_agent_dim_line(v, "plan", "%s",
                           pons_get_bool(p, "approved", false) ? "approved" : "rejected");
    } else if (strcmp(ev->type, "error") == 0) {
        cli_agent_view_note(v, "%s", pons_get_str(p, "content", ""));
    } else if (strcmp(ev->type, "done") == 0) {
        on_done(v, p);
    }
}

void cli_agent_short(const pons_value *value, char *buf, size_t cap)
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

void cli_agent_view_init(cli_agent_view *v, bool json, bool live)
{
    *v = (cli_agent_view){.json = json, .live = live && !json};
    if (v->live) {
        v->live = cli_screen_start();
    }
}

void cli_agent_view_fini(cli_agent_view *v)
{
    cli_agent_answer_ends(v);
    if (v->live) {
        cli_screen_stop();
    }
    cli_flush();
    pons_value_unref(v->plan);
    pons_value_unref(v->queued);
    cli_markdown_fini(&v->answer);
    *v = (cli_agent_view){0};
}

void cli_agent_view_event(cli_agent_view *v, const pons_event *ev)
{
    if (strcmp(ev->type, "llm_end") == 0) {
        cli_agent_usage_add(&v->usage, ev->payload);
        snprintf(v->model, sizeof v->model, "%s", pons_get_str(ev->payload, "model", ""));
    }
    if (v->json) {
        event_json(ev);
    } else {
        event_text(v, ev);
    }
}

void cli_agent_usage_add(cli_agent_usage *u, const pons_value *llm_end)
{
    const pons_value *tokens = pons_get(llm_end, "tokens"), *cost = pons_get(llm_end, "cost");
    u->calls++;
    u->prompt += pons_get_int(tokens, "prompt", 0);
    u->completion += pons_get_int(tokens, "completion", 0);
    if (json_is_number(cost)) {
        u->cost += json_number_value(cost);
        u->priced = true;
    }
    if (tokens && strcmp(pons_get_str(llm_end, "node", ""), "agent") == 0) {
        u->context = pons_get_int(tokens, "prompt", 0) + pons_get_int(tokens, "completion", 0);
    }
}
