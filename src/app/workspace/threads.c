// threads.c - names of threads; which thread, and which task, is meant where none is named.
#include "app/workspace/context.h"
#include "pons/agent.h"
#include "pons/buf.h"
#include "pons/companion.h"
#include "pons/printable.h"
#include "pons/random.h"

#include <string.h>

#define THREAD_ID_LENGTH 6

typedef struct newest {
    pons_store store;
    bool agents; // an agent's thread will do
    char name[PONS_NAME_MAX];
    int64_t updated_ms;
} newest;

static int pick_thread(void *user, const pons_thread_info *info)
{
    newest *n = user;
    if (strcmp(info->thread, PONS_COMPANION_THREAD) == 0) {
        return 0; // a life, not a task: nothing that `resume` or `status` mean
    }
    if (info->updated_ms > n->updated_ms && !app_graph_of(n->store, info->thread) &&
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

int app_latest_thread(pons_store store, char ret[PONS_NAME_MAX], pons_error *err)
{
    return latest(store, false, ret, err);
}

int app_thread_open(app_context *c, bool writes, const char **thread, char latest[PONS_NAME_MAX],
                    pons_store *ret, pons_error *err)
{
    int rc = app_workspace(c, false, err);
    if (rc >= 0) {
        rc = writes ? app_store(c, ret, err) : app_store_read(c, ret, err);
    }
    if (rc >= 0 && !*thread) {
        rc = app_latest_thread(*ret, latest, err);
        *thread = latest;
    }
    return rc;
}

int app_latest_of_any(pons_store store, char ret[PONS_NAME_MAX], pons_error *err)
{
    return latest(store, true, ret, err);
}

const pons_value *app_task_called(const pons_value *status, const char *text, bool *ret_over)
{
    const pons_value *active = pons_get(status, "active_task");
    const pons_value *mine = strcmp(pons_get_str(active, "text", ""), text) == 0
                                 ? active
                                 : pons_find(pons_get(status, "queue"), "text", text);
    *ret_over = !mine;
    return mine ? mine : pons_find(pons_get(status, "finished"), "text", text);
}

int app_thread_name(const char *name, pons_error *err)
{
    const size_t n = strlen(name);
    pons_autovalue text = json_string(name);
    if (!text) {
        return pons_error_set(err, PONS_EINVAL, "threads", "a thread's name is valid UTF-8");
    }
    if (n == 0 || n >= PONS_NAME_MAX) {
        return pons_error_set(err, PONS_EINVAL, "threads", "a thread's name has 1 to %d bytes",
                              PONS_NAME_MAX - 1);
    }
    // What a person cannot see in a name cannot be told from another name either.
    pons_autobuf plain = PONS_BUF_INIT;
    if (pons_plain(&plain, name, n, false) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "threads", "out of memory");
    }
    if (plain.len != n || memcmp(plain.data, name, n) != 0 || strpbrk(name, " /")) {
        return pons_error_set(err, PONS_EINVAL, "threads",
                              "a thread's name has no spaces, slashes, control characters or marks "
                              "that cannot be seen, as '%s' has",
                              name);
    }
    return PONS_OK;
}

void app_new_thread(char ret[PONS_NAME_MAX])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    pons_rand r;
    pons_rand_seed_os(&r);
    char word[THREAD_ID_LENGTH + 1] = "";
    for (int i = 0; i < THREAD_ID_LENGTH; i++) {
        word[i] = letters[pons_rand_below(&r, sizeof letters - 1)];
    }
    snprintf(ret, PONS_NAME_MAX, "t-%s", word);
}
