// cmd_doctor.c - `pons doctor`: what is installed, reachable, missing, and what to do about it.
//
// Each line is looked at, not assumed: modules are loaded, files are read, the store and the body's
// files are verified (doctor_data.c), so are modules of the workspace (doctor_modules.c), the body is asked. Exit 0 when all is well, 1 when something
// is damaged, else 3 when something that the default run needs is missing.
#include "cli/agent/agent_cli.h"
#include "cli/maintenance/doctor.h"
#include "pons/dot_svg.h"
#include "pons/module.h"
#include "pons/protected_files.h"
#include "pons/tools.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MCP_WAIT_MS 30000 // for a server to start

// Whether others could change what pons reads in the workspace.
static bool check_rights(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    if (access(d->c->app.workspace, F_OK) != 0) {
        return true; // told with the store
    }
    if (pons_workspace_check(d->c->app.workspace, &err) >= 0) {
        doctor_say(d, "rights", "ok", "nobody else may write in the workspace", NULL);
        return true;
    }
    doctor_say(d, "rights", "missing", err.message, "nothing is run in it until then");
    return false;
}

// The sandbox of the tool `terminal` is tried, with the workspace when there is one.
static void check_wall(doctor *d)
{
    char detail[1024];
    const char *place =
        access(d->c->app.workspace, F_OK) == 0 ? d->c->app.workspace : pons_exe_dir();
    if (pons_core_tools_wall(place, detail, sizeof detail) >= 0) {
        doctor_say(d, "sandbox", "ok", detail, NULL);
    } else {
        doctor_say(
            d, "sandbox", "absent", detail,
            "every command of an agent's tool `terminal` asks; permit user namespaces (sysctl "
            "user.max_user_namespaces) or install bubblewrap");
    }
}

typedef struct module {
    const char *kind, *name;
    const char *package; // Debian's that has it, as pons is packaged; NULL: pons itself
    const char *needs;   // the packages that it is built with
    const char *use;
} module;

static const module modules[] = {
    {"driver", "ros2", "pons-ros2", "cyclonedds-dev and cyclonedds-tools", "to use ROS 2 robots"},
    {"bridge", "ros2", "pons-ros2", "cyclonedds-dev and cyclonedds-tools",
     "to show a body to ROS 2"},
    {"driver", "gazebo", "pons-gazebo", "libignition-transport-dev, libignition-msgs-dev and g++",
     "to use Gazebo"},
    {"llm", "openai", NULL, NULL, "to use a model"},
    {"http", "curl", NULL, "libcurl4-openssl-dev",
     "to use a model, MCP servers behind a URL, or pages"},
    {"groot", "zmq", "pons-groot", "libzmq3-dev and libmsgpack-dev", "to use Groot2"},
    {"detector", "apriltag", "pons-detectors", "libapriltag-dev", "to find AprilTags in pictures"},
    {"detector", "onnx", "pons-detectors", "libopencv-dnn-dev, libopencv-imgproc-dev and g++",
     "to run a network on pictures"},
    {"slam", "mrpt", "pons-slam", "libmrpt-slam-dev, libmrpt-graphslam-dev and g++",
     "to explore a place without a map"},
    {"mqtt", "mosquitto", NULL, "libmosquitto-dev", "to use pons vda5050"},
};
static const module physics = {"driver", "mujoco", "pons-mujoco", "libmujoco-dev",
                               "for physics; without it the driver is kinematic"};
static const module postgres = {"store", "postgres", "pons-postgresql", "libpq-dev",
                                "to use PostgreSQL"};

static void check_module(doctor *d, const module *m, bool needed)
{
    char what[64], advice[256];
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(what, sizeof what, "%s %s", m->kind, m->name);
    if (pons_module_load(m->kind, m->name, &ops, &err) >= 0) {
        doctor_say(d, what, "ok", "loads", NULL);
        return;
    }
    char line[1024];
    const char *package = m->package ? m->package : "pons", *why = err.message;
    if (m->needs) {
        snprintf(advice, sizeof advice, "install %s, or %s and build again, %s", package, m->needs,
                 m->use);
    } else {
        snprintf(advice, sizeof advice, "install %s again, %s", package, m->use);
    }
    if (err.status != PONS_ENOTFOUND) {
        why = pons_error_line(&err, line, sizeof line);
    }
    doctor_say(d, what, needed ? "missing" : "absent", why, advice);
}

