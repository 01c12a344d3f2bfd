// cmd_ros2.c - `pons ros2 setup [ROBOT]`: the launch file that puts a robot's Nav2 behind the velocity gate.
#include "cli/cli.h"
#include "pons/file.h"
#include "pons/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH_FILE "config/ros2/nav2.launch.py"
enum { LAUNCH_BYTES_MAX = 65536 };

static bool is_known(const char *robot)
{
    static const char *const robots[] = {"nav2", "turtlebot3", "turtlebot4"};
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        if (strcmp(robot, robots[i]) == 0) {
            return true;
        }
    }
    return false;
}

int cmd_ros2_setup(cli *c, pons_error *err)
{
    char path[PATH_MAX];
    size_t n = 0;
    const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    int rc = cli_parse(c, options, err);
    const char *robot = rc >= 0 && c->argc > 0 ? c->argv[0] : "nav2";
    if (rc >= 0 && (!is_known(robot) || c->argc > 1)) {
        return app_bad(err, "ros2 setup: the robot is nav2, turtlebot3 or turtlebot4");
    }
    rc = rc < 0 ? rc : pons_share_path(LAUNCH_FILE, path, sizeof path, err);
    if (rc < 0) {
        return rc;
    }
    char *text = pons_file_text(path, LAUNCH_BYTES_MAX, &n);
    if (!text) {
        pons_error_set(err, PONS_EIO, "ros2", "cannot read it: %s", pons_file_why(errno));
        return pons_error_source(err, "%s", path);
    }
    cli_out_text(text, n);
    free(text);
    cli_err("On the robot, in place of its own launch file of Nav2:\n"
            "    ros2 launch nav2.launch.py robot:=%s\n"
            "Nothing but pons may publish cmd_vel; a joystick belongs on another input of "
            "twist_mux.\n",
            robot);
    return PONS_OK;
}
