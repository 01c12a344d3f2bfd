// sessions_file.c - SESSIONS.md and the lanes made to say the same.
//
//     in the file      in the lanes     then
//     pending          nothing          it goes into its lane
//     pending          pending          what the file says counts: its order, its arguments, its target
//     gone             pending          somebody took it out: it is cancelled
//     cancelled        pending          it is cancelled
//     anything         runs, has ended  what the lanes say counts, and is written
//     nothing          runs, waits      it is written, when it came another way
//
// The lanes are the truth: a session's end is in them first, then here with its line in LOG.md. What has
// ended stays in the file as long as it is among the last KEPT; in the lanes it stays longer (ended_sessions.c).
#include "pons/buf.h"
#include "pons/growing_list.h"
#include "pons/out_of_memory.h"
#include "workspace/runtime/runtime_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEPT    200  // sessions that have ended
#define SHOWN   1000 // sessions that came another way
#define LOOK_MS 1000
#define LIVE    (1u << PONS_SESSION_PENDING | 1u << PONS_SESSION_WAITING | 1u << PONS_SESSION_RUNNING)

static const char *const own_keys[] = {"status",     "claimed_by", "claim_token",
                                       "updated_at", "result",     "error"};

// ---- a record and a row -------------------------------------------------------------------------

// What a person has asked for: a record without what the watchdog writes into it.
static pons_value *asked_of(const pons_value *record)
{
    pons_value *v = json_deep_copy(record);
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++) {
        json_object_del(v, own_keys[i]);
    }
    json_object_del(json_object_get(v, "retry"), "attempted");
    return v;
}

static int priority_of(const pons_value *record)
{
    const char *p = pons_get_str(record, "priority", "normal");
    return strcmp(p, "high") == 0 ? 0 : strcmp(p, "low") == 0 ? 2 : 1;
}

// created_at in ms; one that cannot be read, or is none: 0, so before all others.
static int64_t created_ms(const pons_value *record)
{
    struct tm tm = {0};
    const char *at = pons_get_str(record, "created_at", "");
    const char *rest = strptime(at, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest) {
        return 0;
    }
    int64_t ms = (int64_t)timegm(&tm) * 1000;
    if (*rest == '.') {
        char *end;
        const double part = strtod(rest, &end);
        ms += part < 1.0 ? (int64_t)(part * 1000.0) : 0; // ".5e9" is none
        rest = end;
    }
    int h, m;
    if ((*rest == '+' || *rest == '-') && sscanf(rest + 1, "%2d:%2d", &h, &m) == 2) {
        ms -= (*rest == '+' ? 1 : -1) * (h * 60 + m) * 60000LL;
    }
    return ms;
}

typedef struct ask { // a row, with the text that it points to
    pons_session_row row;
    char *data;
} ask;

static bool row_of(const pons_ws_record *r, ask *ret)
{
    pons_autovalue v = asked_of(r->value);
    ret->data = NULL;
    const long n = pons_value_line(v, &ret->data);
    ret->row = (pons_session_row){.id = r->id,
                                  .lane = pons_get_str(r->value, "target_ref", ""),
                                  .priority = priority_of(r->value),
                                  .order_ms = created_ms(r->value),
                                  .data = {ret->data, n > 0 ? (size_t)n : 0}};
    return n > 0;
}

// An id names a folder: nothing else may be meant by it.
static bool good_id(const char *id)
{
    return id[0] && id[0] != '.' && strlen(id) < RT_ID_MAX &&
           strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
               strlen(id);
}

static pons_value *parsed(pons_bytes b)
{
    pons_value *v = NULL;
    return b.len && pons_value_parse(b.data, b.len, &v, NULL) == PONS_OK ? v : json_object();
}

static const char *status_of(int32_t state)
{
    static const char *const words[] = {
        [PONS_SESSION_PENDING] = "pending",     [PONS_SESSION_WAITING] = "pending",
        [PONS_SESSION_RUNNING] = "running",     [PONS_SESSION_SUCCEEDED] = "succeeded",
        [PONS_SESSION_FAILED] = "failed",       [PONS_SESSION_UNKNOWN] = "failed",
        [PONS_SESSION_CANCELLED] = "cancelled",
    };
    return words[state];
}

