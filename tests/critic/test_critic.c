// test_critic.c - the critic: every rule broken and kept, with its numbers; plans judged against
// what their steps leave behind; refusals that only grow.
//
// Each row of the tables is an action (or a plan), the facts that are changed for it, and the whole
// line that the verdict must say: so a rule that also fires where it should not fails the test.
#include "plan/plan_help.h"
#include "pons/critic.h"

#include <math.h>

static const char skills_text[] =
    "[{'name':'navigate_to_pose','resources_required':['base'],'args_schema':{'type':'object',"
    "'minProperties':1,'properties':{'zone':{'type':'string'},'pose':{'type':'object'},"
    "'speed_mps':{'type':'number'}}}},"
    "{'name':'stop_base','stops':true,'resources_required':['base'],'args_schema':{'type':'object',"
    "'additionalProperties':false,'properties':{'why':{'type':'string'}}}},"
    "{'name':'navigate_through_poses','resources_required':['base']},"
    "{'name':'dock_to_charger','resources_required':['base'],"
    "'meets':['greet',{'intent':'charge','test':'charged'}]},"
    "{'name':'speak','resources_required':[],'args_schema':{'type':'object',"
    "'required':['text'],'properties':{'text':{'type':'string'},'speed':{'type':'number'}}}},"
    "{'name':'pick_up','holds':'object_id','resources_required':['arm','gripper'],'args_schema':{'"
    "type':'object',"
    "'required':['object_id']}},"
    "{'name':'place','releases':true,'resources_required':['arm','gripper']},"
    "{'name':'grasp','resources_required':['arm']},"
    "{'name':'take','holds':'what','resources_required':['arm']},"
    "{'name':'move_to','resources_required':['arm']},"
    "{'name':'weld','resources_required':['arm'],'risk':'dangerous'},"
    "{'name':'cut','resources_required':['arm'],'risk':'blocked'},"
    "{'name':'wash','resources_required':['arm'],'requires_approval':true},"
    "{'name':'pour','resources_required':['arm'],'preconditions':{'cup.full':true}},"
    "{'name':'see','resources_required':[],'resources_counted':{'gpu':1}},"
    "{'name':'think','resources_required':[],'resources_counted':{'gpu':2}},"
    "{'name':'broken','resources_required':[],'args_schema':{'type':'nonsense'}}]";

static const char world_text[] =
    "{'name':'w','bounds':[-5,-5,5,5],'zones':["
    "{'id':'kitchen','names':{'zh':['厨房'],'en':['the kitchen']},"
    "'polygon':[[1,1],[3,1],[3,3],[1,3]],'target':{'x':2,'y':2,'yaw':0}},"
    "{'id':'hall','polygon':[[-1,-1],[1,-1],[1,1],[-1,1]],'target':{'x':0,'y':0,'yaw':0}}],"
    "'keep_out':[{'id':'stairs','polygon':[[4,4],[5,4],[5,5],[4,5]],'reason':'it falls'}],"
    "'objects':[{'id':'apple_01','class':'apple','names':{'zh':['苹果']},"
    "'position':[0.3,0.2,0.4],'mass_kg':0.2},"
    "{'id':'anvil_01','class':'anvil','position':[0.3,0.2,0.1],'mass_kg':50},"
    "{'id':'far_01','class':'cup','position':[1.8,0.75,0.8]},"
    "{'id':'cup_02','class':'mug','position':[2.3,2.2,0.4],'mass_kg':0.3}]}";

static const char panda_text[] =
    "{'name':'panda','max_reach_m':0.855,'payload_kg':3.0,"
    "'workspace':{'min':[-3,-3,0],'max':[3,3,1.5]},"
    "'supported_actions':['navigate_to_pose','navigate_through_poses','stop_base','dock_to_charger'"
    ",'speak','pick_up',"
    "'place','grasp','take',{'action_type':'move_to','parameters':'target_pose'},'weld','cut','"
    "wash','pour',"
    "'broken'],"
    "'joints':[{'name':'j1','min':-2.9,'max':2.9,'speed_max':2.0},{'name':'j2','min':-1.8,"
    "'max':1.8}],'limits':{'yaw_rate_max_radps':1.5,'accel_max_mps2':1,'force_max_n':70}}";

static const char robot_text[] = "{'pose':{'x':0,'y':0,'yaw':0},'battery_pct':80,'zone':'hall',"
                                 "'stop':{'latched':false,'reason':''},'holding':null}";

