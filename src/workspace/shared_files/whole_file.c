// whole_file.c - a file read whole, and replaced whole.
//
// An editor knows no lock of ours: between our read and our rename it may have written. So the new
// file and the old one change places in one step (RENAME_EXCHANGE), and what came out is looked at: if
// it is not what was expected, the two change places again and the caller is told (PONS_ESTALE).
//
//     .pons/NAME.lock   flock: one writer of ours at a time
//     .pons/NAME.new    the new text, synced -- exchange --> what came out, compared, unlinked
//     DIR               synced: the name is durable
#include "workspace/shared_files/whole_file.h"

#include "pons/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE "workspace"

int pons__ws_failed(pons_error *err, const char *what, const char *path)
{
    const int e = errno;
    if (e == E2BIG) {
        pons_error_set(err, PONS_EINVAL, WHERE, "larger than 1 MiB");
        pons_error_source(err, "%s", path);
        return PONS_EINVAL;
    }
    pons_error_set(err, PONS_EIO, WHERE, "cannot %s", what);
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", pons_file_why(e));
    return PONS_EIO;
}

// 0, or -1 with errno.
static int read_fd(int fd, pons_buf *out)
{
    for (;;) {
        if (out->len > PONS_WS_SIZE_MAX) {
            errno = E2BIG;
            return -1;
        }
        pons_buf_reserve(out, 65536);
        const ssize_t n = read(fd, out->data + out->len, 65535);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            out->data[out->len] = '\0';
            return n < 0 ? -1 : 0;
        }
        out->len += (size_t)n;
    }
}

int pons__ws_read_file(const char *path, pons_buf *out, pons_error *err)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe would hold us
    if (fd < 0 && errno == ENOENT) {
        pons_error_set(err, PONS_ENOTFOUND, WHERE, "there is no such file");
        pons_error_source(err, "%s", path);
        return PONS_ENOTFOUND;
    }
    if (fd < 0) {
        return pons__ws_failed(err, "open the file", path);
    }
    int rc = PONS_OK;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EMEDIUMTYPE;
        rc = pons__ws_failed(err, "read what is no file", path);
    } else if (read_fd(fd, out) < 0) {
        rc = pons__ws_failed(err, "read the file", path);
    }
    close(fd);
    return rc;
}

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        const ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        text += n;
        len -= (size_t)n;
    }
    return fsync(fd);
}

// The new text under another name, with the rights of the file that it replaces.
static int write_new(const char *path, const char *like, const char *text, size_t len)
{
    struct stat st;
    const mode_t mode = stat(like, &st) == 0 ? st.st_mode & 0777 : 0600;
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return -1;
    }
    const int rc = fchmod(fd, mode) < 0 ? -1 : write_all(fd, text, len);
    const int e = errno;
    close(fd);
    errno = e;
    return rc;
}

static int swap_names(const char *path, const char *other, bool fresh)
{
    return renameat2(AT_FDCWD, other, AT_FDCWD, path, fresh ? RENAME_NOREPLACE : RENAME_EXCHANGE);
}

// Whoever has it may be stopped, for as long as somebody likes: nobody waits for that.
int pons__ws_lock(const char *dir, const char *name, int patience_ms, int *ret, pons_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/" PONS__WS_FOLDER, dir);
    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        return pons__ws_failed(err, "make the folder", path);
    }
    snprintf(path, sizeof path, "%s/" PONS__WS_FOLDER "/%s.lock", dir, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return pons__ws_failed(err, "open the lock", path);
    }
    const int why = -pons_file_lock(fd, patience_ms);
    if (why == 0) {
        *ret = fd;
        return PONS_OK;
    }
    close(fd);
    if (why == EWOULDBLOCK) {
        pons_error_set(err, PONS_EAGAIN, WHERE, "another process is just writing %s", name);
        return pons_error_source(err, "%s", path);
    }
    errno = why;
    return pons__ws_failed(err, "take the lock", path);
}

