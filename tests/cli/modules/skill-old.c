// skill-old.c - a skill of another version of the contract.
#include "pons/ext/skill.h"
#include "pons/module.h"

static const pons_skill skill = {.abi = PONS_SKILL_ABI + 1, .name = "old"};

PONS_MODULE_EXPORT("skill", "old", &skill);
