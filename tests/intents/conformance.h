// conformance.h - what every policy must do (include/pons/ext/policy.h), whoever it is.
#ifndef TESTS_POLICY_CONFORMANCE_H
#define TESTS_POLICY_CONFORMANCE_H

#include "pons/ext/policy.h"

// Fails the test that calls it. The policy understands English.
void policy_conformance(pons_policy p);

#endif
