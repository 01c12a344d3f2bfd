// chat_lines.c - lines for people above the prompt, and what is drawn at a terminal's lower end: the
// unfinished part of an answer, the plan, the tools under way, what waits to be said, and the status line.
#include "cli/agent/agent_cli.h"
#include "cli/agent/agent_events.h"
#include "cli/terminal/status_area.h"
#include "pons/printable.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define LINE_SHOWN  160 // bytes of a value on a line
#define LABEL       8   // columns before a line
#define QUEUE_SHOWN 3   // of what waits to be said
#define THOUSAND    1000
#define MILLION     1000000

// ---- lines --------------------------------------------------------------------------------------

// What is left of an answer is printed for good.
void cli_agent_answer_ends(cli_agent_view *v)
{
    if (v->token_open) {
        cli_out("\n");
        v->token_open = false;
    }
    if (v->live && v->answer.open.len > 0) {
        cli_autorows done = {0};
        cli_markdown_end(&v->answer, cli_screen_width(), cli_screen_style(), &done);
        cli_screen_live(NULL);
        cli_screen_print(&done);
    }
    cli_markdown_fini(&v->answer);
}

// What stands on the line is ended first: tokens, or the prompt.
void cli_agent_begin_line(cli_agent_view *v)
{
    cli_agent_answer_ends(v);
    if (v->live) {
        cli_screen_hide();
    } else if (v->prompting) {
        cli_prompt_hide();
    }
}

void cli_agent_end_line(cli_agent_view *v)
{
    cli_flush();
    if (v->live) {
        cli_agent_view_draw(v);
    } else if (v->prompting) {
        cli_prompt_show(NULL);
    }
}

static void put_line(cli_agent_view *v, cli_style style, const char *label, const char *fmt,
                     va_list ap)
{
    cli_agent_begin_line(v);
    if (v->live) {
        pons_autobuf text = PONS_BUF_INIT, lead = PONS_BUF_INIT;
        cli_autorich words = {0}, first = {0}, rest = {0};
        cli_autorows rows = {0};
        cli_buf(&text, fmt, ap);
        cli_rich_add(&words, style, text.data ? text.data : "", text.len);
        cli_text(&lead, "  %-5s ", label);
        cli_rich_add(&first, CLI_INK_DIM, lead.data, lead.len);
        cli_rich_printf(&rest, 0, "%*s", LABEL, "");
        cli_rows_wrap(&rows, &words, cli_screen_width(), &first, &rest, cli_screen_style());
        cli_screen_print(&rows);
    } else {
        cli_out("  %-5s ", label);
        cli_vout(fmt, ap);
        cli_out("\n");
    }
    cli_agent_end_line(v);
}

void cli_agent_dim_line(cli_agent_view *v, const char *label, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line(v, strcmp(label, "tool") == 0 ? 0 : CLI_INK_DIM, label, fmt, ap);
    va_end(ap);
}

void cli_agent_view_line(cli_agent_view *v, const char *label, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line(v,
             strcmp(label, "ask") == 0 ? CLI_INK_ASK
             : strcmp(label, "!") == 0 ? CLI_INK_BAD
                                       : 0,
             label, fmt, ap);
    va_end(ap);
}

void cli_agent_view_note(cli_agent_view *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (v->live && isatty(STDERR_FILENO)) { // in rows that fit
        put_line(v, CLI_INK_BAD, "pons:", fmt, ap);
    } else {
        cli_agent_begin_line(v);
        cli_vnote(fmt, ap);
        cli_agent_end_line(v);
    }
    va_end(ap);
}

void cli_agent_view_markdown(cli_agent_view *v, const char *text)
{
    cli_agent_begin_line(v);
    if (v->live) {
        cli_autorows rows = {0};
        cli_markdown_rows(text, strlen(text), cli_screen_width(), cli_screen_style(), &rows);
        cli_screen_print(&rows);
    } else {
        cli_out_text(text, SIZE_MAX);
        cli_out("\n");
    }
    cli_agent_end_line(v);
}

void cli_agent_view_diff(cli_agent_view *v, const char *text)
{
    cli_agent_begin_line(v);
    if (v->live) {
        cli_autorows rows = {0};
        cli_autorich indent = {0};
        cli_rich_add(&indent, 0, "  ", 2);
        for (const char *at = text; *at;) {
            const size_t n = strcspn(at, "\n");
            cli_autorich one = {0};
            cli_rich_add(&one, cli_diff_style(at), at, n);
            cli_rows_wrap(&rows, &one, cli_screen_width(), &indent, &indent, cli_screen_style());
            at += n + (at[n] == '\n');
        }
        cli_screen_print(&rows);
    } else {
        cli_out_text(text, SIZE_MAX);
        cli_out("\n");
    }
    cli_agent_end_line(v);
}

