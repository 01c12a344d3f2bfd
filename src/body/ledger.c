// ledger.c - the goal ledger.
//
// The file is JSON lines, one for each transition of a goal, appended and synced before the robot
// moves because of it:
//
//   {"goal_id":"9f…","args_hash":"c2…","skill":"navigate_to_pose","state":"accepted","ts_ms":…,
//    "boot_id":"…","robot_id":"pons-1","epoch":3,"thread":"t1","task_id":"k1","attempt":0}\n
//
//   accepted ─▶ started ─▶ done | failed | canceled        a terminal line also has error_code,
//                  │ ▲                                     error_msg and metrics, so that a result
//                  ▼ │                                     which nobody heard can be asked for
//                held ─▶ adopted
//
// A goal id has at most one `started` line, ever, in all boots: an append that would write a second
// one fails. Everything that was appended is also in an index by goal id, which is rebuilt from
// the file at open.
//
// After a crash the last line may be torn. It was not acknowledged to anybody and the robot had
// not moved because of it, so it is cut away and the goal's state is the line before. Any other
// bad line is damage, and the ledger says where rather than guessing. When a sync fails, what is on
// the disk is unknown and cannot be found out by trying again, so the ledger takes no more lines,
// and the body no more goals, until the next start.
#include "body/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE      "ledger"
#define LEDGER_MODE 0600
#define LEDGER_MAX  (1024L * 1024L * 1024L) // a larger file is not a ledger of ours
#define STARTED_KEY "started"               // in the index's entries
#define LINE_KEY    "line"

struct pons__ledger {
    int fd;            // -1: in memory
    char *path;        // NULL: in memory
    off_t size;        // bytes that are known to be good
    bool dead;         // a sync failed
    size_t torn;       // bytes cut away at open
    int64_t epoch;     // highest seen
    pons_value *index; // goal_id → {line, started}
};

static int load(pons__ledger *l, pons_error *err);
static int load_text(pons__ledger *l, const char *text, size_t n, pons_error *err);
static int read_all(int fd, char **ret, size_t *ret_n, pons_error *err);
static int check_line(const pons_value *line, pons_error *err);
static int index_line(pons__ledger *l, pons_value *line, pons_error *err);
static int write_lines(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err);
static int write_all(int fd, const char *text, size_t n, off_t at);
static int io_error(const char *what, const char *path, pons_error *err);
static void sync_directory(const char *path);

int pons__ledger_open(const char *path, pons__ledger **ret, pons_error *err)
{
    pons__ledger *l = calloc(1, sizeof *l);
    if (!l)
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the ledger");
    l->fd = -1;
    l->index = json_object();
    l->path = path ? strdup(path) : NULL;
    int rc = PONS_OK;
    if (!l->index || (path && !l->path))
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the ledger");
    if (rc == PONS_OK && path)
        rc = load(l, err);
    if (rc < 0) {
        pons__ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

void pons__ledger_close(pons__ledger *l)
{
    if (!l)
        return;
    if (l->fd >= 0)
        close(l->fd);
    pons_value_unref(l->index);
    free(l->path);
    free(l);
}

int pons__ledger_append(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int rc = check_line(lines[i], err);
        if (rc < 0)
            return rc;
        const char *goal_id = pons_get_str(lines[i], "goal_id", "");
        if (strcmp(pons_get_str(lines[i], "state", ""), "started") == 0 &&
            pons__ledger_started(l, goal_id))
            return pons_error_set(err, PONS_EEXIST, MODULE, "goal %s was started before", goal_id);
    }
    if (l->fd >= 0) {
        const int rc = write_lines(l, lines, n, err);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < n; i++) {
        const int rc = index_line(l, lines[i], err);
        if (rc < 0)
            return rc;
    }
    return PONS_OK;
}

const pons_value *pons__ledger_find(const pons__ledger *l, const char *goal_id)
{
    return pons_get(pons_get(l->index, goal_id), LINE_KEY);
}

bool pons__ledger_started(const pons__ledger *l, const char *goal_id)
{
    return pons_get_bool(pons_get(l->index, goal_id), STARTED_KEY, false);
}

bool pons__ledger_terminal(const char *state)
{
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "canceled") == 0;
}

size_t pons__ledger_torn(const pons__ledger *l)
{
    return l->torn;
}

