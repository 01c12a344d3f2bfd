// recording_provider.c - a provider around a provider, that writes down what is said (include/pons/llm.h has
// the lines). Everything happens on the host's thread, where the host starts calls and takes
// events, so the times are those that the host saw.
//
// The secret is looked for in every line, and in the pieces of a text as they run on: a veil for
// each call's tokens and one for its reasoning.
#include "llm/stream_redactor.h"
#include "pons/llm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHERE "record"

typedef struct talk { // a call that is running
    struct talk *next;
    uint64_t call;
    pons__redactor tokens, thoughts;
} talk;

typedef struct recorder {
    pons_llm_ops ops; // those below, under the inner one's name
    pons_llm inner;
    pons_clock clock;
    int64_t opened_ns;
    char *secret; // or NULL
    char *path;
    FILE *file;
    int why; // errno of a write that failed; 0: none
    talk *talks;
} recorder;

// ---- lines --------------------------------------------------------------------------------------

// Writes a line and frees it; NULL is a line that could not be made.
static void write_line(recorder *r, pons_value *line)
{
    char *text = NULL;
    if (!line || pons_value_line(line, &text) < 0) {
        r->why = r->why ? r->why : ENOMEM;
    } else {
        pons__redact(text, r->secret);
        errno = 0;
        if (fprintf(r->file, "%s\n", text) < 0 || fflush(r->file) != 0) {
            r->why = r->why ? r->why : errno ? errno : EIO;
        }
    }
    free(text);
    pons_value_unref(line);
}

// The beginning of a call's line.
static pons_value *line_of(const recorder *r, uint64_t call, const char *event)
{
    const int64_t us = (pons_now_ns(&r->clock) - r->opened_ns) / (PONS_NS_PER_MS / 1000);
    return pons_object("call", json_integer((json_int_t)call), "t_ms",
                       json_real((double)us / 1000.0), "event", event ? json_string(event) : NULL,
                       NULL);
}

static void write_text(recorder *r, uint64_t call, const char *event, const char *text)
{
    pons_value *line = line_of(r, call, event);
    if (line && json_object_set_new(line, "text", json_string(text)) != 0) {
        json_decref(line);
        line = NULL;
    }
    write_line(r, line);
}

static void write_piece(recorder *r, uint64_t call, const char *event, pons__redactor *veil,
                        const char *piece)
{
    pons_autobuf b = PONS_BUF_INIT;
    int rc = piece ? pons__redactor_pass(veil, piece, &b) : pons__redactor_end(veil, &b);
    if (rc != PONS_OK) {
        r->why = r->why ? r->why : ENOMEM;
    } else if (b.len) {
        write_text(r, call, event, b.data);
    }
}

static void write_end(recorder *r, const pons_llm_event *ev)
{
    pons_value *line = line_of(r, ev->call, ev->kind == PONS_LLM_DONE ? "done" : "error");
    int rc = line ? 0 : -1;
    if (rc == 0 && ev->kind == PONS_LLM_DONE) {
        rc = json_object_set_new(line, "value", pons_value_ref(ev->value));
    } else if (rc == 0) {
        rc = json_object_set_new(line, "status", json_integer(ev->error.status));
        rc = rc ? rc : json_object_set_new(line, "message", json_string(ev->error.message));
        rc = rc ? rc : json_object_set_new(line, "source", json_string(ev->error.source));
        rc = rc ? rc : json_object_set_new(line, "cause", json_string(ev->error.cause));
    }
    if (rc != 0) {
        json_decref(line);
        line = NULL;
    }
    write_line(r, line);
}

// ---- public functions ---------------------------------------------------------------------------

// What an earlier recorder wrote of a line when it was killed is taken away.
static int drop_half_line(int fd)
{
    off_t end = lseek(fd, 0, SEEK_END);
    for (off_t at = end; at > 0; at--) {
        char c;
        if (pread(fd, &c, 1, at - 1) != 1) {
            return -1;
        }
        if (c == '\n') {
            return at == end ? 0 : ftruncate(fd, at);
        }
    }
    return end > 0 ? ftruncate(fd, 0) : end < 0 ? -1 : 0;
}

static void talk_free(talk *t)
{
    pons__redactor_fini(&t->tokens);
    pons__redactor_fini(&t->thoughts);
    free(t);
}

static void recorder_close(void *self)
{
    recorder *r = self;
    if (!r) {
        return;
    }
    r->inner.ops->close(r->inner.self);
    while (r->talks) {
        talk *t = r->talks;
        r->talks = t->next;
        talk_free(t);
    }
    if (r->file) {
        fclose(r->file);
    }
    if (r->secret) {
        explicit_bzero(r->secret, strlen(r->secret));
    }
    free(r->secret);
    free(r->path);
    free(r);
}

