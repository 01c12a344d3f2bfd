// request_judge.c - what is asked, held against the files of a workspace.
//
//     EMBODIED.md ----> ws_body --+
//     ENVIRONMENT.md -> ws_robot, ws_target, world --+--> pons/critic.h --> rules
//                                                    +--> volume, sensor, path
//     LESSONS.md -----> the same action, the same conditions --> lesson
//
// The files are read anew each time: what a person has changed holds from the next action on.
#include "pons/buf.h"
#include "pons/critic.h"
#include "workspace/request_checks/critic_facts.h"
#include "workspace/request_checks/lesson_entry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct judging {
    const pons_ws_place *place;
    const pons_ws_asked *asked;
    ws_body body;
    ws_robot robot;
    ws_target target;
    pons_ws_judgement *j;
    char seen[128]; // what the memory says of the target; "": nothing
} judging;

static const pons_ws_doc *doc(const judging *g, pons_ws_file file)
{
    return pons_ws_place_doc(g->place, file);
}

// What stops, stands still or answers is never held up by what a body can do.
static bool is_exempt(const char *type)
{
    static const char *const always[] = {"stop", "stop_base", "wait", "check_connection"};
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (strcmp(type, always[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void violated(judging *g, const char *rule, double found, double limit, const char *unit,
                     const char *by, const char *message)
{
    pons_value *row = pons_object("rule", json_string(rule), "message", pons_string(message),
                                  "found", isnan(found) ? PONS_ABSENT : json_real(found), "limit",
                                  isnan(limit) ? PONS_ABSENT : json_real(limit), "unit",
                                  *unit ? json_string(unit) : PONS_ABSENT, "by",
                                  *by ? pons_string(by) : PONS_ABSENT, NULL);
    json_array_append_new(g->j->rules, row);
}

// ---- the critic's own ---------------------------------------------------------------------------

static pons_value *box_of(const ws_body *b)
{
    return b->has_bounds
               ? json_pack("{ss s[fff] s[fff]}", "frame", "base", "min", b->low[0], b->low[1],
                           b->low[2], "max", b->high[0], b->high[1], b->high[2])
               : PONS_ABSENT;
}

static pons_value *embodiment_of(const ws_body *b)
{
    const bool drives = !isnan(b->speed_mps) && b->speed_mps > 0;
    return pons_object(
        "name", json_string(b->name), "max_reach_m",
        isnan(b->reach_m) || b->reach_m <= 0 ? PONS_ABSENT : json_real(b->reach_m), "reach_from",
        json_pack("[f,f,f]", 0.0, 0.0, b->shoulder_m), "payload_kg",
        isnan(b->payload_kg) ? PONS_ABSENT : json_real(b->payload_kg), "workspace", box_of(b),
        "supported_actions", b->has_actions ? json_incref(b->actions) : PONS_ABSENT, "limits",
        drives ? pons_object("speed_max_mps", json_real(b->speed_mps), NULL) : PONS_ABSENT, NULL);
}

// One skill: what is asked.
static pons_value *registry_of(const judging *g)
{
    const char *type = g->asked->action_type;
    const bool picks = strncmp(type, "pick", 4) == 0, drives = pons__ws_drives(&g->body, type);
    return json_pack("[{ss s[s] so*}]", "name", type, "resources_required", drives ? "base" : "arm",
                     "holds", picks ? json_string("object_id") : NULL);
}

// A place for the base is not one for the tool; a name that nobody knows here the body may know.
static pons_value *arguments_of(const judging *g)
{
    const ws_target *t = &g->target;
    pons_value *args =
        json_is_object(g->asked->params) ? json_copy((json_t *)g->asked->params) : json_object();
    if (pons__ws_drives(&g->body, g->asked->action_type)) {
        static const char *const places[] = {
            "target_pose", "target_position", "target_label", "target", "pose", "position", "zone"};
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            json_object_del(args, places[i]);
        }
        if (t->known) {
            json_object_set_new(args, "pose", json_pack("{sf sf}", "x", t->at[0], "y", t->at[1]));
        }
    }
    return args;
}

static void judge_by_critic(judging *g)
{
    pons_error err = PONS_ERROR_INIT;
    pons_critic *critic = NULL;
    pons_autoverdict verdict = NULL;
    pons_autovalue embodiment = embodiment_of(&g->body);
    pons_autovalue skills = registry_of(g);
    pons_autovalue world = pons__ws_world(doc(g, PONS_WS_ENVIRONMENT));
    pons_autovalue args = arguments_of(g);
    pons_autovalue robot = json_object();
    const pons_critic_options o = {.skills = skills, .embodiment = embodiment, .world = world};
    if (g->robot.known) {
        json_object_set_new(robot, "pose",
                            json_pack("{sf sf sf sf}", "x", g->robot.at[0], "y", g->robot.at[1],
                                      "z", g->robot.at[2], "yaw", g->robot.yaw));
    }
    if (g->robot.holding) {
        json_object_set(robot, "holding", (json_t *)g->robot.holding);
    }
    const pons_critic_situation now = {.robot = robot};
    int rc = pons_critic_create(&o, &critic, &err);
    rc = rc < 0 ? rc : pons_critic_judge(critic, g->asked->action_type, args, &now, &verdict, &err);
    if (rc < 0) { // no judge, no motion
        violated(g, "critic", NAN, NAN, "", "", err.message);
    } else {
        json_array_extend(g->j->rules, (json_t *)pons_verdict_rules(verdict));
    }
    pons_critic_destroy(critic);
}

// ---- the workspace's ----------------------------------------------------------------------------

// Who cannot read what a robot may do lets it do nothing: neither when the file says nothing that can be read since the
// beginning, nor when its limits do not.
static void judge_readable(judging *g)
{
    const pons_ws_doc *d = doc(g, PONS_WS_EMBODIED);
    size_t n = 0;
    const pons_ws_fault *all = d ? pons_ws_faults(d, &n) : NULL;
    char text[320];
    if (!d && pons_ws_place_suspended(g->place, PONS_WS_EMBODIED)) {
        violated(g, "embodied", NAN, NAN, "", "",
                 "EMBODIED.md cannot be read: nobody knows what this robot may do");
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].kind, "limits") == 0) {
            snprintf(text, sizeof text, "EMBODIED.md:%u:%u: %.200s", all[i].line, all[i].column,
                     all[i].what);
            violated(g, "embodied", NAN, NAN, "", "", text);
        }
    }
}

