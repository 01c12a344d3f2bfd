// ledger_read.c - how the ledger is read: the parts in their order, then the file that is written; and
// what of it is saved when it is damaged.
#include "body/ledger/ledger_memory.h"
#include "pons/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE    "ledger"
#define PART_MOST (1024UL * 1024UL * 1024UL) // bytes, of one that is repaired

// ---- load ---------------------------------------------------------------------------------------

// How many parts the first line of the file says that there are.
static int64_t parts_before(int fd)
{
    pons__lines r;
    const char *text;
    size_t n;
    off_t at;
    bool whole;
    int64_t after = 0;
    pons__lines_init(&r, fd, 0);
    if (pons__lines_next(&r, &text, &n, &at, &whole) == 1 && whole &&
        pons__sum_check(text, n) == PONS__SUM_GOOD) {
        pons_autovalue json = NULL;
        pons_ledger_note note;
        if (pons_value_parse(text, n, &json, NULL) == PONS_OK && !pons_ledger_about_goal(json) &&
            pons_ledger_note_decode(json, &note, NULL) == PONS_OK &&
            note.kind == PONS_LEDGER_PART) {
            after = note.after;
        }
    }
    pons__lines_fini(&r);
    return after;
}

// A second name of the part that is written, from a crash before it was sealed.
static int take_away(pons__ledger *l, const pons__part *p, bool *ret_same, pons_error *err)
{
    char *name = pons__part_path(l->path, p->number, false);
    struct stat ours, its;
    if (!name) {
        return pons__ledger_no_memory(err);
    }
    *ret_same = p->lines && l->fd >= 0 && fstat(l->fd, &ours) == 0 && stat(name, &its) == 0 &&
                ours.st_ino == its.st_ino && ours.st_dev == its.st_dev;
    const int rc = *ret_same && !l->looks && unlink(name) < 0
                       ? pons__io_error("cannot take away", name, err)
                       : PONS_OK;
    free(name);
    return rc;
}

// A line of the file. Those without a state are about the body, or of other kinds, and pass.
static int know(pons__ledger *l, const pons_value *json, uint32_t part, off_t at, pons_error *err)
{
    if (json_object_size(json) == 0) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line must be an object with members");
    }
    if (pons__format_check(json, "the ledger", err) < 0) {
        return PONS_EUNSUPPORTED;
    }
    if (!pons_ledger_about_goal(json)) {
        pons_ledger_note note;
        pons_ledger_note_decode(json, &note, NULL); // its kind is what counts
        pons__ledger_see_note(l, &note);
        l->lines++;
        return PONS_OK;
    }
    pons_ledger_line line;
    const int rc = pons_ledger_line_decode(json, &line, err);
    if (rc < 0) {
        return rc;
    }
    if (pons__index_reserve(&l->goals, 1) < 0) {
        return pons__ledger_no_memory(err);
    }
    pons__ledger_see_line(l, &line, part, at);
    return PONS_OK;
}

static int load_line(pons__ledger *l, const char *text, size_t n, uint32_t part, off_t at,
                     pons_error *err)
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
    rc = rc < 0 ? rc : know(l, line, part, at, err);
    pons_value_unref(line);
    if (rc < 0) {
        return rc == PONS_ENOMEM || rc == PONS_EUNSUPPORTED ? rc : PONS_ECORRUPT;
    }
    l->summed = sum == PONS__SUM_GOOD;
    l->plain += sum == PONS__SUM_NONE;
    return PONS_OK;
}

static int damaged(const char *path, int64_t number, pons_error *err)
{
    pons_error_set(
        err, PONS_ECORRUPT, MODULE,
        "line %lld is damaged; `pons doctor --repair` keeps a copy and goes on without it",
        (long long)number);
    if (err) {
        err->cause[0] = '\0';
    }
    pons_error_source(err, "%s:%lld", path, (long long)number);
    return PONS_ECORRUPT;
}

static int load_lines(pons__ledger *l, int fd, uint32_t part, const char *path, pons_error *err)
{
    pons__lines r;
    const char *text;
    size_t n;
    off_t at = 0;
    bool whole;
    int rc;
    int64_t number = 1;
    pons__lines_init(&r, fd, 0);
    for (; (rc = pons__lines_next(&r, &text, &n, &at, &whole)) == 1; number++) {
        if (!whole) {
            // A crash tears a line short. A whole one with another byte for its newline was damaged
            // later, and may have been acknowledged.
            rc = pons__sum_check(text, n - 1) == PONS__SUM_GOOD ? PONS_ECORRUPT : PONS_OK;
            l->torn = rc == PONS_OK ? n : 0;
            break;
        }
        rc = load_line(l, text, n, part, at, err);
        if (rc < 0) {
            break;
        }
    }
    l->size = r.at - (off_t)l->torn;
    pons__lines_fini(&r);
    if (rc == PONS_EUNSUPPORTED) {
        pons_error_source(err, "%s:%lld", path, (long long)number);
        return rc;
    }
    return rc == PONS_ECORRUPT ? damaged(path, number, err)
           : rc == PONS_EIO    ? pons__io_error("cannot read", path, err)
           : rc == PONS_ENOMEM ? pons__ledger_no_memory(err)
                               : PONS_OK;
}

