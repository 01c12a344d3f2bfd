// robot_actions.c - goals that actions of the robot carry out.
//
//     skill of pons      action                      goal                        outcome
//     navigate_to_pose   Nav2's NavigateToPose       nav2.c makes it             by result.error_code, or the
//     spin, dock, …      Nav2's, as configured                                   action's number for "unknown"
//     a robot's own      any type (interface_types.c), or      the arguments, over what    the same; result.success
//                        a service of any type       its entry fixes             false is a failure too
//     clear_costmaps, …  services of Nav2            nav2_services.c
//
// The answer of a goal is what the action's result says, as JSON; it stands in the goal's end. Which actions
// there are is said by config/ros2.yaml: `actions` (Nav2's) and `skills` (the robot's own; configured_skills.c).
//
// While Nav2 is known not to be active (lifecycle.c), its goals are not sent: one that would move the robot waits, and
// the robot lacks it, which the body bears for as long as it bears anything that is missing; one that moves
// nothing is refused.
#include "drivers/ros2/robot_actions.h"

#include "drivers/dds/service_client.h"
#include "drivers/ros2/configured_skills.h"
#include "drivers/ros2/nav2.h"
#include "drivers/ros2/nav2_services.h"
#include "pons/module.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

enum { BODYS_LOW = 9900, BODYS_HIGH = 9999 };  // error numbers that are the body's
enum { CONTROLLING = 3, WAIT_FOR_CHARGE = 4 }; // DockRobot's feedback.state

typedef struct served {
    const char *skill;
    const char *who;       // for people: "Nav2", or the action's name
    const ros2_nav2 *nav2; // NULL: the robot's own
    const ros2_own *own;   // NULL: Nav2's
    char name[ROS2_NAME_MAX];
    ros2_action *action; // NULL: it is a service's
    ros2_service *service;
} served;

typedef struct refused { // a goal that could not be made
    char id[256];
    char why[PONS_OUTSIDE_TEXT_MAX];
    int code;
} refused;

struct ros2_errands {
    const ros2_config *c;
    const pons_value *world;
    ros2_types *types;
    ros2_owns owns;
    ros2_upkeep *upkeep;
    size_t n, n_skills;
    served at[ROS2_NAV2 + ROS2_OWN_MAX];
    const pons_skill *skills[ROS2_NAV2 + ROS2_OWN_MAX + ROS2_UPKEEP_MAX];
    refused refused[ROS2_GOALS_MAX]; // loop thread
    int n_refused;
};

static int open_types(ros2_errands *e, pons_error *err)
{
    char name[64], path[PATH_MAX];
    int rc = ros2_texts_folders(ros2_types_texts(e->types), e->c->interfaces, err);
    rc = rc < 0 ? rc : ros2_owns_define(e->c, e->types, err);
    for (int i = 0; i < 2 && rc >= 0; i++) {
        snprintf(name, sizeof name, "config/ros2/%s.msgs", i == 0 ? e->c->distro : "common");
        rc = pons_share_path(name, path, sizeof path, err);
        rc = rc < 0 ? rc : ros2_texts_add_file(ros2_types_texts(e->types), path, err);
    }
    return rc;
}

static int serve(ros2_errands *e, ros2_node *n, const char *skill, const char *name,
                 const char *type, pons_error *err)
{
    served *s = &e->at[e->n];
    s->skill = skill;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->who = s->nav2 ? "Nav2" : s->name;
    const int rc = s->own && s->own->service
                       ? ros2_service_open(n, e->types, name, type, e->c->server_s,
                                           s->own->record.timeout_s, &s->service, err)
                       : ros2_action_open(n, e->types, name, type, e->c->server_s, e->c->answer_s,
                                          &s->action, err);
    if (rc < 0) {
        pons_error_context(err, "skill %s", skill);
        return rc;
    }
    e->n++;
    return PONS_OK;
}

