// child_process.c - children: a body that is started for whoever needs one, and other commands of this program.
#include "app/workspace/context.h"
#include "pons/module.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// In the child: a session of its own, nothing to read, and what it says goes to a file of run/. It keeps nothing of ours
// open: a library's connection that lived on in it would hide from the other side that we have died.
static void set_apart(const char *log)
{
    setsid();
    const int null = open("/dev/null", O_RDONLY);
    const int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600);
    dup2(null, STDIN_FILENO);
    dup2(out >= 0 ? out : null, STDOUT_FILENO);
    dup2(out >= 0 ? out : null, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
}

// fork, but that no signal meant for the child is swallowed by our handlers before it is a program of its own.
static pid_t begin_child(const char *log)
{
    sigset_t all, was;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &was);
    const pid_t pid = fork();
    for (int s = 1; pid == 0 && s < NSIG; s++) {
        struct sigaction is;
        if (sigaction(s, NULL, &is) == 0 && is.sa_handler != SIG_IGN) {
            signal(s, SIG_DFL);
        }
    }
    sigprocmask(SIG_SETMASK, &was, NULL);
    if (pid == 0) {
        set_apart(log);
    }
    return pid;
}

static pid_t start(const app_context *c, const char *log, const char *const *argv, int out)
{
    char self[PATH_MAX], path[PATH_MAX + 128];
    snprintf(self, sizeof self, "%s/pons", pons_exe_dir());
    snprintf(path, sizeof path, "%s/%.100s", c->run_dir, log);
    const pid_t pid = begin_child(path);
    if (pid != 0) {
        return pid;
    }
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
    }
    execv(self, (char *const *)(uintptr_t)argv);
    _exit(EXIT_ENVIRONMENT);
}

pid_t app_child_start(const app_context *c, const char *log, const char *const *argv)
{
    return start(c, log, argv, -1);
}

pid_t app_child_read(const app_context *c, const char *log, const char *const *argv, int *ret_fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -1;
    }
    const pid_t pid = start(c, log, argv, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *ret_fd = ends[0];
    return pid;
}

bool app_child_await(pid_t pid, int most_ms, int *ret_status)
{
    enum { LOOK_MS = 10 };
    int status = 0;
    bool ended = false;
    for (int waited = 0; !ended && waited < most_ms; waited += LOOK_MS) {
        ended = waitpid(pid, &status, WNOHANG) != 0;
        if (!ended) {
            poll(NULL, 0, LOOK_MS);
        }
    }
    if (!ended) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    if (ret_status) {
        *ret_status = status;
    }
    return ended;
}

static pid_t start_body(const app_context *c, const app_body_how *how)
{
    char self[PATH_MAX], log[PATH_MAX + 16], speed[32], seed[32];
    snprintf(self, sizeof self, "%s/pons", pons_exe_dir());
    snprintf(log, sizeof log, "%s/body.log", c->run_dir);
    snprintf(speed, sizeof speed, "%.17g", how->speed);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)how->seed);
    const char *argv[17] = {"pons",      "body",    "--workspace", c->workspace, "--driver",
                            how->driver, "--world", how->world,    "--speed",    speed,
                            "--seed",    seed,      "--for-run"};
    size_t n = 13;
    if (how->ros2) {
        argv[n++] = "--ros2";
    }
    if (how->skills) {
        argv[n++] = "--skills";
        argv[n++] = how->skills;
    }
    const pid_t pid = begin_child(log);
    if (pid != 0) {
        return pid;
    }
    execv(self, (char *const *)(uintptr_t)argv);
    _exit(EXIT_ENVIRONMENT);
}

void app_body_child_start(app_body_child *b, const app_context *c, const app_body_how *how,
                          int64_t now_ms, int most, int64_t every_ms)
{
    if (b->pid || b->starts >= most || (b->tried_ms && now_ms - b->tried_ms < every_ms)) {
        return;
    }
    const pid_t pid = start_body(c, how);
    b->pid = pid > 0 ? pid : 0;
    b->tried_ms = now_ms;
    b->starts++;
}

bool app_body_child_ended(app_body_child *b, int *ret_status)
{
    int status = 0;
    if (!b->pid || waitpid(b->pid, &status, WNOHANG) != b->pid) {
        return false;
    }
    b->pid = 0;
    if (ret_status) {
        *ret_status = status;
    }
    return true;
}

void app_body_child_end(app_body_child *b)
{
    if (b->pid) {
        kill(b->pid, SIGTERM);
        waitpid(b->pid, NULL, 0);
        b->pid = 0;
    }
}
