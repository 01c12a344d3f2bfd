// The rule policy decides: a table of observations beside the decision each must give, the way
// through a whole task round by round, and random observations (the seed is printed), every
// one of which must give a decision that schemas/decision.json accepts and that keeps the rules no
// chance may break: nothing is dispatched while the stop is latched or something of the goal runs,
// only skills that the robot has, only for a goal that is not done.
#include "llm/llm_fixture.h"
#include "pons/random.h"
#include "pons/rule_policy.h"
#include "rounds.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_policy rules;
static pons_schema *decision_schema, *observation_schema;

// An observation in which nothing has happened yet: two goals, a healthy robot.
static const char base_text[] =
    "{\"iter\":1,\"mode\":\"EXEC\","
    "\"task\":{\"id\":\"t1\",\"text\":\"x\",\"priority\":50,\"goal_index\":0,\"goals\":["
    "{\"intent\":\"go_to\",\"zone\":\"kitchen\",\"done\":false},"
    "{\"intent\":\"go_to\",\"zone\":\"bedroom\",\"done\":false}]},"
    "\"robot\":{\"pose\":{\"x\":0,\"y\":0,\"yaw\":0},\"battery_pct\":90,"
    "\"battery_state\":\"discharging\",\"zone\":\"living_room\",\"docked\":false,"
    "\"resources\":{\"base_busy\":false},\"distance_to_target\":null,"
    "\"stop\":{\"latched\":false,\"reason\":\"\"}},"
    "\"world\":{\"summary\":\"s\",\"zones\":[\"kitchen\",\"bedroom\",\"living_room\"],"
    "\"obstacles\":0},"
    "\"skills\":[\"navigate_to_pose\",\"stop_base\",\"dock_to_charger\",\"undock\",\"speak\","
    "\"wait\",\"look\"],"
    "\"running\":[],\"last_result\":null,\"failures\":0,"
    "\"limits\":{\"failures_max\":3,\"iterations_max\":20},\"no_progress\":false,"
    "\"human\":null}";

#define RESULT(status, code, recovery)                                                             \
    "\"last_result\":{\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":\"kitchen\"},"             \
    "\"goal_id\":\"g1\",\"goal_index\":0,\"status\":\"" status "\",\"error_code\":" code           \
    ",\"error_msg\":\"blocked\",\"recovery\":\"" recovery "\",\"metrics\":{}}"
#define STEP(skill, args)                                                                          \
    "\"last_result\":{\"skill\":\"" skill "\",\"args\":" args                                      \
    ",\"goal_id\":\"g1\",\"goal_index\":0,\"status\":\"done\",\"error_code\":0,"                   \
    "\"error_msg\":\"\",\"recovery\":\"none\",\"metrics\":{}}"
#define RUNNING(index)                                                                             \
    "\"running\":[{\"goal_id\":\"g7\",\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":"          \
    "\"kitchen\"},\"goal_index\":" index ",\"elapsed_s\":4.5,\"distance_remaining_m\":2.25}]"
#define GOAL(goal)                                                                                 \
    "\"task\":{\"id\":\"t\",\"text\":\"x\",\"priority\":1,\"goal_index\":0,\"goals\":[" goal "]}"
#define DOCKED(pct)                                                                                \
    "\"robot\":{\"pose\":{\"x\":0,\"y\":0,\"yaw\":0},\"battery_pct\":" pct                         \
    ",\"battery_state\":\"charging\",\"zone\":null,\"docked\":true,\"resources\":{},"              \
    "\"distance_to_target\":null,\"stop\":{\"latched\":false,\"reason\":null}}"
#define CHARGED_AT(pct)                                                                            \
    "\"limits\":{\"failures_max\":3,\"iterations_max\":20,\"charged_pct\":" pct "}"
#define LATCHED                                                                                    \
    "\"robot\":{\"pose\":{\"x\":0,\"y\":0,\"yaw\":0},\"battery_pct\":50,"                          \
    "\"battery_state\":\"discharging\",\"zone\":null,\"docked\":false,\"resources\":{},"           \
    "\"distance_to_target\":null,\"stop\":{\"latched\":true,\"reason\":\"bumper\"}}"