static void judge_volume(judging *g)
{
    const ws_body *b = &g->body;
    const ws_target *t = &g->target;
    char text[256];
    if (isnan(b->volume_m3) || b->volume_m3 <= 0 || !t->known || !t->has_z || !g->robot.known ||
        pons__ws_drives(b, g->asked->action_type)) {
        return;
    }
    // Half a ball, around where the reach is measured from.
    const double radius = cbrt(3 * b->volume_m3 / (2 * PI));
    const double dx = t->at[0] - g->robot.at[0], dy = t->at[1] - g->robot.at[1],
                 dz = t->at[2] - g->robot.at[2] - b->shoulder_m;
    const double away = sqrt(dx * dx + dy * dy + dz * dz);
    if (away > radius) {
        snprintf(text, sizeof text,
                 "target [%.4g, %.4g, %.4g] is %.2f m away; a workspace of %.4g m³ goes %.2f m",
                 t->at[0], t->at[1], t->at[2], away, b->volume_m3, radius);
        violated(g, "volume", away, radius, "m", "", text);
    }
}

static void judge_sensor(judging *g)
{
    const char *type = g->asked->action_type;
    const bool wants = strcmp(type, "target_navigation") == 0 || strncmp(type, "pick", 4) == 0 ||
                       strcmp(type, "localize") == 0;
    char text[256];
    if (!wants || !g->body.has_sensors || g->body.sees) {
        return;
    }
    const char *lacks = json_string_value(json_array_get(g->body.unticked, 0));
    snprintf(text, sizeof text,
             "%s needs a camera, a depth sensor or a lidar; EMBODIED.md has %s%.80s", type,
             lacks ? "[ ] " : "none", lacks ? lacks : "");
    violated(g, "sensor", NAN, NAN, "", lacks ? lacks : "", text);
}

