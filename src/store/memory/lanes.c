// lanes.c - sessions: one array as they came, an index by id, and for each lane those that are pending,
// sorted, the first to run at the end. Room is made before anything changes; what is handed out is
// copied under the lock and given without it.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>

static mem_session *find(const mem *m, const char *id)
{
    size_t at;
    return pons__mem_map_get(&m->session_by_id, id, &at) ? m->sessions[at] : NULL;
}

static mem_lane *lane_of(mem *m, const char *name)
{
    for (size_t i = 0; i < m->n_lanes; i++) {
        if (strcmp(m->lanes[i]->name, name) == 0) {
            return m->lanes[i];
        }
    }
    mem_lane *l = calloc(1, sizeof *l);
    if (!l || !pons__mem_grow(&m->lanes, &m->cap_lanes, m->n_lanes + 1, sizeof *m->lanes)) {
        free(l);
        return NULL;
    }
    strcpy(l->name, name);
    return m->lanes[m->n_lanes++] = l;
}

static bool earlier(const pons_session_row *a, const pons_session_row *b)
{
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    return a->order_ms != b->order_ms ? a->order_ms < b->order_ms : a->seq < b->seq;
}

static bool reserve(mem_lane *l)
{
    return pons__mem_grow(&l->waiting, &l->cap, l->n + 1, sizeof *l->waiting);
}

