// secrets.h - a text for a person's eyes, without what looks like a key.
#ifndef PONS_CLI_ENGINE_SECRETS_H
#define PONS_CLI_ENGINE_SECRETS_H

// By the patterns of pons_agent_redacted, and the values of this environment's variables that are called
// …KEY, …TOKEN, …SECRET or …PASSWORD. Never NULL; the caller frees.
char *cli_without_secrets(const char *text);

#endif