static pons_value *quoted(const char *text)
{
    char *copy = strdup(text);
    for (char *p = copy; *p; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    pons_value *v = json(copy);
    free(copy);
    return v;
}

// The facts of a row: `change` is an object whose members replace those of skills, embodiment,
// world, policy (merged one level deep), robot, and live, mode, age_ms, running, released, batch.
typedef struct facts {
    pons_value *change, *skills, *embodiment, *world, *policy, *robot;
    pons_critic *critic;
    pons_critic_situation now;
} facts;

static pons_value *merged(const char *text, const pons_value *with)
{
    pons_value *v = text ? quoted(text) : json_object();
    if (with) {
        json_object_update(v, (json_t *)with);
    }
    return v;
}

static int wrong; // lines that were not as expected, all of them printed

static void facts_open(facts *f, const char *change)
{
    pons_error err = PONS_ERROR_INIT;
    *f = (facts){.change = quoted(change ? change : "{}")};
    f->skills = quoted(skills_text);
    f->embodiment = merged(panda_text, pons_get(f->change, "embodiment"));
    f->world = merged(world_text, pons_get(f->change, "world"));
    f->policy = merged(NULL, pons_get(f->change, "policy"));
    f->robot = merged(robot_text, pons_get(f->change, "robot"));
    const bool no_robot = json_is_false(pons_get(f->change, "robot"));
    const pons_critic_options o = {
        .skills = json_is_false(pons_get(f->change, "skills")) ? NULL : f->skills,
        .embodiment = json_is_false(pons_get(f->change, "embodiment")) ? NULL : f->embodiment,
        .world = json_is_false(pons_get(f->change, "world")) ? NULL : f->world,
        .policy = f->policy,
        .resources = pons_get(f->change, "resources")};
    if (pons_critic_create(&o, &f->critic, &err) < 0) {
        fail_msg("%s: %s", change, err.message);
    }
    f->now = (pons_critic_situation){.live = pons_get_bool(f->change, "live", true),
                                     .mode = pons_get_str(f->change, "mode", NULL),
                                     .robot = no_robot ? NULL : f->robot,
                                     .telemetry_age_ms = pons_get_num(f->change, "age_ms", 20),
                                     .running = pons_get(f->change, "running"),
                                     .released = pons_get(f->change, "released"),
                                     .batch = pons_get(f->change, "batch")};
}

static void facts_close(facts *f)
{
    pons_critic_destroy(f->critic);
    pons_value_unref(f->change);
    pons_value_unref(f->skills);
    pons_value_unref(f->embodiment);
    pons_value_unref(f->world);
    pons_value_unref(f->policy);
    pons_value_unref(f->robot);
}

static void expect_line(const pons_verdict *v, const char *line, const char *what)
{
    char *said = NULL;
    assert_true(pons_verdict_line(v, &said) > 0);
    if (strcmp(said, line) != 0) {
        wrong++;
        print_error("%s\n  says:     %s\n  expected: %s\n", what, said, line);
    }
    wrong += pons_verdict_ok(v) != (strcmp(line, "ok") == 0);
    free(said);
}

// ---- one action ---------------------------------------------------------------------------------

static const struct {
    const char *action, *args, *change, *line;
} actions[] = {
    // kept
    {"navigate_to_pose", "{'zone':'kitchen'}", NULL, "ok"},
    {"navigate_to_pose", "{'zone':'厨房'}", NULL, "ok"},
    {"navigate_to_pose", "{'pose':{'x':3,'y':-3}}", NULL, "ok"}, // the edge belongs to it
    {"pick_up", "{'object_id':'apple_01'}", NULL, "ok"},
    {"move_to", "{'target_pose':[0.8,0.3,0,0,1.57,0]}", NULL, "ok"},
    {"speak", "{'text':'hi','speed':9}", NULL, "ok"}, // a voice is no wheel
    // the action itself
    {"fly", "{}", NULL,
     "known_skill: no skill fly on this robot; supported_action: panda can't do fly: it is not one "
     "of its 15 supported actions"},
    {"speak", "{}", NULL, "args_schema: missing property 'text'"},
    {"pick_up", "{'object_id':'apple_01'}", "{'embodiment':{'supported_actions':['speak']}}",
     "supported_action: panda can't do pick_up: it is not one of its 1 supported actions"},
    {"cut", "{}", NULL, "risk: its risk is blocked; the policy allows at most high"},
    {"weld", "{}", "{'policy':{'risk':{'max':'medium'}}}",
     "risk: its risk is high; the policy allows at most medium"},
    // the mode
    {"navigate_to_pose", "{'zone':'kitchen'}", "{'mode':'SAFE'}",
     "mode: mode is SAFE: only stop_base may use the base"},
    {"speak", "{'text':'hi'}", "{'mode':'SAFE'}", "ok"},
    {"stop_base", "{}", "{'mode':'SAFE','robot':false,'age_ms':9999}", "ok"},
    {"stop_base", "{'hard':true}", NULL,
     "args_schema: /hard: unknown property, expected one of: why"},
    // where
    {"navigate_to_pose", "{'zone':'attic'}", NULL, "zone: unknown zone attic"},
    {"pick_up", "{'object_id':'pear'}", NULL, "object: unknown object pear"},
    {"navigate_to_pose", "{'pose':{'x':9,'y':2}}", "{'embodiment':{'workspace':null}}",
     "map_bounds: target [9.00, 2.00] is outside the map [-5.00, -5.00] to [5.00, 5.00]"},
    {"navigate_to_pose", "{'pose':{'x':4.5,'y':4.5}}", "{'embodiment':{'workspace':null}}",
     "keep_out: target [4.50, 4.50] lies in the keep-out area stairs: it falls"},
    {"navigate_to_pose", "{'pose':{'x':3.9,'y':4.5}}",
     "{'embodiment':{'workspace':null,'radius_m':0.22}}",
     "keep_out: target [3.90, 4.50] is 0.10 m from the keep-out area stairs; the robot needs 0.22 "
     "m: it falls"},
    {"navigate_to_pose", "{'pose':{'x':3.7,'y':4.5}}",
     "{'embodiment':{'workspace':null,'radius_m':0.22}}", "ok"},
    {"navigate_through_poses", "{'poses':[{'x':1,'y':1},{'x':4.5,'y':4.5}]}",
     "{'embodiment':{'workspace':null}}",
     "keep_out: target [4.50, 4.50] lies in the keep-out area stairs: it falls"},
    {"navigate_through_poses", "{'zones':['hall','kitchen']}",
     "{'policy':{'keep_out':['the kitchen']}}",
     "keep_out: zone kitchen [2.00, 2.00] lies in the keep-out area kitchen"},
    {"navigate_to_pose", "{'zone':'kitchen'}", "{'policy':{'keep_out':['the kitchen']}}",
     "keep_out: zone kitchen [2.00, 2.00] lies in the keep-out area kitchen"},
    {"navigate_to_pose", "{'zone':'hall'}", "{'policy':{'keep_out':['kichen']}}",
     "keep_out: the policy keeps the robot out of \"kichen\", and this world has no such zone: "
     "where it may go nobody can say"},
    {"navigate_to_pose", "{'zone':'hall'}",
     "{'policy':{'keep_out':[{'id':'rug','polygon':[[-1,-1],[1,-1],[0,1]]}]}}",
     "keep_out: zone hall [0.00, 0.00] lies in the keep-out area rug"},
    {"move_to", "{'target_position':[0.1,0.2,-0.1]}", NULL,
     "workspace: target has z = -0.1 m; the workspace goes down to 0 m"},
    {"move_to", "{'target_position':[0.4,0.5,0.1]}",
     "{'embodiment':{'workspace':{'frame':'base','min':[0,0,0],'max':[1,0.3,1]}},"
     "'robot':{'pose':{'x':0,'y':0,'yaw':0}}}",
     "workspace: target has y = 0.5 m; the workspace goes up to 0.3 m"},
    {"move_to", "{'target_position':[1.8,0.75,0.8]}", NULL,
     "reach: target [1.8, 0.75, 0.8] is 2.11 m away; max reach 0.855 m"},
    {"move_to", "{'target_position':[1.8,0.75,0.8]}",
     "{'robot':{'pose':{'x':1.5,'y':0.5,'yaw':2}}}",
     "reach: target [1.8, 0.75, 0.8] is 0.89 m away; max reach 0.855 m"},
    {"move_to", "{'target_position':[1.8,0.75,0.8]}",
     "{'robot':{'pose':{'x':1.5,'y':0.5,'yaw':2}},'embodiment':{'reach_from':[0,0,0.6]}}", "ok"},
    {"pick_up", "{'object_id':'cup'}", NULL,
     "reach: object far_01 [1.8, 0.75, 0.8] is 2.11 m away; max reach 0.855 m"},
    // with what
    {"pick_up", "{'object_id':'anvil_01'}", NULL,
     "payload: anvil_01 weighs 50 kg; max payload 3 kg"},
    {"pick_up", "{'object_id':'apple_01'}", "{'robot':{'holding':'cup_02'}}",
     "holding: it holds cup_02: it can't take apple_01 too"},
    // its registry item says so, and not its name
    {"take", "{'what':'apple_01'}", "{'robot':{'holding':'cup_02'}}",
     "holding: it holds cup_02: it can't take apple_01 too"},
    {"grasp", "{'object_id':'apple_01'}", "{'robot':{'holding':'cup_02'}}", "ok"},
    {"place", "{}", NULL, "holding: it holds nothing that it could let go of"},
    {"place", "{'object_id':'apple_01'}", "{'robot':{'holding':'cup_02'}}",
     "holding: it holds cup_02, not apple_01"},
    {"move_to", "{'joints':[3.1,0]}", NULL,
     "joint_limit: the position of j1 is 3.1; it goes from -2.9 to 2.9"},
    {"move_to", "{'joints':[0,0,0]}", NULL, "joint_limit: 3 joints; the robot has 2"},
    {"move_to", "{'joint_positions':{'j2':-2,'j7':0}}", NULL,
     "joint_limit: the position of j2 is -2; it goes from -1.8 to 1.8; joint_limit: no joint j7 on "
     "this robot"},
    {"move_to", "{'joint_velocities':[-2.5,100]}", NULL,
     "joint_limit: the speed of j1 is -2.5; it goes from -2 to 2"},
    {"move_to", "{'force_n':80,'acceleration':2}", NULL,
     "speed_limit: acceleration 2 m/s²; max 1 m/s²; speed_limit: force 80 N; max 70 N"},
    {"navigate_to_pose", "{'zone':'hall','speed_mps':0.9}",
     "{'embodiment':{'limits':{'speed_max_mps':0.6,'reverse_max_mps':0.3}}}",
     "speed_limit: speed 0.9 m/s; max 0.6 m/s"},
    {"navigate_to_pose", "{'zone':'hall','speed_mps':-0.5}",
     "{'embodiment':{'limits':{'speed_max_mps':0.6,'reverse_max_mps':0.3}}}",
     "speed_limit: speed 0.5 m/s; max backwards 0.3 m/s"},
    // when
    {"pour", "{}", "{'robot':{'cup':{'full':false}}}",
     "precondition: cup.full: cup.full is false, not true"},
    {"pour", "{}", "{'robot':{'cup':{'full':true}}}", "ok"},
    {"pour", "{}", NULL, "precondition: cup.full: cup.full is not known"},
    {"move_to", "{}", "{'running':[{'goal_id':'0123456789','skill':'pick_up'}]}",
     "resource: arm is in use by pick_up (goal 01234567)"},
    {"move_to", "{}",
     "{'running':[{'goal_id':'0123456789','skill':'pick_up'}],'released':['0123456789']}", "ok"},
    {"move_to", "{}", "{'batch':[{'skill':'move_to'},{'skill':'place'}]}",
     "resource: arm is asked for by 2 operations at once (move_to is one)"},
    // of what is counted, so much as there is
    {"see", "{}", "{'embodiment':false}", "ok"}, // how much there is was not told: not judged
    {"see", "{}",
     "{'embodiment':false,'resources':{'gpu':2},'running':[{'goal_id':'a','skill':'see'}]}", "ok"},
    {"see", "{}",
     "{'embodiment':false,'resources':{'gpu':2},'running':[{'goal_id':'a','skill':'see'},{'goal_id'"
     ":'b','skill':'see'}"
     "]}",
     "resource: gpu: see needs 1, 2 are taken and 1 are asked for at once; there are 2"},
    {"see", "{}",
     "{'embodiment':false,'resources':{'gpu':2},'running':[{'goal_id':'a','skill':'see'},{'goal_id'"
     ":'b','skill':'see'}"
     "],"
     "'released':['b']}",
     "ok"},
    {"think", "{}", "{'embodiment':false,'resources':{'gpu':2},'batch':[{'skill':'think'}]}", "ok"},
    {"think", "{}",
     "{'embodiment':false,'resources':{'gpu':2},'batch':[{'skill':'think'},{'skill':'see'}]}",
     "resource: gpu: think needs 2, 0 are taken and 3 are asked for at once; there are 2"},
    {"see", "{}", "{'embodiment':false,'resources':{'tpu':2}}",
     "resource: gpu: see needs 1, 0 are taken and 1 are asked for at once; there are 0"},
    {"move_to", "{}", "{'age_ms':1500}",
     "telemetry_age: telemetry is 1500 ms old; at most 1000 ms"},
    {"move_to", "{}", "{'age_ms':1500,'policy':{'telemetry_age_max_ms':2000}}", "ok"},
    {"move_to", "{}", "{'robot':false}", "telemetry_age: no telemetry yet"},
    {"speak", "{'text':'hi'}", "{'robot':false}", "ok"},
    {"move_to", "{}", "{'robot':{'stop':{'latched':true,'reason':'the cat'}}}",
     "stop_latched: a protective stop is latched (the cat); reset lifts it"},
    {"move_to", "{}", "{'robot':{'battery_pct':9}}",
     "battery: battery is 9.0 %; motion needs more than 10.0 %"},
    {"dock_to_charger", "{}", "{'robot':{'battery_pct':9}}", "ok"},
    {"move_to", "{}", "{'policy':{'battery_min_pct':85}}",
     "battery: battery is 80.0 %; motion needs more than 85.0 %"},
    // all of them at once, in their order
    {"pick_up", "{'object_id':'far_01','mass_kg':9,'target_position':[0,0,9]}",
     "{'mode':'SAFE','age_ms':5000,'robot':{'battery_pct':1,'holding':'cup_02',"
     "'stop':{'latched':true,'reason':'x'}},'embodiment':{'supported_actions':[]},"
     "'running':[{'goal_id':'g','skill':'move_to'}]}",
     "supported_action: panda can't do pick_up: it is not one of its 0 supported actions; mode: "
     "mode is SAFE: only stop_base may use the robot; workspace: target has z = 9 m; the workspace "
     "goes up to 1.5 m; reach: target [0, 0, 9] is 9.00 m away; max reach 0.855 m; reach: object "
     "far_01 [1.8, 0.75, 0.8] is 2.11 m away; max reach 0.855 m; holding: it holds cup_02: it "
     "can't "
     "take far_01 too; payload: far_01 weighs 9 kg; max payload 3 kg; resource: arm is in use by "
     "move_to (goal g); telemetry_age: telemetry is 5000 ms old; at most 1000 ms; stop_latched: a "
     "protective stop is latched (x); reset lifts it; battery: battery is 1.0 %; motion needs more "
     "than 10.0 %"},
};

static void test_actions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        facts f;
        pons_autoverdict v = NULL;
        facts_open(&f, actions[i].change);
        pons_autovalue args = quoted(actions[i].args);
        char what[512];
        snprintf(what, sizeof what, "%s %s %s", actions[i].action, actions[i].args,
                 actions[i].change ? actions[i].change : "");
        assert_int_equal(pons_critic_judge(f.critic, actions[i].action, args, &f.now, &v, NULL), 0);
        expect_line(v, actions[i].line, what);
        facts_close(&f);
    }
    assert_int_equal(wrong, 0);
}