static void line_up(mem_session *s) // there is room
{
    mem_lane *l = s->lane;
    size_t low = 0, high = l->n; // behind those that are later
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (earlier(&s->row, &l->waiting[mid]->row)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    memmove(&l->waiting[low + 1], &l->waiting[low], (l->n - low) * sizeof *l->waiting);
    l->waiting[low] = s;
    l->n++;
}

static void step_out(const mem_session *s)
{
    mem_lane *l = s->lane;
    size_t i = 0;
    while (i < l->n && l->waiting[i] != s) {
        i++;
    }
    if (i < l->n) {
        l->n--;
        memmove(&l->waiting[i], &l->waiting[i + 1], (l->n - i) * sizeof *l->waiting);
    }
}

static char *bytes_dup(pons_bytes b)
{
    char *copy = malloc(b.len + 1);
    if (copy && b.len) {
        memcpy(copy, b.data, b.len);
    }
    return copy;
}

static void session_free(mem_session *s)
{
    if (s) {
        free(s->data);
        free(s->note);
        free(s);
    }
}

static void set_note(mem_session *s, char *note, size_t len) // takes note
{
    free(s->note);
    s->note = note;
    s->row.note = (pons_bytes){note, len};
}

static void set_owner(mem_session *s, const char *owner)
{
    strcpy(s->owner, owner);
}

static mem_session *session_make(const pons_session_row *in)
{
    mem_session *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    strcpy(s->id, in->id);
    s->data = bytes_dup(in->data);
    s->row = (pons_session_row){.id = s->id,
                                .priority = in->priority,
                                .order_ms = in->order_ms,
                                .data = {s->data, in->data.len},
                                .owner = s->owner,
                                .note = {"", 0}};
    if (!s->data) {
        session_free(s);
        return NULL;
    }
    return s;
}

// ---- what is waiting ----------------------------------------------------------------------------

static void map_anew(mem *m) // the room is there
{
    pons__mem_map_clear(&m->session_by_id);
    for (size_t i = 0; i < m->n_sessions; i++) {
        pons__mem_map_put(&m->session_by_id, m->sessions[i]->id, i);
    }
}

static void take_back(mem *m, size_t to) // sessions that were just added
{
    while (m->n_sessions > to) {
        mem_session *s = m->sessions[--m->n_sessions];
        step_out(s);
        session_free(s);
    }
    map_anew(m);
}

static int add(mem *m, const pons_session_row *in, pons_error *err)
{
    if (find(m, in->id)) {
        return pons__session_exists(err, in->id);
    }
    mem_session *s = session_make(in);
    mem_lane *l = s ? lane_of(m, in->lane) : NULL;
    if (!l || !reserve(l) || !pons__mem_map_reserve(&m->session_by_id, 1) ||
        !pons__mem_grow(&m->sessions, &m->cap_sessions, m->n_sessions + 1, sizeof *m->sessions)) {
        session_free(s);
        return pons__mem_no_memory(err);
    }
    s->lane = l;
    s->row.lane = l->name;
    s->row.seq = ++m->last_seq;
    pons__mem_map_put(&m->session_by_id, s->id, m->n_sessions);
    m->sessions[m->n_sessions++] = s;
    line_up(s);
    return PONS_OK;
}

static int mem_enqueue(void *self, const pons_session_row *list, size_t n, pons_error *err)
{
    mem *m = self;
    int rc = pons__session_check_rows(list, n, err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    const size_t had = m->n_sessions;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = add(m, &list[i], err);
    }
    if (rc) {
        take_back(m, had);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

static int find_waiting(const mem *m, const char *id, mem_session **ret, pons_error *err)
{
    *ret = find(m, id);
    if (!*ret) {
        return pons__session_not_found(err, id);
    }
    return (*ret)->row.state > PONS_SESSION_WAITING
               ? pons__session_fixed(err, id, (*ret)->row.state)
               : PONS_OK;
}

static int change(mem *m, const pons_session_row *in, pons_error *err)
{
    mem_session *s;
    const int rc = find_waiting(m, in->id, &s, err);
    if (rc) {
        return rc;
    }
    mem_lane *l = lane_of(m, in->lane);
    char *data = bytes_dup(in->data);
    if (!l || !data || !reserve(l)) {
        free(data);
        return pons__mem_no_memory(err);
    }
    step_out(s);
    free(s->data);
    s->data = data;
    s->lane = l;
    s->row.lane = l->name;
    s->row.data = (pons_bytes){data, in->data.len};
    s->row.priority = in->priority;
    s->row.order_ms = in->order_ms;
    if (s->row.state == PONS_SESSION_PENDING) {
        line_up(s);
    }
    return PONS_OK;
}

static int mem_change(void *self, const pons_session_row *in, pons_error *err)
{
    mem *m = self;
    int rc = pons__session_check(in, err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    rc = change(m, in, err);
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

static int mem_cancel(void *self, const char *id, pons_bytes note, pons_error *err)
{
    mem *m = self;
    mem_session *s;
    char *copy = bytes_dup(note);
    if (!copy) {
        return pons__mem_no_memory(err);
    }
    pthread_mutex_lock(&m->mtx);
    const int rc = find_waiting(m, id, &s, err);
    if (!rc) {
        step_out(s);
        s->row.state = PONS_SESSION_CANCELLED;
        s->row.due_ms = 0;
        set_note(s, copy, note.len);
        copy = NULL;
    }
    pthread_mutex_unlock(&m->mtx);
    free(copy);
    return rc;
}

static int mem_wake(void *self, int64_t now_ms, int64_t *ret_due_ms, pons_error *err)
{
    mem *m = self;
    int64_t next = 0;
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < m->n_sessions && !rc; i++) {
        mem_session *s = m->sessions[i];
        if (s->row.state != PONS_SESSION_WAITING) {
            continue;
        }
        if (s->row.due_ms > now_ms) {
            next = next && next < s->row.due_ms ? next : s->row.due_ms;
        } else if (reserve(s->lane)) {
            s->row.state = PONS_SESSION_PENDING;
            s->row.due_ms = 0;
            line_up(s);
        } else {
            rc = pons__mem_no_memory(err);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    if (!rc && ret_due_ms) {
        *ret_due_ms = next;
    }
    return rc;
}

// ---- what runs ----------------------------------------------------------------------------------

static int lane_take(mem_lane *l, const char *runner, session_list *got, pons_error *err)
{
    mem_session *s = l->waiting[l->n - 1];
    const pons_session_row was = s->row;
    s->row.state = PONS_SESSION_RUNNING;
    s->row.attempt++;
    s->row.epoch = l->epoch + 1;
    set_owner(s, runner);
    if (!pons__session_push(got, &s->row)) {
        s->row = was;
        set_owner(s, "");
        return pons__mem_no_memory(err);
    }
    l->n--;
    l->epoch++;
    l->running = s;
    return PONS_OK;
}

static int mem_claim(void *self, const pons_session_claim *how, pons_session_fn fn, void *user,
                     pons_error *err)
{
    mem *m = self;
    session_list got = {0};
    mem_lane *first = NULL;
    int rc = pons__session_check_word(how->runner, "runner", err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < m->n_lanes; i++) {
        mem_lane *l = m->lanes[i];
        if (l->n && !l->running && pons__session_wanted(how, l->name) &&
            (!first || earlier(&l->waiting[l->n - 1]->row, &first->waiting[first->n - 1]->row))) {
            first = l;
        }
    }
    rc = first ? lane_take(first, how->runner, &got, err) : pons__session_none(err);
    pthread_mutex_unlock(&m->mtx);
    pons__session_give(&got, rc ? NULL : fn, user);
    return rc;
}

static mem_session *find_own(const mem *m, const char *id, uint64_t epoch)
{
    mem_session *s = find(m, id);
    return s && s->row.state == PONS_SESSION_RUNNING && s->row.epoch == epoch ? s : NULL;
}

static int mem_note(void *self, const char *id, uint64_t epoch, pons_bytes note, pons_error *err)
{
    mem *m = self;
    char *copy = bytes_dup(note);
    if (!copy) {
        return pons__mem_no_memory(err);
    }
    pthread_mutex_lock(&m->mtx);
    mem_session *s = find_own(m, id, epoch);
    const int rc = s ? PONS_OK : pons__session_stale(err, id);
    if (s) {
        set_note(s, copy, note.len);
        copy = NULL;
    }
    pthread_mutex_unlock(&m->mtx);
    free(copy);
    return rc;
}

static int finish(mem *m, const pons_session_end *end, char **note, session_list *got,
                  pons_error *err)
{
    mem_session *s = find_own(m, end->id, end->epoch);
    if (!s) {
        return pons__session_stale(err, end->id);
    }
    if (end->next_for && s->lane->n) {
        const int rc = lane_take(s->lane, end->next_for, got, err);
        if (rc) {
            return rc;
        }
    } else {
        s->lane->running = NULL;
    }
    s->row.state = end->state;
    s->row.due_ms = end->due_ms;
    set_owner(s, "");
    set_note(s, *note, end->note.len);
    *note = NULL;
    return PONS_OK;
}

static int mem_finish(void *self, const pons_session_end *end, pons_session_fn fn, void *user,
                      pons_error *err)
{
    mem *m = self;
    session_list got = {0};
    int rc = pons__session_check_end(end, err);
    if (rc) {
        return rc;
    }
    char *note = bytes_dup(end->note);
    if (!note) {
        return pons__mem_no_memory(err);
    }
    pthread_mutex_lock(&m->mtx);
    rc = finish(m, end, &note, &got, err);
    pthread_mutex_unlock(&m->mtx);
    free(note);
    pons__session_give(&got, rc ? NULL : fn, user);
    return rc;
}

// ---- runners ------------------------------------------------------------------------------------

static mem_runner *runner_of(const mem *m, const char *name)
{
    for (size_t i = 0; i < m->n_runners; i++) {
        if (strcmp(m->runners[i].name, name) == 0) {
            return &m->runners[i];
        }
    }
    return NULL;
}

static int mem_beat(void *self, const char *runner, pons_error *err)
{
    mem *m = self;
    int rc = pons__session_check_word(runner, "runner", err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    mem_runner *r = runner_of(m, runner);
    if (!r && pons__mem_grow(&m->runners, &m->cap_runners, m->n_runners + 1, sizeof *m->runners)) {
        r = &m->runners[m->n_runners++];
        *r = (mem_runner){0};
        strcpy(r->name, runner);
    }
    if (r) {
        r->beats++;
    } else {
        rc = pons__mem_no_memory(err);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

static void forget(mem *m, const char *name)
{
    mem_runner *r = runner_of(m, name);
    if (r) {
        *r = m->runners[--m->n_runners];
    }
}

static int mem_leave(void *self, const char *runner, pons_error *err)
{
    mem *m = self;
    const int rc = pons__session_check_word(runner, "runner", err);
    if (!rc) {
        pthread_mutex_lock(&m->mtx);
        forget(m, runner);
        pthread_mutex_unlock(&m->mtx);
    }
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const mem_runner *)a)->name, ((const mem_runner *)b)->name);
}

static int mem_runners(void *self, pons_runner_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    pthread_mutex_lock(&m->mtx);
    mem_runner *list = calloc(m->n_runners + m->n_lanes + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < m->n_runners; i++) {
        list[n++] = m->runners[i];
    }
    for (size_t i = 0; list && i < m->n_lanes; i++) {
        const mem_session *s = m->lanes[i]->running;
        bool reported = !s || runner_of(m, s->owner);
        for (size_t k = m->n_runners; k < n && !reported; k++) {
            reported = strcmp(list[k].name, s->owner) == 0;
        }
        if (!reported) {
            strcpy(list[n++].name, s->owner);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    if (!list) {
        return pons__mem_no_memory(err);
    }
    qsort(list, n, sizeof *list, by_name);
    for (size_t i = 0; i < n && !fn(user, list[i].name, list[i].beats); i++) {
    }
    free(list);
    return PONS_OK;
}

static int reclaim(mem *m, const char *gone, int64_t beats, const char *runner, session_list *got,
                   pons_error *err)
{
    const mem_runner *r = runner_of(m, gone);
    if ((r ? r->beats : 0) != beats) {
        return pons__session_alive(err, gone);
    }
    for (size_t i = 0; i < m->n_lanes; i++) { // first what may fail
        const mem_session *s = m->lanes[i]->running;
        if (s && strcmp(s->owner, gone) == 0) {
            pons_session_row now = s->row;
            now.epoch = m->lanes[i]->epoch + 1;
            now.owner = runner;
            if (!pons__session_push(got, &now)) {
                return pons__mem_no_memory(err);
            }
        }
    }
    for (size_t i = 0; i < m->n_lanes; i++) {
        mem_lane *l = m->lanes[i];
        if (l->running && strcmp(l->running->owner, gone) == 0) {
            l->running->row.epoch = ++l->epoch;
            set_owner(l->running, runner);
        }
    }
    forget(m, gone);
    return PONS_OK;
}

static int mem_reclaim(void *self, const char *gone, int64_t beats, const char *runner,
                       pons_session_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    session_list got = {0};
    int rc = pons__session_check_reclaim(gone, runner, err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    rc = reclaim(m, gone, beats, runner, &got, err);
    pthread_mutex_unlock(&m->mtx);
    pons__session_give(&got, rc ? NULL : fn, user);
    return rc;
}

// ---- what is old --------------------------------------------------------------------------------

// Where the sessions after a seq begin.
static size_t after(const mem *m, int64_t seq)
{
    size_t low = 0, high = m->n_sessions;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (m->sessions[mid]->row.seq > seq) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low;
}

static int mem_trim(void *self, pons_session_trim *what, pons_session_trimmed *ret, pons_error *err)
{
    mem *m = self;
    int64_t cut, cut_failed;
    const int rc = pons__session_check_trim(what, err);
    if (rc) {
        return rc;
    }
    pthread_mutex_lock(&m->mtx);
    pons__session_cuts(what, m->last_seq, &cut, &cut_failed);
    const int64_t last = cut > cut_failed ? cut : cut_failed;
    const size_t from = after(m, what->after);
    size_t i = from, kept = from;
    *ret = (pons_session_trimmed){0};
    for (; i < m->n_sessions && i - from < (size_t)what->limit; i++) {
        mem_session *s = m->sessions[i];
        const int32_t state = s->row.state;
        const bool bad = state == PONS_SESSION_FAILED || state == PONS_SESSION_UNKNOWN;
        if (s->row.seq > last) {
            break;
        }
        what->after = s->row.seq;
        if (state <= PONS_SESSION_RUNNING || s->row.seq > (bad ? cut_failed : cut)) {
            m->sessions[kept++] = s;
            continue;
        }
        ret->failed += bad;
        ret->sessions += !bad;
        session_free(s);
    }
    ret->more = i < m->n_sessions && m->sessions[i]->row.seq <= last;
    memmove(&m->sessions[kept], &m->sessions[i], (m->n_sessions - i) * sizeof *m->sessions);
    m->n_sessions -= i - kept;
    if (i != kept) {
        map_anew(m);
    }
    pthread_mutex_unlock(&m->mtx);
    return PONS_OK;
}

// ---- reading ------------------------------------------------------------------------------------

static int mem_get(void *self, const char *id, pons_session_fn fn, void *user, pons_error *err)
{
    mem *m = self;
    session_list got = {0};
    pthread_mutex_lock(&m->mtx);
    const mem_session *s = find(m, id);
    const int rc = !s                                   ? pons__session_not_found(err, id)
                   : !pons__session_push(&got, &s->row) ? pons__mem_no_memory(err)
                                                        : PONS_OK;
    pthread_mutex_unlock(&m->mtx);
    pons__session_give(&got, rc ? NULL : fn, user);
    return rc;
}

static int mem_list(void *self, const pons_session_find *find, pons_session_fn fn, void *user,
                    pons_error *err)
{
    mem *m = self;
    session_list got = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    for (size_t i = after(m, find->after); i < m->n_sessions && !rc; i++) {
        const pons_session_row *x = &m->sessions[i]->row;
        if (find->limit > 0 && got.n >= (size_t)find->limit) {
            break;
        }
        if (find->states >> x->state & 1 && (!find->lane || strcmp(find->lane, x->lane) == 0) &&
            !pons__session_push(&got, x)) {
            rc = pons__mem_no_memory(err);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    pons__session_give(&got, rc ? NULL : fn, user);
    return rc;
}

void pons__mem_lanes_free(mem *m)
{
    for (size_t i = 0; i < m->n_sessions; i++) {
        session_free(m->sessions[i]);
    }
    for (size_t i = 0; i < m->n_lanes; i++) {
        free(m->lanes[i]->waiting);
        free(m->lanes[i]);
    }
    free(m->sessions);
    free(m->lanes);
    free(m->runners);
    free(m->session_by_id.slots);
}

static const pons_lane_ops ops = {
    .enqueue = mem_enqueue,
    .change = mem_change,
    .cancel = mem_cancel,
    .claim = mem_claim,
    .note = mem_note,
    .finish = mem_finish,
    .wake = mem_wake,
    .beat = mem_beat,
    .leave = mem_leave,
    .runners = mem_runners,
    .reclaim = mem_reclaim,
    .get = mem_get,
    .list = mem_list,
    .trim = mem_trim,
};

void pons__mem_lanes(void *self, pons_lanes *ret)
{
    *ret = (pons_lanes){&ops, self};
}
