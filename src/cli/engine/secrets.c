// secrets.c - somebody pasted a key into a goal, a tool was called with one, a server's answer repeats
// the token it was asked with: what is stored is shown without it. --json is for programs, and whole.
#include "cli/engine/secrets.h"

#include "pons/agent.h"
#include "pons/buf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN      "[redacted]"
#define VALUE_LEAST 8 // bytes; what is shorter is in every text

static bool tells_of_a_key(const char *name, size_t n)
{
    static const char *const ends[] = {"KEY", "TOKEN", "SECRET", "PASSWORD"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t e = strlen(ends[i]);
        if (n >= e && strncmp(name + n - e, ends[i], e) == 0) {
            return true;
        }
    }
    return false;
}

// text is the caller's and is freed; so is what comes back.
static char *without(char *text, const char *value)
{
    pons_autobuf out = PONS_BUF_INIT;
    const char *at = text, *found = strstr(text, value);
    if (!found) {
        return text;
    }
    for (; found; found = strstr(at, value)) {
        pons_buf_bytes(&out, at, (size_t)(found - at));
        pons_buf_str(&out, HIDDEN);
        at = found + strlen(value);
    }
    pons_buf_str(&out, at);
    free(text);
    return strdup(out.failed ? HIDDEN : out.data);
}

char *cli_without_secrets(const char *text)
{
    char *now = pons_agent_redacted(text);
    for (char **e = environ; e && *e; e++) {
        const char *value = strchr(*e, '=');
        if (value && strlen(value + 1) >= VALUE_LEAST && tells_of_a_key(*e, (size_t)(value - *e))) {
            now = without(now, value + 1);
        }
    }
    return now;
}
