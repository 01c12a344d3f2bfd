// test_memory.c - every allocation of the critic made to fail once: compiling, judging an action, a
// verdict of many rules. Each says that there is no memory or comes out as undisturbed: a rule that
// found no room to be told is no yes.
#include "oom.h"
#include "pons/critic.h"
#include "unit.h"

#include <string.h>

static pons_value *skills, *embodiment, *world, *robot; // made before anything fails

static pons_value *json_of(const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v = NULL;
    assert_int_equal(pons_value_parse(text, strlen(text), &v, &err), PONS_OK);
    return v;
}

// user: the arguments of `move_to`.
static int judge(const void *user, char **ret, pons_error *err)
{
    const pons_critic_options o = {.skills = skills, .embodiment = embodiment, .world = world};
    const pons_critic_situation now = {.live = true, .robot = robot, .mode = "EXEC"};
    pons_critic *c = NULL;
    pons_verdict *v = NULL;
    int st = pons_critic_create(&o, &c, err);
    st = st < 0 ? st : pons_critic_judge(c, "move_to", user, &now, &v, err);
    if (st >= 0) {
        char *rules = NULL;
        const long n = pons_value_dump(pons_verdict_rules(v), &rules);
        st = n < 0 ? (int)n : PONS_OK;
        *ret = rules;
        if (st >= 0 && !pons_verdict_ok(v) && strcmp(rules, "[]") == 0) {
            st = PONS_ENOMEM; // it is no yes, and says nothing: no memory
            free(rules);
            *ret = NULL;
        }
    }
    pons_verdict_destroy(v);
    pons_critic_destroy(c);
    return st;
}

// A model's refusals beside those of another verdict, as a value, whole or not at all.
static int tell(const void *user, char **ret, pons_error *err)
{
    pons_verdict *v = pons_verdict_create(), *other = pons_verdict_create();
    int st = v && other ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "test", "out of memory");
    st = st < 0 ? st : pons_verdict_refuse(v, "a person", NULL, "cut inside a character: \xe4\xb8");
    st = st < 0 ? st : pons_verdict_refuse_value(other, "a model", user);
    st = st < 0 ? st : pons_verdict_add(v, other);
    if (st >= 0) {
        pons_value *whole = pons_verdict_to_value(v);
        const long n = whole ? pons_value_dump(whole, ret) : PONS_ENOMEM;
        st = n < 0 ? (int)n : PONS_OK;
        pons_value_unref(whole);
    }
    pons_verdict_destroy(other);
    pons_verdict_destroy(v);
    return st;
}

static void verdicts(void **state)
{
    (void)state;
    skills =
        json_of("[{\"name\":\"move_to\",\"resources_required\":[\"arm\"],\"args_schema\":{\"type\":"
                "\"object\",\"required\":[\"target_pose\"]}}]");
    embodiment = json_of("{\"name\":\"panda\",\"max_reach_m\":0.855,\"payload_kg\":3.0}");
    world = json_of("{\"name\":\"w\",\"bounds\":[-5,-5,5,5],\"zones\":[],\"objects\":[]}");
    robot = json_of(
        "{\"pose\":{\"x\":0,\"y\":0,\"yaw\":0},\"battery_pct\":5,\"stop\":{\"latched\":true,"
        "\"reason\":\"r\"},\"holding\":null}");
    pons_value *far = json_of("{\"target_pose\":[1.8,0.75,0.8]}"), *none = json_of("{}");
    oom_sweep("an action that breaks several rules", judge, far);
    oom_sweep("an action without its argument", judge, none);
    pons_value *refusals =
        json_of("{\"refusals\":[\"too far\",{\"rule\":\"r\",\"message\":\"m\"}]}");
    oom_sweep("refusals of a model", tell, refusals);
    pons_value_unref(refusals);
    pons_value_unref(far);
    pons_value_unref(none);
    pons_value_unref(skills);
    pons_value_unref(embodiment);
    pons_value_unref(world);
    pons_value_unref(robot);
}

int main(void)
{
    oom_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
