// test_skill_conformance.c - what is promised of every skill, the body's own and a module's, held
// against each of them: its record, its functions in every order, and its goals in a body.
//
// The functions are called as the body calls them, through the generic frame, on a robot that stands
// in the house; a skill sees only what was sensed, so it cannot tell.
#include "body/core/gate_command.h"
#include "body_bench.h"
#include "pons/module.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUSE  PONS_SOURCE_DIR "/worlds/house.yaml"
#define SEED   20261122u
#define WALKS  60 // walks through the functions, for each skill
#define STEPS  40 // calls of a walk
#define TOLD_S 30.0

static const struct {
    const char *skill, *args;
    double seconds; // it runs for longer than this
} samples[] = {
    {"navigate_to_pose", "{\"zone\":\"kitchen\"}", 1.0},
    {"navigate_through_poses",
     "{\"poses\":[{\"x\":2.6,\"y\":3.2,\"yaw\":0},{\"x\":2.2,\"y\":2.7,\"yaw\":0}]}", 0.3},
    {"stop_base", "{}", 0.0},
    {"dock_to_charger", "{}", 1.0},
    {"undock", "{}", 0.0},
    {"speak", "{\"text\":\"hello\"}", 0.0},
    {"wait", "{\"s\":60}", 5.0},
    {"spin", "{\"angle_rad\":6}", 1.0},
    {"back_up", "{\"distance_m\":0.3}", 0.5},
    {"drive_on_heading", "{\"distance_m\":0.3}", 0.5},
    {"drive_by_hand", "{}", 5.0},
    {"look", "{}", 0.1},
    {"follow_actions",
     "{\"actions\":[[0.1,0],[0.1,0.2],[0,0.2],[0.1,0],[0.1,0],[0.1,0],[0,0]],\"hz\":10}", 0.5},
    {"wiggle", "{\"angle_rad\":0.5,\"times\":3}", 1.0},
};
#define N_SAMPLES (sizeof samples / sizeof samples[0])

static const pons_skill *wiggle;
static bench t;

static int open_house(void **state)
{
    (void)state;
    bench_open(&t, HOUSE);
    t.opts.skills = &wiggle;
    t.opts.n_skills = 1;
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.5);
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    bench_close(&t);
    return 0;
}

static const pons__skill *skill_of(size_t i, const pons_schema **ret)
{
    const pons__skill *k = pons__skills_find(&t.body->skills, samples[i].skill, ret);
    if (!k) {
        fail_msg("there is no skill %s", samples[i].skill);
    }
    return k;
}

static pons_value *args_of(size_t i)
{
    pons_value *v = NULL;
    assert_int_equal(pons_value_parse(samples[i].args, strlen(samples[i].args), &v, NULL), PONS_OK);
    return v;
}

// ---- records ------------------------------------------------------------------------------------

static void every_skill_has_a_sample_here(void **state)
{
    (void)state;
    assert_int_equal(t.body->skills.n, N_SAMPLES);
    for (size_t i = 0; i < N_SAMPLES; i++) {
        skill_of(i, NULL);
    }
}

static void a_schema_is_valid_and_closed(void **state)
{
    (void)state;
    const pons_value *reported = pons_get(bench_last(&t, "hello"), "skills");
    assert_int_equal(json_array_size(reported), N_SAMPLES);
    for (size_t i = 0; i < json_array_size(reported); i++) {
        const pons_value *schema = pons_get(json_array_get(reported, i), "args_schema");
        assert_string_equal(pons_get_str(schema, "type", ""), "object");
        assert_true(json_is_false(pons_get(schema, "additionalProperties")));
    }
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const pons_schema *schema = NULL;
        skill_of(i, &schema);
        pons_autovalue args = args_of(i);
        pons_error err = PONS_ERROR_INIT;
        if (pons_schema_check(schema, args, &err) < 0) {
            fail_msg("%s: %s", samples[i].skill, err.message);
        }
        json_object_set_new(args, "surprise", json_true());
        assert_int_equal(pons_schema_check(schema, args, NULL), PONS_EINVAL);
    }
}

