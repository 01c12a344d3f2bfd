// access_common.c - what the files of the desk share: events, the open folder, who is there.
#include "pons/out_of_memory.h"
#include "workspace/model_access/model_files.h"

#include <sys/timerfd.h>

#define LOOK_MS 50

void pons__model_access_push(model_access *d, pons_tool_event e)
{
    event *fresh = pons_need_zeroed(1, sizeof *fresh), **at = &d->first;
    fresh->e = e;
    while (*at) {
        at = &(*at)->next;
    }
    *at = fresh;
}

int pons__model_access_open_place(model_access *d, pons_error *err)
{
    static const pons_ws_file rests_on[] = {PONS_WS_EMBODIED, PONS_WS_ENVIRONMENT, PONS_WS_LESSONS,
                                            PONS_WS_ACTION};
    const pons_ws_place_options place = {.role = PONS_WS_BY_PLANNER,
                                         .dialect = d->o.dialect,
                                         .no_wait = true,
                                         .seen = d->o.seen,
                                         .user = d->o.user};
    if (!d->place) {
        return pons_ws_place_open(d->dir, &place, &d->place, err);
    }
    for (size_t i = 0; i < sizeof rests_on / sizeof rests_on[0]; i++) {
        pons_error ignored = PONS_ERROR_INIT; // the last good state holds
        pons_ws_place_look(d->place, rests_on[i], &ignored);
    }
    return PONS_OK;
}

void pons__model_access_pace(model_access *d)
{
    const bool busy = d->proposals || d->first;
    const long ns = busy ? LOOK_MS * 1000000L : 0;
    const struct itimerspec every = {.it_interval.tv_nsec = ns, .it_value.tv_nsec = ns};
    timerfd_settime(d->timer, 0, &every, NULL);
    if (!d->proposals) {
        pons_ws_place_close(d->place);
        d->place = NULL;
    }
}

pons_value *pons__model_access_status(const model_access *d)
{
    return d->o.status ? d->o.status(d->o.user) : json_object();
}

bool pons__model_access_served(const model_access *d)
{
    return !d->o.served || d->o.served(d->o.user);
}
