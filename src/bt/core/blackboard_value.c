// blackboard_value.c - typed values of blackboards and ports, and the slots that hold them.
//
// A key's type is fixed by its port or at its first write; later writes convert where nothing is
// lost (a whole real into an integer, an integer that a double holds into a real, a number's text
// into a number) and are refused otherwise.
#include "bt/core/blackboard_value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void pons__bt_value_fini(pons__bt_value *v)
{
    if (v->owned && v->kind == PONS__BT_STRING) {
        free(v->s);
    } else if (v->owned && v->kind == PONS__BT_JSON) {
        pons_value_unref(v->j);
    }
    v->kind = PONS__BT_EMPTY;
    v->owned = false;
}

int pons__bt_value_dup(pons__bt_value *dst, const pons__bt_value *src)
{
    *dst = *src;
    dst->owned = false;
    return pons__bt_value_own(dst);
}

int pons__bt_value_own(pons__bt_value *v)
{
    if (!v->owned && v->kind == PONS__BT_STRING) {
        v->s = strdup(v->s);
        if (!v->s) {
            v->kind = PONS__BT_EMPTY;
            return PONS_ENOMEM;
        }
        v->owned = true;
    } else if (!v->owned && v->kind == PONS__BT_JSON) {
        v->j = pons_value_ref(v->j);
        v->owned = true;
    }
    return PONS_OK;
}

pons_value *pons__bt_value_json(const pons__bt_value *v)
{
    switch ((pons__bt_kind)v->kind) {
    case PONS__BT_INT:
        return json_integer(v->i);
    case PONS__BT_BOOL:
        return json_boolean(v->i != 0);
    case PONS__BT_REAL:
        return isfinite(v->d) ? json_real(v->d) : json_null();
    case PONS__BT_STRING:
        return json_string(v->s);
    case PONS__BT_JSON:
        return pons_value_ref(v->j);
    default:
        return json_null();
    }
}

int pons__bt_value_of_json(const pons_value *j, pons__bt_value *ret)
{
    *ret = (pons__bt_value){.kind = PONS__BT_EMPTY};
    if (json_is_integer(j)) {
        *ret = (pons__bt_value){.kind = PONS__BT_INT, .i = json_integer_value(j)};
    } else if (json_is_real(j)) {
        *ret = (pons__bt_value){.kind = PONS__BT_REAL, .d = json_real_value(j)};
    } else if (json_is_boolean(j)) {
        *ret = (pons__bt_value){.kind = PONS__BT_BOOL, .i = json_is_true(j)};
    } else if (json_is_string(j)) {
        *ret = (pons__bt_value){.kind = PONS__BT_STRING, .s = (char *)json_string_value(j)};
    } else if (j && !json_is_null(j)) {
        *ret = (pons__bt_value){.kind = PONS__BT_JSON, .j = (pons_value *)j};
    }
    return pons__bt_value_own(ret);
}

bool pons__bt_value_number(const pons__bt_value *v, double *ret)
{
    if (v->kind == PONS__BT_REAL) {
        *ret = v->d;
    } else if (v->kind == PONS__BT_INT || v->kind == PONS__BT_BOOL) {
        *ret = (double)v->i;
    } else {
        return false;
    }
    return true;
}

bool pons__bt_exact(int64_t i)
{
    const double d = (double)i;
    return d < 0x1p63 && (int64_t)d == i;
}

const char *pons__bt_kind_word(int kind)
{
    static const char *const words[] = {"nothing", "int", "double", "bool", "string", "value"};
    return words[kind];
}

// ---- text ---------------------------------------------------------------------------------------

static bool parse_int(const char *text, int64_t *ret)
{
    char *end;
    errno = 0;
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const long long v = strtoll(text, &end, hex ? 16 : 10);
    *ret = v;
    return *text && !strchr(" \t\n\r\v\f", *text) && *end == '\0' && errno == 0;
}

static bool parse_real(const char *text, double *ret)
{
    char *end;
    *ret = strtod(text, &end);
    return *text && !strchr(" \t\n\r\v\f", *text) && *end == '\0';
}

static bool parse_bool(const char *text, int64_t *ret)
{
    const bool yes = strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0;
    *ret = yes;
    return yes || strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0;
}

