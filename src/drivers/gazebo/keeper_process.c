// keeper_process.c - see keeper_process.h.
#include "drivers/gazebo/keeper_process.h"

#include "drivers/gazebo/keeper.h"
#include "drivers/outlet.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULE   "gazebo"
#define AGAIN_NS PONS_NS_PER_S       // between two starts
#define HANGS_NS (3 * PONS_NS_PER_S) // without a word; then it is ended

// Its end of the socket is its standard input; it has nothing else of ours, and a process group of its own, so
// that what ends ours does not end it.
static int begin(gazebo_keep *k, pons_error *err)
{
    int ends[2];
    k->again_ns = pons__host_now() + AGAIN_NS;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        return pons_error_set(err, PONS_EENV, MODULE, "cannot make a socket: %s", strerror(errno));
    }
    char *argv[] = {k->path, (char *)(uintptr_t)k->partition, (char *)(uintptr_t)k->topic, NULL};
    sigset_t none, all;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    const int rc = posix_spawn(&k->pid, k->path, &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (rc != 0) {
        close(ends[0]);
        k->pid = 0;
        return pons_error_set(err, PONS_EENV, MODULE, "cannot start %s: %s", k->path, strerror(rc));
    }
    pthread_mutex_lock(&k->mtx);
    atomic_store(&k->gone, false);
    k->fd = ends[0];
    pthread_mutex_unlock(&k->mtx);
    return PONS_OK;
}

int gazebo_keep_open(gazebo_keep *k, const void *of, const char *partition, const char *topic,
                     pons_error *err)
{
    Dl_info at;
    char whole[PATH_MAX];
    k->partition = partition;
    k->topic = topic;
    if (!dladdr(of, &at) || !at.dli_fname || !realpath(at.dli_fname, whole)) {
        return pons_error_set(err, PONS_EENV, MODULE, "cannot tell where the module lies");
    }
    const char *slash = strrchr(whole, '/');
    const int n = snprintf(k->path, sizeof k->path, "%.*s%s", (int)(slash - whole + 1), whole,
                           GAZEBO_KEEPER_NAME);
    if (n >= (int)sizeof k->path) {
        return pons_error_set(err, PONS_EENV, MODULE, "the module's path is too long");
    }
    return begin(k, err);
}

// Whoever beats hears it too, for who minds may wait long for a service.
static void hear(gazebo_keep *k)
{
    char word;
    ssize_t n = -1;
    pthread_mutex_lock(&k->mtx);
    while (k->fd >= 0 && (n = recv(k->fd, &word, 1, MSG_DONTWAIT)) > 0) {
        atomic_store(&k->received, word == GAZEBO_KEEPER_HEARD);
        atomic_store(&k->said_ns, pons__host_now());
    }
    if (k->fd >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
        atomic_store(&k->gone, true);
        atomic_store(&k->received, false);
    }
    pthread_mutex_unlock(&k->mtx);
}

// False: there is nobody.
static bool say(gazebo_keep *k, char word)
{
    pthread_mutex_lock(&k->mtx);
    const bool there =
        k->fd < 0 || send(k->fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN;
    pthread_mutex_unlock(&k->mtx);
    return there;
}

void gazebo_keep_beat(gazebo_keep *k, bool moves)
{
    hear(k); // what a dead one has said does not count any more
    if (!say(k, moves ? GAZEBO_KEEPER_MOVES : GAZEBO_KEEPER_STANDS)) {
        atomic_store(&k->gone, true);
        atomic_store(&k->received, false);
    }
}

bool gazebo_keep_ready(gazebo_keep *k, int64_t host_ns)
{
    return atomic_load_explicit(&k->received, memory_order_relaxed) &&
           host_ns - atomic_load_explicit(&k->said_ns, memory_order_relaxed) <
               GAZEBO_KEEPER_HANGS_MS * PONS_NS_PER_MS;
}

// One that hangs is not waited for: without our end of the socket it has nothing to do.
static void end(gazebo_keep *k)
{
    pthread_mutex_lock(&k->mtx);
    atomic_store(&k->received, false);
    if (k->fd >= 0) {
        close(k->fd);
        k->fd = -1;
    }
    pthread_mutex_unlock(&k->mtx);
    if (k->pid > 0) {
        for (int i = 0; i < GAZEBO_KEEPER_END_MS && waitpid(k->pid, NULL, WNOHANG) == 0; i++) {
            nanosleep(&(struct timespec){.tv_nsec = PONS_NS_PER_MS}, NULL);
        }
        if (waitpid(k->pid, NULL, WNOHANG) == 0) {
            kill(k->pid, SIGKILL);
            waitpid(k->pid, NULL, 0);
        }
        k->pid = 0;
    }
}

void gazebo_keep_mind(gazebo_keep *k)
{
    hear(k);
    // One that hangs would not stop the robot either. A new one is given time to begin.
    const int64_t now = pons__host_now(), said_ns = atomic_load(&k->said_ns);
    const bool hangs = now - said_ns > HANGS_NS && now - k->again_ns > HANGS_NS;
    if ((atomic_load(&k->gone) || hangs) && now >= k->again_ns) {
        if (hangs && k->pid > 0) {
            kill(k->pid, SIGKILL);
        }
        end(k);
        (void)begin(k, NULL); // later again; meanwhile the robot stands
    }
}

void gazebo_keep_close(gazebo_keep *k)
{
    (void)say(k, GAZEBO_KEEPER_BYE);
    end(k);
}
