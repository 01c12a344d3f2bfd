// prompts.h - the built-in prompts.
#ifndef PONS_AGENT_PROMPTS_H
#define PONS_AGENT_PROMPTS_H

extern const char pons__prompt_agent[], pons__prompt_executor[], pons__prompt_replanner[];

#endif
