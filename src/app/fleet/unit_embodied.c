// unit_embodied.c - a robot of a fleet and its own files: what its EMBODIED.md does not allow, it does not do.
//
//     EMBODIED.md --look--> judge, of each skill before it is sent
//                     +---> barred: it may not drive at all, so the orchestrator counts on it no more than on one that
//                           stands, gives it no zone, and says why; until a person has made it right
//
// Nothing is shown in the robot's files, and what people write into its ACTION.md is not said to its brain: who drives
// does so by the zones that the orchestrator has given. Lessons, the task and the surroundings are the shared workspace's.
#include "app/fleet/robot_unit.h"

#include <string.h>

#define ASK_MS 1000

static void notice(void *user, const char *file, const char *text)
{
    app_unit *u = user;
    app_tell(&u->own, "%s: %s: %s", u->robot->is.id, file, text);
    if (strcmp(file, pons_ws_file_name(PONS_WS_EMBODIED)) == 0) {
        snprintf(u->unread, sizeof u->unread, "%s", text);
    }
}

int app_unit_files_open(app_unit *u, pons_error *err)
{
    const pons_ws_live_options o = {.dir = u->own.workspace,
                                    .robot_id = u->robot->is.id,
                                    .who = u->thread,
                                    .clock = u->clock,
                                    .no_wait = true, // it beats for all robots
                                    .notice = notice,
                                    .user = u};
    return pons_ws_live_open(&o, &u->files, err);
}

void app_unit_files_close(app_unit *u)
{
    pons_ws_live_close(u->files);
    u->files = NULL;
}

void app_unit_on_event(void *user, const pons_event *ev)
{
    app_unit *u = user;
    if (strcmp(ev->type, "task.done") == 0) {
        u->looked_ms = 0;
    }
    if (strcmp(ev->type, "telemetry") == 0 || strcmp(ev->type, "observation") == 0) {
        pons_ws_live_event(u->files, ev->type, ev->payload); // where it stands, and what it holds
    }
}

// asked: never, as far as the files go: a refusal is told by the fleet, and is no lesson of a robot's own.
void app_unit_judge(void *user, const char *skill, const pons_value *args, bool asked,
                    pons_value *rules)
{
    const app_unit *u = user;
    pons_ws_live_judge(u->files, skill, args, false, rules);
}

void app_unit_files_look(app_unit *u, int64_t now_ms)
{
    pons_ws_live_poll(u->files);
    if (!pons_ws_live_suspended(u->files, PONS_WS_EMBODIED)) {
        u->unread[0] = '\0';
    }
    if (!u->connected || (u->asked_ms && now_ms - u->asked_ms < ASK_MS)) {
        return;
    }
    u->asked_ms = now_ms;
    // Who may not drive to where he stands may drive nowhere.
    pons_autovalue rules = json_array();
    pons_autovalue args =
        pons_object("pose", json_pack("{sf sf sf}", "x", u->x, "y", u->y, "yaw", 0.0), NULL);
    app_unit_judge(u, "navigate_to_pose", args, false, rules);
    snprintf(u->barred, sizeof u->barred, "%s",
             pons_get_str(json_array_get(rules, 0), "message", ""));
}
