// onboarded_workspace.c - a workspace that has protocol files: which robot it is, and who runs its actions.
#include "app/workspace/onboarded_workspace.h"

#include "pons/proc_stat.h"
#include "pons/schema.h"
#include "pons/value.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK_TRIES    5
#define LOCK_PAUSE_MS 10

bool app_onboarded(const app_context *c)
{
    static const pons_ws_file any[] = {PONS_WS_ACTION, PONS_WS_ENVIRONMENT};
    char path[PATH_MAX + 32];
    for (size_t i = 0; i < sizeof any / sizeof any[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", c->workspace, pons_ws_file_name(any[i]));
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

int app_workspace_config(const app_context *c, pons_value **ret, pons_ws_dialect *ret_dialect,
                         pons_error *err)
{
    char path[PATH_MAX + 16];
    *ret = NULL;
    *ret_dialect = PONS_WS_SEED;
    snprintf(path, sizeof path, "%s/config.json", c->workspace);
    if (access(path, F_OK) < 0) {
        return PONS_OK;
    }
    pons_schema *schema = NULL;
    pons_error why = PONS_ERROR_INIT;
    int rc = pons_value_load(path, ret, err);
    rc = rc < 0 ? rc : pons_schema_shipped("schemas/config.json", &schema, err);
    if (rc >= 0 && pons_schema_check(schema, *ret, &why) < 0) {
        rc = pons_error_set(err, PONS_EINVAL, "config", "%s: %s", path, why.message);
        pons_value_unref(*ret);
        *ret = NULL;
    } else if (rc >= 0) {
        pons_ws_dialect_of(pons_get_str(*ret, "dialect", "seed"), ret_dialect);
    }
    pons_schema_destroy(schema);
    return rc;
}

static int64_t holder(int fd, char pid[32])
{
    const ssize_t n = pread(fd, pid, 31, 0);
    pid[n > 0 ? (size_t)n : 0] = '\0';
    return strtoll(pid, NULL, 10);
}

// Somebody may just have looked (app_hal_served).
static bool try_again(int *looks)
{
    poll(NULL, 0, LOCK_PAUSE_MS);
    return ++*looks < LOCK_TRIES;
}

int app_hal_lock(const app_context *c, int *ret, char pid[32], pons_error *err)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/hal.lock", c->run_dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return app_lacks(err, "cannot open %s: %s", path, strerror(errno));
    }
    int looks = 0, left = 0;
    bool held = flock(fd, LOCK_EX | LOCK_NB) < 0;
    while (held && (pons_process_left_lock(holder(fd, pid), &left) || try_again(&looks))) {
        held = flock(fd, LOCK_EX | LOCK_NB) < 0;
    }
    if (held) {
        close(fd);
        return pons_error_set(err, PONS_EBUSY, "watchdog",
                              "another HAL watchdog has this workspace: pid %s", pid);
    }
    const int n = snprintf(pid, 32, "%d", (int)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n) {
        const int e = errno;
        close(fd);
        return app_lacks(err, "cannot write %s: %s", path, strerror(e));
    }
    *ret = fd;
    return PONS_OK;
}

bool app_hal_served(const app_context *c)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/hal.lock", c->run_dir);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (fd >= 0) {
        close(fd);
    }
    return held;
}
