// scenario.c - whole-system simulation under one virtual clock.
//
//      host clock --+-- body: driver, safety, skills, telemetry (a step is 10 ms of robot time)
//                   |      ^ in-process link v
//                   +-- brain: port, kernel tick, inner loop
//                          ^ store in memory, which can die at a chosen commit
//
// One thread steps all of it in a fixed order, so a seed decides everything: a story that went
// wrong once goes wrong again, at the same commit, for whoever wants to look. Things happen to the
// system when their time or their condition comes; a killed brain is opened again from its store
// half a second later, as `pons resume` would.
//
// A file without goals has no brain: its events send goals to the body (direct_control.c), and the story ends
// when all of them have.
#include "scenario/runner.h"
#include "scenario/unmapped_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_LIMIT_S  300.0
#define WALL_EPOCH_MS 1767225600000LL // 2026-01-01: simulated runs have a date of their own
#define REPLIES       "/replies"
#define LOOK_NS       (500 * PONS_NS_PER_MS) // between two looks at what the robot has touched

// ---- report -------------------------------------------------------------------------------------

static pons_value *config_for(const pons_scenario *s, const pons_value *config)
{
    static const char *const keys[][3] = {{"approval_skills", "approval", "skills"},
                                          {"approval_deadline_s", "approval", "deadline_s"},
                                          {"after_reset", "safety", "after_reset"}};
    pons_value *changed = json_copy((json_t *)config);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const pons_value *own = pons_get(s->value, keys[i][0]);
        const pons_value *old = pons_get(changed, keys[i][1]);
        pons_value *group = old ? json_copy((json_t *)old) : json_object();
        if (own) {
            json_object_set(group, keys[i][2], (json_t *)own);
        }
        json_object_set_new(changed, keys[i][1], group);
    }
    return changed;
}

// The story is read from the store, not from what was shown: a brain that is killed between a
// commit and its display has still said what it committed.
static int read_story(void *user, const pons_event_row *row)
{
    pons__runner *r = user;
    pons_autovalue payload = NULL;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        const pons_event ev = {.seq = row->seq,
                               .thread = PONS__STORY_THREAD,
                               .ns = row->ns,
                               .ts_ms = row->ts_ms,
                               .type = row->type,
                               .payload = payload};
        pons__story_event(&r->story, &ev);
    }
    return 0;
}

// ran: a body, in this step; it may have been stopped since.
static void watch(pons__runner *r, bool ran, bool awake)
{
    const bool frozen = r->body && !ran && pons__happen_frozen(r), runs = r->body && !frozen;
    const double safe_pct = pons_get_num(pons_get(r->config, "battery"), "safe_pct", 10.0);
    pons__watch_step look = {.dt_ns = PONS__STORY_STEP_NS,
                             .robot_s = (double)r->robot_ns / 1e9,
                             .wall_ms = pons_wall_ms(&r->clock),
                             .body = runs,
                             .frozen = frozen,
                             .minded = !r->brainless,
                             .awake = awake,
                             .met = r->met,
                             .skills = r->control.skills,
                             .reported = r->body && r->control.reported,
                             .latched = r->control.latched,
                             .by_stop = r->control.by_stop,
                             .durable = r->control.durable,
                             .pace_pct = r->control.pace_pct,
                             .bumps = -1,
                             .excused = r->robot_ns < r->excused_until_ns || r->wheels.left_stuck ||
                                        r->wheels.right_stuck,
                             .risk = r->control.risk,
                             .empty = !r->control.charging && r->control.battery_pct <= safe_pct,
                             .battery_pct = r->control.battery_pct,
                             .written = r->wheels.reported,
                             .truth = r->watch.truth};
    if (r->body) {
        pons_body_truth(r->body, &look.truth, NULL);
        r->wheels.ops.caps(r->wheels.self, &look.caps);
    }
    if (runs && r->robot_ns - r->looked_ns >= LOOK_NS) {
        r->looked_ns = r->robot_ns;
        look.bumps = pons__wheels_bumps(&r->wheels);
    }
    pons__watch_look(&r->watch, &look, r->brain, r->memory, PONS__STORY_THREAD);
}

static void judge_map(const pons__runner *r, pons_value *misses)
{
    const double least_m2 = pons_get_num(pons_get(r->s->value, "expect"), "map_m2", 0.0),
                 m2 = least_m2 > 0.0 ? pons__unmapped_floor_m2(r->env->dir) : 0.0;
    if (m2 < least_m2) {
        json_array_append_new(
            misses, json_sprintf("map_m2: the robot's map has %.1f m2 of floor, expected %g", m2,
                                 least_m2));
    }
}

