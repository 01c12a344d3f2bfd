// workspace_profile.c - a workspace's files beside who runs its actions: the robot's profile, and what a run shows.
#include "app/workspace/workspace_profile.h"

#include "pons/buf.h"
#include "pons/module.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROFILE_MAX (64 * 1024)

static bool is_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static bool read_file(const char *path, pons_buf *text)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= PROFILE_MAX) {
        pons_buf_reserve(text, PROFILE_MAX + 1);
        const ssize_t n = read(fd, text->data, PROFILE_MAX);
        text->len = n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return text->len > 0;
}

// The first profile that there is; false: none.
static bool read_profile(const app_context *c, const char *driver, const char *world,
                         pons_buf *text)
{
    char name[160], path[PATH_MAX + 256];
    for (int i = 0; i < 4;
         i++) { // by driver and world before by driver, the workspace's before ours
        pons_error none = PONS_ERROR_INIT;
        if (i < 2 ? !is_name(world) : false) {
            continue;
        }
        snprintf(name, sizeof name, i < 2 ? "profiles/%.60s-%.60s.md" : "profiles/%.60s.md", driver,
                 world);
        if (i % 2 == 0) {
            snprintf(path, sizeof path, "%s/%s", c->workspace, name);
        } else if (pons_share_path(name, path, sizeof path, &none) < 0) {
            continue;
        }
        if (read_file(path, text)) {
            return true;
        }
    }
    return false;
}

// path NULL: the driver's and the world's.
static int embody(const app_context *c, const char *path, const char *driver, const char *world,
                  pons_ws_dialect dialect, pons_error *err)
{
    pons_ws_doc *is = NULL, *profile = NULL, *whole = NULL;
    pons_autobuf text = PONS_BUF_INIT, as = PONS_BUF_INIT, stamped = PONS_BUF_INIT;
    size_t n = 0, len = 0;
    pons_error why = PONS_ERROR_INIT;
    int rc = pons_ws_load(PONS_WS_BY_HAL, c->workspace, PONS_WS_EMBODIED, &is, &why);
    if (rc == PONS_OK) {
        pons_ws_records(is, &n);
        pons_ws_faults(is, &len);
    }
    const bool ours = rc == PONS_ENOTFOUND || (rc == PONS_OK && n == 0 && len == 0);
    if (!ours || !(path ? read_file(path, &text)
                        : is_name(driver) && read_profile(c, driver, world, &text))) {
        pons_ws_destroy(is);
        return PONS_OK; // a file that cannot be read is told by who keeps the folder
    }
    rc =
        pons_ws_read(PONS_WS_EMBODIED, text.data, text.len, path ? path : "profile", &profile, err);
    rc = rc < 0 ? rc : pons_ws_convert(profile, dialect, &as, err);
    // With a stamp: what a person takes out of it later is taken out.
    rc = rc < 0 ? rc : pons_ws_read(PONS_WS_EMBODIED, as.data, as.len, "profile", &whole, err);
    rc = rc < 0 ? rc : pons_ws_render(whole, NULL, 0, 1, &stamped, err);
    const char *expect = is ? pons_ws_text(is, &len) : NULL;
    rc = rc < 0 ? rc
                : pons_ws_write(PONS_WS_BY_HAL, c->workspace, PONS_WS_EMBODIED, stamped.data,
                                stamped.len, expect, len, err);
    pons_ws_destroy(whole);
    pons_ws_destroy(is);
    pons_ws_destroy(profile);
    return rc == PONS_ESTALE ? PONS_OK : rc; // somebody has just written it: that is what it says
}

int app_profile_apply(const app_context *c, const char *driver, const char *world,
                      pons_ws_dialect dialect, pons_error *err)
{
    return embody(c, NULL, driver, world, dialect, err);
}

int app_profile_apply_file(const app_context *c, const char *path, pons_ws_dialect dialect,
                           pons_error *err)
{
    return embody(c, path, NULL, NULL, dialect, err);
}

int app_files_lock(const app_context *c, int *ret_lock, pons_error *err)
{
    char pid[32] = "";
    *ret_lock = -1;
    const int rc = app_onboarded(c) ? app_hal_lock(c, ret_lock, pid, err) : PONS_OK;
    return rc == PONS_EBUSY ? PONS_OK : rc;
}

int app_files_open(const app_context *c, const char *driver, const char *world,
                   pons_ws_live_options *o, pons_ws_live **ret, pons_error *err)
{
    pons_autovalue config = NULL;
    pons_autovalue map = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (!app_onboarded(c)) {
        return PONS_OK;
    }
    int rc = app_workspace_config(c, &config, &o->dialect, err);
    rc = rc >= 0 && o->hal ? app_profile_apply(c, driver, world, o->dialect, err) : rc;
    app_world(world, &map, &none); // a path that is gone: the body says what it has
    o->dir = c->workspace;
    o->robot_id = pons_get_str(pons_get(config, "robot"), "id", "robot_001");
    o->world = map;
    return rc < 0 ? rc : pons_ws_live_open(o, ret, err);
}

void app_files_close(pons_ws_live **files, int *lock)
{
    pons_ws_live_close(*files);
    *files = NULL;
    if (*lock >= 0) {
        close(*lock);
        *lock = -1;
    }
}
