// test_navigator.c - the navigator's trees, seen from outside: small trees in a folder of the
// test's own, run with the kinematic robot under the virtual clock. What a node does to the robot
// is read from the truth, what it says from the result's number and message, and what became of the
// tree from the stream of its changes.
#include "body/mini_sim.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char dir[64];
    pons_value *world;
    mini_sim sim;
} t;

static int open_room(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    snprintf(t.dir, sizeof t.dir, "/tmp/pons-nav-XXXXXX");
    assert_non_null(mkdtemp(t.dir));
    t.world = mini_sim_world("empty.yaml", NULL, 0, (pons_pose2){1.5, 1.5, 0.0});
    mini_sim_open(&t.sim, t.world, 7);
    print_message("seed 7\n");
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons__nav_workspace(t.sim.nav, t.dir, &err), PONS_OK);
    return 0;
}

static int close_room(void **state)
{
    (void)state;
    char command[128];
    mini_sim_close(&t.sim);
    pons_value_unref(t.world);
    snprintf(command, sizeof command, "rm -r %s", t.dir);
    return system(command);
}

// DIR/name.xml with one tree of that body.
static void write_tree(const char *name, const char *body)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s.xml", t.dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "<root BTCPP_format=\"4\">\n<BehaviorTree ID=\"T\">\n%s\n</BehaviorTree>\n</root>\n",
            body);
    assert_int_equal(fclose(f), 0);
}

static int go(const char *tree, pons_pose2 to, pons_error *err)
{
    char file[64];
    snprintf(file, sizeof file, "%s.xml", tree);
    const pons__nav_goal goal = {.poses = &to, .n = 1, .tree = file};
    return pons__nav_go(t.sim.nav, &goal, mini_sim_now(&t.sim), err);
}

