// text_tasks.c - a task in words, as a run of its own beside the watchdog.
//
//     start --fork--> pons run --new TASK --thread hal-KEY --ends--> 0 done   1 failed
//     adopt --fork--> pons resume hal-KEY                      4 a person is asked: resumed until it is answered
//                                                              3 somebody still has the thread: tried again
//                                                              killed: resumed, or begun where it had not begun
//
// Both with --errand: the workspace's files stay the watchdog's, also when it dies and the run does not.
//
// A life that was killed may leave a run that has not begun its thread yet: two of them, and the second to have the thread
// finds that it is not new (3), whatever the first has done with it meanwhile.
#include "app/watchdog/watchdog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHERE     "errand"
#define AGAIN_MS  1000
#define TRIES_MAX 60 // of a thread that somebody has
#define LIVES_MAX 4  // of a run that is killed, or dies by itself

typedef struct text_task {
    app_context c; // a copy: where the workspace is
    uint64_t call; // 0: none runs
    char thread[64], task[4096];
    pid_t pid; // 0: it waits for its next try
    int64_t again_ms;
    int tries, lives;
    bool canceled;
} text_task;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// What it has to say goes to run/errand.log. task NULL: resumed.
static pid_t spawn(const text_task *e, const char *task)
{
    // It means the same robot; what was not typed is config.json's for both.
    const char *run[16] = {"pons",  "--workspace", e->c.workspace, "run",
                           "--new", "--errand",    "--thread",     e->thread};
    size_t n = 8;
    if (e->c.driver) {
        run[n++] = "--driver";
        run[n++] = e->c.driver;
    }
    if (e->c.world) {
        run[n++] = "--world";
        run[n++] = e->c.world;
    }
    run[n++] = "--";
    run[n++] = task;
    const char *const resume[] = {"pons",    "--workspace", e->c.workspace, "resume", "--errand",
                                  e->thread, NULL};
    return app_child_start(&e->c, "errand.log", task ? run : resume);
}

static int list(void *self, pons_value **ret, pons_error *err)
{
    *ret = json_pack("[{ss}]", "name", "real_execute");
    return PONS_OK;
}

static int begin(text_task *e, uint64_t call, const char *key, const char *task, pons_error *err)
{
    if (e->call) {
        return pons_error_set(err, PONS_EBUSY, WHERE, "another task is under way");
    }
    snprintf(e->thread, sizeof e->thread, "%.60s", key);
    snprintf(e->task, sizeof e->task, "%s", task ? task : "");
    e->pid = spawn(e, task);
    if (e->pid < 0) {
        e->pid = 0;
        pons_error_set(err, PONS_EENV, WHERE, "cannot start a run");
        return pons_error_cause(err, "%s", strerror(errno));
    }
    e->call = call;
    e->tries = 0;
    e->lives = 1;
    e->canceled = false;
    return PONS_OK;
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    const char *task = pons_get_str(args, "nl_task", NULL);
    if (strcmp(tool, "real_execute") != 0 || !task ||
        strlen(task) >= sizeof((text_task *)0)->task) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "no task in words: %.60s", tool);
    }
    return begin(self, call, key, task, err);
}

static bool is_begun(text_task *e, const char *thread)
{
    pons_store store = {0};
    pons_error ignored = PONS_ERROR_INIT;
    int64_t last = 0;
    int rc = app_store(&e->c, &store, &ignored);
    rc = rc < 0 ? rc : store.ops->event_last(store.self, thread, &last, &ignored);
    pons_store_close(&store);
    return rc >= 0 && last > 0;
}

static int adopt(void *self, uint64_t call, const char *tool, const char *key, pons_error *err)
{
    text_task *e = self;
    if (!is_begun(e, key)) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "it was not begun");
    }
    return begin(e, call, key, NULL, err);
}

static void cancel(void *self, uint64_t call)
{
    text_task *e = self;
    if (e->call == call) {
        e->canceled = true;
        if (e->pid) {
            kill(e->pid, SIGTERM);
        }
    }
}

static int event_fd(void *self)
{
    return -1;
}

// The last line that says something.
static void last_words(const text_task *e, char *ret, size_t cap)
{
    char path[PATH_MAX + 16], line[512];
    snprintf(path, sizeof path, "%s/errand.log", e->c.run_dir);
    FILE *f = fopen(path, "r");
    snprintf(ret, cap, "see run/errand.log");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        const char *said = line + strspn(line, " ");
        if (strncmp(said, "done ", 5) == 0 || strncmp(said, "pons: ", 6) == 0) {
            snprintf(ret, cap, "%s", said);
        }
    }
    if (f) {
        fclose(f);
    }
}

static bool next(void *self, pons_tool_event *ret)
{
    text_task *e = self;
    int status = 0;
    char said[400];
    if (!e->call) {
        return false;
    }
    if (!e->pid) {
        if (!e->canceled && now_ms() >= e->again_ms) {
            e->pid = spawn(e, is_begun(e, e->thread) ? NULL : e->task);
            e->pid = e->pid < 0 ? 0 : e->pid;
        }
        return false;
    }
    if (waitpid(e->pid, &status, WNOHANG) != e->pid) {
        return false;
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    e->pid = 0;
    if (!e->canceled &&
        (code == EXIT_WAITING || (code == EXIT_ENVIRONMENT && e->tries++ < TRIES_MAX) ||
         (code < 0 && e->lives++ < LIVES_MAX))) {
        e->again_ms = now_ms() + (code < 0 ? 0 : AGAIN_MS);
        return false;
    }
    *ret = (pons_tool_event){.call = e->call};
    e->call = 0;
    last_words(e, said, sizeof said);
    if (e->canceled) {
        return false;
    }
    if (code == EXIT_DONE) {
        ret->kind = PONS_TOOL_DONE;
        ret->value = pons_object("output", json_string("done"), "data",
                                 pons_object("thread", json_string(e->thread), NULL), NULL);
        return true;
    }
    ret->kind = PONS_TOOL_FAILED;
    pons_error_set(&ret->error, code < 0 ? PONS_ECLOSED : PONS_ECANCELED, WHERE, "%s", said);
    return true;
}

// The run leaves what it does as it is; the next life takes it up by its thread.
static void close_text_task(void *self)
{
    text_task *e = self;
    if (e && e->pid) {
        kill(e->pid, SIGTERM);
        waitpid(e->pid, NULL, 0);
    }
    free(e);
}

static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                   .name = "errands",
                                   .close = close_text_task,
                                   .list = list,
                                   .start = start,
                                   .adopt = adopt,
                                   .cancel = cancel,
                                   .event_fd = event_fd,
                                   .next = next};

int app_text_tasks_open(const app_context *c, pons_tools *ret, pons_error *err)
{
    text_task *e = calloc(1, sizeof *e);
    if (!e) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for tasks in words");
    }
    e->c = *c;
    *ret = (pons_tools){&ops, e};
    return PONS_OK;
}