static pons_value *report(pons__runner *r)
{
    pons_value *misses = json_array();
    pons_pose2 truth = {0};
    pons_error err = PONS_ERROR_INIT;
    if (!r->brainless &&
        r->memory.ops->events(r->memory.self, PONS__STORY_THREAD, 0, 0, read_story, r, &err) < 0) {
        json_array_append_new(misses, json_string(err.message));
    }
    if (!r->body) {
        truth = r->watch.truth;
    } else if (pons_body_truth(r->body, &truth, &err) < 0) {
        json_array_append_new(misses, json_string(err.message));
    }
    json_array_extend(misses, r->watch.misses);
    const int64_t starts =
        pons__judge_ledger(r->ledger, r->brainless ? NULL : r->story.results, misses);
    if (r->control.nodes) {
        json_array_extend(r->story.nodes, r->control.nodes);
        json_array_extend(r->story.results, r->control.results);
        r->story.trees = r->control.trees;
    }
    if (r->brainless) {
        const size_t n = json_array_size(r->story.results);
        const pons_value *last = n > 0 ? json_array_get(r->story.results, n - 1) : NULL;
        const char *word = pons_get_str(last, "status", "");
        r->story.status = strcmp(word, "done") == 0       ? "succeeded"
                          : strcmp(word, "canceled") == 0 ? "cancelled"
                          : r->control.open > 0 || !last  ? NULL
                                                          : "failed";
    }
    r->story.robot_s = (double)r->robot_ns / 1e9;
    r->story.stood_s = (double)r->watch.stood_most_ns / 1e9;
    pons__judge_expect(r->s, &r->story, r->env->world, truth, misses);
    judge_map(r, misses);
    return pons_object("name", json_string(pons_scenario_name(r->s)), "seed",
                       json_integer(pons_get_int(r->s->value, "seed", 1)), "passed",
                       json_boolean(json_array_size(misses) == 0), "misses", misses, "status",
                       json_string(r->story.status ? r->story.status : "unfinished"), "decisions",
                       pons_value_ref(r->story.decisions), "modes", pons_value_ref(r->story.modes),
                       "robot_s", json_real((double)r->robot_ns / 1e9), "commits",
                       json_integer(r->fault.commits), "kills", json_integer(r->story.kills),
                       "kills_told", json_integer(r->story.kills_reported), "starts",
                       json_integer(starts), "results", pons_value_ref(r->story.results), NULL);
}

// ---- running ------------------------------------------------------------------------------------

// What the script says is at "/replies/…" of it is at "/model/…" of the file.
static int model_fault(const pons_scenario *s, int rc, const pons_error *why, pons_error *err)
{
    char pointer[128] = "/model";
    const char *message = why->message, *end = strstr(message, ": ");
    if (rc != PONS_EINVAL) {
        return pons_error_set(err, rc, why->module, "%s", message);
    }
    if (strncmp(message, REPLIES, strlen(REPLIES)) == 0 && end) {
        snprintf(pointer, sizeof pointer, "/model%.*s", (int)(end - message - strlen(REPLIES)),
                 message + strlen(REPLIES));
        message = end + 2;
    }
    return pons__scenario_fault(s, pointer, err, "%s: %s", pointer, message);
}

// The file's script; else, where that is asked for, the rules in a model's clothes.
static int open_model(pons__runner *r, pons_error *err)
{
    const pons_value *replies = pons_get(r->s->value, "model");
    const bool scripted = json_is_array(replies);
    if (!replies && !r->opts->as_model) {
        return PONS_OK;
    }
    pons_error why = PONS_ERROR_INIT;
    const int rc = pons__model_open(&r->model, scripted ? r->env->script : NULL, replies,
                                    r->env->policy, r->clock, &why);
    return rc < 0 ? model_fault(r->s, rc, &why, err) : rc;
}

static int runner_init(pons__runner *r, pons_error *err)
{
    char epoch[sizeof r->ledger];
    const pons_value *v = r->s->value, *events = pons_get(v, "events");
    r->manual = (pons_clock_manual){.now_ns = PONS_NS_PER_S, .wall_epoch_ms = WALL_EPOCH_MS};
    r->clock = pons_clock_from_manual(&r->manual);
    r->config = config_for(r->s, r->env->config);
    pons__story_init(&r->story);
    snprintf(r->ledger, sizeof r->ledger, "%s/body.ledger", r->env->dir);
    snprintf(r->sim_state, sizeof r->sim_state, "%s/body.sim", r->env->dir);
    snprintf(epoch, sizeof epoch, "%s/body.epoch", r->env->dir);
    remove(r->ledger);
    remove(r->sim_state);
    remove(epoch);
    pons__watch_init(&r->watch, r->ledger, r->env->world, r->config, pons_get(v, "always"));
    r->n_events = json_array_size(events);
    r->events = calloc(r->n_events + 1, sizeof *r->events);
    if (!r->events) {
        return pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
    }
    for (size_t i = 0; i < r->n_events; i++) {
        r->events[i].value = json_array_get(events, i);
    }
    r->brainless = pons_get(v, "goals") == NULL;
    int rc = pons__happen_fits(r, err);
    rc = rc < 0 ? rc : pons_store_memory_open(&r->memory, err);
    if (rc < 0) {
        return rc;
    }
    if (pons_scenario_is_unmapped(r->s)) {
        rc = r->env->slam
                 ? pons__unmapped_create(r->env->dir, r->env->world, err)
                 : pons_error_set(err, PONS_EINVAL, "scenario", "'unmapped' needs a mapper");
        if (rc < 0) {
            return rc;
        }
    }
    r->store = pons__fault_store_wrap(&r->fault, r->memory);
    r->added = (pons__kill_plan){r->opts->kill_at_commit, r->opts->kill_before};
    pons_rand_seed(&r->fuzz, r->opts->fuzz_seed);
    pons__fuzz_next(r);
    pons__kill_aim(r);
    rc = pons__body_birth(r, err);
    if (rc < 0 || r->brainless) {
        return rc;
    }
    rc = open_model(r, err);
    return rc < 0 ? rc : pons__brain_birth(r, err);
}

