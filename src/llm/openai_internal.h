// openai_internal.h - what the client's two files share: openai.c moves bytes and time,
// openai_message.c knows what they mean.
#ifndef PONS_LLM_OPENAI_INTERNAL_H
#define PONS_LLM_OPENAI_INTERNAL_H

#include "llm/sse.h"
#include "pons/ext/llm.h"

// How the answer's form is asked for, best first. A server that answers 400 to one gets the next.
typedef enum pons__format {
    FORMAT_SCHEMA, // response_format json_schema
    FORMAT_OBJECT, // response_format json_object, the schema in a system message
    FORMAT_PLAIN   // the schema in a system message alone
} pons__format;

// What a server is known to take.
typedef struct pons__dialect {
    pons__format format;
    bool no_temperature;        // refuses temperature
    bool max_completion_tokens; // wants max_completion_tokens for max_tokens
    bool no_stream_options;     // refuses stream_options
} pons__dialect;

// The request's body, or NULL on no memory; the caller frees.
char *pons__openai_body(const pons_value *request, const char *model, const pons__dialect *d);
// After a 400 with this body: whether *d changed, so that asking again makes sense.
bool pons__openai_adapt(pons__dialect *d, const pons_value *request, const char *body);

// A reply as it comes together.
typedef struct pons__reply {
    pons_buf content, refusal;
    char finish_reason[32]; // empty: not yet
    pons_value *usage;      // or NULL
    bool done;              // [DONE], or a whole JSON reply
    bool any_token;
    void (*on_token)(void *user, const char *text);
    void *user;
    const char *secret; // never quoted; or NULL
    pons_error *err;
} pons__reply;

void pons__reply_init(pons__reply *r, void (*on_token)(void *, const char *), void *user,
                      const char *secret, pons_error *err);
void pons__reply_fini(pons__reply *r);
// One event of the stream (a pons__sse_fn; user is the reply). Fills r->err when it fails.
int pons__reply_event(void *reply, const char *event, const char *data, size_t len);
// A whole reply that is not a stream.
int pons__reply_json(pons__reply *r, const char *text, size_t len);
// The end: {content, finish_reason, usage?}, or an error when it is not a complete, usable message.
int pons__reply_finish(pons__reply *r, pons_value **ret);

// "HTTP 401 (invalid_api_key): …" from a body that is not a success; one line.
void pons__openai_http_error(pons_error *err, long status, const char *body, size_t len,
                             const char *secret);
// Puts "***" for every occurrence of the secret in a text. NULL-safe.
void pons__redact(char *text, const char *secret);
// "Retry-After: 7" or a date: seconds from now, 0 when it says nothing useful, at most max_s.
double pons__retry_after(const char *value, int64_t wall_ms, double max_s);

#endif
