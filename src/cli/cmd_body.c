// cmd_body.c - `pons body`: a robot's owner, as a process of its own.
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t quit;

static void on_signal(int number)
{
    (void)number;
    quit = 1;
}

int cmd_body(cli *c)
{
    const char *driver = "mujoco", *world_name = "house", *speed_text = NULL, *seed_text = NULL,
               *battery_text = NULL, *for_run = NULL;
    const cli_option options[] = {
        {"--driver", "NAME", "mujoco (default) or kinematic", &driver},
        {"--world", "NAME", "a world of worlds/, or a path; default house", &world_name},
        {"--speed", "X", "robot clock over host clock, 0.1 to 100; default 1", &speed_text},
        {"--seed", "N", "of everything random", &seed_text},
        {"--battery", "PCT", "charge at the start, 0 to 100", &battery_text},
        {"--for-run", NULL, "started by a run: its good end ends this", &for_run},
        {NULL, NULL, NULL, NULL},
    };
    const int parsed = cli_parse(c, cli_find("body"), options);
    if (parsed >= 0) {
        return parsed;
    }
    if (c->argc > 0) {
        return cli_bad("body takes no words, only options; got '%s'", c->argv[0]);
    }
    double speed = 1.0, seed = 0.0, battery = -1.0;
    int bad = speed_text ? cli_number(speed_text, "--speed", 0.1, 100.0, &speed) : -1;
    bad = bad < 0 && seed_text ? cli_number(seed_text, "--seed", 0.0, 9007199254740991.0, &seed)
                               : bad;
    bad =
        bad < 0 && battery_text ? cli_number(battery_text, "--battery", 0.0, 100.0, &battery) : bad;
    if (bad >= 0) {
        return bad;
    }
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    char ledger[PATH_MAX + 16], state[PATH_MAX + 16];
    pons_body_options o = PONS_BODY_OPTIONS_INIT;
    int rc = cli_workspace(c, true, &err);
    rc = rc < 0 ? rc : cli_world(world_name, &world, &err);
    rc = rc < 0 ? rc : cli_driver(driver, &o.robot, &err);
    if (rc < 0) {
        return cli_fail(&err);
    }
    snprintf(ledger, sizeof ledger, "%s/body.ledger", c->run_dir);
    snprintf(state, sizeof state, "%s/sim.json", c->run_dir);
    o.world = world;
    o.workspace = c->workspace;
    o.ledger_path = ledger;
    o.sim_state_path = state;
    o.clock = pons_clock_real();
    o.seed = (uint64_t)seed;
    o.speed = speed;
    o.battery_pct = battery;
    o.for_run = for_run != NULL;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (!for_run && isatty(STDERR_FILENO)) {
        fprintf(stderr, "pons: body %s in %s at %s; Ctrl-C ends it\n", driver, world_name,
                c->run_dir);
    }
    rc = pons_body_run(&o, c->run_dir, &quit, &err);
    return rc < 0 ? cli_fail(&err) : EXIT_DONE;
}
