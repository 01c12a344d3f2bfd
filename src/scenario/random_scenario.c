// random_scenario.c - a story drawn from a seed: goals, a decision maker, and what happens to them.
//
//     seed --> who decides      the rules; the rules in a model's clothes; a script that may be
//                               sensible, foolish, hostile, slow, or not even JSON
//          --> what is wanted   one to three goals, two languages, some nonsense
//          --> what happens     up to eight things within 45 s: boxes that come, go and move, also right
//                               before the robot, words, wishes with priorities and deadlines, paces,
//                               stops, answers good and bad, deaths and hangs of brain and body, stuck
//                               wheels, a robot carried away, a battery that falls, a model lost, a
//                               clock that jumps; and after a third of them another one at once, which
//                               races with it
//          --> peace            from the 50th second on (calm_end.c), and every task must end
//
// What comes out is a scenario like any in a file, so a seed that failed is replayed, cut down
// (shrink_scenario.c) and kept as one. The draws depend on the seed and on this file alone.
#include "scenario/checks/expectations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GOALS_MAX    3
#define EVENTS_MAX   8
#define REPLIES_MAX  10
#define HAPPENS_TO_S 45
#define PEACE_S      50
#define TIME_LIMIT_S 1800
#define WORLD_X_M    10.0 // of the house
#define WORLD_Y_M    8.0
#define TENTHS       10.0
#define COUNT(list)  (sizeof(list) / sizeof(list)[0])

static const char *const zones[] = {"kitchen", "bedroom", "living_room", "study", "corridor"};

// ---- draws --------------------------------------------------------------------------------------

// Of so many tenths, so that a file has the number that was drawn.
static double tenth(pons_rand *rand, double from, double to)
{
    return from + floor((to - from) * TENTHS * pons_rand_unit(rand)) / TENTHS;
}

static bool chance(pons_rand *rand, unsigned percent)
{
    return pons_rand_below(rand, 100) < percent;
}

static const char *one_of(pons_rand *rand, const char *const *list, size_t n)
{
    return list[pons_rand_below(rand, n)];
}

// ---- what is wanted -----------------------------------------------------------------------------

static pons_value *goals(pons_rand *rand)
{
    static const char *const texts[] = {"去厨房",
                                        "去书房",
                                        "马上去卧室",
                                        "go to the living room",
                                        "go to the study",
                                        "go to the kitchen right now",
                                        "patrol the kitchen and the bedroom",
                                        "等三秒",
                                        "say hello",
                                        "go to the corridor and then wait 2 seconds",
                                        "charge",
                                        "bring the apple to the study",
                                        "把杯子放到水果篮",
                                        "flurb the gronk",
                                        "go to 1.5 2.0 and come back",
                                        "turn around",
                                        "let me drive",
                                        "go forward 1 m",
                                        "where are you",
                                        "go to the kitchen, then the bedroom, then the study"};
    pons_value *list = json_array();
    const size_t n = 1 + (size_t)pons_rand_below(rand, GOALS_MAX);
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_string(one_of(rand, texts, COUNT(texts))));
    }
    return list;
}

// ---- who decides --------------------------------------------------------------------------------

// Goals that take the person's away, mark them done or lead elsewhere, or steps.
static pons_value *patch(pons_rand *rand)
{
    const char *zone = one_of(rand, zones, COUNT(zones));
    switch (pons_rand_below(rand, 5)) {
    case 0:
        return json_pack("{s:[]}", "goals");
    case 1:
        return json_pack("{s:[{s:s, s:s, s:b}]}", "goals", "intent", "go_to", "zone", zone, "done",
                         1);
    case 2:
        return json_pack("{s:[{s:s, s:s}, {s:s, s:f}]}", "goals", "intent", "go_to", "zone", zone,
                         "intent", "wait", "seconds", 1.5);
    case 3:
        return json_pack("{s:[{s:s, s:s, s:{s:s}}, {s:s, s:s, s:{s:f}}]}", "steps", "action",
                         "navigate_to_pose", "tool_call_type", "execute", "parameters", "zone",
                         zone, "action", "spin", "tool_call_type", "execute", "parameters",
                         "angle_rad", 1.0);
    default:
        return json_pack("{s:[{s:s, s:b}, {s:s, s:s, s:{s:f}}]}", "steps", "action", "ask_user",
                         "requires_confirmation", 1, "action", "back_up", "tool_call_type",
                         "execute", "parameters", "distance_m", 0.4);
    }
}

static pons_value *dispatch(const char *skill, pons_value *args)
{
    return pons_object("op", json_string("dispatch"), "skill", json_string(skill), "args", args,
                       NULL);
}

