// safe_commands.c - the commands that run unasked: one program of a table, its options in full, and words
// that stand for nothing but themselves.
//
//     command = word { blank word }         one program: no pipe, list, redirection, variable
//     word    = { plain | 'text' | "text" } no backslash, no line break, nothing that expands
//
// What is read here is what runs: the words go to execve as they are, no shell looks at them again.
// So there is no second reader whose view of a quotation mark could be another. The program and its
// options are written plainly; an option is on the list of its program, whole, or nobody is asked
// to guess what it does. No option takes the name of a file: names are words of their own.
//
// This reader is not the wall (sandbox.c is); it keeps what is pointless or needless away from it.
#include "tools/command/safe_commands.h"

#include "pons/buf.h"
#include "tools/core/bytes_to_text.h"
#include "tools/core/config.h"
#include "tools/core/core.h"
#include "tools/core/path.h"
#include "tools/core/read_write_guards.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND_MAX 4096 // bytes of a command that runs unasked
#define WORDS_MAX   64
#define VALUE_MAX   12 // digits and letters of a number

// What the words are that are no options.
typedef enum words_kind {
    FILES,    // names in the workspace
    PATTERN,  // one text, then names; only names when -e was given
    TEXT,     // anything
    NONE,     // there are none
    MOMENT,   // date's +FORMAT
    CRITERIA, // find's: names, then the options
} words_kind;

// options: words that are taken whole; letters: single ones that may stand together ("-la");
// values: NAME:KIND, '#' number (also glued: -n3, --lines=3), '@' text (a word of its own; glued
// only after "--name="), '/' name of a file.
typedef struct program {
    const char *name;
    words_kind words;
    const char *letters, *options, *values;
} program;

static const program programs[] = {
    {"ls", FILES, "aAlhLRtrS1dFinsGgokcuBqQ",
     "--all --almost-all --human-readable --recursive --reverse --size --directory --inode "
     "--classify --full-time --numeric-uid-gid --group-directories-first",
     ""},
    {"cat", FILES, "nbsETvA", "--number --number-nonblank --squeeze-blank --show-all", ""},
    {"head", FILES, "qv", "--quiet --silent --verbose", "-n:# -c:# --lines:# --bytes:# -:#"},
    {"tail", FILES, "qv", "--quiet --silent --verbose", "-n:# -c:# --lines:# --bytes:# -:#"},
    {"wc", FILES, "lwcmL", "--lines --words --bytes --chars --max-line-length", ""},
    {"nl", FILES, "", "", "-b:@ -w:# -v:#"},
    {"pwd", NONE, "LP", "", ""},
    {"echo", TEXT, "n", "", ""},
    {"printf", TEXT, "", "", ""},
    {"true", TEXT, "", "", ""},
    {"false", TEXT, "", "", ""},
    {"date", MOMENT, "uR", "--utc --universal --iso-8601 --rfc-email", ""},
    {"uname", NONE, "asnrvmpio", "--all", ""},
    {"whoami", NONE, "", "", ""},
    {"id", NONE, "ugGnr", "--user --group --groups --name --real", ""},
    {"basename", TEXT, "az", "--multiple", "-s:@"},
    {"dirname", TEXT, "z", "", ""},
    {"realpath", FILES, "eqsm", "--canonicalize-existing --canonicalize-missing --no-symlinks", ""},
    {"readlink", FILES, "femnqv", "--canonicalize", ""},
    {"stat", FILES, "Lt", "--dereference --terse", "-c:@ --format:@"},
    {"du", FILES, "hsackmbx", "--human-readable --summarize --all --total --bytes --apparent-size",
     "-d:# --max-depth:#"},
    {"which", TEXT, "a", "", ""},
    {"file", FILES, "bi", "--brief --mime --mime-type --mime-encoding", ""},
    {"grep", PATTERN, "nivclLwxoEFGPhHsq",
     "--line-number --ignore-case --invert-match --count --files-with-matches "
     "--files-without-match --word-regexp --line-regexp --only-matching --extended-regexp "
     "--fixed-strings --no-filename --with-filename --quiet --silent --no-messages",
     "-e:@ -A:# -B:# -C:# -m:# --regexp:@ --after-context:# --before-context:# --context:# "
     "--max-count:#"},
    {"cut", FILES, "sz", "--only-delimited --complement",
     "-d:@ -f:# -c:# -b:# --delimiter:@ --fields:# --characters:#"},
    {"tr", TEXT, "cdst", "--complement --delete --squeeze-repeats", ""},
    {"sort", FILES, "nrufbdghiMVcCs",
     "--numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort "
     "--general-numeric-sort --check --stable",
     "-k:# --key:# -t:@ --field-separator:@"},
    {"diff", FILES, "uqsywbBiaNpet",
     "--unified --brief --report-identical-files --side-by-side --ignore-all-space "
     "--ignore-space-change --ignore-blank-lines --ignore-case --text --minimal",
     "-U:# -C:# -W:# --unified:# --width:#"},
    {"cmp", FILES, "bls", "--print-bytes --verbose --quiet --silent", "-n:# --bytes:#"},
    {"comm", FILES, "123", "--check-order --nocheck-order", ""},
    {"md5sum", FILES, "btz", "--binary --text --tag", ""},
    {"sha256sum", FILES, "btz", "--binary --text --tag", ""},
    {"test", CRITERIA, "", "-z -n -a -o ! = != -eq -ne -lt -le -gt -ge -nt -ot -ef",
     "-e:/ -f:/ -d:/ -s:/ -r:/ -w:/ -x:/ -L:/ -h:/"},
    {"find", CRITERIA, "", "-a -o -and -or -not ! -empty -print -prune -ls -depth -mount -xdev",
     "-name:@ -iname:@ -path:@ -ipath:@ -wholename:@ -regex:@ -iregex:@ -type:@ -maxdepth:# "
     "-mindepth:# -size:# -mtime:# -mmin:# -atime:# -ctime:# -links:# -perm:# -printf:@"},
};
// egrep and fgrep are scripts of the shell; they are read as what they call.
static const struct {
    const char *name, *option;
} greps[] = {{"egrep", "-E"}, {"fgrep", "-F"}};

