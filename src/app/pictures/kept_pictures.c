// kept_pictures.c - run/pictures: what models were shown, each once, and for as long as a thread names it.
//
// Whoever keeps one looks at `.pruned` there: when that is an hour old, what no thread names goes, whatever program it was
// that kept it.
#include "app/pictures/pictures.h"
#include "pons/agent.h"
#include "pons/file.h"
#include "pons/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EDGE_MAX  768 // pixels
#define BYTES_MAX (200 * 1000)
#define WEEK_MS                                                                                    \
    (7LL * 24 * 3600 * 1000) // a turn that waits for a person has not named its pictures yet
#define PRUNE_S 3600

void app_pictures_folder(const app_context *c, char *ret, size_t cap)
{
    snprintf(ret, cap, "%s/pictures", c->run_dir);
}

static void prune_now_and_then(const app_context *c, const char *folder)
{
    char path[PATH_MAX + 64];
    struct stat st;
    const pons_clock clock = pons_clock_real();
    const int64_t now = pons_wall_ms(&clock) / 1000;
    snprintf(path, sizeof path, "%s/.pruned", folder);
    if (stat(path, &st) == 0 && st.st_mtime <= now && now - st.st_mtime < PRUNE_S) {
        return;
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    pons_store store = {0};
    pons_error none = PONS_ERROR_INIT; // it is tried again in an hour
    if (fd >= 0 && futimens(fd, NULL) == 0 && app_store_read(c, &store, &none) >= 0) {
        app_pictures_prune(c, store, NULL, &none);
        pons_store_close(&store);
    }
    if (fd >= 0) {
        close(fd);
    }
}

int app_picture_keep(const app_context *c, const char *camera, const char *name, const void *bytes,
                     size_t n, pons_value **ret, pons_error *err)
{
    char folder[PATH_MAX + 32], hash[PONS_PICTURE_NAME], clock[16];
    pons_picture_raw p = {0};
    void *jpeg = NULL;
    size_t jpeg_n = 0;
    app_pictures_folder(c, folder, sizeof folder);
    int rc = pons_picture_decode(bytes, n, EDGE_MAX, &p, err);
    if (rc == PONS_OK) {
        rc = pons_picture_jpeg(&p, BYTES_MAX, &jpeg, &jpeg_n, err);
    }
    rc = rc < 0 ? rc : pons_picture_put(folder, jpeg, jpeg_n, hash, err);
    free(p.rgb);
    free(jpeg);
    if (rc < 0) {
        return rc;
    }
    prune_now_and_then(c, folder);
    const pons_clock real = pons_clock_real();
    const time_t now = (time_t)(pons_wall_ms(&real) / 1000);
    struct tm at;
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &at));
    pons_value *caption = camera ? json_sprintf("camera %s at %s", camera, clock)
                                 : json_sprintf("%s at %s", name, clock);
    *ret = pons_object("sha256", json_string(hash), "caption", caption, "at_ms",
                       json_integer((json_int_t)now * 1000), NULL);
    return PONS_OK;
}

int app_picture_file(const app_context *c, const char *path, pons_value **ret, pons_error *err)
{
    size_t n = 0;
    char *bytes = pons_file_text(path, PONS_PICTURE_BYTES_MAX, &n);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    int rc = PONS_OK;
    if (!bytes) {
        rc = app_bad(err, "cannot read %s: %s", path, pons_file_why(errno));
    } else if (n > PONS_PICTURE_BYTES_MAX) {
        rc = app_bad(err, "%s has more than %d bytes", path, PONS_PICTURE_BYTES_MAX);
    } else if ((rc = app_picture_keep(c, NULL, name, bytes, n, ret, err)) < 0) {
        pons_error_source(err, "%s", path);
    }
    free(bytes);
    return rc;
}

int app_picture_take(const app_context *c, const char *camera, pons_value **ret, pons_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    int rc = app_camera_picture(c, camera, &bytes, &n, err);
    rc = rc < 0 ? rc : app_picture_keep(c, camera, NULL, bytes, n, ret, err);
    free(bytes);
    return rc;
}

// ---- who names them -----------------------------------------------------------------------------

// Wherever in a state a picture is named.
static void collect(const pons_value *v, pons_value *names)
{
    const char *name = pons_get_str(v, "sha256", NULL);
    if (name) {
        json_object_set_new(names, name, json_true());
    }
    pons_each_member(key, member, v) {
        collect(member, names);
    }
    pons_each(item, v) {
        collect(item, names);
    }
}

pons_value *app_pictures_of(pons_store store, const char *thread)
{
    pons_value *names = json_object();
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (pons_state_read(store, thread, PONS_AGENT_NS, &state, &none) >= 0) {
        collect(state, names);
    }
    return names;
}

typedef struct holders {
    pons_store store;
    const pons_value *gone; // or NULL
    pons_value *names;
    int rc; // of the thread that could not be read: nothing is removed then
    pons_error *err;
} holders;

static int add_thread(void *user, const pons_thread_info *info)
{
    holders *h = user;
    pons_autovalue state = NULL;
    const int rc = pons_state_read(h->store, info->thread, PONS_AGENT_NS, &state, h->err);
    h->rc = rc == PONS_ENOTFOUND ? PONS_OK : rc;
    collect(state, h->names);
    return h->rc < 0;
}

static bool held(void *user, const char *name)
{
    const holders *h = user;
    return pons_get(h->names, name) || (h->gone && !pons_get(h->gone, name));
}

int app_pictures_prune(const app_context *c, pons_store store, const pons_value *gone,
                       pons_error *err)
{
    char folder[PATH_MAX + 32];
    const pons_clock clock = pons_clock_real();
    pons_autovalue names = json_object();
    pons_error why = PONS_ERROR_INIT;
    holders h = {.store = store, .gone = gone, .names = names, .err = &why};
    app_pictures_folder(c, folder, sizeof folder);
    const int64_t before_ms = pons_wall_ms(&clock) + (gone ? 1 : -WEEK_MS);
    const int rc = store.ops->threads(store.self, add_thread, &h, err);
    if (rc >= 0 && h.rc < 0) {
        return pons_error_set(err, h.rc, "pictures", "%s", why.message);
    }
    return rc < 0 ? rc : pons_picture_prune(folder, before_ms, held, &h, err);
}
