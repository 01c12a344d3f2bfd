// cmd_camera.c - `pons body camera NAME`: one picture, as a file.
#include "cli/camera/camera_source.h"
#include "drivers/camera/camera.h"
#include "pons/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int take(cli *c, const cli_camera_options *o, cli_picture *ret, pons_error *err)
{
    cli_source *source = NULL;
    int rc = cli_source_open(c, o, NULL, &source, err);
    rc = rc < 0 ? rc : cli_source_next(source, false, ret, err);
    if (rc >= 0 && cli_source_wall(source)) {
        ret->raw.stamp_ns = 0; // none of the robot's
    }
    cli_source_close(source);
    return rc < 0 ? rc : PONS_OK;
}

int cli_camera(cli *c, const cli_camera_options *o, pons_error *err)
{
    char path[2 * PATH_MAX], npy[2 * PATH_MAX] = "";
    cli_picture p = {0};
    if (!o->out && (!*o->name || *o->name == '.' || strchr(o->name, '/'))) {
        return app_bad(err, "body camera: '%.40s' is no name of a file", o->name);
    }
    int rc = app_workspace(&c->app, !o->out, err);
    rc = rc < 0 ? rc : take(c, o, &p, err);
    if (rc == PONS_OK && o->out) {
        snprintf(path, sizeof path, "%s", o->out);
    } else if (rc == PONS_OK) {
        rc = usual_path(c, o->name, path, sizeof path, err);
    }
    if (rc == PONS_OK && !p.jpeg) {
        rc = pons_picture_jpeg(&p.raw, 0, &p.jpeg, &p.jpeg_n, err);
    }
    rc = rc < 0 ? rc : pons__picture_write(path, p.jpeg, p.jpeg_n, err);
    if (rc == PONS_OK && p.raw.depth) {
        depth_path(path, npy, sizeof npy);
        rc = pons__picture_write_npy(npy, &p.raw, err);
    }
    if (rc == PONS_OK) {
        rc = tell(c, o->name, &p.raw, path, npy);
    }
    cli_picture_clear(&p);
    return rc;
}
