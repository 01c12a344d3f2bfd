// run_request.h - a request for a run, decoded: whom it is for, what it is to do.
#pragma once

#include "serve/access/reply.h"
#include "serve/access/route.h"
#include "serve/langgraph/list_page.h"
#include "serve/runs/run_host.h"

// Submits the run that body asks for, on a thread, or (NULL) on one of its own. A thread that is not
// there is made only where the body says so. PONS_ENOTFOUND: there is no such thread, or assistant.
// run: the id that it has already (asked for again it is not begun again), and own, without a thread, the name of its
// own; NULL: fresh ones. *ret: as pons__runhost_run.
int pons__lg_submit(pons_serve *s, const char *thread, const pons_value *body, const char *run,
                    const char *own, pons_value **ret, pons_error *err);
// Headers of a reply about a run: Content-Location, and where it can be followed ("stream", "join",
// NULL: not said). Texts are in buf.
typedef struct pons__lg_where {
    char content[300], location[320];
    const char *list[3];
} pons__lg_where;
const char *const *pons__lg_where_of(const pons_value *run, const char *follow, pons__lg_where *w);
// assistants.c: an assistant, by its id or by its graph's name: {assistant_id, graph_id, config, context, metadata, …}.
// PONS_ENOTFOUND.
int pons__lg_assistant(pons_serve *s, const char *id, pons_value **ret, pons_error *err);
bool pons__lg_thread_is(pons_serve *s, const char *thread); // there is such a thread
int pons__lg_thread_there(pons__request *r); // that the path names; else it is answered: negative
// The graph of a thread, by its metadata; NULL: none is known.
const pons_serve_graph *pons__lg_graph_of(pons_serve *s, const char *thread);
void pons__lg_crons_begin(pons_serve *s); // crons.c: they fire from now on
