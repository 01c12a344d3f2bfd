// nav2_services.c - Nav2's services as pons's skills.
//
//     clear_costmaps     {costmap?: local, global or both}   COSTMAP/clear_entirely_…_costmap, one or both
//     navigation_state   {}                                  what lifecycle.c asks; the answer says it
//     manage_navigation  {command: resume, …}                MANAGER/manage_nodes; a person's approval
//
// To clear what is clear does no harm: a clearing that is not answered has failed, and may be done again. What became
// of a command that is not answered nobody knows.
#include "drivers/ros2/nav2_services.h"

#include "drivers/dds/service_client.h"
#include "drivers/ros2/lifecycle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE   "ros2"
#define MANAGE_S 90.0 // a start brings up every node, one after the other

typedef enum kind { CLEAR, STATE, MANAGE } kind;
enum { LOCAL, GLOBAL, COMMAND, SERVICES };

typedef struct goal {
    char id[256]; // "": none
    kind kind;
    bool asked[SERVICES];
} goal;

struct ros2_upkeep {
    const ros2_config *c;
    ros2_lifecycle *lifecycle;        // NULL: there is no manager to ask
    ros2_service *services[SERVICES]; // NULL: there is none
    goal goals[ROS2_GOALS_MAX];       // loop thread
};

static const char *const commands[] = {"startup", "pause", "resume", "reset", "shutdown"};

// Never called: the robot carries them out.
static void nobody_steps(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    pons_skill_fail(ret, PONS_SKILL_OWN_ERRORS, "the robot's own software carries this out");
}

#define SERVICE_TOLD "{\"interface_type\":\"ros2_service\"}"

static const pons_skill records[ROS2_UPKEEP_MAX] = {
    [CLEAR] = {.abi = PONS_SKILL_ABI,
               .name = "clear_costmaps",
               .description =
                   "Make the robot's navigation forget the obstacles that it has seen: its local "
                   "costmap, its global one, or both. What is still there is seen again. Worth a "
                   "try when there is no way although there should be one.",
               .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                              "\"costmap\":{\"enum\":[\"local\",\"global\",\"both\"]}}}",
               .timeout_s = 20.0,
               .success_criteria = "each of the costmaps has answered that it is clear",
               .error_map = "{\"default\":\"retry\"}",
               .phrases = "[{\"say\":[\"clear [the] costmaps\",\"forget [the] obstacles\","
                          "\"清除代价地图\",\"清空代价地图\"]}]",
               .reported = SERVICE_TOLD,
               .step = nobody_steps},
    [STATE] = {.abi = PONS_SKILL_ABI,
               .name = "navigation_state",
               .description = "Ask whether the robot's navigation is active; answer.active and "
                              "answer.nodes say it, null where nobody answers.",
               .args_schema = "{\"type\":\"object\",\"additionalProperties\":false}",
               .timeout_s = 20.0,
               .success_criteria = "the answer says the state of each node that could be asked",
               .error_map = "{\"default\":\"retry\"}",
               .phrases = "[{\"say\":[\"is [the] navigation active\",\"导航启动了吗\"]}]",
               .reported = SERVICE_TOLD,
               .step = nobody_steps},
    [MANAGE] = {.abi = PONS_SKILL_ABI,
                .name = "manage_navigation",
                .description = "Start, pause, resume, reset or shut down the robot's navigation, "
                               "as its lifecycle manager does.",
                .args_schema =
                    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"command\"]"
                    ",\"properties\":{\"command\":{\"enum\":[\"startup\",\"pause\",\"resume\","
                    "\"reset\",\"shutdown\"]}}}",
                .requires_approval = true,
                .ask_on_unknown = true,
                .timeout_s = 120.0,
                .success_criteria = "the lifecycle manager has answered that it is done",
                .error_map = "{\"default\":\"ask_human\"}",
                .reported = SERVICE_TOLD,
                .step = nobody_steps}};

