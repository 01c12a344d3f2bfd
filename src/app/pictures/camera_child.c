// camera_child.c - a picture for a client: `pons body camera` in a process of its own.
//
// What draws a simulated camera (a physics library, a context to draw in) and what opens a device is
// none of the server's, and may take as long as it likes up to PATIENCE_MS.
#include "app/pictures/pictures.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 8000
#define LOOK_MS     10
#define BYTES_MAX   (8L * 1024 * 1024)

static int read_back(const char *path, char **ret, size_t *ret_n)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *data = NULL;
    size_t n = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size < BYTES_MAX) {
        data = malloc((size_t)st.st_size);
        for (ssize_t got = 1; data && n < (size_t)st.st_size && got > 0;
             n += got > 0 ? (size_t)got : 0) {
            got = read(fd, data + n, (size_t)st.st_size - n);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    *ret = data;
    *ret_n = n;
    return data ? PONS_OK : PONS_EIO;
}

// Its end, or its end by force; whether it was a good one.
static bool await(pid_t pid)
{
    int status = 0;
    for (int waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
        if (waitpid(pid, &status, WNOHANG) == pid) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        poll(NULL, 0, LOOK_MS);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return false;
}

int app_camera_picture(const app_context *c, const char *name, char **ret, size_t *ret_n,
                       pons_error *err)
{
    char path[PATH_MAX + 32], arg[64];
    snprintf(path, sizeof path, "%s/camera-XXXXXX.jpg", c->run_dir);
    snprintf(arg, sizeof arg, "%s", name);
    const int fd = mkstemps(path, (int)strlen(".jpg"));
    if (fd < 0) {
        return pons_error_set(err, PONS_EENV, "camera", "no file for a picture");
    }
    close(fd);
    const char *argv[14] = {"pons",  "body", "camera",      arg,
                            "--out", path,   "--workspace", c->workspace};
    const char *const meant[][2] = {{"--world", c->world}, {"--driver", c->driver}};
    for (size_t i = 0, n = 8; i < 2; i++) { // as they were typed
        if (meant[i][1]) {
            argv[n++] = meant[i][0];
            argv[n++] = meant[i][1];
        }
    }
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int rc =
        posix_spawn(&pid, "/proc/self/exe", &quiet, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    const bool taken = rc == 0 && await(pid) && read_back(path, ret, ret_n) >= 0;
    unlink(path);
    return taken ? PONS_OK
                 : pons_error_set(err, PONS_ENOTFOUND, "camera",
                                  "camera %s gives no picture; `pons body camera %s` says why",
                                  name, name);
}