// Of git, what only looks. A word that is no option names a commit, until "--"; then files.
static const program gits[] = {
    {"status", FILES, "sbz", "--short --branch --porcelain --long", ""},
    {"log", FILES, "pz",
     "--oneline --stat --shortstat --numstat --name-only --name-status --graph --decorate --all "
     "--branches --tags --patch --no-patch --merges --no-merges --first-parent --reverse "
     "--date-order --topo-order --abbrev-commit --summary",
     "-n:# -:# --max-count:# --skip:# --since:@ --until:@ --after:@ --before:@ --author:@ "
     "--grep:@ --date:@"},
    {"diff", FILES, "pwbz",
     "--stat --shortstat --numstat --name-only --name-status --cached --staged --patch --summary "
     "--check --ignore-all-space --ignore-space-change --no-renames",
     "-U:# --unified:#"},
    {"show", FILES, "pwbs",
     "--oneline --stat --shortstat --numstat --name-only --name-status --patch --no-patch "
     "--summary --abbrev-commit",
     "-U:# --unified:# --date:@"},
    {"blame", FILES, "welfns", "--show-name --show-number --porcelain --line-porcelain", "-L:#"},
};

// The commands of the table; `terminal.allow` in place of it.
static const char *const allow_default[] = {
    "ls",       "cat",        "head",     "tail",     "wc",       "pwd",       "echo",
    "printf",   "true",       "false",    "date",     "uname",    "whoami",    "id",
    "basename", "dirname",    "realpath", "readlink", "stat",     "du",        "which",
    "file",     "grep",       "egrep",    "fgrep",    "cut",      "tr",        "sort",
    "nl",       "diff",       "cmp",      "comm",     "md5sum",   "sha256sum", "find",
    "test",     "git status", "git log",  "git diff", "git show", "git blame"};

typedef struct word {
    const char *text;
    bool quoted; // some of it was
} word;

typedef struct reader {
    const pons__core *core;
    const char *cwd;
    word words[WORDS_MAX];
    size_t n;
    pons_error *err;
} reader;

__attribute__((format(printf, 2, 3))) static int refuse(const reader *r, const char *fmt, ...)
{
    va_list ap;
    char line[PONS__LINE_MAX];
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    return pons_error_set(r->err, PONS_EREFUSED, PONS__TOOLS, "%s", line);
}

// ---- letters ------------------------------------------------------------------------------------

