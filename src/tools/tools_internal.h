// tools_internal.h - what the files of the core tools share: the provider as its workers see it, a
// call at work, and the helpers for paths, text, words and the ledger.
#ifndef PONS_TOOLS_INTERNAL_H
#define PONS_TOOLS_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "pons/buf.h"
#include "pons/ext/tool.h"
#include "pons/tools.h"

#define PONS__TOOLS      "tools"
#define PONS__LINE_MAX   512 // bytes of a reason or a progress line
#define PONS__CHUNK      (64 * 1024)
#define PONS__KIB        1024
#define PONS__LEDGER_KEY 128 // bytes of a key that the ledger keeps

typedef struct pons__ledger pons__ledger;
typedef struct pons__knowledge pons__knowledge;

// Constant after open, but for the two that lock for themselves.
typedef struct pons__core {
    char workspace[PATH_MAX]; // as the operating system names it, without a trailing slash
    int root_fd;              // O_PATH
    pons_value *config;       // checked
    pons_clock clock;
    pons__ledger *ledger;
    pons__knowledge *knowledge;
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

// risk.c
pons_tool_risk pons__command_risk(const pons__core *c, const char *command, const char *cwd,
                                  char *reason, size_t cap);
pons_tool_risk pons__url_risk(const pons__core *c, const char *url, char *reason, size_t cap);

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
