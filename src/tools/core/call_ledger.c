// call_ledger.c - run/tools.ledger: what became of each key of a tool that reaches the world.
//
// One JSON line a transition, as in the body's ledger:
//
//     {"key":"…","state":"begun","what":{…}}     synced before anything happens
//     {"key":"…","state":"ended","result":{…}}   afterwards; {output…} or {error, status}
//
// A key without a line was never begun. A line that was cut short by a crash counts as absent: it
// can only be the last one, and what it announces had not happened yet, or is told by `begun`.
//
// Every process that has written holds a shared lock on the file. Whoever gets it exclusively before its
// first write is alone, and may rewrite the file with the newest entries only.
#include "tools/core/call_ledger.h"

#include "pons/growing_list.h"
#include "pons/redact.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP        512                // keys that are remembered
#define FILE_MAX    (64 * 1024 * 1024) // bytes of a ledger that is read
#define STORED_TEXT 4096               // bytes of an output that the ledger keeps
#define FOLDER      "run"
#define NAME        "tools.ledger"
#define FRESH       "tools.ledger.new"

typedef struct entry {
    char *key;
    pons__fate fate;
    pons_value *value;
} entry;

struct pons__call_ledger {
    const pons__core *core;
    int dir_fd, fd; // -1: nothing was written yet
    // [mtx]
    pthread_mutex_t mtx;
    entry *entries; // oldest first
    size_t n, cap;
};

static int not_open(const pons__call_ledger *l, pons_error *err)
{
    return pons_error_set(err, PONS_EENV, PONS__TOOLS, "cannot open %s/" FOLDER "/" NAME ": %s",
                          l->core->state, strerror(errno));
}

static entry *find(pons__call_ledger *l, const char *key)
{
    for (size_t i = l->n; i-- > 0;) {
        if (strcmp(l->entries[i].key, key) == 0) {
            return &l->entries[i];
        }
    }
    return NULL;
}

static void note(pons__call_ledger *l, const char *key, pons__fate fate, const pons_value *value)
{
    entry *e = find(l, key);
    if (e) {
        pons_value_unref(e->value);
        e->value = pons_value_ref(value);
        e->fate = fate;
        return;
    }
    if (l->n == 2 * (size_t)KEEP) { // forget the older half
        for (size_t i = 0; i < KEEP; i++) {
            free(l->entries[i].key);
            pons_value_unref(l->entries[i].value);
        }
        memmove(l->entries, l->entries + KEEP, KEEP * sizeof *l->entries);
        l->n = KEEP;
    }
    if (!pons_list_reserve(&l->entries, &l->cap, l->n + 1, sizeof *l->entries)) {
        return; // on disk all the same
    }
    char *own = strdup(key);
    if (own) {
        l->entries[l->n++] = (entry){.key = own, .fate = fate, .value = pons_value_ref(value)};
    }
}

static void take_line(pons__call_ledger *l, const char *text, size_t n, bool *ret_torn)
{
    pons_autovalue line = NULL;
    if (n == 0) {
        return;
    }
    if (pons_value_parse(text, n, &line, NULL) < 0 || !pons_get_str(line, "key", NULL)) {
        *ret_torn = true;
        return;
    }
    const bool ended = strcmp(pons_get_str(line, "state", ""), "ended") == 0;
    note(l, pons_get_str(line, "key", ""), ended ? PONS__ENDED : PONS__BEGUN,
         pons_get(line, ended ? "result" : "what"));
}

static int load(pons__call_ledger *l, bool *ret_torn, pons_error *err)
{
    struct stat st;
    if (fstat(l->fd, &st) < 0 || st.st_size > FILE_MAX) {
        return pons_error_set(err, PONS_EENV, PONS__TOOLS,
                              FOLDER "/" NAME " is larger than %d bytes: move it away", FILE_MAX);
    }
    char *text = malloc((size_t)st.st_size + 1);
    const ssize_t n = text ? pread(l->fd, text, (size_t)st.st_size, 0) : -1;
    if (n < 0) {
        free(text);
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot read " FOLDER "/" NAME ": %s",
                              strerror(errno));
    }
    const char *at = text, *end = text + n;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        take_line(l, at, (size_t)((line_end ? line_end : end) - at), ret_torn);
        *ret_torn |= !line_end;
        at = line_end ? line_end + 1 : end;
    }
    free(text);
    return PONS_OK;
}

