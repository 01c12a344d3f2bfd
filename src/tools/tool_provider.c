// tool_provider.c - the provider: the table of tools, the workers that run them, the events that come of
// it.
//
// A host never waits. Its calls go into a queue, workers take them, and what they made comes back
// as events behind a descriptor:
//
//     host                      [mtx]                         workers (1 … n, started when needed)
//     start --------------> jobs: queued ------------------> running: path, file, command, page …
//     cancel -> out of jobs, its flag up, its descriptor readable -> stops at its next look
//     event_fd, next <----- events <------------------------ done or failed
//
// A job belongs to the table while `jobs` has it: cancel takes it out under the lock, and its worker
// frees it. Events are pons/event_queue.h's: none comes of a call that was canceled.
//
// What reaches the world (write_file, terminal) goes through the ledger: begun is on disk before
// anything happens, ended afterwards, and a key that has ended gives its stored result again.
//
// Workers may be stuck for seconds in a name look-up. close() waits for them for a while and then
// leaves them to end by themselves: the last one out frees the provider.
#include "pons/buf.h"
#include "pons/event_queue.h"
#include "pons/ext/tool.h"
#include "pons/random.h"
#include "pons/schema.h"
#include "pons/tools.h"
#include "tools/command/command_risk.h"
#include "tools/command/terminal_tool.h"
#include "tools/core/call_ledger.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/diff.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"
#include "tools/fetch_url.h"
#include "tools/read_tools.h"
#include "tools/sandbox/sandbox.h"
#include "tools/search_files.h"
#include "tools/search_knowledge.h"
#include "tools/search_lessons.h"
#include "tools/undo_versions.h"
#include "tools/write_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define WORKERS      4
#define QUEUE_MAX    256 // calls that wait or run
#define CLOSE_WAIT_S 2
#define STACK_BYTES  (512 * 1024)
#define TAG_BYTES    8 // of a working folder's hash

typedef struct tool {
    const char *name;
    pons_tool_risk risk;
    bool read_only;
    bool ledgered;
    pons__tool_fn run;
    const char *description;
    const char *parameters;
} tool;

#define STRING(name, text) "\"" name "\":{\"type\":\"string\",\"description\":\"" text "\"}"
#define INTEGER(name, text)                                                                        \
    "\"" name "\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"" text "\"}"
#define BOOLEAN(name, text) "\"" name "\":{\"type\":\"boolean\",\"description\":\"" text "\"}"
#define ARGS(required, properties)                                                                 \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required                  \
    "],\"properties\":{" properties "}}"
#define PATH STRING("path", "relative to the workspace")

// clang-format off
static const tool table[] = {
    {"read_file", PONS_TOOL_SAFE, true, false, pons__read_file,
     "Reads a text file of the workspace. Long files come in parts: ask on with first_line.",
     ARGS("\"path\"", PATH "," INTEGER("first_line", "where to begin; default 1") ","
          INTEGER("lines", "how many at most"))},
    {"write_file", PONS_TOOL_WARN, false, true, pons__write_file,
     "Writes a text file of the workspace, whole and at once; folders are made where needed. For a "
     "change of a file that is there use edit_file.",
     ARGS("\"path\",\"content\"", PATH "," STRING("content", "the whole new content") ","
          "\"if_exists\":{\"enum\":[\"replace\",\"refuse\"]}")},
    {"edit_file", PONS_TOOL_WARN, false, true, pons__edit_file,
     "Replaces a text in a file of the workspace by another. The old text must be there letter for "
     "letter, and once; give enough of its surroundings for that.",
     ARGS("\"path\",\"old_text\",\"new_text\"", PATH "," STRING("old_text", "what is there now") ","
          STRING("new_text", "what is to be there") "," BOOLEAN("all", "replace every place"))},
    {"list_dir", PONS_TOOL_SAFE, true, false, pons__list_dir,
     "Lists a folder of the workspace: kind, size and name of each entry.",
     ARGS("", STRING("path", "relative to the workspace; default: the workspace itself"))},
    {"search_files", PONS_TOOL_SAFE, true, false, pons__search_files,
     "Finds files of the workspace by name, by what they contain, or both.",
     ARGS("", STRING("name", "pattern of the file's name, such as *.md") ","
          STRING("text", "text that a line contains") "," BOOLEAN("ignore_case", "of text") ","
          STRING("path", "folder to search; default: the whole workspace"))},
    // Its own risk is the least that a call has: a command that is on no list is dangerous.
    {"terminal", PONS_TOOL_WARN, false, true, pons__terminal,
     "Runs a shell command in the workspace and gives its output and exit status. No input, no "
     "terminal; it is ended when it takes too long.",
     ARGS("\"command\"", STRING("command", "for /bin/sh -c") ","
          STRING("cwd", "folder of the workspace to run it in") ","
          INTEGER("timeout_s", "seconds before it is ended"))},
    {"fetch_url", PONS_TOOL_WARN, true, false, pons__fetch_url,
     "Fetches a page by http or https and gives it as text.",
     ARGS("\"url\"", STRING("url", "http:// or https://"))},
    {"search_knowledge", PONS_TOOL_SAFE, true, false, pons__search_knowledge,
     "Full-text search over the workspace's documents; gives the passages that fit best.",
     ARGS("\"query\"", STRING("query", "words, in any language") ","
          INTEGER("results", "passages at most"))},
    {"search_lessons", PONS_TOOL_SAFE, true, false, pons__search_lessons,
     "Searches LESSONS.md, what went wrong before and what helped. Look here before acting.",
     ARGS("\"query\"", STRING("query", "words, in any language") ","
          INTEGER("results", "lessons at most"))},
};
// clang-format on
#define TOOLS (sizeof table / sizeof table[0])

