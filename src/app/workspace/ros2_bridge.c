// ros2_bridge.c - `pons body ros2`, which shows a body to ROS 2, and the one that `pons body --ros2` starts.
//
// It is a process of its own (ext/bridge.h): whoever starts it waits for its line "ready", so that a wrong
// configuration ends the command and not only the bridge.
#include "app/workspace/context.h"
#include "pons/ext/bridge.h"
#include "pons/file.h"
#include "pons/module.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_MS 20000
#define LOCK_MS  3000 // the one of a body that has just died ends a moment after it

static volatile sig_atomic_t quit;

static void on_signal(int number)
{
    quit = 1;
}

typedef struct shown {
    const app_context *c;
    const char *world; // NULL: the body says
} shown;

static int find_world(void *user, const char *name, pons_value **ret, pons_error *err)
{
    const shown *s = user;
    return app_world(s->world ? s->world : name, ret, err);
}

static void ready(void *user)
{
    static const char line[] = "ready\n";
    const ssize_t n = write(STDOUT_FILENO, line, strlen(line));
    (void)n; // who has started this one has gone
}

static void tell(void *user, const char *line)
{
    const shown *s = user;
    app_tell(s->c, "pons: ros2: %s", line);
}

// Two would both serve the robot's actions, and a client would hear of the one what the other does not do. Kept until
// this process ends.
static int be_the_only_one(const app_context *c, pons_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/ros2.lock", c->run_dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return pons_error_set(err, PONS_EIO, "body", "cannot open %.200s: %s", path,
                              strerror(errno));
    }
    if (pons_file_lock(fd, LOCK_MS) < 0) {
        close(fd);
        return app_lacks(err, "another process shows this body to ROS 2 already [%.200s]", path);
    }
    return PONS_OK;
}

int app_bridge_run(const app_context *c, const char *world, bool once, pons_error *err)
{
    const void *found = NULL;
    int rc = app_workspace(c, true, err);
    rc = rc < 0 ? rc : pons_module_load_of("bridge", "ros2", PONS_BRIDGE_ABI, &found, err);
    const pons_bridge_ops *ops = found;
    rc = rc < 0 ? rc : be_the_only_one(c, err);
    rc = rc < 0 ? rc : pons_body_confine(err);
    if (rc < 0) {
        return rc;
    }
    shown s = {c, world};
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    const pons_bridge_options o = {.run_dir = c->run_dir,
                                   .workspace = c->workspace,
                                   .once = once,
                                   .world = find_world,
                                   .ready = ready,
                                   .tell = tell,
                                   .user = &s,
                                   .quit = &quit};
    return ops->run(&o, err);
}

// In the child: what it says goes where ours goes, but the line "ready".
static void become(const app_context *c, const char *world, int says)
{
    char self[PATH_MAX + 8];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    snprintf(self, sizeof self, "%s/pons", pons_exe_dir());
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(says, STDOUT_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    execl(self, "pons", "body", "ros2", "--workspace", c->workspace, "--world", world, "--for-run",
          (char *)NULL);
    _exit(EXIT_ENVIRONMENT);
}

int app_bridge_start(const app_context *c, const char *world, pid_t *ret, pons_error *err)
{
    int says[2];
    char line[16] = "";
    if (pipe2(says, O_CLOEXEC) < 0) {
        return pons_error_set(err, PONS_EENV, "body", "cannot make a pipe: %s", strerror(errno));
    }
    const pid_t pid = fork();
    if (pid == 0) {
        become(c, world, says[1]);
    }
    close(says[1]);
    struct pollfd p = {.fd = says[0], .events = POLLIN};
    if (pid > 0 && poll(&p, 1, READY_MS) > 0 && read(says[0], line, sizeof line - 1) > 0 &&
        strncmp(line, "ready", 5) == 0) {
        close(says[0]);
        *ret = pid;
        return PONS_OK;
    }
    close(says[0]);
    app_bridge_end(pid);
    return pons_error_set(err, PONS_EENV, "body",
                          "the body cannot be shown to ROS 2; why was said above");
}

void app_bridge_end(pid_t pid)
{
    if (pid > 0) {
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
    }
}
