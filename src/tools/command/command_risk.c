// command_risk.c - how dangerous one command is.
//
// Two readers look at it. The first (safe_commands.c) is strict and knows what may run unasked: that runs
// in the sandbox (sandbox.c), so a mistake of the reader costs nothing. The second, here, reads the
// line as a shell would, as far as that can be read, and knows what never runs. Everything between
// them is a person's to decide.
//
//   blocked    any simple command of the line, also inside $(...), `...`, ( ... ), sudo, env, sh
//              -c ..., is on the deny list or is one of the built-in ruins
//   safe       the strict grammar has it, and there is a sandbox to run it in
//   otherwise  the terminal's own risk: dangerous, unless the configuration says otherwise; it runs
//              as approved, outside the sandbox
#include "tools/command/command_risk.h"

#include "pons/ext/tool.h"
#include "tools/command/safe_commands.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/sandbox/sandbox.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const why_texts[] = PONS_TOOL_WHY_TEXTS;

#define COMMAND_MAX (16 * 1024) // bytes of a command that is read; a longer one is not safe
#define WORDS_MAX   64
#define NEST_MAX    8
#define TEXT_MAX    (COMMAND_MAX + 2 * WORDS_MAX)

static const char *const ruins[] = {"mkfs",    "mkfs.*",   "wipefs", "fdisk", "sfdisk",
                                    "parted",  "shutdown", "reboot", "halt",  "poweroff",
                                    "telinit", "kexec",    "mkswap"};
// Programs that run the rest of their words as a command.
static const char *const carriers[] = {
    "sudo",    "doas",    "env",    "nohup",   "nice",   "time",   "exec",   "xargs",
    "command", "builtin", "setsid", "timeout", "stdbuf", "ionice", "chroot", "busybox",
    "then",    "do",      "else",   "!",       "if",     "while"};
static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "eval"};

typedef struct reading {
    const pons__core *core;
    char *reason;
    size_t cap;
    bool blocked;
    int depth;
} reading;

typedef struct simple { // one simple command
    const char *words[WORDS_MAX];
    size_t n;
    char text[TEXT_MAX];
    size_t used, begin; // begin: of the word that is being read
    bool in_word;
} simple;

static bool among(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fnmatch(list[i], word, 0) == 0) {
            return true;
        }
    }
    return false;
}
#define AMONG(word, list) among(word, list, sizeof(list) / sizeof(list)[0])

// The first reason is the one that is told, but a ruin's goes before all others.
__attribute__((format(printf, 2, 0))) static void tell(reading *r, const char *fmt, va_list ap)
{
    if (r->cap > 0 && !r->reason[0]) {
        vsnprintf(r->reason, r->cap, fmt, ap);
    }
}

__attribute__((format(printf, 2, 3))) static void block(reading *r, const char *fmt, ...)
{
    va_list ap;
    if (!r->blocked && r->cap > 0) {
        r->reason[0] = '\0';
    }
    va_start(ap, fmt);
    tell(r, fmt, ap);
    va_end(ap);
    r->blocked = true;
}

// "git status" matches the words git, status, …; the program also by its path.
static bool matches(const char *entry, const char *const *words, size_t n)
{
    size_t i = 0;
    for (const char *at = entry; *at; i++) {
        const size_t len = strcspn(at, " ");
        const char *word = i < n ? words[i] : "";
        const char *slash = i == 0 ? strrchr(word, '/') : NULL;
        char part[64];
        snprintf(part, sizeof part, "%.*s", (int)len, at);
        if (i >= n || fnmatch(part, slash ? slash + 1 : word, 0) != 0) {
            return false;
        }
        at += len;
        at += strspn(at, " ");
    }
    return i > 0;
}

// An absolute path without ".", ".." and "//", in place (PATH_MAX bytes).
static void normalize(const char *path, char *place)
{
    size_t n = 0;
    for (const char *at = path; *at; at += strspn(at, "/")) {
        at += strspn(at, "/");
        const size_t len = strcspn(at, "/");
        if (len == 2 && at[0] == '.' && at[1] == '.') {
            while (n > 0 && place[--n] != '/') {
            }
        } else if (len > 0 && !(len == 1 && *at == '.') && n + len + 2 < PATH_MAX) {
            place[n++] = '/';
            memcpy(place + n, at, len);
            n += len;
        }
        at += len;
    }
    place[n] = '\0';
}