static void must_go(const char *tree, pons_pose2 to)
{
    pons_error err = PONS_ERROR_INIT;
    if (go(tree, to, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
}

// Runs to the end; the result's number.
static int finish(double seconds)
{
    for (int k = 0; k < (int)(20.0 * seconds); k++) {
        mini_sim_tick(&t.sim);
        if (t.sim.out.status != PONS_NAV_RUNNING) {
            return t.sim.out.error_code;
        }
    }
    fail_msg("not done after %.0f s", seconds);
    return -1;
}

static int run(const char *body, double seconds)
{
    write_tree("run", body);
    must_go("run", (pons_pose2){4.5, 1.5, 0.0});
    return finish(seconds);
}

// A tree of conditions: does it say yes?
static bool holds(const char *body)
{
    run(body, 30.0);
    return t.sim.out.status == PONS_NAV_SUCCEEDED;
}

// Whether a node of that name (the end of its path) changed to a state since the last look.
static int changed(const char *name, pons_bt_status to)
{
    pons__nav_change all[PONS_NAV_CHANGES_MAX];
    uint64_t lost = 0;
    int times = 0;
    const int n = pons__nav_changes(t.sim.nav, all, PONS_NAV_CHANGES_MAX, &lost);
    assert_int_equal(lost, 0);
    for (int i = 0; i < n; i++) {
        char path[512];
        pons__nav_tree_path(t.sim.nav, all[i].node, path, sizeof path);
        const size_t len = strlen(path), tail = strlen(name);
        times += len >= tail && strcmp(path + len - tail, name) == 0 && all[i].to == to;
    }
    return times;
}

static void assert_moved(pons_pose2 from, double ahead, double turned)
{
    const pons_pose2 d = pons_pose_between(from, mini_sim_truth(&t.sim));
    if (fabs(d.x - ahead) > 0.06 || fabs(d.y) > 0.06 ||
        fabs(pons_wrap_angle(d.yaw - turned)) > 0.12) {
        fail_msg("moved by %.3f, %.3f, turned by %.3f", d.x, d.y, d.yaw);
    }
}

// ---- motions ------------------------------------------------------------------------------------

static void motions_move_by_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        double ahead, turned;
    } rows[] = {
        {"<Spin/>", 0.0, 1.57},
        {"<Spin spin_dist=\"-3.0\"/>", 0.0, -3.0},
        {"<BackUp/>", -0.15, 0.0},
        {"<BackUp backup_dist=\"0.30\" backup_speed=\"0.05\"/>", -0.30, 0.0},
        {"<DriveOnHeading dist_to_travel=\"0.8\" speed=\"0.3\"/>", 0.8, 0.0},
        {"<DriveOnHeading dist_to_travel=\"-0.4\" speed=\"-0.2\"/>", -0.4, 0.0},
        {"<Wait wait_duration=\"2.0\"/>", 0.0, 0.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pons_pose2 from = mini_sim_truth(&t.sim);
        assert_int_equal(run(rows[i].body, 30.0), 0);
        mini_sim_run(&t.sim, 0.5);
        assert_moved(from, rows[i].ahead, rows[i].turned);
    }
    // A wait is as long as it says, by the robot's clock.
    assert_int_equal(run("<Wait wait_duration=\"2.0\"/>", 10.0), 0);
    assert_true(fabs(t.sim.out.time_s - 2.0) < 0.11);
}

static void motions_that_do_not_get_on_time_out(void **state)
{
    (void)state;
    t.sim.share = 0.0;
    assert_int_equal(run("<Spin time_allowance=\"3\"/>", 5.0), 701);
    assert_non_null(strstr(t.sim.out.error_msg, "1.57 rad to go"));
    assert_int_equal(run("<BackUp time_allowance=\"3\"/>", 5.0), 711);
    assert_int_equal(run("<DriveOnHeading time_allowance=\"3\"/>", 5.0), 721);
    assert_int_equal(run("<DriveOnHeading dist_to_travel=\"1\" speed=\"-0.1\"/>", 5.0), 724);
    assert_int_equal(run("<BackUp backup_speed=\"0\"/>", 5.0), 713);
}

static void motions_look_ahead(void **state)
{
    (void)state;
    mini_sim_spawn(&t.sim, "behind", 0.9, 1.5, 0.2, 0.8);
    mini_sim_spawn(&t.sim, "before", 2.3, 1.5, 0.2, 0.8);
    mini_sim_run(&t.sim, 1.0); // seen
    const pons_pose2 from = mini_sim_truth(&t.sim);
    assert_int_equal(run("<BackUp backup_dist=\"1.0\" backup_speed=\"0.2\"/>", 20.0), 714);
    assert_non_null(strstr(t.sim.out.error_msg, "behind"));
    assert_int_equal(
        run("<DriveOnHeading dist_to_travel=\"1.5\" speed=\"0.2\" time_allowance=\"20\"/>", 30.0),
        723);
    const pons_pose2 at = mini_sim_truth(&t.sim);
    assert_true(hypot(at.x - from.x, at.y - from.y) < 0.6);
    // What stands before it does not keep it from backing off.
    assert_int_equal(run("<BackUp backup_dist=\"0.15\" backup_speed=\"0.1\"/>", 20.0), 0);
}

// ---- goals --------------------------------------------------------------------------------------

#define DRIVE                                                                                      \
    "<PipelineSequence><RateController hz=\"0.5\"><ComputePathToPose error_code_id="               \
    "\"{compute_path_error_code}\" goal=\"{goal}\" path=\"{path}\"/></RateController>"             \
    "<FollowPath path=\"{path}\" error_code_id=\"{follow_path_error_code}\"/></PipelineSequence>"

static void a_new_goal_keeps_the_tree(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    write_tree("drive", DRIVE);
    must_go("drive", (pons_pose2){5.0, 1.5, 0.0});
    mini_sim_run(m, 2.5);
    const uint64_t tree = pons__nav_tree_id(m->nav);
    pons_pose2 path[4];
    assert_true(m->out.cmd.v > 0.3);
    assert_int_equal(pons__nav_path(m->nav, path, 4), 4);
    changed("", PONS_BT_READY);

    // {path} is empty until the planner's next turn: the robot slows down, nothing is halted.
    must_go("drive", (pons_pose2){1.5, 4.5, 1.57});
    assert_int_equal(pons__nav_tree_id(m->nav), tree);
    mini_sim_run(m, 0.5);
    assert_int_equal(m->out.status, PONS_NAV_RUNNING);
    assert_true(m->out.cmd.v < 0.2);
    assert_int_equal(finish(60.0), 0);
    assert_int_equal(changed("Action:FollowPath", PONS_BT_READY), 1); // at the end alone
    const pons_pose2 at = mini_sim_truth(m);
    assert_true(hypot(at.x - 1.5, at.y - 4.5) < 0.2);

    // Another tree is another matter.
    must_go("drive", (pons_pose2){5.0, 1.5, 0.0});
    mini_sim_run(m, 1.0);
    write_tree("other", DRIVE);
    must_go("other", (pons_pose2){5.0, 1.5, 0.0});
    assert_int_equal(pons__nav_tree_id(m->nav), tree + 2);
    assert_int_equal(finish(60.0), 0);
}

static void a_new_goal_ends_a_recovery(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    write_tree("recover", "<RecoveryNode number_of_retries=\"3\">" DRIVE
                          "<ReactiveFallback><GoalUpdated/><Wait wait_duration=\"60\"/>"
                          "</ReactiveFallback></RecoveryNode>");
    must_go("recover", (pons_pose2){50.0, 1.5, 0.0});
    mini_sim_run(m, 3.0);
    assert_non_null(strstr(pons__nav_tree_at(m->nav), "Action:Wait"));
    changed("", PONS_BT_READY);
    must_go("recover", (pons_pose2){3.0, 1.5, 0.0});
    mini_sim_run(m, 0.2);
    assert_int_equal(changed("Action:Wait", PONS_BT_READY), 1);
    assert_non_null(strstr(pons__nav_tree_at(m->nav), "Action:FollowPath"));
    assert_int_equal(finish(30.0), 0);
}

static void cancel_halts_a_recovery(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    write_tree("spin",
               "<Fallback>" DRIVE "<Spin spin_dist=\"20\" time_allowance=\"60\"/></Fallback>");
    must_go("spin", (pons_pose2){50.0, 1.5, 0.0});
    mini_sim_run(m, 3.0);
    assert_true(fabs(m->out.cmd.w) > 0.3);
    changed("", PONS_BT_READY);
    pons__nav_cancel(m->nav);
    assert_int_equal(changed("Action:Spin", PONS_BT_READY), 1);
    mini_sim_tick(m);
    assert_int_equal(m->out.status, PONS_NAV_IDLE);
    assert_true(m->out.cmd.w == 0.0);
    assert_string_equal(pons__nav_tree_at(m->nav), "");
}

static void a_held_tree_keeps_its_place(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    write_tree("wait", "<Sequence><Wait wait_duration=\"5\"/>" DRIVE "</Sequence>");
    must_go("wait", (pons_pose2){3.0, 1.5, 0.0});
    mini_sim_run(m, 2.0);
    pons__nav_hold(m->nav, mini_sim_now(m));
    m->idle = true;
    mini_sim_run(m, 20.0);
    m->idle = false;
    pons__nav_resume(m->nav, mini_sim_now(m));
    mini_sim_run(m, 2.0);
    assert_non_null(strstr(pons__nav_tree_at(m->nav), "Action:Wait"));
    mini_sim_run(m, 1.5);
    assert_non_null(strstr(pons__nav_tree_at(m->nav), "Action:FollowPath"));
    assert_int_equal(finish(30.0), 0);
    assert_true(m->out.time_s < 15.0); // without the time on hold
}

static void through_poses_passes_each(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    const pons_pose2 poses[] = {{4.5, 1.5, 0.0}, {4.5, 4.5, 0.0}, {1.5, 4.5, M_PI}};
    double nearest[3] = {INFINITY, INFINITY, INFINITY};
    const pons__nav_goal goal = {.poses = poses, .n = 3, .through = true};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons__nav_go(m->nav, &goal, mini_sim_now(m), &err), PONS_OK);
    int remaining = 3;
    do {
        mini_sim_tick(m);
        const pons_pose2 at = mini_sim_truth(m);
        for (int i = 0; i < 3; i++) {
            nearest[i] = fmin(nearest[i], hypot(at.x - poses[i].x, at.y - poses[i].y));
        }
        if (m->out.status == PONS_NAV_RUNNING) {
            assert_true(m->out.poses_remaining <= remaining); // passed is passed
            remaining = m->out.poses_remaining;
        }
    } while (m->out.status == PONS_NAV_RUNNING && mini_sim_now(m) < 90 * PONS_NS_PER_S);
    assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
    assert_int_equal(remaining, 1);
    assert_true(nearest[0] < 0.5 && nearest[1] < 0.5 && nearest[2] < 0.2);

    const pons_pose2 outside[] = {{4.5, 1.5, 0.0}, {50.0, 4.5, 0.0}};
    const pons__nav_goal bad = {.poses = outside, .n = 2, .through = true};
    assert_int_equal(pons__nav_go(m->nav, &bad, mini_sim_now(m), &err), PONS_OK);
    assert_int_equal(finish(5.0), 304);
    assert_non_null(strstr(m->out.error_msg, "goal 2 of 2"));
    assert_int_equal(run("<ComputePathThroughPoses/>", 5.0), 309);
}