#define ANSWER(text) "\"human\":{\"question\":\"go on?\",\"answer\":\"" text "\"}"
#define IN_KITCHEN                                                                                 \
    "\"robot\":{\"pose\":{\"x\":0,\"y\":0,\"yaw\":0},\"battery_pct\":50,"                          \
    "\"battery_state\":\"discharging\",\"zone\":\"kitchen\",\"docked\":false,\"resources\":{},"    \
    "\"distance_to_target\":null,\"stop\":{\"latched\":false,\"reason\":null}}"

// What changes in the observation, and what is decided: "TYPE", "TYPE skill args", "TYPE cancel
// id".
static const struct {
    const char *change, *expected, *reason; // reason: a part of it
} table[] = {
    {"", "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}", "Goal 1 of 2"},
    {"\"task\":null", "CONTINUE", "no task"},
    {GOAL("{\"intent\":\"go_to\",\"zone\":\"kitchen\",\"done\":true}"), "FINISH",
     "The goal is done."},
    {GOAL(""), "FINISH", "0 goals"},
    // the other intents
    {GOAL("{\"intent\":\"charge\",\"done\":false}"), "CONTINUE dock_to_charger {}", "90 %"},
    {GOAL("{\"intent\":\"wait\",\"seconds\":5,\"done\":false}"), "CONTINUE wait {\"s\":5.0}", ""},
    {GOAL("{\"intent\":\"say\",\"text\":\"hi\",\"done\":false}"),
     "CONTINUE speak {\"text\":\"hi\"}", ""},
    {GOAL("{\"intent\":\"patrol\",\"zones\":[\"a\",\"b\"],\"done\":false}"),
     "CONTINUE navigate_to_pose {\"zone\":\"a\"}", "patrol a (1 of 2)"},
    {GOAL("{\"intent\":\"patrol\",\"zones\":[\"a\",\"b\"],\"visited\":[\"a\"],\"done\":false}"),
     "CONTINUE navigate_to_pose {\"zone\":\"b\"}", "2 of 2"},
    {GOAL("{\"intent\":\"patrol\",\"zones\":[\"kitchen\",\"b\"],\"visited\":[\"kitchen\"],"
          "\"done\":false}") "," RESULT("done", "0", "none"),
     "CONTINUE navigate_to_pose {\"zone\":\"b\"}", "2 of 2"},
    {GOAL("{\"intent\":\"bring\",\"object\":\"apple\",\"done\":false}"), "ABORT",
     "no skill pick on this robot"},
    {GOAL("{\"intent\":\"put\",\"object\":\"apple\",\"place\":\"b\",\"done\":false}") ","
                                                                                      "\"skills\":["
                                                                                      "\"pick\","
                                                                                      "\"place\"]",
     "CONTINUE pick {\"object\":\"apple\"}", ""},
    {GOAL("{\"intent\":\"put\",\"object\":\"apple\",\"place\":\"b\",\"done\":false}") ","
                                                                                      "\"skills\":["
                                                                                      "\"pick\","
                                                                                      "\"place\"]"
                                                                                      "," STEP(
                                                                                          "pick",
                                                                                          "{\"objec"
                                                                                          "t\":"
                                                                                          "\"apple"
                                                                                          "\"}"),
     "CONTINUE place {\"object\":\"apple\",\"place\":\"b\"}", "pick is done"},
    // another angle is another turn, in whatever direction
    {GOAL("{\"intent\":\"do\",\"skill\":\"speak\",\"args\":{\"angle\":-1.57},\"done\":false}") "," STEP(
         "speak", "{\"angle\":-0.1}"),
     "RETRY speak {\"angle\":-1.57}", ""},
    {GOAL("{\"intent\":\"do\",\"skill\":\"speak\",\"args\":{\"angle\":-1.57},\"done\":false}") "," STEP(
         "speak", "{\"angle\":-1.571}"),
     "FINISH", ""},
    {GOAL("{\"intent\":\"fly\",\"done\":false}"), "ABORT", "no skill on this robot meets \"fly\""},
    {"\"skills\":[\"speak\"]", "ABORT", "no skill navigate_to_pose on this robot"},
    // the latch
    {LATCHED, "ASK_HUMAN", "stop is latched (bumper); reset to go on"},
    {LATCHED "," ANSWER("不行"), "ABORT", "gave up"},
    {LATCHED "," ANSWER("ok"), "ASK_HUMAN", "reset"},
    // while something runs
    {RUNNING("0"), "CONTINUE", "under way, 4.5 s, 2.25 m to go"},
    {RUNNING("0") ",\"no_progress\":true", "REPLAN cancel g7", "no progress after 4.5 s"},
    {RUNNING("1"), "REPLAN cancel g7", "belongs to another goal"},
    {"\"running\":[{\"goal_id\":\"g7\",\"skill\":\"speak\",\"args\":{},"
     "\"goal_index\":1,\"beside\":true}]",
     "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}", ""},
    // results
    {RESULT("canceled", "0", "none"), "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}",
     "canceled"},
    {RESULT("failed", "105", "retry") ",\"failures\":1",
     "RETRY navigate_to_pose {\"zone\":\"kitchen\"}", "105 (blocked), failure 1 of 3"},
    {RESULT("failed", "105", "none") ",\"failures\":1",
     "RETRY navigate_to_pose {\"zone\":\"kitchen\"}", ""},
    {RESULT("failed", "208", "replan") ",\"failures\":1", "REPLAN wait {\"s\":3.0}", "208"},
    {RESULT("failed", "208", "replan") ",\"failures\":2", "REPLAN look {}", "looking"},
    {RESULT("failed", "208", "replan") ",\"failures\":1,\"skills\":[\"navigate_to_pose\"]",
     "REPLAN navigate_to_pose {\"zone\":\"kitchen\"}", "another way"},
    {RESULT("refused", "0", "replan"), "REPLAN wait {\"s\":3.0}",
     "navigate_to_pose was refused (blocked); "},
    {"\"last_result\":{\"skill\":\"\",\"args\":{},\"goal_id\":\"\",\"goal_index\":0,\"status\":"
     "\"refused\","
     "\"error_code\":0,\"error_msg\":\"blocked\",\"recovery\":\"replan\",\"metrics\":{}}",
     "REPLAN wait {\"s\":3.0}", "the decision was refused (blocked); "},
    {STEP("wait", "{\"s\":3.0}"), "RETRY navigate_to_pose {\"zone\":\"kitchen\"}", "wait is done"},
    {STEP("look", "{}"), "RETRY navigate_to_pose {\"zone\":\"kitchen\"}", "look is done"},
    {RESULT("failed", "1", "abort"), "ABORT", "cannot be recovered"},
    {RESULT("failed", "1", "ask_human"), "ASK_HUMAN", "shall I try again?"},
    {RESULT("failed", "1", "retry") ",\"failures\":3", "ASK_HUMAN", "failure 3 of 3"},
    {RESULT("failed", "1", "retry") ",\"failures\":3," ANSWER("no"), "ABORT", "a person said no"},
    {RESULT("failed", "1", "retry") ",\"failures\":3," ANSWER("算了，停止"), "ABORT", ""},
    {RESULT("failed", "1", "retry") ",\"failures\":3," ANSWER("yes"),
     "RETRY navigate_to_pose {\"zone\":\"kitchen\"}", "A person said \"yes\""},
    {RESULT("outcome_unknown", "0", "none"), "REPLAN look {}", "not known"},
    {RESULT("outcome_unknown", "0", "ask_human"), "ASK_HUMAN", "not known"},
    {RESULT("refused", "0", "none"), "REPLAN wait {\"s\":3.0}", "refused"},
    // a person's no: to this call, to another place, to another skill
    {RESULT("refused", "0", "ask_human") "," ANSWER("no"), "ABORT", "was refused"},
    {"\"last_result\":{\"skill\":\"navigate_to_pose\",\"args\":{\"zone\":\"study\"},\"goal_id\":"
     "\"\","
     "\"goal_index\":0,\"status\":\"refused\",\"error_code\":0,\"error_msg\":\"a person said no\","
     "\"recovery\":\"ask_human\",\"metrics\":{}}," ANSWER("no"),
     "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}", "a person said no"},
    {"\"last_result\":{\"skill\":\"dock_to_charger\",\"args\":{},\"goal_id\":\"\","
     "\"goal_index\":0,\"status\":\"refused\",\"error_code\":0,\"error_msg\":\"a person said no\","
     "\"recovery\":\"ask_human\",\"metrics\":{}}," ANSWER("no"),
     "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}", "a person said no"},
    {RESULT("rejected", "0", "retry") ",\"failures\":3", "ASK_HUMAN", "rejected"},
    {RESULT("rejected", "0", "abort"), "ABORT", ""},
    {RESULT("done", "0", "none"), "REPLAN wait {\"s\":3.0}", "the robot is in living_room"},
    {GOAL("{\"intent\":\"charge\",\"done\":false}") "," STEP("dock_to_charger", "{}"),
     "REPLAN wait {\"s\":3.0}", "not on the charger"},
    {RESULT("done", "0", "none") ",\"failures\":3", "ASK_HUMAN", "does not show it"},
    // done, though not marked so yet
    {RESULT("done", "0", "none") "," IN_KITCHEN, "CONTINUE navigate_to_pose {\"zone\":\"bedroom\"}",
     "Goal 2 of 2"},
    {GOAL("{\"intent\":\"wait\",\"seconds\":3,\"done\":false}") "," STEP("wait", "{\"s\":3}"),
     "FINISH", "wait 3 s"},
    {GOAL("{\"intent\":\"wait\",\"seconds\":9,\"done\":false}") "," STEP("wait", "{\"s\":3}"),
     "RETRY wait {\"s\":9.0}", "The pause is over"},
    {GOAL("{\"intent\":\"charge\",\"done\":false}") "," DOCKED("41"), "CONTINUE wait {\"s\":10.0}",
     "41 % of 80 %"},
    {GOAL("{\"intent\":\"charge\",\"done\":false}") "," DOCKED("85") "," CHARGED_AT("95"),
     "CONTINUE wait {\"s\":10.0}", "85 % of 95 %"},
    {GOAL("{\"intent\":\"charge\",\"done\":false}") "," DOCKED("61") "," CHARGED_AT("60"), "FINISH",
     "charge"},
    {GOAL("{\"intent\":\"charge\",\"done\":false}") "," DOCKED("81"), "FINISH", "charge"},
    // a result of another goal says nothing
    {"\"last_result\":{\"skill\":\"navigate_to_pose\",\"args\":{},\"goal_id\":\"g\",\"goal_index\":"
     "1,"
     "\"status\":\"failed\",\"error_code\":1,\"error_msg\":\"\",\"recovery\":\"abort\","
     "\"metrics\":{}}",
     "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}", ""},
};

