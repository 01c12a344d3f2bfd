// cmd_body.c - `pons body`: a robot's owner, as a process of its own; `pons body pose`, which tells the
// one that runs where it is; and `pons body ros2`, which shows it to ROS (ros2_bridge.c).
#include "app/service/service.h"
#include "app/workspace/which_robot.h"
#include "cli/cli.h"
#include "pons/link_message.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

// Half a metre and 20 degrees are near enough: the scans do the rest, or contradict.
static int pose(cli *c, pons_error *err)
{
    static const char *const names[] = {"X", "Y", "YAW"};
    static const double most[] = {1e6, 1e6, 100.0};
    double at[3];
    if (c->argc != 4) {
        return app_bad(err, "body pose takes X and Y in metres and YAW in radians, in the map");
    }
    for (int i = 0; i < 3; i++) {
        const int rc = cli_number(c->argv[1 + i], names[i], -most[i], most[i], &at[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    const pons_message what = {.type = PONS_MESSAGE_SET_POSE,
                               .as.set_pose = {.x = at[0], .y = at[1], .yaw = at[2]}};
    const int rc = app_ask_body(&c->app, &what, err);
    if (rc < 0) {
        return rc;
    }
    if (c->json) {
        pons_autovalue out = pons_object("type", json_string("set_pose"), "x", json_real(at[0]),
                                         "y", json_real(at[1]), "yaw", json_real(at[2]), NULL);
        cli_print_json(out);
    } else {
        cli_out("the robot takes itself to be at %.2f %.2f, turned %.2f rad\n", at[0], at[1],
                at[2]);
    }
    return PONS_OK;
}

static void on_round(void *user)
{
    app_service_alive();
}

static int camera(cli *c, const cli_camera_options *o, const char *size, const char *fps,
                  pons_error *err)
{
    cli_camera_options with = *o;
    char end;
    if ((size || fps) && !o->device) {
        return app_bad(err, "body camera: --size and --fps are of a --device");
    }
    if (size && (sscanf(size, "%dx%d%c", &with.width, &with.height, &end) != 2 || with.width < 1 ||
                 with.height < 1 || with.width > 16384 || with.height > 16384)) {
        return app_bad(err, "body camera: --size takes WxH, such as 640x480, not '%.40s'", size);
    }
    const int rc = fps ? cli_number(fps, "--fps", 0.1, 1000, &with.fps, err) : PONS_OK;
    return rc < 0 ? rc : cli_camera(c, &with, err);
}

int cmd_body(cli *c, pons_error *err)
{
    double speed = 1.0, seed = 0.0, battery = -1.0;
    const char *for_run = NULL, *skill_names = NULL, *out = NULL, *depth = NULL, *device = NULL,
               *size = NULL, *fps = NULL, *record = NULL, *ros2 = NULL;
    const cli_option options[] = {
        CLI_ROBOT_OPTIONS(c),
        {"--skills", "NAME,…", "also these, of modules skill-NAME", &skill_names},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1",
         CLI_NUMBER(&speed, 0.1, 100.0)},
        {"--seed", "N", "of everything random", CLI_NUMBER(&seed, 0.0, 9007199254740991.0)},
        {"--battery", "PCT", "charge at the start, 0 to 100", CLI_NUMBER(&battery, 0.0, 100.0)},
        {"--ros2", NULL, "show it to ROS 2, which may drive it (docs/reference/ros2.md)", &ros2},
        {"--record", "FILE", "what it says into a new MCAP file (docs/reference/recording.md)",
         &record},
        {"--for-run", NULL, "started by a run: its good end ends this", &for_run},
        {"--out", "FILE", "of camera; default artifacts/camera/NAME.jpg of the workspace", &out},
        {"--depth", NULL, "of camera: its depth too, in metres, as NAME.npy beside it", &depth},
        {"--device", "PATH", "of camera: this V4L2 camera, whatever the world has", &device},
        {"--size", "WxH", "of camera with --device; default 640x480", &size},
        {"--fps", "N", "the same; default 15", &fps},
        {NULL, NULL, NULL, NULL},
    };
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    if (c->argc > 0 && strcmp(c->argv[0], "pose") == 0) {
        return pose(c, err);
    }
    if (c->argc == 2 && strcmp(c->argv[0], "camera") == 0) {
        const cli_camera_options o = {.name = c->argv[1],
                                      .world = c->app.world,
                                      .driver = c->app.driver,
                                      .out = out,
                                      .device = device,
                                      .depth = depth != NULL};
        return camera(c, &o, size, fps, err);
    }
    if (c->argc == 1 && strcmp(c->argv[0], "ros2") == 0) {
        return app_bridge_run(&c->app, c->app.world, for_run != NULL, err);
    }
    if (c->argc > 0 || out || depth || device || size || fps) {
        return app_bad(err,
                       "body takes options, or pose X Y YAW, or camera NAME, or ros2; got '%s'",
                       c->argc > 0 ? c->argv[0]
                       : out       ? "--out"
                       : device    ? "--device"
                       : size      ? "--size"
                       : fps       ? "--fps"
                                   : "--depth");
    }
    pons_autovalue world = NULL;
    pons_autovalue rules = NULL;
    pons_autovalue config = NULL;
    char ledger[PATH_MAX + 16], state[PATH_MAX + 16];
    pons_body_options o = PONS_BODY_OPTIONS_INIT;
    app_skills skills = {0};
    app_robot meant = {0};
    pid_t bridge = 0;
    int rc = app_workspace(&c->app, true, err);
    rc = rc < 0 ? rc : app_config(&c->app, &rules, err);
    rc = rc < 0 ? rc : app_robot_meant(&c->app, NULL, NULL, &meant, err);
    rc = rc < 0 ? rc : app_robot_check(&c->app, &meant, err);
    rc = rc < 0 ? rc : app_robot_config(&c->app, meant.driver, &config, err);
    rc = rc < 0 ? rc : app_world(meant.world, &world, err);
    rc = rc < 0 ? rc : app_driver(meant.driver, &o.robot, err);
    rc = rc < 0 ? rc : app_skills_load(skill_names, &skills, err);
    rc = rc < 0 ? rc : app_slam(world, o.robot, &o.slam, err);
    if (rc >= 0 && ros2 && strcmp(o.robot->name, "ros2") == 0) {
        rc =
            app_bad(err, "--ros2 shows pons's own body; a robot of --driver ros2 is there already");
    }
    cli_end_on_signals(SA_RESTART); // who ends it meanwhile ends the bridge too
    rc = rc < 0 || !ros2 ? rc : app_bridge_start(&c->app, meant.world, &bridge, err);
    rc = rc < 0 ? rc : pons_body_confine(err);
    if (rc < 0) {
        app_bridge_end(bridge);
        return rc;
    }
    snprintf(ledger, sizeof ledger, "%s/body.ledger", c->app.run_dir);
    snprintf(state, sizeof state, "%s/sim.json", c->app.run_dir);
    o.world = world;
    o.skills = skills.at;
    o.n_skills = skills.n;
    o.workspace = c->app.workspace;
    o.config = config;
    o.ledger_path = ledger;
    const pons_value *kept = pons_get(rules, "ledger");
    o.ledger_part_mb = pons_get_num(kept, "part_mb", o.ledger_part_mb);
    o.ledger_size_mb = pons_get_num(kept, "size_mb", o.ledger_size_mb);
    o.ledger_audit_days = pons_get_num(kept, "audit_days", o.ledger_audit_days);
    o.sim_state_path = state;
    o.clock = pons_clock_real();
    o.seed = (uint64_t)seed;
    o.speed = speed;
    o.battery_pct = battery;
    o.for_run = for_run != NULL;
    o.on_round = on_round;
    // A service stays, whoever comes or not.
    o.alone_timeout_s = app_service_managed() ? INFINITY : o.alone_timeout_s;
    if (!for_run && (app_service_managed() || isatty(STDERR_FILENO))) {
        cli_err("pons: body %s in %s at %s%s\n", meant.driver, meant.world, c->app.run_dir,
                app_service_managed() ? "" : "; Ctrl-C ends it");
    }
    app_recording *recording = NULL;
    pons_error unwritten = PONS_ERROR_INIT;
    if (record) {
        rc = app_recording_open(
            &c->app,
            &(app_recording_options){.path = record, .apart = strcmp(meant.driver, "ros2") == 0},
            &recording, err);
    }
    rc = rc < 0 ? rc : pons_body_run(&o, c->app.run_dir, &cli_ended, err);
    app_service_stopping();
    app_bridge_end(bridge);
    if (app_recording_close(recording, &unwritten) < 0) {
        cli_tell(&unwritten);
    }
    return rc;
}
