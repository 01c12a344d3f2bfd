// server.h - what the rooms of the server share: its options, its rooms' faces, and a request.
#pragma once

#include "pons/serve.h"
#include "serve/access/token.h"

#include <stdatomic.h>
#include <string.h>

#define PONS__SERVE "serve"

typedef struct pons__hub pons__hub;
typedef struct pons__stop_port pons__stop_port;
typedef struct pons__live pons__live;
typedef struct pons__foxglove pons__foxglove;
typedef struct pons__steering pons__steering;
typedef struct pons__page pons__page;
typedef struct pons__metrics pons__metrics;
typedef struct pons__mcp pons__mcp;
typedef struct pons__runhost pons__runhost;
typedef struct pons__chat_host pons__chat_host;
typedef struct pons__webhooks pons__webhooks;
typedef struct pons__agent_graph pons__agent_graph;
typedef struct pons__openapi pons__openapi;

struct pons_serve { // const after open, but for what its rooms guard themselves
    pons_serve_options o;
    const pons_http_server_ops *http;
    void *listener;
    pons__tokens tokens;
    pons__openapi *openapi;
    pons__hub *hub;
    pons__live *live;
    pons__foxglove *foxglove;
    pons__steering *steering;
    pons__page *page;
    struct pons_tools_view *view; // of the workspace's files; NULL: none
    pons__metrics *metrics;
    pons__mcp *mcp; // NULL: none is offered
    pons__runhost *host;
    int64_t swept_ms;           // when threads were last looked at for their ttl; the watcher's
    pons__webhooks *webhooks;   // NULL: there is no HTTP client
    pons__chat_host *chat_host; // NULL: there is no agent
    pons__agent_graph *agent;   // as clients of runs meet it; NULL: there is none
    pons_serve_graph *graphs;   // (n_graphs) of the options, and it
    size_t n_graphs;
    pons__stop_port *stop;
    int port, stop_port;
    atomic_bool ready; // names are there; before, nobody is let in
    char boot_id[33];  // of this server: who comes back with another one has missed a restart
    char **hosts;      // that a Host header may say, NULL at the end
    char **origins;    // that an Origin header may say, NULL at the end; the page's own among them
};

enum { PONS__ARGS_MAX = 6 };

// Which of n words this is; -1: none of them.
static inline int pons__word_at(const char *const *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], word) == 0) {
            return (int)i;
        }
    }
    return -1;
}

typedef struct pons__request { // one handler's, on a worker's stack
    pons_serve *s;
    pons_http_exchange *x;
    pons__role role;
    char id[17];                  // in its reply and in the log
    int status;                   // of its reply; 0: none yet
    pons_error err;               // why a handler fails that has not answered
    const char *origin;           // that may read the reply; NULL: none asked
    pons_value *body;             // as the document has it; NULL: none came
    pons_value *query;            // as the document has it
    const pons__openapi *openapi; // that document; NULL: nothing is compared with it (Stop's port)
    char *args[PONS__ARGS_MAX];   // of the path, decoded, in order
    size_t n_args;
    const char *word; // of its row
    char path[1024];  // decoded segments, each ends with a zero
} pons__request;
