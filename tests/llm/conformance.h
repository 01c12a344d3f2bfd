// conformance.h - what every model provider must do (include/pons/ext/llm.h), whoever it is.
#ifndef TESTS_LLM_CONFORMANCE_H
#define TESTS_LLM_CONFORMANCE_H

#include "pons/ext/llm.h"

// The provider answers a request whose message is "quick", five of them, and then leaves those that
// say "slow" without an end. Closes it. Fails the test that calls it.
void llm_conformance(pons_llm llm);

#endif
