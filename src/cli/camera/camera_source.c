// camera_source.c - where pictures come from.
//
// A camera of a simulated world is drawn from the state that the body saves four times a second
// (run/sim.json), in this process: no body waits for it, and without one the last state is shown, or
// the world's beginning. A camera with a `device` is this machine's own, and is asked itself. A driver that draws
// none may have a module camera-DRIVER, whose pictures are the robot's own (ext/camera.h). A file's picture is dated by
// when it was last changed.
#include "cli/camera/camera_source.h"

#include "app/pictures/pictures.h"
#include "app/workspace/which_robot.h"
#include "drivers/camera/camera.h"
#include "pons/file.h"
#include "pons/module.h"
#include "pons/picture.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct cli_source {
    cli *c;
    char name[64];
    pons_value *world, *vision;
    const pons_value *entry;     // of the world
    const pons_robot_ops *robot; // NULL: it is not drawn
    void *self;
    bool depth;
    pons__v4l2 *device;
    const pons_camera_ops *ops; // of the robot's own software; NULL: none
    void *camera;
    const char *pictures;
    char last[NAME_MAX + 1]; // file of the folder
    int64_t last_ns;         // stamp of the picture that was given last; -1: none yet
};

static int unknown(const pons_value *world, const char *name, pons_error *err)
{
    char all[256] = "";
    size_t n = 0;
    pons_each(c, pons_get(world, "cameras")) {
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", c_at ? ", " : "",
                              pons_get_str(c, "id", ""));
    }
    return app_bad(err,
                   *all ? "there is no camera '%.60s' in this world; there are %s"
                        : "there is no camera '%.60s' in this world%s",
                   name, all);
}

// ---- drawn --------------------------------------------------------------------------------------

// Of a driver that draws none: what the robot's own software has.
static int open_module(cli_source *s, const char *driver, const cli_camera_options *o,
                       pons_error *err)
{
    const void *found = NULL;
    const int rc = pons_module_load_of("camera", driver, PONS_CAMERA_ABI, &found, err);
    if (rc == PONS_ENOTFOUND) {
        *err = (pons_error)PONS_ERROR_INIT;
        return pons_error_set(err, PONS_EUNSUPPORTED, "camera", "driver %s draws no pictures",
                              driver);
    }
    s->ops = rc < 0 ? NULL : found;
    const pons_camera_options options = {
        .workspace = s->c->app.workspace, .camera = s->name, .depth = s->depth, .view = o->view};
    return rc < 0 ? rc : s->ops->open(&options, &s->camera, err);
}

static int next_of_module(cli_source *s, cli_picture *ret, pons_error *err)
{
    pons_camera_picture p;
    const int rc = s->ops->next(s->camera, &p, err);
    if (rc > 0) {
        ret->raw = p.raw;
        ret->view = p.view;
    }
    return rc;
}

static int open_driver(cli_source *s, const char *driver, const cli_camera_options *o,
                       pons_error *err)
{
    const pons_robot_ops *robot = NULL;
    pons_autovalue config = pons_object("seed", json_integer(1), NULL);
    const int rc = app_driver(driver, &robot, err);
    if (rc == PONS_OK &&
        (!pons_robot_cameras(robot) || !pons_robot_cameras(robot)->take || !robot->restore)) {
        return open_module(s, driver, o, err);
    }
    s->robot = robot;
    return rc < 0 ? rc : robot->open(s->world, config, &s->self, err);
}

static int draw(cli_source *s, pons_picture_raw *ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    pons_autovalue saved = NULL;
    pons_error none = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/sim.json", s->c->app.run_dir);
    if (pons_value_load(path, &saved, &none) == PONS_OK) {
        const bool same =
            strcmp(pons_get_str(saved, "world", ""), pons_get_str(s->world, "name", "")) == 0;
        if (!same && s->last_ns >= 0) {
            return pons_error_set(err, PONS_ECLOSED, "camera", "the body is in another world now");
        }
        if (same) {
            s->robot->restore(s->self, pons_get(saved, "state"),
                              &none); // of another build: the beginning
        }
    }
    if (s->robot->time_ns(s->self) == s->last_ns) {
        return 0;
    }
    const int rc = pons_robot_cameras(s->robot)->take(s->self, s->name, s->depth, ret, err);
    s->last_ns = rc < 0 ? s->last_ns : ret->stamp_ns;
    return rc < 0 ? rc : 1;
}

