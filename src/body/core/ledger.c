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

#include "pons/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE      "ledger"
#define LEDGER_MODE 0600
#define LEDGER_MAX  (1024UL * 1024UL * 1024UL) // bytes; a larger file is not a ledger of ours
#define LINES_MAX   2                          // of one append

typedef struct told {
    pons_ledger_line line;
    pons_value *held; // what it lies in
} told;

// A goal's newest line. Of a goal that is over its text is kept, which is a sixth of what it is as a
// value, and read again when somebody asks: a body hears of every goal that ever was.
typedef struct entry {
    int state;    // NONE: none is known
    bool started; // ever
    told *told;   // NULL: none, or packed
    char *packed; // (own) the line as JSON
} entry;

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
    entry *goals;       // in the order in which they were first heard of
    size_t n_goals, cap_goals;
    pons_value *index; // goal_id → its place in goals
    bool unpacked;     // a line of a goal that is over was asked for since the last append
};

static pons__ledger *create(const char *path, pons_error *err);
static int load(pons__ledger *l, pons_error *err);
static int load_text(pons__ledger *l, const char *text, size_t n, pons_error *err);
static int load_line(pons__ledger *l, const char *text, size_t n, pons_error *err);
static int damaged(const pons__ledger *l, int64_t number, pons_error *err);
static int keep_line(pons_buf *out, const pons_value *line);
static void see_note(pons__ledger *l, const pons_ledger_note *note);
static int know(pons__ledger *l, pons_value *json, pons_error *err);
static entry *entry_of(const pons__ledger *l, const char *goal_id);
static const pons_ledger_line *entry_line(entry *e);
static void entry_pack(entry *e);
static void told_free(told *t);
static entry *entry_for(pons__ledger *l, const char *goal_id);
static void entry_set(pons__ledger *l, entry *e, const pons_ledger_line *line, pons_value *held);
static int write_lines(pons__ledger *l, pons_value *const *lines, size_t n, pons_error *err);
static int no_memory(pons_error *err);

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
    for (size_t i = 0; i < l->n_goals; i++) {
        told_free(l->goals[i].told);
        free(l->goals[i].packed);
    }
    free(l->goals);
    pons_value_unref(l->index);
    free(l->path);
    free(l);
}

// All that needs memory comes before the write: what is on the disk is known.
int pons__ledger_append(pons__ledger *l, const pons_ledger_line *lines, size_t n, pons_error *err)
{
    pons_value *json[LINES_MAX] = {NULL};
    pons_ledger_line again[LINES_MAX];
    for (size_t i = 0; l->unpacked && i < l->n_goals; i++) {
        entry_pack(&l->goals[i]); // what was lent until now
    }
    l->unpacked = false;
    int rc = n > LINES_MAX ? pons_error_set(err, PONS_EINVAL, MODULE, "too many lines") : PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        json[i] = pons_ledger_line_encode(&lines[i]);
        rc = json[i] ? pons_ledger_line_decode(json[i], &again[i], err) : no_memory(err);
        if (rc == PONS_OK && again[i].state == PONS_GOAL_STARTED &&
            pons__ledger_started(l, again[i].goal_id)) {
            rc = pons_error_set(err, PONS_EEXIST, MODULE, "goal %s was started before",
                                again[i].goal_id);
        }
        if (rc == PONS_OK && !entry_for(l, again[i].goal_id)) {
            rc = no_memory(err);
        }
    }
    rc = rc == PONS_OK && l->fd >= 0 ? write_lines(l, json, n, err) : rc;
    for (size_t i = 0; i < n && i < LINES_MAX; i++) {
        if (rc == PONS_OK) {
            entry_set(l, entry_of(l, again[i].goal_id), &again[i], pons_value_ref(json[i]));
        }
        pons_value_unref(json[i]);
    }
    return rc;
}

int pons__ledger_note(pons__ledger *l, const pons_ledger_note *note, pons_error *err)
{
    pons_ledger_note again;
    pons_value *json = pons_ledger_note_encode(note);
    int rc = json ? pons_ledger_note_decode(json, &again, err) : no_memory(err);
    rc = rc == PONS_OK && l->fd >= 0 ? write_lines(l, &json, 1, err) : rc;
    if (rc == PONS_OK) {
        see_note(l, &again);
        l->lines++;
    }
    pons_value_unref(json);
    return rc;
}

int pons__ledger_note_text(const pons_ledger_note *note, pons_buf *out)
{
    pons_autovalue json = pons_ledger_note_encode(note);
    return json ? keep_line(out, json) : PONS_ENOMEM;
}

const pons_ledger_line *pons__ledger_find(const pons__ledger *l, const char *goal_id)
{
    entry *e = entry_of(l, goal_id);
    if (e && e->packed) {
        ((pons__ledger *)l)->unpacked = true; // a cache: what is known is the same
    }
    return e && e->state != PONS_GOAL_NONE ? entry_line(e) : NULL;
}

