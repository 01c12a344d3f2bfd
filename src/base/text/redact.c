// redact.c - secrets out of texts, by patterns that a configuration may add to.
//
// PCRE2 backtracks, so a pattern and a text can ask for an eternity; its own count of steps bounds
// that, one count for all the places where a match may begin, as the search is a part of the expression
// (src/base/json/regex.c has the same). A text that can't be searched within the bounds is hidden as a
// whole: what nobody could look through may have a secret in it.
#include "pons/redact.h"

#include "pons/buf.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define WHERE        "redact"
#define PATTERNS_MAX 64
#define PATTERN_MAX  2000    // bytes
#define STEPS_MIN    2000    // of any match,
#define STEPS_A_BYTE 40      // and for each byte of its text
#define STEPS_LONG   1000000 // of one that takes long
#define PATIENCE     2       // such matches in a text
#define HEAP_KIB     (16 * 1024)
#define SEARCH       "(?s:.*?)\\K(?:%s)"
static const char HIDDEN[] = "[redacted]";
static const char UNSEARCHED[] = "[redacted: this text could not be searched for secrets in time]";

struct pons_redact {
    pcre2_code *patterns[PATTERNS_MAX];
    size_t n;
};

// Where a word begins, in JSON and addresses, too: not every risk-assessment is a key.
#define BEGINS "(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"

// Keys as the usual services make them.
static const char *const usual[] = {
    (BEGINS "sk-[A-Za-z0-9_-]{16,}"),
    "gh[pousr]_[A-Za-z0-9]{20,}",
    "AKIA[0-9A-Z]{16}",
    "xox[abprs]-[A-Za-z0-9-]{10,}",
    "Bearer [A-Za-z0-9._~+/-]{16,}=*",
    "eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]+",
    "AIza[A-Za-z0-9_-]{30,}",
    "glpat-[A-Za-z0-9_-]{16,}",
    "(?:hf|npm)_[A-Za-z0-9]{20,}",
    "github_pat_[A-Za-z0-9_]{20,}",
    "(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\\z)",
};

static pcre2_code *compile(const char *text, char *why, size_t cap)
{
    int error = 0;
    PCRE2_SIZE at = 0;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                     PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &error, &at, NULL);
    if (!code) {
        PCRE2_UCHAR message[128];
        pcre2_get_error_message(error, message, sizeof message);
        snprintf(why, cap, "%s at %zu", (const char *)message, (size_t)at);
    }
    return code;
}

static int add(pons_redact *r, const char *text, size_t place, pons_error *err)
{
    char search[PATTERN_MAX + sizeof SEARCH], why[160] = "";
    if (strlen(text) > PATTERN_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "patterns/%zu is longer than %d bytes",
                              place, PATTERN_MAX);
    }
    pcre2_code *alone =
        compile(text, why, sizeof why); // "a)|(b" is not made whole by what is around it
    pcre2_code_free(alone);
    snprintf(search, sizeof search, SEARCH, text);
    r->patterns[r->n] = alone ? compile(search, why, sizeof why) : NULL;
    if (!r->patterns[r->n]) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "patterns/%zu is no regular expression (PCRE2): %s", place, why);
    }
    r->n++;
    return PONS_OK;
}

int pons_redact_open(const pons_value *more, pons_redact **ret, pons_error *err)
{
    const size_t n_usual = sizeof usual / sizeof *usual;
    pons_redact *r = calloc(1, sizeof *r);
    int rc = r ? PONS_OK : pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for redact");
    if (rc >= 0 && more &&
        (!json_is_array(more) || json_array_size(more) + n_usual > PATTERNS_MAX)) {
        rc = pons_error_set(err, PONS_EINVAL, WHERE,
                            "patterns: expected a list of at most %zu "
                            "regular expressions",
                            PATTERNS_MAX - n_usual);
    }
    for (size_t i = 0; rc >= 0 && i < n_usual; i++) {
        rc = add(r, usual[i], i, err);
    }
    for (size_t i = 0; rc >= 0 && i < json_array_size(more); i++) {
        const char *text = json_string_value(json_array_get(more, i));
        rc = text ? add(r, text, i, err)
                  : pons_error_set(err, PONS_EINVAL, WHERE, "patterns/%zu is no text", i);
    }
    if (rc < 0) {
        pons_redact_close(r);
        return rc;
    }
    *ret = r;
    return PONS_OK;
}

