// skill-loose.c - a skill that would take any argument.
#include "pons/ext/skill.h"
#include "pons/module.h"

static void step(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    (void)state;
    (void)now;
    ret->status = PONS_SKILL_DONE;
}

static const pons_skill skill = {
    .abi = PONS_SKILL_ABI,
    .name = "loose",
    .description = "Takes anything.",
    .args_schema = "{\"type\":\"object\"}",
    .timeout_s = 1.0,
    .success_criteria = "none",
    .error_map = "{\"default\":\"retry\"}",
    .step = step,
};

PONS_MODULE_EXPORT("skill", "loose", &skill);
