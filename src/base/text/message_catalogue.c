// message_catalogue.c - messages in another language (pons/message_catalogue.h).
//
//     message --the whole?--> its translation
//             --made by a format?--> the format's, with what stood at its placeholders translated in turn
//             --"a: b", "a; b", "a. b", lines?--> each part by itself
//
// Of the formats that could have made a message the one with most letters of its own is taken, and of the two ways
// the one that understands more letters.
#include "pons/message_catalogue.h"

#include "pons/buf.h"
#include "pons/language.h"
#include "pons/module.h"
#include "pons/value.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARGS_MAX = 16,
    DEPTH_MAX = 6,
    MESSAGE_MAX = 8192, // bytes; a longer text is no message
    TRIES_MAX = 20000,  // places at which a format may be tried in one message
    PARTS_MAX = 200,    // of one message that are looked at
    LETTERS_MIN = 4     // of a format of its own: "%s: %s" says nothing of who made a message
};

typedef struct format {
    const char *text, *translation;
    size_t letters; // outside of placeholders
} format;

struct pons_catalogue {
    pons_value *all;
    format *formats; // those with placeholders, the ones with most letters first
    size_t n;
};

typedef struct span {
    const char *at;
    size_t n;
    bool is_message; // a message again, and no name
} span;

typedef struct match {
    span args[ARGS_MAX];
    size_t n;
    int tries;
} match;

// ---- formats ------------------------------------------------------------------------------------

// f is behind a '%'. Its conversion as catalogues write it; *ret_end: behind it.
static char conversion(const char *f, const char **ret_end)
{
    f += strspn(f, "-+ #0*123456789.hljzt");
    const char c = *f;
    *ret_end = c ? f + 1 : f;
    static const struct {
        const char *given;
        char written;
    } kinds[] = {{"fFeEgGaA", 'g'}, {"diouxXp", 'd'}};
    for (size_t k = 0; k < 2 && c; k++) {
        if (strchr(kinds[k].given, c)) {
            return kinds[k].written;
        }
    }
    return c ? c : '%';
}

static void normalized(pons_buf *b, const char *printf_format)
{
    for (const char *f = printf_format; *f;) {
        const size_t own = strcspn(f, "%");
        pons_buf_bytes(b, f, own);
        f += own;
        if (*f) {
            pons_buf_byte(b, '%');
            pons_buf_byte(b, (uint8_t)conversion(f + 1, &f));
        }
    }
}

static size_t letters_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        if (*text == '%' && text[1]) {
            text++;
        } else {
            n += isalpha((unsigned char)*text) != 0;
        }
    }
    return n;
}

static int by_letters(const void *a, const void *b)
{
    const format *x = a, *y = b;
    if (x->letters != y->letters) {
        return x->letters < y->letters ? 1 : -1;
    }
    const int longer =
        (int)strlen(y->text) - (int)strlen(x->text); // with its marks it is the closer one
    return longer ? longer : strcmp(x->text, y->text);
}

static bool has_placeholder(const char *text)
{
    for (; (text = strchr(text, '%')) != NULL; text += 2) {
        if (text[1] != '%') {
            return text[1] != '\0';
        }
    }
    return false;
}

static int index_formats(pons_catalogue *c, const char *path, pons_error *err)
{
    c->formats = calloc(json_object_size(c->all) + 1, sizeof *c->formats);
    if (!c->formats) {
        return pons_error_set(err, PONS_ENOMEM, "catalogue", "no memory for %s", path);
    }
    pons_each_member(text, translation, c->all) {
        if (!json_is_string(translation)) {
            return pons_error_set(err, PONS_EINVAL, "catalogue",
                                  "%s: the translation of '%s' is no string", path, text);
        }
        const size_t letters = letters_of(text);
        if (letters >= LETTERS_MIN && has_placeholder(text)) {
            c->formats[c->n++] = (format){text, json_string_value(translation), letters};
        }
    }
    qsort(c->formats, c->n, sizeof *c->formats, by_letters);
    return PONS_OK;
}

int pons_catalogue_load(const char *path, pons_catalogue **ret, pons_error *err)
{
    pons_catalogue *c = calloc(1, sizeof *c);
    int rc = c ? pons_value_load(path, &c->all, err)
               : pons_error_set(err, PONS_ENOMEM, "catalogue", "no memory for %s", path);
    if (rc >= 0 && !json_is_object(c->all)) {
        rc = pons_error_set(err, PONS_EINVAL, "catalogue", "%s is no object of strings", path);
    }
    rc = rc < 0 ? rc : index_formats(c, path, err);
    if (rc < 0) {
        pons_catalogue_free(c);
        return rc;
    }
    *ret = c;
    return PONS_OK;
}

void pons_catalogue_free(pons_catalogue *c)
{
    if (c) {
        pons_value_unref(c->all);
        free(c->formats);
        free(c);
    }
}

