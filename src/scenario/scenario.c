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
// A file without goals has no brain: its events send goals to the body (hand.c), and the story ends
// when all of them have.
#include "pons/link_message.h"
#include "pons/module.h"
#include "pons/schema.h"
#include "scenario/scenario_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREAD           "scenario"
#define STEP_NS          (10 * PONS_NS_PER_MS)
#define REBIRTH_NS       (500 * PONS_NS_PER_MS) // how long a killed brain stays dead
#define ANSWER_HEARD_NS  PONS_NS_PER_S          // by then the brain has taken an answer
#define TIME_LIMIT_S     300.0
#define WALL_EPOCH_MS    1767225600000LL // 2026-01-01: simulated runs have a date of their own
#define FUZZ_KILLS_MAX   4
#define GOALS_MAX        64
#define FUZZ_KILL_WITHIN 120 // commits

typedef struct world_event {
    const pons_value *value;
    bool done;
    bool armed; // its condition has come; waits for after_s
    int64_t due_ns;
} world_event;

// A kill of the brain: at that commit (0: none).
typedef struct kill_plan {
    int64_t at;
    bool before;
} kill_plan;

typedef struct runner {
    const pons_scenario *s;
    const pons_scenario_env *env;
    const pons_scenario_options *opts;
    pons_clock_manual manual;
    pons_clock clock;
    pons_value *config;
    pons_store memory, store;
    pons__fault_store fault;
    kill_plan added;  // by a sweep or a seed
    kill_plan told;   // by the story
    int told_waiting; // kills of the story that came while the brain was dead
    bool told_before; // the last of them
    pons_body *body;
    pons_brain *brain; // NULL while dead, and in a story without one
    bool brainless;
    pons__hand hand; // the controller of a story without a brain; else an observer, if need be
    pons__wheels wheels;
    pons_llm llm;
    char ledger[512];
    int64_t reborn_ns;
    int64_t paused_until_ns;
    int64_t answered_ns; // a person's newest answer; 0: none
    pons_rand fuzz;
    int fuzz_kills;
    pons__story story;
    world_event *events;
    size_t n_events;
} runner;

static int runner_init(runner *r, pons_error *err);
static void runner_fini(runner *r);
static int runner_open_brain(runner *r, pons_error *err);
static int runner_tell_goals(runner *r, pons_error *err);
static void runner_kill(runner *r);
static int runner_loop(runner *r, pons_error *err);
static int runner_connect(void *user, pons_link **ret, pons_error *err);
static void arm(runner *r, const char *type);
static int arm_stored(void *user, const pons_event_row *row);
static void runner_event(void *user, const pons_event *ev);
static bool answer_to_come(const runner *r);
static int check_events(runner *r, pons_error *err);
static int check_events_fit(const runner *r, pons_error *err);
static bool events_done(const runner *r);
static bool watches_tree(const pons_value *scenario);
static bool condition_met(runner *r, const pons_value *when);
static int happen(runner *r, const pons_value *what, pons_error *err);
static void tell_kill(runner *r, bool before);
static void stick(runner *r, const char *wheel);
static void post(runner *r, const char *kind, pons_value *value);
static void send_world(runner *r, pons_value *msg);
static void fuzz_next(runner *r);
static void aim(runner *r);
static pons_value *config_for(const pons_scenario *s, const pons_value *config);
static pons_value *report(runner *r);

// ---- files --------------------------------------------------------------------------------------

