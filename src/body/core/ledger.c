// ledger.c - the goal ledger.
//
// The file is JSON lines, one for each transition of a goal, appended and synced before the robot
// moves because of it:
//
//   {"goal_id":"9f…","args_hash":"c2…","skill":"navigate_to_pose","state":"accepted","ts_ms":…,
//    "boot_id":"…","robot_id":"pons-1","epoch":3,"thread":"t1","task_id":"k1","attempt":0}\n
//
//   accepted -> started -> done | failed | canceled        a terminal line also has error_code,
//                  | ^                                     error_msg and metrics, so that a result
//                  v |                                     which nobody heard can be asked for
//                held -> adopted
//
// A goal id has at most one `started` line, ever, in all boots: an append that would write a second
// one fails. Everything that was appended is also in an index by goal id, which is rebuilt from
// the file at open.
//
// Lines without a state are about the body itself, {"kind":"boot"|"latch"|"reset"|"repair",…}. Each
// start writes one, so a ledger is empty only where no body ever ran; and the last latch, reset or
// repair is a second witness of whether a protective stop is in force (body.c).
//
// Each line ends in a checksum (durable.h). Lines of a version that wrote none pass at the beginning
// of the file only, before the first one that has it.
//
// After a crash the end of the file may be torn: a line without its newline. It was not acknowledged
// to anybody and the robot had not moved because of it, so it is cut away and the goal's state is
// the line before. Any other bad line is damage, and the ledger says where rather than guessing.
// When a sync fails, what is on the disk is unknown and cannot be found out by trying again, so the
// ledger takes no more lines, and the body no more goals, until the next start.
#include "body/core/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE      "ledger"
#define LEDGER_MODE 0600
#define LEDGER_MAX  (1024UL * 1024UL * 1024UL) // bytes; a larger file is not a ledger of ours
#define STARTED_KEY "started"                  // in the index's entries
#define LINE_KEY    "line"

struct pons__ledger {
    int fd;             // -1: in memory
    char *path;         // NULL: in memory
    off_t size;         // bytes that are known to be good
    bool dead;          // a sync failed
    bool summed;        // a line with a checksum was seen: from here on all have one
    size_t torn;        // bytes cut away at open
    int64_t epoch;      // highest seen
    int64_t lines;      // good ones
    int64_t plain;      // of these, without a checksum
    pons__witness last; // what was said last about the latch
    pons_value *index;  // goal_id → {line, started}
};

static pons__ledger *create(const char *path, pons_error *err);
static int load(pons__ledger *l, pons_error *err);
static int load_text(pons__ledger *l, const char *text, size_t n, pons_error *err);
static int load_line(pons__ledger *l, const char *text, size_t n, pons_error *err);
static int damaged(const pons__ledger *l, int64_t number, pons_error *err);
static int keep_line(pons_buf *out, pons_value *line);
static void see_witness(pons__ledger *l, const pons_value *line);
static int check_line(const pons_value *line, pons_error *err);
static int index_line(pons__ledger *l, pons_value *line, pons_error *err);
static int write_lines(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err);