int pons__ws_swap(const char *dir, const char *name, const char *text, size_t len, bool fresh_name,
                  const char *keep, pons_buf *came, bool *ret_kept, pons_error *err)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(fresh, sizeof fresh, "%s/" PONS__WS_FOLDER "/%s.new", dir, name);
    if (write_new(fresh, path, text, len) < 0) {
        const int rc = pons__ws_failed(err, "write the new text", fresh);
        unlink(fresh);
        return rc;
    }
    if (swap_names(path, fresh, fresh_name) < 0) {
        const bool stale = errno == EEXIST || errno == ENOENT;
        const int rc =
            stale ? PONS_ESTALE : pons__ws_failed(err, "put the new text in place", path);
        unlink(fresh);
        return stale ? pons_error_set(err, rc, WHERE, "%s was changed meanwhile", name) : rc;
    }
    // The name is the new text's now, whatever fails from here on.
    *ret_kept = fresh_name || (pons__ws_read_file(fresh, came, NULL) == PONS_OK &&
                               (!keep || rename(fresh, keep) == 0));
    pons_file_sync_folder(path); // else a machine that loses power may have the old file
    return PONS_OK;
}

// As it was: what an editor wrote has its name again, also when it wrote once more meanwhile.
static void put_back(const char *dir, const char *name, const char *text, size_t len)
{
    char path[PATH_MAX], fresh[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(fresh, sizeof fresh, "%s/" PONS__WS_FOLDER "/%s.new", dir, name);
    for (int i = 0; i < 16; i++) {
        pons_autobuf out = PONS_BUF_INIT;
        if (swap_names(path, fresh, false) < 0 || pons__ws_read_file(fresh, &out, NULL) < 0 ||
            (out.len == len && memcmp(out.data, text, len) == 0)) {
            return;
        }
    }
}

static int replace(const char *dir, const char *name, const char *text, size_t len,
                   const char *expect, size_t expect_len, pons_error *err)
{
    char fresh[PATH_MAX];
    pons_autobuf came = PONS_BUF_INIT;
    snprintf(fresh, sizeof fresh, "%s/" PONS__WS_FOLDER "/%s.new", dir, name);
    bool kept = false;
    int rc = pons__ws_swap(dir, name, text, len, !expect, NULL, &came, &kept, err);
    if (rc == PONS_OK && !kept) { // what was there may be an edit: it stays for whoever looks next
        return rc;
    }
    if (rc == PONS_OK && expect &&
        (came.len != expect_len || memcmp(came.data, expect, came.len) != 0)) {
        put_back(dir, name, text, len);
        rc = pons_error_set(err, PONS_ESTALE, WHERE, "%s was changed meanwhile", name);
    }
    if (expect) {
        unlink(fresh);
    }
    return rc;
}

// ---- public -------------------------------------------------------------------------------------

int pons_ws_load(pons_ws_role role, const char *dir, pons_ws_file file, pons_ws_doc **ret,
                 pons_error *err)
{
    char path[PATH_MAX];
    pons_autobuf text = PONS_BUF_INIT;
    const char *name = pons_ws_file_name(file);
    if (!pons_ws_may_read(role, file)) {
        return pons_error_set(err, PONS_EREFUSED, WHERE, "the %s may not read %s",
                              pons_ws_role_name(role), name);
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    const int rc = pons__ws_read_file(path, &text, err);
    return rc < 0 ? rc : pons_ws_read(file, text.data, text.len, name, ret, err);
}

int pons_ws_write(pons_ws_role role, const char *dir, pons_ws_file file, const char *text,
                  size_t len, const char *expect, size_t expect_len, pons_error *err)
{
    const char *name = pons_ws_file_name(file);
    int lock = -1;
    if (!pons_ws_may_write(role, file)) {
        return pons_error_set(err, PONS_EREFUSED, WHERE, "the %s may not write %s",
                              pons_ws_role_name(role), name);
    }
    int rc = pons__ws_lock(dir, name, PONS__WS_LOCK_MS, &lock, err);
    if (rc == PONS_OK) {
        rc = replace(dir, name, text, len, expect, expect_len, err);
        close(lock);
    }
    return rc;
}
