// gazebo_server.c - see gazebo_server.h.
#include "gazebo_server.h"

#include "conformance.h"
#include "pons/module.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER PONS_BINARY_DIR "/tests/gazebo_peer"

const pons_robot_ops *gazebo_ops;
static int made; // so many servers
static char scratch[] = "/tmp/pons-gazebo-XXXXXX";

bool gazebo_load(int *ret_code)
{
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    const int rc = pons_module_load("driver", "gazebo", &loaded, &err);
    if (rc >= 0) {
        gazebo_ops = loaded;
        return true;
    }
    char line[1024];
    printf("%s%s\n", rc == PONS_ENOTFOUND ? "skipped: built without Ignition Transport: " : "",
           pons_error_line(&err, line, sizeof line));
    *ret_code = rc == PONS_ENOTFOUND ? 0 : 1;
    return false;
}

bool gazebo_begin(void)
{
    setenv("IGN_IP", "127.0.0.1", 1);
    return mkdtemp(scratch) != NULL;
}

int gazebo_end(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command) != 0;
}

void gazebo_say(gazebo_server *s, const char *word)
{
    fprintf(s->in, "%s\n", word);
    fflush(s->in);
}

void gazebo_expect(gazebo_server *s, const char *what)
{
    for (;;) {
        char *end = memchr(s->text, '\n', s->n);
        if (end) {
            *end = '\0';
            const bool found = strstr(s->text, what) != NULL;
            const size_t used = (size_t)(end - s->text) + 1;
            memmove(s->text, s->text + used, s->n -= used);
            if (found) {
                return;
            }
            continue;
        }
        struct pollfd fd = {.fd = s->out, .events = POLLIN};
        if (poll(&fd, 1, WAIT_MS) <= 0) {
            fail_msg("the peer did not say %s", what);
        }
        const ssize_t got = read(s->out, s->text + s->n, sizeof s->text - s->n);
        if (got <= 0) {
            fail_msg("the peer has ended before it said %s", what);
        }
        s->n += (size_t)got;
    }
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

gazebo_server *gazebo_set_up(const char *config, char partition[64])
{
    gazebo_server *s = calloc(1, sizeof *s);
    char path[128], text[512];
    snprintf(partition, 64, "pons-test-%d-%d", (int)getpid(), ++made);
    snprintf(s->workspace, sizeof s->workspace, "%s/%d", scratch, made);
    assert_int_equal(mkdir(s->workspace, 0700), 0);
    snprintf(path, sizeof path, "%s/config", s->workspace);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/config/gazebo.yaml", s->workspace);
    snprintf(text, sizeof text, "partition: %s\n%s\n", partition, config);
    put(path, text);
    return s;
}

gazebo_server *gazebo_serve(const pons_value *world, const char *const *more, const char *config)
{
    char path[128], partition[64], *json = NULL;
    gazebo_server *s = gazebo_set_up(config, partition);
    assert_true(pons_value_dump(world, &json) > 0);
    snprintf(path, sizeof path, "%s/world.yaml", s->workspace);
    put(path, json);
    free(json);
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    const char *argv[16] = {PEER, path};
    for (int i = 0; more && more[i]; i++) {
        argv[2 + i] = more[i];
    }
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        setenv("IGN_PARTITION", partition, 1);
        dup2(in[0], 0);
        dup2(out[1], 1);
        execv(PEER, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s->in = fdopen(in[1], "w");
    s->out = out[0];
    gazebo_expect(s, "ready");
    return s;
}

void gazebo_unserve(gazebo_server *s)
{
    fclose(s->in);
    close(s->out);
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    free(s);
}