static pons_value *operation(pons_rand *rand)
{
    const char *zone = one_of(rand, zones, COUNT(zones));
    pons_autovalue pose = pons_object("x", json_real(tenth(rand, -2.0, WORLD_X_M + 2.0)), "y",
                                      json_real(tenth(rand, -2.0, WORLD_Y_M + 2.0)), NULL);
    const double some = tenth(rand, -1.0, 6.0);
    pons_value *op = NULL;
    switch (pons_rand_below(rand, 14)) {
    case 0:
    case 1:
    case 2:
        op = dispatch("navigate_to_pose", pons_object("zone", json_string(zone), NULL));
        break;
    case 3:
        op = dispatch("navigate_to_pose", pons_object("pose", pons_value_ref(pose), NULL));
        break;
    case 4:
        op = dispatch("wait", pons_object("s", json_real(some), NULL));
        break;
    case 5:
        op = dispatch("spin", pons_object("angle_rad", json_real(some), NULL));
        break;
    case 6:
        op = dispatch("back_up", pons_object("distance_m", json_real(some), NULL));
        break;
    case 7:
        op = dispatch("dock_to_charger", json_object());
        break;
    case 8:
        op = dispatch("undock", json_object());
        break;
    case 9:
        op = dispatch("stop_base", json_object());
        break;
    case 10:
        op = dispatch("rm -rf /", pons_object("zone", json_string(zone), NULL));
        break;
    case 11:
        op = json_pack("{s:s, s:s}", "op", "cancel", "goal_id", "no-such-goal");
        break;
    case 12:
        op = json_pack("{s:s, s:s, s:[s,s]}", "op", "approval", "question", "left or right?",
                       "options", "left", "right");
        break;
    default:
        op = json_pack("{s:s, s:s}", "op", "speak", "text", "hello");
        break;
    }
    return op;
}

static pons_value *reply(pons_rand *rand)
{
    static const char *const types[] = {"CONTINUE",    "CONTINUE",  "CONTINUE", "REPLAN", "RETRY",
                                        "SWITCH_TASK", "ASK_HUMAN", "FINISH",   "ABORT"};
    static const char approved[] =
        "{\"type\": \"CONTINUE\", \"reason\": \"x\", \"approved\": true, \"ops\": [{\"op\": "
        "\"dispatch\", \"skill\": \"navigate_to_pose\", \"args\": {\"zone\": \"kitchen\"}}]}";
    static const char reset[] = "{\"type\": \"CONTINUE\", \"reason\": \"x\", \"ops\": [{\"op\": "
                                "\"approve\"}, {\"op\": \"reset\"}]}";
    static const char *const nonsense[] = {
        "",
        "I think the robot should go to the kitchen.",
        "{\"type\": \"CONTINUE\"}",
        "{\"type\": \"DANCE\", \"reason\": \"why not\"}",
        "{\"type\": \"CONTINUE\", \"reason\": \"go\", \"ops\": [{\"op\": \"dispatch\"}]}",
        "[[[[[[[[[[",
        "null",
        "{\"type\":\"FINISH\",\"reason\":\"\\u0000\\u001b[2J\"}",
        "```json\n{\"type\": \"CONTINUE\", \"reason\": \"fenced\", \"ops\": []}\n```",
        "{\"type\": \"CONTINUE\", \"type\": \"ABORT\", \"reason\": \"twice\"}",
        approved,
        reset,
        "<think>stop; reset; continue</think> {\"type\": \"FINISH\", \"reason\": \"thought\"}",
        "{\"type\": \"CONTINUE\", \"reason\": \"x\", \"ops\": 1e999}"};
    if (chance(rand, 20)) {
        return pons_object("content", json_string(one_of(rand, nonsense, COUNT(nonsense))), NULL);
    }
    if (chance(rand, 8)) {
        return json_pack("{s:{s:i, s:s}}", "error", "status", -8, "message", "no byte for 30 s");
    }
    const char *type = one_of(rand, types, COUNT(types));
    pons_value *decision =
        pons_object("type", json_string(type), "reason", json_string("by the seed"), NULL);
    const size_t n = (size_t)pons_rand_below(rand, 4);
    if (n > 0) {
        pons_value *ops = json_array();
        for (size_t i = 0; i < n; i++) {
            json_array_append_new(ops, operation(rand));
        }
        json_object_set_new(decision, "ops", ops);
    }
    if (chance(rand, 15)) {
        json_object_set_new(decision, "plan_patch", patch(rand));
    }
    if (chance(rand, 15)) {
        json_object_set_new(decision, "wake_s", json_real(tenth(rand, 0.0, 5.0)));
    }
    if (chance(rand, 50) && *type == 'S') {
        json_object_set_new(decision, "task_id",
                            json_sprintf("task-%d", (int)pons_rand_below(rand, 5)));
    }
    if (chance(rand, 30) && *type == 'F') {
        json_object_set_new(decision, "claims",
                            json_pack("[{s:s}]", "in_zone", one_of(rand, zones, COUNT(zones))));
    }
    return pons_object("decision", decision, NULL);
}