int ros2_errands_open(ros2_node *n, const ros2_config *c, const pons_value *world,
                      ros2_errands **ret, pons_error *err)
{
    ros2_errands *e = calloc(1, sizeof *e);
    if (!e || !(e->types = ros2_types_create())) {
        free(e);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the robot's actions");
    }
    e->c = c;
    e->world = world;
    int rc = open_types(e, err);
    for (int i = 0; i < ROS2_NAV2 && rc >= 0; i++) {
        const ros2_nav2 *k = &ros2_nav2_all[i];
        if (*c->actions[i]) {
            e->at[e->n].nav2 = k;
            rc = serve(e, n, k->skill, c->actions[i], k->type, err);
            if (rc >= 0 && k->record) {
                e->skills[e->n_skills++] = k->record;
            }
        }
    }
    rc = rc < 0 ? rc : ros2_owns_open(&e->owns, c, e->types, err);
    for (size_t i = 0; i < e->owns.n && rc >= 0; i++) {
        const ros2_own *o = &e->owns.at[i];
        e->at[e->n].own = o;
        rc = serve(e, n, o->record.name, o->name, o->type, err);
        e->skills[e->n_skills++] = &o->record;
    }
    rc = rc < 0 ? rc : ros2_upkeep_open(n, e->types, c, &e->upkeep, err);
    e->n_skills += rc < 0 ? 0 : ros2_upkeep_skills(e->upkeep, e->skills + e->n_skills);
    if (rc < 0) {
        ros2_errands_close(e);
        return rc;
    }
    *ret = e;
    return PONS_OK;
}

void ros2_errands_close(ros2_errands *e)
{
    if (!e) {
        return;
    }
    for (size_t i = 0; i < e->n; i++) {
        ros2_action_close(e->at[i].action);
        ros2_service_close(e->at[i].service);
    }
    ros2_upkeep_close(e->upkeep);
    ros2_owns_close(&e->owns);
    ros2_types_destroy(e->types);
    free(e);
}

static const served *serves(const ros2_errands *e, const char *skill)
{
    for (size_t i = 0; i < e->n; i++) {
        if (strcmp(e->at[i].skill, skill) == 0) {
            return &e->at[i];
        }
    }
    return NULL;
}

bool ros2_errands_take(const ros2_errands *e, const char *skill)
{
    return serves(e, skill) || ros2_upkeep_takes(e->upkeep, skill);
}

const pons_skill *const *ros2_errands_skills(const ros2_errands *e, size_t *ret_n)
{
    *ret_n = e->n_skills;
    return e->skills;
}

// Whether its goals may move the robot.
static bool moves(const served *s)
{
    return s->nav2 ? !s->nav2->still : s->own->record.moves;
}

void ros2_errands_poll(ros2_errands *e, bool waits, int64_t host_ns)
{
    char why[PONS_OUTSIDE_TEXT_MAX];
    ros2_upkeep_poll(e->upkeep, host_ns);
    const bool held = ros2_upkeep_holds(e->upkeep, why, sizeof why),
               begins = ros2_upkeep_begins(e->upkeep);
    for (size_t i = 0; i < e->n; i++) {
        if (e->at[i].action) {
            ros2_action_notice(e->at[i].action);
        }
    }
    bool cancels = false; // of what moves the robot
    for (size_t i = 0; i < e->n; i++) {
        const served *s = &e->at[i];
        cancels = cancels || (s->action && moves(s) && ros2_action_cancels(s->action));
    }
    for (size_t i = 0; i < e->n; i++) {
        const served *s = &e->at[i];
        if (s->service) {
            ros2_service_poll(s->service, host_ns);
            continue;
        }
        const bool no = (s->nav2 && (begins || (held && moves(s)))) || (waits && moves(s));
        ros2_action_poll(s->action,
                         no ? ROS2_HELD
                         : (cancels && moves(s)) || ros2_action_cancels(s->action)
                             ? ROS2_BEHIND_CANCEL
                             : ROS2_FREE,
                         host_ns);
    }
}

void ros2_errands_give_up(ros2_errands *e, const char *why)
{
    for (size_t i = 0; i < e->n; i++) {
        const served *s = &e->at[i];
        if (s->action && moves(s)) {
            ros2_action_give_up(s->action, why);
        }
    }
}