// ---- what the brain adds ------------------------------------------------------------------------

static pons_value *means_of(const pons_value *goal, const char *skill, pons_value *args, int i,
                            int step, const char *says)
{
    return pons_object("goal_index", json_integer(i), "intent",
                       json_string(pons_get_str(goal, "intent", "")), "step", json_integer(step),
                       "skill", json_string(skill), "args", args, "says", json_string(says), NULL);
}

// As the registry of a robot with these skills would have it filled for this goal.
static void add_means(pons_value *list, const pons_value *goal, int i)
{
    const char *intent = pons_get_str(goal, "intent", "");
    const char *zone = pons_get_str(goal, "zone", "?"),
               *object = pons_get_str(goal, "object", "it");
    const char *place = pons_get_str(goal, "place", NULL);
    char says[200];
    if (strcmp(intent, "go_to") == 0) {
        snprintf(says, sizeof says, "go to %s", zone);
        pons_value *m =
            means_of(goal, "navigate_to_pose", json_pack("{s:s}", "zone", zone), i, 1, says);
        json_object_set_new(m, "test", json_string("at"));
        json_array_append_new(list, m);
    } else if (strcmp(intent, "charge") == 0) {
        pons_value *m = means_of(goal, "dock_to_charger", json_object(), i, 1, "charge");
        json_object_set_new(m, "test", json_string("charged"));
        json_array_append_new(list, m);
    } else if (strcmp(intent, "wait") == 0) {
        const double s = pons_get_num(goal, "seconds", 1.0);
        snprintf(says, sizeof says, "wait %g s", s);
        pons_value *m = means_of(goal, "wait", json_pack("{s:f}", "s", s), i, 1, says);
        json_object_set_new(m, "amount", json_string("s"));
        json_array_append_new(list, m);
    } else if (strcmp(intent, "do") == 0) {
        const char *skill = pons_get_str(goal, "skill", "");
        json_array_append_new(
            list, means_of(goal, skill, json_copy((json_t *)pons_get(goal, "args")), i, 1, skill));
    } else if (strcmp(intent, "say") == 0) {
        json_array_append_new(list,
                              means_of(goal, "speak",
                                       json_pack("{s:s}", "text", pons_get_str(goal, "text", "")),
                                       i, 1, "speak"));
    } else if (strcmp(intent, "patrol") == 0) {
        const pons_value *zones = pons_get(goal, "zones");
        const size_t at = json_array_size(pons_get(goal, "visited"));
        if (at < json_array_size(zones)) {
            const char *next = json_string_value(json_array_get(zones, at));
            snprintf(says, sizeof says, "patrol %s (%zu of %zu)", next, at + 1,
                     json_array_size(zones));
            pons_value *m =
                means_of(goal, "navigate_to_pose", json_pack("{s:s}", "zone", next), i, 1, says);
            json_object_set_new(m, "each", json_true());
            json_array_append_new(list, m);
        }
    } else if (strcmp(intent, "bring") == 0 || strcmp(intent, "put") == 0) {
        json_array_append_new(
            list, means_of(goal, "pick", json_pack("{s:s}", "object", object), i, 1, "pick it"));
        if (place) {
            json_array_append_new(
                list,
                means_of(goal, "place", json_pack("{s:s, s:s}", "object", object, "place", place),
                         i, 2, "place it"));
        }
    }
}

