// rule_policy.h - the rule policy: understands goals and decides without a model (docs/reference/intents.md).
#ifndef PONS_RULE_POLICY_H
#define PONS_RULE_POLICY_H

#include "pons/ext/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

// From config/intents.yaml (parsed). PONS_EINVAL with the offending path.
int pons_rules_open(const pons_value *intents, pons_policy *ret, pons_error *err);
void pons_rules_close(pons_policy *p); // NULL-safe

#ifdef __cplusplus
}
#endif

#endif