// What a row says, as a record of the file. was: as the file has it, or NULL.
static pons_value *file_record(const pons_session_row *row, const pons_value *was)
{
    pons_autovalue note = parsed(row->note);
    pons_value *v = was ? json_deep_copy(was) : parsed(row->data);
    char token[32];
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++) {
        if (strcmp(own_keys[i], "updated_at") != 0) {
            json_object_del(v, own_keys[i]);
        }
    }
    json_object_set_new(v, "status", json_string(status_of(row->state)));
    if (row->attempt) {
        pons_value *retry = json_object_get(v, "retry");
        if (!retry) {
            retry = json_object();
            json_object_set_new(v, "retry", retry);
        }
        json_object_set_new(retry, "attempted", json_integer(row->attempt));
    }
    if (row->state == PONS_SESSION_RUNNING) {
        snprintf(token, sizeof token, "%llu", (unsigned long long)row->epoch);
        json_object_set_new(v, "claimed_by", json_string(row->owner));
        json_object_set_new(v, "claim_token", json_string(token));
    }
    if (pons_get(note, "result")) {
        json_object_set(v, "result", (json_t *)pons_get(note, "result"));
    }
    if (pons_get(note, "error")) {
        json_object_set(v, "error", (json_t *)pons_get(note, "error"));
    }
    return v;
}

static bool ended(const char *status)
{
    return strcmp(status, "pending") != 0 && strcmp(status, "running") != 0;
}

// ---- writing ------------------------------------------------------------------------------------

static void log_end(pons_runtime *r, const char *id, const pons_value *record)
{
    pons_autobuf line = PONS_BUF_INIT;
    const pons_value *error = pons_get(record, "error");
    pons_buf_printf(&line, "%s on %s by %s: %s", id, pons_get_str(record, "target_ref", ""),
                    pons_get_str(record, "skill_ref", ""), pons_get_str(record, "status", ""));
    if (error) {
        pons_buf_printf(&line, " %s: %s", pons_get_str(error, "code", ""),
                        pons_get_str(error, "message", ""));
    }
    pons_ws_place_log(r->o.place, PONS_WS_SESSIONS, line.data);
}

// Those that have ended and are older than the last KEPT, of the file's order, go.
static size_t old_ones(const pons_ws_doc *d, pons_ws_change **list)
{
    size_t n, over = 0, k = 0;
    const pons_ws_record *all = pons_ws_records(d, &n);
    for (size_t i = 0; i < n; i++) {
        over += ended(pons_get_str(all[i].value, "status", "pending"));
    }
    if (over <= KEPT) {
        return 0;
    }
    over -= KEPT;
    *list = pons_need_zeroed(over, sizeof **list);
    for (size_t i = 0; i < n && k < over; i++) {
        if (ended(pons_get_str(all[i].value, "status", "pending"))) {
            (*list)[k++] = (pons_ws_change){"session", pons_need_text(all[i].id), NULL};
        }
    }
    return k;
}

static void trim(pons_runtime *r)
{
    pons_ws_change *list = NULL;
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
    const size_t n = d ? old_ones(d, &list) : 0;
    if (n) {
        pons_ws_place_change(r->o.place, PONS_WS_SESSIONS, list, n, &err);
    }
    for (size_t i = 0; i < n; i++) {
        free((char *)(uintptr_t)list[i].id);
    }
    free(list);
}

