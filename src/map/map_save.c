// map_save.c - a map is written as map_server's files: the picture first, under a name that is not in use, then the YAML that
// names it.
//
//     home.map.yaml  image: home.map.0.pgm        the next one: home.map.1.pgm, and the YAML by rename
//
// Each file appears whole, so whoever is killed at any point leaves the old map or the new one.
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/map.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "map"

enum { GREY_FREE = 254, GREY_UNKNOWN = 205, GREY_OCCUPIED = 0, YAML_MAX = 4096 };

static int replace(const char *path, const pons_buf *with, pons_error *err)
{
    const int rc =
        with->failed ? PONS_ENOMEM : pons_file_replace(path, with->data, with->len, 0600);
    if (with->failed) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to write %s", path);
    }
    return rc < 0 ? pons_error_set(err, PONS_EIO, MODULE, "cannot write %s: %s", path,
                                   pons_file_why(-rc))
                  : PONS_OK;
}

static int write_picture(const char *path, const int8_t *cells, int w, int h, pons_error *err)
{
    pons_autobuf out = PONS_BUF_INIT;
    pons_buf_printf(&out, "P5\n%d %d\n255\n", w, h);
    for (int y = h - 1; y >= 0; y--) {
        for (int x = 0; x < w; x++) {
            const int8_t v = cells[(size_t)y * (size_t)w + (size_t)x];
            uint8_t grey = v == 0 ? GREY_FREE : GREY_OCCUPIED;
            grey = v < 0 ? GREY_UNKNOWN : grey;
            pons_buf_byte(&out, grey);
        }
    }
    return replace(path, &out, err);
}

// Which of the two names the picture that is there has: 0, 1; -1: there is no map.
static int picture_in_use(const char *path)
{
    size_t n = 0;
    char *text = pons_file_text(path, YAML_MAX, &n);
    const int ret = !text ? -1 : strstr(text, ".1.pgm") != NULL;
    free(text);
    return ret;
}

int pons_map_save(const char *path, const int8_t *cells, int w, int h, double resolution_m,
                  pons_pose2 origin, pons_error *err)
{
    char picture[PATH_MAX];
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const int stem = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    const int next = picture_in_use(path) == 0;
    if (snprintf(picture, sizeof picture, "%.*s.%d.pgm", stem, path, next) >= PATH_MAX) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "the path %s is too long", path);
    }
    const int rc = write_picture(picture, cells, w, h, err);
    if (rc < 0) {
        return rc;
    }
    const char *name = strrchr(picture, '/');
    pons_autobuf yaml = PONS_BUF_INIT;
    pons_buf_printf(&yaml,
                    "image: %s\nmode: trinary\nresolution: %.9g\norigin: [%.9g, %.9g, %.9g]\n"
                    "negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n",
                    name ? name + 1 : picture, resolution_m, origin.x, origin.y, origin.yaw);
    return replace(path, &yaml, err);
}