// Each server of mcp.json is started, asked for its tools, and ended.
static void check_mcp(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_tools mcp = {0};
    char line[1024];
    const pons_clock clock = pons_clock_real();
    const int rc = app_mcp_tools(&d->c->app, &clock, &mcp, &err);
    if (rc == PONS_ENOTFOUND) {
        doctor_say(d, "mcp servers", "absent", "the workspace has no mcp.json", NULL);
        return;
    }
    if (rc < 0) {
        doctor_say(d, "mcp servers", "missing", pons_error_line(&err, line, sizeof line),
                   "correct the file");
        return;
    }
    pons_autovalue status = NULL;
    app_mcp_wait(&mcp, MCP_WAIT_MS, &status, &err);
    pons_each(s, status) {
        char what[80], log[128];
        const char *state = pons_get_str(s, "state", "");
        const bool ready = strcmp(state, "ready") == 0, off = strcmp(state, "disabled") == 0;
        const bool refused = strcmp(state, "refused") == 0;
        snprintf(what, sizeof what, "mcp %s", pons_get_str(s, "name", ""));
        snprintf(log, sizeof log, "`pons logs mcp-%s` is what it said",
                 pons_get_str(s, "name", ""));
        snprintf(line, sizeof line, "%s %s, protocol %s, %lld tools",
                 pons_get_str(pons_get(s, "server"), "name", ""),
                 pons_get_str(pons_get(s, "server"), "version", ""),
                 pons_get_str(s, "protocol", ""), (long long)pons_get_int(s, "tools", 0));
        doctor_say(d, what, ready ? "ok" : "absent",
                   ready ? line
                   : off ? "disabled"
                         : pons_get_str(s, "error", "no answer yet"),
                   ready || off || refused ? NULL : log);
    }
    mcp.ops->close(mcp.self);
}

static void check_graphviz(doctor *d)
{
    char *svg = NULL;
    pons_error err = PONS_ERROR_INIT;
    const bool ok = pons_picture_svg("digraph g { a }", &svg, &err) >= 0;
    free(svg);
    doctor_say(d, "graphviz", ok ? "ok" : "absent", ok ? "draws" : err.message,
               ok ? NULL : "only --format svg of `graph show` and `bt show` wants it");
}

static void check_files(doctor *d)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    char line[1024];
    const bool sound = cli_config_check(d->c, &err) >= 0;
    const bool ok = sound && app_world("house", &world, &err) >= 0;
    doctor_say(d, "files", ok ? "ok" : "missing",
               ok ? "each file of the configuration and the house world are read and valid"
                  : pons_error_line(&err, line, sizeof line),
               ok ? NULL
               : err.status == PONS_ENOTFOUND
                   ? "set PONS_SHARE to the folder that has worlds/ and config/"
                   : "`pons config check` says all that is wrong");
}

// The safety thread asks for SCHED_FIFO; without it, it still runs, with the jitter of any thread. A body that runs has
// the limits of its service, not of whoever asks.
static void check_realtime(doctor *d, const pons_value *telemetry)
{
    const struct sched_param fifo = {.sched_priority = 1};
    const int policy = sched_getscheduler(0);
    struct sched_param before = {0};
    sched_getparam(0, &before);
    bool ok = json_is_true(pons_get(telemetry, "fifo"));
    if (!telemetry && sched_setscheduler(0, SCHED_FIFO, &fifo) == 0) {
        sched_setscheduler(0, policy, &before);
        ok = true;
    }
    if (ok) {
        doctor_say(d, "realtime", "ok", "SCHED_FIFO is permitted: the safety thread gets it", NULL);
        return;
    }
    doctor_say(d, "realtime", "absent",
               "SCHED_FIFO is not permitted: stops have an ordinary thread's jitter",
               "give the user an rtprio limit of 80 in /etc/security/limits.conf (a service: "
               "LimitRTPRIO=80)");
}

static void check_body(doctor *d)
{
    pons_autovalue hello = NULL;
    pons_autovalue telemetry = NULL;
    char detail[160];
    if (app_observe(&d->c->app, 500, &hello, &telemetry) < 0) {
        doctor_say(d, "body", "absent", "none answers in this workspace; `pons run` starts one",
                   NULL);
    } else {
        snprintf(detail, sizeof detail, "%s, pid %lld, %.2f x real time",
                 pons_get_str(hello, "driver", ""), (long long)pons_get_int(hello, "pid", 0),
                 pons_get_num(telemetry, "realtime", 0.0));
        doctor_say(d, "body", "ok", detail, NULL);
    }
    check_realtime(d, telemetry);
}

int cmd_doctor(cli *c, pons_error *err)
{
    const char *repair = NULL;
    const cli_option options[] = {
        {"--repair", NULL, "mend what is damaged: keeps a copy, says what it did", &repair},
        {NULL, NULL, NULL, NULL}};
    const int parsed = cli_parse(c, options, err);
    if (parsed < 0) {
        return parsed;
    }
    doctor d = {.c = c, .healthy = true, .repair = repair != NULL};
    cli_busy("looking at what there is", 0);
    const bool private = check_rights(&d);
    d.repair = d.repair && private; // where another user puts links, nothing is renamed or written
    check_files(&d);
    // One that is there and cannot be loaded is what a run would start.
    check_module(&d, &physics, pons_module_installed(physics.kind, physics.name));
    doctor_say(&d, "driver kinematic", "ok", "built in", NULL);
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        check_module(&d, &modules[i], false);
    }
    doctor_model(&d);
    doctor_broker(&d);
    doctor_ros2(&d);
    check_module(&d, &postgres, getenv("PONS_STORE") != NULL);
    if (private) { // else its servers and modules may be another user's
        doctor_modules(&d);
        check_mcp(&d);
    }
    check_wall(&d);
    check_graphviz(&d);
    doctor_store(&d);
    doctor_pictures(&d);
    doctor_body_files(&d);
    check_body(&d);
    return d.damaged ? APP_NO_SUCCESS : d.healthy ? PONS_OK : APP_LACKING;
}
