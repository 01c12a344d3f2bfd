// rule_policy.h - the rule policy: understands goals and decides without a model (docs/reference/intents.md).
#pragma once

#include "pons/ext/policy.h"
#include "pons/linkage.h"

PONS_C_BEGIN

// From config/intents.yaml (parsed). PONS_EINVAL with the offending path.
int pons_rules_open(const pons_value *intents, pons_policy *ret, pons_error *err);
void pons_rules_close(pons_policy *p); // NULL-safe

PONS_C_END