typedef struct provider provider;

typedef struct job {
    struct job *next;
    provider *p;
    uint64_t call;
    const tool *tool;
    pons_value *args;
    char *key;
    bool running;
    bool dropped; // canceled while running: nobody waits for it
    atomic_bool canceled;
    int cancel_fd;
} job;

struct provider {
    pons__core core; // first: workers see no more
    pons_value *list;
    bool offered[TOOLS];
    pons_tool_risk risk[TOOLS];
    unsigned workers_max;
    pons_event_queue events;
    // [mtx]
    pthread_mutex_t mtx;
    pthread_cond_t work, idle;
    job *jobs, **jobs_end; // queued and running
    size_t n_jobs;
    unsigned workers, waiting; // alive; of these without a job
    bool quit;
    bool abandoned; // close has gone: the last worker frees
};

// ---- configuration ------------------------------------------------------------------------------

static int open_root(const char *path, const char *what, char ret[PATH_MAX], int *ret_fd,
                     pons_error *err)
{
    if (!realpath(path, ret) || (*ret_fd = open(ret, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
        return pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot open the %s %s: %s", what, path,
                              strerror(errno));
    }
    return PONS_OK;
}

// What is kept of a working folder's files has a name of its own: a path means another file elsewhere.
static int open_roots(pons__core *c, const char *workspace, const char *folder, pons_error *err)
{
    int rc = open_root(workspace, "workspace", c->state, &c->state_fd, err);
    rc = rc < 0 ? rc
                : open_root(folder ? folder : workspace, folder ? "working folder" : "workspace",
                            c->workspace, &c->root_fd, err);
    if (rc >= 0 && strcmp(c->workspace, c->state) != 0) {
        uint8_t hash[32];
        pons_sha256(c->workspace, strlen(c->workspace), hash);
        c->tag[0] = '-';
        for (size_t i = 0; i < TAG_BYTES; i++) {
            snprintf(c->tag + 1 + 2 * i, 3, "%02x", hash[i]);
        }
    }
    return rc;
}

static int configure(provider *p, const pons_value *config, pons_error *err)
{
    pons_autovalue rules = NULL;
    pons_schema *schema = NULL;
    int rc = pons_value_parse(pons__tools_schema, strlen(pons__tools_schema), &rules, err);
    rc = rc < 0 ? rc : pons_schema_compile(rules, &schema, err);
    rc = rc < 0 ? rc : pons_schema_check(schema, config, err);
    pons_schema_destroy(schema);
    if (rc < 0) {
        pons_error_context(err, "configuration of the tools");
        return rc;
    }
    p->core.config = json_deep_copy(config);
    if (!p->core.config) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for the tools");
    }
    p->workers_max = (unsigned)pons__conf(&p->core, NULL, "workers", WORKERS);
    rc = open_roots(&p->core, pons_get_str(config, "workspace", ""),
                    pons_get_str(config, "folder", NULL), err);
    if (rc >= 0) {
        rc = pons__guards_init(&p->core);
        rc = rc < 0 ? rc : pons__wall_create(&p->core, &p->core.wall);
        rc = rc >= 0 ? PONS_OK
             : rc == PONS_EREFUSED
                 ? pons_error_set(err, rc, PONS__TOOLS,
                                  "the folder of your configuration has more files than can be "
                                  "hidden from models")
                 : pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for the tools");
    }
    return rc;
}

