// camera_child.c - a picture for a client: `pons body camera` in a process of its own.
//
// What draws a simulated camera (a physics library, a context to draw in) and what opens a device is
// none of the server's, and may take as long as it likes up to PATIENCE_MS.
#include "app/pictures/pictures.h"
#include "pons/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 8000, BYTES_MAX = 8 << 20 };

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
    const pid_t pid = app_child_start(c, "camera.log", argv);
    int status = -1;
    size_t n = 0;
    const bool good = pid > 0 && app_child_await(pid, PATIENCE_MS, &status) && status == 0;
    char *data = good ? pons_file_text(path, BYTES_MAX, &n) : NULL;
    unlink(path);
    if (!data || n == 0 || n > BYTES_MAX) {
        free(data);
        data = NULL;
    }
    *ret = data;
    *ret_n = data ? n : 0;
    return data ? PONS_OK
                : pons_error_set(err, PONS_ENOTFOUND, "camera",
                                 "camera %s gives no picture; `pons body camera %s` says why", name,
                                 name);
}
