// prompt_completion.h - what Tab knows at the prompt of `pons run`.
#ifndef CLI_TERMINAL_PROMPT_COMPLETION_H
#define CLI_TERMINAL_PROMPT_COMPLETION_H

#include "pons/value.h"

// An array of strings; new. What cannot be read (a world, a module) has no words.
pons_value *cli_run_words(const char *world_name, const char *skill_modules);

#endif