static pons_value *model(pons_rand *rand)
{
    pons_value *list = json_array();
    const size_t n = 1 + (size_t)pons_rand_below(rand, REPLIES_MAX);
    for (size_t i = 0; i < n; i++) {
        pons_value *r = reply(rand);
        if (chance(rand, 30)) {
            json_object_set_new(r, "delay_ms",
                                json_integer((json_int_t)pons_rand_below(rand, 8000)));
        }
        if (i + 1 == n && chance(rand, 40)) { // the last one for ever
            json_object_set_new(r, "repeat", json_true());
        }
        json_array_append_new(list, r);
    }
    return list;
}

// ---- what happens -------------------------------------------------------------------------------

static pons_value *answer(pons_rand *rand)
{
    switch (pons_rand_below(rand, 9)) {
    case 6:
        return json_pack("{s:s, s:i, s:{s:s}}", "action", "edit", "op", 1, "args", "zone",
                         one_of(rand, zones, COUNT(zones)));
    case 7:
        return json_pack("{s:s, s:[{s:s, s:{s:s}}]}", "action", "edit", "ops", "skill",
                         "navigate_to_pose", "args", "zone", one_of(rand, zones, COUNT(zones)));
    case 8:
        return json_pack("{s:s, s:s}", "action", "answer", "answer", "left");
    case 0:
    case 1:
        return json_pack("{s:s}", "action", "approve");
    case 2:
        return json_pack("{s:s, s:s}", "action", "reject", "reason", "no");
    case 3:
        return json_pack("{s:s, s:{s:s}}", "action", "edit", "args", "zone",
                         one_of(rand, zones, COUNT(zones)));
    case 4:
        return json_pack("{s:s, s:{s:i}}", "action", "edit", "args", "zone", 7);
    default:
        return json_pack("{s:s, s:s}", "action", "launch", "id", "no-such-question");
    }
}

// What comes at the same moment, or within half a second: the order and the gaps are what matters.
static pons_value *soon_after(pons_rand *rand, const pons_value *event)
{
    static const char *const words[] = {"stop", "continue", "cancel", "pause", "yes", "no"};
    static const char *const kills[] = {"before", "after"};
    pons_value *next = json_copy((json_t *)event), *what = NULL;
    const char *time = pons_get(event, "at_s") ? "at_s" : "after_s";
    json_object_set_new(
        next, time,
        json_real(pons_get_num(event, time, 0.0) + (double)pons_rand_below(rand, 51) / 100.0));
    // A stop, and then a death: what was latched must be.
    const bool stopped = pons_get(pons_get(event, "do"), "stop") != NULL;
    switch (stopped && chance(rand, 40) ? 5 : pons_rand_below(rand, 7)) {
    case 0:
        what = pons_object("stop", json_string("at once"), NULL);
        break;
    case 1:
    case 2:
        what = json_pack("{s:b}", "reset", 1);
        break;
    case 3:
        what = pons_object("say", json_string(one_of(rand, words, COUNT(words))), NULL);
        break;
    case 4:
        what = pons_object("kill_brain", json_string(one_of(rand, kills, COUNT(kills))), NULL);
        break;
    case 5:
        what = pons_object("kill_body", json_real(tenth(rand, 0.1, 2.0)), NULL);
        break;
    default:
        what = pons_object("answer", answer(rand), NULL);
        break;
    }
    json_object_set_new(next, "do", what);
    return next;
}

