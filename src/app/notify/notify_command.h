// notify_command.h - a command of this machine that tells a person something.
#pragma once

#include "pons/value.h"

#include <stdbool.h>

// Runs it, with `text` on its standard input and members of `body` in its words, and what it prints behind what is in
// `log`. True: it ended well. It is killed when it takes too long or `end` is readable. Blocks; any thread.
bool app_notify_command(const pons_value *words, const pons_value *body, const char *text,
                        const char *log, int end);