static void runner_fini(pons__runner *r)
{
    if (r->brain) {
        pons_brain_kill(r->brain);
    }
    pons__control_close(&r->control);
    pons_body_destroy(r->body);
    pons__model_close(&r->model);
    pons_store_close(&r->memory);
    pons__story_fini(&r->story);
    pons__watch_fini(&r->watch);
    pons_value_unref(r->config);
    pons__happen_fini(r);
    pons__unmapped_remove(r->env->dir);
}

static int poll_brain(pons__runner *r, bool *ret_over, pons_error *err)
{
    const int rc = pons_brain_poll(r->brain, err);
    if (r->fault.dead) {
        pons__brain_death(r);
        return PONS_OK;
    }
    if (rc < 0) {
        return rc;
    }
    const pons_brain_outcome outcome = pons_brain_outcome_get(r->brain);
    *ret_over = outcome != PONS_BRAIN_RUNNING &&
                (outcome != PONS_BRAIN_WAITING || !pons__happen_answer_to_come(r));
    return PONS_OK;
}

static int step_body(pons__runner *r, pons_error *err)
{
    const int rc = pons_body_step(r->body, PONS__STORY_STEP_NS, err);
    r->robot_ns = pons_body_robot_ns(r->body);
    r->met = r->linked;
    return rc < 0 ? rc : pons__control_poll(&r->control, r->manual.now_ns, err);
}

static int step_story(pons__runner *r, pons_error *err)
{
    int rc = pons__happen_check(r, err);
    rc = rc < 0 ? rc : pons__calm_end_step(r, err);
    return rc < 0 ? rc : pons__lives_step(r, err);
}

// 10 ms of everybody's time: the body, the people and the world, who comes back, the brain.
static int step(pons__runner *r, bool *ret_over, pons_error *err)
{
    int rc = PONS_OK;
    bool awake = false;
    r->manual.now_ns += PONS__STORY_STEP_NS;
    const bool runs = r->body && !pons__happen_frozen(r);
    r->control.reported = r->control.reported && !r->body;
    if (runs) {
        rc = step_body(r, err);
    }
    if (rc >= 0 && !r->named && r->control.skills) {
        r->named = true;
        rc = pons__story_names(r, err);
    }
    if (rc < 0 || (r->brainless && r->body && !r->control.ready)) {
        return rc;
    }
    rc = step_story(r, err);
    if (rc >= 0 && r->brainless) {
        *ret_over = r->control.open == 0 && pons__happen_done(r);
    } else if (rc >= 0 && r->brain && r->manual.now_ns >= r->paused_until_ns) {
        rc = poll_brain(r, ret_over, err);
        awake = r->brain && r->linked;
    }
    if (rc >= 0) {
        watch(r, runs, awake);
    }
    return rc;
}

// The limit is of the robot's time; the host's ends a story whose body never comes back.
static int runner_loop(pons__runner *r, pons_error *err)
{
    const double limit_s = pons_get_num(r->s->value, "time_limit_s", TIME_LIMIT_S);
    const int64_t from_ns = r->manual.now_ns;
    int rc = PONS_OK;
    bool over = false;
    while (rc >= 0 && !over && (double)r->robot_ns < limit_s * 1e9 &&
           (double)(r->manual.now_ns - from_ns) < 2.0 * limit_s * 1e9) {
        rc = step(r, &over, err);
    }
    return rc;
}

int pons_scenario_run(const pons_scenario *s, const pons_scenario_env *env,
                      const pons_scenario_options *opts, pons_value **ret_report, pons_error *err)
{
    pons__runner r = {.s = s, .env = env, .opts = opts};
    int rc = runner_init(&r, err);
    rc = rc < 0 ? rc : runner_loop(&r, err);
    if (rc >= 0) {
        *ret_report = report(&r);
    }
    runner_fini(&r);
    return rc;
}
