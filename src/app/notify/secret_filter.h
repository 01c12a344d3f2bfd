// secret_filter.h - a text for a person's eyes, without what looks like a key.
#pragma once

#include "pons/value.h"

#define APP_KEY_MAX 65536 // bytes; no private key is longer

// By the patterns of pons_redacted, and the values of this environment's variables that are called
// …KEY, …TOKEN, …SECRET or …PASSWORD. The caller frees; NULL: there is no memory.
char *app_without_secrets(const char *text);
// The same of a text that comes line by line. *in_key: 0 before the first, kept between them. NULL: nothing of
// this line is shown, as it is within a private key.
char *app_line_without_secrets(size_t *in_key, const char *line);
// The same of all texts of a value, and of what is called a key, a token, a password: a new one.
pons_value *app_value_without_secrets(const pons_value *v);