// A place that a recursive change must never begin at: the root, a folder of the root, a home.
static bool too_high(const char *path)
{
    char place[PATH_MAX];
    if (strcmp(path, "~") == 0 || strncmp(path, "~/", 2) == 0 || strcmp(path, "$HOME") == 0 ||
        strcmp(path, "${HOME}") == 0 || strncmp(path, "$HOME/*", 7) == 0) {
        return strcmp(path, "~/") == 0 || !strchr(path, '/') || strchr(path, '*');
    }
    if (path[0] != '/') {
        return false;
    }
    normalize(path, place);
    if (strncmp(place, "/tmp/", 5) == 0) {
        return false;
    }
    const char *second = place[0] ? strchr(place + 1, '/') : NULL;
    return !second || strcmp(second, "/*") == 0 || strcmp(second, "/.*") == 0;
}

static bool recursive(const char *const *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (strcmp(words[i], "--recursive") == 0 || strcmp(words[i], "--no-preserve-root") == 0 ||
            (words[i][0] == '-' && words[i][1] != '-' && strpbrk(words[i], "rR"))) {
            return true;
        }
    }
    return false;
}

static void look_at_argument(reading *r, const char *program, const char *const *words, size_t i)
{
    static const char *const ends[] = {"poweroff", "reboot", "halt",
                                       "kexec",    "rescue", "emergency"};
    const char *word = words[i];
    if (strcmp(program, "dd") == 0 && strncmp(word, "of=/dev/", 8) == 0 &&
        strcmp(word, "of=/dev/null") != 0) {
        block(r, "it would write over a device: %s", word);
    } else if (strcmp(program, "systemctl") == 0 && AMONG(word, ends)) {
        block(r, "systemctl %s is never run", word);
    } else if (strcmp(program, "init") == 0 && strpbrk(word, "06")) {
        block(r, "init %s is never run", word);
    } else if (strcmp(program, "kill") == 0 && i > 1 && strcmp(word, "-1") == 0) {
        block(r, "it would kill every process");
    } else if (strcmp(program, "find") == 0 && strcmp(word, "-delete") == 0 && too_high(words[1])) {
        block(r, "it would remove everything below %s", words[1]);
    }
}

static void look_for_ruin(reading *r, const char *const *words, size_t n)
{
    const char *slash = strrchr(words[0], '/'), *program = slash ? slash + 1 : words[0];
    size_t i;
    if (AMONG(program, ruins)) {
        block(r, "%s is never run", program);
    }
    pons_each(entry, pons__conf_value(r->core, "terminal", "deny")) {
        if (matches(json_string_value(entry), words, n)) {
            block(r, "the configuration denies: %s", json_string_value(entry));
        }
    }
    static const char *const changers[] = {"rm", "chmod", "chown", "chgrp"};
    const bool deep = AMONG(program, changers) && recursive(words, n);
    for (i = 1; i < n; i++) {
        if (deep && too_high(words[i])) {
            block(r, "it would change everything below %s", words[i]);
        } else {
            look_at_argument(r, program, words, i);
        }
    }
}

static void read_line(reading *r, const char *s, size_t n);

static void end_command(reading *r, simple *c)
{
    const char *const *words = c->words;
    size_t n = c->n;
    while (n > 0 && strchr(words[0], '=') && words[0][0] != '=' && words[0][0] != '/') { // X=1 cmd
        words++;
        n--;
    }
    for (int hops = 0; n > 0 && hops < WORDS_MAX; hops++) {
        const char *slash = strrchr(words[0], '/'), *program = slash ? slash + 1 : words[0];
        look_for_ruin(r, words, n);
        if (AMONG(program, shells)) {
            for (size_t i = 1; i < n; i++) {
                read_line(r, words[i], strlen(words[i]));
            }
        }
        if (!AMONG(program, carriers)) {
            break;
        }
        // Its options, assignments and numbers, then the command that it carries.
        do {
            words++;
            n--;
        } while (n > 1 && (words[0][0] == '-' || strchr(words[0], '=') ||
                           isdigit((unsigned char)words[0][0])));
    }
    *c = (simple){.n = 0};
}

static void end_word(simple *c)
{
    if (!c->in_word) {
        return;
    }
    c->text[c->used++] = '\0';
    if (c->n < WORDS_MAX) {
        c->words[c->n++] = c->text + c->begin;
    }
    c->in_word = false;
}