static int risk_of_word(const char *word)
{
#define RISK_WORD(symbol, text) text,
    static const char *const words[] = {PONS_TOOL_RISK_TABLE(RISK_WORD)};
#undef RISK_WORD
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static const char *word_of_risk(pons_tool_risk risk)
{
#define RISK_WORD(symbol, text) text,
    static const char *const words[] = {PONS_TOOL_RISK_TABLE(RISK_WORD)};
#undef RISK_WORD
    return words[risk];
}

// A name in `list` (an array) or among the keys of `list` (an object) that is no tool.
static int check_names(const pons_value *list, const char *where, pons_error *err)
{
    pons_autovalue all = json_array();
    pons_each(v, list) {
        json_array_append(all, v);
    }
    pons_each_member(key, v, list) {
        json_array_append_new(all, json_string(key));
    }
    pons_each(v, all) {
        bool known = false;
        for (size_t k = 0; k < TOOLS; k++) {
            known = known || strcmp(table[k].name, json_string_value(v)) == 0;
        }
        if (!known) {
            return pons_error_set(err, PONS_EINVAL, PONS__TOOLS,
                                  "configuration of the tools: /%s: there is no tool %s", where,
                                  json_string_value(v));
        }
    }
    return PONS_OK;
}

static int make_list(provider *p, pons_error *err)
{
    const pons_value *only = pons__conf_value(&p->core, NULL, "tools");
    const pons_value *risks = pons__conf_value(&p->core, NULL, "risk");
    int rc = check_names(only, "tools", err);
    rc = rc < 0 ? rc : check_names(risks, "risk", err);
    if (rc < 0) {
        return rc;
    }
    p->list = json_array();
    for (size_t i = 0; i < TOOLS; i++) {
        p->offered[i] = !only;
        size_t k;
        json_t *name;
        json_array_foreach(only, k, name) {
            p->offered[i] |= strcmp(json_string_value(name), table[i].name) == 0;
        }
        const char *word = pons_get_str(risks, table[i].name, NULL);
        p->risk[i] = word ? (pons_tool_risk)risk_of_word(word) : table[i].risk;
        if (table[i].run == pons__terminal && p->risk[i] == PONS_TOOL_DANGEROUS) {
            p->risk[i] = table[i].risk; // of what is on no list, not of ls
        }
        if (!p->offered[i]) {
            continue;
        }
        pons_value *parameters = NULL;
        rc = pons_value_parse(table[i].parameters, strlen(table[i].parameters), &parameters, err);
        if (rc < 0) {
            return pons_error_context(err, "%s", table[i].name);
        }
        json_array_append_new(
            p->list,
            pons_object("name", json_string(table[i].name), "category", json_string("core"),
                        "description", json_string(table[i].description), "parameters", parameters,
                        "risk", json_string(word_of_risk(p->risk[i])), "read_only",
                        json_boolean(table[i].read_only), "address",
                        table[i].run == pons__fetch_url ? json_string("url") : NULL, NULL));
    }
    return PONS_OK;
}

static int find(const provider *p, const char *name)
{
    for (size_t i = 0; i < TOOLS; i++) {
        if (p->offered[i] && strcmp(table[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

// ---- workers ------------------------------------------------------------------------------------

// [mtx]
static job *take_job(provider *p)
{
    for (job *j = p->jobs; j; j = j->next) {
        if (!j->running) {
            j->running = true;
            return j;
        }
    }
    return NULL;
}

// [mtx] A finished job out of the table, unless cancel had done so.
static void retire(provider *p, const job *j)
{
    if (j->dropped) {
        return;
    }
    job **at = &p->jobs;
    while (*at != j) {
        at = &(*at)->next;
    }
    *at = j->next;
    p->jobs_end = *at ? p->jobs_end : at;
    p->n_jobs--;
}

static bool writes(int i)
{
    return table[i].run == pons__write_file || table[i].run == pons__edit_file;
}

static pons_value *result_of(pons__work *w)
{
    return pons_object("output",
                       json_stringn(w->out.data ? w->out.data : "", w->out.data ? w->out.len : 0),
                       "data", w->data ? pons_value_ref(w->data) : NULL, "truncated",
                       w->truncated ? json_true() : NULL, NULL);
}

// One key, one effect. *ret_stored is what an earlier life of this key came to.
static int with_ledger(job *j, pons__work *w, pons_value **ret_stored, pons_error *err)
{
    pons__call_ledger *ledger = w->core->ledger;
    pons_autovalue known = NULL;
    const pons__fate fate = pons__call_ledger_look(ledger, j->key, &known);
    if (fate == PONS__ENDED) {
        *ret_stored = pons_value_ref(known);
        return PONS_OK;
    }
    const bool write = writes((int)(j->tool - table));
    if (fate == PONS__BEGUN && !write) {
        return pons_error_set(err, PONS_ECLOSED, PONS__TOOLS,
                              "the command was begun before, and what it did is not known");
    }
    const int became = fate == PONS__BEGUN ? pons__write_fate(w->core, known) : PONS_ENOTFOUND;
    if (became == PONS_ECLOSED) { // somebody has been at the file since
        return pons_error_set(err, PONS_ECLOSED, PONS__TOOLS,
                              "the write was begun before, and the file has been changed since");
    }
    if (became >= 0) {
        *ret_stored =
            pons_object("output", json_sprintf("wrote %s", pons_get_str(known, "path", "")), NULL);
        return PONS_OK;
    }
    const int rc = j->tool->run(w, err);
    if (rc >= 0) {
        pons_autovalue result = result_of(w);
        pons__call_ledger_end(ledger, j->key, result);
    } else {
        pons_autovalue failure = pons_object("error", json_string(err->message), "status",
                                             json_integer(err->status), NULL);
        pons__call_ledger_end(ledger, j->key, failure);
    }
    return rc;
}

// An event from a stored result: {output…} or {error, status}.
static void give(pons_tool_event *ev, const pons_value *stored)
{
    const char *error = pons_get_str(stored, "error", NULL);
    if (error) {
        ev->kind = PONS_TOOL_FAILED;
        pons_error_set(&ev->error, (int)pons_get_int(stored, "status", PONS_EIO), PONS__TOOLS, "%s",
                       error);
        return;
    }
    ev->kind = PONS_TOOL_DONE;
    ev->value = json_copy((json_t *)stored);
    json_object_set_new(ev->value, "cached", json_true());
}

static void perform(job *j, pons_tool_event *ev)
{
    pons__work w = {.core = &j->p->core,
                    .args = j->args,
                    .key = j->key,
                    .canceled = &j->canceled,
                    .cancel_fd = j->cancel_fd};
    pons_autovalue stored = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc =
        j->tool->ledgered && *j->key ? with_ledger(j, &w, &stored, &err) : j->tool->run(&w, &err);
    if (stored) {
        give(ev, stored);
    } else if (rc < 0) {
        ev->kind = PONS_TOOL_FAILED;
        ev->error = err;
    } else {
        ev->kind = PONS_TOOL_DONE;
        ev->value = result_of(&w);
    }
    pons_buf_fini(&w.out);
    pons_value_unref(w.data);
}

static void job_free(job *j)
{
    pons_value_unref(j->args);
    free(j->key);
    close(j->cancel_fd);
    free(j);
}

static void provider_free(provider *p)
{
    pons_event_queue_fini(&p->events);
    pons__knowledge_close(p->core.knowledge);
    pons__call_ledger_close(p->core.ledger);
    pons__wall_destroy(p->core.wall);
    pons__guards_fini(&p->core);
    pthread_mutex_destroy(&p->core.links_mtx);
    pons_value_unref(p->core.config);
    pons_value_unref(p->list);
    if (p->core.root_fd >= 0) {
        close(p->core.root_fd);
    }
    if (p->core.state_fd >= 0) {
        close(p->core.state_fd);
    }
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->mtx);
    free(p);
}

static void *run_worker(void *arg)
{
    provider *p = arg;
    pthread_mutex_lock(&p->mtx);
    for (;;) {
        job *j = take_job(p);
        if (j) {
            pthread_mutex_unlock(&p->mtx);
            pons_tool_event ev = {.call = j->call};
            perform(j, &ev);
            pons_event_queue_push(&p->events, j->call, &ev, true);
            pthread_mutex_lock(&p->mtx);
            retire(p, j);
            job_free(j);
            continue;
        }
        if (p->quit) {
            break;
        }
        p->waiting++;
        pthread_cond_wait(&p->work, &p->mtx);
        p->waiting--;
    }
    p->workers--;
    pthread_cond_broadcast(&p->idle);
    const bool last = p->abandoned && p->workers == 0;
    pthread_mutex_unlock(&p->mtx);
    if (last) {
        provider_free(p);
    }
    return NULL;
}

// [mtx]
static int start_worker(provider *p, pons_error *err)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    sigfillset(&all); // signals are the host's
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int rc = pthread_create(&thread, &attr, run_worker, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        return pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot start a thread: %s",
                              strerror(rc));
    }
    p->workers++;
    return PONS_OK;
}

static void clear_event(void *event)
{
    pons_tool_event_clear(event);
}

// ---- the contract -------------------------------------------------------------------------------

static void core_close(void *self)
{
    provider *p = self;
    if (!p) {
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_WAIT_S;
    pthread_mutex_lock(&p->mtx);
    p->quit = true;
    job **at = &p->jobs;
    while (*at) {
        job *j = *at;
        *at = j->next;
        p->n_jobs--;
        if (j->running) { // its worker frees it
            j->dropped = true;
            atomic_store_explicit(&j->canceled, true, memory_order_release);
            eventfd_write(j->cancel_fd, 1);
        } else {
            job_free(j);
        }
    }
    p->jobs_end = &p->jobs;
    pthread_cond_broadcast(&p->work);
    while (p->workers > 0 && pthread_cond_timedwait(&p->idle, &p->mtx, &until) != ETIMEDOUT) {
    }
    p->abandoned = p->workers > 0;
    const bool mine = !p->abandoned;
    pthread_mutex_unlock(&p->mtx);
    if (mine) {
        provider_free(p);
    }
}

static int core_list(void *self, pons_value **ret, pons_error *err)
{
    *ret = pons_value_ref(((provider *)self)->list);
    return PONS_OK;
}

static uint64_t core_generation(void *self)
{
    return 1; // the list is made at open and stays
}

static pons_tool_risk core_assess(void *self, const char *name, const pons_value *args,
                                  char *reason, size_t cap)
{
    provider *p = self;
    const int i = find(p, name);
    if (cap > 0) {
        reason[0] = '\0';
    }
    if (i < 0) {
        snprintf(reason, cap, "there is no tool %s", name);
        return PONS_TOOL_BLOCKED;
    }
    if (table[i].run == pons__terminal && p->risk[i] != PONS_TOOL_BLOCKED) {
        const pons_tool_risk here =
            pons__command_risk(&p->core, pons_get_str(args, "command", ""),
                               pons_get_str(args, "cwd", "."), NULL, reason, cap);
        if (here == PONS_TOOL_SAFE) {
            pons__terminal_promise(&p->core, args);
        }
        return here;
    }
    pons_tool_risk risk = p->risk[i];
    if (writes(i)) {
        char path[PATH_MAX];
        pons_error err = PONS_ERROR_INIT;
        if (pons__path_normal(&p->core, pons_get_str(args, "path", ""), path, &err) < 0) {
            snprintf(reason, cap, "%s", err.message);
            risk = PONS_TOOL_BLOCKED;
        } else if (pons__path_protected(&p->core, path)) {
            snprintf(reason, cap, "%s is protected by the configuration", path);
            risk = PONS_TOOL_BLOCKED;
        }
    } else if (table[i].run == pons__fetch_url) {
        const pons_tool_risk own =
            pons__url_risk(&p->core, pons_get_str(args, "url", ""), reason, cap);
        risk = own > risk ? own : risk;
    }
    return risk;
}

static int core_start(void *self, uint64_t call, const char *name, const pons_value *args,
                      const char *key, pons_error *err)
{
    provider *p = self;
    const int i = find(p, name);
    if (i < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "there is no tool %s", name);
    }
    job *j = calloc(1, sizeof *j);
    char *own_key = strdup(key ? key : "");
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!j || !own_key || fd < 0) {
        free(j);
        free(own_key);
        if (fd >= 0) {
            close(fd);
        }
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for a call of %s", name);
    }
    *j = (job){.p = p,
               .call = call,
               .tool = &table[i],
               .args = pons_value_ref(args),
               .key = own_key,
               .cancel_fd = fd};
    int rc = PONS_OK;
    pthread_mutex_lock(&p->mtx);
    if (p->quit) {
        rc = pons_error_set(err, PONS_ECLOSED, PONS__TOOLS, "the tools are closed");
    } else if (p->n_jobs >= QUEUE_MAX) {
        rc =
            pons_error_set(err, PONS_EBUSY, PONS__TOOLS, "%d calls run or wait already", QUEUE_MAX);
    } else if (p->waiting == 0 && p->workers < p->workers_max) {
        rc = start_worker(p, err);
        rc = rc < 0 && p->workers > 0 ? PONS_OK : rc;
    }
    rc = rc < 0 ? rc : pons_event_queue_begin(&p->events, call);
    if (rc >= 0) {
        *p->jobs_end = j;
        p->jobs_end = &j->next;
        p->n_jobs++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->mtx);
    if (rc < 0) {
        job_free(j);
    }
    return rc;
}

static int core_adopt(void *self, uint64_t call, const char *name, const char *key, pons_error *err)
{
    provider *p = self;
    const int i = find(p, name);
    if (i < 0) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__TOOLS, "there is no tool %s", name);
    }
    if (!table[i].ledgered) { // changes nothing: as good as never started
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "%s keeps nothing", name);
    }
    if (!key || !*key) {
        return pons_error_set(err, PONS_ECLOSED, PONS__TOOLS, "a call without a key is not kept");
    }
    pons_autovalue known = NULL;
    const pons__fate fate = pons__call_ledger_look(p->core.ledger, key, &known);
    if (fate == PONS__NEVER) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__TOOLS, "%s was not started", key);
    }
    pons_tool_event ev = {.call = call};
    if (fate == PONS__ENDED) {
        give(&ev, known);
    } else if (writes(i)) {
        const int became = pons__write_fate(&p->core, known);
        if (became < 0) {
            return pons_error_set(err, became, PONS__TOOLS,
                                  became == PONS_ENOTFOUND ? "%s did not reach its file"
                                                           : "%s: the file has been changed since",
                                  key);
        }
        char text[PATH_MAX + 64];
        snprintf(text, sizeof text, "wrote %s", pons_get_str(known, "path", ""));
        pons_autovalue value =
            pons_object("output", json_string(text), "cached", json_true(), NULL);
        pons__call_ledger_end(p->core.ledger, key, value);
        give(&ev, value);
    } else {
        return pons_error_set(err, PONS_ECLOSED, PONS__TOOLS,
                              "the command was begun, and what it did is not known");
    }
    const int rc = pons_event_queue_begin(&p->events, call);
    if (rc < 0) {
        pons_tool_event_clear(&ev);
        return pons_error_set(err, rc, PONS__TOOLS, "no room for the result of %s", key);
    }
    pons_event_queue_push(&p->events, call, &ev, true);
    return PONS_OK;
}