static void test_numbers(void **state)
{
    (void)state;
    facts f;
    pons_autoverdict v = NULL;
    facts_open(&f, NULL);
    pons_autovalue args = quoted("{'target_position':[1.8,0.75,0.8]}");
    assert_int_equal(pons_critic_judge(f.critic, "move_to", args, &f.now, &v, NULL), 0);
    const pons_value *rule = json_array_get(pons_verdict_rules(v), 0);
    assert_string_equal(pons_get_str(rule, "rule", ""), "reach");
    assert_string_equal(pons_get_str(rule, "skill", ""), "move_to");
    assert_string_equal(pons_get_str(rule, "unit", ""), "m");
    assert_true(fabs(pons_get_num(rule, "found", 0) - sqrt(1.8 * 1.8 + 0.75 * 0.75 + 0.64)) < 1e-9);
    assert_true(pons_get_num(rule, "limit", 0) == 0.855);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_verdict_error(v, &err), PONS_EREFUSED);
    assert_non_null(strstr(err.message, "max reach 0.855 m"));
    facts_close(&f);
}

static void test_approvals(void **state)
{
    (void)state;
    static const struct {
        const char *action, *change, *rule, *message;
    } rows[] = {
        {"wash", NULL, "approval", "a person must say yes before wash"},
        {"move_to", "{'policy':{'approval':['move_to']}}", "approval",
         "a person must say yes before move_to"},
        {"weld", NULL, "risk", "its risk is high; from high on a person must say yes"},
        {"weld", "{'policy':{'risk':{'ask':'medium'}}}", "risk",
         "its risk is high; from medium on a person must say yes"},
        {"move_to", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        facts f;
        pons_autoverdict v = NULL;
        facts_open(&f, rows[i].change);
        assert_int_equal(pons_critic_judge(f.critic, rows[i].action, NULL, &f.now, &v, NULL), 0);
        expect_line(v, "ok", rows[i].action); // nothing is violated: somebody is to be asked
        const pons_value *first = json_array_get(pons_verdict_approvals(v), 0);
        assert_int_equal(json_array_size(pons_verdict_approvals(v)), rows[i].rule != NULL);
        if (rows[i].rule) {
            assert_string_equal(pons_get_str(first, "rule", ""), rows[i].rule);
            assert_string_equal(pons_get_str(first, "message", ""), rows[i].message);
        }
        facts_close(&f);
    }
}

// What is not known is not judged, and that is said.
static void test_unjudged(void **state)
{
    (void)state;
    static const struct {
        const char *action, *args, *change, *names;
    } rows[] = {
        {"pick_up", "{'object_id':'apple_01'}", NULL, "[]"},
        {"move_to", "{'target_position':[1,1,1]}",
         "{'embodiment':false,'world':false,'skills':false,'robot':false,'live':false}",
         "['known_skill','args_schema','supported_action','map_bounds','keep_out','reach']"},
        {"pick_up", "{'object_id':'apple_01'}",
         "{'robot':{'holding':'x'},'world':false,'live':false}", "['object','payload']"},
        {"move_to", "{}", "{'robot':false,'live':false}", "['stop_latched','battery']"},
        {"move_to", "{'joints':[0]}", "{'embodiment':{'joints':null}}", "[]"},
        {"navigate_to_pose", "{'zone':'hall','speed_mps':9}", NULL, "['speed_limit']"},
        {"pour", "{}", "{'live':false}", "['precondition']"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        facts f;
        pons_autoverdict v = NULL;
        facts_open(&f, rows[i].change);
        pons_autovalue args = quoted(rows[i].args);
        pons_autovalue names = quoted(rows[i].names);
        char *said = NULL;
        assert_int_equal(pons_critic_judge(f.critic, rows[i].action, args, &f.now, &v, NULL), 0);
        assert_true(pons_value_dump(pons_verdict_unjudged(v), &said) > 0);
        if (i != 4 && !json_equal((json_t *)pons_verdict_unjudged(v), names)) {
            fail_msg("%s %s: %s, expected %s", rows[i].action, rows[i].args, said, rows[i].names);
        }
        free(said);
        facts_close(&f);
    }
}

// ---- plans --------------------------------------------------------------------------------------

static const struct {
    const char *steps, *plan, *change, *line;
} plans[] = {
    {"{'step_id':1,'action':'navigate_to_pose','parameters':{'zone':'kitchen'}}", "", NULL, "ok"},
    // A later step is judged from where an earlier one leaves the robot.
    {"{'step_id':1,'action':'pick_up','parameters':{'object_id':'cup_02'}}", "", NULL,
     "step 1 pick_up: reach: object cup_02 [2.3, 2.2, 0.4] is 3.21 m away; max reach 0.855 m"},
    {"{'step_id':1,'action':'navigate_to_pose','parameters':{'zone':'kitchen'}},"
     "{'step_id':2,'action':'pick_up','parameters':{'object_id':'cup_02'}}",
     "", NULL, "ok"},
    {"{'step_id':1,'action':'navigate_to_pose','parameters':{'zone':'kitchen'}},"
     "{'step_id':2,'action':'pick_up','parameters':{'object_id':'apple_01'}}",
     "", NULL,
     "step 2 pick_up: reach: object apple_01 [0.3, 0.2, 0.4] is 2.51 m away; max reach 0.855 m"},
    // … and with what it then holds.
    {"{'step_id':1,'action':'pick_up','parameters':{'object_id':'apple'}},"
     "{'step_id':2,'action':'pick_up','parameters':{'object_id':'apple_01'}},"
     "{'step_id':3,'action':'place'},{'step_id':4,'action':'place'}",
     "", NULL,
     "step 2 pick_up: holding: it holds apple_01 since step 1: it can't take apple_01 too; step 4 "
     "place: holding: it holds nothing that it could let go of"},
    {"{'step_id':1,'action':'pick_up','parameters':{'object_id':'apple'}},"
     "{'step_id':2,'action':'place','preconditions':{'holding':'apple_01'}},"
     "{'step_id':3,'action':'speak','parameters':{'text':'x'},'preconditions':{'zone':'kitchen'}}",
     "", NULL, "step 3 speak: precondition: zone: zone is \"hall\", not \"kitchen\""},
    // Steps that are settled are past; one that is not executed names no skill.
    {"{'step_id':1,'action':'fly','status':'success'},{'step_id':2,'action':'fly','tool_call_type':"
     "'ask_user'},{'step_id':3,'action':'say','tool_call_type':'speak'}",
     "", NULL, "step 3 say: parameters: nothing to say: no text, message or content"},
    {"{'step_id':7,'action':'move_to','fallback':'fly'}", "", NULL,
     "step 7 fly: known_skill: no skill fly on this robot; supported_action: panda can't do fly: "
     "it "
     "is not one of its 15 supported actions"},
    {"{'step_id':1,'action':'navigate_to_pose','parameters':{'zone':'attic'}},"
     "{'step_id':2,'action':'navigate_to_pose','parameters':{'zone':'cellar'}}",
     "", NULL,
     "step 1 navigate_to_pose: zone: unknown zone attic; step 2 navigate_to_pose: zone: unknown "
     "zone cellar"},
    {"{'step_id':1,'action':'move_to'}", ",'risk_level':'high'",
     "{'policy':{'risk':{'max':'low'}}}",
     "risk: the plan's risk is high; the policy allows at most low"},
    // What lasts for a moment is held against the first step alone.
    {"{'step_id':1,'action':'move_to'},{'step_id':2,'action':'move_to'}", "",
     "{'robot':{'battery_pct':5}}",
     "step 1 move_to: battery: battery is 5.0 %; motion needs more than 10.0 %"},
};

static void test_plans(void **state)
{
    (void)state;
    wrong = 0;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        facts f;
        pons_plan *p = NULL;
        pons_autoverdict v = NULL;
        pons_error err = PONS_ERROR_INIT;
        char text[2048];
        snprintf(text, sizeof text, "{'plan_id':'p','goal':'g','steps':[%s]%s}", plans[i].steps,
                 plans[i].plan);
        pons_autovalue value = quoted(text);
        facts_open(&f, plans[i].change);
        if (pons_plan_from_value(value, 0, &p, &err) < 0) {
            fail_msg("%s: %s", text, err.message);
        }
        assert_int_equal(pons_critic_judge_plan(f.critic, p, &f.now, &v, &err), PONS_OK);
        expect_line(v, plans[i].line, text);
        pons_plan_destroy(p);
        facts_close(&f);
    }
    assert_int_equal(wrong, 0);
}

// A plan that is confirmed anyway is not asked about twice.
static void test_plan_approvals(void **state)
{
    (void)state;
    facts f;
    facts_open(&f, NULL);
    static const struct {
        const char *text;
        size_t asks;
    } rows[] = {{"{'plan_id':'p','goal':'g','risk_level':'high'}", 1},
                {"{'plan_id':'p','goal':'g','risk_level':'high','requires_confirmation':true}", 0},
                {"{'plan_id':'p','goal':'g','steps':[{'step_id':1,'action':'wash'}]}", 1},
                {"{'plan_id':'p','goal':'g','steps':[{'step_id':1,'action':'wash',"
                 "'requires_confirmation':true}]}",
                 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_plan *p = NULL;
        pons_autoverdict v = NULL;
        pons_autovalue value = quoted(rows[i].text);
        assert_int_equal(pons_plan_from_value(value, 0, &p, NULL), PONS_OK);
        assert_int_equal(pons_critic_judge_plan(f.critic, p, &f.now, &v, NULL), PONS_OK);
        assert_int_equal(json_array_size(pons_verdict_approvals(v)), rows[i].asks);
        pons_plan_destroy(p);
    }
    facts_close(&f);
}

// ---- refusals -----------------------------------------------------------------------------------

static void test_refusals_only_grow(void **state)
{
    (void)state;
    facts f;
    pons_autoverdict v = NULL;
    pons_autoverdict good = pons_verdict_create();
    wrong = 0;
    facts_open(&f, NULL);
    pons_autovalue args = quoted("{'zone':'attic'}");
    assert_int_equal(pons_critic_judge(f.critic, "navigate_to_pose", args, &f.now, &v, NULL), 0);
    // A model may say that all is well: that lifts nothing.
    static const struct {
        const char *value;
        int added;
    } said[] = {{"{'ok':true,'refusals':[]}", 0},
                {"{'ok':true,'lift':['zone']}", 0},
                {"{'refusals':[{'rule':'manners','message':'people sleep there'},'too late']}", 2},
                {"['a','b']", 2},
                {"{'refusals':'no'}", 1},
                {"[{}]", 1}};
    size_t n = 1;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        pons_autovalue value = quoted(said[i].value);
        assert_int_equal(pons_verdict_refuse_value(v, "llm", value), said[i].added);
        n += (size_t)said[i].added;
        assert_int_equal(json_array_size(pons_verdict_rules(v)), n);
        assert_string_equal(pons_get_str(json_array_get(pons_verdict_rules(v), 0), "rule", ""),
                            "zone");
        assert_false(pons_verdict_ok(v));
    }
    expect_line(v,
                "zone: unknown zone attic; llm manners: people sleep there; llm refused: too late; "
                "llm refused: a; llm refused: b; llm refused: no; llm refused: refused",
                "refusals");
    assert_true(pons_verdict_ok(good));
    assert_int_equal(pons_verdict_refuse(good, "person", NULL, "bad \xff utf-8"), PONS_OK);
    assert_false(pons_verdict_ok(good));
    assert_int_equal(pons_verdict_add(good, v), PONS_OK);
    assert_int_equal(json_array_size(pons_verdict_rules(good)), n + 1);
    pons_autovalue reported = pons_verdict_to_value(good);
    assert_false(pons_get_bool(reported, "ok", true));
    assert_string_equal(pons_get_str(json_array_get(pons_get(reported, "rules"), 0), "message", ""),
                        "bad ? utf-8");
    assert_int_equal(wrong, 0);
    facts_close(&f);
}

// ---- what is malformed --------------------------------------------------------------------------

static void test_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *embodiment, *policy, *skills, *message;
    } rows[] = {
        {"{'max_reach_m':'far'}", "{}", "[]",
         "embodiment: /max_reach_m: expected a number of at least 0"},
        {"{'limits':{'speed_max_mps':-1}}", "{}", "[]",
         "embodiment: /limits/speed_max_mps: expected a number of at least 0"},
        {"{'workspace':{'min':[0,0]}}", "{}", "[]",
         "embodiment: /workspace/min: expected [x, y, z]"},
        {"[]", "{}", "[]", "embodiment: expected an object"},
        {"{'base':[1]}", "{}", "[]", "embodiment: /base: expected [x, y, z]"},
        {"{}", "[]", "[]", "policy: expected an object"},
        {"{}", "{'risk':{'max':'huge'}}", "[]",
         "policy: /risk/max: expected low, medium or high, found huge"},
        {"{}", "{}", "{}", "skills: expected a list"},
        {"{}", "{}", "[{'name':'x','risk':'tiny'}]",
         "skills: /risk: expected low, medium, high or blocked, found tiny"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue embodiment = quoted(rows[i].embodiment);
        pons_autovalue policy = quoted(rows[i].policy);
        pons_autovalue skills = quoted(rows[i].skills);
        const pons_critic_options o = {
            .embodiment = embodiment, .policy = policy, .skills = skills};
        pons_critic *c = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(pons_critic_create(&o, &c, &err), PONS_EINVAL);
        assert_string_equal(err.message, rows[i].message);
        assert_null(c);
    }
    // A skill's own bad schema is told when the skill is asked for, and harms no other.
    facts f;
    pons_autoverdict v = NULL;
    pons_autoverdict other = NULL;
    facts_open(&f, NULL);
    assert_int_equal(pons_critic_judge(f.critic, "broken", NULL, &f.now, &v, NULL), 0);
    assert_string_equal(pons_get_str(json_array_get(pons_verdict_rules(v), 0), "rule", ""),
                        "args_schema");
    pons_autovalue list = json_array();
    assert_int_equal(pons_critic_judge(f.critic, "move_to", list, &f.now, &other, NULL), 0);
    expect_line(other, "args_schema: expected an object of arguments", "a list of arguments");
    assert_true(pons_critic_moves(f.critic, "move_to"));
    assert_false(pons_critic_moves(f.critic, "speak"));
    assert_false(pons_critic_moves(f.critic, "fly"));
    facts_close(&f);
    pons_critic_destroy(NULL);
    pons_verdict_destroy(NULL);
}