static void an_error_map_covers_every_number(void **state)
{
    (void)state;
    const pons_value *reported = pons_get(bench_last(&t, "hello"), "skills");
    for (size_t i = 0; i < json_array_size(reported); i++) {
        const pons_value *item = json_array_get(reported, i);
        const char *key;
        pons_value *word;
        assert_true(strlen(pons_get_str(pons_get(item, "error_map"), "default", "")) > 0);
        json_object_foreach(json_object_get(item, "error_map"), key, word) {
            const char *w = json_string_value(word);
            assert_true(strcmp(w, "retry") == 0 || strcmp(w, "replan") == 0 ||
                        strcmp(w, "ask_human") == 0 || strcmp(w, "abort") == 0);
            assert_true(strcmp(key, "default") == 0 || atoi(key) > 0);
        }
        assert_true(pons_get_num(item, "timeout_s", 0.0) > 0.0);
        assert_true(strlen(pons_get_str(item, "description", "")) > 0);
        assert_true(strlen(pons_get_str(item, "success_criteria", "")) > 0);
    }
}

// ---- functions ----------------------------------------------------------------------------------

static void spoken(void *user, const char *text)
{
    (void)user;
    assert_true(strlen(text) > 0);
}

static pons__skill_env env_now(void)
{
    pons__skill_env env;
    pons__body_env(t.body, &env);
    env.speak = spoken;
    return env;
}

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void answer_is_sound(const char *name, const pons__skill *k, const pons__skill_output *out)
{
    assert_true(isfinite(out->cmd.v) && isfinite(out->cmd.w));
    if (out->status != PONS__SKILL_RUNNING) {
        assert_true(out->cmd.v == 0.0 && out->cmd.w == 0.0);
    }
    if (out->status == PONS__SKILL_FAILED && (out->error_code <= 0 || !out->error_msg[0])) {
        fail_msg("%s failed with %d and “%s”", name, out->error_code, out->error_msg);
    }
    assert_true(k->needs_base || (out->cmd.v == 0.0 && out->cmd.w == 0.0));
}

// start, then step, hold and resume as chance has it, and one stop: of a goal at any phase, also one
// that was never stepped. Then anew in the same storage.
static void its_functions_may_come_in_every_order(void **state)
{
    (void)state;
    print_message("seed %u\n", SEED);
    uint32_t seed = SEED;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const pons__skill *k = skill_of(i, NULL);
        pons_autovalue args = args_of(i);
        pons__skill_run run;
        for (int walk = 0; walk < WALKS; walk++) {
            pons__skill_env env = env_now();
            pons__skill_output out = {.status = PONS__SKILL_RUNNING};
            bool held = false;
            pons__skill_start(k, &run, args, &env);
            for (uint32_t n = draw(&seed) % STEPS; n > 0 && out.status == PONS__SKILL_RUNNING;
                 n--) {
                env.robot_ns += (int64_t)(draw(&seed) % 100) * PONS_NS_PER_MS;
                if (held) {
                    pons__skill_resume(k, &run, &env);
                    held = false;
                } else if (draw(&seed) % 5 == 0) {
                    pons__skill_hold(k, &run, &env);
                    held = true;
                } else {
                    pons__skill_step(k, &run, &env, &out);
                    answer_is_sound(samples[i].skill, k, &out);
                }
            }
            if (out.status == PONS__SKILL_RUNNING) { // else the frame has stopped it
                pons__skill_stop(k, &run, &env);
            }
        }
    }
}

