// stream_reply.c - a reply that is written as time goes on.
//
// The owner appends to a buffer, MHD's thread takes from it. When it has taken everything the
// connection sleeps, and the next write wakes it. Two hold a stream: its owner, until stream_end,
// and the response, until the client is gone or everything is sent; the last one frees it.
//
// Locks: the server's before a stream's. A stream's is held while MHD's thread is asked to let a
// connection sleep or to wake it; MHD calls nothing of ours under its own locks.
#include "http/microhttpd/stream_reply.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 16384 // bytes that MHD asks for at once

struct pons_http_stream {
    pons__server *server; // while it is listed
    pons_http_stream *next;
    size_t max;
    pthread_mutex_t mtx;
    struct MHD_Connection *connection; // [mtx] NULL: the client is gone
    bool asleep;                       // [mtx]
    bool ended;                        // [mtx] nothing more is written
    bool dropped;                      // [mtx] too slow: nothing more is sent
    unsigned holders;                  // [mtx]
    char *data;                        // [mtx] (cap), from..to wait to be sent
    size_t from, to, cap;
};

static void let_go(pons_http_stream *s) // under its lock, which ends
{
    const bool last = --s->holders == 0;
    pthread_mutex_unlock(&s->mtx);
    if (last) {
        pthread_mutex_destroy(&s->mtx);
        free(s->data);
        free(s);
    }
}

static void wake(pons_http_stream *s) // under its lock
{
    if (s->asleep && s->connection) {
        s->asleep = false;
        MHD_resume_connection(s->connection);
    }
}

// ---- the server's thread ------------------------------------------------------------------------

static ssize_t take(void *user, uint64_t position, char *buf, size_t max)
{
    pons_http_stream *s = user;
    ssize_t n = 0;
    pthread_mutex_lock(&s->mtx);
    const size_t left = s->to - s->from;
    if (s->dropped) {
        n = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (left > 0) {
        n = (ssize_t)(left < max ? left : max);
        memcpy(buf, s->data + s->from, (size_t)n);
        s->from += (size_t)n;
        if (s->from == s->to) {
            s->from = s->to = 0;
        }
    } else if (s->ended) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        s->asleep = true;
        MHD_suspend_connection(s->connection);
    }
    pthread_mutex_unlock(&s->mtx);
    return n;
}

static void over(void *user)
{
    pons_http_stream *s = user;
    pons__server *sv = s->server;
    pthread_mutex_lock(&sv->mtx);
    pons_http_stream **at = &sv->streams;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    pthread_mutex_unlock(&sv->mtx);
    pthread_mutex_lock(&s->mtx);
    s->connection = NULL;
    s->from = s->to = 0;
    let_go(s);
}

// ---- its owner ----------------------------------------------------------------------------------

pons_http_stream *pons__stream_begin(pons_http_exchange *x, int status, const char *const *headers)
{
    pons__server *sv = x->server;
    pons_http_stream *s = calloc(1, sizeof *s);
    struct MHD_Response *r =
        s ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK, take, s, over) : NULL;
    if (!r) {
        free(s);
        pons__exchange_refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "no memory");
        return NULL;
    }
    pthread_mutex_init(&s->mtx, NULL);
    s->server = sv;
    s->max = sv->o.stream_max;
    s->connection = x->connection;
    s->holders = 2;
    pthread_mutex_lock(&sv->mtx);
    s->ended = sv->closing;
    s->next = sv->streams;
    sv->streams = s;
    pthread_mutex_unlock(&sv->mtx);
    pons__exchange_answer(x, status, r, headers);
    return s;
}

static bool make_room(pons_http_stream *s, size_t n)
{
    if (s->from > 0) {
        memmove(s->data, s->data + s->from, s->to - s->from);
        s->to -= s->from;
        s->from = 0;
    }
    if (s->to + n <= s->cap) {
        return true;
    }
    size_t cap = s->cap ? s->cap : 1024;
    while (cap < s->to + n) {
        cap *= 2;
    }
    char *more = realloc(s->data, cap);
    if (more) {
        s->data = more;
        s->cap = cap;
    }
    return more != NULL;
}

int pons__stream_write(pons_http_stream *s, const void *data, size_t n)
{
    pthread_mutex_lock(&s->mtx);
    if (s->connection && !s->ended && !s->dropped) {
        if (s->to - s->from + n > s->max || (s->to + n > s->cap && !make_room(s, n))) {
            s->dropped = true;
            s->from = s->to = 0;
        } else {
            memcpy(s->data + s->to, data, n);
            s->to += n;
        }
        wake(s);
    }
    const bool there = s->connection && !s->ended && !s->dropped;
    pthread_mutex_unlock(&s->mtx);
    return there ? PONS_OK : PONS_ECANCELED;
}

size_t pons__stream_unsent(pons_http_stream *s)
{
    pthread_mutex_lock(&s->mtx);
    const size_t n = s->to - s->from;
    pthread_mutex_unlock(&s->mtx);
    return n;
}

void pons__stream_end(pons_http_stream *s)
{
    if (!s) {
        return;
    }
    pthread_mutex_lock(&s->mtx);
    s->ended = true;
    wake(s);
    let_go(s);
}

void pons__streams_close(pons__server *sv)
{
    pthread_mutex_lock(&sv->mtx);
    for (pons_http_stream *s = sv->streams; s; s = s->next) {
        pthread_mutex_lock(&s->mtx);
        s->ended = true;
        wake(s);
        pthread_mutex_unlock(&s->mtx);
    }
    pthread_mutex_unlock(&sv->mtx);
}
