// route.h - which handler a request is for.
#pragma once

#include "serve/access/server.h"

// Ends with one reply; or fails (negative), and r->err is the reply.
typedef int (*pons__handler)(pons__request *r);

typedef struct pons__route {
    const char *method;
    const char *path; // "/v1/threads/*/events": a star is one segment, and an argument
    pons__role role;  // who may
    pons__handler handle;
    // What a client of this protocol reads when a member (where: "/name", "?name") is wrong, returning as
    // pons__reply_error; NULL: pons__reply_wrong.
    int (*refuse)(pons__request *r, const char *where, const char *message);
    const char *word; // what tells it from other rows of this handler: r->word
} pons__route;

extern const pons__route *const pons__serve_tables[]; // the main port's; NULL at the end
// Its tables, each in its room (serve.c says where).
extern const pons__route pons__words_routes[], pons__live_routes[], pons__manual_control_routes[],
    pons__room_routes[], pons__past_routes[], pons__files_routes[], pons__camera_routes[],
    pons__foxglove_routes[], pons__fleet_routes[], pons__hub_routes[], pons__metrics_routes[],
    pons__mcp_routes[], pons__lg_info_routes[], pons__lg_assistant_routes[],
    pons__lg_thread_routes[], pons__lg_state_routes[], pons__lg_run_routes[],
    pons__lg_store_routes[], pons__chat_routes[], pons__graph_config_routes[],
    pons__openai_routes[], pons__lg_graph_routes[], pons__lg_cron_routes[],
    pons__lg_protocol_routes[], pons__openapi_routes[], pons__page_routes[];

// Tables end with a row of NULLs. Decodes the path, finds the row, looks at the role, and handles
// it; answers 404, 405, 401 or 403 otherwise.
void pons__route_request(pons__request *r, const pons__route *const *tables);
