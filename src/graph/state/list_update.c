// list_update.c - lists and objects as updates change them.
//
// {"__overwrite__": v} replaces what a reducing channel would have folded: the step's earlier and
// later updates are dropped, and two of them in one step are a conflict.
#include "graph/state/list_update.h"

const pons_value *pons__overwrite(const pons_value *update)
{
    return json_is_object(update) && json_object_size(update) == 1
               ? json_object_get(update, "__overwrite__")
               : NULL;
}

bool pons__list_extend(pons_value *list, const pons_value *update)
{
    if (!json_is_array(update)) {
        return json_array_append_new(list, pons_value_ref(update)) == 0;
    }
    size_t n = json_array_size(update);
    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(list, pons_value_ref(json_array_get(update, i))) != 0) {
            return false;
        }
    }
    return true;
}

bool pons__object_merge(pons_value *obj, const pons_value *update, bool keep_null)
{
    pons_each_member(key, v, update) {
        if (json_is_null(v) && !keep_null) {
            json_object_del(obj, key);
        } else if (json_object_set_new_nocheck(obj, key, pons_value_ref(v)) != 0) {
            return false;
        }
    }
    return true;
}