void pons_redact_close(pons_redact *r)
{
    for (size_t i = 0; r && i < r->n; i++) {
        pcre2_code_free(r->patterns[i]);
    }
    free(r);
}

// One match from `at` on: its place, PCRE2_ERROR_NOMATCH, or another error.
static int match(const pcre2_code *code, const char *text, size_t len, size_t at, int *patience,
                 pcre2_match_data *data, pcre2_match_context *bounds)
{
    const size_t few = STEPS_MIN + (len - at) * STEPS_A_BYTE;
    pcre2_set_match_limit(bounds, few < UINT32_MAX ? (uint32_t)few : UINT32_MAX);
    int found = pcre2_match(code, (PCRE2_SPTR)text, len, at, PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK,
                            data, bounds);
    if (found == PCRE2_ERROR_MATCHLIMIT && *patience > 0 && few < STEPS_LONG) {
        --*patience;
        pcre2_set_match_limit(bounds, STEPS_LONG);
        found = pcre2_match(code, (PCRE2_SPTR)text, len, at, PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK,
                            data, bounds);
    }
    return found;
}

// text without what a pattern finds, into out. 1: something was taken out; 0; or < 0.
static int replace(const pcre2_code *code, const char *text, size_t len, int *patience,
                   pons_buf *out)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_match_context *bounds = pcre2_match_context_create(NULL);
    size_t at = 0, kept = 0;
    int found = data && bounds ? 0 : PCRE2_ERROR_NOMEMORY, any = 0;
    if (found == 0) {
        pcre2_set_heap_limit(bounds, HEAP_KIB);
    }
    while (found >= 0 && at <= len) {
        found = match(code, text, len, at, patience, data, bounds);
        if (found < 0) {
            break;
        }
        const PCRE2_SIZE *place = pcre2_get_ovector_pointer(data);
        const size_t from = place[0], to = place[1];
        if (to <= from) { // nothing is no secret
            const size_t k = from < len ? pons_utf8_sequence(text + from, len - from) : 1;
            at = (from > at ? from : at) + (k > 0 ? k : 1);
            continue;
        }
        pons_buf_bytes(out, text + kept, from - kept);
        pons_buf_str(out, HIDDEN);
        any = 1;
        kept = at = to;
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(bounds);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH) {
        return -1;
    }
    pons_buf_bytes(out, text + kept, len - kept);
    return out->failed ? -1 : any;
}