int pons_scenario_load(const char *path, pons_scenario **ret, pons_error *err)
{
    char schema_path[512];
    pons_yaml *yaml = NULL;
    pons_autovalue rules = NULL;
    pons_schema *schema = NULL;
    int rc = pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc
                : pons_share_path("schemas/scenario.json", schema_path, sizeof schema_path, err);
    rc = rc < 0 ? rc : pons_value_load(schema_path, &rules, err);
    rc = rc < 0 ? rc : pons_schema_compile(rules, &schema, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(schema, yaml, err);
    if (rc >= 0) {
        pons_scenario *s = calloc(1, sizeof *s);
        if (s) {
            s->value = pons_value_ref(pons_yaml_value(yaml));
            *ret = s;
        } else {
            rc = pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
        }
    }
    pons_schema_destroy(schema);
    pons_yaml_destroy(yaml);
    return rc;
}

void pons_scenario_destroy(pons_scenario *s)
{
    if (s) {
        pons_value_unref(s->value);
        free(s);
    }
}

const char *pons_scenario_name(const pons_scenario *s)
{
    return pons_get_str(s->value, "name", "");
}

const char *pons_scenario_world(const pons_scenario *s)
{
    return pons_get_str(s->value, "world", "house");
}

const char *pons_scenario_driver(const pons_scenario *s)
{
    return pons_get_str(s->value, "driver", "kinematic");
}

// ---- running ------------------------------------------------------------------------------------

int pons_scenario_run(const pons_scenario *s, const pons_scenario_env *env,
                      const pons_scenario_options *opts, pons_value **ret_report, pons_error *err)
{
    runner r = {.s = s, .env = env, .opts = opts};
    int rc = runner_init(&r, err);
    rc = rc < 0 ? rc : runner_loop(&r, err);
    if (rc >= 0) {
        *ret_report = report(&r);
    }
    runner_fini(&r);
    return rc;
}

static int runner_init(runner *r, pons_error *err)
{
    char epoch[sizeof r->ledger];
    const pons_value *v = r->s->value;
    const uint64_t seed = r->opts->seed ? r->opts->seed : (uint64_t)pons_get_int(v, "seed", 1);
    r->manual = (pons_clock_manual){.now_ns = PONS_NS_PER_S, .wall_epoch_ms = WALL_EPOCH_MS};
    r->clock = pons_clock_from_manual(&r->manual);
    r->config = config_for(r->s, r->env->config);
    pons__story_init(&r->story);
    snprintf(r->ledger, sizeof r->ledger, "%s/body.ledger", r->env->dir);
    snprintf(epoch, sizeof epoch, "%s/body.epoch", r->env->dir);
    remove(r->ledger);
    remove(epoch);
    const pons_value *events = pons_get(v, "events");
    r->n_events = json_array_size(events);
    r->events = calloc(r->n_events + 1, sizeof *r->events);
    if (!r->events) {
        return pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
    }
    for (size_t i = 0; i < r->n_events; i++) {
        r->events[i].value = json_array_get(events, i);
    }
    r->brainless = pons_get(v, "goals") == NULL;
    int rc = check_events_fit(r, err);
    rc = rc < 0 ? rc : pons_store_memory_open(&r->memory, err);
    if (rc < 0) {
        return rc;
    }
    r->store = pons__fault_store_wrap(&r->fault, r->memory);
    r->added = (kill_plan){r->opts->kill_at_commit, r->opts->kill_before};
    pons_rand_seed(&r->fuzz, r->opts->fuzz_seed);
    fuzz_next(r);
    aim(r);
    pons_body_options body = PONS_BODY_OPTIONS_INIT;
    body.robot = pons__wheels_wrap(&r->wheels, r->env->robot);
    body.world = r->env->world;
    body.ledger_path = r->ledger;
    body.clock = r->clock;
    body.seed = seed;
    body.battery_pct = pons_get_num(v, "battery_pct", -1.0);
    body.workspace = r->env->trees;
    rc = pons_body_create(&body, &r->body, err);
    if (rc >= 0 && (r->brainless || watches_tree(v))) {
        rc = pons__hand_open(&r->hand, r->body, r->brainless, watches_tree(v), err);
    }
    if (rc < 0 || r->brainless) {
        return rc;
    }
    const pons_value *model = pons_get(v, "model");
    if (rc >= 0 && model) {
        pons_autovalue config = pons_object("replies", pons_value_ref(model), NULL);
        r->llm.ops = r->env->script;
        rc = r->llm.ops->open(config, &r->clock, &r->llm.self, err);
    }
    rc = rc < 0 ? rc : runner_open_brain(r, err);
    return rc < 0 ? rc : runner_tell_goals(r, err);
}

// A brain that dies before it has committed them is told again by its next life, as a person would
// type them again: nothing had been promised.
static int runner_tell_goals(runner *r, pons_error *err)
{
    const pons_value *goals = pons_get(r->s->value, "goals");
    const size_t n = json_array_size(goals);
    const char *texts[GOALS_MAX] = {0};
    int64_t told = 0;
    int rc = r->memory.ops->event_last(r->memory.self, THREAD, &told, err);
    if (rc < 0 || told > 0) {
        return rc;
    }
    for (size_t i = 0; i < n && i < GOALS_MAX; i++) {
        texts[i] = json_string_value(json_array_get(goals, i));
    }
    rc = pons_brain_add_goals(r->brain, texts, n < GOALS_MAX ? n : GOALS_MAX, err);
    if (r->fault.dead) {
        runner_kill(r);
        rc = PONS_OK;
    }
    return rc;
}

static void runner_fini(runner *r)
{
    if (r->brain) {
        pons_brain_kill(r->brain);
    }
    pons__hand_close(&r->hand);
    pons_body_destroy(r->body);
    if (r->llm.ops && r->llm.self) {
        r->llm.ops->close(r->llm.self);
    }
    pons_store_close(&r->memory);
    pons__story_fini(&r->story);
    pons_value_unref(r->config);
    free(r->events);
}

static int runner_open_brain(runner *r, pons_error *err)
{
    const pons_brain_options o = {.store = r->store,
                                  .thread = THREAD,
                                  .clock = r->clock,
                                  .seed =
                                      (uint64_t)r->manual.now_ns, // every life has ids of its own
                                  .config = r->config,
                                  .policy = r->env->policy,
                                  .llm = r->llm.self ? &r->llm : NULL,
                                  .connect = runner_connect,
                                  .on_event = runner_event,
                                  .user = r};
    return pons_brain_open(&o, &r->brain, err);
}

static void runner_kill(runner *r)
{
    pons_brain_kill(r->brain);
    r->brain = NULL;
    r->reborn_ns = r->manual.now_ns + REBIRTH_NS;
    r->story.kills++;
    if (r->told.at > 0 && r->fault.commits >= r->told.at) {
        r->story.kills_told++;
        r->told.at = 0;
    }
    if (r->fault.commits >= r->added.at) {
        r->added.at = 0;
    }
}

static int runner_loop(runner *r, pons_error *err)
{
    const double limit_s = pons_get_num(r->s->value, "time_limit_s", TIME_LIMIT_S);
    while ((double)pons_body_robot_ns(r->body) < limit_s * 1e9) {
        r->manual.now_ns += STEP_NS;
        int rc = pons_body_step(r->body, STEP_NS, err);
        rc = rc < 0 || !r->hand.link ? rc : pons__hand_poll(&r->hand, r->manual.now_ns, err);
        if (rc < 0) {
            return rc;
        }
        if (r->brainless && !r->hand.ready) {
            continue;
        }
        rc = check_events(r, err);
        if (rc < 0 || (r->brainless && r->hand.open == 0 && events_done(r))) {
            return rc;
        }
        if (r->brainless) {
            continue;
        }
        if (!r->brain && r->manual.now_ns >= r->reborn_ns) {
            pons__fault_store_revive(&r->fault);
            fuzz_next(r);
            if (r->told_waiting > 0) {
                r->told_waiting--;
                r->told = (kill_plan){r->fault.commits + 1, r->told_before};
            }
            aim(r);
            rc = r->memory.ops->events(r->memory.self, THREAD, 0, 0, arm_stored, r, err);
            rc = rc < 0 ? rc : runner_open_brain(r, err);
            rc = rc < 0 ? rc : runner_tell_goals(r, err);
            if (rc < 0) {
                return rc;
            }
        }
        if (!r->brain || r->manual.now_ns < r->paused_until_ns) {
            continue;
        }
        rc = pons_brain_poll(r->brain, err);
        if (r->fault.dead) {
            runner_kill(r);
            continue;
        }
        if (rc < 0) {
            return rc;
        }
        const pons_brain_outcome outcome = pons_brain_outcome_get(r->brain);
        if (outcome != PONS_BRAIN_RUNNING &&
            (outcome != PONS_BRAIN_WAITING || !answer_to_come(r))) {
            break;
        }
    }
    return PONS_OK;
}

// A run that waits for a person goes on being simulated while the story still has a person in it.
static bool answer_to_come(const runner *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        const pons_value *what = pons_get(r->events[i].value, "do");
        if (!r->events[i].done && (pons_get(what, "answer") || pons_get(what, "say"))) {
            return true;
        }
    }
    return r->manual.now_ns < r->answered_ns + ANSWER_HEARD_NS;
}