// ---- files --------------------------------------------------------------------------------------

static bool is_picture(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    const char *dot = strrchr(name, '.');
    bool is = false;
    for (size_t i = 0; dot && *name != '.' && i < 3; i++) {
        is = is || strcasecmp(dot, endings[i]) == 0;
    }
    return is;
}

// The first file after the last one, in the order of names; false: there is none.
static bool next_name(cli_source *s, char ret[NAME_MAX + 1])
{
    DIR *dir = opendir(s->pictures);
    *ret = '\0';
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        if (is_picture(e->d_name) && strcmp(e->d_name, s->last) > 0 &&
            (!*ret || strcmp(e->d_name, ret) < 0)) {
            snprintf(ret, NAME_MAX + 1, "%s", e->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return *ret != '\0';
}

static int64_t ns_of(const struct stat *is)
{
    return is->st_mtim.tv_sec * 1000000000LL + is->st_mtim.tv_nsec;
}

static int next_file(cli_source *s, cli_picture *ret, pons_error *err)
{
    struct stat is;
    char name[NAME_MAX + 1] = "", path[PATH_MAX + NAME_MAX + 2];
    if (stat(s->pictures, &is) < 0) {
        return app_bad(err, "there is no file or folder %s", s->pictures);
    }
    const bool folder = S_ISDIR(is.st_mode);
    if (folder ? !next_name(s, name) : ns_of(&is) == s->last_ns) {
        return 0;
    }
    snprintf(path, sizeof path, folder ? "%s/%s" : "%s%s", s->pictures, name);
    memcpy(s->last, name, sizeof name); // also of one that is none: it is not tried again
    size_t n = 0;
    void *bytes = stat(path, &is) < 0 ? NULL : pons_file_text(path, PONS_PICTURE_BYTES_MAX, &n);
    s->last_ns = ns_of(&is);
    const int rc = bytes ? pons_picture_decode(bytes, n, 0, &ret->raw, err)
                         : pons_error_set(err, PONS_EIO, "camera", "it cannot be read: %s",
                                          pons_file_why(errno));
    free(bytes);
    ret->raw.stamp_ns = s->last_ns;
    if (rc < 0) {
        return pons_error_source(err, "%s", path);
    }
    return 1;
}

// ---- all ----------------------------------------------------------------------------------------

// The camera's own entry in the world that the body has.
static int find(cli_source *s, const cli_camera_options *o, pons_value **ret_body, pons_error *err)
{
    char about[PATH_MAX + 16];
    pons_error none = PONS_ERROR_INIT;
    *ret_body = app_robot_reported(&s->c->app);
    if (!*ret_body) { // none runs: what the last one left
        snprintf(about, sizeof about, "%s/sim.json", s->c->app.run_dir);
        pons_value_load(about, ret_body, &none);
    }
    app_robot meant = {.fallback = true};
    if (!*ret_body && app_robot_meant(&s->c->app, o->driver, o->world, &meant, &none) >= 0 &&
        !meant.fallback) { // none ever ran: the one that would
        *ret_body = pons_object("driver", json_string(meant.driver), "world",
                                json_string(meant.world), NULL);
    }
    const char *name = o->world ? o->world : app_robot_world(*ret_body);
    const int rc = app_world(name ? name : APP_WORLD_USUAL, &s->world, err);
    if (rc < 0) {
        return rc;
    }
    pons_each(region, pons_get(s->vision, "blur")) { // a misspelt name would blur nothing
        const char *blurred = pons_get_str(region, "camera", "");
        if (!pons_find(pons_get(s->world, "cameras"), "id", blurred)) {
            cli_err("pons: config/vision.yaml: blur: the world %s has no camera %s\n",
                    pons_get_str(s->world, "name", ""), blurred);
        }
    }
    s->entry = pons_find(pons_get(s->world, "cameras"), "id", o->name);
    return s->entry ? PONS_OK : unknown(s->world, o->name, err);
}

static int open_it(cli_source *s, const cli_camera_options *o, pons_error *err)
{
    pons_autovalue body = NULL;
    const int rc = o->device ? PONS_OK : find(s, o, &body, err);
    const char *device = o->device ? o->device : pons_get_str(s->entry, "device", NULL);
    if (rc < 0 || s->pictures) {
        return rc;
    }
    if (device && o->depth) {
        return app_bad(err, "camera %s has no depth", o->name);
    }
    if (device) {
        const int64_t width = o->width ? o->width : pons_get_int(s->entry, "width", 640);
        const int64_t height = o->height ? o->height : pons_get_int(s->entry, "height", 480);
        const double fps = o->fps > 0 ? o->fps : pons_get_num(s->entry, "fps", 15.0);
        return pons__v4l2_open(device, (int)width, (int)height, fps, &s->device, err);
    }
    return open_driver(s, o->driver ? o->driver : pons_get_str(body, "driver", APP_DRIVER_USUAL), o,
                       err);
}

int cli_source_open(cli *c, const cli_camera_options *o, const char *pictures, cli_source **ret,
                    pons_error *err)
{
    cli_source *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "camera", "no memory for a camera");
    }
    s->c = c;
    s->depth = o->depth;
    s->pictures = pictures;
    s->last_ns = -1;
    snprintf(s->name, sizeof s->name, "%s", o->name);
    int rc = app_vision(&c->app, &s->vision, err);
    rc = rc < 0 ? rc : open_it(s, o, err);
    if (rc < 0) {
        cli_source_close(s);
        return rc;
    }
    *ret = s;
    return PONS_OK;
}