static void core_cancel(void *self, uint64_t call)
{
    provider *p = self;
    pons_event_queue_end(&p->events, call);
    pthread_mutex_lock(&p->mtx);
    for (job **at = &p->jobs; *at; at = &(*at)->next) {
        job *j = *at;
        if (j->call != call) {
            continue;
        }
        *at = j->next;
        p->jobs_end = *at ? p->jobs_end : at;
        p->n_jobs--;
        if (j->running) {
            j->dropped = true;
            atomic_store_explicit(&j->canceled, true, memory_order_release);
            eventfd_write(j->cancel_fd, 1);
        } else {
            job_free(j);
        }
        break;
    }
    pthread_mutex_unlock(&p->mtx);
}

static int core_event_fd(void *self)
{
    return ((provider *)self)->events.fd;
}

// A command as the shell gets it, a write as a diff: what a person says yes to.
static int core_preview(void *self, const char *name, const pons_value *args, pons_value **ret,
                        pons_error *err)
{
    provider *p = self;
    const int i = find(p, name);
    pons_autobuf text = PONS_BUF_INIT;
    const bool command = i >= 0 && table[i].run == pons__terminal;
    if (command) {
        const char *said = pons_get_str(args, "command", ""), *cwd = pons_get_str(args, "cwd", ".");
        pons_buf_str(&text, "in ");
        pons__escape(&text, cwd, strlen(cwd), false);
        pons_buf_str(&text, ": ");
        pons__escape(&text, said, strlen(said), true);
    } else if (i >= 0 && writes(i)) {
        pons__write_preview(&p->core, table[i].run == pons__edit_file, args, &text);
    }
    if (text.failed) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room to show a call");
    }
    *ret = text.len == 0 ? NULL
                         : pons_object("kind", json_string(command ? "command" : "diff"), "text",
                                       json_stringn(text.data, text.len), NULL);
    return PONS_OK;
}