static void fill_means(pons_value *obs)
{
    pons_value *list = json_array();
    const pons_value *goals = pons_get(pons_get(obs, "task"), "goals");
    for (size_t i = 0; i < json_array_size(goals); i++) {
        if (!pons_get_bool(json_array_get(goals, i), "done", false)) {
            add_means(list, json_array_get(goals, i), (int)i);
        }
    }
    json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:{s:f}, s:s, s:s}", "goal_index", -1,
                                          "intent", "wait", "skill", "wait", "args", "s", 1.0,
                                          "amount", "s", "says", "wait"));
    json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:{}, s:s}", "goal_index", -1, "intent",
                                          "look", "skill", "look", "args", "says", "look"));
    json_object_set_new(obs, "means", list);
}

static void sum_up(const pons_value *d, char *buf, size_t cap)
{
    size_t n = (size_t)snprintf(buf, cap, "%s", pons_get_str(d, "type", "?"));
    size_t i;
    pons_value *op;
    json_array_foreach(pons_get(d, "ops"), i, op) {
        if (strcmp(pons_get_str(op, "op", ""), "dispatch") == 0) {
            char *args;
            assert_true(pons_value_dump(pons_get(op, "args"), &args) > 0);
            n += (size_t)snprintf(buf + n, cap - n, " %s %s", pons_get_str(op, "skill", "?"), args);
            free(args);
        } else {
            n += (size_t)snprintf(buf + n, cap - n, " %s %s", pons_get_str(op, "op", "?"),
                                  pons_get_str(op, "goal_id", ""));
        }
    }
}

