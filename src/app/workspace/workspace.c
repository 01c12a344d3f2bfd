// workspace.c - the folder of one robot: made when it is not there, its store, its configuration files.
#include "app/workspace/context.h"
#include "app/workspace/workspace_scope.h"
#include "pons/brain.h"
#include "pons/config_file.h"
#include "pons/protected_files.h"
#include "pons/rule_policy.h"
#include "pons/schema.h"
#include "pons/store.h"
#include "pons/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// mkdir -p, private to the user.
static int make_dir(const char *path, pons_error *err)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash) {
            *slash = '\0';
        }
        if (mkdir(part, 0700) < 0 && errno != EEXIST) {
            return pons_error_set(err, PONS_EENV, "workspace", "cannot make %s: %s", part,
                                  strerror(errno));
        }
        if (!slash) {
            break;
        }
        *slash = '/';
    }
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
        return pons_error_set(err, PONS_EENV, "workspace", "%s is not a directory", path);
    }
    return PONS_OK;
}

// What an earlier version, or another umask, left readable for others. New files are private by the
// umask of main. That a group may go through run/ is left: it reaches stop.sock there, and nothing else.
static void make_private(const app_context *c)
{
    struct stat st;
    if (stat(c->run_dir, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077 & ~S_IXGRP)) {
        chmod(c->run_dir, 0700);
    }
    DIR *dir = opendir(c->workspace);
    for (const struct dirent *d = dir ? readdir(dir) : NULL; d; d = readdir(dir)) {
        if (strncmp(d->d_name, PONS_FILE_DB, strlen(PONS_FILE_DB)) != 0) {
            continue;
        }
        const int fd =
            openat(dirfd(dir), d->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077)) {
            fchmod(fd, S_ISDIR(st.st_mode) ? 0700 : 0600);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

int app_workspace(const app_context *c, bool create, pons_error *err)
{
    struct stat st;
    if (!create && stat(c->workspace, &st) < 0) {
        return pons_error_set(err, PONS_EENV, "workspace",
                              "there is no workspace at %s; `pons run` makes one", c->workspace);
    }
    int rc = make_dir(c->workspace, err);
    rc = rc < 0 ? rc : pons_workspace_check(c->workspace, err);
    rc = rc < 0 ? rc : make_dir(c->run_dir, err);
    if (rc >= 0) {
        make_private(c);
    }
    if (rc >= 0 && access(c->workspace, W_OK | X_OK) < 0) {
        rc = pons_error_set(err, PONS_EENV, "workspace", "cannot write in %s: %s", c->workspace,
                            strerror(errno));
    }
    return rc;
}

int app_store(const app_context *c, pons_store *ret, pons_error *err)
{
    const char *url =
        getenv("PONS_STORE"); // a server that several hosts share, for who outgrew a file
    return pons_store_open(url && *url ? url : c->db, ret, err);
}

int app_store_read(const app_context *c, pons_store *ret, pons_error *err)
{
    const char *url = getenv("PONS_STORE");
    struct stat st;
    const bool there = stat(c->workspace, &st) == 0;
    if (!there && !(url && *url)) {
        return pons_error_set(err, PONS_EENV, "workspace",
                              "there is no workspace at %s; `pons run` makes one", c->workspace);
    }
    const int rc = there ? pons_workspace_check(c->workspace, err) : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    if (url && *url) {
        return pons_store_open_read(url, ret, err);
    }
    if (stat(c->db, &st) < 0 && errno == ENOENT) { // a workspace in which nothing has run yet
        return pons_store_memory_open(ret, err);
    }
    return pons_store_open_read(c->db, ret, err);
}

int app_config(const app_context *c, pons_value **ret, pons_error *err)
{
    pons_value *config = NULL;
    int rc = app_yaml(c, "config/kernel.yaml", "schemas/kernel.json", &config, err);
    rc = rc < 0 ? rc : pons_brain_config_check(config, err);
    if (rc < 0) {
        pons_value_unref(config);
        return rc;
    }
    *ret = config;
    return rc;
}

int app_policy(const app_context *c, pons_policy *ret, pons_error *err)
{
    pons_autovalue intents = NULL;
    const int rc = app_yaml(c, "config/intents.yaml", NULL, &intents, err);
    return rc < 0 ? rc : pons_rules_open(intents, ret, err);
}

int app_yaml(const app_context *c, const char *relative, const char *schema, pons_value **ret,
             pons_error *err)
{
    char path[PATH_MAX];
    pons_yaml *yaml = NULL;
    pons_schema *compiled = NULL;
    int rc = pons_config_find(c->workspace, relative, path, sizeof path, NULL, err);
    rc = rc < 0 ? rc : pons_yaml_load(path, &yaml, err);
    if (rc >= 0 && schema) {
        rc = pons_schema_shipped(schema, &compiled, err);
        rc = rc < 0 ? rc : pons_schema_check_yaml(compiled, yaml, err);
    }
    if (rc >= 0) {
        *ret = pons_value_ref(pons_yaml_value(yaml));
    }
    pons_schema_destroy(compiled);
    pons_yaml_destroy(yaml);
    return rc;
}

int app_critic_policy(const app_context *c, pons_value **ret, pons_error *err)
{
    pons_autovalue rules = NULL;
    const int rc = app_config(c, &rules, err);
    if (rc >= 0) {
        *ret = pons_brain_critic_policy(rules);
    }
    return rc;
}

// ---- what is its own in a store that it may share -----------------------------------------------

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