// ---- numbers ------------------------------------------------------------------------------------

static void the_smallest_number_is_the_result(void **state)
{
    (void)state;
    t.sim.share = 0.0;
    assert_int_equal(
        run("<Sequence><ForceSuccess><Spin time_allowance=\"1\" error_code_id=\"{spin_error_code}\""
            "/></ForceSuccess><BackUp time_allowance=\"1\" error_code_id=\"{backup_error_code}\"/>"
            "</Sequence>",
            10.0),
        701);
    assert_non_null(strstr(t.sim.out.error_msg, "at Sequence > ForceSuccess > Action:Spin"));
    // A leaf that succeeds later takes its number back.
    assert_int_equal(
        run("<Sequence><ForceSuccess><ComputePathToPose goal=\"90;1;0\" path=\"{path}\" "
            "error_code_id=\"{plan_error_code}\"/></ForceSuccess><ComputePathToPose "
            "goal=\"{goal}\" path=\"{path}\" error_code_id=\"{plan_error_code}\"/>"
            "<FollowPath path=\"{nothing}\" error_code_id=\"{follow_error_code}\"/>"
            "</Sequence>",
            10.0),
        103);
    // Without numbers on the board: the leaf that failed last. Without any leaf: UNKNOWN.
    assert_int_equal(run("<Fallback><Spin time_allowance=\"1\"/><BackUp time_allowance=\"1\"/>"
                         "</Fallback>",
                         10.0),
                     711);
    assert_int_equal(run("<AlwaysFailure/>", 1.0), 9000);
    assert_int_equal(run("<ScriptCondition code=\"nobody > 1\"/>", 1.0), 9000);
    assert_non_null(strstr(t.sim.out.error_msg, "nobody"));
    assert_int_equal(run("<ComputePathToPose goal=\"{goal}\" planner_id=\"Teleport\"/>", 1.0), 201);
    assert_int_equal(
        run("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/><FollowPath "
            "path=\"{path}\" controller_id=\"MPPI\"/></Sequence>",
            1.0),
        101);
    assert_int_equal(run("<SmoothPath unsmoothed_path=\"{path}\" smoother_id=\"other\"/>", 1.0),
                     501);
    assert_int_equal(run("<SmoothPath unsmoothed_path=\"{path}\"/>", 1.0), 505);
    assert_string_equal(pons__nav_error_word(308), "NO_VALID_PATH");
    assert_string_equal(pons__nav_error_word(309), "NO_VIAPOINTS_GIVEN");
    assert_string_equal(pons__nav_error_word(9101), "FAILED_TO_LOAD_BEHAVIOR_TREE");
}

