// model_reply.c - the one object that a model answered with, by the lenient reader: a decision, a replanner's
// answer.
#include "plan/repair/json_repair.h"

// An answer that is there twice, and differs, can be meant in two ways.
static int pick(const pons_value *list, const char *member, const pons_value **ret, pons_error *err)
{
    const size_t n = json_is_array(list) ? json_array_size(list) : 1;
    const pons_value *one = NULL;
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = json_is_array(list) ? json_array_get(list, i) : list;
        if (!pons_get(v, member)) {
            continue;
        }
        if (one && !json_equal(one, v)) {
            return pons_error_set(err, PONS_EINVAL, "plan", "two answers that differ");
        }
        one = v;
    }
    *ret = one;
    return one ? PONS_OK : pons_error_set(err, PONS_EINVAL, "plan", "an object without %s", member);
}

int pons_reply_object(const char *text, size_t len, const char *member, pons_value **ret,
                      pons_error *err)
{
    pons_autovalue whole = NULL;
    pons_error strict = PONS_ERROR_INIT;
    if (pons_value_parse(text, len, &whole, &strict) >= 0 && pons_get(whole, member)) {
        *ret = pons_value_ref(whole);
        return PONS_OK;
    }
    pons__repaired out = {.text = PONS_BUF_INIT};
    pons_autovalue found = NULL;
    const pons_value *one = NULL;
    int rc = pons__repair(text, len, NULL, NULL, &out, err);
    rc = rc < 0 ? rc : pons_value_parse(out.text.data, out.text.len, &found, err);
    rc = rc < 0 ? rc : pick(found, member, &one, err);
    if (rc >= 0) {
        *ret = pons_value_ref(one);
    }
    pons__repaired_fini(&out);
    return rc;
}
