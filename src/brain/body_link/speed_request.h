// speed_request.h - how fast a person wants the robot, until the body has it (speed_request.c).
#pragma once

#include "brain/records/intent_fields.h"
#include "brain/state/self.h"

typedef enum pons__speed_request_word {
    PONS__TEMPO_KEPT, // until the body has it
    PONS__TEMPO_MET,  // it is so already
    PONS__TEMPO_NOT   // it cannot be
} pons__speed_request_word;

// Somebody says how fast: kept with the tick's own commit, or told why not.
// person false: a model's words, or a schedule's, which make nothing faster.
// then: letters that are kept with it (borrowed; NULL: none), and lost where it is not kept.
pons__speed_request_word pons__speed_request_hear(pons_brain *b, pons_cx *cx, pons__tasks *t,
                                                  const pons__hurry *said, const char *by,
                                                  bool person, const pons_value *then);
// K5, each tick, and before anybody says how fast: what the body has answered. Letters that were kept with it, the
// caller's; NULL: none. *ret_taken, where there are some: they count.
pons_value *pons__speed_request_look(pons_brain *b, pons_cx *cx, pons__tasks *t, bool *ret_taken);
// The answer to this question that is heard when the body has answered; NULL: none. A new reference.
pons_value *pons__speed_request_answer(const pons__tasks *t, const char *question);
// A stop, a pause, a cancel: what was said with the pace before does not count any more.
void pons__speed_request_drop_words(pons_brain *b, pons_cx *cx, pons__tasks *t);
// The loop: it is sent until the body says ok.
void pons__speed_request_send(pons_brain *b);
// What the body says to the one of this percent (0: it does not tell): NULL, or its code and message.
void pons__speed_request_answered(pons_brain *b, int64_t percent, const char *code,
                                  const char *message);
