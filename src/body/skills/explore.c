// explore.c - explore: makes the map of a place, or extends a saved one, and drives back to the world's start.
//
//     UNDOCK --> LOOK --> DRIVE --> ARRIVED      no frontier is left
//                          ^ |         |         DRIVE ------------> HOME --> SAVE --> done
//                          | +- next --+           ^                  |
//                          +-----------+           +--- a new one ----+
//
// The mapper lists the frontiers, the best first (frontiers.c). The navigator drives to a frontier as to any other goal, so
// walls, people and the velocity gate count as always. The robot stops at the nearest pose that sees a part of the frontier
// (`stand`). If a corner hides the rest, the robot drives on to the pose in front of the middle (`front`).
//
// The robot leaves a frontier for another one when
//
//     the frontier is no longer in the map          mostly because the lidar has seen it on the way
//     a round that begins with another is shorter   by BETTER_M at least
//     the frontier cannot be reached
//
// A frontier is banned, with its surroundings, if it cannot be reached. It is also banned if the robot has looked at it and the
// map still has it: it is behind glass, or behind a gap that no beam enters. A frontier that the navigator failed to reach is
// tried once more at the end, because a person in the way may have gone. If the robot's own SLAM makes the map, all banned
// frontiers are tried once more, because that SLAM skips scans that are close to one it has.
//
// A held goal continues where the robot was. A goal that starts again, after a stop or a crash, begins with the saved map,
// which has the same frontiers.
#include "body/mapping/mapper.h"
#include "body/skills/skills.h"
#include "pons/buf.h"

#include <stdio.h>
#include <string.h>

enum { PHASE_UNDOCK, PHASE_LOOK, PHASE_DRIVE, PHASE_ARRIVED, PHASE_HOME, PHASE_SAVE };
enum { BANS_MAX = 36, IN_VAIN_MAX = 24 };

#define TIMEOUT_S   14400.0
#define LOOK_S      8.0 // wait for a map with free floor, added to the mapper's own wait
#define SAVE_S      60.0
#define GAIN_M2     0.25 // growth of the reachable floor that counts as progress
#define SAME_M      0.6  // two frontiers that are nearer than this, in two maps, are the same one
#define BAN_M       0.5  // radius around a banned frontier
#define BETTER_M    1.0  // a round shorter by this much makes another frontier the goal
#define UNDER_WAY_M 0.6  // with less left to drive, the robot does not change its goal

typedef struct ban {
    float x, y;
    bool again; // the way was blocked, or the SLAM may have skipped the scan: it is tried once more
} ban;

typedef struct exploration { // in the run's state
    pons__frontier target;
    bool in_front; // its stand did not show it whole: the robot drives to its front
    uint32_t maps; // number of maps when it was chosen, or checked last
    int n_bans;
    bool again;     // the second try of banned frontiers has begun
    bool full;      // more bans than BANS_MAX, or IN_VAIN_MAX goals without progress: no more goals
    int in_vain;    // goals chosen since the reachable floor grew
    float floor_m2; // the reachable floor when it grew last
    int lost;       // the navigator's error on the way home; 0: none
    char why[PONS__SKILL_MSG_MAX];
    ban bans[BANS_MAX];
} exploration;
_Static_assert(sizeof(exploration) <= PONS_SKILL_STATE_MAX, "it fits");

static exploration *state_of(pons__skill_run *r)
{
    return (exploration *)r->state;
}

static bool is_banned(const exploration *e, const pons__frontier *f)
{
    for (int i = 0; i < e->n_bans; i++) {
        if (hypot((double)e->bans[i].x - f->x, (double)e->bans[i].y - f->y) < BAN_M) {
            return true;
        }
    }
    return false;
}

static void add_ban(exploration *e, bool again)
{
    if (e->n_bans == BANS_MAX) {
        e->full = true;
        return;
    }
    e->bans[e->n_bans++] = (ban){(float)e->target.x, (float)e->target.y, again && !e->again};
}

// Lifts the bans of frontiers that are to be tried once more. False: there are none.
static bool lift_bans(exploration *e)
{
    int kept = 0;
    for (int i = 0; i < e->n_bans; i++) {
        if (!e->bans[i].again) {
            e->bans[kept++] = e->bans[i];
        }
    }
    const bool any = kept < e->n_bans;
    e->n_bans = kept;
    e->again = e->again || any;
    return any;
}

static const pons__frontier *best_frontier(const exploration *e, const pons__frontiers *all)
{
    for (int i = 0; i < all->n && !e->full; i++) {
        if (!is_banned(e, &all->at[i])) {
            return &all->at[i];
        }
    }
    return NULL;
}

// The target as it is in a newer map; NULL: that map does not have it.
static const pons__frontier *same_frontier(const exploration *e, const pons__frontiers *all)
{
    for (int i = 0; i < all->n; i++) {
        if (hypot(all->at[i].x - e->target.x, all->at[i].y - e->target.y) < SAME_M) {
            return &all->at[i];
        }
    }
    return NULL;
}