static bool core_next(void *self, pons_tool_event *ret)
{
    return pons_event_queue_next(&((provider *)self)->events, ret);
}

static const pons_tools_ops core_ops = {
    .abi = PONS_TOOL_ABI,
    .name = "core",
    .close = core_close,
    .list = core_list,
    .generation = core_generation,
    .assess = core_assess,
    .start = core_start,
    .adopt = core_adopt,
    .cancel = core_cancel,
    .event_fd = core_event_fd,
    .next = core_next,
    .preview = core_preview,
};

// ---- opening ------------------------------------------------------------------------------------

// With its configuration, its folders and what is guarded in them.
static int provider_make(const pons_value *config, const pons_clock *clock, provider **ret,
                         pons_error *err)
{
    provider *p = calloc(1, sizeof *p);
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for the tools");
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->mtx, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    p->jobs_end = &p->jobs;
    p->core.root_fd = p->core.state_fd = -1;
    pthread_mutex_init(&p->core.links_mtx, NULL);
    p->core.clock = *clock;
    int rc = pons_event_queue_init(&p->events, sizeof(pons_tool_event), clear_event, err);
    rc = rc < 0 ? rc : configure(p, config, err);
    if (rc < 0) {
        provider_free(p);
        return rc;
    }
    *ret = p;
    return PONS_OK;
}

