// registry.c - the registry of skills, and what they have in common.
//
// The body's own skills are in the table below; those of modules (pons/ext/skill.h) join them when the
// body is created, through an adapter (module_skill.c). From there on there is no difference.
//
// A skill is a record of functions over a pons__skill_run, the small state of one goal. It sees an
// environment that was filled just now and answers with a velocity it would like and whether it is
// done. It never waits, never writes to the wheels (the safety gate does), and never knows who
// asked for it.
//
//     start -> step … step -> done | failed -> stop
//                | ^
//      hold: stop| |resume        (brain lost, adopted again)
//                v |
//               held
//
// A skill's time-out is that of its record, or what its run has come to know: a journey's follows
// from its way, a motion's from what the goal allows.
//
// Times are robot time. While a goal is held its clocks stand still: resume moves them forward by
// the time that was spent.
//
// A skill that means places of the map is not stepped while the pose is in doubt: it stands, as if
// it were held, and is not done, whatever its own measure says. When the pose is found again it goes
// on; when it is not, or not soon, the skill fails with LOCALIZATION_LOST, for nobody knows where
// the robot has been. A skill that moves stands likewise while the robot lacks something that its driver
// names (ext/outside.h), and fails with ROBOT_LACKS when that does not come back.
//
// error_map answers what a decision maker should try for an error number: retry, replan, ask_human
// or abort; "default" is for all others.
#include "body/skills/skills.h"
#include "pons/clock.h"

#include <string.h>

#define SCAN_WAIT_S 3.0  // a silent lidar ends a motion after this long
#define DOUBT_MAX_S 20.0 // and a pose that is not found again, one that needs it

static const pons__skill *const own[] = {
    &pons__skill_navigate,     &pons__skill_navigate_through,
    &pons__skill_stop_base,    &pons__skill_dock,
    &pons__skill_undock,       &pons__skill_speak,
    &pons__skill_wait,         &pons__skill_spin,
    &pons__skill_back_up,      &pons__skill_drive,
    &pons__skill_by_hand,      &pons__skill_look,
    &pons__skill_pick,         &pons__skill_place,
    &pons__skill_move_to,      &pons__skill_home,
    &pons__skill_open_gripper, &pons__skill_close_gripper,
    &pons__skill_follow,       &pons__skill_follow_joints,
    &pons__skill_explore,
};
#define N_OWN (sizeof own / sizeof own[0])
_Static_assert(N_OWN + PONS_BODY_SKILLS_MAX + PONS__ROBOTS_MAX <= PONS__SKILLS_MAX,
               "there is a place for each");

// A robot that stands has no use for what drives, one without an arm none for what grasps, and where no charger is
// nothing is driven onto, and a map that does not grow is not explored.
static bool of_use(const pons__skill *k, unsigned has)
{
    return (!k->needs_arm || (has & PONS__WITH_ARM)) &&
           (!(k->needs_base && k->moves) || (has & PONS__WITH_WHEELS)) &&
           (k != &pons__skill_dock || (has & PONS__WITH_CHARGER)) &&
           (k != &pons__skill_explore || (has & PONS__WITH_MAPPER));
}

static pons_value *parse_constant(const char *text)
{
    pons_value *v = NULL;
    pons_value_parse(text, strlen(text), &v, NULL);
    return v;
}

static int add(pons__skills *s, const pons__skill *k, pons_error *err)
{
    if (pons__skills_find(s, k->name, NULL)) {
        return pons_error_set(err, PONS_EEXIST, "body", "there is a skill %s already", k->name);
    }
    pons_autovalue schema = parse_constant(k->args_schema);
    const int rc = pons_schema_compile(schema, &s->schemas[s->n], err);
    if (rc < 0) {
        pons_error_context(err, "skill %s", k->name);
        return rc;
    }
    s->reported[s->n] = k->reported ? parse_constant(k->reported) : NULL;
    s->at[s->n++] = k;
    return PONS_OK;
}

int pons__skills_open(pons__skills *s, unsigned has, const pons_skill *const *modules, size_t n,
                      pons_error *err)
{
    *s = (pons__skills){0};
    if (n > PONS_BODY_SKILLS_MAX) {
        return pons_error_set(err, PONS_EINVAL, "body", "%zu skills of modules, at most %d", n,
                              PONS_BODY_SKILLS_MAX);
    }
    int rc = PONS_OK;
    for (size_t i = 0; i < N_OWN && rc >= 0; i++) {
        rc = of_use(own[i], has) ? add(s, own[i], err) : rc;
    }
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = pons__skill_adapt(modules[i], &s->modules[i], err);
        rc = rc < 0 ? rc : add(s, &s->modules[i], err);
    }
    return rc;
}