bool pons__invisible(const char *text)
{
    pons_autobuf clean = PONS_BUF_INIT;
    char folded[3 * COMMAND_MAX];
    size_t bad = 0, ascii = 0, kept = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)) {
            return true;
        }
        ascii += *at < 0x80;
    }
    if (strlen(text) == ascii) {
        return false;
    }
    if (pons__text_append(&clean, text, strlen(text), &bad) < 0 || bad > 0) {
        return true;
    }
    // What folding takes away is not seen, or is seen as something else.
    pons_guard_fold(text, folded, sizeof folded);
    kept = strlen(folded);
    return kept != strlen(text);
}

static bool plain(unsigned char c)
{
    return isalnum(c) || c >= 0x80 || strchr("_./:=,+@%-^", c);
}

// Whether the shell would give the character at s a meaning; first: a word begins with it.
static bool has_meaning(char quote, const char *s, bool first)
{
    if (quote) {
        return quote == '"' && strchr("$`\\!", *s);
    }
    if (*s == '~') {
        return first;
    }
    if (*s == '!') {
        return !first || (s[1] != ' ' && s[1] != '\0');
    }
    return !plain((unsigned char)*s);
}

// Splits the command into words; their text is in cmd.
static int split(reader *r, const char *s, pons__command *cmd)
{
    bool in_word = false, quoted = false;
    char quote = 0;
    size_t begin = 0;
    for (;; s++) {
        const char c = *s;
        const bool ends = c == '\0' || (!quote && c == ' ');
        if (ends && in_word) {
            if (r->n == WORDS_MAX) { // room for what git gets beside
                return refuse(r, "it has more words than are looked at");
            }
            cmd->text[cmd->used++] = '\0';
            r->words[r->n++] = (word){.text = cmd->text + begin, .quoted = quoted};
            in_word = quoted = false;
        }
        if (c == '\0') {
            return quote ? refuse(r, "a quotation mark is open") : PONS_OK;
        }
        if (ends) {
            continue;
        }
        if (!in_word) {
            in_word = true;
            begin = cmd->used;
        }
        if (quote ? c == quote : c == '\'' || c == '"') {
            quote = quote ? 0 : c;
            quoted = true;
            continue;
        }
        if (has_meaning(quote, s, cmd->used == begin && !quoted)) {
            return refuse(r, "the shell would give %c a meaning", c);
        }
        cmd->text[cmd->used++] = c;
    }
}

// ---- options ------------------------------------------------------------------------------------

// Whether a word is on a list of words with blanks between.
static bool on_list(const char *list, const char *text, size_t n)
{
    for (const char *at = list; *at;) {
        const size_t len = strcspn(at, " ");
        if (len == n && memcmp(at, text, n) == 0) {
            return true;
        }
        at += len;
        at += strspn(at, " ");
    }
    return false;
}

static char value_kind(const char *values, const char *name, size_t n)
{
    for (const char *at = values; *at;) {
        const size_t len = strcspn(at, " ");
        if (len == n + 2 && memcmp(at, name, n) == 0) {
            return at[n + 1];
        }
        at += len;
        at += strspn(at, " ");
    }
    return '\0';
}

// Numbers, ranges of them, and the letters that go with them: 3, +3, -1, 1,5p, 10k, 2-4, u=r.
static bool is_number(const char *s)
{
    const size_t n = strlen(s);
    bool digit = false;
    for (const char *at = s; *at; at++) {
        digit |= isdigit((unsigned char)*at) != 0;
        if (!isalnum((unsigned char)*at) && !strchr("+-,.", *at)) {
            return false;
        }
    }
    return digit && n <= VALUE_MAX && !isalpha((unsigned char)s[0]);
}

static bool goes_up(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0')) {
            return true;
        }
    }
    return false;
}

