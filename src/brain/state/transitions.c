// transitions.c - moves a machine by its table, and draws it.
#include "brain/state/transitions.h"

#include "pons/log.h"
#include "pons/machine.h"

const pons__transition *pons__transition_find(const pons__machine *m, int state, int event)
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
    const pons__transition *row = pons__transition_find(m, *state, event);
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

int pons__machine_draw(const pons__machine *m, pons_buf *out)
{
    int rc =
        pons_buf_printf(out, "```mermaid\nstateDiagram-v2\n    %%%% %s: %s\n", m->name, m->means);
    for (size_t i = 0; i < m->n && rc >= 0; i++) {
        const pons__transition *row = &m->rows[i];
        const char *from = m->states[row->from], *to = m->states[row->to];
        if (m->told || row->from != row->to) {
            rc = pons_buf_printf(out, "    %s --> %s: %s%s%s\n", *from ? from : "[*]",
                                 *to ? to : "[*]", m->events[row->event], m->told ? " / " : "",
                                 m->told && row->next ? row->next : "");
        }
    }
    return rc < 0 ? rc : pons_buf_printf(out, "```\n");
}