static void a_tree_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *says;
    } rows[] = {
        {"<Sequence>\n<FollowPth/>\n</Sequence>", "unknown node <FollowPth>"},
        {"<ComputeRoute/>", "nothing here serves the node ComputeRoute"},
        {"<Sequence>\n<AssistedTeleop/><NavigateToPose/>\n</Sequence>", "AssistedTeleop"},
        {"<PauseResumeController><PersistentSequence><Wait/></PersistentSequence>"
         "</PauseResumeController>",
         "nothing here serves the node PauseResumeController"},
        {"<RecoveryManager><DockRobot/><Wait/></RecoveryManager>",
         "nothing here serves the nodes RecoveryManager, DockRobot"},
        {"<Inverter/>", "exactly 1 child"},
        {"<Repeat num_cycles=\"many\"><Wait/></Repeat>", "many"},
    };
    const pons_pose2 to = {3.0, 1.5, 0.0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_error err = PONS_ERROR_INIT;
        write_tree("bad", rows[i].body);
        assert_true(go("bad", to, &err) < 0);
        assert_non_null(strstr(err.message, rows[i].says));
        assert_non_null(strstr(err.source, i == 0 || i == 2 ? "bad.xml:4:1" : "bad.xml:3:1"));
        mini_sim_tick(&t.sim);
        assert_int_equal(t.sim.out.status, PONS_NAV_FAILED);
        assert_int_equal(t.sim.out.error_code, 9001);
    }
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(go("nowhere", to, &err), PONS_ENOTFOUND);
    assert_int_equal(go("../../etc/hostname", to, &err), PONS_ENOTFOUND);

    // Too many nodes for a robot, though not for the loader.
    char *body = malloc(5000 * 8 + 64), *at = body;
    assert_non_null(body);
    at += sprintf(at, "<Sequence>");
    for (int i = 0; i < 4200; i++) {
        at += sprintf(at, "<Wait/>");
    }
    sprintf(at, "</Sequence>");
    write_tree("bad", body);
    free(body);
    assert_int_equal(go("bad", to, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "4096"));

    // The robot's loop reads it: too large, alone or with what it includes.
    char *large = malloc(200 * 1024 + 64);
    assert_non_null(large);
    memset(large, ' ', 200 * 1024);
    strcpy(large + 200 * 1024, "<AlwaysSuccess/>");
    write_tree("part", large);
    memcpy(large,
           "<AlwaysSuccess/></BehaviorTree><include path=\"part.xml\"/><BehaviorTree ID=\"N\">",
           78);
    write_tree("bad", large);
    assert_int_equal(go("bad", to, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "and all that it includes are larger than 256 KiB"));
    large = realloc(large, 300 * 1024 + 64);
    assert_non_null(large);
    memset(large, ' ', 300 * 1024);
    strcpy(large + 300 * 1024, "<AlwaysSuccess/>");
    write_tree("bad", large);
    free(large);
    assert_int_equal(go("bad", to, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "the file is larger than 256 KiB"));

    // A pipe is no file: its reader would wait for ever.
    char pipe_path[128];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe.xml", t.dir);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(go("pipe", to, &err), PONS_ENOTFOUND);

    // What runs is not touched by a check.
    write_tree("drive", DRIVE);
    must_go("drive", to);
    mini_sim_run(&t.sim, 1.0);
    const pons__nav_goal bad = {.poses = &to, .n = 1, .tree = "bad.xml"};
    assert_true(pons__nav_check(t.sim.nav, &bad, &err) < 0);
    assert_int_equal(finish(30.0), 0);
}

// Trees that would never leave a tick: each step ends all the same, and cancelling does.
static void an_endless_tree_does_not_keep_the_body(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "<Repeat num_cycles=\"-1\"><AlwaysSuccess/></Repeat>",
        "<RetryUntilSuccessful num_attempts=\"-1\"><AlwaysFailure/></RetryUntilSuccessful>",
        "<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>",
        "<RecoveryNode number_of_retries=\"2000000000\"><AlwaysFailure/><AlwaysSuccess/>"
        "</RecoveryNode>",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        write_tree("endless", bodies[i]);
        must_go("endless", (pons_pose2){3.0, 1.5, 0.0});
        mini_sim_run(&t.sim, 2.0);
        assert_int_equal(t.sim.out.status, PONS_NAV_RUNNING);
        assert_true(t.sim.out.cmd.v == 0.0 && t.sim.out.cmd.w == 0.0);
        pons__nav_cancel(t.sim.nav);
    }
}

