// prompt_completion.h - what Tab knows at the prompt of `pons run`.
#pragma once

#include "pons/value.h"

// An array of strings; new. What cannot be read (a world, a module) has no words.
pons_value *cli_run_words(const char *world_name, const char *skill_modules);
