// item_filter.c - whether an item's value is what a filter asks for.
//
// A filter is {member: what}. `what` may be a value, which the member equals; an object of values,
// whose members those of the member equal (others may be there); a list, item for item; or an object
// of operators, all of which hold. A member that is not there is null.
#include "items/item_filter.h"

#include "pons/items.h"

#include <string.h>

#define HAS "$has" // a list with such an item: of tags, say

typedef enum compare { IS_LESS = -1, IS_EQUAL, IS_GREATER, IS_OTHER } compare;

static const struct filter_operator {
    const char *word;
    bool less, equal, greater, other; // what holds
} operators[] = {
    {"$eq", false, true, false, false}, {"$ne", true, false, true, true},
    {"$gt", false, false, true, false}, {"$gte", false, true, true, false},
    {"$lt", true, false, false, false}, {"$lte", true, true, false, false},
};

// ---- helpers ------------------------------------------------------------------------------------

static const struct filter_operator *operator_of(const char *word)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(operators[i].word, word) == 0) {
            return &operators[i];
        }
    }
    return NULL;
}

static bool has_operators(const pons_value *v)
{
    pons_each_member(name, child, v) {
        if (name[0] == '$') {
            return true;
        }
    }
    return false;
}

// Numbers by their value, texts by their bytes; of the rest only whether they are equal.
static compare compare_values(const pons_value *a, const pons_value *b)
{
    if (!a || !b) { // what is not there is null
        return (!a || json_is_null(a)) && (!b || json_is_null(b)) ? IS_EQUAL : IS_OTHER;
    }
    if (json_is_integer(a) && json_is_integer(b)) {
        const json_int_t x = json_integer_value(a), y = json_integer_value(b);
        return x < y ? IS_LESS : x > y ? IS_GREATER : IS_EQUAL;
    }
    if (json_is_number(a) && json_is_number(b)) {
        const double x = json_number_value(a), y = json_number_value(b);
        return x < y ? IS_LESS : x > y ? IS_GREATER : IS_EQUAL;
    }
    if (json_is_string(a) && json_is_string(b)) {
        const int order = strcmp(json_string_value(a), json_string_value(b));
        return order < 0 ? IS_LESS : order > 0 ? IS_GREATER : IS_EQUAL;
    }
    return json_equal(a, b) ? IS_EQUAL : IS_OTHER;
}

static bool equal(const pons_value *a, const pons_value *b)
{
    return compare_values(a, b) == IS_EQUAL;
}

static bool fits(const pons_value *have, const pons_value *want);

static bool holds(const pons_value *have, const char *word, const pons_value *operand)
{
    if (strcmp(word, HAS) == 0) {
        bool found = false;
        for (size_t i = 0; i < json_array_size(have) && !found; i++) {
            found = fits(json_array_get(have, i), operand);
        }
        return found;
    }
    const struct filter_operator *o = operator_of(word);
    const compare c = compare_values(have, operand);
    return o && ((c == IS_LESS && o->less) || (c == IS_EQUAL && o->equal) ||
                 (c == IS_GREATER && o->greater) || (c == IS_OTHER && o->other));
}

static bool fits(const pons_value *have, const pons_value *want)
{
    if (json_is_object(want)) {
        const bool compares = has_operators(want);
        bool good = compares || json_is_object(have);
        pons_each_member(name, v, want) {
            good = good && (compares ? holds(have, name, v) : fits(json_object_get(have, name), v));
        }
        return good;
    }
    if (json_is_array(want)) {
        bool good = json_is_array(have) && json_array_size(have) == json_array_size(want);
        pons_each(v, want) {
            good = good && fits(json_array_get(have, v_at), v);
        }
        return good;
    }
    return equal(have, want);
}

int pons__item_filter_check(const pons_value *filter, pons_error *err)
{
    if (filter && !json_is_object(filter)) {
        return pons_error_set(err, PONS_EINVAL, "items", "a filter is an object {member: value}");
    }
    pons_each_member(name, v, filter) {
        if (name[0] == '$') {
            return pons_error_set(err, PONS_EINVAL, "items",
                                  "a filter begins with a member, not with '%s'", name);
        }
        const bool compares = has_operators(v);
        pons_each_member(word, operand, v) {
            if (compares && !operator_of(word) && strcmp(word, HAS) != 0) {
                return pons_error_set(err, PONS_EINVAL, "items",
                                      "a filter of '%s' has no operator '%s': $eq $ne $gt $gte $lt "
                                      "$lte $has",
                                      name, word);
            }
        }
    }
    return PONS_OK;
}

bool pons__item_fits(const pons_value *value, const pons_value *filter)
{
    pons_each_member(name, want, filter) {
        if (!fits(json_object_get(value, name), want)) {
            return false;
        }
    }
    return true;
}

bool pons_items_fits(const pons_value *value, const pons_value *filter)
{
    return pons__item_fits(value, filter);
}
