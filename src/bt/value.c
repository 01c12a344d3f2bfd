// value.c - typed values of blackboards and ports, and the slots that hold them.
//
// A key's type is fixed by its port or at its first write; later writes convert where nothing is
// lost (a whole real into an integer, a number's text into a number) and are refused otherwise.
#include "bt/bt_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

void bt_value_fini(bt_value *v)
{
    if (v->owned && v->kind == BT_STRING) {
        free(v->s);
    } else if (v->owned && v->kind == BT_JSON) {
        pons_value_unref(v->j);
    }
    v->kind = BT_EMPTY;
    v->owned = false;
}

int bt_value_dup(bt_value *dst, const bt_value *src)
{
    *dst = *src;
    dst->owned = false;
    return bt_value_own(dst);
}

int bt_value_own(bt_value *v)
{
    if (!v->owned && v->kind == BT_STRING) {
        v->s = strdup(v->s);
        if (!v->s) {
            v->kind = BT_EMPTY;
            return PONS_ENOMEM;
        }
        v->owned = true;
    } else if (!v->owned && v->kind == BT_JSON) {
        v->j = pons_value_ref(v->j);
        v->owned = true;
    }
    return PONS_OK;
}

pons_value *bt_value_json(const bt_value *v)
{
    switch ((bt_kind)v->kind) {
    case BT_INT:
        return json_integer(v->i);
    case BT_BOOL:
        return json_boolean(v->i != 0);
    case BT_REAL:
        return isfinite(v->d) ? json_real(v->d) : json_null();
    case BT_STRING:
        return json_string(v->s);
    case BT_JSON:
        return pons_value_ref(v->j);
    default:
        return json_null();
    }
}

int bt_value_of_json(const pons_value *j, bt_value *ret)
{
    *ret = (bt_value){.kind = BT_EMPTY};
    if (json_is_integer(j)) {
        *ret = (bt_value){.kind = BT_INT, .i = json_integer_value(j)};
    } else if (json_is_real(j)) {
        *ret = (bt_value){.kind = BT_REAL, .d = json_real_value(j)};
    } else if (json_is_boolean(j)) {
        *ret = (bt_value){.kind = BT_BOOL, .i = json_is_true(j)};
    } else if (json_is_string(j)) {
        *ret = (bt_value){.kind = BT_STRING, .s = (char *)json_string_value(j)};
    } else if (j && !json_is_null(j)) {
        *ret = (bt_value){.kind = BT_JSON, .j = (pons_value *)j};
    }
    return bt_value_own(ret);
}

bool bt_value_number(const bt_value *v, double *ret)
{
    if (v->kind == BT_REAL) {
        *ret = v->d;
    } else if (v->kind == BT_INT || v->kind == BT_BOOL) {
        *ret = (double)v->i;
    } else {
        return false;
    }
    return true;
}

const char *bt_kind_word(int kind)
{
    static const char *const words[] = {"nothing", "int", "double", "bool", "string", "value"};
    return words[kind];
}

// ---------------------------------------------------------------- text

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

bool bt_parse(const char *text, char type, bt_value *ret)
{
    bt_value v = {.kind = BT_STRING, .s = (char *)text};
    bool ok = true;
    switch (type) {
    case 'i':
    case 'u':
        v.kind = BT_INT;
        ok = parse_int(text, &v.i) &&
             (type == 'i' ? v.i >= INT32_MIN && v.i <= INT32_MAX : v.i >= 0 && v.i <= UINT32_MAX);
        break;
    case 'l':
        v.kind = BT_INT;
        ok = parse_int(text, &v.i);
        break;
    case 'd':
        v.kind = BT_REAL;
        ok = parse_real(text, &v.d);
        break;
    case 'b':
        v.kind = BT_BOOL;
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

char bt_type_letter(const char *word)
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

int bt_type_kind(char letter)
{
    return letter == 'i' || letter == 'u' || letter == 'l' ? BT_INT
           : letter == 'd'                                 ? BT_REAL
           : letter == 'b'                                 ? BT_BOOL
           : letter == 's' || letter == 't'                ? BT_STRING
                                                           : BT_EMPTY;
}

// ---------------------------------------------------------------- slots

// v as a value of another kind, without loss.
static bool convert(const bt_value *v, int kind, bt_value *ret)
{
    double d;
    if (v->kind == BT_STRING && kind != BT_STRING) {
        return bt_parse(v->s,
                        kind == BT_INT    ? 'l'
                        : kind == BT_REAL ? 'd'
                                          : 'b',
                        ret) &&
               kind != BT_JSON;
    }
    if (!bt_value_number(v, &d) || kind == BT_STRING || kind == BT_JSON) {
        return false;
    }
    if (kind == BT_REAL) {
        *ret = (bt_value){.kind = BT_REAL, .d = d};
        return true;
    }
    if (v->kind == BT_REAL && (floor(d) != d || fabs(d) > 9.2e18)) {
        return false;
    }
    *ret = (bt_value){.kind = (uint8_t)kind, .i = v->kind == BT_REAL ? (int64_t)d : v->i};
    if (kind == BT_BOOL) {
        ret->i = d != 0;
    }
    return true;
}

int bt_slot_assign(bt_slot *s, const char *key, const bt_value *v, bool create, pons_error *err)
{
    bt_value w = *v;
    if (!s->exists && !create) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "the blackboard entry [%s] does not exist yet; ':=' creates one",
                              key);
    }
    if (v->kind == BT_EMPTY) {
        return pons_error_set(err, PONS_EINVAL, "bt", "the value for entry [%s] is empty", key);
    }
    w.owned = false;
    // What a port declares converts a text; else it is the first value that fixes the type.
    const bool free_kind = s->v.kind == BT_EMPTY && !s->fixed && v->kind != BT_STRING;
    if (!free_kind && s->kind != BT_EMPTY && s->kind != v->kind && !convert(v, s->kind, &w)) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "entry [%s] has type [%s], and a value of type [%s] cannot be "
                              "converted to it",
                              key, bt_kind_word(s->kind), bt_kind_word(v->kind));
    }
    if (bt_value_own(&w) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "no memory for entry [%s]", key);
    }
    bt_value_fini(&s->v);
    s->v = w;
    s->kind = w.kind;
    s->fixed = true;
    s->exists = true;
    s->seq++;
    return PONS_OK;
}

int bt_slot_write(pons_bt_tree *t, int32_t slot, const bt_value *v, pons_error *err)
{
    return bt_slot_assign(&t->slots[slot], t->bt->slots[slot].key, v, true, err);
}