static void a_hold_takes_no_time_and_a_time_out_ends_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const pons__skill *k = skill_of(i, NULL);
        pons_autovalue args = args_of(i);
        pons__skill_env env = env_now();
        pons__skill_run run;
        pons__skill_output out = {.status = PONS__SKILL_RUNNING};
        pons__skill_start(k, &run, args, &env);
        pons__skill_step(k, &run, &env, &out); // by then it knows how long it may take
        const double limit_s = run.timeout_s > 0.0 ? run.timeout_s : k->timeout_s;
        const int64_t limit_ns = (int64_t)(limit_s * (double)PONS_NS_PER_S);
        if (out.status != PONS__SKILL_RUNNING) {
            continue; // done at once
        }
        pons__skill_hold(k, &run, &env);
        env.robot_ns += 2 * limit_ns;
        pons__skill_resume(k, &run, &env);
        assert_true(env.robot_ns - run.start_ns == 0);
        env.robot_ns += limit_ns + PONS_NS_PER_S;
        pons__skill_step(k, &run, &env, &out);
        if (out.status == PONS__SKILL_RUNNING) {
            fail_msg("%s runs on after its time-out", samples[i].skill);
        }
        answer_is_sound(samples[i].skill, k, &out);
    }
}

// ---- goals --------------------------------------------------------------------------------------

static bool wish_is_zero(void)
{
    const pons_twist2 w = t.body->cmd.want;
    return w.v == 0.0 && w.w == 0.0;
}

static void reset(void)
{
    bench_send(&t, pons_object("type", json_string("reset"), "epoch", json_integer(t.epoch), NULL));
    bench_step(&t, 0.2);
    assert_false(pons__body_latched(t.body));
}

// After so much of its time: a stop ends what moves and leaves nothing to drive by, also when it is
// lifted; a cancel ends every skill.
static void a_stop_at_any_phase_leaves_no_wish(void **state)
{
    (void)state;
    static const double part[] = {0.0, 0.3, 1.0};
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const pons__skill *k = skill_of(i, NULL);
        for (size_t p = 0; p < sizeof part / sizeof part[0]; p++) {
            char id[64];
            snprintf(id, sizeof id, "%s-%zu", samples[i].skill, p);
            bench_goal(&t, id, samples[i].skill, samples[i].args);
            bench_step(&t, 0.02 + part[p] * samples[i].seconds);
            if (k->moves) {
                bench_send(&t, pons_object("type", json_string("stop"), "reason",
                                           json_string("test"), NULL));
            } else {
                bench_send(&t, pons_object("type", json_string("cancel"), "goal_id",
                                           json_string(id), "epoch", json_integer(t.epoch), NULL));
            }
            bench_step(&t, 0.1);
            if (!pons_get(t.results, id)) {
                fail_msg("%s goes on after it was stopped", id);
            }
            assert_true(wish_is_zero());
            if (k->moves) {
                reset();
            }
            bench_step(&t, 1.0);
            assert_true(wish_is_zero());
            assert_true(bench_speed(&t) < 0.01);
        }
    }
}

// ---- a module's ---------------------------------------------------------------------------------

static void a_modules_skill_moves_the_robot_and_brings_it_back(void **state)
{
    (void)state;
    pons_pose2 before, now;
    assert_int_equal(pons_body_truth(t.body, &before, NULL), PONS_OK);
    bench_goal(&t, "w", "wiggle", "{\"angle_rad\":0.5}");
    double left = 0.0, right = 0.0;
    for (int i = 0; i < 600 && !pons_get(t.results, "w"); i++) {
        bench_step(&t, 0.05);
        assert_int_equal(pons_body_truth(t.body, &now, NULL), PONS_OK);
        left = fmax(left, pons_wrap_angle(now.yaw - before.yaw));
        right = fmin(right, pons_wrap_angle(now.yaw - before.yaw));
    }
    assert_string_equal(bench_until_result(&t, "w", TOLD_S), "done 0");
    assert_true(left > 0.4 && left < 0.7 && right < -0.4 && right > -0.7);
    bench_step(&t, 0.5);
    assert_int_equal(pons_body_truth(t.body, &now, NULL), PONS_OK);
    assert_true(fabs(pons_wrap_angle(now.yaw - before.yaw)) < 0.1);
}

static const char *refused(const char *args)
{
    bench_forget(&t);
    bench_goal(&t, NULL, "wiggle", args);
    bench_step(&t, 0.1);
    return pons_get_str(bench_last(&t, "rejected"), "code", "");
}

