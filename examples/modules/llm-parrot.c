// llm-parrot.c - a model provider of somebody else's: `--llm parrot:WORDS` answers WORDS, whatever
// it is asked.
#include "pons/event_queue.h"
#include "pons/ext/llm.h"
#include "pons/module.h"

#include <stdlib.h>

typedef struct parrot {
    pons_event_queue events;
    pons_value *words;
} parrot;

static void clear(void *event)
{
    pons_llm_event *ev = event;
    free(ev->text);
    pons_value_unref(ev->value);
}

static void parrot_close(void *self)
{
    parrot *p = self;
    if (p) {
        pons_event_queue_fini(&p->events);
        pons_value_unref(p->words);
        free(p);
    }
}

static int parrot_open(const pons_value *config, const pons_clock *clock, void **ret,
                       pons_error *err)
{
    (void)clock;
    if (pons_get(config, "api_key")) { // it is the key of another provider
        return pons_error_set(err, PONS_EINVAL, "parrot", "somebody's key was given to it");
    }
    parrot *p = calloc(1, sizeof *p);
    const int rc = pons_event_queue_init(&p->events, sizeof(pons_llm_event), clear, err);
    p->words = pons_value_ref(pons_get(config, "url"));
    *ret = p;
    return rc;
}

static int parrot_start(void *self, uint64_t call, const pons_value *request, pons_error *err)
{
    (void)request;
    (void)err;
    parrot *p = self;
    const pons_llm_event ev = {.call = call,
                               .kind = PONS_LLM_DONE,
                               .value = pons_object("content", pons_value_ref(p->words),
                                                    "tool_calls", json_array(), "finish_reason",
                                                    json_string("stop"), NULL)};
    pons_event_queue_begin(&p->events, call);
    pons_event_queue_push(&p->events, call, &ev, true);
    return PONS_OK;
}

static void parrot_cancel(void *self, uint64_t call)
{
    pons_event_queue_end(&((parrot *)self)->events, call);
}

static int parrot_fd(void *self)
{
    return ((parrot *)self)->events.fd;
}

static bool parrot_next(void *self, pons_llm_event *ret)
{
    return pons_event_queue_next(&((parrot *)self)->events, ret);
}

static const pons_llm_ops ops = {.abi = PONS_LLM_ABI,
                                 .name = "parrot",
                                 .open = parrot_open,
                                 .close = parrot_close,
                                 .start = parrot_start,
                                 .cancel = parrot_cancel,
                                 .event_fd = parrot_fd,
                                 .next = parrot_next};
PONS_MODULE_EXPORT("llm", "parrot", &ops);