static void check_schema(const pons_schema *s, const pons_value *v)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_schema_check(s, v, &err) != PONS_OK) {
        char *text;
        pons_value_line(v, &text);
        print_error("%s\n  is refused: %s\n", text, err.message);
        free(text);
        fail();
    }
}

static pons_value *decide(const pons_value *obs)
{
    pons_value *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (rules.ops->decide(rules.self, obs, &d, &err) != PONS_OK) {
        fixture_fail(&err, "decide");
    }
    check_schema(decision_schema, d);
    return d;
}

static void test_table(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[2000], got[1000];
        snprintf(text, sizeof text, "{%s}", table[i].change);
        pons_autovalue obs = fixture_json(base_text);
        pons_autovalue change = fixture_json(text);
        json_object_update(obs, change);
        fill_means(obs);
        if (!strstr(text, "\"fly\"")) { // which is there to be no intent
            check_schema(observation_schema, obs);
        }
        pons_autovalue d = decide(obs);
        pons_autovalue again = decide(obs);
        assert_true(json_equal(d, again));
        sum_up(d, got, sizeof got);
        const char *reason = pons_get_str(d, "reason", "");
        if (strcmp(got, table[i].expected) != 0 || !strstr(reason, table[i].reason)) {
            print_error("%s\n  decided  %s (%s)\n  expected %s (%s)\n", table[i].change, got,
                        reason, table[i].expected, table[i].reason);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

// A blocked door: the way from the first failure to the person, each round as the brain would show
// it.
static void test_a_task_goes_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *change, *expected;
    } rounds[] = {
        {"", "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}"},
        {RUNNING("0"), "CONTINUE"},
        {RUNNING("0") ",\"no_progress\":true", "REPLAN cancel g7"},
        {RESULT("canceled", "0", "none"), "CONTINUE navigate_to_pose {\"zone\":\"kitchen\"}"},
        {RESULT("failed", "105", "replan") ",\"failures\":1", "REPLAN wait {\"s\":3.0}"},
        {STEP("wait", "{\"s\":3.0}") ",\"failures\":1",
         "RETRY navigate_to_pose {\"zone\":\"kitchen\"}"},
        {RESULT("failed", "105", "replan") ",\"failures\":2", "REPLAN look {}"},
        {STEP("look", "{}") ",\"failures\":2", "RETRY navigate_to_pose {\"zone\":\"kitchen\"}"},
        {RESULT("failed", "105", "replan") ",\"failures\":3", "ASK_HUMAN"},
        {RESULT("failed", "105", "replan") ",\"failures\":3," ANSWER("no"), "ABORT"},
    };
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        char text[2000], got[1000];
        snprintf(text, sizeof text, "{%s}", rounds[i].change);
        pons_autovalue obs = fixture_json(base_text);
        pons_autovalue change = fixture_json(text);
        json_object_update(obs, change);
        fill_means(obs);
        pons_autovalue d = decide(obs);
        sum_up(d, got, sizeof got);
        assert_string_equal(got, rounds[i].expected);
    }
}

