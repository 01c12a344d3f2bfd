// picture_child.c - one picture after the other, each by a child: drawing loads a physics library and takes its time, and a
// device may hang. What a child has to say is in run/camera.log; one that takes longer than PATIENCE_MS is killed.
#include "app/watchdog/watchdog.h"
#include "app/workspace/which_robot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHERE       "camera"
#define PATIENCE_MS 15000
#define CAMERAS_MAX 8

typedef struct pictures {
    app_context c; // a copy: where the workspace is
    uint64_t call; // 0: none runs
    pons_value *cameras, *taken;
    size_t at; // of cameras: which one the child takes
    bool depth;
    pid_t pid;
    int64_t until_ms;
} pictures;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// A name that names one file.
static bool is_name(const char *name)
{
    return *name && *name != '.' && *name != '-' && !strchr(name, '/') && strlen(name) < 64;
}

static bool spawn(pictures *p)
{
    const pons_value *camera = json_array_get(p->cameras, p->at);
    const pons_value *size = pons_get(camera, "resolution");
    const char *device = pons_get_str(camera, "device", NULL);
    const char *argv[20] = {"pons", "--workspace", p->c.workspace,
                            "body", "camera",      pons_get_str(camera, "name", "")};
    char wide[48], rate[32];
    size_t n = 6;
    if (p->depth && !device) {
        argv[n++] = "--depth";
    }
    if (device) {
        snprintf(wide, sizeof wide, "%dx%d", (int)json_number_value(json_array_get(size, 0)),
                 (int)json_number_value(json_array_get(size, 1)));
        snprintf(rate, sizeof rate, "%g", pons_get_num(camera, "fps", 15));
        argv[n++] = "--device";
        argv[n++] = device;
        if (json_array_size(size) == 2) {
            argv[n++] = "--size";
            argv[n++] = wide;
        }
        argv[n++] = "--fps";
        argv[n++] = rate;
    }
    p->pid = app_child_start(&p->c, "camera.log", argv);
    p->until_ms = now_ms() + PATIENCE_MS;
    return p->pid > 0;
}

// The cameras of the world that the body has.
static pons_value *of_world(const app_context *c)
{
    pons_autovalue body = app_robot_reported(c);
    pons_autovalue world = NULL;
    pons_error none = PONS_ERROR_INIT;
    pons_value *all = json_array();
    const char *had = app_robot_world(body);
    if (!had || app_world(had, &world, &none) < 0) {
        return all;
    }
    pons_each(camera, pons_get(world, "cameras")) {
        json_array_append_new(all, pons_object("name", pons_optional(pons_get(camera, "id")),
                                               "of_world", json_true(), NULL));
    }
    return all;
}

static int list(void *self, pons_value **ret, pons_error *err)
{
    *ret = json_pack("[{ss}]", "name", "picture");
    return PONS_OK;
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    pictures *p = self;
    const pons_value *wanted = pons_get(args, "cameras");
    if (p->call || strcmp(tool, "picture") != 0) {
        return pons_error_set(err, PONS_EBUSY, WHERE, "another picture is being taken");
    }
    pons_autovalue cameras = wanted ? json_deep_copy((json_t *)(uintptr_t)wanted) : of_world(&p->c);
    if (json_array_size(cameras) == 0 || json_array_size(cameras) > CAMERAS_MAX) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "there are no cameras, or more than %d",
                              CAMERAS_MAX);
    }
    pons_each(camera, cameras) {
        if (!is_name(pons_get_str(camera, "name", ""))) {
            return pons_error_set(err, PONS_EINVAL, WHERE, "a camera's name names a file: '%.40s'",
                                  pons_get_str(camera, "name", ""));
        }
    }
    pons_value_unref(p->cameras);
    p->cameras = pons_value_ref(cameras);
    p->taken = json_array();
    p->at = 0;
    p->depth = pons_get_bool(args, "depth", false);
    if (!spawn(p)) {
        json_decref(p->taken);
        return pons_error_set(err, PONS_EENV, WHERE, "cannot start a child: %s", strerror(errno));
    }
    p->call = call;
    return PONS_OK;
}

static void kill_child(pictures *p)
{
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        waitpid(p->pid, NULL, 0);
        p->pid = 0;
    }
}

static void cancel(void *self, uint64_t call)
{
    pictures *p = self;
    if (p->call == call) {
        kill_child(p);
        json_decref(p->taken);
        p->taken = NULL;
        p->call = 0;
    }
}

static int event_fd(void *self)
{
    return -1;
}

static void keep(pictures *p, bool good)
{
    const pons_value *camera = json_array_get(p->cameras, p->at);
    const char *name = pons_get_str(camera, "name", "");
    const bool deep = p->depth && !pons_get(camera, "device");
    json_array_append_new(
        p->taken,
        good ? pons_object("name", json_string(name), "rgb",
                           json_sprintf("artifacts/camera/%s.jpg", name), "depth",
                           deep ? json_sprintf("artifacts/camera/%s.npy", name) : PONS_ABSENT, NULL)
             : pons_object("name", json_string(name), "error",
                           json_string("no picture: run/camera.log says why"), NULL));
}

static bool next(void *self, pons_tool_event *ret)
{
    pictures *p = self;
    int status = 0;
    if (!p->call) {
        return false;
    }
    const bool late = p->pid > 0 && now_ms() > p->until_ms;
    if (late) {
        kill_child(p);
    } else if (p->pid > 0 && waitpid(p->pid, &status, WNOHANG) != p->pid) {
        return false;
    }
    keep(p, !late && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    p->pid = 0;
    for (p->at++; p->at < json_array_size(p->cameras); p->at++) {
        if (spawn(p)) {
            return false;
        }
        keep(p, false);
    }
    *ret = (pons_tool_event){.call = p->call,
                             .kind = PONS_TOOL_DONE,
                             .value = pons_object("output", json_string("taken"), "data",
                                                  pons_object("dir", json_string(p->c.workspace),
                                                              "pictures", p->taken, NULL),
                                                  NULL)};
    p->taken = NULL;
    p->call = 0;
    return true;
}

static void close_pictures(void *self)
{
    pictures *p = self;
    if (p) {
        kill_child(p);
        json_decref(p->taken);
        pons_value_unref(p->cameras);
    }
    free(p);
}

static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                   .name = "pictures",
                                   .close = close_pictures,
                                   .list = list,
                                   .start = start,
                                   .cancel = cancel,
                                   .event_fd = event_fd,
                                   .next = next};

int app_pictures_open(const app_context *c, pons_tools *ret, pons_error *err)
{
    pictures *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for pictures");
    }
    p->c = *c;
    *ret = (pons_tools){&ops, p};
    return PONS_OK;
}
