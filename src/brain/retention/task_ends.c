// task_ends.c - where tasks ended: read, added to, thinned out, written.
//
// A mark a task would be a list as long as the thread has lived. So marks stand the further apart the
// older they are: two stay only where they are further from each other than a sixteenth of their age,
// in tasks. Of 100 tasks there are about 40, of 365,000 about 200, and a cut keeps at most a
// sixteenth more than was asked for.
#include "brain/retention/task_ends.h"

#include "pons/fields.h"
#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART 16

typedef struct mark_text { // a mark as its table has it
    int64_t n, lived_ms, wall_ms, event;
    const char *kernel, *react;
} mark_text;

typedef struct begun_text {
    const char *task;
    int64_t n;
} begun_text;

typedef struct ends_text {
    int64_t ended, lived_ms, wall_ms, cut, audited, thinned, looked, started;
    int64_t checkpoints, events, effects, bytes, pruned_ms;
    const pons_value *marks, *begun;
} ends_text;

// clang-format off
#define NUMBER(type, member, text) {#member, PONS_FIELD_INTEGER, PONS_FIELD_OPTIONAL, offsetof(type, member), .means = (text)}
#define TEXT(type, member, text)   {#member, PONS_FIELD_STRING,  PONS_FIELD_OPTIONAL, offsetof(type, member), .means = (text)}
#define LIST(type, member, text)   {#member, PONS_FIELD_LIST,    PONS_FIELD_OPTIONAL, offsetof(type, member), .means = (text)}
static const pons_field mark_fields[] = {
    NUMBER(mark_text, n,        "tasks that had ended"),
    NUMBER(mark_text, lived_ms, "when, by the life of the thread"),
    NUMBER(mark_text, wall_ms,  "and by the clock"),
    NUMBER(mark_text, event,    "the newest event's number"),
    TEXT(mark_text,   kernel,   "the newest checkpoint, until it is cut off"),
    TEXT(mark_text,   react,    "and of the inner loop"),
};
static const pons_field begun_fields[] = {
    TEXT(begun_text,   task, "that has begun and not ended"),
    NUMBER(begun_text, n,    "tasks that had ended by then"),
};
static const pons_field ends_fields[] = {
    NUMBER(ends_text, ended,       "tasks that have ended"),
    NUMBER(ends_text, lived_ms,    "the thread's life: a leap of the clock is no part of it"),
    NUMBER(ends_text, wall_ms,     "the clock at that moment"),
    NUMBER(ends_text, cut,         "tasks whose details are gone"),
    NUMBER(ends_text, audited,     "tasks of which nothing is left"),
    NUMBER(ends_text, thinned,     "events up to this number have lost what they may lose"),
    NUMBER(ends_text, looked,      "events up to this number were looked at for the newest run.started"),
    NUMBER(ends_text, started,     "its number"),
    NUMBER(ends_text, checkpoints, "that have gone, in all"),
    NUMBER(ends_text, events,      "that have gone, or lost their payload"),
    NUMBER(ends_text, effects,     "that have gone"),
    NUMBER(ends_text, bytes,       "that the store used after the last time"),
    NUMBER(ends_text, pruned_ms,   "the last time"),
    LIST(ends_text,   marks,       "ends of tasks, the oldest first"),
    LIST(ends_text,   begun,       "tasks that have begun and not ended"),
};
// clang-format on
#define N(table) (sizeof(table) / sizeof *(table))