int pons__ledger_open(const char *path, pons__ledger **ret, pons_error *err)
{
    pons__ledger *l = create(path, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    const int rc = path ? load(l, err) : PONS_OK;
    if (rc < 0) {
        pons__ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

static pons__ledger *create(const char *path, pons_error *err)
{
    pons__ledger *l = calloc(1, sizeof *l);
    if (l) {
        l->fd = -1;
        l->index = json_object();
        l->path = path ? strdup(path) : NULL;
    }
    if (!l || !l->index || (path && !l->path)) {
        pons__ledger_close(l);
        pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the ledger");
        return NULL;
    }
    return l;
}

void pons__ledger_close(pons__ledger *l)
{
    if (!l) {
        return;
    }
    if (l->fd >= 0) {
        close(l->fd);
    }
    pons_value_unref(l->index);
    free(l->path);
    free(l);
}

int pons__ledger_append(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int rc = check_line(lines[i], err);
        if (rc < 0) {
            return rc;
        }
        const char *goal_id = pons_get_str(lines[i], "goal_id", "");
        if (strcmp(pons_get_str(lines[i], "state", ""), "started") == 0 &&
            pons__ledger_started(l, goal_id)) {
            return pons_error_set(err, PONS_EEXIST, MODULE, "goal %s was started before", goal_id);
        }
    }
    if (l->fd >= 0) {
        const int rc = write_lines(l, lines, n, err);
        if (rc < 0) {
            return rc;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const int rc = index_line(l, lines[i], err);
        if (rc < 0) {
            return rc;
        }
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

int64_t pons__ledger_lines(const pons__ledger *l)
{
    return l->lines;
}

int64_t pons__ledger_plain(const pons__ledger *l)
{
    return l->plain;
}

size_t pons__ledger_goals(const pons__ledger *l)
{
    return json_object_size(l->index);
}

const pons__witness *pons__ledger_witness(const pons__ledger *l)
{
    return &l->last;
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
            pons__ledger_terminal(pons_get_str(line, "state", ""))) {
            continue;
        }
        if (!boot_id || strcmp(pons_get_str(line, "boot_id", ""), boot_id) == 0) {
            return goal_id;
        }
    }
    return NULL;
}

int pons__ledger_parse(const char *text, size_t n, pons__ledger **ret, pons_error *err)
{
    pons__ledger *l = create(NULL, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    const int rc = load_text(l, text, n, err);
    if (rc < 0) {
        pons__ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

int pons__ledger_salvage(const char *text, size_t n, pons_buf *out, int64_t *ret_lost,
                         pons_error *err)
{
    pons__ledger *l = create(NULL, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    int64_t lost = 0;
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t end = newline ? (size_t)(newline - text) : n;
        int rc = newline ? load_line(l, text + at, end - at, NULL) : PONS_ECORRUPT;
        if (rc == PONS_OK) {
            pons_value *line = NULL;
            rc = pons_value_parse(text + at, end - at, &line, err);
            rc = rc < 0 ? rc : keep_line(out, line);
        } else if (rc == PONS_ECORRUPT) {
            lost++;
            rc = PONS_OK;
        }
        if (rc < 0) {
            pons__ledger_close(l);
            return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to repair the ledger");
        }
        at = end + 1;
    }
    pons__ledger_close(l);
    *ret_lost = lost;
    return PONS_OK;
}

// ---- load ---------------------------------------------------------------------------------------

static int load(pons__ledger *l, pons_error *err)
{
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, LEDGER_MODE);
    if (l->fd < 0) {
        return pons__io_error("cannot open", l->path, err);
    }
    char *text = NULL;
    size_t n = 0;
    int rc = pons__read_all(l->fd, LEDGER_MAX, &text, &n, err);
    if (rc < 0) {
        pons_error_source(err, "%s", l->path);
        return rc;
    }
    rc = load_text(l, text, n, err);
    free(text);
    if (rc < 0) {
        return rc;
    }
    if (l->torn > 0 && (ftruncate(l->fd, l->size) < 0 || fdatasync(l->fd) < 0)) {
        return pons__io_error("cannot cut the torn last line of", l->path, err);
    }
    if (n == 0 && pons__sync_directory(l->path) < 0) { // a new file's name must survive as well
        return pons__io_error("cannot sync the directory of", l->path, err);
    }
    return PONS_OK;
}

static int load_text(pons__ledger *l, const char *text, size_t n, pons_error *err)
{
    size_t at = 0;
    for (int64_t number = 1; at < n; number++) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t end = newline ? (size_t)(newline - text) : n;
        if (!newline) {
            // A crash tears a line short. A whole one with another byte for its newline was damaged
            // later, and may have been acknowledged.
            if (pons__sum_check(text + at, n - at - 1) == PONS__SUM_GOOD) {
                return damaged(l, number, err);
            }
            l->torn = n - at;
            break;
        }
        const int rc = load_line(l, text + at, end - at, err);
        if (rc < 0) {
            return rc == PONS_ENOMEM ? rc : damaged(l, number, err);
        }
        at = end + 1;
    }
    l->size = (off_t)at;
    return PONS_OK;
}

static int load_line(pons__ledger *l, const char *text, size_t n, pons_error *err)
{
    const pons__sum sum = pons__sum_check(text, n);
    if (sum == PONS__SUM_BAD || (sum == PONS__SUM_NONE && l->summed)) {
        return PONS_ECORRUPT;
    }
    pons_value *line = NULL;
    int rc = pons_value_parse(text, n, &line, err);
    if (rc == PONS_OK && json_is_object(line)) {
        json_object_del(line, "sum");
    }
    rc = rc < 0 ? rc : check_line(line, err);
    rc = rc < 0 ? rc : index_line(l, line, err);
    pons_value_unref(line);
    if (rc < 0) {
        return rc == PONS_ENOMEM ? rc : PONS_ECORRUPT;
    }
    l->summed = sum == PONS__SUM_GOOD;
    l->plain += sum == PONS__SUM_NONE;
    return PONS_OK;
}

static int damaged(const pons__ledger *l, int64_t number, pons_error *err)
{
    pons_error_set(
        err, PONS_ECORRUPT, MODULE,
        "line %lld is damaged; `pons doctor --repair` keeps a copy and goes on without it",
        (long long)number);
    if (err) {
        err->cause[0] = '\0';
    }
    pons_error_source(err, "%s:%lld", l->path ? l->path : "the ledger", (long long)number);
    return PONS_ECORRUPT;
}

// A good line, into what is left of a damaged ledger. Takes line.
static int keep_line(pons_buf *out, pons_value *line)
{
    char *text = NULL;
    json_object_del(line, "sum");
    const long n = pons__sum_line(line, &text);
    pons_value_unref(line);
    if (n < 0) {
        return PONS_ENOMEM;
    }
    const int rc = pons_buf_bytes(out, text, (size_t)n);
    free(text);
    return rc;
}

// ---- lines --------------------------------------------------------------------------------------

// Lines without a state are of other kinds, and pass.
static int check_line(const pons_value *line, pons_error *err)
{
    if (json_object_size(line) == 0) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line must be an object with members");
    }
    if (json_object_get(line, "state") && (!json_is_string(json_object_get(line, "state")) ||
                                           !json_is_string(json_object_get(line, "goal_id")))) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line needs goal_id and state");
    }
    const int64_t epoch = pons_get_int(line, "epoch", 0);
    if (epoch < 0 || epoch > PONS__EPOCH_MAX) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line's epoch is from 0 to 2^53 - 1");
    }
    return PONS_OK;
}

static int index_line(pons__ledger *l, pons_value *line, pons_error *err)
{
    const char *state = pons_get_str(line, "state", NULL);
    if (!state) {
        see_witness(l, line);
        l->lines++;
        return PONS_OK;
    }
    const char *goal_id = pons_get_str(line, "goal_id", "");
    const int64_t epoch = pons_get_int(line, "epoch", 0);
    const bool started = strcmp(state, "started") == 0 || pons__ledger_started(l, goal_id);
    pons_value *entry =
        pons_object(LINE_KEY, pons_value_ref(line), STARTED_KEY, json_boolean(started), NULL);
    if (!entry || json_object_set_new(l->index, goal_id, entry) < 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a goal");
    }
    if (epoch > l->epoch) {
        l->epoch = epoch;
    }
    l->lines++;
    return PONS_OK;
}

// What a repair left out may have been a latch: it counts as one.
static void see_witness(pons__ledger *l, const pons_value *line)
{
    const char *kind = pons_get_str(line, "kind", "");
    const bool repair = strcmp(kind, "repair") == 0;
    if (strcmp(kind, "reset") == 0) {
        l->last = (pons__witness){0};
    } else if (repair || strcmp(kind, "latch") == 0) {
        l->last.latched = true;
        l->last.origin =
            repair ? PONS__ORIGIN_UNKNOWN : pons__origin_of(pons_get_str(line, "origin", "?"));
        snprintf(l->last.reason, sizeof l->last.reason, "%s",
                 repair ? "boot: lines of the ledger were lost" : pons_get_str(line, "reason", ""));
    }
}

static int write_lines(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err)
{
    if (l->dead) {
        return pons_error_set(err, PONS_EIO, MODULE, "the ledger failed before; restart the body");
    }
    char *block = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&block, &len);
    if (!f) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a line");
    }
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        char *text = NULL;
        ok = pons__sum_line(lines[i], &text) >= 0 && fputs(text, f) >= 0;
        free(text);
    }
    ok = fclose(f) == 0 && ok;
    if (!ok) {
        free(block);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a line");
    }
    int rc = PONS_OK;
    if (pons__write_all(l->fd, block, len, l->size) < 0) {
        rc = pons__io_error("cannot append to", l->path, err);
        // Half a line in the middle of the file would be damage: take it back, or stop.
        l->dead = ftruncate(l->fd, l->size) < 0;
    } else if (fdatasync(l->fd) < 0) {
        rc = pons__io_error("cannot sync", l->path, err);
        l->dead = true;
    } else {
        l->size += (off_t)len;
    }
    free(block);
    return rc;
}