// ---- costmaps -----------------------------------------------------------------------------------

static int seen(const pons__costmap *g)
{
    pons__blob blobs[8];
    return pons__costmap_blobs(g, blobs, 8);
}

static void clearing_means_the_costmap_that_it_names(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    const pons__costmap *local = pons__nav_local(m->nav), *global = m->grid;
    mini_sim_spawn(m, "near", 2.2, 1.5, 0.2, 0.2);
    mini_sim_spawn(m, "far", 1.5, 4.0, 0.2, 0.2);
    mini_sim_run(m, 2.0);
    assert_int_equal(seen(local), 2);
    assert_int_equal(seen(global), 2);
    mini_sim_remove(m, "near"); // so that nothing is seen again,
    mini_sim_remove(m, "far");  // and what is left stands there from before
    static const struct {
        const char *body;
        int local, global;
    } rows[] = {
        {"<ClearCostmapAroundRobot service_name=\"local_costmap/clear_around_local_costmap\" "
         "reset_distance=\"2\"/>",
         1, 2},
        {"<ClearCostmapExceptRegion service_name=\"/robot/global_costmap/clear_except\" "
         "reset_distance=\"2\"/>",
         1, 1},
        {"<ClearEntireCostmap service_name=\"local_costmap/clear_entirely_local_costmap\"/>", 0, 1},
        {"<ClearCostmapAroundPose pose=\"2.2;1.5;0\" "
         "service_name=\"global_costmap/clear_around\"/>",
         0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_tree("clear", rows[i].body);
        must_go("clear", (pons_pose2){1.5, 1.5, 0.0});
        // Not a tick of the simulation: scans would clear it, too.
        pons__nav_step(m->nav, mini_sim_now(m), mini_sim_pose(m), m->state.twist, NULL, &m->out);
        assert_int_equal(m->out.status, PONS_NAV_SUCCEEDED);
        assert_int_equal(m->out.recoveries, 1);
        assert_int_equal(seen(local), rows[i].local);
        assert_int_equal(seen(global), rows[i].global);
    }
    assert_int_equal(run("<ClearEntireCostmap service_name=\"other\"/>", 1.0), 9000);
}

static void a_cleared_costmap_says_nothing_before_it_is_seen(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    mini_sim_spawn(m, "n", 1.5, 2.5, 2.2, 0.2); // no way out
    mini_sim_spawn(m, "s", 1.5, 0.5, 2.2, 0.2);
    mini_sim_spawn(m, "w", 0.5, 1.5, 0.2, 2.2);
    mini_sim_spawn(m, "e", 2.5, 1.5, 0.2, 2.2);
    mini_sim_run(m, 2.0);
    // Without the wait the planner would find a way at once, through walls that were forgotten.
    assert_int_equal(run("<Sequence><ClearEntireCostmap service_name=\"global_costmap/clear\"/>"
                         "<ComputePathToPose goal=\"{goal}\" path=\"{path}\"/></Sequence>",
                         5.0),
                     208);
    assert_true(m->out.time_s >= 0.4);
    // A lidar that says nothing any more: TIMEOUT.
    write_tree("blind",
               "<Sequence><ClearEntireCostmap/><ComputePathToPose goal=\"{goal}\"/></Sequence>");
    must_go("blind", (pons_pose2){4.5, 1.5, 0.0});
    int64_t now = mini_sim_now(m);
    do {
        now += 50 * PONS_NS_PER_MS;
        pons__nav_step(m->nav, now, mini_sim_pose(m), m->state.twist, NULL, &m->out);
    } while (m->out.status == PONS_NAV_RUNNING && now < mini_sim_now(m) + 10 * PONS_NS_PER_S);
    assert_int_equal(m->out.error_code, 207);
}

static void the_local_costmap_goes_with_the_robot(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    mini_sim_spawn(m, "thing", 0.45, 2.5, 0.2, 0.2);
    mini_sim_run(m, 2.0);
    const pons__costmap *local = pons__nav_local(m->nav);
    assert_int_equal(seen(local), 1);
    // The distance to it and to the map's walls is the same in both, wherever the window is.
    static const double at[][2] = {{0.45, 2.2}, {0.3, 1.5}, {2.0, 2.5}, {3.0, 3.0}};
    for (size_t i = 0; i < 4; i++) {
        const double a = pons__costmap_clearance(local, at[i][0], at[i][1]);
        assert_true(fabs(a - pons__costmap_clearance(m->grid, at[i][0], at[i][1])) < 0.051);
    }
    write_tree("drive", DRIVE);
    must_go("drive", (pons_pose2){5.2, 5.2, 0.0});
    assert_int_equal(finish(60.0), 0);
    assert_int_equal(seen(local), 0); // left behind: forgotten
    assert_true(seen(m->grid) >= 1);
    assert_true(fabs(pons__costmap_clearance(local, 5.2, 5.2) -
                     pons__costmap_clearance(m->grid, 5.2, 5.2)) < 0.051);
}

// ---- conditions and paths -----------------------------------------------------------------------

static void conditions_know_the_robot(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    pons__nav_senses senses = {.battery_pct = 30.0, .battery = PONS_BATTERY_CHARGING};
    assert_false(holds("<IsBatteryLow min_battery=\"0.5\"/>")); // not known yet
    senses.odom = m->state.odom_from_base;
    pons__nav_sense(m->nav, &senses);
    assert_true(holds("<IsBatteryLow min_battery=\"0.5\"/>"));
    assert_false(holds("<IsBatteryLow min_battery=\"0.2\"/>"));
    assert_true(holds("<IsBatteryCharging/>"));
    assert_int_equal(run("<IsBatteryLow min_battery=\"11\" is_voltage=\"true\"/>", 1.0), 9000);
    assert_non_null(strstr(m->out.error_msg, "no voltage"));
    assert_true(holds("<GoalReached goal=\"1.6;1.5;0\"/>"));
    assert_true(holds("<GoalReached goal=\"0;map;1.6;1.5;0;0;0;0;1\"/>"));
    assert_false(holds("<GoalReached goal=\"{goal}\"/>"));
    assert_true(holds("<TransformAvailable child=\"base_link\" parent=\"map\"/>"));
    assert_false(holds("<TransformAvailable child=\"gripper\" parent=\"map\"/>"));
    assert_true(
        holds("<ArePosesNear ref_pose=\"1;1;0\" target_pose=\"1.2;1;0\" tolerance=\"0.3\"/>"));
    assert_false(holds("<ArePosesNear ref_pose=\"1;1;0\" target_pose=\"2;1;0\"/>"));
    assert_true(holds("<IsPoseOccupied pose=\"0.05;1;0\"/>"));
    assert_false(holds("<IsPoseOccupied pose=\"1.5;1.5;0\"/>"));
    assert_true(holds("<Inverter><CheckPoseOccupancy pose=\"1.5;1.5;0\"/></Inverter>"));
    assert_true(holds("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/>"
                      "<ValidatePath path=\"{path}\"/></Sequence>"));
    assert_true(holds("<Sequence><PathHandlerSelector default_path_handler=\"PathHandler\" "
                      "selected_path_handler=\"{handler}\"/>"
                      "<ScriptCondition code=\"handler == 'PathHandler'\"/></Sequence>"));
    assert_int_equal(run("<ValidatePath path=\"{path}\" layer_name=\"voxels\"/>", 1.0), 9000);
    assert_non_null(strstr(m->out.error_msg, "layer_name"));
    assert_true(holds("<Sequence><PathHandlerSelector default_path_handler=\"PathHandler\" "
                      "selected_path_handler=\"{h}\"/><ScriptCondition "
                      "code=\"h=='PathHandler'\"/></Sequence>"));
    assert_true(holds("<CheckStopStatus duration_stopped=\"1000\"/>")); // it waits for that
    assert_true(holds("<WouldASmootherRecoveryHelp error_code=\"503\"/>"));
    assert_false(holds("<WouldASmootherRecoveryHelp error_code=\"501\"/>"));
    assert_false(holds("<ReinitializeGlobalLocalization/>")); // nobody to do it
    assert_true(
        holds("<Sequence><PlannerSelector default_planner=\"GridBased\" selected_planner="
              "\"{p}\"/><ComputePathToPose goal=\"{goal}\" planner_id=\"{p}\"/></Sequence>"));
    assert_true(holds("<Sequence><Wait wait_duration=\"1.5\"/><IsStopped/></Sequence>"));
}

// What a tree of Nav2's calls its planner, controller and smoother; what there is not is refused by its name.
static void plugins_are_known_by_nav2s_names(void **state)
{
    (void)state;
    static const char *const known[] = {
        "<ComputePathToPose goal=\"{goal}\" planner_id=\"nav2_navfn_planner::NavfnPlanner\"/>",
        "<ComputePathToPose goal=\"{goal}\" planner_id=\"nav2_navfn_planner/NavfnPlanner\"/>",
        "<ComputePathToPose goal=\"{goal}\" planner_id=\"nav2_smac_planner::SmacPlanner2D\"/>",
        "<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/><SmoothPath "
        "unsmoothed_path=\"{path}\" smoother_id=\"nav2_smoother::SimpleSmoother\"/></Sequence>"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_true(holds(known[i]));
    }
    assert_int_equal(
        run("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/><FollowPath "
            "path=\"{path}\" controller_id=\"nav2_regulated_pure_pursuit_controller::"
            "RegulatedPurePursuitController\"/></Sequence>",
            60.0),
        0);
    static const char *const headed[] = {"Lattice", "nav2_smac_planner::SmacPlannerLattice",
                                         "Hybrid", "nav2_smac_planner/SmacPlannerHybrid"};
    for (size_t i = 0; i < sizeof headed / sizeof *headed; i++) { // and they are driven, by DWB
        char body[400];
        snprintf(body, sizeof body,
                 "<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\" "
                 "planner_id=\"%s\"/><FollowPath path=\"{path}\" "
                 "controller_id=\"dwb_core::DWBLocalPlanner\"/></Sequence>",
                 headed[i]);
        assert_int_equal(run(body, 60.0), 0);
    }
    static const struct {
        const char *body, *says;
        int code;
    } bad[] = {
        {"<ComputePathToPose goal=\"{goal}\" planner_id=\"nav2_smac_planner::SmacPlannerMagic\"/>",
         "no planner 'nav2_smac_planner::SmacPlannerMagic' here, but GridBased, Lattice and Hybrid",
         PONS_PLAN_INVALID_PLANNER},
        {"<ComputePathToPose goal=\"{goal}\" planner_id=\"nav2_navfn_planner/Navfn\"/>",
         "no planner 'nav2_navfn_planner/Navfn'", PONS_PLAN_INVALID_PLANNER},
        {"<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/><FollowPath "
         "path=\"{path}\" controller_id=\"nav2_mppi_controller::MPPIController\"/></Sequence>",
         "no controller 'nav2_mppi_controller::MPPIController' here, but FollowPath and DWB",
         PONS_FOLLOW_INVALID_CONTROLLER},
        {"<SmoothPath unsmoothed_path=\"{path}\" "
         "smoother_id=\"nav2_smoother::SavitzkyGolaySmoother\"/>",
         "no smoother 'nav2_smoother::SavitzkyGolaySmoother' here, but SmoothPath and",
         PONS_SMOOTH_INVALID_SMOOTHER}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(run(bad[i].body, 2.0), bad[i].code);
        if (!strstr(t.sim.out.error_msg, bad[i].says)) {
            fail_msg("%s", t.sim.out.error_msg);
        }
    }
}

static void is_stuck_is_told_and_does_not_move(void **state)
{
    (void)state;
    assert_false(holds("<IsStuck/>"));
    write_tree("stuck", "<ReactiveFallback><IsStuck/><DriveOnHeading dist_to_travel=\"9\" "
                        "speed=\"0.3\" time_allowance=\"9\"/></ReactiveFallback>");
    must_go("stuck", (pons_pose2){4.5, 1.5, 0.0});
    mini_sim_run(&t.sim, 2.0);
    assert_int_equal(t.sim.out.status, PONS_NAV_RUNNING); // it drives
    t.sim.share = 0.0;
    assert_int_equal(finish(3.0), 0);
}

static void is_path_valid_sees_what_appears(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    assert_false(holds("<IsPathValid path=\"{path}\"/>")); // there is none
    write_tree("valid", "<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/>"
                        "<IsPathValid path=\"{path}\"/><Wait wait_duration=\"3\"/>"
                        "<Inverter><IsPathValid path=\"{path}\"/></Inverter></Sequence>");
    must_go("valid", (pons_pose2){4.5, 1.5, 0.0});
    mini_sim_run(m, 1.0);
    assert_int_equal(m->out.status, PONS_NAV_RUNNING);
    mini_sim_spawn(m, "box", 3.0, 1.5, 0.3, 0.3);
    assert_int_equal(finish(10.0), 0);
    // Costs: a path beside something is dearer than one in the open.
    mini_sim_remove(m, "box");
    assert_true(
        holds("<Sequence><Wait wait_duration=\"3\"/><ComputePathToPose goal=\"{goal}\" "
              "path=\"{path}\"/><IsPathValid path=\"{path}\" max_cost=\"200\"/></Sequence>"));
    mini_sim_spawn(m, "beside", 3.0, 2.0, 0.3, 0.3);
    assert_false(holds("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/>"
                       "<Wait wait_duration=\"2\"/><IsPathValid path=\"{path}\" max_cost=\"10\"/>"
                       "</Sequence>"));
}

static void paths_are_made_into_paths(void **state)
{
    (void)state;
    mini_sim *m = &t.sim;
    // Truncated: it stops a metre before the goal.
    assert_int_equal(
        run("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/><TruncatePath "
            "distance=\"1.0\" input_path=\"{path}\" output_path=\"{short}\"/>"
            "<FollowPath path=\"{short}\"/></Sequence>",
            30.0),
        0);
    assert_true(fabs(mini_sim_truth(m).x - 3.5) < 0.15);
    // From elsewhere, joined, smoothed, and followed by way of both.
    assert_int_equal(
        run("<Sequence><ComputePathToPose goal=\"3.5;3.5;0\" path=\"{a}\"/><ComputePathToPose "
            "start=\"3.5;3.5;0\" goal=\"1.5;3.5;3.14\" path=\"{b}\"/><ConcatenatePaths "
            "input_path1=\"{a}\" input_path2=\"{b}\" output_path=\"{c}\"/><GetPoseFromPath "
            "path=\"{c}\" "
            "index=\"-1\" pose=\"{end}\"/><ArePosesNear ref_pose=\"{end}\" "
            "target_pose=\"1.5;3.5;0\" "
            "tolerance=\"0.1\"/><SmoothPath unsmoothed_path=\"{c}\" smoothed_path=\"{d}\" "
            "check_for_collisions=\"true\"/><FollowPath path=\"{d}\"/></Sequence>",
            60.0),
        0);
    const pons_pose2 at = mini_sim_truth(m);
    assert_true(hypot(at.x - 1.5, at.y - 3.5) < 0.2);
    assert_true(fabs(pons_wrap_angle(at.yaw - M_PI)) < 0.3);
    // A window of it: a metre ahead of the robot.
    assert_int_equal(run("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/>"
                         "<TruncatePathLocal input_path=\"{path}\" output_path=\"{near}\" "
                         "distance_forward=\"1.0\"/><FollowPath path=\"{near}\"/></Sequence>",
                         30.0),
                     0);
    assert_true(fabs(hypot(mini_sim_truth(m).x - at.x, mini_sim_truth(m).y - at.y) - 1.0) < 0.2);
}

static void goals_are_made_into_goals(void **state)
{
    (void)state;
    const pons_pose2 poses[] = {
        {1.6, 1.5, 0.0}, {0.05, 3.0, 0.0}, {3.0, 1.5, 0.0}, {4.0, 1.5, 0.0}};
    const pons__nav_goal goal = {.poses = poses, .n = 4, .through = true, .tree = "goals.xml"};
    pons_error err = PONS_ERROR_INIT;
    write_tree("goals",
               "<Sequence><RemovePassedGoals input_goals=\"{goals}\" output_goals=\"{goals}\"/>"
               "<RemoveInCollisionGoals input_goals=\"{goals}\" output_goals=\"{goals}\"/>"
               "<GetNextFewGoals input_goals=\"{goals}\" output_goals=\"{few}\" num_goals=\"1\"/>"
               "<AppendGoalPoseToGoals input_goals=\"{few}\" output_goals=\"{few}\" "
               "goal_pose=\"3;2.5;0\"/><ComputePathThroughPoses goals=\"{few}\" path=\"{path}\"/>"
               "<FollowPath path=\"{path}\"/></Sequence>");
    assert_int_equal(pons__nav_go(t.sim.nav, &goal, mini_sim_now(&t.sim), &err), PONS_OK);
    mini_sim_run(&t.sim, 1.0);
    assert_int_equal(t.sim.out.poses_remaining, 2);
    assert_int_equal(finish(60.0), 0);
    const pons_pose2 at = mini_sim_truth(&t.sim);
    assert_true(hypot(at.x - 3.0, at.y - 2.5) < 0.2);
}

static void cancel_control_ends_what_follows(void **state)
{
    (void)state;
    // Driving beside a timer: when that cancels it, the following ends well, where it is.
    assert_int_equal(
        run("<Sequence><ComputePathToPose goal=\"{goal}\" path=\"{path}\"/><ParallelAll>"
            "<FollowPath path=\"{path}\"/><Sequence><Wait wait_duration=\"2\"/>"
            "<CancelControl/></Sequence></ParallelAll></Sequence>",
            10.0),
        0);
    assert_true(mini_sim_truth(&t.sim).x < 4.0);
    assert_true(t.sim.out.time_s < 3.0);
}

int main(void)
{
#define IN_ROOM(test) cmocka_unit_test_setup_teardown(test, open_room, close_room)
    const struct CMUnitTest tests[] = {
        IN_ROOM(motions_move_by_what_they_say),
        IN_ROOM(motions_that_do_not_get_on_time_out),
        IN_ROOM(motions_look_ahead),
        IN_ROOM(a_new_goal_keeps_the_tree),
        IN_ROOM(a_new_goal_ends_a_recovery),
        IN_ROOM(cancel_halts_a_recovery),
        IN_ROOM(a_held_tree_keeps_its_place),
        IN_ROOM(through_poses_passes_each),
        IN_ROOM(the_smallest_number_is_the_result),
        IN_ROOM(a_tree_that_cannot_be_had_is_refused),
        IN_ROOM(an_endless_tree_does_not_keep_the_body),
        IN_ROOM(clearing_means_the_costmap_that_it_names),
        IN_ROOM(a_cleared_costmap_says_nothing_before_it_is_seen),
        IN_ROOM(the_local_costmap_goes_with_the_robot),
        IN_ROOM(conditions_know_the_robot),
        IN_ROOM(plugins_are_known_by_nav2s_names),
        IN_ROOM(is_stuck_is_told_and_does_not_move),
        IN_ROOM(is_path_valid_sees_what_appears),
        IN_ROOM(paths_are_made_into_paths),
        IN_ROOM(goals_are_made_into_goals),
        IN_ROOM(cancel_control_ends_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