static int rewrite(pons__call_ledger *l, pons_error *err);

// Only a call writes: a check, or an agent on a disk without writing, needs no more than to read.
static int open_to_write(pons__call_ledger *l, pons_error *err)
{
    const int state = l->core->state_fd;
    if (mkdirat(state, FOLDER, 0700) < 0 && errno != EEXIST) {
        return not_open(l, err);
    }
    l->dir_fd = openat(state, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (l->dir_fd >= 0) {
        l->fd = openat(l->dir_fd, NAME, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (l->fd < 0) {
        const int rc = not_open(l, err);
        if (l->dir_fd >= 0) {
            close(l->dir_fd);
            l->dir_fd = -1;
        }
        return rc;
    }
    bool torn = false;
    const bool alone = flock(l->fd, LOCK_EX | LOCK_NB) == 0;
    int rc = load(l, &torn, err);
    if (rc >= 0 && torn &&
        write(l->fd, "\n", 1) != 1) { // the next line begins on a line of its own
        rc = not_open(l, err);
    }
    if (rc >= 0 && alone && (l->n > KEEP || torn)) {
        rc = rewrite(l, err);
    }
    if (rc < 0) { // nothing is written into what was not read
        close(l->fd);
        close(l->dir_fd);
        l->fd = l->dir_fd = -1;
        return rc;
    }
    flock(l->fd, LOCK_SH | (alone ? 0 : LOCK_NB));
    return PONS_OK;
}

int pons__call_ledger_open(const pons__core *c, pons__call_ledger **ret, pons_error *err)
{
    pons__call_ledger *l = calloc(1, sizeof *l);
    if (!l) {
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for the ledger");
    }
    pthread_mutex_init(&l->mtx, NULL);
    l->core = c;
    l->dir_fd = -1;
    bool torn = false;
    l->fd = openat(c->state_fd, FOLDER "/" NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int rc = l->fd >= 0 ? load(l, &torn, err) : errno == ENOENT ? PONS_OK : not_open(l, err);
    if (l->fd >= 0) {
        close(l->fd);
        l->fd = -1;
    }
    if (rc < 0) {
        pons__call_ledger_close(l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

void pons__call_ledger_close(pons__call_ledger *l)
{
    if (!l) {
        return;
    }
    for (size_t i = 0; i < l->n; i++) {
        free(l->entries[i].key);
        pons_value_unref(l->entries[i].value);
    }
    free(l->entries);
    if (l->fd >= 0) {
        close(l->fd);
    }
    if (l->dir_fd >= 0) {
        close(l->dir_fd);
    }
    pthread_mutex_destroy(&l->mtx);
    free(l);
}

pons__fate pons__call_ledger_look(pons__call_ledger *l, const char *key, pons_value **ret_value)
{
    pthread_mutex_lock(&l->mtx);
    const entry *e = find(l, key);
    const pons__fate fate = e ? e->fate : PONS__NEVER;
    if (e) {
        *ret_value = pons_value_ref(e->value);
    }
    pthread_mutex_unlock(&l->mtx);
    return fate;
}

static int append(pons__call_ledger *l, const pons_value *line, bool sync, pons_error *err)
{
    char *text = NULL;
    const int rc = l->fd < 0 ? open_to_write(l, err) : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    const long n = pons_value_line(line, &text);
    if (n < 0) {
        return pons_error_set(err, (int)n, PONS__TOOLS, "cannot write the ledger's line");
    }
    text[n] = '\n'; // in place of the zero
    const ssize_t wrote = write(l->fd, text, (size_t)n + 1);
    const bool whole = wrote == n + 1 && (!sync || fdatasync(l->fd) == 0);
    const int saved = errno;
    free(text);
    if (!whole) {
        return pons_error_set(err, PONS_EIO, PONS__TOOLS, "cannot write " FOLDER "/" NAME ": %s",
                              wrote >= 0 && wrote <= n ? "disk full" : strerror(saved));
    }
    return PONS_OK;
}

int pons__call_ledger_begin(pons__call_ledger *l, const char *key, const pons_value *what,
                            pons_error *err)
{
    if (!*key) {
        return PONS_OK;
    }
    if (strlen(key) > PONS__LEDGER_KEY) {
        return pons_error_set(err, PONS_EINVAL, PONS__TOOLS, "the call's key is longer than %d",
                              PONS__LEDGER_KEY);
    }
    pons_autovalue line = pons_object("key", json_string(key), "state", json_string("begun"),
                                      "what", pons_value_ref(what), NULL);
    pthread_mutex_lock(&l->mtx);
    const int rc = append(l, line, true, err);
    if (rc >= 0) {
        note(l, key, PONS__BEGUN, what);
    }
    pthread_mutex_unlock(&l->mtx);
    return rc;
}

// What a command says may have the keys that it was given. A copy.
static pons_value *without_keys(const pons_value *result)
{
    pons_value *kept = json_copy((json_t *)(uintptr_t)result);
    pons_each_member(name, member, result) {
        char *clean = json_is_string(member) ? pons_redacted(json_string_value(member)) : NULL;
        if (clean) {
            json_object_set_new(kept, name, json_string(clean));
        }
        free(clean);
    }
    return kept;
}

void pons__call_ledger_end(pons__call_ledger *l, const char *key, const pons_value *result)
{
    pons_error ignored = PONS_ERROR_INIT;
    pons_autovalue kept = without_keys(result);
    const char *output = pons_get_str(kept, "output", "");
    const size_t n = strlen(output);
    if (n > STORED_TEXT) {
        json_object_set_new(kept, "output",
                            json_stringn(output, pons__text_cut(output, STORED_TEXT)));
        json_object_set_new(kept, "truncated", json_true());
    }
    pons_autovalue line = pons_object("key", json_string(key), "state", json_string("ended"),
                                      "result", pons_value_ref(kept), NULL);
    pthread_mutex_lock(&l->mtx);
    const entry *e = find(l, key);
    if (e && e->fate == PONS__BEGUN) {    // what was refused before it began may be tried again
        append(l, line, false, &ignored); // lost: adopt says that it is not known
        note(l, key, PONS__ENDED, kept);
    }
    pthread_mutex_unlock(&l->mtx);
}

static int rewrite(pons__call_ledger *l, pons_error *err)
{
    const int old = l->fd;
    unlinkat(l->dir_fd, FRESH, 0);
    l->fd = openat(l->dir_fd, FRESH, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    int rc = l->fd < 0 ? PONS_EIO : PONS_OK;
    for (size_t i = l->n > KEEP ? l->n - KEEP : 0; rc >= 0 && i < l->n; i++) {
        const entry *e = &l->entries[i];
        const bool ended = e->fate == PONS__ENDED;
        pons_autovalue line =
            pons_object("key", json_string(e->key), "state", json_string(ended ? "ended" : "begun"),
                        ended ? "result" : "what", pons_value_ref(e->value), NULL);
        rc = append(l, line, false, err);
    }
    if (rc >= 0 && (fdatasync(l->fd) < 0 || flock(l->fd, LOCK_EX | LOCK_NB) < 0 ||
                    renameat(l->dir_fd, FRESH, l->dir_fd, NAME) < 0)) {
        rc = PONS_EIO;
    }
    if (rc < 0) { // the old one is as good, only longer
        if (l->fd >= 0) {
            close(l->fd);
        }
        l->fd = old;
        return PONS_OK;
    }
    fsync(l->dir_fd);
    close(old);
    return PONS_OK;
}