bool ros2_errands_lack(ros2_errands *e, ros2_node *n, dds_entity_t cmd_vel_in,
                       char why[PONS_OUTSIDE_TEXT_MAX])
{
    bool waits = false;
    for (size_t i = 0; i < e->n && !waits; i++) {
        const served *s = &e->at[i];
        waits = s->nav2 && !s->nav2->still && ros2_action_busy(s->action);
    }
    if (!waits || ros2_upkeep_holds(e->upkeep, why, PONS_OUTSIDE_TEXT_MAX)) {
        return waits;
    }
    char line[96];
    const bool silent = cmd_vel_in && !ros2_node_matched(cmd_vel_in);
    if (silent && ros2_node_why(n, cmd_vel_in, line, sizeof line)) {
        snprintf(why, PONS_OUTSIDE_TEXT_MAX, "%s", line);
    } else if (silent) {
        snprintf(why, PONS_OUTSIDE_TEXT_MAX, "%s, Nav2 should: see `pons ros2 setup`", line);
    }
    return silent;
}

// ---- the loop thread ----------------------------------------------------------------------------

static int unknown_code(const served *s)
{
    return s->nav2 ? s->nav2->unknown : PONS_SKILL_OWN_ERRORS;
}

void ros2_errands_begin(ros2_errands *e, const pons_external_goal_request *goal)
{
    const served *s = serves(e, goal->skill);
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    if (!s) {
        ros2_upkeep_begin(e->upkeep, goal);
        return;
    }
    const ros2_order o = {e->c, e->world, s->service ? NULL : ros2_action_goal(s->action),
                          goal, why,      sizeof why};
    pons_autovalue v = NULL;
    if (!s->nav2 || !s->nav2->still || !ros2_upkeep_holds(e->upkeep, why, sizeof why)) {
        v = s->nav2 ? s->nav2->goal(&o) : ros2_own_goal(s->own, goal->args);
    }
    if (v && s->service) {
        ros2_service_begin(s->service, goal->goal_id, v, e->c->map);
        return;
    }
    if (v) {
        ros2_action_begin(s->action, goal->goal_id, v, e->c->map);
        return;
    }
    refused *r = &e->refused[e->n_refused++ % ROS2_GOALS_MAX];
    snprintf(r->id, sizeof r->id, "%s", goal->goal_id);
    snprintf(r->why, sizeof r->why, "UNKNOWN: %.140s", why);
    r->code = unknown_code(s);
}

static void take_feedback(const pons_value *f, pons_external_goal *ret)
{
    const pons_value *left = pons_get(f, "estimated_time_remaining"),
                     *took = pons_get(f, "navigation_time");
    ret->distance_m = pons_get_num(f, "distance_remaining", NAN);
    ret->eta_s = pons_get_num(left, "sec", NAN) + 1e-9 * pons_get_num(left, "nanosec", NAN);
    ret->time_s = pons_get_num(took, "sec", NAN) + 1e-9 * pons_get_num(took, "nanosec", NAN);
    ret->recoveries = (int)pons_get_int(f, "number_of_recoveries", 0);
}

static void failed(const ros2_errands *e, const served *s, const ros2_progress *p,
                   pons_external_goal *ret)
{
    const int64_t code = pons_get_int(p->result, "error_code", 0);
    const bool usable = code > 0 && code < INT_MAX && !(code >= BODYS_LOW && code <= BODYS_HIGH);
    const char *msg = pons_get_str(p->result, "error_msg", "");
    msg = *msg ? msg : pons_get_str(p->result, "message", "");
    msg = *msg                                             ? msg
          : s->nav2 && strcmp(e->c->distro, "humble") == 0 ? "Humble gives no reason"
                                                           : "it gives no reason";
    ret->state = PONS_ERRAND_FAILED;
    ret->error_code = usable ? (int)code : unknown_code(s);
    snprintf(ret->text, sizeof ret->text, "%.40s gave up: %.100s", s->who, msg);
}