static int runner_connect(void *user, pons_link **ret, pons_error *err)
{
    runner *r = user;
    pons_link *mine = NULL, *theirs = NULL;
    int rc = pons_link_pair(&mine, &theirs, err);
    rc = rc < 0 ? rc : pons_body_attach(r->body, theirs, err);
    if (rc < 0) {
        pons_link_close(mine);
        return rc;
    }
    *ret = mine;
    return PONS_OK;
}

// An event of this type has been seen: what waits for it has its time.
static void arm(runner *r, const char *type)
{
    for (size_t i = 0; i < r->n_events; i++) {
        world_event *e = &r->events[i];
        const char *wanted = pons_get_str(pons_get(e->value, "when"), "event", NULL);
        if (wanted && !e->armed && strcmp(wanted, type) == 0) {
            e->armed = true;
            e->due_ns = r->manual.now_ns + (int64_t)(pons_get_num(e->value, "after_s", 0.0) * 1e9);
        }
    }
}

// A brain that died between a commit and its display has left events that nobody has seen yet.
static int arm_stored(void *user, const pons_event_row *row)
{
    arm(user, row->type);
    return 0;
}

static void runner_event(void *user, const pons_event *ev)
{
    runner *r = user;
    arm(r, ev->type);
    if (r->env->on_event) {
        r->env->on_event(r->env->user, ev);
    }
}

