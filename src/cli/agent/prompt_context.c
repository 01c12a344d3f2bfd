// prompt_context.c - what the model is told of here and now: the date, where it works, the robot's world.
#include "cli/agent/chat.h"

#include <string.h>
#include <time.h>

#define ZONES_TOLD 40
#define TOOLS_TOLD 80

// A recording is compared with what is asked when it is played: it must not know what day it is.
static bool recorded(const char *spec)
{
    spec = app_llm_spec(spec);
    return spec && (strncmp(spec, "record:", 7) == 0 || strncmp(spec, "replay", 6) == 0);
}

static void tell_time(const cli_chat *s, pons_buf *b)
{
    char now[CLI_MOMENT];
    pons_buf_printf(b, "Now it is %s.\n",
                    cli_moment(pons_wall_ms(&s->clock), now, "%A, %F %H:%M (%Z, UTC%z)"));
}

static void tell_robot(const cli_chat *s, pons_buf *b)
{
    if (!s->parts.robot) {
        return;
    }
    pons_autovalue status = pons_robot_tools_status(s->parts.robot->self);
    if (!pons_get_bool(status, "connected", false)) {
        pons_buf_str(b, "No robot is connected.\n");
        return;
    }
    const pons_value *robot = pons_get(status, "robot");
    const char *zone = pons_get_str(robot, "zone", "");
    pons_buf_printf(b, "A robot is connected%s%s.\n", *zone ? "; it is in the zone " : "", zone);
    const pons_value *zones = pons_get(pons_get(status, "world"), "zones");
    size_t reported = 0;
    pons_each_member(key, v, zones) {
        if (reported++ < ZONES_TOLD) {
            pons_buf_printf(b, "%s%s", reported == 1 ? "Zones: " : ", ", key);
        }
    }
    pons_each(v, zones) {
        const char *name = json_is_string(v) ? json_string_value(v) : pons_get_str(v, "id", "");
        if (*name && reported++ < ZONES_TOLD) {
            pons_buf_printf(b, "%s%s", reported == 1 ? "Zones: " : ", ", name);
        }
    }
    pons_buf_str(b, reported ? ".\n" : "");
}

static void tell_tools(const cli_chat *s, pons_buf *b)
{
    size_t reported = 0;
    for (size_t i = 0; i < s->parts.n_tools; i++) {
        pons_autovalue list = NULL;
        pons_error none = PONS_ERROR_INIT;
        if (s->parts.tools[i].ops->list(s->parts.tools[i].self, &list, &none) < 0) {
            continue;
        }
        pons_each(tool, list) {
            if (reported++ < TOOLS_TOLD) {
                pons_buf_printf(b, "%s%s", reported == 1 ? "Tools: " : ", ",
                                pons_get_str(tool, "name", ""));
            }
        }
    }
    pons_buf_str(b, reported ? ".\n" : "");
}

char *cli_chat_about(void *user)
{
    const cli_chat *s = user;
    pons_buf b = PONS_BUF_INIT;
    if (!recorded(s->llm_spec)) {
        tell_time(s, &b);
        pons_buf_printf(&b,
                        "Files: %s is the folder that file tools work in; their paths are "
                        "relative to it, and where a tool says "
                        "workspace it means that folder.\n",
                        s->folder);
    }
    tell_robot(s, &b);
    tell_tools(s, &b);
    return pons_buf_take(&b, NULL);
}