static void drive_to(const pons__skill_env *env, pons_pose2 pose, bool any_yaw)
{
    pons_error err = PONS_ERROR_INIT;
    const pons__nav_goal goal = {.poses = &pose, .any_yaw = &any_yaw, .n = 1};
    pons__nav_go(env->nav, &goal, env->robot_ns, &err); // its fault shows at the next step
}

static pons_pose2 stand_of(const exploration *e, const pons__frontier *f)
{
    return e->in_front ? f->front : f->stand;
}

static void go(pons__skill_run *r, const pons__skill_env *env, const pons__frontier *f,
               bool in_front)
{
    exploration *e = state_of(r);
    e->target = *f;
    e->in_front = in_front;
    e->maps = pons__mapper_newest(env->mapper)->maps;
    if (r->phase != PHASE_DRIVE) {
        pons__skill_phase(r, env, PHASE_DRIVE);
    }
    drive_to(env, stand_of(e, f), true);
}

// The next frontier, or home.
static void choose(pons__skill_run *r, const pons__skill_env *env)
{
    exploration *e = state_of(r);
    const pons__frontiers *all = &pons__mapper_newest(env->mapper)->frontiers;
    if (all->reachable_m2 > (double)e->floor_m2 + GAIN_M2) {
        e->floor_m2 = (float)all->reachable_m2;
        e->in_vain = 0;
    }
    e->in_vain++;
    e->full = e->full || e->in_vain > IN_VAIN_MAX; // a frontier may flicker for ever
    const pons__frontier *next = best_frontier(e, all);
    if (!next && lift_bans(e)) {
        next = best_frontier(e, all);
    }
    if (next) {
        go(r, env, next, false);
        return;
    }
    pons__skill_phase(r, env, PHASE_HOME);
    drive_to(env, r->goal, false);
}

static void begin(pons__skill_run *r, const pons__skill_env *env)
{
    pons__mapper_start(env->mapper, env->pose, env->odom);
    state_of(r)->maps = pons__mapper_newest(env->mapper)->maps;
    pons__skill_phase(r, env, PHASE_LOOK);
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    *state_of(r) = (exploration){0};
    pons__pose_read(pons_get(env->world, "start"), &r->goal);
    r->timeout_s = pons_get_num(r->args, "timeout_s", TIMEOUT_S);
    pons__nav_cancel(env->nav); // what it had been taken over from
    if (env->on_charger) {
        r->phase = PHASE_UNDOCK;
    } else {
        begin(r, env);
    }
}

static void look(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons__mapper_output *made = pons__mapper_newest(env->mapper);
    const double wait_s = LOOK_S + pons__mapper_wait_s(env->mapper);
    if (made->maps != state_of(r)->maps && made->frontiers.reachable_m2 > 0.0) {
        choose(r, env);
    } else if (pons__skill_in_phase_s(r, env) > wait_s) {
        pons__skill_fail(ret, PONS__NOTHING_SEEN,
                         "NOTHING_SEEN: in %.0f s the lidar has shown no free floor that is "
                         "large enough for the robot",
                         wait_s);
    }
}

// One control step of the navigator.
static pons__nav_status steer(const pons__skill_env *env, pons__skill_output *ret,
                              pons__nav_output *out)
{
    pons__nav_step(env->nav, env->robot_ns, env->pose, env->twist, env->scan, out);
    ret->cmd = out->cmd;
    ret->distance_m = out->distance_remaining_m;
    ret->recoveries = out->recoveries;
    ret->node = pons__nav_tree_at(env->nav);
    return out->status;
}

// A newer map may have done away with the target, or shown a much better one.
static void look_again(pons__skill_run *r, const pons__skill_env *env, double left_m)
{
    exploration *e = state_of(r);
    const pons__mapper_output *made = pons__mapper_newest(env->mapper);
    if (made->maps == e->maps) {
        return;
    }
    e->maps = made->maps;
    const pons__frontier *now = same_frontier(e, &made->frontiers),
                         *best = best_frontier(e, &made->frontiers);
    if (!now || (best && best != now && best->round_m < now->round_m - BETTER_M &&
                 !(left_m < UNDER_WAY_M))) {
        choose(r, env);
    } else if (hypot(stand_of(e, now).x - stand_of(e, &e->target).x,
                     stand_of(e, now).y - stand_of(e, &e->target).y) > 0.5 * SAME_M) {
        go(r, env, now, e->in_front);
    } else {
        e->target.x = now->x;
        e->target.y = now->y;
    }
}

static void drive(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    pons__nav_output out;
    const pons__nav_status status = steer(env, ret, &out);
    if (status == PONS_NAV_RUNNING) {
        look_again(r, env, out.distance_remaining_m);
        return;
    }
    if (status == PONS_NAV_SUCCEEDED) {
        pons__skill_phase(r, env, PHASE_ARRIVED);
        return;
    }
    add_ban(state_of(r), true);
    choose(r, env);
}