// ---- random observations ------------------------------------------------------------------------

static const char *pick(pons_rand *r, const char *const *list, size_t n)
{
    return list[pons_rand_below(r, n)];
}
#define PICK(r, list) pick(r, list, sizeof list / sizeof *list)

static const char *const skills[] = {
    "navigate_to_pose", "stop_base", "dock_to_charger", "speak", "wait", "look", "pick", "place"};
static const char *const zones[] = {"kitchen", "bedroom", "厨房", "", "living_room"};

static pons_value *maybe(pons_rand *r, pons_value *v)
{
    if (pons_rand_below(r, 2)) {
        return v;
    }
    pons_value_unref(v);
    return json_null();
}

static pons_value *random_goal(pons_rand *r)
{
    static const char *const intents[] = {"go_to", "bring", "put",   "charge",
                                          "wait",  "say",   "patrol"};
    pons_value *list = json_pack("[s,s]", PICK(r, zones), PICK(r, zones));
    pons_value *goal = json_pack("{s:s,s:s,s:s,s:s,s:f,s:o,s:b}", "intent", PICK(r, intents),
                                 "zone", PICK(r, zones), "object", "apple", "text", "hello",
                                 "seconds", (double)pons_rand_below(r, 20), "zones", list, "done",
                                 (int)pons_rand_below(r, 2));
    if (pons_rand_below(r, 2)) {
        json_object_set_new(goal, "place", json_string("basket"));
    }
    if (pons_rand_below(r, 2)) {
        json_object_set_new(goal, "visited", json_pack("[s]", PICK(r, zones)));
    }
    return goal;
}