static int load_part(pons__ledger *l, const pons__part *p, pons_error *err)
{
    char *name = pons__part_path(l->path, p->number, false);
    int rc = PONS_OK;
    if (!name) {
        return pons__ledger_no_memory(err);
    }
    l->parts += p->lines;
    const int known = pons__ids_load(l->path, p->number, &l->goals);
    if (known == PONS_ENOMEM) {
        rc = pons__ledger_no_memory(err);
    } else if (known < 0 && !p->lines) {
        rc = pons_error_set(err, known == PONS_EIO ? known : PONS_ECORRUPT, MODULE,
                            "the goals of part %u cannot be read; `pons doctor --repair` goes on "
                            "without them",
                            p->number);
        pons_error_source(err, "%s.ids", name);
    } else if (known < 0 || (l->looks && p->lines)) { // who only looks, looks at every line
        const int fd = open(name, O_RDONLY | O_CLOEXEC);
        l->summed = p->number > 1;
        rc = fd < 0 ? pons__io_error("cannot open", name, err)
                    : load_lines(l, fd, p->number, name, err);
        if (fd >= 0) {
            close(fd);
        }
        if (rc == PONS_OK && l->torn > 0) { // it was whole when it was sealed
            rc = damaged(name, l->lines + 1, err);
        }
        if (rc == PONS_OK && !l->looks) {
            (void)pons__ids_save(l->path, p->number, &l->goals, NULL); // or at the next start
        }
        l->lines = 0;
    }
    free(name);
    return rc;
}

static int load_parts(pons__ledger *l, int64_t after, pons_error *err)
{
    pons__part *parts = NULL;
    size_t n = 0;
    int rc = pons__parts_list(l->path, &parts, &n, err);
    int64_t next = 1; // the number that must be there
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        bool same = false;
        if (parts[i].number > next && next <= after) {
            break;
        }
        rc = take_away(l, &parts[i], &same, err);
        for (; rc == PONS_OK && !same && !l->looks && next < parts[i].number; next++) {
            rc =
                pons__ids_save(l->path, (uint32_t)next, &l->goals, err); // none: it was never there
        }
        if (rc == PONS_OK && !same) {
            rc = load_part(l, &parts[i], err);
            next = (int64_t)parts[i].number + 1;
            l->part = (uint32_t)next;
        }
    }
    free(parts);
    if (rc == PONS_OK && next <= after) {
        rc = pons_error_set(err, PONS_ECORRUPT, MODULE,
                            "part %lld is missing; `pons doctor --repair` goes on without it",
                            (long long)next);
        pons_error_source(err, "%s.%lld", l->path, (long long)next);
    }
    return rc;
}

// Sealed parts are there, and the one that is written is not: a person's stop may have been in it.
static int lost(pons__ledger *l, pons_error *err)
{
    l->last = (pons__witness){.latched = true, .origin = PONS__ORIGIN_UNKNOWN};
    snprintf(l->last.reason, sizeof l->last.reason, "boot: the ledger (body.ledger) is missing");
    int fd = -1;
    const int rc =
        l->looks ? PONS_OK : pons__ledger_begin_part(l, (int64_t)l->part - 1, &fd, &l->size, err);
    if (rc == PONS_OK && fd >= 0) {
        close(l->fd);
        l->fd = fd;
        l->lines = 1;
        l->summed = true;
    }
    return rc;
}

