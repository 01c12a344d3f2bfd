// brain_pace.h - what a person's words about how fast make of the pace in force.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

// said: as a policy's `pace` has it (pons/ext/policy.h); now_percent: of every speed limit, in force; top_mps: the
// robot's own limit. PONS_EINVAL: it can be no slower, no faster, or is outside what may be asked for.
int pons_pace_wanted(const pons_value *said, int64_t now_percent, double top_mps,
                     int64_t *ret_percent, pons_error *err);

PONS_C_END