int ros2_upkeep_open(ros2_node *n, ros2_types *t, const ros2_config *c, ros2_upkeep **ret,
                     pons_error *err)
{
    ros2_upkeep *u = calloc(1, sizeof *u);
    if (!u) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for Nav2's services");
    }
    char manage[ROS2_NAME_MAX + 16];
    const char *manager = c->lifecycle_manager;
    u->c = c;
    snprintf(manage, sizeof manage, "%s%s", manager, *manager ? "/manage_nodes" : "");
    const struct {
        const char *name, *type;
        double answer_s;
    } all[SERVICES] = {
        [LOCAL] = {c->clear_local, "nav2_msgs/srv/ClearEntireCostmap", c->answer_s},
        [GLOBAL] = {c->clear_global, "nav2_msgs/srv/ClearEntireCostmap", c->answer_s},
        [COMMAND] = {manage, "nav2_msgs/srv/ManageLifecycleNodes", MANAGE_S}};
    int rc = PONS_OK;
    for (int i = 0; i < SERVICES && rc >= 0; i++) {
        rc = *all[i].name ? ros2_service_open(n, t, all[i].name, all[i].type, c->server_s,
                                              all[i].answer_s, &u->services[i], err)
                          : rc;
    }
    rc = rc < 0 || !*manager ? rc : ros2_lifecycle_open(n, t, c, &u->lifecycle, err);
    if (rc < 0) {
        ros2_upkeep_close(u);
        return rc;
    }
    *ret = u;
    return PONS_OK;
}

void ros2_upkeep_close(ros2_upkeep *u)
{
    if (!u) {
        return;
    }
    for (int i = 0; i < SERVICES; i++) {
        ros2_service_close(u->services[i]);
    }
    ros2_lifecycle_close(u->lifecycle);
    free(u);
}

static bool has(const ros2_upkeep *u, int which)
{
    return which == CLEAR   ? u->services[LOCAL] || u->services[GLOBAL]
           : which == STATE ? u->lifecycle != NULL
                            : u->services[COMMAND] != NULL;
}

size_t ros2_upkeep_skills(const ros2_upkeep *u, const pons_skill **ret)
{
    size_t n = 0;
    for (int i = 0; i < ROS2_UPKEEP_MAX; i++) {
        if (has(u, i)) {
            ret[n++] = &records[i];
        }
    }
    return n;
}

static int kind_of(const ros2_upkeep *u, const char *skill)
{
    for (int i = 0; i < ROS2_UPKEEP_MAX; i++) {
        if (has(u, i) && strcmp(records[i].name, skill) == 0) {
            return i;
        }
    }
    return -1;
}

bool ros2_upkeep_takes(const ros2_upkeep *u, const char *skill)
{
    return kind_of(u, skill) >= 0;
}

void ros2_upkeep_poll(ros2_upkeep *u, int64_t host_ns)
{
    for (int i = 0; i < SERVICES; i++) {
        if (u->services[i]) {
            ros2_service_poll(u->services[i], host_ns);
        }
    }
    if (u->lifecycle) {
        ros2_lifecycle_poll(u->lifecycle, host_ns);
    }
}

bool ros2_upkeep_holds(ros2_upkeep *u, char *why, size_t cap)
{
    return u->lifecycle && ros2_lifecycle_holds(u->lifecycle, why, cap);
}

bool ros2_upkeep_begins(ros2_upkeep *u)
{
    return u->lifecycle && ros2_lifecycle_begins(u->lifecycle);
}

// ---- the loop thread ----------------------------------------------------------------------------

static goal *find(ros2_upkeep *u, const char *id)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (strcmp(u->goals[i].id, id) == 0) {
            return &u->goals[i];
        }
    }
    return NULL;
}

static void ask(ros2_upkeep *u, goal *g, int service, const pons_value *request)
{
    if (u->services[service]) {
        g->asked[service] = true;
        ros2_service_begin(u->services[service], g->id, request, u->c->map);
    }
}

void ros2_upkeep_begin(ros2_upkeep *u, const pons_external_goal_request *goal_)
{
    goal *g = find(u, goal_->goal_id) ? NULL : find(u, "");
    if (!g || !*goal_->goal_id) {
        return;
    }
    *g = (goal){.kind = (kind)kind_of(u, goal_->skill)};
    snprintf(g->id, sizeof g->id, "%s", goal_->goal_id);
    const char *which = pons_get_str(goal_->args, "costmap", "both"),
               *command = pons_get_str(goal_->args, "command", "");
    pons_autovalue nothing = json_object();
    switch (g->kind) {
    case CLEAR:
        for (int i = LOCAL; i <= GLOBAL; i++) {
            if (strcmp(which, i == LOCAL ? "global" : "local") != 0) {
                ask(u, g, i, nothing);
            }
        }
        return;
    case STATE:
        ros2_lifecycle_ask(u->lifecycle, g->id);
        return;
    case MANAGE:
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
            if (strcmp(command, commands[i]) == 0) {
                pons_autovalue request = pons_object("command", json_integer((json_int_t)i), NULL);
                ask(u, g, COMMAND, request);
            }
        }
        return;
    }
}