int64_t pons__ledger_epoch(const pons__ledger *l)
{
    return l->epoch;
}

const char *pons__ledger_unfinished(const pons__ledger *l, const char *boot_id)
{
    const char *goal_id;
    pons_value *entry;
    json_object_foreach(l->index, goal_id, entry)
    {
        const pons_value *line = pons_get(entry, LINE_KEY);
        if (!pons_get_bool(entry, STARTED_KEY, false) ||
            pons__ledger_terminal(pons_get_str(line, "state", "")))
            continue;
        if (!boot_id || strcmp(pons_get_str(line, "boot_id", ""), boot_id) == 0)
            return goal_id;
    }
    return NULL;
}

int pons__durable_load(const char *path, pons__durable *ret, pons_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            return io_error("cannot open", path, err);
        return pons_error_set(err, PONS_ENOTFOUND, MODULE, "there is no %s", path);
    }
    char *text = NULL;
    size_t n = 0;
    int rc = read_all(fd, &text, &n, err);
    close(fd);
    if (rc < 0)
        return rc;
    pons_value *v = NULL;
    rc = pons_value_parse(text, n, &v, NULL);
    free(text);
    if (rc < 0 || !json_is_integer(json_object_get(v, "epoch"))) {
        pons_value_unref(v);
        pons_error_set(err, PONS_ECORRUPT, MODULE, "the control epoch cannot be read");
        pons_error_source(err, "%s", path);
        return PONS_ECORRUPT;
    }
    ret->epoch = pons_get_int(v, "epoch", 0);
    ret->latched = pons_get_bool(v, "latched", false);
    snprintf(ret->boot_id, sizeof ret->boot_id, "%s", pons_get_str(v, "boot_id", ""));
    snprintf(ret->reason, sizeof ret->reason, "%s", pons_get_str(v, "reason", ""));
    pons_value_unref(v);
    return PONS_OK;
}

int pons__durable_save(const char *path, const pons__durable *d, pons_error *err)
{
    pons_autovalue v =
        pons_object("epoch", json_integer(d->epoch), "boot_id", json_string(d->boot_id), "latched",
                    json_boolean(d->latched), "reason", json_string(d->reason), NULL);
    char *text = NULL;
    const long n = v ? pons_value_line(v, &text) : -1;
    if (n < 0)
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the control epoch");
    const int rc = pons__replace_file(path, text, (size_t)n, true, err);
    free(text);
    return rc;
}

int pons__replace_file(const char *path, const char *text, size_t n, bool sync, pons_error *err)
{
    char *fresh = NULL;
    if (asprintf(&fresh, "%s.new", path) < 0)
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a path");
    int rc = PONS_OK;
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, LEDGER_MODE);
    if (fd < 0 || write_all(fd, text, n, 0) < 0 || (sync && fdatasync(fd) < 0) ||
        rename(fresh, path) < 0)
        rc = io_error("cannot write", path, err);
    else if (sync)
        sync_directory(path);
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        unlink(fresh);
    free(fresh);
    return rc;
}

// ------------------------------------------------------------------------------------ load

static int load(pons__ledger *l, pons_error *err)
{
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, LEDGER_MODE);
    if (l->fd < 0)
        return io_error("cannot open", l->path, err);
    char *text = NULL;
    size_t n = 0;
    int rc = read_all(l->fd, &text, &n, err);
    if (rc == PONS_OK)
        rc = load_text(l, text, n, err);
    free(text);
    if (rc < 0) {
        pons_error_source(err, "%s", l->path);
        return rc;
    }
    if (l->torn > 0 && (ftruncate(l->fd, l->size) < 0 || fdatasync(l->fd) < 0))
        return io_error("cannot cut the torn last line of", l->path, err);
    if (n == 0)
        sync_directory(l->path); // a new file's name must survive as well
    return PONS_OK;
}