int pons__skills_join(pons__skills *s, const pons_robot_ops *robot, void *self, pons_error *err)
{
    const pons_robot_outside_ops *o = pons_robot_outside(robot);
    if (!o || robot->abi < 4u || !o->skills) {
        return PONS_OK;
    }
    size_t n = 0;
    const char *interface = NULL;
    const pons_skill *const *all = o->skills(self, &n, &interface);
    if (n > PONS__ROBOTS_MAX) {
        return pons_error_set(err, PONS_EINVAL, "body", "%zu skills of the robot's own, at most %d",
                              n, PONS__ROBOTS_MAX);
    }
    int rc = PONS_OK;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = pons__skill_adapt(all[i], &s->robots[i], err);
        s->robots[i].interface = interface;
        rc = rc < 0 ? rc : add(s, &s->robots[i], err);
    }
    return rc;
}

int pons__skills_dock(pons__skills *s, unsigned has, pons_error *err)
{
    const bool wanted =
        of_use(&pons__skill_dock, has) && !pons__skills_find(s, pons__skill_dock.name, NULL);
    return wanted ? add(s, &pons__skill_dock, err) : PONS_OK;
}

void pons__skills_close(pons__skills *s)
{
    for (size_t i = 0; i < s->n; i++) {
        pons_schema_destroy(s->schemas[i]);
        pons_value_unref(s->reported[i]);
    }
    *s = (pons__skills){0};
}

const pons__skill *pons__skills_find(const pons__skills *s, const char *name,
                                     const pons_schema **ret_schema)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->at[i]->name, name) == 0) {
            if (ret_schema) {
                *ret_schema = s->schemas[i];
            }
            return s->at[i];
        }
    }
    return NULL;
}

int64_t pons__skills_counted(const pons__skills *s, const pons__skill *k, const char *resource)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->at[i] == k) {
            return pons_get_int(pons_get(s->reported[i], "resources_counted"), resource, 0);
        }
    }
    return 0;
}

static pons_value *registry_item(const pons__skill *k, const pons_value *reported)
{
    pons_value *resources = json_array();
    if (resources && k->needs_base) {
        json_array_append_new(resources, json_string("base"));
    }
    if (resources && k->needs_arm) {
        json_array_append_new(resources, json_string("arm"));
        json_array_append_new(resources, json_string("gripper"));
    }
    pons_value *item = pons_object(
        "name", json_string(k->name), "description", json_string(k->description), "interface_type",
        json_string(k->interface ? k->interface : "internal"), "args_schema",
        parse_constant(k->args_schema), "resources_required", resources, "preemptible",
        json_boolean(k->preemptible), "cancel_supported", json_boolean(k->cancel_supported),
        "timeout_s", json_real(k->timeout_s), "success_criteria", json_string(k->success),
        "error_map", parse_constant(k->error_map), "requires_approval",
        json_boolean(k->requires_approval), "ask_on_unknown", json_boolean(k->ask_on_unknown),
        "phrases", k->phrases ? parse_constant(k->phrases) : NULL, NULL);
    if (item && reported && json_object_update(item, (json_t *)reported) < 0) {
        pons_value_unref(item);
        return NULL;
    }
    return item;
}

pons_value *pons__skills_registry(const pons__skills *s)
{
    pons_value *all = json_array();
    for (size_t i = 0; all && i < s->n; i++) {
        if (json_array_append_new(all, registry_item(s->at[i], s->reported[i])) < 0) {
            pons_value_unref(all);
            return NULL;
        }
    }
    return all;
}

int pons_body_skills(const pons_skill *const *modules, size_t n, pons_value **ret, pons_error *err)
{
    pons__skills s;
    pons_value *all = NULL;
    int rc = pons__skills_open(&s, PONS__WITH_WHEELS | PONS__WITH_CHARGER | PONS__WITH_MAPPER,
                               modules, n, err);
    if (rc >= 0 && !(all = pons__skills_registry(&s))) {
        rc = pons_error_set(err, PONS_ENOMEM, "body", "no memory for the registry of skills");
    }
    pons__skills_close(&s);
    *ret = rc < 0 ? *ret : all;
    return rc;
}

const char *pons_body_skill_name(size_t i)
{
    return i < N_OWN ? own[i]->name : NULL;
}

// What the robot's own software takes, that judges: but where a journey leads the world says.
bool pons__skill_check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                       pons__skill_refusal *ret)
{
    const bool journey = k == &pons__skill_navigate || k == &pons__skill_navigate_through;
    return !k->check || (!journey && pons__external_goal_takes(k, env->robot, env->self)) ||
           k->check(k, args, env, ret);
}

void pons__skill_start(const pons__skill *k, pons__skill_run *r, const pons_value *args,
                       const pons__skill_env *env)
{
    *r = (pons__skill_run){.skill = k,
                           .args = args,
                           .timeout_s = k->timeout_s,
                           .start_ns = env->robot_ns,
                           .spared_ns = env->spared_ns,
                           .phase_ns = env->robot_ns,
                           .held_ns = -1,
                           .doubt_ns = -1,
                           .stuck_since_ns = -1,
                           .from = env->odom,
                           .last_yaw = env->odom.yaw,
                           .first_scan = env->scans};
    if (pons__external_goal_takes(k, env->robot, env->self)) {
        pons__motion_follow(r, env);
        pons__external_goal_start(r, env);
    } else if (k->start) {
        k->start(r, env);
    }
}