bool pons__ledger_started(const pons__ledger *l, const char *goal_id)
{
    const entry *e = entry_of(l, goal_id);
    return e && e->started;
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
    size_t n = 0;
    for (size_t i = 0; i < l->n_goals; i++) {
        n += l->goals[i].state != PONS_GOAL_NONE;
    }
    return n;
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
    for (size_t i = 0; i < l->n_goals; i++) {
        entry *e = &l->goals[i];
        if (e->started && !pons_goal_over((pons_goal_state)e->state) &&
            (!boot_id || strcmp(entry_line(e)->boot_id, boot_id) == 0)) {
            return entry_line(e)->goal_id;
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
            if (rc == PONS_OK) {
                json_object_del(line, "sum");
                rc = keep_line(out, line);
            }
            pons_value_unref(line);
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
    rc = rc < 0 ? rc : know(l, line, err);
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

// A good line, into what is left of a damaged ledger.
static int keep_line(pons_buf *out, const pons_value *line)
{
    char *text = NULL;
    const long n = pons__sum_line(line, &text);
    if (n < 0) {
        return PONS_ENOMEM;
    }
    const int rc = pons_buf_bytes(out, text, (size_t)n);
    free(text);
    return rc;
}

// ---- lines --------------------------------------------------------------------------------------

// A line of the file. Those without a state are about the body, or of other kinds, and pass.
static int know(pons__ledger *l, pons_value *json, pons_error *err)
{
    if (json_object_size(json) == 0) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "a line must be an object with members");
    }
    if (!pons_ledger_about_goal(json)) {
        pons_ledger_note note;
        pons_ledger_note_decode(json, &note, NULL); // its kind is what counts
        see_note(l, &note);
        l->lines++;
        return PONS_OK;
    }
    pons_ledger_line line;
    const int rc = pons_ledger_line_decode(json, &line, err);
    if (rc < 0) {
        return rc;
    }
    entry *e = entry_for(l, line.goal_id);
    if (!e) {
        return no_memory(err);
    }
    entry_set(l, e, &line, pons_value_ref(json));
    return PONS_OK;
}

// What a repair left out may have been a latch: it counts as one.
static void see_note(pons__ledger *l, const pons_ledger_note *note)
{
    const bool repair = note->kind == PONS_LEDGER_REPAIR;
    if (note->kind == PONS_LEDGER_RESET) {
        l->last = (pons__witness){0};
    } else if (repair || note->kind == PONS_LEDGER_LATCH) {
        l->last.latched = true;
        l->last.origin = repair ? PONS__ORIGIN_UNKNOWN : pons__origin_of(note->origin);
        snprintf(l->last.reason, sizeof l->last.reason, "%s",
                 repair ? "boot: lines of the ledger were lost" : note->reason);
    }
}

static entry *entry_of(const pons__ledger *l, const char *goal_id)
{
    const pons_value *at = pons_get(l->index, goal_id);
    return at ? &l->goals[json_integer_value(at)] : NULL;
}

// The goal's place, made when there is none. NULL: no memory.
static entry *entry_for(pons__ledger *l, const char *goal_id)
{
    entry *e = entry_of(l, goal_id);
    if (e) {
        return e;
    }
    if (l->n_goals == l->cap_goals) {
        const size_t cap = l->cap_goals ? 2 * l->cap_goals : 16;
        entry *more = realloc(l->goals, cap * sizeof *more);
        if (!more) {
            return NULL;
        }
        l->goals = more;
        l->cap_goals = cap;
    }
    if (json_object_set_new(l->index, goal_id, json_integer((json_int_t)l->n_goals)) < 0) {
        return NULL;
    }
    l->goals[l->n_goals] = (entry){.state = PONS_GOAL_NONE};
    return &l->goals[l->n_goals++];
}

// Takes held.
static void entry_set(pons__ledger *l, entry *e, const pons_ledger_line *line, pons_value *held)
{
    told *t = pons_need(sizeof *t);
    *t = (told){.line = *line, .held = held};
    told_free(e->told);
    free(e->packed);
    *e = (entry){
        .state = line->state, .started = e->started || line->state == PONS_GOAL_STARTED, .told = t};
    if (pons_goal_over((pons_goal_state)line->state)) {
        entry_pack(e);
    }
    l->epoch = line->epoch > l->epoch ? line->epoch : l->epoch;
    l->lines++;
}

static void told_free(told *t)
{
    if (t) {
        pons_value_unref(t->held);
        free(t);
    }
}

// Its line as text only, where it is over.
static void entry_pack(entry *e)
{
    if (e->told && pons_goal_over((pons_goal_state)e->state) &&
        (e->packed || pons_value_line(e->told->held, &e->packed) > 0)) {
        told_free(e->told);
        e->told = NULL;
    }
}

// The line, read again where it was packed. It was written here, so it can be read.
static const pons_ledger_line *entry_line(entry *e)
{
    if (!e->told && e->packed) {
        told *t = pons_need_zeroed(1, sizeof *t);
        if (pons_value_parse(e->packed, strlen(e->packed), &t->held, NULL) < 0 ||
            pons_ledger_line_decode(t->held, &t->line, NULL) < 0) {
            pons_end_no_memory("a line of the ledger");
        }
        e->told = t;
    }
    return e->told ? &e->told->line : NULL;
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a line");
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
        return no_memory(err);
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
