// replay_provider.c - a model that says again what was recorded (include/pons/llm.h has the lines of a
// file).
//
// A file may hold several recordings one after the other, as when a run was killed and resumed:
// each begins with its heading, and its call numbers are its own. Time is the injected clock's
// alone, as with a script.
#include "llm/replay/event_timer.h"
#include "pons/buf.h"
#include "pons/file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE         "replay"
#define LINE_MAX_SIZE (32 * 1024 * 1024)  // bytes of a line
#define FILE_MAX_SIZE (256 * 1024 * 1024) // bytes of a recording
#define PATH_MAX_SIZE 192                 // bytes of the place of a difference
#define QUOTE_BYTES   48                  // of each side of a difference
#define AHEAD_BYTES   12                  // of these, before where the two part

typedef struct spoken { // a recorded event
    struct spoken *next;
    double after_ms; // its request
    pons_llm_event event;
} spoken;

typedef struct exchange { // a recorded call
    struct exchange *next;
    int64_t call, section; // section: which recording of the file
    unsigned long line;
    double t_ms;
    pons_value *request;
    spoken *events, **events_end;
    bool ended, used;
} exchange;

typedef struct replay {
    pons__timed said;
    char *path;
    double pace;
    bool in_order;
    pons_value *ignore; // a list of dotted paths
    exchange *exchanges, **exchanges_end;
} replay;

// ---- answering ----------------------------------------------------------------------------------

static void replay_cancel(void *self, uint64_t call)
{
    pons__timed_cancel(&((replay *)self)->said, call);
}

static int schedule(replay *r, uint64_t call, const exchange *x, pons_error *err)
{
    const int64_t now = pons_now_ns(&r->said.clock);
    int64_t last = now;
    int rc = PONS_OK;
    for (const spoken *s = x->events; rc == PONS_OK && s; s = s->next) {
        pons_llm_event ev = {.call = call,
                             .kind = s->event.kind,
                             .text = s->event.text ? strdup(s->event.text) : NULL,
                             .value = pons_value_ref(s->event.value),
                             .error = s->event.error};
        last = now + (int64_t)(s->after_ms * r->pace * (double)PONS_NS_PER_MS);
        rc = s->event.text && !ev.text ? PONS_ENOMEM : pons__timed_push(&r->said, last, ev);
    }
    if (rc == PONS_OK && !x->ended) { // it was cancelled, or the recorder died
        pons_llm_event ev = {.call = call, .kind = PONS_LLM_ERROR};
        pons_error_set(&ev.error, PONS_ECLOSED, WHERE, "the recording has no end of this call");
        pons_error_source(&ev.error, "%s:%lu", r->path, x->line);
        rc = pons__timed_push(&r->said, last + PONS_NS_PER_S, ev);
    }
    if (rc != PONS_OK) {
        replay_cancel(r, call); // half an answer is none
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot answer");
    }
    return PONS_OK;
}

// ---- differences --------------------------------------------------------------------------------

// Whether a path is one of those that need not be equal.
static bool is_ignored(const replay *r, const char *path)
{
    // What a host says to a factory and to a reader of replies is not said to a model.
    if (!*path || strcmp(path, "run") == 0 || strcmp(path, "run_calls_max") == 0 ||
        strcmp(path, "faults") == 0) {
        return *path != '\0';
    }
    for (size_t i = 0; i < json_array_size(r->ignore); i++) {
        const char *p = json_string_value(json_array_get(r->ignore, i)), *at = path;
        while (p && *p && *at) {
            const size_t n = strcspn(p, "."), m = strcspn(at, ".");
            if (!(n == 1 && *p == '*') && (n != m || memcmp(p, at, n) != 0)) {
                break;
            }
            p += n + (p[n] == '.');
            at += m + (at[m] == '.');
        }
        if (p && !*p && !*at) {
            return true;
        }
    }
    return false;
}

// A value in few words; of a text, the part where it parts from another.
static void quote(const pons_value *v, size_t from, char *buf, size_t cap)
{
    char *text = NULL;
    if (!v) {
        snprintf(buf, cap, "nothing");
    } else if (pons_value_dump(v, &text) < 0) {
        snprintf(buf, cap, "?");
    } else {
        const size_t len = strlen(text);
        from = from > AHEAD_BYTES && len > QUOTE_BYTES ? from - AHEAD_BYTES : 0;
        while (from > 0 && ((unsigned char)text[from] & 0xC0u) == 0x80u) {
            from--;
        }
        size_t end = from;
        for (size_t k; text[end] && end - from < QUOTE_BYTES; end += k) {
            k = pons_utf8_sequence(text + end, len - end);
            k = k ? k : 1;
        }
        snprintf(buf, cap, "%s%.*s%s", from ? "…" : "", (int)(end - from), text + from,
                 text[end] ? "…" : "");
    }
    free(text);
}