char *pons_redact_text(const pons_redact *r, const char *text)
{
    char *now = NULL;
    int patience = PATIENCE;
    const size_t len = strlen(text);
    for (size_t i = 0, k; i < len; i += k) { // once: PCRE2 would look again at each match
        k = pons_utf8_sequence(text + i, len - i);
        if (k == 0) {
            return strdup(UNSEARCHED);
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        const char *from = now ? now : text;
        pons_autobuf out = PONS_BUF_INIT;
        const int rc = replace(r->patterns[i], from, strlen(from), &patience, &out);
        if (rc < 0) {
            free(now);
            return strdup(UNSEARCHED);
        }
        if (rc > 0) {
            free(now);
            now = pons_buf_take(&out, NULL);
            now = now ? now : strdup(HIDDEN);
        }
    }
    return now;
}

// ---- for people ---------------------------------------------------------------------------------

// What stands behind a telling name: in JSON, too, and in JSON that is a text of JSON; on command lines; in
// headers and addresses. Names that are words of their own (a key, a token) are in what people say as well: behind
// those, and behind "password: ", only what has a digit or is long is one.
#define PASSWORD "(?:password|passwd|passphrase)"
#define SECRET   "(?:secret|" PASSWORD ")"
#define KEY      "(?:api[_-]?key|token|(?-i:[a-z0-9]Key))"
#define QUOTES   "[\\\\\"']*" // or the \ before one
#define QUOTE    "[\\\\\"']+"
#define IS       "\\s*[:=]\\s*"
#define VALUE    "[^\\s\"',}\\\\]" // a character of one
#define ODD      "(?=" VALUE "*[0-9]|" VALUE "{16})"

// clang-format off
static const char *const named[] = {
    // Authorization: Basic bWU6eW91
    "(?i)authorization" QUOTES IS QUOTES "\\K(?:(?:basic|bearer|digest|token)\\s+|[a-z0-9-]+\\s+" ODD ")" VALUE "{4,}",
    // "password": "open", password = open, password:open, password: "open"
    "(?i)" SECRET "(?:" QUOTE IS "|\\s*=\\s*|:|\\s*:\\s*(?=" QUOTE "))" QUOTES "\\K" VALUE "{4,}",
    // password: open7, the password is open7
    "(?i)" SECRET "\\s*:\\s*\\K" ODD VALUE "{4,}",
    "(?i)" PASSWORD "\\s+is:?\\s+" QUOTES "\\K(?=" VALUE "*[0-9])" VALUE "{4,}",
    // "token": "open", token=open; token: open7house; key: open7house
    "(?i)" KEY "(?:" QUOTE IS "|=\\s*)" QUOTES "\\K" VALUE "{4,}",
    "(?i)" KEY "\\s*:\\s*" QUOTES "\\K" ODD VALUE "{8,}",
    "(?i)(?<![a-z])key" QUOTES IS QUOTES "\\K" ODD VALUE "{8,}",
    // --api-key open, ["--token", "open"], -u me:open
    "(?i)(?<![a-z0-9-])--?(?:[a-z0-9]+[-_])*(?:token|" SECRET "|[a-z0-9]+[-_]key|apikey)(?:[\"']?,\\s*|[\"']?\\s+|=)[\"']?\\K(?!-)" VALUE "{4,}",
    "(?<![A-Za-z0-9-])(?:-u|--user)(?:\\s+|=)[\"']?[^\\s:\"']+:\\K(?![0-9]+\\b)[^\\s\"']{3,}",
    // https://me:open@house
    "(?i)[a-z][a-z0-9+.-]*://[^\\s/:@\"']*:\\K[^\\s/@\"']+(?=@)",
    // 密码是open
    "(?:密码|口令|密钥|令牌)\\s*(?:是|为|:|：|=)\\s*[\"'“]?\\K[!-~]{4,}",
};
// clang-format on

static pons_redact *for_people; // made once

static void make_for_people(void)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue more = json_array();
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        json_array_append_new(more, json_string(named[i]));
    }
    if (json_array_size(more) == sizeof named / sizeof *named) {
        (void)pons_redact_open(more, &for_people, &none);
    }
}

char *pons_redacted(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_for_people);
    char *clean = for_people ? pons_redact_text(for_people, text) : NULL;
    return clean ? clean : strdup(for_people ? text : UNSEARCHED);
}

void pons_url_redacted(const char *url, char *ret, size_t cap)
{
    const char *after = strstr(url, "://");
    const size_t scheme = after ? (size_t)(after - url) + 3 : 0;
    const char *from = url + scheme;
    const size_t authority = strcspn(from, "/?#");
    const char *at = memrchr(from, '@', authority);
    from = at ? at + 1 : from;
    snprintf(ret, cap, "%.*s%.*s", (int)scheme, url, (int)strcspn(from, "?#"), from);
}