static int load_text(pons__ledger *l, const char *text, size_t n, pons_error *err)
{
    size_t at = 0;
    for (int number = 1; at < n; number++) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t end = newline ? (size_t)(newline - text) : n;
        pons_value *line = NULL;
        int rc = newline ? pons_value_parse(text + at, end - at, &line, err) : PONS_EINVAL;
        if (rc == PONS_OK)
            rc = check_line(line, err);
        if (rc == PONS_OK)
            rc = index_line(l, line, err);
        pons_value_unref(line);
        if (rc == PONS_ENOMEM)
            return rc;
        if (rc < 0 && (!newline || end + 1 == n)) {
            l->torn = n - at; // the last one: torn by a crash
            break;
        }
        if (rc < 0) {
            return pons_error_set(err, PONS_ECORRUPT, MODULE, "line %d is damaged", number);
        }
        at = end + 1;
    }
    l->size = (off_t)at;
    return PONS_OK;
}

static int read_all(int fd, char **ret, size_t *ret_n, pons_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size > LEDGER_MAX)
        return pons_error_set(err, PONS_EIO, MODULE, "cannot read a file of %lld bytes",
                              (long long)st.st_size);
    char *text = malloc((size_t)st.st_size + 1);
    if (!text)
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to read");
    size_t n = 0;
    while (n < (size_t)st.st_size) {
        const ssize_t got = pread(fd, text + n, (size_t)st.st_size - n, (off_t)n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(text);
            return pons_error_set(err, PONS_EIO, MODULE, "cannot read: %s", strerror(errno));
        }
        if (got == 0)
            break;
        n += (size_t)got;
    }
    *ret = text;
    *ret_n = n;
    return PONS_OK;
}

// ----------------------------------------------------------------------------------- lines

// Lines without a state are of other kinds, and pass.
static int check_line(const pons_value *line, pons_error *err)
{
    if (!json_is_object(line))
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line must be an object");
    if (json_object_get(line, "state") && (!json_is_string(json_object_get(line, "state")) ||
                                           !json_is_string(json_object_get(line, "goal_id"))))
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line needs goal_id and state");
    return PONS_OK;
}

static int index_line(pons__ledger *l, pons_value *line, pons_error *err)
{
    const char *state = pons_get_str(line, "state", NULL);
    if (!state)
        return PONS_OK;
    const char *goal_id = pons_get_str(line, "goal_id", "");
    const int64_t epoch = pons_get_int(line, "epoch", 0);
    const bool started = strcmp(state, "started") == 0 || pons__ledger_started(l, goal_id);
    pons_value *entry =
        pons_object(LINE_KEY, pons_value_ref(line), STARTED_KEY, json_boolean(started), NULL);
    if (!entry || json_object_set_new(l->index, goal_id, entry) < 0)
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a goal");
    if (epoch > l->epoch)
        l->epoch = epoch;
    return PONS_OK;
}

static int write_lines(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err)
{
    if (l->dead)
        return pons_error_set(err, PONS_EIO, MODULE, "the ledger failed before; restart the body");
    char *block = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&block, &len);
    if (!f)
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a line");
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        char *text = NULL;
        const long chars = pons_value_line(lines[i], &text);
        ok = chars >= 0 && fprintf(f, "%s\n", text) >= 0;
        free(text);
    }
    ok = fclose(f) == 0 && ok;
    if (!ok) {
        free(block);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a line");
    }
    int rc = PONS_OK;
    if (write_all(l->fd, block, len, l->size) < 0) {
        rc = io_error("cannot append to", l->path, err);
        // Half a line in the middle of the file would be damage: take it back, or stop.
        l->dead = ftruncate(l->fd, l->size) < 0;
    } else if (fdatasync(l->fd) < 0) {
        rc = io_error("cannot sync", l->path, err);
        l->dead = true;
    } else {
        l->size += (off_t)len;
    }
    free(block);
    return rc;
}

static int write_all(int fd, const char *text, size_t n, off_t at)
{
    while (n > 0) {
        const ssize_t put = pwrite(fd, text, n, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            if (put == 0)
                errno = ENOSPC;
            return -1;
        }
        text += put;
        n -= (size_t)put;
        at += put;
    }
    return 0;
}

static int io_error(const char *what, const char *path, pons_error *err)
{
    const int why = errno;
    pons_error_set(err, PONS_EIO, MODULE, "%s the file", what);
    pons_error_source(err, "%s", path);
    pons_error_cause(err, "%s", strerror(why));
    return PONS_EIO;
}

// A rename or a new file is durable only with its directory.
static void sync_directory(const char *path)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    if (snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".") >=
        (int)sizeof dir)
        return;
    const int fd = open(dir[0] ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}
