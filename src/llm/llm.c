// llm.c - what every provider shares.
#include "pons/ext/llm.h"

#include <stdlib.h>

void pons_llm_event_clear(pons_llm_event *ev)
{
    if (!ev) {
        return;
    }
    free(ev->text);
    pons_value_unref(ev->value);
    *ev = (pons_llm_event){0};
}
