// secrets.h - a text for a person's eyes, without what looks like a key.
#ifndef PONS_CLI_SHOW_SECRETS_H
#define PONS_CLI_SHOW_SECRETS_H

#include "pons/value.h"

// By the patterns of pons_agent_redacted, and the values of this environment's variables that are called
// …KEY, …TOKEN, …SECRET or …PASSWORD. Never NULL; the caller frees.
char *cli_without_secrets(const char *text);
// The same of all texts of a value, and of what is called a key, a token, a password: a new one.
pons_value *cli_value_without_secrets(const pons_value *v);

#endif
