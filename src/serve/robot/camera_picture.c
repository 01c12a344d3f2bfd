// camera_picture.c - what a camera sees, as a picture.
//
//     GET /v1/cameras/NAME        a JPEG; the names are in the world that GET /v1/map tells
//
// An operator's: a picture is of a home. One is taken at a time, and one that is younger than YOUNG_MS
// is given to whoever asks meanwhile, so that ten pages cost as much as one.
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG_MS 700

static struct { // of the process: one robot
    pthread_mutex_t mtx;
    char name[64]; // [mtx] as the rest
    char *data;
    size_t n;
    int64_t at_ms;
} newest = {.mtx = PTHREAD_MUTEX_INITIALIZER};

static int take(const pons__request *r, const char *name, pons_error *err)
{
    const int64_t now = pons_now_ms(&r->s->o.clock);
    char *data = NULL;
    size_t n = 0;
    if (newest.data && strcmp(newest.name, name) == 0 && now - newest.at_ms < YOUNG_MS) {
        return PONS_OK;
    }
    const int rc = r->s->o.host.camera(r->s->o.host.user, name, &data, &n, err);
    if (rc >= 0) {
        free(newest.data);
        newest.data = data;
        newest.n = n;
        newest.at_ms = pons_now_ms(&r->s->o.clock);
        snprintf(newest.name, sizeof newest.name, "%s", name);
    }
    return rc;
}

static int picture(pons__request *r)
{
    static const char *const headers[] = {"Cache-Control: no-store", NULL};
    const char *name = r->args[0];
    const size_t n = strlen(name);
    if (!r->s->o.host.camera || n == 0 || n >= sizeof newest.name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != n) {
        return pons__reply_error(r, 404, "there is no such camera");
    }
    pthread_mutex_lock(&newest.mtx);
    int rc = take(r, name, &r->err);
    rc = rc < 0 ? rc : pons__reply_bytes(r, 200, "image/jpeg", headers, newest.data, newest.n);
    pthread_mutex_unlock(&newest.mtx);
    return rc;
}

const pons__route pons__camera_routes[] = {
    {"GET", "/v1/cameras/*", PONS__OPERATOR, picture},
    {NULL, NULL, PONS__NOBODY, NULL},
};