static void put(simple *c, char ch)
{
    if (!c->in_word) {
        c->in_word = true;
        c->begin = c->used;
    }
    if (c->used + 2 < sizeof c->text) {
        c->text[c->used++] = ch;
    }
}

// Reads what is inside $( … ) or ` … `; returns the bytes that it took.
static size_t nested(reading *r, const char *s, size_t n)
{
    size_t end;
    if (s[0] == '`') {
        for (end = 1; end < n && s[end] != '`'; end++) {
        }
        read_line(r, s + 1, end - 1);
        return end < n ? end + 1 : n;
    }
    int open = 0;
    for (end = 1; end < n; end++) { // at "$("
        open += s[end] == '(';
        open -= s[end] == ')';
        if (open == 0) {
            break;
        }
    }
    read_line(r, s + 2, end > 2 ? end - 2 : 0);
    return end < n ? end + 1 : n;
}

// A redirection: its target is read as a word and looked at. Returns the bytes that it took.
static size_t redirect(reading *r, const char *s, size_t n)
{
    size_t i = strspn(s, "<>&|");
    const bool writes = memchr(s, '>', i < n ? i : n) != NULL;
    while (i < n && (s[i] == ' ' || s[i] == '\t')) {
        i++;
    }
    char target[PATH_MAX];
    size_t len = 0;
    while (i < n && !strchr(" \t\n;|&<>()", s[i])) {
        if (s[i] != '"' && s[i] != '\'' && len + 1 < sizeof target) {
            target[len++] = s[i];
        }
        i++;
    }
    target[len] = '\0';
    static const char *const streams[] = {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty",
                                          "/dev/fd/*", "/dev/full",   "/dev/shm/*"};
    if (writes && strncmp(target, "/dev/", 5) == 0 && !AMONG(target, streams)) {
        block(r, "it would write over a device: %s", target);
    }
    return i;
}

// A byte within quotation marks. Returns the bytes that it took; *quote is 0 behind the closing mark.
static size_t read_quoted(simple *c, const char *s, size_t n, char *quote)
{
    if (s[0] == *quote) {
        *quote = 0;
        return 1;
    }
    const bool escapes = *quote == '"' && s[0] == '\\' && n > 1 && strchr("\"\\$`\n", s[1]);
    put(c, s[escapes]);
    return escapes ? 2 : 1;
}

// What stands outside of quotation marks. Returns the bytes that it took.
static size_t read_unquoted(reading *r, simple *c, const char *s, size_t n, char *quote)
{
    const char ch = s[0];
    if (strchr(";|&\n()", ch) || (!c->in_word && (ch == '{' || ch == '}'))) {
        end_word(c);
        end_command(r, c);
        return n > 1 && s[1] == ch && (ch == '&' || ch == '|') ? 2 : 1;
    }
    if (ch == '\\' && n > 1) {
        if (s[1] != '\n') {
            put(c, s[1]);
        }
        return 2;
    }
    if (ch == '#' && !c->in_word) {
        const char *nl = memchr(s, '\n', n);
        return nl ? (size_t)(nl - s) : n;
    }
    switch (ch) {
    case '\'':
    case '"':
        *quote = ch;
        if (!c->in_word) { // an empty word is a word
            c->in_word = true;
            c->begin = c->used;
        }
        return 1;
    case ' ':
    case '\t':
        end_word(c);
        return 1;
    case '<':
    case '>':
        if (c->in_word && c->used - c->begin == 1 &&
            isdigit((unsigned char)c->text[c->begin])) { // 2>&1
            c->in_word = false;
            c->used = c->begin;
        }
        end_word(c);
        return redirect(r, s, n);
    default:
        put(c, ch);
        return 1;
    }
}

static void read_line(reading *r, const char *s, size_t n)
{
    if (r->depth >= NEST_MAX || n > COMMAND_MAX) {
        return;
    }
    simple *c = calloc(1, sizeof *c);
    if (!c) {
        return;
    }
    r->depth++;
    char quote = 0;
    for (size_t i = 0; i < n;) {
        const bool expands = (s[i] == '$' && i + 1 < n && s[i + 1] == '(') || s[i] == '`';
        if (quote != '\'' && expands) {
            put(c, '?');
            i += nested(r, s + i, n - i);
        } else if (quote) {
            i += read_quoted(c, s + i, n - i, &quote);
        } else {
            i += read_unquoted(r, c, s + i, n - i, &quote);
        }
    }
    end_word(c);
    end_command(r, c);
    r->depth--;
    free(c);
}

