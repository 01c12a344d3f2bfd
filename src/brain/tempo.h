// tempo.h - how fast a person wants the robot, until the body has it (tempo.c).
#ifndef PONS_BRAIN_TEMPO_H
#define PONS_BRAIN_TEMPO_H

#include "brain/self.h"
#include "brain/words.h"

// Somebody says how fast: kept with the tick's own commit, or told why not.
// person false: a model's words, or a schedule's, which make nothing faster.
void pons__tempo_hear(pons_brain *b, pons_cx *cx, pons__tasks *t, const pons__hurry *said,
                      const char *by, bool person);
// K5, each tick: what the body has answered.
void pons__tempo_look(pons_brain *b, pons_cx *cx, pons__tasks *t);
// The loop: it is sent until the body says ok.
void pons__tempo_send(pons_brain *b);
// What the body says to the one of this percent (0: it does not tell): NULL, or its code and message.
void pons__tempo_answered(pons_brain *b, int64_t percent, const char *code, const char *message);

#endif