static void say_difference(const pons_value *a, const pons_value *b, const char *path, char *ret,
                           size_t cap)
{
    char was[2 * QUOTE_BYTES], is[2 * QUOTE_BYTES], *ta = NULL, *tb = NULL;
    size_t from = 0;
    if (a && b && pons_value_dump(a, &ta) >= 0 && pons_value_dump(b, &tb) >= 0) {
        while (ta[from] && ta[from] == tb[from]) {
            from++;
        }
    }
    quote(a, from, was, sizeof was);
    quote(b, from, is, sizeof is);
    snprintf(ret, cap, "%s: recorded %s, now %s", *path ? path : "it", was, is);
    free(ta);
    free(tb);
}

static bool differ(const replay *r, const pons_value *a, const pons_value *b, char *path, char *ret,
                   size_t cap);

// The first difference of the members of two objects, in the order of the recorded one.
static bool objects_differ(const replay *r, const pons_value *a, const pons_value *b, char *path,
                           char *ret, size_t cap)
{
    const size_t n = strlen(path);
    pons_each_member(key, v, a) {
        snprintf(path + n, PATH_MAX_SIZE - n, "%s%s", n ? "." : "", key);
        if (differ(r, v, pons_get(b, key), path, ret, cap)) {
            return true;
        }
    }
    pons_each_member(key, v, b) {
        snprintf(path + n, PATH_MAX_SIZE - n, "%s%s", n ? "." : "", key);
        if (!pons_get(a, key) && differ(r, NULL, v, path, ret, cap)) {
            return true;
        }
    }
    path[n] = '\0';
    return false;
}

static bool lists_differ(const replay *r, const pons_value *a, const pons_value *b, char *path,
                         char *ret, size_t cap)
{
    const size_t n = strlen(path);
    for (size_t i = 0; i < json_array_size(a) || i < json_array_size(b); i++) {
        snprintf(path + n, PATH_MAX_SIZE - n, "%s%zu", n ? "." : "", i);
        if (differ(r, json_array_get(a, i), json_array_get(b, i), path, ret, cap)) {
            return true;
        }
    }
    path[n] = '\0';
    return false;
}

// Whether two values differ in what need be equal; `ret` says where and how. `path` is the place,
// of PATH_MAX_SIZE bytes, and is as it was when they do not differ.
static bool differ(const replay *r, const pons_value *a, const pons_value *b, char *path, char *ret,
                   size_t cap)
{
    if (is_ignored(r, path)) {
        return false;
    }
    if (json_is_object(a) && json_is_object(b)) {
        return objects_differ(r, a, b, path, ret, cap);
    }
    if (json_is_array(a) && json_is_array(b)) {
        return lists_differ(r, a, b, path, ret, cap);
    }
    // 1 and 1.0 are one number: the file has been through JSON.
    if ((json_is_number(a) && json_is_number(b) && json_number_value(a) == json_number_value(b)) ||
        (a && b && json_equal(a, b))) {
        return false;
    }
    say_difference(a, b, path, ret, cap);
    return true;
}

// ---- reading a recording ------------------------------------------------------------------------

static int bad(const replay *r, unsigned long line, pons_error *err, const char *why)
{
    pons_error_set(err, PONS_EINVAL, WHERE, "%s", why);
    pons_error_source(err, "%s:%lu", r->path, line);
    return PONS_EINVAL;
}

static exchange *find(const replay *r, int64_t section, int64_t call)
{
    exchange *found = NULL;
    for (exchange *x = r->exchanges; x; x = x->next) {
        found = x->section == section && x->call == call ? x : found;
    }
    return found;
}

