// setup.c - the composition root: the only place where adapters are named and handed to engines.
#include "cli/cli.h"
#include "pons/agent.h"
#include "pons/brain.h"
#include "pons/companion.h"
#include "pons/config_file.h"
#include "pons/drivers.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/llm.h"
#include "pons/module.h"
#include "pons/protected_files.h"
#include "pons/rule_policy.h"
#include "pons/schema.h"
#include "pons/store.h"
#include "pons/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct newest {
    pons_store store;
    bool agents; // an agent's thread will do
    char name[PONS_NAME_MAX];
    int64_t updated_ms;
} newest;

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
static void make_private(const cli *c)
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

int cli_workspace(cli *c, bool create, pons_error *err)
{
    struct stat st;
    if (!create && stat(c->workspace, &st) < 0) {
        return pons_error_set(err, PONS_EENV, "workspace",
                              "there is no workspace at %s; `pons run` makes one", c->workspace);
    }
    int rc = make_dir(c->workspace, err);
    rc = rc < 0 ? rc : pons_workspace_check(c->workspace, err);
    if (rc >= 0) {
        rc = make_dir(c->run_dir, err);
    }
    if (rc >= 0) {
        make_private(c);
    }
    if (rc >= 0 && access(c->workspace, W_OK | X_OK) < 0) {
        rc = pons_error_set(err, PONS_EENV, "workspace", "cannot write in %s: %s", c->workspace,
                            strerror(errno));
    }
    return rc;
}

int cli_store(cli *c, pons_store *ret, pons_error *err)
{
    const char *url =
        getenv("PONS_STORE"); // a server that several hosts share, for who outgrew a file
    return pons_store_open(url && *url ? url : c->db, ret, err);
}

int cli_store_read(cli *c, pons_store *ret, pons_error *err)
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

int cli_config(const cli *c, pons_value **ret, pons_error *err)
{
    pons_value *config = NULL;
    int rc = cli_yaml(c, "config/kernel.yaml", "schemas/kernel.json", &config, err);
    rc = rc < 0 ? rc : pons_brain_config_check(config, err);
    if (rc < 0) {
        pons_value_unref(config);
        return rc;
    }
    *ret = config;
    return rc;
}

int cli_policy(const cli *c, pons_policy *ret, pons_error *err)
{
    pons_autovalue intents = NULL;
    const int rc = cli_yaml(c, "config/intents.yaml", NULL, &intents, err);
    return rc < 0 ? rc : pons_rules_open(intents, ret, err);
}

int cli_yaml(const cli *c, const char *relative, const char *schema, pons_value **ret,
             pons_error *err)
{
    char path[PATH_MAX];
    pons_yaml *yaml = NULL;
    pons_schema *compiled = NULL;
    int rc = pons_config_find(c->workspace, relative, path, sizeof path, NULL, err);
    if (rc >= 0) {
        rc = pons_yaml_load(path, &yaml, err);
    }
    if (rc >= 0 && schema) {
        rc = pons_schema_shipped(schema, &compiled, err);
        if (rc >= 0) {
            rc = pons_schema_check_yaml(compiled, yaml, err);
        }
    }
    if (rc >= 0) {
        *ret = pons_value_ref(pons_yaml_value(yaml));
    }
    pons_schema_destroy(compiled);
    pons_yaml_destroy(yaml);
    return rc;
}

static const char *own_workspace; // of this process; main.c says which, before there are threads

void cli_worlds_of(const char *workspace)
{
    own_workspace = workspace;
}

bool cli_is_path(const char *name)
{
    return strchr(name, '/') || strstr(name, ".yaml") || strstr(name, ".yml");
}

int cli_world(const char *name, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX];
    if (cli_is_path(name)) {
        return pons_world_load(name, ret, err);
    }
    const int n = own_workspace
                      ? snprintf(path, sizeof path, "%s/worlds/%s.yaml", own_workspace, name)
                      : (int)sizeof path;
    if (n < (int)sizeof path && access(path, F_OK) == 0) {
        const int rc = pons_workspace_check(own_workspace, err);
        return rc < 0 ? rc : pons_world_load(path, ret, err);
    }
    char relative[256];
    snprintf(relative, sizeof relative, "worlds/%s.yaml", name);
    const int rc = pons_share_path(relative, path, sizeof path, err);
    if (rc == PONS_ENOTFOUND) {
        cli c = {0};
        snprintf(c.workspace, sizeof c.workspace, "%s", own_workspace ? own_workspace : "");
        return cli_no_such(&c, "worlds", "world", name, err);
    }
    return rc < 0 ? rc : pons_world_load(path, ret, err);
}

