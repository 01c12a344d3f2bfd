// tools_internal.h - what the files of the core tools share: the provider as its workers see it, a
// call at work, and the helpers for paths, text, words and the ledger.
#ifndef PONS_TOOLS_INTERNAL_H
#define PONS_TOOLS_INTERNAL_H

#include "pons/buf.h"
#include "pons/ext/tool.h"
#include "pons/protect.h"
#include "pons/tools.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define PONS__TOOLS      "tools"
#define PONS__LINE_MAX   512 // bytes of a reason or a progress line
#define PONS__CHUNK      (64 * 1024)
#define PONS__KIB        1024
#define PONS__LEDGER_KEY 128 // bytes of a key that the ledger keeps

typedef struct pons__ledger pons__ledger;
typedef struct pons__knowledge pons__knowledge;

typedef struct pons__pattern { // of the table and of the configuration, folded
    char *text;
    pons_guard guard;
} pons__pattern;

typedef struct pons__id {
    dev_t dev;
    ino_t ino;
    bool hidden; // else protected only
} pons__id;

typedef struct pons__wall pons__wall;

// Constant after open, but for those that lock for themselves.
typedef struct pons__core {
    char workspace[PATH_MAX]; // as the operating system names it, without a trailing slash
    int root_fd;              // O_PATH
    pons_value *config;       // checked
    pons_clock clock;
    pons__ledger *ledger;
    pons__knowledge *knowledge;
    pons__wall *wall;
    pons__pattern *patterns;
    size_t n_patterns;
    // [links_mtx] the files with another name or a link that is hidden or protected
    pthread_mutex_t links_mtx;
    pons__id *links;
    size_t n_links;
    int64_t links_until_ns;
    int64_t links_sure_until_ns; // the same for a file with several names
    bool links_known;            // else the workspace is too large to look through
} pons__core;

// One call, on its worker.
typedef struct pons__work {
    pons__core *core;
    const pons_value *args;
    const char *key;       // "" when the host gave none
    atomic_bool *canceled; // by another thread
    int cancel_fd;         // readable once canceled
    // results
    pons_buf out; // text
    pons_value *data;
    bool truncated;
} pons__work;

typedef int (*pons__tool_fn)(pons__work *w, pons_error *err);

int pons__read_file(pons__work *w, pons_error *err);
int pons__write_file(pons__work *w, pons_error *err);
int pons__list_dir(pons__work *w, pons_error *err);
int pons__search_files(pons__work *w, pons_error *err);
int pons__terminal(pons__work *w, pons_error *err);
int pons__fetch_url(pons__work *w, pons_error *err);
int pons__search_knowledge(pons__work *w, pons_error *err);
int pons__search_lessons(pons__work *w, pons_error *err);

// config.c. A number, a word or a list of a section of the checked configuration.
extern const char pons__tools_schema[];
int64_t pons__conf(const pons__core *c, const char *section, const char *key, int64_t fallback);
const pons_value *pons__conf_value(const pons__core *c, const char *section, const char *key);
size_t pons__conf_output(const pons__core *c); // bytes of one call's output

// path.c. The path as components under the workspace: "docs/a.md", or "." for the workspace
// itself. PONS_EREFUSED when it leads out.
int pons__path_normal(const pons__core *c, const char *path, char ret[PATH_MAX], pons_error *err);
// Opens beneath the workspace whatever other processes do meanwhile: links that lead out are
// refused, and all links when follow is false. Returns a descriptor or a status.
int pons__path_open(const pons__core *c, const char *normal, int flags, bool follow,
                    pons_error *err);
// A regular file for reading, not hidden. Fills *ret_st.
int pons__path_read(const pons__core *c, const char *normal, struct stat *ret_st, pons_error *err);
bool pons__path_hidden(const pons__core *c, const char *normal, const struct stat *st);
bool pons__path_protected(const pons__core *c, const char *normal);
const char *pons__mode_name(mode_t mode); // "a FIFO"

// guards.c. What may not be read or written, by name.
int pons__guards_init(pons__core *c); // from the table and the configuration
void pons__guards_fini(pons__core *c);
pons_guard pons__guard_of(const pons__core *c, const char *normal);
// The same by identity: of a file with several names, of an open file's own path, of a folder that
// is written into.
bool pons__guard_linked(const pons__core *c, const struct stat *st);
// Of a file that is written: a guarded name leads to it. NULL: it is made, and one may.
bool pons__guard_target(const pons__core *c, const struct stat *st);
bool pons__guard_real(const pons__core *c, int fd, char ret[PATH_MAX]);
bool pons__guard_folder(const pons__core *c, int dir);

// Every place of the workspace that a command may not see: what is hidden, protected or
// configuration, every other name of it, and what is no file or folder. The outermost only.
typedef struct pons__mask {
    char *path; // from the workspace
    bool dir;
} pons__mask;
typedef struct pons__masks {
    pons__mask *at;
    size_t n, room;
    pons__id *ids; // of hidden files that have several names
    size_t n_ids;
    bool dangling; // a guarded name is a link to what is not there
} pons__masks;
int pons__guards_walk(const pons__core *c, pons__masks *ret, pons_error *err);
void pons__masks_fini(pons__masks *m);

