// repair.h - the lenient reader, as its files share it (json_repair.c has the idea).
#pragma once

#include "plan/repair/json_repair.h"

enum { PONS__LENIENT_DEPTH = 200, PONS__LENIENT_WORD = 200 };

typedef enum pons__last { // what the text would be cut behind
    PONS__LAST_CLOSED,    // a closer
    PONS__LAST_WHOLE,     // a quote, a word of JSON
    PONS__LAST_OPEN,      // an opener, a comma, a colon: more was to come
    PONS__LAST_NUMBER     // a number or a bare word, which may be half
} pons__last;

// Where the next of some mark is, seen from `from`: asked again from before `at`, it is the same.
// So looking ahead from every byte of a text costs no more than reading it twice.
typedef struct pons__ahead {
    const char *from, *at; // at: the mark, or the end of the text
} pons__ahead;

typedef struct pons__lenient {
    const char *text, *at, *end; // end: of the fenced block or the text
    const char *text_end;
    pons__ahead newline, comment_end;
    const char *lost; // the run of [ that ends here begins no plan, from none of them
    pons__repaired *out;
    pons__places places;
    pons_plan_repair_fn fn;
    void *user;
    pons_error *err;
    char closers[PONS__LENIENT_DEPTH + 2];
    int depth;
    pons__last last;
    pons_buf word; // a string being decoded
} pons__lenient;

typedef struct pons__quote { // how a string may be opened and closed
    const char *open, *close, *close_too;
} pons__quote;

// ---- repair_output.c ----------------------------------------------------------------------------

int pons__lenient_refuse(pons__lenient *r, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void pons__lenient_tell(pons__lenient *r, pons_repair_kind kind, const char *at, const char *fmt,
                        ...) __attribute__((format(printf, 4, 5)));
void pons__lenient_emit(pons__lenient *r, const char *s);
void pons__lenient_emit_string(pons__lenient *r, const char *s, size_t len);
void pons__lenient_emit_name(pons__lenient *r, const char *s, size_t len);
void pons__lenient_mark(pons__lenient *r, const char *at);

// ---- repair_peek.c ------------------------------------------------------------------------------

bool pons__lenient_starts(const char *s, const char *end, const char *with);
bool pons__lenient_blank(char c);
bool pons__lenient_word_start(char c);
bool pons__lenient_word_byte(char c);
bool pons__lenient_escaped_underscore(const char *s, const char *end);
const char *pons__lenient_word_end(const char *s, const char *end);
const char *pons__lenient_pass_blanks(const char *s, const char *end);
const char *pons__lenient_pass_separators(const char *s, const char *end); // blanks , ;
const pons__quote *pons__lenient_quote_at(const char *s, const char *end);
const char *pons__lenient_quoted_end(const char *s, const char *end);
size_t pons__lenient_colon_length(const char *s, const char *end);
bool pons__lenient_key_at(const char *s, const char *end);
bool pons__lenient_call_at(const char *s, const char *end);
const char *pons__lenient_look_ahead(const pons__lenient *r, pons__ahead *a, const char *s,
                                     const char *mark_text);
const char *pons__lenient_pass_comments(pons__lenient *r, const char *s);
bool pons__lenient_looks(pons__lenient *r, const char *s, bool line_start);

// ---- json_extract.c -----------------------------------------------------------------------------

int pons__lenient_pass_thinking(pons__lenient *r);
bool pons__lenient_next_fence(pons__lenient *r, const char *from, const char **ret_body,
                              const char **ret_end, const char **ret_after);
const char *pons__lenient_line_text(const char *s, const char *end);
void pons__lenient_tell_gap(pons__lenient *r, const char *from, const char *to);
bool pons__lenient_function_tag(const pons__lenient *r, const char *s, const char **ret_name,
                                size_t *ret_len);
bool pons__lenient_name_line(const pons__lenient *r, const char *s, const char **ret_name,
                             size_t *ret_len);

// ---- repair_separators.c ------------------------------------------------------------------------

int pons__lenient_skip(pons__lenient *r);
int pons__lenient_push(pons__lenient *r, char closer);
char pons__lenient_closer_at(const pons__lenient *r, size_t *ret_len);
int pons__lenient_try_close(pons__lenient *r);
int pons__lenient_comma(pons__lenient *r);
int pons__lenient_colon(pons__lenient *r, const char *wanted);
int pons__lenient_before_member(pons__lenient *r, char closer, bool first);
int pons__lenient_after_member(pons__lenient *r, char closer, int ended);

// ---- repair_scalars.c ---------------------------------------------------------------------------

int pons__lenient_string(pons__lenient *r, bool as_key, bool raw);
int pons__lenient_number(pons__lenient *r);
const char *pons__lenient_enum_value(const char *s, size_t len);
bool pons__lenient_is_word(const char *s, size_t len, const char *word_);

// ---- repair_value.c -----------------------------------------------------------------------------

int pons__lenient_object(pons__lenient *r, const char *opener, char closer,
                         const char *wanted_colon);
int pons__lenient_value(pons__lenient *r, bool calls);