int cli_driver(const char *name, const pons_robot_ops **ret, pons_error *err)
{
    if (strcmp(name, pons_robot_kinematic.name) == 0) {
        *ret = &pons_robot_kinematic;
        return PONS_OK;
    }
    const void *ops = NULL;
    const int rc = pons_module_load("driver", name, &ops, err);
    if (rc ==
        PONS_ENOTFOUND) { // where it was looked for is told only of one that is like none there is
        cli c = {0};
        pons_error like = PONS_ERROR_INIT;
        cli_no_such(&c, "drivers", "driver", name, &like);
        *err = strstr(like.message, "did you mean") ? like : *err;
        return err->status;
    }
    *ret = rc < 0 ? *ret : ops;
    return rc;
}

int cli_skills_load(const char *names, cli_skills *ret, pons_error *err)
{
    *ret = (cli_skills){0};
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[PONS_NAME_MAX];
        const void *skill = NULL;
        if (snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at) >= (int)sizeof name ||
            ret->n == PONS_BODY_SKILLS_MAX) {
            return cli_bad(err, "--skills takes at most %d names of modules skill-NAME, not '%s'",
                           PONS_BODY_SKILLS_MAX, names);
        }
        const int rc = pons_module_load("skill", name, &skill, err);
        if (rc < 0) {
            return rc;
        }
        const pons_skill *s = ret->at[ret->n++] = skill;
        if (s->abi >= PONS_SKILL_ABI_FIRST && s->abi <= PONS_SKILL_ABI &&
            (!s->name || strcmp(s->name, name) != 0)) {
            return cli_bad(err, "the module skill-%s has a skill of another name", name);
        }
    }
    pons_value *registry = NULL; // whatever is wrong with one is said before anything is made
    const int rc = names ? pons_body_skills(ret->at, ret->n, &registry, err) : PONS_OK;
    pons_value_unref(registry);
    return rc;
}

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

// A URL of a server, or NAME:WHAT of the module llm-NAME. The key is for servers of the first kind
// only: another provider's it is not.
static int server_config(const char *spec, pons_value **ret, pons_error *err)
{
    const bool url = strncmp(spec, "http://", 7) == 0 || strncmp(spec, "https://", 8) == 0;
    const size_t name = url ? 0 : strspn(spec, name_letters);
    if (!url && (name == 0 || spec[name] != ':' || strncmp(spec + name, "://", 3) == 0)) {
        return pons_error_set(err, PONS_EINVAL, "llm",
                              "--llm takes a URL, rules, script:FILE, record:FILE:URL, "
                              "replay:FILE or NAME:… of a module llm-NAME, not '%s'",
                              spec);
    }
    const char *model = getenv("PONS_LLM_MODEL"), *given = getenv("PONS_LLM_TIMEOUTS");
    const char *key = url ? getenv("OPENAI_API_KEY") : NULL;
    pons_value *timeouts = NULL;
    if (given && *given &&
        (pons_value_parse(given, strlen(given), &timeouts, err) != PONS_OK ||
         !json_is_object(timeouts))) {
        pons_value_unref(timeouts);
        return pons_error_set(err, PONS_EINVAL, "llm",
                              "PONS_LLM_TIMEOUTS should be like {\"first_byte_s\": 120}");
    }
    *ret = pons_object("url", json_string(url ? spec : spec + name + 1), "model",
                       json_string(model && *model ? model : "default"), "api_key",
                       key && *key ? json_string(key) : NULL, "timeouts", timeouts, NULL);
    if (*ret && !url) {
        json_object_set_new(*ret, "provider", json_stringn(spec, name));
    }
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "llm", "no memory");
}

// The configuration that the words of --llm stand for.
static int llm_config(const char *spec, pons_value **ret, pons_error *err)
{
    static const char script[] = "script:", replay[] = "replay:", order[] = "replay-order:";
    static const char record[] = "record:";
    if (strncmp(spec, script, strlen(script)) == 0) {
        *ret = pons_object("path", json_string(spec + strlen(script)), NULL);
    } else if (strncmp(spec, replay, strlen(replay)) == 0) {
        *ret = pons_object("provider", json_string("replay"), "path",
                           json_string(spec + strlen(replay)), NULL);
    } else if (strncmp(spec, order, strlen(order)) == 0) {
        *ret = pons_object("provider", json_string("replay"), "compare", json_string("order"),
                           "path", json_string(spec + strlen(order)), NULL);
    } else if (strncmp(spec, record, strlen(record)) == 0) {
        const char *path = spec + strlen(record), *what = strstr(path, ":http");
        what = what ? what : strstr(path, ":script:");
        if (!what || what == path) {
            return pons_error_set(err, PONS_EINVAL, "llm",
                                  "--llm record:FILE:URL needs a file and a URL, not '%s'", spec);
        }
        int rc = llm_config(what + 1, ret, err);
        if (rc == PONS_OK) {
            json_object_set_new(*ret, "record", json_stringn(path, (size_t)(what - path)));
        }
        return rc;
    } else {
        return server_config(spec, ret, err);
    }
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "llm", "no memory");
}