static pons_value *random_result(pons_rand *r)
{
    static const char *const status[] = {"done",     "failed",  "canceled",
                                         "rejected", "refused", "outcome_unknown"};
    static const char *const recovery[] = {"retry", "replan", "ask_human", "abort", "none"};
    char msg[700] = "";
    for (uint64_t n = pons_rand_below(r, 200); n > 0; n--) {
        strcat(msg, "堵"); // messages longer than any buffer, cut inside a character
    }
    return json_pack("{s:s,s:{s:s,s:f},s:s,s:I,s:s,s:I,s:s,s:s,s:{}}", "skill", PICK(r, skills),
                     "args", "zone", PICK(r, zones), "s", 3.0, "goal_id", "g1", "goal_index",
                     (json_int_t)pons_rand_below(r, 4), "status", PICK(r, status), "error_code",
                     (json_int_t)pons_rand_below(r, 999), "error_msg", msg, "recovery",
                     PICK(r, recovery), "metrics");
}

static pons_value *random_running(pons_rand *r)
{
    pons_value *list = json_array();
    for (uint64_t n = pons_rand_below(r, 3) * pons_rand_below(r, 2); n > 0; n--) {
        json_array_append_new(list, json_pack("{s:s,s:s,s:{},s:I,s:f,s:o}", "goal_id", "g9",
                                              "skill", PICK(r, skills), "args", "goal_index",
                                              (json_int_t)pons_rand_below(r, 4), "elapsed_s",
                                              pons_rand_unit(r) * 90, "distance_remaining_m",
                                              maybe(r, json_real(pons_rand_unit(r)))));
    }
    return list;
}

static pons_value *random_observation(pons_rand *r)
{
    static const char *const answers[] = {"yes", "no", "不", "whatever", "继续"};
    pons_value *obs = fixture_json(base_text);
    pons_value *goals = json_array(), *have = json_array();
    for (uint64_t n = pons_rand_below(r, 4); n > 0; n--) {
        json_array_append_new(goals, random_goal(r));
    }
    for (size_t i = 0; i < sizeof skills / sizeof *skills; i++) {
        if (pons_rand_below(r, 4)) {
            json_array_append_new(have, json_string(skills[i]));
        }
    }
    pons_value *robot = json_object_get(obs, "robot");
    json_object_set_new(robot, "zone", maybe(r, json_string(PICK(r, zones))));
    json_object_set_new(robot, "docked", json_boolean(pons_rand_below(r, 2)));
    json_object_set_new(robot, "battery_pct", json_real(pons_rand_unit(r) * 100));
    json_object_set_new(
        robot, "stop",
        json_pack("{s:b,s:s}", "latched", (int)!pons_rand_below(r, 6), "reason", "heartbeat"));
    json_object_set_new(obs, "task",
                        maybe(r, json_pack("{s:s,s:s,s:i,s:o,s:i}", "id", "t", "text", "x",
                                           "priority", 1, "goals", goals, "goal_index", -1)));
    json_object_set_new(obs, "skills", have);
    json_object_set_new(obs, "running", random_running(r));
    json_object_set_new(obs, "last_result", maybe(r, random_result(r)));
    json_object_set_new(obs, "failures", json_integer((json_int_t)pons_rand_below(r, 5)));
    json_object_set_new(obs, "no_progress", json_boolean(!pons_rand_below(r, 4)));
    json_object_set_new(obs, "human",
                        maybe(r, json_pack("{s:s,s:o}", "question", "q", "answer",
                                           maybe(r, json_string(PICK(r, answers))))));
    fill_means(obs);
    return obs;
}

