// transitions.c - moves a machine by its table.
#include "brain/state/transitions.h"

#include "pons/log.h"
#include "pons/machine.h"

static const pons__transition *find(const pons__machine *m, int state, int event)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->rows[i].from == state && m->rows[i].event == event) {
            return &m->rows[i];
        }
    }
    return NULL;
}

static int count(const char *const *words)
{
    int n = 0;
    while (words[n]) {
        n++;
    }
    return n;
}

int pons__machine_move(const pons__machine *m, int *state, int event, const char **ret_next,
                       pons_error *err)
{
    const pons__transition *row = find(m, *state, event);
    uint64_t may[PONS_MACHINE_STATES_MAX] = {0};
    for (size_t i = 0; i < m->n; i++) {
        may[m->rows[i].from] |= PONS_TO(m->rows[i].to);
    }
    const pons_machine all = {
        .name = m->name, .n = count(m->states), .states = m->states, .may = may};
    if (row) {
        if (ret_next) {
            *ret_next = row->next;
        }
        return pons_machine_move(&all, state, row->to, err);
    }
    const char *is = pons_machine_state(&all, *state), *what = m->events[event];
    if (!err) {
        pons_log(PONS_LOG_ERROR, "brain", "%s: %s and %s do not go together", m->name, is, what);
    }
    return pons_error_set(err, PONS_EPROTOCOL, "brain", "%s: %s and %s do not go together", m->name,
                          is, what);
}