// ---- what happens -------------------------------------------------------------------------------

// What needs a brain in a story without one, and the other way round, is a mistake in the file.
static int check_events_fit(const runner *r, pons_error *err)
{
    static const char *const with[] = {"say", "answer", "kill_brain", "pause_brain_s"};
    static const char *const without[] = {"goal", "cancel"};
    for (size_t i = 0; i < r->n_events; i++) {
        const pons_value *what = pons_get(r->events[i].value, "do");
        for (size_t k = 0; k < 4; k++) {
            if (r->brainless && pons_get(what, with[k])) {
                return pons_error_set(err, PONS_EINVAL, "scenario",
                                      "%s: events[%zu]: '%s' needs a brain, and a scenario without "
                                      "goals has none",
                                      pons_scenario_name(r->s), i, with[k]);
            }
            if (!r->brainless && k < 2 && pons_get(what, without[k])) {
                return pons_error_set(err, PONS_EINVAL, "scenario",
                                      "%s: events[%zu]: '%s' is for a scenario without goals: the "
                                      "brain is the body's controller",
                                      pons_scenario_name(r->s), i, without[k]);
            }
        }
    }
    return PONS_OK;
}

static bool events_done(const runner *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        if (!r->events[i].done) {
            return false;
        }
    }
    return true;
}

// Does anything in it speak of the navigator's tree?
static bool watches_tree(const pons_value *scenario)
{
    const pons_value *expect = pons_get(scenario, "expect");
    bool watches = pons_get(expect, "nodes") || pons_get(expect, "trees");
    size_t i;
    json_t *e;
    json_array_foreach(pons_get(scenario, "events"), i, e)
    {
        watches = watches || pons_get(pons_get(e, "when"), "node");
    }
    return watches;
}