int pons_core_tools_open(const pons_value *config, const pons_clock *clock, pons_tools *ret,
                         pons_error *err)
{
    provider *p = NULL;
    int rc = provider_make(config, clock, &p, err);
    if (rc < 0) {
        return rc;
    }
    rc = make_list(p, err);
    rc = rc < 0 ? rc : pons__call_ledger_open(&p->core, &p->core.ledger, err);
    rc = rc < 0 ? rc : pons__knowledge_open(&p->core, &p->core.knowledge, err);
    if (rc < 0) {
        provider_free(p);
        return rc;
    }
    *ret = (pons_tools){.ops = &core_ops, .self = p};
    return PONS_OK;
}

// ---- a view -------------------------------------------------------------------------------------

int pons_tools_view_open(const pons_value *config, const pons_clock *clock, pons_tools_view **ret,
                         pons_error *err)
{
    provider *p = NULL;
    const int rc = provider_make(config, clock, &p, err);
    if (rc >= 0) {
        *ret = (pons_tools_view *)p;
    }
    return rc;
}

void pons_tools_view_close(pons_tools_view *v)
{
    if (v) {
        provider_free((provider *)v);
    }
}

int pons_tools_view_file(const pons_tools_view *v, const char *path, pons_error *err)
{
    const pons__core *c = &((const provider *)v)->core;
    char normal[PATH_MAX];
    const int rc = pons__path_normal(c, path, normal, err);
    return rc < 0 ? rc : pons__path_look(c, normal, err);
}