static void judge_path(judging *g)
{
    const char *type = g->asked->action_type;
    double gap = 0, need = 0;
    char by[160], via[80], text[420];
    if (g->body.plans_paths || !pons__ws_drives(&g->body, type) ||
        pons_get(g->asked->params, "waypoints") || pons_get(g->asked->params, "via") ||
        !pons__ws_path_blocked(doc(g, PONS_WS_ENVIRONMENT), &g->robot, &g->target, by, sizeof by,
                               &gap, &need, via, sizeof via)) {
        return;
    }
    snprintf(text, sizeof text,
             "%s stands on the direct way to %.64s: %.2f m beside it, %.2f m are needed%s%s", by,
             g->target.id ? g->target.id : "the target", gap, need, *via ? "; go by " : "", via);
    violated(g, "path", gap, need, "m", by, text);
    json_object_set_new(json_array_get(g->j->rules, json_array_size(g->j->rules) - 1), "via",
                        json_string(via));
}

// What is to be taken should be where it is thought to be.
static void judge_seen(judging *g)
{
    const pons_ws_doc *d = doc(g, PONS_WS_ENVIRONMENT);
    const pons_ws_record *r = d && g->target.id ? pons_ws_find(d, "object", g->target.id) : NULL;
    char text[256];
    if (!g->target.id || strncmp(g->asked->action_type, "pick", 4) != 0) {
        return;
    }
    const char *what = pons_get_str(r ? r->value : NULL, "category", g->target.id);
    if (!pons_ws_place_seen(g->place, what, g->seen, sizeof g->seen) && *g->seen) {
        snprintf(text, sizeof text, "%s: it may not be there any more", g->seen);
        violated(g, "seen", NAN, NAN, "", g->target.id, text);
        *g->seen = '\0'; // it is said
    }
}

// What the judgement rests on, in words: the same words, the same judgement.
static void put_conditions(judging *g)
{
    pons_autobuf b = PONS_BUF_INIT;
    const ws_body *body = &g->body;
    const ws_target *t = &g->target;
    if (g->robot.known) {
        pons_buf_printf(&b, "robot [%.1f, %.1f, %.1f]", g->robot.at[0], g->robot.at[1],
                        g->robot.at[2]);
    }
    if (t->known) {
        pons_buf_printf(&b, "%starget [%.4g, %.4g", b.len ? "; " : "", t->at[0], t->at[1]);
        pons_buf_printf(&b, t->has_z ? ", %.4g]" : "]", t->at[2]);
    }
    const struct {
        const char *name, *unit;
        double value;
    } numbers[] = {{"reach", "m", body->reach_m},
                   {"from", "m", body->shoulder_m > 0 ? body->shoulder_m : NAN},
                   {"payload", "kg", body->payload_kg},
                   {"volume", "m³", body->volume_m3},
                   {"speed", "m/s", body->speed_mps}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!isnan(numbers[i].value)) {
            pons_buf_printf(&b, "%s%s %.4g %s", b.len ? "; " : "", numbers[i].name,
                            numbers[i].value, numbers[i].unit);
        }
    }
    if (body->has_bounds) {
        pons_buf_printf(&b, "%sbounds [%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g]", b.len ? "; " : "",
                        body->low[0], body->low[1], body->low[2], body->high[0], body->high[1],
                        body->high[2]);
    }
    if (json_is_string(g->robot.holding)) {
        pons_buf_printf(&b, "; holds %.64s", json_string_value(g->robot.holding));
    }
    size_t i;
    const json_t *rule;
    json_array_foreach(g->j->rules, i, rule) // and what else it named
    {
        pons_buf_printf(&b, "%s%s%s%s", b.len ? "; " : "", pons_get_str(rule, "rule", ""),
                        pons_get(rule, "by") ? " " : "", pons_get_str(rule, "by", ""));
    }
    pons__ws_copy_text(g->j->conditions, sizeof g->j->conditions, b.data, b.len);
}