int pons__ends_read(const pons_value *v, pons__ends *ret)
{
    ends_text t;
    pons_field_fault fault = {0}; // what does not fit has its default
    pons_fields_decode(ends_fields, N(ends_fields), v, &t, &fault);
    *ret = (pons__ends){
        .ended = t.ended,
        .lived_ms = t.lived_ms,
        .wall_ms = t.wall_ms,
        .cut = t.cut,
        .audited = t.audited,
        .thinned = t.thinned,
        .looked = t.looked,
        .started = t.started,
        .checkpoints = t.checkpoints,
        .events = t.events,
        .effects = t.effects,
        .bytes = t.bytes,
        .pruned_ms = t.pruned_ms,
        .marks = calloc(json_array_size(t.marks) + 1, sizeof *ret->marks),
        .begun = calloc(json_array_size(t.begun) + 1, sizeof *ret->begun),
    };
    if (!ret->marks || !ret->begun) {
        pons__ends_fini(ret);
        return PONS_ENOMEM;
    }
    for (size_t i = 0; i < json_array_size(t.marks); i++) {
        mark_text m;
        pons_fields_decode(mark_fields, N(mark_fields), json_array_get(t.marks, i), &m, &fault);
        pons__mark *to = &ret->marks[ret->n_marks++];
        *to =
            (pons__mark){.n = m.n, .lived_ms = m.lived_ms, .wall_ms = m.wall_ms, .event = m.event};
        snprintf(to->kernel, sizeof to->kernel, "%s", m.kernel);
        snprintf(to->react, sizeof to->react, "%s", m.react);
    }
    for (size_t i = 0; i < json_array_size(t.begun); i++) {
        begun_text b;
        pons_fields_decode(begun_fields, N(begun_fields), json_array_get(t.begun, i), &b, &fault);
        pons__begun *to = &ret->begun[ret->n_begun++];
        to->n = b.n;
        snprintf(to->task, sizeof to->task, "%s", b.task);
    }
    return PONS_OK;
}

pons_value *pons__ends_write(const pons__ends *e)
{
    pons_autovalue marks = json_array(), *begun = json_array();
    int bad = 0;
    for (size_t i = 0; i < e->n_marks; i++) {
        const pons__mark *m = &e->marks[i];
        const mark_text t = {m->n, m->lived_ms, m->wall_ms, m->event, m->kernel, m->react};
        bad |= json_array_append_new(marks, pons_fields_object(mark_fields, N(mark_fields), &t));
    }
    for (size_t i = 0; i < e->n_begun; i++) {
        const begun_text t = {e->begun[i].task, e->begun[i].n};
        bad |= json_array_append_new(begun, pons_fields_object(begun_fields, N(begun_fields), &t));
    }
    const ends_text t = {
        .ended = e->ended,
        .lived_ms = e->lived_ms,
        .wall_ms = e->wall_ms,
        .cut = e->cut,
        .audited = e->audited,
        .thinned = e->thinned,
        .looked = e->looked,
        .started = e->started,
        .checkpoints = e->checkpoints,
        .events = e->events,
        .effects = e->effects,
        .bytes = e->bytes,
        .pruned_ms = e->pruned_ms,
        .marks = marks,
        .begun = begun,
    };
    return bad ? NULL : pons_fields_object(ends_fields, N(ends_fields), &t);
}

void pons__ends_fini(pons__ends *e)
{
    free(e->marks);
    free(e->begun);
    *e = (pons__ends){0};
}

static void thin_out(pons__ends *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n_marks; i++) {
        const bool last = i + 1 == e->n_marks;
        const int64_t before = kept > 0 ? e->marks[kept - 1].n : 0;
        const int64_t age = e->ended - e->marks[i].n;
        if (last || e->marks[i + 1].n - before > age / APART) {
            e->marks[kept++] = e->marks[i];
        }
    }
    e->n_marks = kept;
}

bool pons__ends_mark(pons__ends *e, const pons__mark *m)
{
    if (!pons_list_reserve(&e->marks, NULL, e->n_marks + 1, sizeof *e->marks)) {
        return false;
    }
    e->marks[e->n_marks++] = *m;
    thin_out(e);
    return true;
}

bool pons__ends_begin(pons__ends *e, const char *task)
{
    if (!pons_list_reserve(&e->begun, NULL, e->n_begun + 1, sizeof *e->begun)) {
        return false;
    }
    pons__begun *b = &e->begun[e->n_begun++];
    b->n = e->ended;
    snprintf(b->task, sizeof b->task, "%s", task);
    return true;
}

const pons__mark *pons__ends_find(const pons__ends *e, int64_t n, int64_t lived_ms)
{
    const pons__mark *found = NULL;
    for (size_t i = 0; i < e->n_marks && e->marks[i].n <= n && e->marks[i].lived_ms <= lived_ms;
         i++) {
        found = &e->marks[i];
    }
    return found;
}