void cli_agent_view_print(cli_agent_view *v, const cli_rows *rows)
{
    cli_agent_begin_line(v);
    cli_out_rows(rows, true);
    cli_agent_end_line(v);
}

void cli_agent_view_said(cli_agent_view *v, const char *label, const char *words)
{
    cli_agent_begin_line(v);
    cli_prompt_echo(label, words);
    cli_agent_end_line(v);
}

void cli_agent_view_head(cli_agent_view *v, const char *session, size_t messages,
                         const char *folder, const char *robot)
{
    cli_agent_begin_line(v);
    cli_out("session %s, %zu messages\n", session, messages);
    cli_out("files: %s\n", folder);
    if (robot) {
        cli_out("robot: %s\n", robot);
    }
    cli_out("Ctrl-C stops the agent, /help, /quit leaves.\n");
    cli_agent_end_line(v);
}

// ---- the lower end ------------------------------------------------------------------------------

int64_t cli_agent_now_ms(void)
{
    const pons_clock clock = pons_clock_real();
    return pons_now_ms(&clock);
}

void cli_agent_view_queue(cli_agent_view *v, const pons_value *texts)
{
    pons_value_unref(v->queued);
    v->queued = json_deep_copy(texts);
    cli_agent_view_draw(v);
}

static void count(pons_buf *b, const char *what, int64_t n)
{
    if (n >= MILLION) {
        pons_buf_printf(b, "%.1fM %s", (double)n / MILLION, what);
    } else if (n >= 10 * THOUSAND) {
        pons_buf_printf(b, "%.0fk %s", (double)n / THOUSAND, what);
    } else if (n >= THOUSAND) {
        pons_buf_printf(b, "%.1fk %s", (double)n / THOUSAND, what);
    } else {
        pons_buf_printf(b, "%lld %s", (long long)n, what);
    }
}

// What matters most first: a narrow terminal cuts the end.
static void status(cli_agent_view *v)
{
    pons_autobuf b = PONS_BUF_INIT;
    const cli_agent_usage *u = &v->usage;
    const size_t waiting = json_array_size(v->queued);
    if (waiting > 0) {
        pons_buf_printf(&b, "%zu queued · ", waiting);
    }
    if (v->window > 0 && u->context > 0) {
        const int64_t left = v->window > u->context ? v->window - u->context : 0;
        pons_buf_printf(&b, "context %lld%% left · ", (long long)(100 * left / v->window));
    } else if (u->context > 0) {
        pons_buf_str(&b, "context ");
        count(&b, "· ", u->context);
    }
    if (u->prompt + u->completion > 0) {
        count(&b, "in ", u->prompt);
        count(&b, "out · ", u->completion);
    }
    if (u->priced) {
        pons_buf_printf(&b, "$%.4f · ", u->cost);
    }
    pons_buf_printf(&b, "%s", v->model[0] ? v->model : "/help");
    cli_screen_status(b.data);
}

void cli_agent_view_draw(cli_agent_view *v)
{
    if (!v->live) {
        return;
    }
    const size_t width = cli_screen_width();
    const bool style = cli_screen_style();
    cli_autorows rows = {0};
    cli_markdown_open(&v->answer, width, style, &rows);
    if (v->plan_live) {
        cli_agent_plan_rows(v, &rows);
    }
    for (size_t i = 0; i < v->n_work; i++) {
        const cli_agent_work *w = &v->work[i];
        cli_autorich text = {0};
        cli_rich_printf(&text, CLI_INK_CODE, "  ⋯ %s ", w->tool);
        cli_rich_printf(&text, CLI_INK_DIM, "%lld s  ",
                        (long long)((cli_agent_now_ms() - w->since_ms) / THOUSAND));
        cli_rich_printf(&text, 0, "%s", w->progress[0] ? w->progress : w->input);
        cli_rows_cut(&rows, &text, width, style);
    }
    if (v->thinking) {
        cli_autorich text = {0};
        cli_rich_printf(&text, CLI_INK_DIM, "  ⋯ thinking %lld s",
                        (long long)((cli_agent_now_ms() - v->thinking_since_ms) / THOUSAND));
        cli_rows_cut(&rows, &text, width, style);
    }
    for (size_t i = 0; i < json_array_size(v->queued) && i < QUEUE_SHOWN; i++) {
        cli_autorich text = {0};
        pons_autobuf one = PONS_BUF_INIT;
        pons_plain(&one, json_string_value(json_array_get(v->queued, i)), LINE_SHOWN, false);
        cli_rich_printf(&text, CLI_INK_DIM, "  queued: %s", one.data ? one.data : "");
        cli_rows_cut(&rows, &text, width, style);
    }
    cli_screen_live(&rows);
    if (v->prompting) {
        status(v);
    }
    cli_screen_show();
}