// "safe" is for what the sandbox holds: a command outside of it is at least shown.
static pons_tool_risk own_risk(const pons__core *c)
{
    const char *word = pons_get_str(pons__conf_value(c, NULL, "risk"), "terminal", "dangerous");
    if (strcmp(word, "safe") == 0) {
        return PONS_TOOL_WARN;
    }
#define RISK_IF(symbol, text)                                                                      \
    if (strcmp(word, text) == 0) {                                                                 \
        return symbol;                                                                             \
    }
    PONS_TOOL_RISK_TABLE(RISK_IF)
#undef RISK_IF
    return PONS_TOOL_DANGEROUS;
}

pons_tool_risk pons__command_risk(const pons__core *c, const char *command, const char *cwd,
                                  pons__command *ret_cmd, char *reason, size_t cap)
{
    char normal[PATH_MAX], letters[16];
    size_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    reading r = {.core = c, .reason = reason, .cap = cap};
    if (cap > 0) {
        reason[0] = '\0';
    }
    if (pons__path_normal(c, cwd, normal, &err) < 0) {
        block(&r, "%s", err.message);
        return PONS_TOOL_BLOCKED;
    }
    for (const char *at = command; *at && n + 1 < sizeof letters; at++) {
        if (!isspace((unsigned char)*at)) {
            letters[n++] = *at;
        }
    }
    letters[n] = '\0';
    if (strncmp(letters, ":(){:|:&};", 10) == 0) {
        block(&r, "it is a fork bomb");
        return PONS_TOOL_BLOCKED;
    }
    read_line(&r, command, strlen(command));
    if (r.blocked) {
        return PONS_TOOL_BLOCKED;
    }
    pons__command cmd = {0};
    int rc = pons__grammar_read(c, command, normal, &cmd, &err);
    rc = rc < 0 ? rc : pons__wall_ready(c, &err);
    if (rc < 0) {
        pons__command_fini(&cmd);
        // First what a long word of a model's could push out of sight.
        snprintf(reason, cap, "%s: %s", why_texts[PONS_TOOL_WHY_UNSANDBOXED], err.message);
        return own_risk(c);
    }
    snprintf(reason, cap, "%s", why_texts[PONS_TOOL_WHY_READS_ONLY]);
    if (ret_cmd) {
        *ret_cmd = cmd;
    } else {
        pons__command_fini(&cmd);
    }
    return PONS_TOOL_SAFE;
}

// ---- addresses ----------------------------------------------------------------------------------

pons_tool_risk pons__url_risk(const pons__core *c, const char *url, char *reason, size_t cap)
{
    const bool secure = strncasecmp(url, "https://", 8) == 0;
    if (!secure && strncasecmp(url, "http://", 7) != 0) {
        snprintf(reason, cap, "only http and https are fetched");
        return PONS_TOOL_BLOCKED;
    }
    char host[256];
    const char *at = url + (secure ? 8 : 7);
    const size_t authority = strcspn(at, "/?#\\");
    const char *user = memrchr(at, '@', authority);
    const char *begin = user ? user + 1 : at;
    size_t n = authority - (size_t)(begin - at);
    if (n > 0 && *begin == '[') {
        begin++;
        n = strcspn(begin, "]");
    } else {
        const char *colon = memchr(begin, ':', n);
        n = colon ? (size_t)(colon - begin) : n;
    }
    snprintf(host, sizeof host, "%.*s", (int)n, begin);
    struct in_addr v4;
    const bool near = strcasecmp(host, "localhost") == 0 ||
                      (n > 6 && strcasecmp(host + n - 6, ".local") == 0) ||
                      strcmp(host, "::1") == 0 ||
                      (inet_pton(AF_INET, host, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127);
    if (near && !pons_get_bool(pons_get(c->config, "fetch"), "private", false)) {
        snprintf(reason, cap, "%s is an address of this machine or its network", host);
        return PONS_TOOL_BLOCKED;
    }
    snprintf(reason, cap, "%s %s", why_texts[PONS_TOOL_WHY_ASKS_HOST], host);
    return PONS_TOOL_SAFE; // no more than the tool's own
}
