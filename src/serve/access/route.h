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

// Tables end with a row of NULLs. Decodes the path, finds the row, looks at the role, and handles
// it; answers 404, 405, 401 or 403 otherwise.
void pons__route_request(pons__request *r, const pons__route *const *tables);
