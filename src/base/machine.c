// machine.c - a transition is a bit in a constant table.
#include "pons/machine.h"

static bool names(const pons_machine *m, int state)
{
    return state >= 0 && state < m->n;
}

bool pons_machine_may(const pons_machine *m, int from, int to)
{
    return names(m, from) && names(m, to) && (m->may[from] & PONS_TO(to));
}

int pons_machine_move(const pons_machine *m, int *state, int to, pons_error *err)
{
    if (!pons_machine_may(m, *state, to)) {
        return pons_error_set(err, PONS_EPROTOCOL, m->name, "%s may not become %s",
                              pons_machine_state(m, *state), pons_machine_state(m, to));
    }
    *state = to;
    return PONS_OK;
}

const char *pons_machine_state(const pons_machine *m, int state)
{
    return names(m, state) ? m->states[state] : "?";
}

bool pons_machine_final(const pons_machine *m, int state)
{
    return names(m, state) && m->may[state] == 0;
}
