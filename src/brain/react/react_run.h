// react_run.h - the inner loop's run (react_run.c).
#pragma once

#include "brain/state/self.h"

// With which its runs are started, and resumed.
pons_run_options pons__inner_options(const pons_brain *b);
int pons__inner_work(pons_brain *b, pons_error *err); // > 0: something was done
// Its waits for people (pons__waits), the caller's to clear.
pons__list pons__inner_people(const pons_run *run);