static void arguments_are_held_against_its_schema(void **state)
{
    (void)state;
    assert_string_equal(refused("{\"angle_rad\":0.5,\"speed\":1}"), "bad_args");
    assert_string_equal(refused("{\"angle_rad\":3}"), "bad_args");
    assert_string_equal(refused("{\"times\":\"two\"}"), "bad_args");
}

// A skill that is told by its argument how to be wrong.
static bool odd_check(const pons_skill_view *now, char *ret_why, size_t cap)
{
    assert_int_equal(now->run_ns, 0);
    snprintf(ret_why, cap, "not today");
    return strcmp(pons_get_str(now->args, "how", ""), "refuse") != 0;
}

static int odd_stops, odd_lives;

static void odd_start(void *state, const pons_skill_view *now)
{
    (void)now;
    char *text = calloc(1, 32); // what start allocates stop frees
    memcpy(state, &text, sizeof text);
    odd_lives++;
}

static void odd_stop(void *state, const pons_skill_view *now)
{
    (void)now;
    char *text;
    memcpy(&text, state, sizeof text);
    free(text);
    odd_stops++;
}

static void odd_step(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    (void)state;
    const char *how = pons_get_str(now->args, "how", "");
    if (strcmp(how, "nan") == 0) {
        ret->want.v = NAN;
    } else if (strcmp(how, "status") == 0) {
        memset(&ret->status, 77, sizeof ret->status);
    } else if (strcmp(how, "own") == 0) {
        pons_skill_fail(ret, PONS_SKILL_OWN_ERRORS + 7, "as it says");
    } else if (strcmp(how, "zero") == 0) {
        pons_skill_fail(ret, 0, "no number");
    } else if (strcmp(how, "theirs") == 0) {
        pons_skill_fail(ret, 9902, "STOPPED");
    } else {
        ret->want.v = 0.3; // and it does not move
    }
}

static pons_skill odd_skill(void)
{
    return (pons_skill){
        .abi = PONS_SKILL_ABI,
        .name = "odd",
        .description = "Is wrong.",
        .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                       "\"how\":{\"type\":\"string\"}}}",
        .state_size = sizeof(char *),
        .needs_base = true,
        .timeout_s = 2.0,
        .success_criteria = "never",
        .error_map = "{\"default\":\"abort\"}",
        .check = odd_check,
        .start = odd_start,
        .step = odd_step,
        .stop = odd_stop,
    };
}

static void busy_step(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    (void)state;
    ret->status = now->run_ns > (int64_t)(pons_get_num(now->args, "s", 1.0) * 1e9)
                      ? PONS_SKILL_DONE
                      : PONS_SKILL_RUNNING;
}

// Three skills take one each of a resource of which the robot has two. The third may begin when one of
// the others has ended, and the body itself says so, whoever asks.
static void a_quota_of_two_lets_two_of_three_run(void **state)
{
    (void)state;
    static pons_skill see[3];
    static const pons_skill *all[3];
    static const char *const names[] = {"see_people", "see_cups", "see_doors"};
    for (size_t i = 0; i < 3; i++) {
        see[i] = odd_skill();
        see[i].name = names[i];
        see[i].args_schema = "{\"type\":\"object\",\"additionalProperties\":false,"
                             "\"properties\":{\"s\":{\"type\":\"number\"}}}";
        see[i].needs_base = false;
        see[i].timeout_s = 60.0;
        see[i].check = NULL;
        see[i].start = NULL;
        see[i].step = busy_step;
        see[i].stop = NULL;
        see[i].reported = "{\"resources_counted\":{\"gpu\":1}}";
        all[i] = &see[i];
    }
    pons_value *robot = json_object_get(t.world, "robot");
    json_object_set_new(robot, "resources", json_pack("{s:i}", "gpu", 2));
    t.opts.skills = all;
    t.opts.n_skills = 3;
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.2);
    const char *one = bench_goal(&t, "one", "see_people", "{\"s\":20}");
    const char *two = bench_goal(&t, "two", "see_cups", "{\"s\":5}");
    bench_step(&t, 0.2);
    const pons_value *counted = pons_get(pons_get(t.telemetry, "resources"), "counted");
    assert_int_equal(pons_get_int(counted, "gpu", 0), 2);
    bench_goal(&t, NULL, "see_doors", "{\"s\":1}");
    bench_step(&t, 0.1);
    const pons_value *no = bench_last(&t, "rejected");
    assert_string_equal(pons_get_str(no, "code", ""), "busy");
    assert_string_equal(pons_get_str(no, "message", ""),
                        "see_doors needs 1 of gpu; 2 of 2 are taken");
    assert_string_equal(bench_until_result(&t, two, 10.0), "done 0");
    const char *three = bench_goal(&t, NULL, "see_doors", "{\"s\":1}");
    assert_string_equal(bench_until_result(&t, three, 5.0), "done 0");
    assert_string_equal(bench_until_result(&t, one, 30.0), "done 0");
    counted = pons_get(pons_get(t.telemetry, "resources"), "counted");
    assert_int_equal(pons_get_int(counted, "gpu", 9), 0);
    json_object_del(robot, "resources");
}

