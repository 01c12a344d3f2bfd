// skill-spin.c - a skill with a name that the body has already.
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
    .name = "spin",
    .description = "Another spin.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false}",
    .timeout_s = 1.0,
    .success_criteria = "none",
    .error_map = "{\"default\":\"retry\"}",
    .step = step,
};

PONS_MODULE_EXPORT("skill", "spin", &skill);