// text.c. What bytes are when they are not text ("a PNG image"), or NULL.
const char *pons__binary_kind(const void *bytes, size_t n);
// Appends bytes as valid UTF-8 without control characters but tab, CR and newline; what had to be
// replaced by U+FFFD is counted in *ret_bad (may be NULL).
int pons__text_append(pons_buf *b, const char *bytes, size_t n, size_t *ret_bad);
size_t pons__text_cut(const char *s, size_t n); // ≤ n, not inside a UTF-8 sequence
// A web page as text: no tags, scripts or styles; blocks on lines of their own.
int pons__html_text(pons_buf *b, const char *html, size_t n);

// words.c. The words of a text for searching: lower-case runs of letters and digits; Chinese,
// Japanese and Korean runs as overlapping pairs and the last character alone.
typedef int (*pons__word_fn)(void *user, const char *word, size_t n, bool joined);
int pons__words(const char *text, size_t n, pons__word_fn fn, void *user);
int pons__words_index(pons_buf *b, const char *text, size_t n);           // space-separated
int pons__words_query(pons_buf *b, const char *text, size_t n, bool any); // for FTS5's MATCH
// How many of the query's words a text has; a word in `head` counts three times.
int pons__words_score(const char *query, const char *head, size_t head_n, const char *text,
                      size_t n);

// grammar.c. The commands that run unasked: one program of the table with options in full, and
// words that mean nothing but themselves. They are run as they were read, without a shell.
#define PONS__ARGV_MAX 256
typedef struct pons__command {
    char *argv[PONS__ARGV_MAX + 1]; // into text
    size_t n;
    char *text; // the caller frees with pons__command_fini
    size_t used, room;
    bool git;
    char git_dir[PATH_MAX], git_top[PATH_MAX]; // from the workspace; "": there is none
} pons__command;
// PONS_EREFUSED and one line on why when it is none. cwd is normal.
int pons__grammar_read(const pons__core *c, const char *command, const char *cwd,
                       pons__command *ret, pons_error *err);
void pons__command_fini(pons__command *cmd);
bool pons__invisible(const char *text); // has a control or an invisible character, or bad UTF-8

// wall.c. Where such a command runs: see the file.
typedef struct pons__run { // what a started command is made of
    const char *const *argv;
    const char *cwd; // normal
    const pons__masks *masks;
    bool git;
    const char *git_dir, *git_top; // normal, of the repository that git looks at; "": none
    int null, out;                 // descriptors
    int64_t memory_mb, file_mb;
} pons__run;
int pons__wall_create(const pons__core *c, pons__wall **ret);
void pons__wall_destroy(pons__wall *w); // NULL-safe
// Whether there is a wall on this machine: tried at the first question. PONS_EENV says why not.
int pons__wall_ready(const pons__core *c, pons_error *err);
void pons__wall_lost(const pons__core *c, const char *why); // what is hidden cannot be masked
const char *pons__wall_kind(const pons__core *c);           // "namespaces", "bubblewrap" or "none"
// Starts a command behind it. *ret_pid is the caller's child.
int pons__wall_start(const pons__core *c, const pons__run *run, pid_t *ret_pid, pons_error *err);
// For tests only, which are linked with it: what the next walls may use. There is no other way.
enum { PONS__WALL_OWN = 1, PONS__WALL_BWRAP = 2 };
void pons__wall_permit(unsigned ways);

// filter.c. The system calls of a command as a program of BPF; the caller frees.
int pons__filter_make(void **ret, size_t *ret_bytes, pons_error *err);

// risk.c. *ret_cmd (may be NULL) is filled when the command is safe.
pons_tool_risk pons__command_risk(const pons__core *c, const char *command, const char *cwd,
                                  pons__command *ret_cmd, char *reason, size_t cap);
pons_tool_risk pons__url_risk(const pons__core *c, const char *url, char *reason, size_t cap);

// terminal.c. A call was said to be safe: whatever is found when it starts, it runs behind the wall.
void pons__terminal_promise(const pons__core *c, const pons_value *args);

// ledger.c. What became of each key of a tool that reaches the world.
typedef enum pons__fate { PONS__NEVER, PONS__BEGUN, PONS__ENDED } pons__fate;
int pons__tool_ledger_open(const pons__core *c, pons__ledger **ret, pons_error *err);
void pons__tool_ledger_close(pons__ledger *l); // NULL-safe
// *ret_value: of BEGUN, what begin was given; of ENDED, the result ({output…} or {error…}).
pons__fate pons__tool_ledger_look(pons__ledger *l, const char *key, pons_value **ret_value);
int pons__tool_ledger_begin(pons__ledger *l, const char *key, const pons_value *what,
                            pons_error *err);
void pons__tool_ledger_end(pons__ledger *l, const char *key, const pons_value *result);
// Whether a write that was begun has reached its file.
bool pons__write_done(const pons__core *c, const pons_value *what);

// knowledge.c
int pons__knowledge_open(pons__core *c, pons__knowledge **ret, pons_error *err);
void pons__knowledge_close(pons__knowledge *k); // NULL-safe

static inline bool pons__stopped(const pons__work *w)
{
    return atomic_load_explicit(w->canceled, memory_order_acquire);
}
static inline int pons__stopped_error(pons_error *err)
{
    return pons_error_set(err, PONS_ECANCELED, PONS__TOOLS, "cancelled");
}

#endif
