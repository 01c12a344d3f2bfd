// run_end.h - whether a run is over (run_end.c).
#pragma once

#include "brain/state/self.h"

int pons__done_check(pons_brain *b, pons_error *err); // emits run.done when it is