// A name in the workspace that is not its own business.
static int check_name(const reader *r, const char *name)
{
    char normal[PATH_MAX], joined[2 * PATH_MAX], full[PATH_MAX];
    pons_error err = PONS_ERROR_INIT;
    const char *workspace = r->core->workspace;
    const size_t n = strlen(workspace);
    if (goes_up(name) || name[0] == '~') {
        return refuse(r, "%s may be outside the workspace", name);
    }
    snprintf(joined, sizeof joined, "%s/%s", r->cwd, name);
    if (pons__path_normal(r->core, name[0] == '/' ? name : joined, normal, &err) < 0) {
        return refuse(r, "%s", err.message);
    }
    if (pons__guard_of(r->core, normal) != PONS_GUARD_NONE) {
        return refuse(r, "%s is hidden, protected or configuration", name);
    }
    snprintf(joined, sizeof joined, "%s/%s", workspace, normal);
    if (!realpath(joined, full)) {
        return errno == ENOENT || errno == ENOTDIR
                   ? PONS_OK // "ls nothing" is harmless
                   : refuse(r, "%s cannot be looked at: %s", name, strerror(errno));
    }
    if (strncmp(full, workspace, n) != 0 || (full[n] != '/' && full[n] != '\0')) {
        return refuse(r, "%s is a link that leads out of the workspace", name);
    }
    struct stat st;
    const char *inside = full[n] ? full + n + 1 : ".";
    if (stat(full, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
        return refuse(r, "%s is no file", name);
    }
    if (pons__guard_of(r->core, inside) != PONS_GUARD_NONE || pons__guard_linked(r->core, &st)) {
        return refuse(r, "%s leads to what is hidden, protected or configuration", name);
    }
    return PONS_OK;
}

// A word that stands where an option's value does.
static int check_value(const reader *r, char kind, const char *option, const char *value)
{
    if (kind == '#') {
        return is_number(value) ? PONS_OK : refuse(r, "%s %s is no number", option, value);
    }
    if (value[0] == '-') {
        return refuse(r, "%s may be an option or the value of %s", value, option);
    }
    return kind == '/' ? check_name(r, value) : PONS_OK;
}

// Whether a word is several letters, or an option with its value in the same word.
static bool is_joined(const program *p, const char *text, size_t n)
{
    const char *equals = strchr(text, '=');
    if (text[1] == '-' && equals) {
        const char kind = value_kind(p->values, text, (size_t)(equals - text));
        return kind == '@' || (kind == '#' && is_number(equals + 1));
    }
    if (text[1] != '-' && n > 2 && value_kind(p->values, text, 2) == '#' && is_number(text + 2)) {
        return true; // -n3
    }
    if (n > 1 && value_kind(p->values, "-", 1) == '#' && n <= VALUE_MAX &&
        strspn(text + 1, "0123456789") == n - 1) {
        return true; // -3
    }
    return n > 1 && text[1] != '-' && strspn(text + 1, p->letters) == n - 1; // -la
}

// The option at *i with its value, if it has one.
static int take_option(const reader *r, const program *p, size_t *i)
{
    const word *w = &r->words[*i];
    const size_t n = strlen(w->text);
    if (on_list(p->options, w->text, n)) {
        return w->quoted ? refuse(r, "the option %s is quoted", w->text) : PONS_OK;
    }
    if (w->text[0] == '-' && !w->quoted) {
        const char kind = value_kind(p->values, w->text, n);
        if (kind && *i + 1 < r->n) { // the next word is its value
            return check_value(r, kind, w->text, r->words[++*i].text);
        }
        if (is_joined(p, w->text, n)) {
            return PONS_OK;
        }
    }
    return refuse(r, "%s is none of the options of %s that run unasked", w->text, p->name);
}

// ---- names --------------------------------------------------------------------------------------

static bool is_folder(const reader *r, const char *name)
{
    char normal[PATH_MAX], joined[2 * PATH_MAX];
    struct stat st;
    pons_error err = PONS_ERROR_INIT;
    snprintf(joined, sizeof joined, "%s/%s", r->cwd, name);
    return pons__path_normal(r->core, name[0] == '/' ? name : joined, normal, &err) >= 0 &&
           fstatat(r->core->root_fd, normal, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

// A word that is no option; criteria: one of find's stands before it.
static int check_word(const reader *r, const program *p, const char *text, bool criteria)
{
    if (p->words == NONE) {
        return refuse(r, "%s with %s is not looked through", p->name, text);
    }
    if (p->words == MOMENT) {
        return text[0] == '+' ? PONS_OK : refuse(r, "%s would set the clock", text);
    }
    if (p->words == CRITERIA && strcmp(p->name, "find") == 0 && criteria) {
        return refuse(r, "%s is no folder to begin at", text);
    }
    if (p->words == TEXT) {
        return PONS_OK;
    }
    const bool contents = strcmp(p->name, "grep") == 0 || strcmp(p->name, "diff") == 0;
    const int rc = check_name(r, text);
    return rc >= 0 && contents && is_folder(r, text) ? refuse(r, "%s reads whole folders", p->name)
                                                     : rc;
}

static int check_words(const reader *r, const program *p)
{
    bool only_words = false, pattern = p->words == PATTERN, criteria = false;
    for (size_t i = 1; i < r->n; i++) {
        const char *text = r->words[i].text;
        int rc = PONS_OK;
        const bool mark = strcmp(text, "--") == 0;
        if (mark && !only_words && p->words != CRITERIA && p->words != TEXT) {
            only_words = true;
            continue;
        }
        const bool option =
            !only_words && ((text[0] == '-' && text[1]) || on_list(p->options, text, strlen(text)));
        if (option) {
            criteria = true;
            if (strcmp(text, "-e") == 0 || strncmp(text, "--regexp", 8) == 0) {
                pattern = false;
            }
            rc = take_option(r, p, &i);
        } else if (pattern) {
            pattern = false;
        } else {
            rc = check_word(r, p, text, criteria);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// ---- git ----------------------------------------------------------------------------------------

// A commit by name: main, v1.2, HEAD~3, a1b2c3^; also A..B. Nothing that names a file in one.
static bool is_commit(const char *s)
{
    if (!isalnum((unsigned char)s[0]) || strlen(s) > 200) {
        return false;
    }
    for (const char *at = s; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("._/-~^", *at)) {
            return false;
        }
    }
    return !strstr(s, "....") && !strstr(s, "^-");
}

__attribute__((format(printf, 3, 4))) static int push(reader *r, pons__command *cmd,
                                                      const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const size_t room = cmd->room - cmd->used;
    const int n = vsnprintf(cmd->text + cmd->used, room, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= room || cmd->n >= PONS__ARGV_MAX) {
        return refuse(r, "it is too long");
    }
    cmd->argv[cmd->n++] = cmd->text + cmd->used;
    cmd->used += (size_t)n + 1;
    return PONS_OK;
}

// A..B as commits: what is no commit (the hash of a file) is not shown.
static int push_commits(reader *r, pons__command *cmd, const char *text)
{
    const char *dots = strstr(text, "..");
    if (!is_commit(text)) {
        return refuse(r, "%s is no plain name of a commit; files come after --", text);
    }
    if (!dots) {
        return push(r, cmd, "%s^{commit}", text);
    }
    const size_t n = strspn(dots, ".");
    return n > 3 || dots == text || !dots[n] || strstr(dots + n, "..")
               ? refuse(r, "%s is no plain range of commits", text)
               : push(r, cmd, "%.*s^{commit}%.*s%s^{commit}", (int)(dots - text), text, (int)n,
                      dots, dots + n);
}

// The repository that git looks at: the nearest folder above that has one, in the workspace.
static void find_repository(const reader *r, pons__command *cmd)
{
    char top[PATH_MAX - 8], at[PATH_MAX];
    snprintf(top, sizeof top, "%s", strcmp(r->cwd, ".") == 0 ? "" : r->cwd);
    for (;;) {
        struct stat st;
        snprintf(at, sizeof at, "%s%s.git", top, *top ? "/" : "");
        if (fstatat(r->core->root_fd, at, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
            snprintf(cmd->git_dir, sizeof cmd->git_dir, "%s", at);
            snprintf(cmd->git_top, sizeof cmd->git_top, "%s", top);
            return;
        }
        char *slash = strrchr(top, '/');
        if (!*top) {
            return;
        }
        *(slash ? slash : top) = '\0';
    }
}

// What a link of the table leads to, and hard links: their names say nothing, their history would.
static int push_other_names(reader *r, pons__command *cmd)
{
    pons__masks masks;
    const size_t n = strlen(cmd->git_top);
    int rc = pons__guards_walk(r->core, &masks, r->err);
    if (rc < 0) {
        return rc;
    }
    if (masks.dangling) { // deleted, it may still be in the history
        rc = refuse(r, "a hidden or protected name is a link to what is not there");
    }
    for (size_t i = 0; i < masks.n && rc >= 0; i++) {
        const char *path = masks.at[i].path;
        const bool below = n == 0 || (strncmp(path, cmd->git_top, n) == 0 && path[n] == '/');
        if (below && pons__guard_of(r->core, path) == PONS_GUARD_NONE) {
            rc = push(r, cmd, ":(exclude,top,icase,literal)%s", path + (n ? n + 1 : 0));
        }
    }
    pons__masks_fini(&masks);
    return rc;
}

// Everything hidden, protected or configuration is left out of what git shows of its history.
static int push_exclusions(reader *r, pons__command *cmd)
{
    char top[PATH_MAX];
    int rc = PONS_OK;
    pons_guard_fold(cmd->git_top, top, sizeof top);
    const size_t n = strlen(top);
    for (size_t i = 0; i < r->core->n_patterns && rc >= 0; i++) {
        const char *text = r->core->patterns[i].text;
        if (n > 0 && strncmp(text, "**/", 3) != 0) { // as the repository's own folder names it
            if (strncmp(text, top, n) != 0 || text[n] != '/') {
                continue;
            }
            text += n + 1;
        }
        rc = push(r, cmd, ":(exclude,top,icase,glob)%s", text);
        rc = rc < 0 ? rc : push(r, cmd, ":(exclude,top,icase,glob)%s/**", text);
    }
    return rc < 0 ? rc : push_other_names(r, cmd);
}

// "git" with the settings that keep it from running anything else, and its command.
static int push_git(reader *r, const program *p, pons__command *cmd)
{
    static const char *const before[] = {
        "--no-pager", "--no-optional-locks",          "-c", "core.fsmonitor=false",
        "-c",         "core.hooksPath=/dev/null",     "-c", "core.attributesFile=/dev/null",
        "-c",         "safe.bareRepository=explicit", "-c", "protocol.allow=never",
        "-c",         "submodule.recurse=false",      "-c", "gc.auto=0"};
    static const char *const behind[] = {"--ignore-submodules=all", "--no-ext-diff",
                                         "--no-textconv", "--no-color"};
    size_t n_behind = sizeof behind / sizeof behind[0];
    if (strcmp(p->name, "blame") == 0) {
        n_behind = 0;
    } else if (strcmp(p->name, "status") == 0) {
        n_behind = 1;
    }
    int rc = push(r, cmd, "git");
    for (size_t i = 0; i < sizeof before / sizeof before[0] && rc >= 0; i++) {
        rc = push(r, cmd, "%s", before[i]);
    }
    rc = rc < 0 ? rc : push(r, cmd, "%s", p->name);
    for (size_t i = 0; i < n_behind && rc >= 0; i++) {
        rc = push(r, cmd, "%s", behind[i]);
    }
    return rc;
}

// Options and commits, from word *i on up to the first name of a file. *files: such a name, or "--", was there.
static int push_options(reader *r, const program *p, pons__command *cmd, bool commits, size_t *i,
                        bool *files)
{
    for (int rc; *i < r->n; ++*i) {
        const char *text = r->words[*i].text;
        if (strcmp(text, "--") == 0) {
            *files = true;
            ++*i;
            return PONS_OK;
        }
        if (text[0] == '-') {
            size_t k = *i;
            rc = take_option(r, p, i);
            for (; k <= *i && rc >= 0; k++) {
                rc = push(r, cmd, "%s", r->words[k].text);
            }
        } else if (!commits) { // names, with or without "--"
            *files = true;
            return PONS_OK;
        } else {
            rc = push_commits(r, cmd, text);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

static int push_file(reader *r, pons__command *cmd, const char *before, const char *text)
{
    if (text[0] == ':' || strpbrk(text, "*?[")) {
        return refuse(r, "git would read %s as a pattern", text);
    }
    const int rc = check_name(r, text);
    return rc < 0 ? rc : push(r, cmd, "%s%s", before, text);
}

static int read_git(reader *r, pons__command *cmd)
{
    const program *p = NULL;
    for (size_t i = 0; i < sizeof gits / sizeof gits[0] && r->n > 1 && !r->words[1].quoted; i++) {
        p = strcmp(gits[i].name, r->words[1].text) == 0 ? &gits[i] : p;
    }
    if (!p) {
        return refuse(r, "git %s is not on the list of safe commands",
                      r->n > 1 ? r->words[1].text : "alone");
    }
    find_repository(r, cmd);
    const bool blame = strcmp(p->name, "blame") == 0, status = strcmp(p->name, "status") == 0;
    bool files = false;
    size_t i = 2;
    int rc = push_git(r, p, cmd);
    rc = rc < 0 ? rc : push_options(r, p, cmd, !blame && !status, &i, &files);
    rc = rc < 0 ? rc : push(r, cmd, "--");
    const size_t first = i;
    for (; i < r->n && rc >= 0; i++) {
        rc = push_file(r, cmd, blame ? "" : ":(literal)", r->words[i].text);
    }
    if (rc >= 0 && blame) {
        return i == first + 1 && files ? PONS_OK : refuse(r, "git blame looks at one file");
    }
    if (rc >= 0 && i == first) {
        rc = push(r, cmd, ":(top)");
    }
    return rc < 0 ? rc : push_exclusions(r, cmd);
}

// ---- the whole ----------------------------------------------------------------------------------

// "git status" allows the words git, status, …
static bool entry_begins(const char *entry, const reader *r, size_t *ret_words)
{
    size_t i = 0;
    for (const char *at = entry; *at; i++) {
        char part[128];
        const size_t len = strcspn(at, " ");
        snprintf(part, sizeof part, "%.*s", (int)len, at);
        if (i >= r->n || r->words[i].quoted || strcmp(part, r->words[i].text) != 0) {
            return false;
        }
        at += len;
        at += strspn(at, " ");
    }
    *ret_words = i;
    return i > 0;
}

// *ret_whole: an entry of the configuration is the whole command, word for word.
static bool allowed(const reader *r, bool *ret_whole)
{
    const pons_value *list = pons__conf_value(r->core, "terminal", "allow");
    const size_t n = list ? json_array_size(list) : sizeof allow_default / sizeof allow_default[0];
    bool any = false;
    *ret_whole = false;
    for (size_t i = 0; i < n; i++) {
        size_t words = 0;
        const char *entry = list ? json_string_value(json_array_get(list, i)) : allow_default[i];
        if (entry_begins(entry, r, &words)) {
            any = true;
            *ret_whole |= words == r->n && list;
        }
    }
    return any;
}

static int classify(reader *r, pons__command *cmd)
{
    bool whole = false;
    const char *name = r->words[0].text;
    if (r->words[0].quoted || !allowed(r, &whole)) {
        return refuse(r, "%s is not on the list of safe commands", name);
    }
    if (strcmp(name, "git") == 0) {
        cmd->git = true;
        return read_git(r, cmd);
    }
    const char *extra = NULL;
    for (size_t i = 0; i < sizeof greps / sizeof greps[0]; i++) {
        if (strcmp(name, greps[i].name) == 0) {
            name = "grep";
            extra = greps[i].option;
        }
    }
    const program *p = NULL;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        p = strcmp(programs[i].name, name) == 0 ? &programs[i] : p;
    }
    if (!p && !whole) {
        return refuse(r, "what %s does with its words is not known here", name);
    }
    int rc = p ? check_words(r, p) : PONS_OK;
    rc = rc < 0 ? rc : push(r, cmd, "%s", name);
    rc = rc < 0 || !extra ? rc : push(r, cmd, "%s", extra);
    for (size_t i = 1; i < r->n && rc >= 0; i++) {
        rc = push(r, cmd, "%s", r->words[i].text);
    }
    return rc;
}

int pons__grammar_read(const pons__core *c, const char *command, const char *cwd,
                       pons__command *ret, pons_error *err)
{
    reader *r = calloc(1, sizeof *r);
    const size_t n = strlen(command);
    *ret = (pons__command){.room = 2 * n + c->n_patterns * 2 * (NAME_MAX + 64) + 8192};
    ret->text = r ? calloc(1, ret->room) : NULL;
    if (!r || !ret->text) {
        free(r);
        return pons_error_set(err, PONS_ENOMEM, PONS__TOOLS, "no room for a command");
    }
    *r = (reader){.core = c, .cwd = ".", .err = err};
    int rc = n > COMMAND_MAX            ? refuse(r, "it is too long to be read")
             : pons__invisible(command) ? refuse(r, "it has a line break, a control character or "
                                                    "one that is not seen")
             : strchr(command, '\\')    ? refuse(r, "the shell would give \\ a meaning")
                                        : split(r, command, ret);
    if (rc >= 0 && r->n == 0) {
        rc = refuse(r, "there is no command in it");
    }
    rc = rc < 0 ? rc : check_name(r, cwd);
    r->cwd = cwd;
    rc = rc < 0 ? rc : classify(r, ret);
    ret->argv[ret->n] = NULL;
    free(r);
    if (rc < 0) {
        pons__command_fini(ret);
    }
    return rc;
}

void pons__command_fini(pons__command *cmd)
{
    free(cmd->text);
    *cmd = (pons__command){0};
}
