// sse.c - a line is "field: value"; an empty line ends an event. Lines end with LF, CR or CRLF, and
// the CR and LF of one end may come in two pieces; a piece may end inside a character. Only bytes
// are looked at, so nothing has to be known of UTF-8 here.
#include "llm/sse.h"

#include <string.h>

static int end_line(pons__sse *s, pons__sse_fn fn, void *user);

void pons__sse_init(pons__sse *s, size_t event_max)
{
    *s = (pons__sse){.line = PONS_BUF_INIT, .data = PONS_BUF_INIT, .max = event_max};
}

void pons__sse_fini(pons__sse *s)
{
    pons_buf_fini(&s->line);
    pons_buf_fini(&s->data);
}

int pons__sse_feed(pons__sse *s, const char *bytes, size_t n, pons__sse_fn fn, void *user)
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

static int end_event(pons__sse *s, pons__sse_fn fn, void *user)
{
    int rc = PONS_OK;
    if (s->has_data) {
        rc = fn(user, s->event[0] ? s->event : "message", s->data.data ? s->data.data : "",
                s->data.len);
    }
    pons_buf_clear(&s->data);
    s->has_data = false;
    s->event[0] = '\0';
    return rc;
}

static int add_data(pons__sse *s, const char *value, size_t len)
{
    // Several data lines are one text with line feeds between.
    if (s->has_data && pons_buf_byte(&s->data, '\n') != PONS_OK) {
        return PONS_ENOMEM;
    }
    s->has_data = true;
    return pons_buf_bytes(&s->data, value, len);
}

static int end_line(pons__sse *s, pons__sse_fn fn, void *user)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const char *line = s->line.data ? s->line.data : "";
    size_t len = s->line.len;
    if (!s->begun && len >= 3 && memcmp(line, byte_order_mark, 3) == 0) {
        line += 3;
        len -= 3;
    }
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
        // An empty name is a comment; id and retry are of no use to a single answer.
        if (name == 4 && memcmp(line, "data", 4) == 0) {
            rc = add_data(s, value, value_len);
        } else if (name == 5 && memcmp(line, "event", 5) == 0) {
            size_t n = value_len < sizeof s->event ? value_len : sizeof s->event - 1;
            memcpy(s->event, value, n);
            s->event[n] = '\0';
        }
    }
    pons_buf_clear(&s->line);
    return rc;
}
