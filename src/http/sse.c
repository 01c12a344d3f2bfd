// sse.c - a line is "field: value"; an empty line ends an event. Lines end with LF, CR or CRLF, and
// the CR and LF of one end may come in two pieces; a piece may end inside a character. Only bytes
// are looked at, so nothing has to be known of UTF-8 here.
#include "pons/sse.h"

#include "pons/buf.h"

#include <string.h>

#define RETRY_LONG 1000000000L // milliseconds; more is not told apart

void pons_sse_init(pons_sse *s, size_t event_max)
{
    *s = (pons_sse){.line = PONS_BUF_INIT, .data = PONS_BUF_INIT, .max = event_max};
}

void pons_sse_fini(pons_sse *s)
{
    pons_buf_fini(&s->line);
    pons_buf_fini(&s->data);
}

static int end_event(pons_sse *s, pons_sse_fn fn, void *user)
{
    int rc = PONS_OK;
    memcpy(s->last_id, s->id, sizeof s->last_id);
    if (s->has_data) {
        rc = fn(user, s->event[0] ? s->event : "message", s->data.data ? s->data.data : "",
                s->data.len);
    }
    pons_buf_clear(&s->data);
    s->has_data = false;
    s->event[0] = '\0';
    return rc;
}

static int add_data(pons_sse *s, const char *value, size_t len)
{
    // Several data lines are one text with line feeds between.
    if (s->has_data && pons_buf_byte(&s->data, '\n') != PONS_OK) {
        return PONS_ENOMEM;
    }
    s->has_data = true;
    return pons_buf_bytes(&s->data, value, len);
}

static void set_text(char *to, size_t cap, const char *value, size_t len)
{
    const size_t n = len < cap ? len : cap - 1;
    memcpy(to, value, n);
    to[n] = '\0';
}

static void set_retry(pons_sse *s, const char *value, size_t len)
{
    long ms = 0;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9') {
            return; // anything but digits says nothing
        }
        ms = ms < RETRY_LONG ? 10 * ms + (value[i] - '0') : ms;
    }
    s->retry_ms = len > 0 ? ms : s->retry_ms;
}

static int take_field(pons_sse *s, const char *name, size_t n, const char *value, size_t len)
{
    if (n == 4 && memcmp(name, "data", 4) == 0) {
        return add_data(s, value, len);
    }
    if (n == 5 && memcmp(name, "event", 5) == 0) {
        set_text(s->event, sizeof s->event, value, len);
    } else if (n == 2 && memcmp(name, "id", 2) == 0 && !memchr(value, '\0', len)) {
        set_text(s->id, sizeof s->id, value, len);
    } else if (n == 5 && memcmp(name, "retry", 5) == 0) {
        set_retry(s, value, len);
    }
    return PONS_OK; // an empty name is a comment
}

static int end_line(pons_sse *s, pons_sse_fn fn, void *user)
{
    const char *line = s->line.data ? s->line.data : "";
    size_t len = s->line.len;
    const size_t mark = s->begun ? 0 : pons_utf8_mark(line, len);
    line += mark;
    len -= mark;
    s->begun = true;
    int rc = PONS_OK;
    if (len == 0) {
        rc = end_event(s, fn, user);
    } else {
        const char *colon = memchr(line, ':', len);
        size_t name = colon ? (size_t)(colon - line) : len;
        const char *value = colon ? colon + 1 : line + len;
        size_t value_len = len - (size_t)(value - line);
        if (value_len && value[0] == ' ') {
            value++;
            value_len--;
        }
        rc = take_field(s, line, name, value, value_len);
    }
    pons_buf_clear(&s->line);
    return rc;
}

int pons_sse_feed(pons_sse *s, const char *bytes, size_t n, pons_sse_fn fn, void *user)
{
    for (size_t i = 0; i < n;) {
        if (s->after_cr && bytes[i] == '\n') {
            s->after_cr = false;
            i++;
            continue;
        }
        s->after_cr = false;
        size_t end = i;
        while (end < n && bytes[end] != '\n' && bytes[end] != '\r') {
            end++;
        }
        if (s->line.len + (end - i) + s->data.len > s->max) {
            return PONS_EPROTOCOL;
        }
        if (pons_buf_bytes(&s->line, bytes + i, end - i) != PONS_OK) {
            return PONS_ENOMEM;
        }
        if (end == n) {
            return PONS_OK;
        }
        s->after_cr = bytes[end] == '\r';
        i = end + 1;
        int rc = end_line(s, fn, user);
        if (rc != PONS_OK) {
            return rc;
        }
    }
    return PONS_OK;
}