bool pons_tools_view_names(const pons_tools_view *v, const char *folder, const char *name,
                           const struct stat *st)
{
    const pons__core *c = &((const provider *)v)->core;
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    return n > 0 && n < (int)sizeof path && !pons__path_hidden(c, path, st);
}

// ---- undo ---------------------------------------------------------------------------------------

static const pons__core *core_of(const pons_tools *t)
{
    return t->ops == &core_ops ? &((provider *)t->self)->core : NULL;
}

int pons_core_tools_writes(const pons_tools *t, pons_value **ret, pons_error *err)
{
    const pons__core *c = core_of(t);
    return c ? pons__versions_list(c, ret, err)
             : pons_error_set(err, PONS_EUNSUPPORTED, PONS__TOOLS, "%s keeps no versions",
                              t->ops->name);
}

int pons_core_tools_undo(const pons_tools *t, size_t steps, bool force, pons_value **ret,
                         pons_error *err)
{
    const pons__core *c = core_of(t);
    if (!c || steps == 0) {
        return pons_error_set(err, c ? PONS_EINVAL : PONS_EUNSUPPORTED, PONS__TOOLS,
                              c ? "undo: expected at least one step" : "%s keeps no versions",
                              t->ops->name);
    }
    return pons__versions_undo(c, steps, force, ret, err);
}