static bool parse_status(const char *text)
{
    static const char *const words[] = {"IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool pons__bt_parse(const char *text, char type, pons__bt_value *ret)
{
    pons__bt_value v = {.kind = PONS__BT_STRING, .s = (char *)text};
    bool ok = true;
    switch (type) {
    case 'i':
    case 'u':
        v.kind = PONS__BT_INT;
        ok = parse_int(text, &v.i) &&
             (type == 'i' ? v.i >= INT32_MIN && v.i <= INT32_MAX : v.i >= 0 && v.i <= UINT32_MAX);
        break;
    case 'l':
        v.kind = PONS__BT_INT;
        ok = parse_int(text, &v.i);
        break;
    case 'd':
        v.kind = PONS__BT_REAL;
        ok = parse_real(text, &v.d);
        break;
    case 'b':
        v.kind = PONS__BT_BOOL;
        ok = parse_bool(text, &v.i);
        break;
    case 't':
        ok = parse_status(text);
        break;
    default:
        break;
    }
    if (ok) {
        *ret = v;
    }
    return ok;
}

char pons__bt_type_letter(const char *word)
{
    static const char *const words[] = {
        "iint",    "iint32_t",        "lint64_t",        "uunsigned", "uunsigned int",
        "ddouble", "dfloat",          "bbool",           "sstring",   "sstd::string",
        "tstatus", "tNodeStatus",     "tBT::NodeStatus", "aany",      "aBT::AnyTypeAllowed",
        "llong",   "aAnyTypeAllowed", "uuint32_t",       "uuint16_t", "uuint8_t"};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i] + 1, word) == 0) {
            return words[i][0];
        }
    }
    return 0;
}

int pons__bt_type_kind(char letter)
{
    return letter == 'i' || letter == 'u' || letter == 'l' ? PONS__BT_INT
           : letter == 'd'                                 ? PONS__BT_REAL
           : letter == 'b'                                 ? PONS__BT_BOOL
           : letter == 's' || letter == 't'                ? PONS__BT_STRING
                                                           : PONS__BT_EMPTY;
}

// ---- slots --------------------------------------------------------------------------------------

// v as a value of another kind, without loss.
static bool convert(const pons__bt_value *v, int kind, pons__bt_value *ret)
{
    double d;
    if (v->kind == PONS__BT_STRING && kind != PONS__BT_STRING) {
        return pons__bt_parse(v->s,
                              kind == PONS__BT_INT    ? 'l'
                              : kind == PONS__BT_REAL ? 'd'
                                                      : 'b',
                              ret) &&
               kind != PONS__BT_JSON;
    }
    if (!pons__bt_value_number(v, &d) || kind == PONS__BT_STRING || kind == PONS__BT_JSON) {
        return false;
    }
    if (kind == PONS__BT_REAL) {
        *ret = (pons__bt_value){.kind = PONS__BT_REAL, .d = d};
        return v->kind != PONS__BT_INT || pons__bt_exact(v->i);
    }
    if (v->kind == PONS__BT_REAL && (floor(d) != d || fabs(d) > 9.2e18)) {
        return false;
    }
    *ret =
        (pons__bt_value){.kind = (uint8_t)kind, .i = v->kind == PONS__BT_REAL ? (int64_t)d : v->i};
    if (kind == PONS__BT_BOOL) {
        ret->i = d != 0;
    }
    return true;
}

int pons__bt_slot_assign(pons__bt_slot *s, const char *key, const pons__bt_value *v, bool create,
                         pons_error *err)
{
    pons__bt_value w = *v;
    if (!s->exists && !create) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "the blackboard entry [%s] does not exist yet; ':=' creates one",
                              key);
    }
    if (v->kind == PONS__BT_EMPTY) {
        return pons_error_set(err, PONS_EINVAL, "bt", "the value for entry [%s] is empty", key);
    }
    w.owned = false;
    // What a port declares converts a text; else it is the first value that fixes the type.
    const bool free_kind = s->v.kind == PONS__BT_EMPTY && !s->fixed && v->kind != PONS__BT_STRING;
    if (!free_kind && s->kind != PONS__BT_EMPTY && s->kind != v->kind && !convert(v, s->kind, &w)) {
        if (v->kind == PONS__BT_INT && s->kind == PONS__BT_REAL) {
            return pons_error_set(
                err, PONS_EINVAL, "bt",
                "entry [%s] has type [double], which can't hold the integer %" PRId64 " exactly",
                key, v->i);
        }
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "entry [%s] has type [%s], and a value of type [%s] cannot be "
                              "converted to it",
                              key, pons__bt_kind_word(s->kind), pons__bt_kind_word(v->kind));
    }
    if (pons__bt_value_own(&w) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for entry [%s]", key);
    }
    pons__bt_value_fini(&s->v);
    s->v = w;
    s->kind = w.kind;
    s->fixed = true;
    s->exists = true;
    s->seq++;
    return PONS_OK;
}

// A value as text, in buf or borrowed.
const char *pons__bt_value_text(const pons__bt_value *v, char *buf, size_t cap)
{
    if (v->kind == PONS__BT_STRING) {
        return v->s;
    }
    if (v->kind == PONS__BT_REAL) {
        snprintf(buf, cap, "%.17g", v->d);
    } else {
        snprintf(buf, cap, "%lld", (long long)v->i);
    }
    return buf;
}
