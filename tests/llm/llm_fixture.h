// llm_fixture.h - what the tests of this folder share: the rule policy of config/intents.yaml, a
// small world, and compiled schemas.
#ifndef PONS_TESTS_LLM_FIXTURE_H
#define PONS_TESTS_LLM_FIXTURE_H

#include "pons/rule_policy.h"
#include "pons/schema.h"
#include "pons/value.h"

// All of these end the program with a message when something is wrong.
pons_policy fixture_rules(void);   // close with pons_rules_close
pons_value *fixture_intents(void); // config/intents.yaml as a value of one's own
pons_value *fixture_world(void);   // kitchen, living_room, bedroom, corridor; apple, cup …
pons_value *fixture_json(const char *text);    // parses
pons_schema *fixture_schema(const char *name); // "decision": schemas/decision.json
void fixture_fail(const pons_error *err, const char *what) __attribute__((noreturn));

#endif