static void fail(pons_external_goal *ret, const char *what, const char *why)
{
    ret->state = PONS_ERRAND_FAILED;
    ret->error_code = PONS_SKILL_OWN_ERRORS;
    snprintf(ret->text, sizeof ret->text, "%.60s%.90s", what, why);
}

// One call's share in the goal's state. The first that failed says how.
static void take_end(const goal *g, const ros2_progress *p, pons_external_goal *ret)
{
    if (p->end == ROS2_END_NONE || ret->state == PONS_ERRAND_FAILED ||
        ret->state == PONS_ERRAND_UNKNOWN) {
        return;
    }
    const bool refused =
        p->end == ROS2_END_SUCCEEDED && json_is_false(pons_get(p->result, "success"));
    if (p->end == ROS2_END_NO_SERVER) {
        fail(ret, "UNKNOWN: Nav2 does not serve it: ", p->text);
    } else if (p->end == ROS2_END_UNKNOWN && g->kind == MANAGE) {
        ret->state = PONS_ERRAND_UNKNOWN;
        snprintf(ret->text, sizeof ret->text, "Nav2%s%.100s", *p->text == '\'' ? "" : " ", p->text);
    } else if (p->end == ROS2_END_UNKNOWN) {
        fail(ret, *p->text == '\'' ? "UNKNOWN: Nav2" : "UNKNOWN: Nav2 ", p->text);
    } else if (p->end == ROS2_END_BAD_GOAL) {
        fail(ret, "UNKNOWN: it is no request: ", p->text);
    } else if (refused) {
        fail(ret, "Nav2 could not do it",
             g->kind == CLEAR ? ": it has not cleared the costmap" : "");
    }
}

bool ros2_upkeep_look(ros2_upkeep *u, const char *goal_id, pons_external_goal *ret)
{
    const goal *g = *goal_id ? find(u, goal_id) : NULL;
    if (!g) {
        return false;
    }
    *ret = (pons_external_goal){
        .state = PONS_ERRAND_RUNS, .distance_m = NAN, .eta_s = NAN, .time_s = NAN};
    bool over = true, asked = g->kind == STATE;
    for (int i = 0; i < SERVICES; i++) {
        ros2_progress p = {.end = ROS2_END_UNKNOWN};
        if (!g->asked[i]) {
            continue;
        }
        asked = true;
        ros2_service_look(u->services[i], g->id, &p);
        over = over && p.end != ROS2_END_NONE;
        take_end(g, &p, ret);
        pons_value_unref(p.result);
    }
    if (g->kind == STATE) {
        ret->answer = ros2_lifecycle_answer(u->lifecycle, g->id);
        over = ret->answer != NULL;
    }
    if (!asked) {
        fail(ret, "UNKNOWN: config/ros2.yaml names no such costmap", "");
    }
    if (!over) { // all of them are waited for
        ret->state = PONS_ERRAND_RUNS;
    } else if (ret->state == PONS_ERRAND_RUNS) {
        ret->state = PONS_ERRAND_DONE;
    }
    return true;
}

void ros2_upkeep_end(ros2_upkeep *u, const char *goal_id)
{
    goal *g = *goal_id ? find(u, goal_id) : NULL;
    if (!g) {
        return;
    }
    bool over = true;
    for (int i = 0; i < SERVICES; i++) {
        if (u->services[i]) {
            ros2_service_leave(u->services[i], goal_id);
            over = over && !ros2_service_knows(u->services[i], goal_id);
        }
    }
    if (u->lifecycle) {
        ros2_lifecycle_end(u->lifecycle, goal_id);
    }
    if (over) { // else what the services have not answered yet is waited for
        *g = (goal){.kind = CLEAR};
    }
}
