// relay.c - see relay.h.
#include "relay.h"

#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

relay *relay_open(const char *ns, uint32_t domain)
{
    const char *python = getenv("PONS_ROS2_RELAY");
    char number[16];
    int in[2], out[2];
    posix_spawn_file_actions_t ends;
    if (!python) {
        return NULL;
    }
    relay *r = calloc(1, sizeof *r);
    assert_non_null(r);
    snprintf(number, sizeof number, "%u", domain);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&ends);
    posix_spawn_file_actions_adddup2(&ends, in[0], 0);
    posix_spawn_file_actions_adddup2(&ends, out[1], 1);
    const char *argv[] = {python, PONS_SOURCE_DIR "/tests/ros2/relay.py", ns, number, NULL};
    assert_int_equal(
        posix_spawn(&r->pid, python, &ends, NULL, (char *const *)(uintptr_t)argv, environ), 0);
    posix_spawn_file_actions_destroy(&ends);
    close(in[0]);
    close(out[1]);
    r->in = in[1];
    r->out = out[0];
    return r;
}

void relay_close(relay *r)
{
    if (r) {
        close(r->in); // it ends by that; what it says meanwhile is nobody's
        close(r->out);
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
        free(r);
    }
}

static void put(relay *r, const void *bytes, size_t n)
{
    for (const char *p = bytes; n > 0;) {
        const ssize_t wrote = write(r->in, p, n);
        if (wrote <= 0) {
            fail_msg("the relay has ended");
        }
        p += wrote;
        n -= (size_t)wrote;
    }
}

void relay_say(relay *r, const relay_word *word, const float *ranges)
{
    put(r, word, sizeof *word);
    put(r, ranges, sizeof *ranges * (size_t)word->n_ranges);
}

bool relay_take(relay *r, pons_twist2 *ret)
{
    struct {
        char kind;
        double v, w;
    } said;
    struct pollfd fd = {.fd = r->out, .events = POLLIN};
    while (poll(&fd, 1, 0) > 0) {
        if (read(r->out, &said, sizeof said) != (ssize_t)sizeof said) { // written at once, so whole
            fail_msg("the relay has ended");
        }
        if (said.kind == 'C') {
            *ret = (pons_twist2){said.v, said.w};
            return true;
        }
        r->matched = true;
    }
    return false;
}
