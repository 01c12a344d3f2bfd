// secret_filter.c - somebody pasted a key into a goal, a tool was called with one, a server's answer repeats
// the token it was asked with: what is stored is shown without it. --json is for programs, and whole.
#include "app/notify/secret_filter.h"

#include "pons/buf.h"
#include "pons/redact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HIDDEN      "[redacted]"
#define VALUE_LEAST 8 // bytes; what is shorter is in every text

static const char key_begins[] = "-----BEGIN ", key_ends[] = "-----END ",
                  key_mark[] = "PRIVATE KEY-----";

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

// What a variable of the environment hides; "": nothing.
static const char *hidden_by(const char *variable)
{
    const char *value = strchr(variable, '=');
    const bool hides = value && strlen(value + 1) >= VALUE_LEAST &&
                       tells_of_a_key(variable, (size_t)(value - variable));
    return hides ? value + 1 : "";
}

char *app_without_secrets(const char *text)
{
    char *now = strdup(text);
    // The longest first: what begins with another one would be left half.
    for (size_t below = SIZE_MAX, longest = 1; now && longest > 0; below = longest) {
        longest = 0;
        for (char **e = environ; e && *e; e++) {
            const size_t n = strlen(hidden_by(*e));
            longest = n < below && n > longest ? n : longest;
        }
        for (char **e = environ; now && longest > 0 && *e; e++) {
            const char *value = hidden_by(*e);
            now = strlen(value) == longest ? without(now, value) : now;
        }
    }
    char *clean = now ? pons_redacted(now) : NULL;
    free(now);
    return clean;
}

// Behind the mark of a private key that begins, or ends; NULL: there is none.
static const char *behind_mark(const char *line, const char *what)
{
    const char *at = strstr(line, what);
    const char *mark = at ? strstr(at, key_mark) : NULL;
    return mark ? mark + strlen(key_mark) : NULL;
}

char *app_line_without_secrets(size_t *in_key, const char *line)
{
    if (*in_key > 0) {
        const char *after = behind_mark(line, key_ends);
        *in_key += strlen(line) + 1;
        if (!after && *in_key <= APP_KEY_MAX) {
            return NULL;
        }
        *in_key = 0;
        if (after && !*after) {
            return NULL;
        }
        line = after ? after : line;
    }
    for (const char *at = line; (at = behind_mark(at, key_begins)) != NULL;) {
        const char *after = behind_mark(at, key_ends);
        *in_key = after ? 0 : 1;
        at = after ? after : at;
    }
    return app_without_secrets(line);
}

// A member's name: apiKey, access_token, password; but not `key` or `token` alone, which name other things.
static bool names_a_secret(const char *name)
{
    static const char *const ends[] = {"_token",     "-token",      "Token",      "secret",
                                       "password",   "passwd",      "api_key",    "api-key",
                                       "apiKey",     "apikey",      "accessKey",  "authKey",
                                       "access_key", "private_key", "privateKey", "passphrase"};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t e = strlen(ends[i]);
        if (n >= e && strcasecmp(name + n - e, ends[i]) == 0 &&
            (*ends[i] != 'T' || name[n - e] == 'T')) {
            return true;
        }
    }
    return false;
}

pons_value *app_value_without_secrets(const pons_value *v)
{
    if (json_is_string(v)) {
        char *clean = app_without_secrets(json_string_value(v));
        pons_value *ret = json_string(clean);
        free(clean);
        return ret ? ret : json_string(HIDDEN);
    }
    if (json_is_array(v)) {
        pons_value *ret = json_array();
        for (size_t i = 0; i < json_array_size(v); i++) {
            json_array_append_new(ret, app_value_without_secrets(json_array_get(v, i)));
        }
        return ret;
    }
    if (json_is_object(v)) {
        pons_value *ret = json_object();
        pons_each_member(name, member, v) {
            json_object_set_new(ret, name,
                                json_is_string(member) && names_a_secret(name)
                                    ? json_string(HIDDEN)
                                    : app_value_without_secrets(member));
        }
        return ret;
    }
    return pons_value_ref(v);
}
