// cmd_camera.c - `pons body camera NAME`: one picture, as a file.
//
// A camera of a simulated world is drawn from the state that the body saves four times a second
// (run/sim.json), in this process: no body waits for it, and without one the last state is shown, or
// the world's beginning. A camera with a `device` is this machine's own, and is asked itself.
#include "app/workspace/which_robot.h"
#include "cli/cli.h"
#include "drivers/camera/camera.h"
#include "pons/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const pons_value *entry(const pons_value *world, const char *name)
{
    return pons_find(pons_get(world, "cameras"), "id", name);
}

static int unknown(const pons_value *world, const char *name, pons_error *err)
{
    char all[256] = "";
    size_t i, n = 0;
    json_t *c;
    json_array_foreach(pons_get(world, "cameras"), i, c) {
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "",
                              pons_get_str(c, "id", ""));
    }
    return app_bad(err,
                   *all ? "there is no camera '%.60s' in this world; there are %s"
                        : "there is no camera '%.60s' in this world%s",
                   name, all);
}

// Where it goes without --out: artifacts/camera/NAME.jpg of the workspace.
static int usual_path(cli *c, const char *name, char *ret, size_t cap, pons_error *err)
{
    static const char *const folders[] = {"artifacts", "artifacts/camera"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(ret, cap, "%s/%s", c->app.workspace, folders[i]);
        if (mkdir(ret, 0777) < 0 && errno != EEXIST) {
            pons_error_set(err, PONS_EIO, "camera", "cannot make the folder: %s", strerror(errno));
            return pons_error_source(err, "%s", ret);
        }
    }
    snprintf(ret, cap, "%s/artifacts/camera/%s.jpg", c->app.workspace, name);
    return PONS_OK;
}

// NAME.jpg -> NAME.npy
static void depth_path(const char *path, char *ret, size_t cap)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const int n = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    snprintf(ret, cap, "%.*s.npy", n, path);
}

static int draw(cli *c, const pons_value *world, const char *driver, const char *name, bool depth,
                pons_picture_raw *ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    const pons_robot_ops *robot = NULL;
    pons_autovalue saved = NULL;
    pons_autovalue config = pons_object("seed", json_integer(1), NULL);
    pons_error none = PONS_ERROR_INIT;
    void *self = NULL;
    int rc = app_driver(driver, &robot, err);
    if (rc == PONS_OK &&
        (!pons_robot_cameras(robot) || !pons_robot_cameras(robot)->take || !robot->restore)) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "camera", "driver %s draws no pictures",
                              driver);
    }
    rc = rc < 0 ? rc : robot->open(world, config, &self, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(path, sizeof path, "%s/sim.json", c->app.run_dir);
    if (pons_value_load(path, &saved, &none) == PONS_OK &&
        strcmp(pons_get_str(saved, "world", ""), pons_get_str(world, "name", "")) == 0) {
        robot->restore(self, pons_get(saved, "state"), &none); // of another build: the beginning
    }
    rc = pons_robot_cameras(robot)->take(self, name, depth, ret, err);
    robot->close(self);
    return rc;
}

static int tell(cli *c, const char *name, const pons_picture_raw *p, const char *path,
                const char *npy)
{
    if (c->json) {
        pons_autovalue out =
            pons_object("type", json_string("picture"), "camera", json_string(name), "file",
                        json_string(path), "depth", *npy ? json_string(npy) : json_null(), "width",
                        json_integer(p->width), "height", json_integer(p->height), "robot_ms",
                        json_integer(p->stamp_ns / 1000000), NULL);
        cli_print_json(out);
    } else {
        cli_out("%s: %d × %d%s%s\n", path, p->width, p->height, *npy ? ", depth in " : "", npy);
    }
    return PONS_OK;
}

// The camera's own entry in the world that the body has.
static int find(cli *c, const cli_camera_options *o, pons_value **ret_world,
                const pons_value **ret_entry, pons_value **ret_body, pons_error *err)
{
    char about[PATH_MAX + 16];
    pons_error none = PONS_ERROR_INIT;
    *ret_body = app_robot_reported(&c->app);
    if (!*ret_body) { // none runs: what the last one left
        snprintf(about, sizeof about, "%s/sim.json", c->app.run_dir);
        pons_value_load(about, ret_body, &none);
    }
    const char *had = app_robot_world(*ret_body);
    const int rc = app_world(o->world ? o->world : had ? had : APP_WORLD_USUAL, ret_world, err);
    if (rc < 0) {
        return rc;
    }
    *ret_entry = entry(*ret_world, o->name);
    return *ret_entry ? PONS_OK : unknown(*ret_world, o->name, err);
}

static int take(cli *c, const cli_camera_options *o, pons_picture_raw *ret, void **ret_jpeg,
                size_t *ret_n, pons_error *err)
{
    pons_autovalue body = NULL;
    pons_autovalue world = NULL;
    const pons_value *camera = NULL;
    const int rc = o->device ? PONS_OK : find(c, o, &world, &camera, &body, err);
    if (rc < 0) {
        return rc;
    }
    const char *device = o->device ? o->device : pons_get_str(camera, "device", NULL);
    if (device && o->depth) {
        return app_bad(err, "camera %s has no depth", o->name);
    }
    if (device) {
        return pons__v4l2_take(
            device, o->width ? o->width : (int)pons_get_int(camera, "width", 640),
            o->height ? o->height : (int)pons_get_int(camera, "height", 480),
            o->fps > 0 ? o->fps : pons_get_num(camera, "fps", 15.0), ret, ret_jpeg, ret_n, err);
    }
    return draw(c, world, o->driver ? o->driver : pons_get_str(body, "driver", APP_DRIVER_USUAL),
                o->name, o->depth, ret, err);
}

int cli_camera(cli *c, const cli_camera_options *o, pons_error *err)
{
    char path[2 * PATH_MAX], npy[2 * PATH_MAX] = "";
    pons_picture_raw p = {0};
    void *jpeg = NULL;
    size_t n = 0;
    if (!o->out && (!*o->name || *o->name == '.' || strchr(o->name, '/'))) {
        return app_bad(err, "body camera: '%.40s' is no name of a file", o->name);
    }
    int rc = app_workspace(&c->app, !o->out, err);
    rc = rc < 0 ? rc : take(c, o, &p, &jpeg, &n, err);
    if (rc == PONS_OK && o->out) {
        snprintf(path, sizeof path, "%s", o->out);
    } else if (rc == PONS_OK) {
        rc = usual_path(c, o->name, path, sizeof path, err);
    }
    if (rc == PONS_OK && !jpeg) {
        rc = pons_picture_jpeg(&p, 0, &jpeg, &n, err);
    }
    rc = rc < 0 ? rc : pons__picture_write(path, jpeg, n, err);
    if (rc == PONS_OK && p.depth) {
        depth_path(path, npy, sizeof npy);
        rc = pons__picture_write_npy(npy, &p, err);
    }
    if (rc == PONS_OK) {
        rc = tell(c, o->name, &p, path, npy);
    }
    free(p.rgb);
    free(p.depth);
    free(jpeg);
    return rc;
}