const char *pons_catalogue_format(const pons_catalogue *c, const char *printf_format)
{
    pons_autobuf key = PONS_BUF_INIT;
    normalized(&key, printf_format);
    return key.failed || !key.data ? NULL : pons_get_str(c->all, key.data, NULL);
}

static pons_catalogue *chinese;

static void load_chinese(void)
{
    char path[PATH_MAX];
    pons_error none = PONS_ERROR_INIT;
    if (pons_share_path("ui/messages.zh.json", path, sizeof path, &none) >= 0) {
        pons_catalogue_load(path, &chinese, &none);
    }
}

const pons_catalogue *pons_catalogue_chinese(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_chinese);
    return chinese;
}

// The bytes of the conversion at '%', of those that another format must have too.
static size_t conversion_size(const char *f)
{
    const char *end;
    conversion(f + 1, &end);
    return (size_t)(end - f);
}

const char *pons_translate(bool wanted, const char *english)
{
    const pons_catalogue *c = wanted ? pons_catalogue_chinese() : NULL;
    const char *own = c ? pons_catalogue_format(c, english) : NULL;
    size_t n = 0;
    for (const char *a = english, *b = own; own; a += n, b += n) {
        a = strchr(a, '%');
        b = strchr(b, '%');
        if (!a || !b) {
            return a == b ? own : english;
        }
        n = conversion_size(a);
        if (strncmp(a, b, n) != 0) { // printf reads what the source gives it
            break;
        }
    }
    return english;
}

typedef struct reading { // of one message
    const pons_catalogue *catalogue;
    int parts; // that have been looked at
} reading;

// ---- the format that made a message -------------------------------------------------------------

static size_t number_at(const char *text, bool whole)
{
    size_t n = strspn(text, "+-");
    const size_t digits = strspn(text + n, whole ? "0123456789abcdef" : "0123456789.e+-");
    if (!whole && digits == 0 &&
        (strncmp(text + n, "nan", 3) == 0 || strncmp(text + n, "inf", 3) == 0)) {
        return n + 3;
    }
    return digits > 0 ? n + digits : 0;
}

static bool matches(const char *text, const char *within, const char *f, match *m);

// A text of any length, and the rest of the format behind it. Only behind a stop, a quote or a bracket may it hold
// a colon: elsewhere that begins an error's cause. `within` is where the format begins, f behind its %s.
static bool matches_text(const char *text, const char *within, const char *f, match *m)
{
    const size_t mine = m->n++;
    const size_t literal = strcspn(f, "%");
    const bool inner = f - within > 3 && (strchr(":.;", f[-4]) || f[-3] == '(');
    const bool quoted = f - within > 3 && strchr("'\"`", f[-3]);
    const bool open = inner || quoted;
    const char *const colon = open ? NULL : strstr(text, ": ");
    for (const char *end = text; m->tries++ < TRIES_MAX; end++) {
        if (*f == '\0') {
            end = text + strlen(text);
        } else if (literal > 0) {
            end = strchr(end, *f); // strncmp below looks at the rest of it
        }
        if (!end || (colon && end > colon)) {
            break;
        }
        if (strncmp(end, f, literal) == 0) {
            m->n = mine + 1;
            if (matches(end, within, f, m)) {
                m->args[mine] =
                    (span){text, (size_t)(end - text),
                           inner || (!quoted && memchr(text, ' ', (size_t)(end - text)))};
                return true;
            }
        }
        if (*end == '\0') {
            break;
        }
    }
    return false;
}

static bool matches(const char *text, const char *within, const char *f, match *m)
{
    while (*f) {
        const bool literal = *f != '%' || f[1] == '%' || f[1] == '\0';
        if (literal && *text++ != *f) {
            return false;
        }
        if (literal) {
            f += *f == '%' && f[1] ? 2 : 1;
            continue;
        }
        if (m->n >= ARGS_MAX) {
            return false;
        }
        if (f[1] == 's') {
            return matches_text(text, within, f + 2, m);
        }
        const size_t n = f[1] == 'c' ? *text != '\0' : number_at(text, f[1] == 'd');
        if (n == 0) {
            return false;
        }
        m->args[m->n++] = (span){text, n, false};
        text += n;
        f += 2;
    }
    return *text == '\0';
}

static const format *format_of(const pons_catalogue *c, const char *text, match *m)
{
    m->tries = 0;
    for (size_t i = 0; i < c->n; i++) {
        m->n = 0;
        if (matches(text, c->formats[i].text, c->formats[i].text, m)) {
            return &c->formats[i];
        }
    }
    return NULL;
}

// ---- translation --------------------------------------------------------------------------------

