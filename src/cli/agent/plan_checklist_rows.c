// plan_checklist_rows.c - a plan's list in rows: its title, and each step with a mark of how it stands.
#include "cli/agent/agent_events.h"
#include "cli/cli.h"
#include "cli/terminal/status_area.h"
#include "pons/printable.h"

#include <string.h>

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

void cli_agent_step_text(const pons_value *step, cli_rich *text)
{
    const char *status = pons_get_str(step, "status", "");
    const cli_style style = strcmp(status, "completed") == 0 ? CLI_INK_ADDED
                            : strcmp(status, "failed") == 0  ? CLI_INK_TAKEN
                            : strcmp(status, "running") == 0 ? CLI_INK_ASK
                                                             : CLI_INK_DIM;
    cli_rich_printf(text, style, "    [%s] ", tick(status));
    cli_rich_printf(text, 0, "%lld. ", (long long)pons_get_int(step, "id", 0));
    pons_autobuf title = PONS_BUF_INIT;
    pons_plain(&title, pons_get_str(step, "title", ""), SIZE_MAX, false);
    cli_rich_printf(text, 0, "%s", title.data ? title.data : "");
}

void cli_agent_plan_rows(const cli_agent_view *v, cli_rows *rows)
{
    const pons_value *steps = pons_get(v->plan, "steps");
    const size_t width = v->live ? cli_screen_width() : SIZE_MAX;
    cli_autorich title = {0};
    pons_autobuf plain = PONS_BUF_INIT;
    pons_plain(&plain, pons_get_str(v->plan, "title", ""), SIZE_MAX, false);
    cli_rich_printf(&title, CLI_INK_DIM, "  plan  ");
    cli_rich_printf(&title, CLI_INK_BOLD, "%s", plain.data ? plain.data : "");
    cli_rows_cut(rows, &title, width, v->live && cli_screen_style());
    for (size_t i = 0; i < json_array_size(steps); i++) {
        cli_autorich text = {0};
        cli_agent_step_text(json_array_get(steps, i), &text);
        cli_rows_cut(rows, &text, width, v->live && cli_screen_style());
    }
}