static int check_events(runner *r, pons_error *err)
{
    for (size_t i = 0; i < r->n_events; i++) {
        world_event *e = &r->events[i];
        if (e->done) {
            continue;
        }
        const pons_value *at = pons_get(e->value, "at_s");
        if (!e->armed && at && (double)pons_body_robot_ns(r->body) >= json_number_value(at) * 1e9) {
            e->armed = true;
            e->due_ns = r->manual.now_ns;
        } else if (!e->armed && !at && condition_met(r, pons_get(e->value, "when"))) {
            e->armed = true;
            e->due_ns = r->manual.now_ns + (int64_t)(pons_get_num(e->value, "after_s", 0.0) * 1e9);
        }
        if (e->armed && r->manual.now_ns >= e->due_ns) {
            e->done = true;
            const int rc = happen(r, pons_get(e->value, "do"), err);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return PONS_OK;
}

static bool condition_met(runner *r, const pons_value *when)
{
    const pons_value *commit = pons_get(when, "commit");
    const pons_value *distance = pons_get(when, "distance_below_m");
    const pons_value *battery = pons_get(when, "battery_above_pct");
    const char *node = pons_get_str(when, "node", NULL);
    if (node) {
        return r->hand.link && pons__hand_saw(&r->hand, node);
    }
    if (r->brainless && distance) {
        return r->hand.distance_m >= 0.0 && r->hand.distance_m < json_number_value(distance);
    }
    if (commit) {
        return r->fault.commits >= json_integer_value(commit);
    }
    if (!r->brain || (!distance && !battery)) {
        return false;
    }
    pons_autovalue status = pons_brain_status(r->brain);
    if (distance) {
        const pons_value *d = pons_get(status, "distance_to_target");
        return json_is_number(d) && json_number_value(d) < json_number_value(distance);
    }
    return pons_get_num(status, "battery_pct", 0.0) > json_number_value(battery);
}

static int happen(runner *r, const pons_value *what, pons_error *err)
{
    const char *say = pons_get_str(what, "say", NULL),
               *kill_how = pons_get_str(what, "kill_brain", NULL);
    const pons_value *spawn = pons_get(what, "spawn"), *answer = pons_get(what, "answer");
    if (pons_get(what, "goal")) {
        return pons__hand_goal(&r->hand, pons_get(what, "goal"), &r->clock, err);
    }
    if (pons_get(what, "cancel")) {
        return pons__hand_cancel(&r->hand, pons_get_str(what, "cancel", ""), err);
    }
    if (pons_get(what, "stuck_wheel")) {
        stick(r, pons_get_str(what, "stuck_wheel", "none"));
    } else if (say) {
        post(r, "say", pons_object("text", json_string(say), NULL));
    } else if (answer) {
        r->answered_ns = r->manual.now_ns;
        post(r, "answer", pons_value_ref(answer));
    } else if (kill_how) {
        tell_kill(r, strcmp(kill_how, "before") == 0);
    } else if (spawn) {
        pons_value *msg = json_copy((json_t *)spawn);
        json_object_set_new(msg, "type", json_string("world.spawn"));
        send_world(r, msg);
    } else if (pons_get(what, "remove")) {
        send_world(r, pons_object("type", json_string("world.spawn"), "id",
                                  json_string(pons_get_str(what, "remove", "")), "remove",
                                  json_true(), NULL));
    } else if (pons_get(what, "battery")) {
        send_world(r, pons_object("type", json_string("world.battery"), "pct",
                                  json_real(pons_get_num(what, "battery", 0.0)), NULL));
    } else if (pons_get(what, "stop")) {
        pons_body_stop(r->body, pons_get_str(what, "stop", "scenario"));
    } else if (pons_get_bool(what, "reset", false)) {
        send_world(r, pons_object("type", json_string("reset"), NULL));
    } else if (pons_get(what, "pause_brain_s")) {
        r->paused_until_ns =
            r->manual.now_ns + (int64_t)(pons_get_num(what, "pause_brain_s", 0.0) * 1e9);
    }
    return PONS_OK;
}

// The story kills the brain at its next commit; one that is dead dies again when it is back.
static void tell_kill(runner *r, bool before)
{
    if (!r->brain || r->told.at > 0) {
        r->told_waiting++;
        r->told_before = before;
        return;
    }
    r->told = (kill_plan){r->fault.commits + 1, before};
    aim(r);
}

static void stick(runner *r, const char *wheel)
{
    const bool both = strcmp(wheel, "both") == 0;
    r->wheels.left_stuck = both || strcmp(wheel, "left") == 0;
    r->wheels.right_stuck = both || strcmp(wheel, "right") == 0;
}

// People speak to the store itself: their words arrive also while the brain is dead.
static void post(runner *r, const char *kind, pons_value *value)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_inbox_post(r->memory, THREAD, "kernel", kind, value, &ignored);
    pons_value_unref(value);
}

// As an observer of the body: a fresh link that says one thing.
static void send_world(runner *r, pons_value *msg)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_link *mine = NULL, *theirs = NULL;
    if (pons_link_pair(&mine, &theirs, &ignored) < 0) {
        pons_value_unref(msg);
        return;
    }
    if (pons_body_attach(r->body, theirs, &ignored) >= 0) {
        const pons_message_hello hello = {.protocol = PONS_LINK_PROTOCOL, .name = "scenario"};
        pons_message_send(mine, &(pons_message){.type = PONS_MESSAGE_HELLO, .as.hello = hello},
                          &ignored);
        pons_link_send(mine, msg, &ignored);
        pons_body_step(r->body, STEP_NS, &ignored); // it is read before the link goes
        r->manual.now_ns += STEP_NS;
    } else {
        pons_value_unref(msg);
    }
    pons_link_close(mine);
}

