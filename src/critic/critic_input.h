// critic_input.h - what a critic is given (critic_input.c).
#pragma once

#include "critic/judgement.h"

extern const char *const pons__critic_risk_words[RISK_LEVELS];

// All that was given, as structs. PONS_EINVAL names what is wrong; pons__critic_given_fini frees what was read.
int pons__critic_given_read(pons_critic *c, pons_error *err);
void pons__critic_given_fini(pons_critic *c);
const critic_skill *pons__critic_skill(const pons_critic *c, const char *name); // or NULL

// critic_world.c: after the policy's value is there.
int pons__critic_world_read(pons_critic *c, pons_error *err);
void pons__critic_world_fini(critic_world *w);
critic_point pons__critic_point(const pons_value *v);
// By id or name, in any case; an object also by its class.
const critic_zone *pons__critic_zone(const pons_critic *c, const char *name);     // or NULL
const critic_object *pons__critic_object(const pons_critic *c, const char *name); // or NULL