static int take_request(replay *r, const pons_value *v, int64_t section, unsigned long line,
                        pons_error *err)
{
    if (!json_is_object(pons_get(v, "request"))) {
        return bad(r, line, err, "a line is neither a request nor an event");
    }
    exchange *x = calloc(1, sizeof *x);
    if (!x) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the recording");
    }
    *x = (exchange){.call = pons_get_int(v, "call", 0),
                    .section = section,
                    .line = line,
                    .t_ms = pons_get_num(v, "t_ms", 0),
                    .request = pons_value_ref(pons_get(v, "request")),
                    .events_end = &x->events};
    *r->exchanges_end = x;
    r->exchanges_end = &x->next;
    return PONS_OK;
}

static int take_event(replay *r, const pons_value *v, int64_t section, unsigned long line,
                      pons_error *err)
{
    const char *kind = pons_get_str(v, "event", ""), *text = pons_get_str(v, "text", NULL);
    exchange *x = find(r, section, pons_get_int(v, "call", 0));
    if (!x || x->ended) {
        return bad(r, line, err, "an event of a call that is not running");
    }
    if (strcmp(kind, "cancel") == 0) {
        return PONS_OK; // and no end
    }
    spoken *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the recording");
    }
    *x->events_end = s;
    x->events_end = &s->next;
    const double after = pons_get_num(v, "t_ms", 0) - x->t_ms;
    s->after_ms = after > 0 ? after : 0;
    const bool token = strcmp(kind, "token") == 0, thought = strcmp(kind, "reasoning") == 0;
    if ((token || thought) && text) {
        s->event.kind = token ? PONS_LLM_TOKEN : PONS_LLM_REASONING;
        s->event.text = strdup(text);
        return s->event.text ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory");
    }
    x->ended = true;
    if (strcmp(kind, "done") == 0 && json_is_object(pons_get(v, "value"))) {
        s->event.kind = PONS_LLM_DONE;
        s->event.value = pons_value_ref(pons_get(v, "value"));
        return PONS_OK;
    }
    if (strcmp(kind, "error") == 0 && pons_get_int(v, "status", 0) < 0) {
        s->event.kind = PONS_LLM_ERROR;
        pons_error_set(&s->event.error, (int)pons_get_int(v, "status", PONS_EIO), "llm", "%s",
                       pons_get_str(v, "message", ""));
        pons_error_source(&s->event.error, "%s", pons_get_str(v, "source", ""));
        pons_error_cause(&s->event.error, "%s", pons_get_str(v, "cause", ""));
        return PONS_OK;
    }
    return bad(r, line, err, "an event is not a token, reasoning, done, error or cancel");
}

static int take_line(replay *r, const char *text, size_t len, int64_t *section, unsigned long line,
                     pons_error *err)
{
    pons_autovalue v = NULL;
    pons_error why = PONS_ERROR_INIT;
    if (pons_value_parse(text, len, &v, &why) != PONS_OK) {
        return bad(r, line, err, why.message);
    }
    if (pons_get(v, "pons_llm_recording")) {
        ++*section;
        return pons_get_int(v, "pons_llm_recording", 0) == 1
                   ? PONS_OK
                   : bad(r, line, err, "a recording of a version that is not known here");
    }
    if (*section == 0) {
        return bad(r, line, err, "this is not a recording: it has no heading");
    }
    return pons_get(v, "event") ? take_event(r, v, *section, line, err)
                                : take_request(r, v, *section, line, err);
}

static int load_lines(replay *r, FILE *f, pons_error *err)
{
    char *text = NULL;
    size_t cap = 0, total = 0;
    ssize_t n;
    unsigned long line = 0;
    int64_t section = 0;
    int rc = PONS_OK;
    while (rc == PONS_OK && (n = getline(&text, &cap, f)) > 0) {
        line++;
        total += (size_t)n;
        const bool whole = text[n - 1] == '\n';
        if (n > LINE_MAX_SIZE || total > FILE_MAX_SIZE) {
            rc = bad(r, line, err, "the recording is too long");
        } else if (whole) { // half a line is what a killed recorder leaves
            rc = take_line(r, text, (size_t)n - 1, &section, line, err);
        }
    }
    free(text);
    if (rc == PONS_OK && !r->exchanges) {
        rc = bad(r, line, err, "the recording has no request");
    }
    return rc;
}

static int load(replay *r, pons_error *err)
{
    FILE *f = pons_file_read(r->path);
    if (!f) {
        int rc = errno == ENOENT ? PONS_ENOTFOUND : PONS_EIO;
        pons_error_set(err, rc, WHERE, "cannot read the recording: %s", pons_file_why(errno));
        pons_error_source(err, "%s", r->path);
        return rc;
    }
    int rc = load_lines(r, f, err);
    fclose(f);
    return rc;
}

