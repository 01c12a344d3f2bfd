// effect_life.c - how an effect may move: from intended to dispatched, before anything is sent, and
// from there to what became of it. node/effect.c draws it and moves it.
#include "graph/state/effect_life.h"

#include "graph/engine.h"
#include "pons/machine.h"

static const pons_machine life = {
    .name = "effect",
    .n = 8,
    .states =
        (const char *const[]){
            [PONS_EFFECT_INTENDED] = "intended",
            [PONS_EFFECT_DISPATCHED] = "dispatched",
            [PONS_EFFECT_ACCEPTED] = "accepted",
            [PONS_EFFECT_DONE] = "done",
            [PONS_EFFECT_FAILED] = "failed",
            [PONS_EFFECT_CANCELED] = "canceled",
            [PONS_EFFECT_OUTCOME_UNKNOWN] = "outcome_unknown",
            [PONS_EFFECT_REFUSED] = "refused",
        },
    .may =
        (const uint64_t[]){
            [PONS_EFFECT_INTENDED] = PONS_TO(PONS_EFFECT_DISPATCHED) | PONS_TO(PONS_EFFECT_REFUSED),
            [PONS_EFFECT_DISPATCHED] = PONS_TO(PONS_EFFECT_ACCEPTED) |
                                       PONS_TO(PONS_EFFECT_REFUSED) | PONS_TO(PONS_EFFECT_DONE) |
                                       PONS_TO(PONS_EFFECT_FAILED) | PONS_TO(PONS_EFFECT_CANCELED) |
                                       PONS_TO(PONS_EFFECT_OUTCOME_UNKNOWN),
            [PONS_EFFECT_ACCEPTED] = PONS_TO(PONS_EFFECT_DONE) | PONS_TO(PONS_EFFECT_FAILED) |
                                     PONS_TO(PONS_EFFECT_CANCELED) |
                                     PONS_TO(PONS_EFFECT_OUTCOME_UNKNOWN),
            [PONS_EFFECT_DONE] = 0,
            [PONS_EFFECT_FAILED] = 0,
            [PONS_EFFECT_CANCELED] = 0,
            [PONS_EFFECT_OUTCOME_UNKNOWN] = 0,
            [PONS_EFFECT_REFUSED] = 0,
        },
};

const char *pons_effect_state_word(pons_effect_state s)
{
    return pons_machine_state(&life, (int)s);
}

int pons__effect_check_move(pons_effect_state from, pons_effect_state to, const char *id,
                            pons_error *err)
{
    if (pons_machine_may(&life, (int)from, (int)to)) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "effect %s is %s and can't become %s", id,
                          pons_effect_state_word(from), pons_effect_state_word(to));
}