// Whether the file has a record that cannot be read and may be this one: it is neither gone nor to be
// written a second time. id NULL: any.
static bool is_faulty(const pons_ws_doc *d, const char *id)
{
    size_t n = 0;
    const pons_ws_fault *all = pons_ws_faults(d, &n);
    for (size_t i = 0; i < n; i++) {
        if (!id || !all[i].id[0] || strcmp(all[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

// What the file says of a session, or will say with the next write.
static const pons_value *said_of(const pons_runtime *r, const pons_ws_doc *d, const char *id)
{
    for (size_t i = json_array_size(r->shows); i > 0; i--) {
        const pons_value *s = json_array_get(r->shows, i - 1);
        if (strcmp(pons_get_str(s, "id", ""), id) == 0) {
            return pons_get(s, "value");
        }
    }
    const pons_ws_record *have = d ? pons_ws_find(d, "session", id) : NULL;
    return have ? have->value : NULL;
}

// Shows what a row says, where the file says something else.
void pons__rt_file_show(pons_runtime *r, const pons_session_row *row)
{
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
    const pons_value *have = said_of(r, d, row->id);
    if (!have && d && is_faulty(d, row->id)) {
        return; // when somebody has mended it
    }
    pons_autovalue v = file_record(row, have);
    if (have && json_equal((json_t *)(uintptr_t)have, v)) {
        return;
    }
    char when[32];
    pons_utc_text(pons_wall_ms(&r->o.clock), when);
    json_object_set_new(v, "updated_at", json_string(when));
    json_array_append_new(r->shows,
                          pons_object("id", json_string(row->id), "value", pons_value_ref(v),
                                      "seen", json_boolean(r->looking), NULL));
}

static void log_ends(pons_runtime *r)
{
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
    pons_each(s, r->shows) {
        const char *id = pons_get_str(s, "id", "");
        const pons_value *v = pons_get(s, "value");
        const pons_ws_record *have = d ? pons_ws_find(d, "session", id) : NULL;
        const bool over = have && ended(pons_get_str(have->value, "status", "pending"));
        if (ended(pons_get_str(v, "status", "")) && !over && !pons_get(r->logged, id)) {
            log_end(r, good_id(id) ? id : "a session",
                    v); // before it shows as ended: no line is lost
            json_object_set_new(r->logged, id, json_true());
        }
    }
}

void pons__rt_file_flush(pons_runtime *r)
{
    pons_error err = PONS_ERROR_INIT;
    const size_t n = json_array_size(r->shows);
    if (!n || !pons_ws_place_may_write(r->o.place, PONS_WS_SESSIONS)) {
        return;
    }
    log_ends(r);
    pons_autovalue newest = json_object();
    size_t k = 0;
    pons_each(s, r->shows) {
        json_object_set(newest, pons_get_str(s, "id", ""), json_object_get(s, "value"));
    }
    pons_ws_change *list = pons_need_zeroed(n, sizeof *list);
    const char *id;
    json_t *v;
    json_object_foreach(newest, id, v) {
        list[k++] = (pons_ws_change){"session", id, v};
    }
    const int rc = pons_ws_place_change(r->o.place, PONS_WS_SESSIONS, list, k, &err);
    free(list);
    if (rc == PONS_EAGAIN) {
        return; // an editor has it: soon
    }
    pons_each(s, r->shows) {
        r->unlooked = r->unlooked || pons_get_bool(s, "seen", false);
        if (rc >= 0) {
            json_object_del(r->logged, pons_get_str(s, "id", ""));
            r->failed += pons_get_bool(s, "refused", false);
        }
        if (rc >= 0 && r->o.reported) {
            r->o.reported(r->o.user, pons_get_str(s, "id", ""), pons_get(s, "value"));
        }
    }
    json_array_clear(r->shows); // one that cannot be written is compared anew at the next look
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct live { // what the lanes have
    session_copy *at;
    size_t n, cap;
} live;

static int take_live(void *user, const pons_session_row *row)
{
    live *l = user;
    pons_need_room(&l->at, &l->cap, l->n + 1, sizeof *l->at);
    pons__rt_copy(&l->at[l->n++], row);
    return 0;
}

static void live_free(live *l)
{
    for (size_t i = 0; i < l->n; i++) {
        pons__rt_copy_free(&l->at[i]);
    }
    free(l->at);
}

static const pons_session_row *find_live(const live *l, const char *id)
{
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->at[i].row.id, id) == 0) {
            return &l->at[i].row;
        }
    }
    return NULL;
}

static void cancel(pons_runtime *r, const char *id, const char *why)
{
    pons_error err = PONS_ERROR_INIT;
    char *text = NULL;
    pons_autovalue note = pons_object(
        "error", pons_object("code", json_string("CANCELLED"), "message", json_string(why), NULL),
        NULL);
    const long n = pons_value_line(note, &text);
    const pons_bytes bytes = {text, n > 0 ? (size_t)n : 0};
    r->o.lanes.ops->cancel(r->o.lanes.self, id, bytes, &err); // one that has begun goes on
    free(text);
}

// A session of the file that is pending there, and not ended in the lanes.
static void put_pending(pons_runtime *r, const pons_ws_record *rec, const pons_session_row *row)
{
    pons_error err = PONS_ERROR_INIT;
    ask a;
    char id[RT_ID_MAX];
    if (!row_of(rec, &a)) {
        free(a.data);
        return;
    }
    if (row && (row->data.len != a.row.data.len ||
                memcmp(row->data.data, a.row.data.data, a.row.data.len) != 0)) {
        r->o.lanes.ops->change(r->o.lanes.self, &a.row, &err); // refused: it has just begun
    }
    snprintf(id, sizeof id, "%s", rec->id);
    if (!row && r->o.lanes.ops->enqueue(r->o.lanes.self, &a.row, 1, &err) == PONS_OK) {
        r->claims = true;
    }
    free(a.data);
}

typedef struct shown {
    pons_runtime *r;
    bool there;
} shown;

static int show_row(void *user, const pons_session_row *row)
{
    shown *s = user;
    s->there = true;
    pons__rt_file_show(s->r, row);
    return 0;
}

// A row that is not live: it has ended, or there is none.
static bool show_ended(pons_runtime *r, const char *id)
{
    shown s = {r, false};
    pons_error err = PONS_ERROR_INIT;
    const int rc = r->o.lanes.ops->get(r->o.lanes.self, id, show_row, &s, &err);
    return s.there || (rc < 0 && rc != PONS_ENOTFOUND);
}

// One that never goes into a lane: it has failed, in the file alone.
static void refuse(pons_runtime *r, const pons_ws_record *rec, const rt_refusal *why)
{
    pons_value *v = json_deep_copy(rec->value);
    json_object_set_new(v, "status", json_string("failed"));
    json_object_set_new(
        v, "error",
        pons_object("code", json_string(why->code), "message", pons_string(why->why), NULL));
    if (said_of(r, NULL, rec->id)) {
        pons_value_unref(v);
    } else {
        json_array_append_new(r->shows, pons_object("id", pons_string(rec->id), "value", v,
                                                    "refused", json_true(), NULL));
    }
}

static bool is_mine(const pons_runtime *r, const pons_value *record)
{
    return !r->only[0] || strcmp(pons_get_str(record, "target_ref", ""), r->only) == 0;
}

static void sync_pending(pons_runtime *r, const pons_ws_record *rec, const pons_session_row *row,
                         pons_value *known)
{
    rt_refusal why = {0};
    const rt_depends may = row ? RT_READY : pons__rt_depends(r, rec->id, rec->value, &why);
    r->pending += is_mine(r, rec->value);
    if (may == RT_NEVER) {
        refuse(r, rec, &why);
    } else if (may == RT_READY) {
        json_object_set_new(known, rec->id, json_true());
        put_pending(r, rec, row);
    }
}

static void sync_one(pons_runtime *r, const pons_ws_record *rec, const live *l, pons_value *known)
{
    const char *status = pons_get_str(rec->value, "status", "pending");
    const pons_session_row *row = find_live(l, rec->id);
    if (ended(status) && strcmp(status, "cancelled") != 0 && !row) {
        return;
    }
    if (!row && !*pons_get_str(rec->value, "target_ref", "")) {
        return; // what somebody intends, on no target: nobody runs it
    }
    rt_refusal why = {0};
    if (!good_id(rec->id)) {
        pons__rt_refuse(&why, "SESSION_ID_INVALID", "letters, digits, _ - and . only, at most 127");
        refuse(r, rec, &why);
        return;
    }
    if (strcmp(status, "cancelled") == 0) {
        if (row && row->state <= PONS_SESSION_WAITING) {
            cancel(r, rec->id, "cancelled in SESSIONS.md");
        } else if (row) {
            pons__rt_file_show(r, row);
        }
        return;
    }
    if (row && row->state == PONS_SESSION_RUNNING) {
        r->pending += is_mine(r, rec->value);
        pons__rt_file_show(r, row);
    } else if (strcmp(status, "pending") == 0 && (row || !show_ended(r, rec->id))) {
        sync_pending(r, rec, row, known);
    } else if (row) {
        pons__rt_file_show(r, row);
    } else if (strcmp(status, "running") == 0) {
        show_ended(r, rec->id);
    }
}

// What was seen before and is not written yet is seen anew: another runtime may have ended it since.
static void forget_seen(pons_runtime *r)
{
    for (size_t i = json_array_size(r->shows); i > 0; i--) {
        if (pons_get_bool(json_array_get(r->shows, i - 1), "seen", false)) {
            json_array_remove(r->shows, i - 1);
        }
    }
}

static void sync_all(pons_runtime *r, const pons_ws_doc *d)
{
    live l = {0};
    pons_error err = PONS_ERROR_INIT;
    const pons_session_find find = {.states = LIVE};
    if (r->o.lanes.ops->list(r->o.lanes.self, &find, take_live, &l, &err) < 0) {
        live_free(&l);
        return;
    }
    size_t n;
    const pons_ws_record *all = pons_ws_records(d, &n);
    char(*ids)[512] = pons_need_zeroed(n + 1, sizeof *ids); // records go with the next write
    for (size_t i = 0; i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "%s", all[i].id);
    }
    pons_value *known = json_object();
    pons_value_unref(r->circles);
    r->circles = NULL;
    r->pending = 0;
    for (size_t i = 0; i < n; i++) {
        const pons_ws_doc *now = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
        const pons_ws_record *rec = now ? pons_ws_find(now, "session", ids[i]) : NULL;
        if (rec) {
            sync_one(r, rec, &l, known);
        }
    }
    for (size_t i = 0, more = 0; i < l.n && more < SHOWN; i++) {
        const pons_session_row *row = &l.at[i].row;
        const pons_ws_doc *now = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
        if (said_of(r, now, row->id)) {
            continue;
        }
        if (now && is_faulty(now, row->id)) {
            continue;
        }
        if (row->state <= PONS_SESSION_WAITING && pons_get(r->known, row->id)) {
            cancel(r, row->id, "taken out of SESSIONS.md");
        } else {
            pons__rt_file_show(r, row);
            more++;
        }
    }
    pons_value_unref(r->known);
    r->known = known;
    free(ids);
    live_free(&l);
}

void pons__rt_file_sync(pons_runtime *r, bool now)
{
    const int64_t at = pons__rt_now(r);
    const pons_ws_doc *d = pons_ws_place_doc(r->o.place, PONS_WS_SESSIONS);
    if (!d || pons_ws_place_suspended(r->o.place, PONS_WS_SESSIONS)) {
        r->file_at_ms = d ? r->file_at_ms : at; // without the file nothing is pending in it
        return;
    }
    size_t len;
    const char *text = pons_ws_text(d, &len);
    pons_autovalue whole = json_stringn(text, len);
    char hash[33];
    pons_value_hash(whole, hash);
    if (!now && strcmp(hash, r->generation) == 0 && at - r->file_at_ms < LOOK_MS) {
        return;
    }
    forget_seen(r);
    r->unlooked = false;
    r->looking = true;
    sync_all(r, d);
    r->looking = false;
    trim(r);
    r->file_at_ms = at;
    strcpy(r->generation, hash);
}