static pons_value *when(pons_rand *rand)
{
    static const char *const types[] = {"approval.requested", "task.active", "task.done", "mode",
                                        "speak"};
    static const char *const effects[] = {
        "navigate_to_pose intended", "navigate_to_pose dispatched", "navigate_to_pose accepted",
        "navigate_to_pose canceled", "dock_to_charger accepted"};
    if (chance(rand, 60)) {
        return pons_object("at_s", json_real(tenth(rand, 0.0, HAPPENS_TO_S)), NULL);
    }
    pons_value *condition =
        chance(rand, 40)
            ? pons_object("event", json_string(one_of(rand, types, COUNT(types))), NULL)
        : chance(rand, 70)
            ? pons_object("effect", json_string(one_of(rand, effects, COUNT(effects))), NULL)
            : pons_object("commit", json_integer(1 + (json_int_t)pons_rand_below(rand, 150)), NULL);
    pons_value *e = pons_object("when", condition, NULL);
    if (chance(rand, 40)) {
        json_object_set_new(e, "after_s", json_real(tenth(rand, 0.0, 3.0)));
    }
    return e;
}

// What people do beside saying words and answering.
static pons_value *person_deed(pons_rand *rand)
{
    static const char *const texts[] = {"go to the kitchen",  "去卧室",
                                        "go to the study",    "wait 2 seconds",
                                        "go to the corridor", "let me drive"};
    static const char *const paces[] = {"slower", "faster", "normal speed", "30 %", "慢一点"};
    static const char *const words[] = {"raise", "cancel", "raise", "resume", "yes", "no"};
    const int task = 1 + (int)pons_rand_below(rand, 4);
    switch (pons_rand_below(rand, 7)) {
    case 6:
        return json_pack("{s:{s:f, s:f, s:f}}", "steer", "v", tenth(rand, -0.5, 1.0), "w",
                         tenth(rand, -2.0, 2.0), "for_s", tenth(rand, 1.0, 8.0));
    case 0:
    case 1: {
        pons_value *wish =
            pons_object("text", json_string(one_of(rand, texts, COUNT(texts))), NULL);
        if (chance(rand, 60)) {
            json_object_set_new(wish, "priority",
                                chance(rand, 50) ? json_string("background")
                                                 : json_integer(pons_rand_below(rand, 120)));
        }
        if (chance(rand, 50)) {
            json_object_set_new(wish, "deadline_s", json_real(tenth(rand, 0.5, 40.0)));
        }
        return pons_object("wish", wish, NULL);
    }
    case 2:
        return json_pack("{s:{s:s, s:o}}", "control", "word", one_of(rand, words, COUNT(words)),
                         "task", json_sprintf("task-%d", task));
    case 3:
        return pons_object("say", json_string(one_of(rand, paces, COUNT(paces))), NULL);
    case 4:
        return pons_object("pace", json_integer(10 + pons_rand_below(rand, 91)), NULL);
    default:
        return pons_object("clock_s", json_real(tenth(rand, -7200.0, 7200.0)), NULL);
    }
}

static pons_value *world_deed(pons_rand *rand, int n)
{
    static const pons_pose2 places[] = {
        {6.7, 6.4, 0.0}, {3.2, 6.5, 0.0}, {7.5, 2.4, 0.0}, {2.2, 2.7, 0.0}};
    static const char *const wheels[] = {"left", "right", "both", "none"};
    pons_value *box =
        pons_object("id", json_sprintf("box%d", n % 3), "x", json_real(tenth(rand, 0.5, WORLD_X_M)),
                    "y", json_real(tenth(rand, 0.5, WORLD_Y_M)), "sx",
                    json_real(tenth(rand, 0.1, 1.5)), "sy", json_real(tenth(rand, 0.1, 1.5)), NULL);
    switch (pons_rand_below(rand, 8)) {
    case 0:
    case 1:
        return pons_object("spawn", box, NULL);
    case 6: // right before it
        json_object_del(box, "x");
        json_object_del(box, "y");
        json_object_set_new(box, "ahead_m", json_real(tenth(rand, 0.3, 2.0)));
        return pons_object("spawn", box, NULL);
    case 7: {
        const pons_pose2 *to = &places[pons_rand_below(rand, COUNT(places))];
        pons_value_unref(box);
        return pons_object("teleport",
                           pons_object("x", json_real(to->x), "y", json_real(to->y), "yaw",
                                       json_real(tenth(rand, -3.0, 3.0)), NULL),
                           NULL);
    }
    case 2:
        json_object_set_new(box, "to_x", json_real(tenth(rand, 0.5, WORLD_X_M)));
        json_object_set_new(box, "to_y", json_real(tenth(rand, 0.5, WORLD_Y_M)));
        json_object_set_new(box, "speed_mps", json_real(tenth(rand, 0.1, 1.0)));
        return pons_object("move", box, NULL);
    case 3:
        pons_value_unref(box);
        return pons_object("battery", json_real(tenth(rand, 0.0, 40.0)), NULL);
    case 4:
        pons_value_unref(box);
        return pons_object("stuck_wheel", json_string(one_of(rand, wheels, COUNT(wheels))), NULL);
    default:
        pons_value_unref(box);
        return chance(rand, 60)
                   ? pons_object("remove", json_sprintf("box%d", (int)pons_rand_below(rand, 3)),
                                 NULL)
                   : pons_object("teleport",
                                 pons_object("x", json_real(tenth(rand, 0.8, 4.0)), "y",
                                             json_real(tenth(rand, 4.4, 4.9)), "yaw",
                                             json_real(tenth(rand, -3.0, 3.0)), NULL),
                                 NULL);
    }
}