// A skill is what its registry item says, whatever it is called: neither stopping nor charging is known by a name.
static void test_no_name_is_known(void **state)
{
    (void)state;
    static const char registry[] = "[{'name':'halt','resources_required':['base'],'stops':true},"
                                   "{'name':'stop_base','resources_required':['base']},"
                                   "{'name':'plug_in','resources_required':['base'],"
                                   "'meets':[{'intent':'refuel','test':'charged'}]},"
                                   "{'name':'dock_to_charger','resources_required':['base']}]";
    static const struct {
        const char *action, *mode, *policy, *line;
        double battery;
    } rows[] = {
        {"halt", "SAFE", "{}", "ok", 80},
        {"stop_base", "SAFE", "{}", "mode: mode is SAFE: only halt may use the base", 80},
        {"stop_base", "SAFE", "{'safe_actions':['stop_base']}", "ok", 80},
        {"plug_in", "CHARGE", "{}", "ok", 9},
        {"dock_to_charger", "CHARGE", "{}",
         "battery: battery is 9.0 %; motion needs more than 10.0 %", 9},
        {"dock_to_charger", "CHARGE", "{'charge_actions':['dock_to_charger']}", "ok", 9},
    };
    wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_critic *c = NULL;
        pons_autoverdict v = NULL;
        pons_autovalue skills = quoted(registry);
        pons_autovalue policy = quoted(rows[i].policy);
        pons_autovalue robot =
            json_pack("{s:f,s:{s:b}}", "battery_pct", rows[i].battery, "stop", "latched", 0);
        const pons_critic_options o = {.skills = skills, .policy = policy};
        const pons_critic_situation now = {.live = true, .mode = rows[i].mode, .robot = robot};
        assert_int_equal(pons_critic_create(&o, &c, &err), PONS_OK);
        assert_int_equal(pons_critic_judge(c, rows[i].action, NULL, &now, &v, &err), PONS_OK);
        expect_line(v, rows[i].line, rows[i].action);
        pons_critic_destroy(c);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_approvals),
        cmocka_unit_test(test_unjudged),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_plan_approvals),
        cmocka_unit_test(test_refusals_only_grow),
        cmocka_unit_test(test_no_name_is_known),
        cmocka_unit_test(test_malformed),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
