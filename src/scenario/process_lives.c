// process_lives.c - bodies and brains that are born in a story, and come back when they have died (process_deaths.c).
//
// A brain is opened again from its store half a second after its death, as `pons resume` would. A body
// boots from its ledger and the world's last saved state, with an id of its own.
#include "scenario/runner.h"
#include "scenario/unmapped_world.h"

#include <string.h>

#define GOALS_MAX 64

// ---- the body -----------------------------------------------------------------------------------

static void tell_report(void *user, const pons_value *report)
{
    const pons__runner *r = user;
    r->env->on_report(r->env->user, report, pons_wall_ms(&r->clock));
}

int pons__body_birth(pons__runner *r, pons_error *err)
{
    const pons_value *v = r->s->value;
    const pons_value *expect = pons_get(v, "expect");
    bool watches = pons_get(expect, "nodes") || pons_get(expect, "trees");
    for (size_t i = 0; i < r->n_events; i++) {
        watches = watches || pons_get(pons_get(r->events[i].value, "when"), "node");
    }
    pons_body_options body = PONS_BODY_OPTIONS_INIT;
    body.robot = pons__wheels_wrap(&r->wheels, r->env->robot);
    pons_autovalue unmapped = NULL; // the robot's world; NULL: it knows the story's
    int rc = pons_scenario_is_unmapped(r->s) ? pons__unmapped_load(r->env->dir, &unmapped, err)
                                             : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    body.world = unmapped ? unmapped : r->env->world;
    body.slam = unmapped ? r->env->slam : NULL;
    body.ledger_path = r->ledger;
    body.sim_state_path = pons__happen_kills_body(r) ? r->sim_state : NULL;
    body.clock = r->clock;
    body.seed = r->opts->seed ? r->opts->seed : (uint64_t)pons_get_int(v, "seed", 1);
    body.battery_pct = pons_get_num(v, "battery_pct", -1.0);
    body.workspace = r->env->trees;
    r->control.on_report = r->env->on_report ? tell_report : NULL;
    r->control.user = r;
    rc = pons_body_create(&body, &r->body, err);
    rc = rc < 0 ? rc : pons__control_open(&r->control, r->body, r->brainless, watches, err);
    if (rc >= 0 && r->boots++ > 0) {
        pons__watch_rebooted(&r->watch);
    }
    return rc;
}

// ---- the brain ----------------------------------------------------------------------------------

// A brain that dies before it has committed its goals is told again by its next life, as a person
// would type them again: nothing had been promised.
static int tell_goals(pons__runner *r, pons_error *err)
{
    const pons_value *goals = pons_get(r->s->value, "goals");
    const size_t n = json_array_size(goals);
    const char *texts[GOALS_MAX] = {0};
    int64_t reported = 0;
    int rc = r->memory.ops->event_last(r->memory.self, PONS__STORY_THREAD, &reported, err);
    if (rc < 0 || reported > 0) {
        return rc;
    }
    for (size_t i = 0; i < n && i < GOALS_MAX; i++) {
        texts[i] = json_string_value(json_array_get(goals, i));
    }
    rc = pons_brain_add_goals(r->brain, texts, n < GOALS_MAX ? n : GOALS_MAX, err);
    if (r->fault.dead) {
        pons__brain_death(r);
        rc = PONS_OK;
    }
    return rc;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    pons__runner *r = user;
    pons_link *mine = NULL, *theirs = NULL;
    if (!r->body) {
        return pons_error_set(err, PONS_EAGAIN, "scenario", "there is no body");
    }
    int rc = pons_link_pair(&mine, &theirs, err);
    rc = rc < 0 ? rc : pons_body_attach(r->body, theirs, err);
    if (rc < 0) {
        pons_link_close(mine);
        return rc;
    }
    *ret = mine;
    r->linked = true;
    r->met = false;
    return PONS_OK;
}

static void hear_event(void *user, const pons_event *ev)
{
    pons__runner *r = user;
    pons__happen_arm(r, ev->type, ev->payload);
    if (r->env->on_event) {
        r->env->on_event(r->env->user, ev);
    }
}

int pons__brain_birth(pons__runner *r, pons_error *err)
{
    const bool has_model = r->model.ops.start != NULL;
    r->llm = pons__model_llm(&r->model);
    const pons_brain_options o = {.store = r->store,
                                  .thread = PONS__STORY_THREAD,
                                  .clock = r->clock,
                                  .seed =
                                      (uint64_t)r->manual.now_ns, // every life has ids of its own
                                  .config = r->config,
                                  .policy = r->env->policy,
                                  .llm = has_model ? &r->llm : NULL,
                                  .connect = connect_body,
                                  .on_event = hear_event,
                                  .user = r};
    const int rc = pons_brain_open(&o, &r->brain, err);
    return rc < 0 ? rc : tell_goals(r, err);
}

// ---- coming back --------------------------------------------------------------------------------

// A brain that died between a commit and its display has left events that nobody has seen yet.
static int arm_stored(void *user, const pons_event_row *row)
{
    pons_autovalue payload = NULL;
    if (strcmp(row->type, "effect") != 0 ||
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        pons__happen_arm(user, row->type, payload);
    }
    return 0;
}

int pons__lives_step(pons__runner *r, pons_error *err)
{
    if (!r->body && r->manual.now_ns >= r->body_back_ns) {
        const int rc = pons__body_birth(r, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (r->brainless || r->brain || r->manual.now_ns < r->reborn_ns) {
        return PONS_OK;
    }
    pons__fault_store_revive(&r->fault);
    pons__fuzz_next(r);
    if (r->reported_waiting > 0) {
        r->reported_waiting--;
        r->reported = (pons__kill_plan){r->fault.commits + 1, r->reported_before};
    }
    pons__kill_aim(r);
    const int rc =
        r->memory.ops->events(r->memory.self, PONS__STORY_THREAD, 0, 0, arm_stored, r, err);
    return rc < 0 ? rc : pons__brain_birth(r, err);
}