static void take_end(const ros2_errands *e, const served *s, const ros2_progress *p,
                     pons_external_goal *ret)
{
    const char *format = "%s";
    switch (p->end) {
    case ROS2_END_NONE:
        return;
    case ROS2_END_SUCCEEDED:
        ret->state = PONS_ERRAND_DONE;
        if (json_is_false(pons_get(p->result, "success"))) {
            failed(e, s, p, ret);
        }
        return;
    case ROS2_END_ABORTED:
        failed(e, s, p, ret);
        return;
    case ROS2_END_UNKNOWN:
        ret->state = PONS_ERRAND_UNKNOWN;
        snprintf(ret->text, sizeof ret->text, "%.40s%s%.100s", s->who, *p->text == '\'' ? "" : " ",
                 p->text);
        return;
    case ROS2_END_ENDED:
        ret->state = PONS_ERRAND_CANCELED;
        ret->error_code = unknown_code(s);
        snprintf(ret->text, sizeof ret->text, "canceled in %.40s", s->who);
        return;
    case ROS2_END_CANCELED:
        format = "UNKNOWN: somebody else canceled it in %.40s";
        break;
    case ROS2_END_REFUSED:
        format = "UNKNOWN: %.40s did not take the goal";
        break;
    case ROS2_END_NO_SERVER:
        format = "UNKNOWN: %.40s does not serve it: ";
        break;
    case ROS2_END_BEHIND:
        format = "UNKNOWN: it was not sent to %.40s: ";
        break;
    case ROS2_END_BAD_GOAL:
        format = "UNKNOWN: it is no goal for %.40s: ";
        break;
    case ROS2_END_GIVEN_UP:
        format = "UNKNOWN: canceled in %.40s: ";
        break;
    }
    char begins[96];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(begins, sizeof begins, format, s->who);
#pragma GCC diagnostic pop
    const bool more = p->end == ROS2_END_NO_SERVER || p->end == ROS2_END_BEHIND ||
                      p->end == ROS2_END_BAD_GOAL || p->end == ROS2_END_GIVEN_UP;
    ret->state = PONS_ERRAND_FAILED;
    ret->error_code = unknown_code(s);
    snprintf(ret->text, sizeof ret->text, "%.60s%.90s", begins, more ? p->text : "");
}

void ros2_errands_look(ros2_errands *e, const char *goal_id, pons_external_goal *ret)
{
    *ret = (pons_external_goal){.distance_m = NAN, .eta_s = NAN, .time_s = NAN};
    for (size_t i = 0; i < e->n; i++) {
        const served *s = &e->at[i];
        ros2_progress p;
        if (!(s->service ? ros2_service_look(s->service, goal_id, &p)
                         : ros2_action_look(s->action, goal_id, &p))) {
            continue;
        }
        const int64_t state = pons_get_int(p.feedback, "state", 0);
        ret->state = PONS_ERRAND_RUNS;
        ret->docking =
            strcmp(s->skill, "undock") == 0 || (strcmp(s->skill, "dock_to_charger") == 0 &&
                                                (state == CONTROLLING || state == WAIT_FOR_CHARGE));
        take_feedback(p.feedback, ret);
        take_end(e, s, &p, ret);
        pons_value_unref(p.feedback);
        ret->answer = p.result;
        return;
    }
    if (ros2_upkeep_look(e->upkeep, goal_id, ret)) {
        return;
    }
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (strcmp(e->refused[i].id, goal_id) == 0) {
            ret->state = PONS_ERRAND_FAILED;
            ret->error_code = e->refused[i].code;
            snprintf(ret->text, sizeof ret->text, "%s", e->refused[i].why);
        }
    }
}

void ros2_errands_end(ros2_errands *e, const char *goal_id)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->at[i].service) {
            ros2_service_leave(e->at[i].service, goal_id);
        } else {
            ros2_action_end(e->at[i].action, goal_id);
        }
    }
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (strcmp(e->refused[i].id, goal_id) == 0) {
            e->refused[i].id[0] = '\0';
        }
    }
    ros2_upkeep_end(e->upkeep, goal_id);
}
