// mcp_client.h - what a client of /mcp has: streams, and what was said in them.
#pragma once

#include "pons/mcp.h"
#include "serve/access/server.h"

#define PONS__MCP_ID 32 // hexadecimal digits of a session's name

typedef struct pons__mcp_said { // an event of a stream, kept for who comes back
    struct pons__mcp_said *next;
    unsigned stream;
    int64_t seq;
    size_t n;
    char text[];
} pons__mcp_said;

typedef struct pons__mcp_out { // a stream: an answer to a request, or the session's own (number 0)
    struct pons__mcp_out *next;
    unsigned number;
    int64_t seq;              // of its last event
    pons_http_stream *stream; // NULL: nobody listens now
    pons_value *of;           // the request's id; NULL: the session's own stream
    bool json;                // the answer alone, as application/json
    bool over;                // the answer was said
} pons__mcp_out;

typedef struct pons__mcp_message { // of a client, on its way to the thread
    struct pons__mcp_message *next;
    pons_value *value;
} pons__mcp_message;

typedef struct pons__mcp_session {
    struct pons__mcp_session *next;
    const pons_http_server_ops *http; // const
    char id[PONS__MCP_ID + 1];        // const
    pons_mcp_session *core;           // the thread's
    void *speaker;                    // the thread's
    // The rest under the lock of all sessions.
    pons__mcp_message *first, *last;
    size_t n_messages;
    pons__mcp_out *outs; // number 0 is always there
    unsigned next_number;
    pons__mcp_said *said, *said_last;
    size_t n_said, said_bytes;
    int64_t used_ms;
    char version[16];
    bool ending; // the client has said goodbye
} pons__mcp_session;

pons__mcp_session *pons__mcp_session_new(const pons_http_server_ops *http, int64_t now_ms);
void pons__mcp_session_free(pons__mcp_session *s); // ends its streams; core is the caller's
// A stream for the answer to a request. NULL: no memory, or too many.
pons__mcp_out *pons__mcp_out_new(pons__mcp_session *s, const pons_value *of, bool json);
void pons__mcp_out_drop(pons__mcp_session *s, pons__mcp_out *o); // as if it had never been
// A message of ours, into the stream where it belongs.
void pons__mcp_say(pons__mcp_session *s, const pons_value *m, const pons_value *of);
// Goes on with a stream after event `id` ("3-17") on a connection of its own. PONS_EINVAL: it is no
// event's id; PONS_ENOTFOUND: what came after it is not kept any more. Nothing is attached then.
int pons__mcp_find(pons__mcp_session *s, const char *id, pons__mcp_out **ret, int64_t *ret_seq);
void pons__mcp_attach(pons__mcp_session *s, pons__mcp_out *o, int64_t after,
                      pons_http_stream *stream);
void pons__mcp_prime(pons__mcp_session *s, pons__mcp_out *o); // an event's id before there is any
void pons__mcp_beat(pons__mcp_session *s);           // a comment to everybody: shows who is gone
bool pons__mcp_received(const pons__mcp_session *s); // somebody listens, or waits for an answer
