// workspace_scope.c - where a workspace keeps what is its own in a store that it may share: names of namespaces, and the lock of
// goals of a time.
#include "app/workspace/workspace_scope.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

void app_own_space(const app_context *c, const char *name, char ret[64])
{
    const char *url = getenv("PONS_STORE");
    char host[256] = "", h[33] = "";
    if (url && *url) {
        gethostname(host, sizeof host - 1);
        pons_autovalue whose =
            pons_object("host", json_string(host), "workspace", json_string(c->workspace), NULL);
        pons_value_hash(whose, h);
    }
    snprintf(ret, 64, "%s%s%.16s", name, *h ? "." : "", h);
}

void app_schedules_space(const app_context *c, char ret[64])
{
    app_own_space(c, "pons-schedules", ret);
}

int app_schedules_open(const app_context *c)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/schedule.lock", c->run_dir);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool app_schedules_take(int fd, bool take)
{
    return fd >= 0 && flock(fd, take ? LOCK_EX | LOCK_NB : LOCK_UN) == 0;
}

void app_places_space(const app_context *c, char ret[64])
{
    app_own_space(c, "pons-places", ret);
}
