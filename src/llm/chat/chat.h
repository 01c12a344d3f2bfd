// chat.h - chat completions as text and values, without a network: chat_request.c says what is asked,
// chat_reply.c and tool_call_fragments.c what the answer means. openai/openai.c cuts streams into events (pons/sse.h)
// and keeps the time. Nothing here knows HTTP, so all of it is tested and fuzzed alone.
#pragma once

#include "llm/stream_redactor.h"
#include "pons/ext/llm.h"
#include "pons/surrogates.h"

#define PONS__EVENT_MAX     (1024 * 1024)     // bytes of one event of a stream
#define PONS__REPLY_MAX     (4 * 1024 * 1024) // bytes of a whole reply
#define PONS__CALLS_MAX     128               // tool calls of one reply
#define PONS__WIRE_NAME     65                // bytes of a tool's name on the wire, with its zero
#define PONS__CALL_ID_MAX   (64 * 1024) // bytes of a tool call's id: some have a signature in it
#define PONS__OWN_ID_MAX    64          // of one that other models take as well
#define PONS__TOOL_NAME_MAX 256         // bytes of a tool's name as a server may send it

// How the answer's form is asked for, best first. A server that answers 400 to one gets the next.
typedef enum pons__format {
    FORMAT_SCHEMA, // response_format json_schema
    FORMAT_OBJECT, // response_format json_object, the schema in a system message
    FORMAT_PLAIN   // the schema in a system message alone
} pons__format;

// What a server is known to take.
typedef struct pons__dialect {
    pons__format format;
    bool format_settled; // an answer came: a 400 without a reason is no longer about the form
    bool no_temperature; // refuses temperature
    bool max_completion_tokens; // wants max_completion_tokens for max_tokens
    bool no_stream_options;     // refuses stream_options
    bool no_tool_choice;        // refuses tool_choice
    bool no_stream_with_tools;  // answers a request with tools only whole
    bool no_extra;              // refuses what it has sent beside its words
    // Refuses calls that another model made, as they have no thought, or no signature: gets an empty one.
    bool wants_thought, wants_signature;
    // Takes no images; or only not these. Of one request: another may be for another model.
    bool no_images, not_these_images;
} pons__dialect;

// Whether the request is one that can be asked: PONS_OK or PONS_EINVAL.
int pons__openai_check(const pons_value *request, pons_error *err);
// The request's body, or NULL on no memory; the caller frees.
// `from`: whose `extra` of a message is sent with it (pons__reply.from); or NULL.
char *pons__openai_body(const pons_value *request, const char *model, const char *from,
                        const pons__dialect *d);

typedef enum pons__adapted {
    ADAPTED_NOT,   // asking again makes no sense
    ADAPTED_GUESS, // the server gave no reason: it may be the form
    ADAPTED_NAMED  // the server named what it does not take: that is known from now on
} pons__adapted;
// After a refusal with this body: what changed in *d.
pons__adapted pons__openai_adapt(pons__dialect *d, const pons_value *request, const char *body);

// Whether a refusal is about the request's images.
bool pons__openai_refuses_images(const pons_value *request, const char *body);

// The names of tools on the wire, {name: wire name}: a name may have dots, and servers take none.
// NULL on no memory.
pons_value *pons__tool_names(const pons_value *tools);

// A tool call as it comes together.
typedef struct pons__tool_call {
    int64_t index; // of the stream
    pons_buf id, name, arguments;
    bool is_object; // the arguments came as an object, not as its text
    pons_value *extra;
} pons__tool_call;

// A reply as it comes together.
typedef struct pons__reply {
    const pons_value *request; // outlives the reply
    const char *from;          // the model and its address: whose `extra` it is; NULL: none is kept
    pons_value *extra;         // of the message
    pons_buf content, refusal, reasoning;
    pons_buf held; // an event that ends with half a character, until the next tells the other half
    size_t held_at;
    pons__tool_call *calls; // in the order of their coming
    size_t n_calls, cap_calls;
    char finish_reason[32]; // empty: not yet
    char model[128];        // as the server says
    pons_value *usage;      // or NULL
    bool done;              // [DONE], or a whole JSON reply
    bool any_token;         // something was shown
    bool progress;          // something of the answer came; the reader clears it
    bool faulty;            // err is about what the model made: a host may ask for it as a reply
    pons__redactor tokens, thoughts;
    void (*on_piece)(void *user, pons_llm_event_kind kind, const char *text);
    void *user;
    const char *secret; // never quoted; or NULL
    pons_error *err;
} pons__reply;

// on_piece gets TOKEN and REASONING pieces.
void pons__reply_init(pons__reply *r, const pons_value *request,
                      void (*on_piece)(void *, pons_llm_event_kind, const char *), void *user,
                      const char *secret, pons_error *err);
void pons__reply_fini(pons__reply *r);
// One event of the stream (a pons_sse_fn; user is the reply). Fills r->err when it fails.
int pons__reply_event(void *reply, const char *event, const char *data, size_t len);
// A whole reply that is not a stream.
int pons__reply_object(pons__reply *r, const char *text, size_t len);
// The end: a reply as ext/llm.h has it, or an error when it is not a complete, usable message.
// `seed` makes the ids of calls that came without one.
int pons__reply_finish(pons__reply *r, uint64_t seed, pons_value **ret);

// What comes beside the words (reply_extras.c): takes the fields of a piece that are not known; makes `extra` of
// ext/llm.h, or leaves *ret.
int pons__extra_take(pons__reply *r, pons_value **extra, const pons_value *from,
                     const char *const *known);
int pons__extra_finish(pons__reply *r, const pons_value *calls, pons_value **ret);

// The reply's tool calls (tool_call_fragments.c): takes "tool_calls" of a delta or of a whole message (or
// NULL), and makes the list of the contract, or the error.
int pons__calls_take(pons__reply *r, const pons_value *calls, bool whole);
// fault: what is wrong with the reply as a whole, when the host has asked for that; or NULL.
int pons__calls_finish(pons__reply *r, uint64_t seed, const char *fault, pons_value **ret);
void pons__calls_fini(pons__reply *r);

// Fill r->err: PONS_EPROTOCOL, PONS_ENOMEM.
int pons__bad(pons__reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
// The same of what the model made, not the server: r->faulty.
int pons__faulty(pons__reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int pons__no_memory(pons__reply *r);

// What GET …/models says: {models: [{id, context_tokens?}]}, in the server's order.
int pons__models_read(const char *text, size_t n, pons_value **ret, pons_error *err);

// "HTTP 401 (invalid_api_key): …" from a body that is not a success; one line.
void pons__openai_http_error(pons_error *err, long status, const char *body, size_t len,
                             const char *secret);