void pons__skill_stop(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env)
{
    if (*r->external_goal) {
        pons__external_goal_stop(r, env);
    } else if (k->stop) {
        k->stop(r, env);
    }
}

void pons__skill_hold(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env)
{
    r->held_ns = env->robot_ns;
    r->held_spared_ns = env->spared_ns;
    if (*r->external_goal) {
        return; // the software is not told: what it asks for does not count
    }
    if (k->hold) {
        k->hold(r, env);
    } else {
        pons__skill_stop(k, r, env);
    }
}

void pons__skill_resume(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env)
{
    const int64_t away_ns = r->held_ns < 0 ? 0 : env->robot_ns - r->held_ns;
    const int64_t spared_ns = r->held_ns < 0 ? 0 : env->spared_ns - r->held_spared_ns;
    r->spared_ns += spared_ns; // what was on hold does not count once already
    r->away_ns = away_ns - spared_ns;
    r->start_ns += away_ns;
    r->phase_ns += away_ns;
    r->held_ns = r->stuck_since_ns = -1;
    if (k->resume && !*r->external_goal) {
        k->resume(r, env);
    }
}

// Stands and waits; or gives up. False: the pose is not in doubt and nothing is lacking, and the skill
// goes on.
static bool in_doubt(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env,
                     pons__skill_output *ret)
{
    const pons__pose_watch *w = env->where;
    const bool lacks = k->moves && env->lacks;
    const bool lost = k->needs_pose && w && w->trust != PONS__POSE_SURE;
    if (!lacks && !lost) {
        if (r->doubt_ns >= 0) {
            r->doubt_ns = -1;
            pons__skill_resume(k, r, env);
            if (r->undecided && k->start &&
                !*r->external_goal) { // it was done, where the robot was not
                r->undecided = false;
                k->start(r, env);
            }
        }
        return false;
    }
    if (r->doubt_ns < 0) {
        r->doubt_ns = env->robot_ns;
        pons__skill_hold(k, r, env);
    }
    const double for_s = (double)(env->robot_ns - r->doubt_ns) / (double)PONS_NS_PER_S;
    if (lost && (w->trust != PONS__POSE_DOUBTFUL || for_s > DOUBT_MAX_S)) {
        pons__skill_fail(ret, PONS__LOCALIZATION_LOST, "LOCALIZATION_LOST: %.120s", w->why);
    } else if (lacks && for_s > DOUBT_MAX_S) {
        pons__skill_fail(ret, PONS__ROBOT_LACKS, "ROBOT_LACKS: %.160s", env->lacks);
    }
    if (ret->status != PONS__SKILL_RUNNING) {
        pons__skill_stop(k, r, env);
    }
    return true;
}

void pons__skill_step(const pons__skill *k, pons__skill_run *r, const pons__skill_env *env,
                      pons__skill_output *ret)
{
    *ret = (pons__skill_output){.status = PONS__SKILL_RUNNING,
                                .distance_m = NAN,
                                .remaining = k->left ? k->left(r, env) : NAN,
                                .eta_s = NAN};
    if (in_doubt(k, r, env, ret)) {
        return;
    }
    if (*r->external_goal) {
        pons__external_goal_step(r, env, ret);
    } else {
        k->step(r, env, ret);
    }
    if (ret->status == PONS__SKILL_DONE && k->needs_pose && env->where && env->where->pending) {
        // The last scans do not bear it out: not done before the next ones do, or it is in doubt.
        ret->status = PONS__SKILL_RUNNING;
        ret->cmd = (pons_twist2){0};
        r->undecided = true;
        return;
    }
    if (ret->status == PONS__SKILL_RUNNING) {
        const double run_s =
            (double)(env->robot_ns - r->start_ns - (env->spared_ns - r->spared_ns)) /
            (double)PONS_NS_PER_S;
        if (run_s > r->timeout_s) {
            pons__skill_fail(ret, k->timeout_code ? k->timeout_code : PONS__TIMED_OUT,
                             "not done after %.0f s", r->timeout_s);
        } else if (k->moves && env->safety->zone == PONS__ZONE_OLD_SCAN &&
                   pons__skill_stuck_s(r, env, ret->cmd) > SCAN_WAIT_S) {
            pons__skill_fail(ret, PONS__NO_SCAN, "no scan for %.1f s",
                             (double)env->safety->scan_age_ns / (double)PONS_NS_PER_S);
        }
    }
    if (ret->status != PONS__SKILL_RUNNING) {
        ret->cmd = (pons_twist2){0};
        memset(ret->qd, 0, sizeof ret->qd);
        pons__skill_stop(k, r, env);
    }
}
