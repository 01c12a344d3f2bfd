// plan_checklist.c - a plan as a list that ticks off: at the lower end of a terminal as long as it is carried
// out, and printed when it has ended; elsewhere whole once, and then a line for each change.
#include "cli/agent/agent_events.h"

#include <stdint.h>
#include <string.h>

static bool over(const pons_value *plan)
{
    pons_each(step, pons_get(plan, "steps")) {
        const char *status = pons_get_str(step, "status", "");
        if (strcmp(status, "pending") == 0 || strcmp(status, "running") == 0 ||
            strcmp(status, "wait_confirmation") == 0) {
            return false;
        }
    }
    return true;
}

// On a screen the list goes on living at the lower end; its last state is printed when it is over.
void cli_agent_plan_print(cli_agent_view *v)
{
    if (v->json || !v->plan) {
        return;
    }
    if (v->live && over(v->plan)) {
        v->plan_live = false;
    } else if (v->live) {
        v->plan_live = true;
        cli_agent_view_draw(v);
        return;
    }
    cli_autorows rows = {0};
    cli_agent_plan_rows(v, &rows);
    cli_agent_view_print(v, &rows);
}

void cli_agent_view_plan(cli_agent_view *v, const pons_value *plan)
{
    if (!json_is_object(plan)) {
        return;
    }
    pons_value *steps = json_array();
    const pons_value *list = pons_get(plan, "steps");
    pons_each(s, list) {
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
        cli_agent_plan_print(v);
    }
}

void cli_agent_plan_changed(cli_agent_view *v, const pons_value *updated)
{
    pons_each(step, pons_get(v->plan, "steps")) {
        if (pons_get_int(step, "id", 0) != pons_get_int(updated, "step_id", -1)) {
            continue;
        }
        json_object_set_new(step, "status", json_string(pons_get_str(updated, "status", "")));
        if (v->live) {
            cli_agent_plan_print(v);
        } else {
            cli_autorich text = {0};
            cli_autorows rows = {0};
            cli_agent_step_text(step, &text);
            cli_rows_cut(&rows, &text, SIZE_MAX, false);
            cli_agent_view_print(v, &rows);
        }
    }
}

void cli_agent_plan_revised(cli_agent_view *v, const pons_value *p)
{
    const pons_value *old = pons_get(v->plan, "steps");
    const int64_t keep = pons_get_int(p, "keep_completed", 0);
    pons_value *steps = json_array();
    for (int64_t i = 0; i < keep && i < (int64_t)json_array_size(old); i++) {
        json_array_append(steps, json_array_get(old, (size_t)i));
    }
    pons_autovalue added = json_deep_copy(pons_get(p, "revised_steps"));
    json_array_extend(steps, added);
    cli_agent_view_line(v, "plan", "revised: %s", pons_get_str(p, "reason", ""));
    v->plan = v->plan ? v->plan : json_object();
    json_object_set_new(v->plan, "steps", steps);
    cli_agent_plan_print(v);
}