// The parts first, in their order: a later line of a goal counts.
int pons__ledger_load(pons__ledger *l, pons_error *err)
{
    l->fd = open(l->path, (l->looks ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, PONS__LEDGER_MODE);
    if (l->fd < 0 && !(l->looks && errno == ENOENT)) {
        return pons__io_error("cannot open", l->path, err);
    }
    struct stat st = {0};
    if (l->fd >= 0 && fstat(l->fd, &st) < 0) {
        return pons__io_error("cannot look at", l->path, err);
    }
    const int64_t after = l->fd >= 0 ? parts_before(l->fd) : 0;
    int rc = load_parts(l, after, err);
    if (rc == PONS_OK && l->part > 1 && st.st_size == 0) {
        return lost(l, err);
    }
    l->lines = l->plain = 0;
    l->summed = after > 0;
    rc = rc < 0 || l->fd < 0 ? rc : load_lines(l, l->fd, l->part, l->path, err);
    if (rc < 0 || l->looks) {
        return rc;
    }
    if (l->torn > 0 && (ftruncate(l->fd, l->size) < 0 || fdatasync(l->fd) < 0)) {
        return pons__io_error("cannot cut the torn last line of", l->path, err);
    }
    if (st.st_size == 0 && pons_file_sync_folder(l->path) < 0) { // a new file's name must survive
        return pons__io_error("cannot sync the directory of", l->path, err);
    }
    return PONS_OK;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__ledger_look(const char *path, pons__ledger **ret, pons_error *err)
{
    pons__ledger *l = pons__ledger_create(path, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    l->looks = true;
    const int rc = pons__ledger_load(l, err);
    if (rc < 0) {
        pons__ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

int pons__ledger_parse(const char *text, size_t n, pons__ledger **ret, pons_error *err)
{
    pons__ledger *l = pons__ledger_create(NULL, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    int rc = pons__write_all(l->fd, text, n, 0) < 0
                 ? pons__io_error("cannot keep", "the ledger", err)
                 : load_lines(l, l->fd, l->part, "the ledger", err);
    if (rc < 0) {
        pons__ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

// ---- repair -------------------------------------------------------------------------------------

static int load_salvaged(pons__ledger *l, uint32_t number, const pons_buf *good, pons_error *err)
{
    if (pons__write_all(l->fd, (const char *)good->data, good->len, 0) < 0) {
        return pons__io_error("cannot keep", "a part", err);
    }
    return load_lines(l, l->fd, number, "a part", err);
}

// Of a part without lines its goals are all there is.
static int mend_part(const char *path, uint32_t number, bool lines, pons__ledger_keep keep,
                     char *ret_copy, size_t cap, int64_t *ret_lost, pons_error *err)
{
    pons__ledger *l = pons__ledger_create(NULL, err);
    char *name = pons__part_path(path, number, !lines), *text = NULL;
    pons_autobuf good = PONS_BUF_INIT;
    size_t n = 0;
    int64_t bad = 0;
    int rc = l && name ? PONS_OK : pons__ledger_no_memory(err);
    const int ids = rc < 0 ? rc : pons__ids_load(path, number, &l->goals);
    rc = rc < 0 ? rc : pons__read_run_file(name, PART_MOST, &text, &n, err);
    if (rc == PONS_OK && lines) {
        rc = pons__ledger_salvage(text, n, &good, &bad, err);
    } else if (rc == PONS_OK || (rc == PONS_ENOTFOUND && !lines)) {
        rc = PONS_OK;
        bad = ids < 0;
    }
    if (rc == PONS_OK && bad > 0) {
        rc = text ? keep(name, text, n, ret_copy, cap, err) : PONS_OK;
        if (rc == PONS_OK && lines) {
            rc = pons__replace_file(name, (const char *)good.data, good.len, true, err);
            rc = rc < 0 ? rc : load_salvaged(l, number, &good, err);
        }
        rc = rc < 0 ? rc : pons__ids_save(path, number, &l->goals, err);
        *ret_lost += rc == PONS_OK ? bad : 0;
    }
    pons__ledger_close(l);
    free(name);
    free(text);
    return rc;
}

int pons__ledger_mend_parts(const char *path, pons__ledger_keep keep, char *ret_copy, size_t cap,
                            int64_t *ret_lost, pons_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int64_t after = fd >= 0 ? parts_before(fd) : 0;
    if (fd >= 0) {
        close(fd);
    }
    pons__part *parts = NULL;
    size_t n = 0, i = 0;
    int rc = pons__parts_list(path, &parts, &n, err);
    const int64_t last = n > 0 && parts[n - 1].number > after ? parts[n - 1].number : after;
    for (int64_t number = 1; rc == PONS_OK && number <= last; number++) {
        while (i < n && parts[i].number < number) {
            i++;
        }
        const bool there = i < n && parts[i].number == number;
        rc = mend_part(path, (uint32_t)number, there && parts[i].lines, keep, ret_copy, cap,
                       ret_lost, err);
    }
    free(parts);
    return rc;
}

int pons__ledger_salvage(const char *text, size_t n, pons_buf *out, int64_t *ret_lost,
                         pons_error *err)
{
    pons__ledger *l = pons__ledger_create(NULL, err);
    if (!l) {
        return PONS_ENOMEM;
    }
    int64_t bad = 0;
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t end = newline ? (size_t)(newline - text) : n;
        int rc = newline ? load_line(l, text + at, end - at, 1, 0, err) : PONS_ECORRUPT;
        if (rc == PONS_OK) {
            pons_value *line = NULL;
            rc = pons_value_parse(text + at, end - at, &line, err);
            if (rc == PONS_OK) {
                json_object_del(line, "sum");
                rc = pons__ledger_keep_line(out, line);
            }
            pons_value_unref(line);
        } else if (rc == PONS_ECORRUPT) {
            bad++;
            rc = PONS_OK;
        }
        if (rc < 0) {
            pons__ledger_close(l);
            return rc == PONS_EUNSUPPORTED
                       ? rc
                       : pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to repair the ledger");
        }
        at = end + 1;
    }
    pons__ledger_close(l);
    *ret_lost = bad;
    return PONS_OK;
}