static int recorder_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    recorder *r = self;
    talk *t = calloc(1, sizeof *t);
    if (!t || r->why) {
        free(t);
        pons_error_set(err, PONS_EIO, WHERE, "cannot write the recording: %s",
                       strerror(r->why ? r->why : ENOMEM));
        return pons_error_source(err, "%s", r->path), PONS_EIO;
    }
    pons_value *line = line_of(r, call, NULL);
    if (line && json_object_set_new(line, "request", pons_value_ref(request)) != 0) {
        json_decref(line);
        line = NULL;
    }
    int rc = r->inner.ops->start(r->inner.self, call, request, err);
    if (rc != PONS_OK) { // never begun: nothing to serve
        json_decref(line);
        free(t);
        return rc;
    }
    write_line(r, line);
    *t = (talk){.next = r->talks,
                .call = call,
                .tokens = {.secret = r->secret},
                .thoughts = {.secret = r->secret}};
    r->talks = t;
    return PONS_OK;
}

static talk **find(recorder *r, uint64_t call)
{
    talk **at = &r->talks;
    while (*at && (*at)->call != call) {
        at = &(*at)->next;
    }
    return at;
}

// The pieces that are held come out before the end does.
static void end_talk(recorder *r, talk **at)
{
    talk *t = *at;
    write_piece(r, t->call, "reasoning", &t->thoughts, NULL);
    write_piece(r, t->call, "token", &t->tokens, NULL);
    *at = t->next;
    talk_free(t);
}

static void recorder_cancel(void *self, uint64_t call)
{
    recorder *r = self;
    talk **at = find(r, call);
    r->inner.ops->cancel(r->inner.self, call);
    if (*at) {
        end_talk(r, at);
        write_line(r, line_of(r, call, "cancel"));
    }
}

static int recorder_event_fd(void *self)
{
    const recorder *r = self;
    return r->inner.ops->event_fd(r->inner.self);
}

static bool recorder_next(void *self, pons_llm_event *ret)
{
    recorder *r = self;
    if (!r->inner.ops->next(r->inner.self, ret)) {
        return false;
    }
    talk **at = find(r, ret->call);
    if (!*at) {
        return true;
    }
    switch (ret->kind) {
    case PONS_LLM_TOKEN:
        write_piece(r, ret->call, "token", &(*at)->tokens, ret->text);
        break;
    case PONS_LLM_REASONING:
        write_piece(r, ret->call, "reasoning", &(*at)->thoughts, ret->text);
        break;
    case PONS_LLM_DONE:
    case PONS_LLM_ERROR:
        end_talk(r, at);
        write_end(r, ret);
        break;
    }
    return true;
}

static int recorder_reopen(const pons_value *config, const pons_clock *clock, void **ret_self,
                           pons_error *err)
{
    (void)config, (void)clock, (void)ret_self;
    return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "a recording is made by pons_llm_record");
}

static const pons_llm_ops recorder_ops = {.abi = PONS_LLM_ABI,
                                          .open = recorder_reopen,
                                          .close = recorder_close,
                                          .start = recorder_start,
                                          .cancel = recorder_cancel,
                                          .event_fd = recorder_event_fd,
                                          .next = recorder_next};

int pons_llm_record(pons_llm inner, const char *path, const char *secret, const pons_clock *clock,
                    pons_llm *ret, pons_error *err)
{
    recorder *r = calloc(1, sizeof *r);
    if (!r) {
        inner.ops->close(inner.self);
        return pons_error_set(err, PONS_ENOMEM, WHERE, "cannot record");
    }
    *r = (recorder){.ops = recorder_ops, .inner = inner, .clock = *clock};
    r->ops.name = inner.ops->name;
    r->opened_ns = pons_now_ns(clock);
    r->secret = secret && *secret ? strdup(secret) : NULL;
    r->path = strdup(path);
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600); // it is a conversation
    r->file = fd < 0 || drop_half_line(fd) != 0 ? NULL : fdopen(fd, "a");
    if (!r->file || !r->path || (secret && *secret && !r->secret)) {
        int why = errno;
        if (fd >= 0 && !r->file) {
            close(fd);
        }
        recorder_close(r);
        pons_error_set(err, PONS_EIO, WHERE, "cannot write the recording: %s", strerror(why));
        return pons_error_source(err, "%s", path), PONS_EIO;
    }
    write_line(r, pons_object("pons_llm_recording", json_integer(1), "wall_ms",
                              json_integer(pons_wall_ms(clock)), NULL));
    *ret = (pons_llm){.ops = &r->ops, .self = r};
    return PONS_OK;
}