const char *cli_llm_spec(const char *typed)
{
    const char *url = getenv("PONS_LLM_URL");
    url = url && *url ? url : getenv("OPENAI_BASE_URL");
    const char *spec = typed ? typed : url;
    return spec && *spec && strcmp(spec, "rules") != 0 ? spec : NULL;
}

int cli_llm(const char *spec, const pons_clock *clock, pons_llm *ret, pons_error *err)
{
    *ret = (pons_llm){0};
    spec = cli_llm_spec(spec);
    if (!spec) {
        return PONS_OK;
    }
    pons_autovalue config = NULL;
    pons_llm_factory *factory = NULL;
    int rc = llm_config(spec, &config, err);
    rc = rc == PONS_OK ? pons_llm_factory_create(clock, &factory, err) : rc;
    rc = rc == PONS_OK ? pons_llm_factory_open(factory, config, ret, err) : rc;
    pons_llm_factory_destroy(factory); // the handle keeps what it needs
    return rc;
}

int cli_observe(cli *c, int timeout_ms, pons_value **ret_hello, pons_value **ret_telemetry)
{
    char path[PATH_MAX + 16];
    pons_error err = PONS_ERROR_INIT;
    pons_link *link = NULL;
    snprintf(path, sizeof path, "%s/body.sock", c->run_dir);
    *ret_hello = *ret_telemetry = NULL;
    int rc = pons_link_connect(path, &link, &err);
    if (rc < 0) {
        return rc;
    }
    rc = cli_observe_on(link, timeout_ms, ret_hello, ret_telemetry);
    pons_link_close(link);
    return rc;
}

int cli_observe_on(pons_link *link, int timeout_ms, pons_value **ret_hello,
                   pons_value **ret_telemetry)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    const int64_t until = pons_now_ms(&clock) + timeout_ms;
    int rc = PONS_OK;
    *ret_hello = *ret_telemetry = NULL;
    pons_message_send(link,
                      &(pons_message){.type = PONS_MESSAGE_HELLO,
                                      .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "pons"}},
                      &err);
    while ((!*ret_hello || !*ret_telemetry) && pons_now_ms(&clock) < until) {
        pons_autovalue msg = NULL;
        rc = pons_link_recv(link, &msg, &err);
        if (rc < 0) {
            break;
        }
        if (rc == 0) {
            struct pollfd p = {.fd = pons_link_fd(link), .events = POLLIN};
            poll(&p, 1, (int)(until - pons_now_ms(&clock)));
            continue;
        }
        pons_report r;
        const bool good = pons_report_decode(msg, &r, NULL) == PONS_OK;
        pons_value **into = r.type == PONS_REPORT_HELLO       ? ret_hello
                            : r.type == PONS_REPORT_TELEMETRY ? ret_telemetry
                                                              : NULL;
        if (good && into && !*into) {
            *into = pons_value_ref(msg);
        }
        pons_report_clear(&r);
    }
    return *ret_hello && *ret_telemetry ? PONS_OK : PONS_EAGAIN;
}

static int pick_thread(void *user, const pons_thread_info *info)
{
    newest *n = user;
    if (strcmp(info->thread, PONS_COMPANION_THREAD) == 0) {
        return 0; // a life, not a task: nothing that `resume` or `status` mean
    }
    if (info->updated_ms > n->updated_ms && !cli_graph_of(n->store, info->thread) &&
        (n->agents ||
         (info->checkpoints > 0 && // a session in which nobody has said anything has none
          !pons_agent_thread_is(n->store, info->thread)))) {
        n->updated_ms = info->updated_ms;
        snprintf(n->name, sizeof n->name, "%s", info->thread);
    }
    return 0;
}

static int latest(pons_store store, bool agents, char ret[PONS_NAME_MAX], pons_error *err)
{
    newest n = {.store = store, .agents = agents, .updated_ms = -1};
    const int rc = store.ops->threads(store.self, pick_thread, &n, err);
    if (rc < 0) {
        return rc;
    }
    if (n.updated_ms < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "threads",
                              "there is no thread yet; `pons run GOAL` begins one");
    }
    memcpy(ret, n.name, PONS_NAME_MAX);
    return PONS_OK;
}

int cli_latest_thread(pons_store store, char ret[PONS_NAME_MAX], pons_error *err)
{
    return latest(store, false, ret, err);
}

int cli_latest_of_any(pons_store store, char ret[PONS_NAME_MAX], pons_error *err)
{
    return latest(store, true, ret, err);
}

int cli_critic_policy(const cli *c, pons_value **ret, pons_error *err)
{
    pons_autovalue rules = NULL;
    const int rc = cli_config(c, &rules, err);
    if (rc >= 0) {
        *ret = pons_brain_critic_policy(rules);
    }
    return rc;
}