static void a_modules_mistake_is_its_goals_failure(void **state)
{
    (void)state;
    const pons_skill odd = odd_skill(), *const both[] = {wiggle, &odd};
    t.opts.skills = both;
    t.opts.n_skills = 2;
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.2);
    static const struct {
        const char *args, *result;
    } rows[] = {
        {"{\"how\":\"nan\"}", "failed 9906"},   {"{\"how\":\"status\"}", "failed 9906"},
        {"{\"how\":\"zero\"}", "failed 9906"},  {"{\"how\":\"theirs\"}", "failed 9906"},
        {"{\"how\":\"own\"}", "failed 10007"},  {"{\"how\":\"late\"}", "failed 9903"},
        {"{\"how\":\"cancel\"}", "canceled 0"},
    };
    odd_stops = odd_lives = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *id = bench_goal(&t, NULL, "odd", rows[i].args);
        bench_step(&t, 0.05);
        if (strstr(rows[i].args, "cancel")) {
            bench_send(&t, pons_object("type", json_string("cancel"), "goal_id", json_string(id),
                                       "epoch", json_integer(t.epoch), NULL));
        }
        assert_string_equal(bench_until_result(&t, id, 5.0), rows[i].result);
        assert_true(wish_is_zero()); // it has the base, and never moved it
        assert_true(bench_speed(&t) < 0.01);
    }
    assert_int_equal(odd_lives, sizeof rows / sizeof rows[0]);
    assert_int_equal(odd_stops, odd_lives);
    bench_forget(&t);
    bench_goal(&t, NULL, "odd", "{\"how\":\"refuse\"}");
    bench_step(&t, 0.1);
    assert_string_equal(pons_get_str(bench_last(&t, "rejected"), "message", ""), "not today");
    assert_int_equal(odd_stops, odd_lives);
    bench_goal(&t, NULL, "odd", "{\"how\":\"late\"}");
    bench_step(&t, 0.2);
    assert_int_equal(odd_lives, odd_stops + 1);
    bench_reboot(&t); // the body's end is an end too
    assert_int_equal(odd_stops, odd_lives);
}

static void expect_refusal(pons_skill s, int rc, const char *says)
{
    const pons_skill *const both[] = {wiggle, &s};
    pons_value *registry = NULL;
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    assert_int_equal(pons_body_skills(both, 2, &registry, &err), rc);
    pons_error_line(&err, line, sizeof line);
    if (!strstr(line, says)) {
        fail_msg("“%s” does not say “%s”", line, says);
    }
    assert_null(registry);
}