// Bans the frontier if the map still has it after the robot has looked at it from its stand and from its front.
static void arrived(pons__skill_run *r, const pons__skill_env *env)
{
    exploration *e = state_of(r);
    const pons__mapper_output *made = pons__mapper_newest(env->mapper);
    if (made->scan_ns <= r->phase_ns &&
        pons__skill_in_phase_s(r, env) < pons__mapper_wait_s(env->mapper)) {
        return;
    }
    const pons__frontier *still = same_frontier(e, &made->frontiers);
    if (still && !e->in_front && // a corner may hide most of it
        hypot(still->front.x - env->pose.x, still->front.y - env->pose.y) > 0.5 * SAME_M) {
        go(r, env, still, true);
        return;
    }
    if (still) {
        add_ban(e, pons__mapper_is_robots(env->mapper));
    }
    choose(r, env);
}

static void go_home(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    exploration *e = state_of(r);
    const pons__mapper_output *made = pons__mapper_newest(env->mapper);
    pons__nav_output out;
    const pons__nav_status status = steer(env, ret, &out);
    if (status == PONS_NAV_FAILED) {
        e->lost = out.error_code;
        pons_utf8_copy(e->why, sizeof e->why, out.error_msg);
    }
    if (status != PONS_NAV_RUNNING) {
        pons__mapper_stop(env->mapper);
        pons__skill_phase(r, env, PHASE_SAVE);
    } else if (made->maps != e->maps) {
        e->maps = made->maps;
        const pons__frontier *next = best_frontier(e, &made->frontiers);
        if (next) {
            go(r, env, next, false);
        }
    }
}

// The map is on the disk.
static void end(const exploration *e, const pons__frontiers *all, pons__skill_output *ret)
{
    if (e->lost != 0) {
        pons__skill_fail(ret, e->lost,
                         "%s: the map is saved, but the robot has not come back: %.300s",
                         pons__nav_error_word(e->lost), e->why);
        return;
    }
    const char *but = all->at_edge ? "the place goes on beyond the world's bounds" : "";
    if (e->full) {
        but = "too many frontiers are in vain, so some were not tried";
    }
    ret->status = PONS__SKILL_DONE;
    snprintf(ret->error_msg, sizeof ret->error_msg, "%s", but);
}

static void wait_for_disk(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (pons__mapper_state_of(env->mapper) == PONS__MAPPER_IDLE) {
        end(state_of(r), &pons__mapper_newest(env->mapper)->frontiers, ret);
    } else if (pons__skill_in_phase_s(r, env) > SAVE_S) {
        pons__skill_fail(ret, PONS__MAPPING_FAILED,
                         "MAPPING_FAILED: the map is not on the disk after %.0f s", SAVE_S);
    }
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (pons__mapper_state_of(env->mapper) == PONS__MAPPER_FAILED) {
        pons__skill_fail(ret, PONS__MAPPING_FAILED, "MAPPING_FAILED: %.350s",
                         pons__mapper_fault(env->mapper));
        return;
    }
    switch (r->phase) {
    case PHASE_UNDOCK:
        if (pons__undock_step(r, env, ret) && ret->status == PONS__SKILL_RUNNING) {
            begin(r, env);
        }
        break;
    case PHASE_LOOK:
        look(r, env, ret);
        break;
    case PHASE_DRIVE:
        drive(r, env, ret);
        break;
    case PHASE_ARRIVED:
        arrived(r, env);
        break;
    case PHASE_HOME:
        go_home(r, env, ret);
        break;
    default:
        wait_for_disk(r, env, ret);
    }
}

static bool navigates(const pons__skill_run *r)
{
    return r->phase == PHASE_DRIVE || r->phase == PHASE_HOME;
}

static void stop(pons__skill_run *r, const pons__skill_env *env)
{
    if (navigates(r)) {
        pons__nav_cancel(env->nav);
    }
    if (r->phase != PHASE_UNDOCK) {
        pons__mapper_stop(env->mapper);
    }
}

static void hold(pons__skill_run *r, const pons__skill_env *env)
{
    if (navigates(r)) {
        pons__nav_hold(env->nav, env->robot_ns);
    }
}

static void resume(pons__skill_run *r, const pons__skill_env *env)
{
    if (navigates(r)) {
        pons__nav_resume(env->nav, env->robot_ns);
    }
}

const pons__skill pons__skill_explore = {
    .name = "explore",
    .description = "Drive around until all of the place is in the map, save it, and come back to "
                   "where the map begins.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"timeout_s\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":86400}}}",
    .needs_base = true,
    .moves = true,
    .needs_pose = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = TIMEOUT_S,
    .success = "no frontier is left that the robot can reach, the map is on the disk, and the "
               "robot stands at the start",
    .error_map = "{\"9901\":\"retry\",\"9902\":\"ask_human\",\"9903\":\"retry\",\"9904\":\"ask_"
                 "human\",\"9907\":\"ask_human\","
                 "\"9910\":\"ask_human\",\"9911\":\"ask_human\",\"default\":\"retry\"}",
    .phrases =
        "[{\"say\":[\"explore\",\"explore the place\",\"explore the house\",\"explore this "
        "place\",\"make a map\","
        "\"map the "
        "house\",\"探索\",\"探索一下\",\"探索这里\",\"建图\",\"建一张地图\",\"熟悉一下环境\"]}]",
    .start = start,
    .step = step,
    .stop = stop,
    .hold = hold,
    .resume = resume,
};