static bool listed(const pons_value *list, const char *s)
{
    size_t i;
    pons_value *v;
    json_array_foreach(list, i, v) {
        if (strcmp(json_string_value(v), s) == 0) {
            return true;
        }
    }
    return false;
}

// Who has said a goal in Chinese is asked in Chinese.
static void test_asks_in_the_language_of_the_task(void **state)
{
    (void)state;
    static const struct {
        const char *last, *says;
    } rows[] = {
        {"{" RESULT("failed", "1", "ask_human") "}",
         "navigate_to_pose 失败（blocked）；要我再试一次吗？"},
        {"{" RESULT("outcome_unknown", "0", "ask_human") "}",
         "不知道 navigate_to_pose 的结果；要我再试一次吗？"},
        {"{" LATCHED "}", "停止已锁存（bumper）；复位后才能继续。"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_value *obs = fixture_json(base_text), *more = fixture_json(rows[i].last), *d = NULL;
        pons_error err = PONS_ERROR_INIT;
        json_object_update(obs, more);
        json_object_set_new(json_object_get(obs, "task"), "text", json_string("去厨房"));
        fill_means(obs);
        assert_int_equal(rules.ops->decide(rules.self, obs, &d, &err), PONS_OK);
        assert_string_equal(pons_get_str(d, "type", ""), "ASK_HUMAN");
        assert_string_equal(pons_get_str(d, "reason", ""), rows[i].says);
        pons_value_unref(d);
        pons_value_unref(obs);
        pons_value_unref(more);
    }
}

static void test_random_observations(void **state)
{
    (void)state;
    const uint64_t seed = 20260307;
    print_message("seed %llu\n", (unsigned long long)seed);
    pons_rand r;
    pons_rand_seed(&r, seed);
    for (long round = rounds(ROUNDS_policy_observations); round > 0; round--) {
        pons_autovalue obs = random_observation(&r);
        check_schema(observation_schema, obs);
        pons_autovalue d = decide(obs);
        const pons_value *goals = pons_get(pons_get(obs, "task"), "goals");
        bool latched = pons_get_bool(pons_get(pons_get(obs, "robot"), "stop"), "latched", false);
        size_t i;
        pons_value *op;
        json_array_foreach(pons_get(d, "ops"), i, op) {
            assert_false(latched);
            if (strcmp(pons_get_str(op, "op", ""), "dispatch") == 0) {
                int64_t index = pons_get_int(op, "goal_index", -1);
                assert_in_range(index, 0, json_array_size(goals) - 1);
                assert_false(pons_get_bool(json_array_get(goals, (size_t)index), "done", true));
                assert_true(listed(pons_get(obs, "skills"), pons_get_str(op, "skill", "")));
            }
        }
    }
}

// Half an observation is no reason to fall over; no observation is bad input.
static void test_bad_observations(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "{}", "{\"task\":{}}", "{\"task\":{\"goals\":[{}]}}", "{\"task\":7,\"running\":{}}",
        "{\"task\":{\"goals\":[{\"intent\":\"go_to\"}]},\"last_result\":[],\"human\":\"no\"}"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        pons_autovalue obs = fixture_json(odd[i]);
        pons_autovalue d = decide(obs);
        assert_non_null(d);
    }
    pons_value *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue list = json_array();
    assert_int_equal(rules.ops->decide(rules.self, list, &d, &err), PONS_EINVAL);
    assert_int_equal(rules.ops->decide(rules.self, NULL, &d, &err), PONS_EINVAL);
    assert_null(d);
}

static int setup(void **state)
{
    (void)state;
    pons_value_init();
    rules = fixture_rules();
    decision_schema = fixture_schema("decision");
    observation_schema = fixture_schema("observation");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pons_rules_close(&rules);
    pons_schema_destroy(decision_schema);
    pons_schema_destroy(observation_schema);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_a_task_goes_wrong),
        cmocka_unit_test(test_asks_in_the_language_of_the_task),
        cmocka_unit_test(test_random_observations),
        cmocka_unit_test(test_bad_observations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
