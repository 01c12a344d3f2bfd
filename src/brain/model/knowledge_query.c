// knowledge_query.c - a plan's query_knowledge: the host's search over the workspace's documents.
//
// The provider is opened by the first step that asks, works on threads of its own, and gives its
// answer through a descriptor like the model. Searching changes nothing: after a restart the same
// question is simply asked again.
#include "brain/model/knowledge_query.h"

#include "brain/records/await_fields.h"

#include <string.h>

static void answer(pons_brain *b, pons_run *run, const char *id, pons_value *a)
{
    pons_error ignored = PONS_ERROR_INIT; // an await that is gone wants no answer
    pons_run_answer(run, id, a, &ignored);
}

static pons_value *failure(const pons_error *why)
{
    const pons__sought_in_vain vain = {.error = why->message};
    return pons__record_write(&pons__sought_in_vain_record, &vain);
}

void pons__documents_start(void *user, pons_run *run, const char *id, const pons_value *request,
                           bool restarted)
{
    pons_brain *b = user;
    pons_error err = PONS_ERROR_INIT;
    int rc = PONS_OK;
    if (!b->knowledge.ops) {
        rc = b->opts.knowledge
                 ? b->opts.knowledge(b->opts.user, &b->knowledge, &err)
                 : pons_error_set(&err, PONS_EUNSUPPORTED, "brain", "there are no documents here");
    }
    if (rc >= 0) {
        rc = b->knowledge.ops->start(b->knowledge.self, ++b->knowledge_call, "search_knowledge",
                                     request, id, &err);
    }
    if (rc < 0) {
        answer(b, run, id, failure(&err));
        return;
    }
    snprintf(b->knowledge_await, sizeof b->knowledge_await, "%s", id);
    b->knowledge_run = run;
}

void pons__documents_cancel(void *user, pons_run *run, const char *id)
{
    pons_brain *b = user;
    if (b->knowledge.ops && strcmp(b->knowledge_await, id) == 0) {
        b->knowledge.ops->cancel(b->knowledge.self, b->knowledge_call);
        b->knowledge_await[0] = '\0';
    }
}

int pons__documents_poll(pons_brain *b)
{
    int did = 0;
    pons_tool_event ev = {0};
    while (b->knowledge.ops && b->knowledge.ops->next(b->knowledge.self, &ev)) {
        const bool wanted = ev.call == b->knowledge_call && b->knowledge_await[0] &&
                            b->react_run == b->knowledge_run;
        did = 1;
        if (wanted && ev.kind != PONS_TOOL_PROGRESS) {
            char id[sizeof b->knowledge_await];
            memcpy(id, b->knowledge_await, sizeof id);
            b->knowledge_await[0] = '\0';
            answer(b, b->react_run, id,
                   ev.kind == PONS_TOOL_DONE ? pons_value_ref(ev.value) : failure(&ev.error));
        }
        pons_tool_event_clear(&ev);
    }
    return did;
}

void pons__documents_close(pons_brain *b)
{
    if (b->knowledge.ops) {
        b->knowledge.ops->close(b->knowledge.self);
        b->knowledge = (pons_tools){0};
    }
}