// Another kill at some commit not far off, while the seed has kills left.
static void fuzz_next(runner *r)
{
    if (!r->opts->fuzz_seed || r->added.at > 0 || r->fuzz_kills >= FUZZ_KILLS_MAX) {
        return;
    }
    r->fuzz_kills++;
    r->added.at = r->fault.commits + 1 + (int64_t)pons_rand_below(&r->fuzz, FUZZ_KILL_WITHIN);
    r->added.before = pons_rand_below(&r->fuzz, 2) == 0;
}

// The store dies at whichever comes first; where both are at one commit it is the story's.
static void aim(runner *r)
{
    const bool told = r->told.at > 0 && (r->added.at == 0 || r->told.at <= r->added.at);
    const kill_plan next = told ? r->told : r->added;
    r->fault.kill_at = next.at;
    r->fault.before = next.before;
}

// ---- report -------------------------------------------------------------------------------------

static pons_value *config_for(const pons_scenario *s, const pons_value *config)
{
    static const char *const keys[][3] = {{"approval_skills", "approval", "skills"},
                                          {"after_reset", "safety", "after_reset"}};
    pons_value *changed = json_copy((json_t *)config);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const pons_value *own = pons_get(s->value, keys[i][0]);
        const pons_value *old = pons_get(config, keys[i][1]);
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
    runner *r = user;
    pons_autovalue payload = NULL;
    if (pons_value_parse(row->payload.data, row->payload.len, &payload, NULL) >= 0) {
        const pons_event ev = {.seq = row->seq,
                               .thread = THREAD,
                               .ns = row->ns,
                               .ts_ms = row->ts_ms,
                               .type = row->type,
                               .payload = payload};
        pons__story_event(&r->story, &ev);
    }
    return 0;
}

static pons_value *report(runner *r)
{
    pons_value *misses = json_array();
    pons_pose2 truth = {0};
    pons_error err = PONS_ERROR_INIT;
    if (!r->brainless &&
        r->memory.ops->events(r->memory.self, THREAD, 0, 0, read_story, r, &err) < 0) {
        json_array_append_new(misses, json_string(err.message));
    }
    if (pons_body_truth(r->body, &truth, &err) < 0) {
        json_array_append_new(misses, json_string(err.message));
    }
    const int64_t starts =
        pons__judge_ledger(r->ledger, r->brainless ? NULL : r->story.results, misses);
    if (r->hand.link) {
        json_array_extend(r->story.nodes, r->hand.nodes);
        json_array_extend(r->story.results, r->hand.results);
        r->story.trees = r->hand.trees;
    }
    if (r->brainless) {
        const size_t n = json_array_size(r->story.results);
        const pons_value *last = n > 0 ? json_array_get(r->story.results, n - 1) : NULL;
        const char *word = pons_get_str(last, "status", "");
        r->story.status = strcmp(word, "done") == 0       ? "succeeded"
                          : strcmp(word, "canceled") == 0 ? "cancelled"
                          : r->hand.open > 0 || !last     ? NULL
                                                          : "failed";
    }
    r->story.robot_s = (double)pons_body_robot_ns(r->body) / 1e9;
    pons__judge_expect(r->s, &r->story, r->env->world, truth, misses);
    return pons_object("name", json_string(pons_scenario_name(r->s)), "seed",
                       json_integer(pons_get_int(r->s->value, "seed", 1)), "passed",
                       json_boolean(json_array_size(misses) == 0), "misses", misses, "status",
                       json_string(r->story.status ? r->story.status : "unfinished"), "decisions",
                       pons_value_ref(r->story.decisions), "modes", pons_value_ref(r->story.modes),
                       "robot_s", json_real((double)pons_body_robot_ns(r->body) / 1e9), "commits",
                       json_integer(r->fault.commits), "kills", json_integer(r->story.kills),
                       "kills_told", json_integer(r->story.kills_told), "starts",
                       json_integer(starts), "results", pons_value_ref(r->story.results), NULL);
}