// ---- operations ---------------------------------------------------------------------------------

static int configure(replay *r, const pons_value *config, pons_error *err)
{
    const char *path = pons_get_str(config, "path", NULL);
    const char *compare = pons_get_str(config, "compare", "all");
    r->pace = pons_get_num(config, "pace", 1);
    r->in_order = strcmp(compare, "order") == 0;
    r->ignore = pons_value_ref(pons_get(config, "ignore"));
    if (!path) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "a replay needs the path of a recording");
    }
    if (!(r->pace >= 0) || isinf(r->pace)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "pace: expected a number, 0 or more");
    }
    if (!r->in_order && strcmp(compare, "all") != 0) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "compare: expected all or order");
    }
    if (r->ignore && !json_is_array(r->ignore)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "ignore: expected a list of paths");
    }
    r->path = strdup(path);
    return r->path ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory");
}

static void exchange_free(exchange *x)
{
    while (x->events) {
        spoken *s = x->events;
        x->events = s->next;
        pons_llm_event_clear(&s->event);
        free(s);
    }
    pons_value_unref(x->request);
    free(x);
}

static void replay_close(void *self)
{
    replay *r = self;
    if (!r) {
        return;
    }
    pons__timed_fini(&r->said);
    while (r->exchanges) {
        exchange *x = r->exchanges;
        r->exchanges = x->next;
        exchange_free(x);
    }
    pons_value_unref(r->ignore);
    free(r->path);
    free(r);
}

static int replay_open(const pons_value *config, const pons_clock *clock, void **ret_self,
                       pons_error *err)
{
    replay *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot open the recording");
    }
    r->said.clock = *clock;
    r->exchanges_end = &r->exchanges;
    int rc = configure(r, config, err);
    rc = rc == PONS_OK ? load(r, err) : rc;
    if (rc != PONS_OK) {
        replay_close(r);
        return rc;
    }
    *ret_self = r;
    return PONS_OK;
}

// The recorded call that the request gets; NULL: *ret_error says what is different.
static exchange *choose(replay *r, const pons_value *request, pons_error *ret_error)
{
    exchange *next = NULL;
    size_t n = 0, used = 0;
    char path[PATH_MAX_SIZE] = "", what[PONS_ERROR_MESSAGE_MAX];
    for (exchange *x = r->exchanges; x; x = x->next, n++) {
        used += x->used;
        if (x->used) {
            continue;
        }
        if (r->in_order || !differ(r, x->request, request, path, what, sizeof what)) {
            return x;
        }
        path[0] = '\0';
        next = next ? next : x;
    }
    if (!next) {
        pons_error_set(ret_error, PONS_ENOTFOUND, WHERE,
                       "the recording has no request left: all %zu of it have been made", n);
        pons_error_source(ret_error, "%s", r->path);
        return NULL;
    }
    differ(r, next->request, request, path, what, sizeof what);
    pons_error_set(ret_error, PONS_EINVAL, WHERE, "request %zu is not the recorded one: %s",
                   used + 1, what);
    pons_error_source(ret_error, "%s:%lu", r->path, next->line);
    return NULL;
}

static int replay_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    if (pons_get_bool(request, "models", false)) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "a recording has no list of models");
    }
    replay *r = self;
    pons_llm_event ev = {.call = call, .kind = PONS_LLM_ERROR};
    exchange *x = choose(r, request, &ev.error);
    if (x) {
        x->used = true;
        return schedule(r, call, x, err);
    }
    return pons__timed_push(&r->said, pons_now_ns(&r->said.clock), ev) == PONS_OK
               ? PONS_OK
               : pons_error_set(err, PONS_ENOMEM, WHERE, "cannot answer");
}

static int replay_event_fd(void *self)
{
    return -1;
}

static bool replay_next(void *self, pons_llm_event *ret)
{
    return pons__timed_next(&((replay *)self)->said, ret);
}

const pons_llm_ops pons_llm_replay = {.abi = PONS_LLM_ABI,
                                      .name = "replay",
                                      .open = replay_open,
                                      .close = replay_close,
                                      .start = replay_start,
                                      .cancel = replay_cancel,
                                      .event_fd = replay_event_fd,
                                      .next = replay_next};