char *pons_catalogue_fill(const char *translation, const char *const *texts, size_t n)
{
    pons_autobuf b = PONS_BUF_INIT;
    size_t next = 0;
    for (const char *f = translation; *f;) {
        const size_t own = strcspn(f, "%");
        pons_buf_bytes(&b, f, own);
        f += own;
        if (*f == '\0') {
            break;
        }
        char *end = NULL;
        const unsigned long number = strtoul(f + 1, &end, 10);
        const bool numbered = *end == '$';
        f = numbered ? end + 1 : f + 1;
        f += strspn(f, "-+ #0123456789.*hljzt"); // where a message is made of it (pons_translate)
        if (*f == '%' || *f == '\0') {
            pons_buf_byte(&b, '%');
        } else {
            const size_t which = numbered ? number - 1 : next++;
            pons_buf_str(&b, which < n ? texts[which] : "");
        }
        f += *f != '\0';
    }
    return pons_buf_take(&b, NULL);
}

// All of these append to out and return how many letters they understood: 0 is a text as it was.
static size_t translate(reading *r, pons_buf *out, const char *text, size_t n, int depth);

static size_t add_part(reading *r, pons_buf *out, const char *text, size_t n, int depth)
{
    const size_t blanks = strspn(text, " ") < n ? strspn(text, " ") : n;
    pons_buf_bytes(out, text, blanks);
    text += blanks;
    n -= blanks;
    size_t letters = depth <= DEPTH_MAX ? translate(r, out, text, n, depth) : 0;
    if (letters == 0 && depth <= DEPTH_MAX && n > 1 &&
        strchr(").]", text[n - 1])) { // it may end something
        letters = translate(r, out, text, n - 1, depth);
        pons_buf_bytes(out, text + n - 1, letters > 0);
    }
    pons_buf_bytes(out, text, letters == 0 ? n : 0);
    return letters;
}

static size_t by_format(reading *r, pons_buf *out, const char *text, int depth)
{
    match m;
    const format *f = format_of(r->catalogue, text, &m);
    if (!f) {
        return 0;
    }
    pons_buf args[ARGS_MAX] = {0};
    const char *texts[ARGS_MAX];
    size_t letters = f->letters;
    for (size_t i = 0; i < m.n; i++) {
        const int at = m.args[i].is_message ? depth + 1 : DEPTH_MAX + 1; // names are as they are
        letters += add_part(r, &args[i], m.args[i].at, m.args[i].n, at);
        texts[i] = args[i].data ? args[i].data : "";
    }
    char *filled = pons_catalogue_fill(f->translation, texts, m.n);
    pons_buf_str(out, filled ? filled : text);
    free(filled);
    for (size_t i = 0; i < m.n; i++) {
        pons_buf_fini(&args[i]);
    }
    return letters;
}

// The two parts at the first of a separator: of the one that lets most be understood.
static size_t by_parts(reading *r, pons_buf *out, const char *text, int depth)
{
    static const char *const between[] = {"\n", ". ", "; ",
                                          ": ", " [", " ("}; // some have a translation
    size_t most = 0;
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        const char *at = strstr(text, between[i]);
        if (at) {
            pons_autobuf both = PONS_BUF_INIT;
            const char *rest = at + strlen(between[i]);
            size_t letters = add_part(r, &both, text, (size_t)(at - text), depth + 1);
            pons_buf_str(&both, pons_get_str(r->catalogue->all, between[i], between[i]));
            letters += add_part(r, &both, rest, strlen(rest), depth + 1);
            if (letters > most) {
                most = letters;
                out->len = 0;
                pons_buf_bytes(out, both.data, both.len);
            }
        }
    }
    return most;
}

// Of a format's reading and that of the parts, the one that understands more.
static size_t translate(reading *r, pons_buf *out, const char *text, size_t n, int depth)
{
    pons_autobuf whole = PONS_BUF_INIT, formatted = PONS_BUF_INIT, apart = PONS_BUF_INIT;
    pons_buf_bytes(&whole, text, n);
    if (n < 3 || n > MESSAGE_MAX || whole.failed || r->parts++ > PARTS_MAX) {
        return 0;
    }
    const char *found = pons_get_str(r->catalogue->all, whole.data, NULL);
    if (found) {
        pons_buf_str(out, found);
        return n;
    }
    const size_t by_one = by_format(r, &formatted, whole.data, depth);
    const size_t by_many = by_parts(r, &apart, whole.data, depth);
    const pons_buf *better = by_many > by_one ? &apart : &formatted;
    if (by_one > 0 || by_many > 0) {
        pons_buf_bytes(out, better->data, better->len);
    }
    return by_one > by_many ? by_one : by_many;
}

char *pons_catalogue_text(const pons_catalogue *c, const char *message)
{
    pons_autobuf out = PONS_BUF_INIT;
    reading r = {.catalogue = c};
    return add_part(&r, &out, message, strlen(message), 0) > 0 ? pons_buf_take(&out, NULL) : NULL;
}