static void a_bad_record_is_refused_with_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *says;
    } schemas[] = {
        {NULL, "no JSON"},
        {"{", "no JSON"},
        {"{\"type\":\"object\"}", "additionalProperties: false"},
        {"{\"type\":\"array\",\"additionalProperties\":false}", "of an object"},
        {"{\"type\":\"object\",\"additionalProperties\":false,\"requird\":[]}", "requird"},
    };
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        pons_skill s = odd_skill();
        s.args_schema = schemas[i].schema;
        expect_refusal(s, PONS_EINVAL, schemas[i].says);
    }
    static const char *const maps[] = {NULL, "[]", "{}", "{\"default\":\"pray\"}",
                                       "{\"x\":\"retry\",\"default\":\"retry\"}"};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        pons_skill s = odd_skill();
        s.error_map = maps[i];
        expect_refusal(s, PONS_EINVAL, "error_map");
    }
    static const char *const names[] = {NULL, "", "1st", "a b", "naïve"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        pons_skill s = odd_skill();
        s.name = names[i];
        expect_refusal(s, PONS_EINVAL, "its name");
    }
    pons_skill s = odd_skill();
    s.name = "spin";
    expect_refusal(s, PONS_EEXIST, "there is a skill spin already");
    s.name = "wiggle";
    expect_refusal(s, PONS_EEXIST, "there is a skill wiggle already");
    s = odd_skill();
    s.abi++;
    expect_refusal(s, PONS_EUNSUPPORTED, "version 3, this body's is 2");
    s = odd_skill();
    s.step = NULL;
    expect_refusal(s, PONS_EINVAL, "no step");
    s = odd_skill();
    s.needs_base = false;
    s.moves = true;
    expect_refusal(s, PONS_EINVAL, "needs the base");
    s = odd_skill();
    s.state_size = PONS_SKILL_STATE_MAX + 1;
    expect_refusal(s, PONS_EINVAL, "state_size");
    s = odd_skill();
    s.timeout_s = NAN;
    expect_refusal(s, PONS_EINVAL, "timeout_s");
    static const struct {
        const char *reported, *says;
    } tells[] = {{"[]", "no JSON object"},
                 {"{\"timeout_s\":3}", "said in its record already"},
                 {"{\"resources_counted\":{\"gpu\":0}}", "whole numbers from 1"},
                 {"{\"resources_counted\":{\"gpu\":0.5}}", "whole numbers from 1"}};
    for (size_t i = 0; i < sizeof tells / sizeof tells[0]; i++) {
        s = odd_skill();
        s.reported = tells[i].reported;
        expect_refusal(s, PONS_EINVAL, tells[i].says);
    }
    // A module of the contract's first version has no such member: it is not looked at.
    pons_value *registry = NULL;
    pons_error err = PONS_ERROR_INIT;
    s = odd_skill();
    s.abi = PONS_SKILL_ABI_FIRST;
    s.reported = "[";
    const pons_skill *const old[] = {&s};
    assert_int_equal(pons_body_skills(old, 1, &registry, &err), PONS_OK);
    pons_value_unref(registry);
}

#define IN_HOUSE(f) cmocka_unit_test_setup_teardown(f, open_house, close_house)

int main(void)
{
    pons_value_init();
    const void *ops = NULL;
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/examples/modules", 1);
    if (pons_module_load("skill", "wiggle", &ops, NULL) < 0) {
        fprintf(stderr, "there is no examples/modules/skill-wiggle.so\n");
        return 1;
    }
    wiggle = ops;
    const struct CMUnitTest tests[] = {
        IN_HOUSE(every_skill_has_a_sample_here),
        IN_HOUSE(a_schema_is_valid_and_closed),
        IN_HOUSE(an_error_map_covers_every_number),
        IN_HOUSE(its_functions_may_come_in_every_order),
        IN_HOUSE(a_hold_takes_no_time_and_a_time_out_ends_it),
        IN_HOUSE(a_stop_at_any_phase_leaves_no_wish),
        IN_HOUSE(a_modules_skill_moves_the_robot_and_brings_it_back),
        IN_HOUSE(arguments_are_held_against_its_schema),
        IN_HOUSE(a_quota_of_two_lets_two_of_three_run),
        IN_HOUSE(a_modules_mistake_is_its_goals_failure),
        IN_HOUSE(a_bad_record_is_refused_with_one_line),
    };
    return cmocka_run_group_tests_name("body/skill_conformance", tests, NULL, NULL);
}
