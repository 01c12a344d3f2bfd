// look.c - looks at what is stored or was told: small functions of their arguments, for all files.
#include "brain/brain_internal.h"
#include "pons/plan.h"

#include <string.h>

const pons_value *pons__last_of(const pons_value *list, const char *key, const char *value)
{
    for (size_t i = json_array_size(list); i > 0 && *value; i--) {
        const pons_value *entry = json_array_get(list, i - 1);
        if (strcmp(pons_get_str(entry, key, ""), value) == 0) {
            return entry;
        }
    }
    return NULL;
}

int64_t pons__port_robot_ms(const pons__port *p)
{
    return pons_get_int(p->telemetry, "robot_ms", 0);
}

bool pons__stands(const pons_value *tasks)
{
    return json_is_object(pons_get(tasks, "stopped")) || pons_get_bool(tasks, "paused", false);
}

bool pons__latch_lifts_itself(const pons_brain *b)
{
    const pons_value *stop = pons_get(b->port.telemetry, "stop");
    return b->rules.auto_reset_sim && pons_get_bool(b->port.hello, "simulated", false) &&
           strcmp(pons_get_str(stop, "origin", ""), "boot") == 0;
}

bool pons__task_plan_drives(const pons_value *state)
{
    const char *kind = pons_get_str(state, "kind", "goals");
    const int status =
        pons_plan_status_find(pons_get_str(pons_get(state, "plan"), "status", "completed"));
    return strcmp(kind, "goals") != 0 &&
           (strcmp(kind, "given") == 0 || !pons_machine_final(&pons_plan_machine, status));
}

// A person has taken back what R6 is about to send: the reason, or NULL.
const pons_value *pons__answer_veto(const pons_brain *b)
{
    const pons_value *react = b->react_run ? pons_run_get(b->react_run, "react") : NULL;
    const char *answered = pons_get_str(react, "answered", NULL);
    const pons_value *answer =
        answered ? pons__last_of(pons_get(b->hci, "answers"), "question", answered) : NULL;
    return answer && strcmp(pons_get_str(answer, "action", ""), "reject") == 0 ? answer : NULL;
}