static pons_value *deed(pons_rand *rand, int n)
{
    static const char *const words[] = {"stop",
                                        "停",
                                        "pause",
                                        "continue",
                                        "reset",
                                        "cancel",
                                        "yes",
                                        "no",
                                        "马上去卧室",
                                        "去厨房",
                                        "go to the study",
                                        "cancel, go to the bedroom",
                                        "blurb",
                                        "wait 1 second",
                                        "where are you"};
    static const char *const kills[] = {"before", "after"};
    static const char *const models[] = {"away", "silent", "there"};
    switch (pons_rand_below(rand, 20)) {
    case 0:
    case 1:
    case 2:
        return pons_object("say", json_string(one_of(rand, words, COUNT(words))), NULL);
    case 16:
    case 17:
        return person_deed(rand);
    case 18:
        return pons_object("freeze_body_s", json_real(tenth(rand, 0.1, 3.0)), NULL);
    case 3:
        return pons_object("stop", json_string("by the seed"), NULL);
    case 4:
        return json_pack("{s:b}", "reset", 1);
    case 5:
    case 6:
        return pons_object("answer", answer(rand), NULL);
    case 7:
    case 8:
        return pons_object("kill_brain", json_string(one_of(rand, kills, COUNT(kills))), NULL);
    case 9:
        return pons_object("kill_body", json_real(tenth(rand, 0.1, 4.0)), NULL);
    case 10:
        return pons_object("pause_brain_s", json_real(tenth(rand, 0.1, 5.0)), NULL);
    case 11:
        return pons_object("model", json_string(one_of(rand, models, COUNT(models))), NULL);
    default:
        return world_deed(rand, n);
    }
}

static pons_value *events(pons_rand *rand)
{
    pons_value *list = json_array();
    const int n = (int)pons_rand_below(rand, EVENTS_MAX + 1);
    for (int i = 0; i < n; i++) {
        pons_value *e = when(rand);
        json_object_set_new(e, "do", deed(rand, i));
        json_array_append_new(list, e);
        if (chance(rand, 33)) {
            json_array_append_new(list, soon_after(rand, e));
        }
    }
    return list;
}

// ---- public functions ---------------------------------------------------------------------------

int pons_scenario_random(uint64_t seed, pons_scenario **ret, pons_error *err)
{
    pons_rand rand;
    char name[32];
    pons_scenario *s = calloc(1, sizeof *s);
    pons_rand_seed(&rand, seed);
    snprintf(name, sizeof name, "seed-%llu", (unsigned long long)seed);
    pons_value *v = pons_object("name", json_string(name), "seed",
                                json_integer((json_int_t)(seed & INT32_MAX) + 1), "battery_pct",
                                json_real(tenth(&rand, chance(&rand, 30) ? 12.0 : 60.0, 100.0)),
                                "time_limit_s", json_integer(TIME_LIMIT_S), "peace_s",
                                json_integer(PEACE_S), "goals", goals(&rand), NULL);
    if (!s || !v) {
        free(s);
        pons_value_unref(v);
        return pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
    }
    if (chance(&rand, 25)) {
        json_object_set_new(v, "approval_skills",
                            chance(&rand, 70)
                                ? json_pack("[s]", "navigate_to_pose")
                                : json_pack("[ss]", "navigate_to_pose", "dock_to_charger"));
    }
    if (chance(&rand, 15)) {
        json_object_set_new(v, "approval_deadline_s", json_real(tenth(&rand, 0.5, 20.0)));
    }
    if (chance(&rand, 20)) {
        json_object_set_new(v, "after_reset", json_string("continue"));
    }
    if (chance(&rand, 60)) {
        json_object_set_new(v, "model", chance(&rand, 25) ? json_string("rules") : model(&rand));
    }
    json_object_set_new(v, "events", events(&rand));
    json_object_set_new(v, "expect", pons_object("status", json_string("over"), NULL));
    s->value = v;
    *ret = s;
    return PONS_OK;
}