void cli_source_close(cli_source *s)
{
    if (s) {
        if (s->self) {
            s->robot->close(s->self);
        }
        if (s->camera) {
            s->ops->close(s->camera);
        }
        pons__v4l2_close(s->device);
        pons_value_unref(s->world);
        pons_value_unref(s->vision);
        free(s);
    }
}

static int next_of_device(cli_source *s, bool decoded, cli_picture *ret, pons_error *err)
{
    int rc = pons__v4l2_next(s->device, &ret->raw, &ret->jpeg, &ret->jpeg_n, err);
    if (rc >= 0 && decoded && ret->jpeg) {
        const int64_t stamp = ret->raw.stamp_ns;
        rc = pons_picture_decode(ret->jpeg, ret->jpeg_n, 0, &ret->raw, err);
        ret->raw.stamp_ns = stamp;
    }
    return rc < 0 ? rc : 1;
}

int cli_source_next(cli_source *s, bool decoded, cli_picture *ret, pons_error *err)
{
    const bool blurs = app_camera_blurs(s->vision, s->name);
    *ret = (cli_picture){0};
    int rc;
    if (s->pictures) {
        rc = next_file(s, ret, err);
    } else if (s->device) {
        rc = next_of_device(s, decoded || blurs, ret, err);
    } else if (s->camera) {
        rc = next_of_module(s, ret, err);
    } else {
        rc = draw(s, &ret->raw, err);
    }
    if (rc < 0) {
        cli_picture_clear(ret);
    } else if (rc > 0 && blurs) {
        app_picture_blur(s->vision, s->name, &ret->raw);
        free(ret->jpeg); // the device's own is clear
        ret->jpeg = NULL;
    }
    return rc;
}

bool cli_source_wall(const cli_source *s)
{
    return !s->robot && !s->camera;
}

const pons_value *cli_source_camera(const cli_source *s)
{
    return s->entry;
}

void cli_picture_clear(cli_picture *p)
{
    free(p->raw.rgb);
    free(p->raw.depth);
    free(p->jpeg);
    *p = (cli_picture){0};
}
