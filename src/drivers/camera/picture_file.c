// picture_file.c - pictures as files, depth as NumPy reads it.
#include "drivers/camera/camera.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE "camera"

static int io_error(const char *path, pons_error *err)
{
    pons_error_set(err, PONS_EIO, MODULE, "cannot write the picture: %s", strerror(errno));
    return pons_error_source(err, "%s", path);
}

// Beside it, then renamed over it: who reads a picture reads a whole one, and a link that stands there is
// replaced, not followed. What leads to no file (a pipe, /dev/stdout) is written as it is.
static int begin_file(const char *path, char temp[PATH_MAX + 16], FILE **ret, pons_error *err)
{
    struct stat is;
    const bool other = stat(path, &is) == 0 && !S_ISREG(is.st_mode);
    snprintf(temp, PATH_MAX + 16, other ? "%.*s" : "%.*s.XXXXXX", PATH_MAX, path);
    const int fd = other ? open(path, O_WRONLY | O_CLOEXEC) : mkostemp(temp, O_CLOEXEC);
    *ret = fd < 0 ? NULL : fdopen(fd, "w");
    return *ret ? PONS_OK : io_error(path, err);
}

static int end_file(const char *path, const char *temp, FILE *f, bool whole, pons_error *err)
{
    const bool good = fclose(f) == 0 && whole;
    if (good && strcmp(path, temp) != 0 && rename(temp, path) == 0) {
        return PONS_OK;
    }
    if (strcmp(path, temp) == 0) {
        return good ? PONS_OK : io_error(path, err);
    }
    const int rc = io_error(path, err);
    unlink(temp);
    return rc;
}

int pons__picture_write(const char *path, const void *bytes, size_t n, pons_error *err)
{
    char temp[PATH_MAX + 16];
    FILE *f = NULL;
    const int rc = begin_file(path, temp, &f, err);
    return rc < 0 ? rc : end_file(path, temp, f, fwrite(bytes, 1, n, f) == n, err);
}

// Version 1.0: magic, the header's length, a dictionary padded to 64 bytes, then the numbers.
int pons__picture_write_npy(const char *path, const pons_picture_raw *p, pons_error *err)
{
    char header[128];
    const size_t n = (size_t)p->width * (size_t)p->height;
    memset(header, ' ', sizeof header);
    static const char magic[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0}; // 128 − 10
    memcpy(header, magic, sizeof magic);
    const int used = snprintf(header + 10, sizeof header - 10,
                              "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }",
                              p->height, p->width);
    header[10 + used] = ' ';
    header[sizeof header - 1] = '\n';
    char temp[PATH_MAX + 16];
    FILE *f = NULL;
    const int rc = begin_file(path, temp, &f, err);
    return rc < 0 ? rc
                  : end_file(path, temp, f,
                             fwrite(header, 1, sizeof header, f) == sizeof header &&
                                 fwrite(p->depth, sizeof *p->depth, n, f) == n,
                             err);
}
