// notify_command.c - a command of this machine that tells a person something; see notify.c.
//
// No shell: a word of the configuration stays one argument, whatever was said. The command gets no more of the
// environment than a desktop's notifier wants, and is a process group of its own, which is killed as one. What it
// prints comes by a pipe: the robot's disk has its store, and no command may fill it.
#include "app/notify/notify_command.h"

#include "pons/buf.h"
#include "pons/out_of_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    COMMAND_MS = 20000,
    TURN_MS = 20,
    PIECE = 65536,              // bytes taken of what it prints in a turn
    PRINTED_MAX = PIECE,        // and kept of one command
    LOG_MAX_BYTES = 1024 * 1024 // of the log; one older file is kept
};

// {text} and {kind} in an argument are what is told: an argument stays one.
static char *fill(const char *word, const pons_value *body)
{
    static const char *const names[] = {"text", "kind", "thread", "id"};
    pons_buf out = PONS_BUF_INIT;
    while (*word) {
        bool filled = false;
        for (size_t i = 0; i < sizeof names / sizeof names[0] && *word == '{' && !filled; i++) {
            const size_t n = strlen(names[i]);
            filled = strncmp(word + 1, names[i], n) == 0 && word[1 + n] == '}';
            if (filled) {
                pons_buf_str(&out, pons_get_str(body, names[i], ""));
                word += n + 2;
            }
        }
        if (!filled) {
            pons_buf_bytes(&out, word++, 1);
        }
    }
    return out.data ? out.data : pons_need_text("");
}

// What a notifier of a desktop wants, and no key of a model.
static char **own_environment(void)
{
    static const char *const names[] = {"PATH",
                                        "HOME",
                                        "USER",
                                        "LOGNAME",
                                        "LANG",
                                        "LC_ALL",
                                        "TZ",
                                        "DISPLAY",
                                        "WAYLAND_DISPLAY",
                                        "XAUTHORITY",
                                        "XDG_RUNTIME_DIR",
                                        "DBUS_SESSION_BUS_ADDRESS"};
    char **env = pons_need_zeroed(sizeof names / sizeof names[0] + 1, sizeof *env);
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value) {
            pons_autobuf one = PONS_BUF_INIT;
            pons_buf_printf(&one, "%s=%s", names[i], value);
            env[n++] = pons_need_text(one.data);
        }
    }
    return env;
}

static void free_all(char **list)
{
    for (size_t i = 0; list && list[i]; i++) {
        free(list[i]);
    }
    free(list);
}

// Behind what is in the log. One that cannot be written is silent.
static void keep(const char *log, const char *bytes, size_t n)
{
    struct stat st;
    if (stat(log, &st) == 0 && st.st_size + (off_t)n > LOG_MAX_BYTES) {
        char older[PATH_MAX + 4];
        snprintf(older, sizeof older, "%s.1", log);
        rename(log, older);
    }
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    const ssize_t put = fd >= 0 ? write(fd, bytes, n) : 0;
    (void)put;
    if (fd >= 0) {
        close(fd);
    }
}

// What has been printed: up to *room bytes of it are kept.
static void hear(int out, const char *log, size_t *room)
{
    char piece[4096];
    ssize_t n = 0;
    for (size_t taken = 0; taken < PIECE && (n = read(out, piece, sizeof piece)) > 0;
         taken += (size_t)n) {
        const size_t kept = (size_t)n < *room ? (size_t)n : *room;
        if (kept > 0) {
            keep(log, piece, kept);
        }
        if (*room > 0 && kept == *room) {
            keep(log, "\n[…]\n", strlen("\n[…]\n"));
        }
        *room -= kept;
    }
}

static pid_t start(char **argv, const char *log, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    pid_t pid = -1;
    char **env = own_environment();
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    const int why = posix_spawnp(&pid, argv[0], &files, &attr, argv, env);
    if (why != 0) {
        char line[256];
        const int n = snprintf(line, sizeof line, "%.128s: %s\n", argv[0], strerror(why));
        keep(log, line, (size_t)n);
        pid = -1;
    }
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    free_all(env);
    return pid;
}

bool app_notify_command(const pons_value *words, const pons_value *body, const char *text,
                        const char *log, int end)
{
    const size_t count = json_array_size(words);
    int in[2] = {-1, -1}, out[2] = {-1, -1}, status = 0;
    size_t room = PRINTED_MAX;
    if (pipe2(in, O_CLOEXEC) < 0) {
        return false;
    }
    if (pipe2(out, O_CLOEXEC) < 0) {
        close(in[0]);
        close(in[1]);
        return false;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    char **argv = pons_need_zeroed(count + 1, sizeof *argv);
    for (size_t i = 0; i < count; i++) {
        argv[i] = fill(json_string_value(json_array_get(words, i)), body);
    }
    const pid_t pid = start(argv, log, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    const ssize_t sent = pid > 0 ? write(in[1], text, strlen(text)) : 0; // a pipe has room for it
    (void)sent;
    close(in[1]);
    free_all(argv);
    struct pollfd p = {.fd = end, .events = POLLIN};
    bool killed = pid <= 0;
    for (int waited = 0; !killed && waitpid(pid, &status, WNOHANG) == 0; waited += TURN_MS) {
        killed = poll(&p, 1, TURN_MS) > 0 || waited > COMMAND_MS;
        hear(out[0], log, &room);
        if (killed) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
        }
    }
    hear(out[0], log, &room);
    close(out[0]);
    return !killed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
