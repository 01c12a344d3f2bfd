// dot_svg.c - graphviz' `dot` gets its text from an unlinked file and writes to a pipe, which is
// read to its end. No shell is asked, so nothing but this function speaks when dot is missing.
#include "pons/dot_svg.h"

#include "pons/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULE "picture"

// Starts `dot -Tsvg` between the two descriptors; PONS_EENV when it is not there.
static int start_dot(int in, int out, pid_t *ret, pons_error *err)
{
    char *argv[] = {(char[]){"dot"}, (char[]){"-Tsvg"}, NULL};
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to start dot");
    }
    int rc = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    }
    if (rc == 0) {
        rc = posix_spawnp(ret, "dot", &files, NULL, argv, environ);
    }
    posix_spawn_file_actions_destroy(&files);
    if (rc == 0) {
        return PONS_OK;
    }
    pons_error_set(err, PONS_EENV, MODULE,
                   "a drawing as svg needs graphviz's program dot (Debian: graphviz)");
    pons_error_cause(err, "%s", strerror(rc));
    return PONS_EENV;
}

static int read_all(int fd, pons_buf *b)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return PONS_EIO;
        }
        pons_buf_bytes(b, chunk, (size_t)n);
    }
    return b->failed ? PONS_ENOMEM : PONS_OK;
}

int pons_picture_svg(const char *dot, char **ret, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    int st = PONS_OK, status = 0;
    int in = memfd_create("picture.dot", MFD_CLOEXEC), out[2] = {-1, -1};
    const size_t n = strlen(dot);
    pid_t pid = 0;
    if (in < 0 || pipe2(out, O_CLOEXEC) != 0 || write(in, dot, n) != (ssize_t)n ||
        lseek(in, 0, SEEK_SET) != 0) {
        st = pons_error_set(err, PONS_EIO, MODULE, "cannot hand a drawing to dot");
    }
    if (st == PONS_OK) {
        st = start_dot(in, out[1], &pid, err);
    }
    if (out[1] >= 0) {
        close(out[1]); // so that the read ends with the program
    }
    if (st == PONS_OK) {
        st = read_all(out[0], &b);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (st != PONS_OK || status != 0) {
            st = pons_error_set(err, PONS_EENV, MODULE, "graphviz's program dot could not draw it");
        }
    }
    if (out[0] >= 0) {
        close(out[0]);
    }
    if (in >= 0) {
        close(in);
    }
    if (st != PONS_OK) {
        return st;
    }
    *ret = pons_buf_take(&b, NULL);
    return *ret ? PONS_OK : pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a drawing");
}