static void put_why(pons_ws_judgement *j, const char *seen)
{
    pons_autobuf b = PONS_BUF_INIT;
    size_t i;
    const json_t *rule;
    json_array_foreach(j->rules, i, rule) {
        pons_buf_printf(&b, "%s%s: %s", i ? "; " : "", pons_get_str(rule, "rule", ""),
                        pons_get_str(rule, "message", ""));
    }
    if (*seen && b.len) {
        pons_buf_printf(&b, " (%s)", seen);
    }
    pons__ws_copy_text(j->why, sizeof j->why, b.data, b.len);
}

// ---- public -------------------------------------------------------------------------------------

// EMBODIED.md lists types of actions; a body's skills have names of their own for some. The one that is
// listed; else the type as it is.
static const char *listed(const ws_body *b, const char *type)
{
    static const char *const names[][3] = {{"navigate_to_pose", "target_navigation", "move_to"},
                                           {"pick", "pick_up", "pick"},
                                           {"put_down", "place", "place"},
                                           {"follow_actions", "target_navigation", "move_to"},
                                           {"follow_joints", "move_to", "move_to"},
                                           {"look", "localize", "localize"}};
    const char *best = type;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (strcmp(names[k][0], type) != 0) {
            continue;
        }
        pons_each(name, b->actions) {
            for (size_t n = 0; n < 3; n++) {
                best = strcmp(json_string_value(name), names[k][n]) == 0 ? names[k][n] : best;
            }
        }
    }
    return best;
}

// A strategy that is one skill is that skill, with that skill's limits.
static pons_ws_asked unwrapped(const pons_ws_asked *asked)
{
    const char *skill = pons_get_str(asked->params, "skill", NULL);
    pons_ws_asked as = *asked;
    if (strcmp(asked->action_type, "strategy") == 0 && skill) {
        as.action_type = skill;
        as.params = pons_get(asked->params, "args");
    }
    return as;
}

void pons_ws_judge(const pons_ws_place *place, const pons_ws_asked *asked, pons_ws_judgement *ret)
{
    pons_ws_asked as = unwrapped(asked);
    judging g = {.place = place, .asked = &as, .j = ret};
    *ret = (pons_ws_judgement){.rules = json_array()};
    pons__ws_action_says(asked, ret->action, sizeof ret->action);
    pons__ws_body_read(doc(&g, PONS_WS_EMBODIED), as.robot_id, &g.body);
    as.action_type = listed(&g.body, as.action_type);
    pons__ws_robot_read(doc(&g, PONS_WS_ENVIRONMENT), as.robot_id, &g.body, &g.robot);
    pons__ws_robot_hear(as.robot, &g.robot);
    pons__ws_target_read(doc(&g, PONS_WS_ENVIRONMENT), as.params, &g.target);
    if (!is_exempt(as.action_type)) {
        judge_readable(&g);
        judge_by_critic(&g);
        judge_volume(&g);
        judge_sensor(&g);
        judge_path(&g);
        judge_seen(&g);
    }
    put_conditions(&g);
    const bool refused = json_array_size(ret->rules) > 0;
    if (!is_exempt(as.action_type) &&
        pons__ws_lesson_find(doc(&g, PONS_WS_LESSONS), ret, &g.target, refused)) {
        char text[PONS_WS_LESSON_MAX + 64];
        ret->known = true;
        snprintf(text, sizeof text, "it failed before: %s", ret->lesson);
        violated(&g, "lesson", NAN, NAN, "", "", text);
    }
    ret->ok = json_array_size(ret->rules) == 0;
    put_why(ret, g.seen);
    pons__ws_body_clear(&g.body);
}

void pons_ws_judgement_clear(pons_ws_judgement *j)
{
    pons_value_unref(j->rules);
    *j = (pons_ws_judgement){0};
}
