// done.h - whether a run is over (done.c).
#ifndef PONS_BRAIN_DONE_H
#define PONS_BRAIN_DONE_H

#include "brain/self.h"

int pons__done_check(pons_brain *b, pons_error *err); // emits run.done when it is

#endif
