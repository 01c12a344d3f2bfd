// bt_help.c - see bt_help.h.
#include "bt/bt_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int each_case(const char *file, void (*fn)(const pons_value *c))
{
    char path[512], *line = NULL;
    size_t cap = 0;
    int n = 0;
    snprintf(path, sizeof path, "%s/tests/bt/%s", PONS_SOURCE_DIR, file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (ssize_t len; (len = getline(&line, &cap, f)) > 0; n++) {
        pons_value *c = NULL;
        pons_error err = PONS_ERROR_INIT;
        char text[1200];
        if (pons_value_parse(line, (size_t)len, &c, &err) < 0) {
            fail_msg("%s line %d: %s", file, n + 1, pons_error_line(&err, text, sizeof text));
        }
        fn(c);
        pons_value_unref(c);
    }
    free(line);
    fclose(f);
    return n;
}

static void keep(void *user, const pons_value *line)
{
    json_array_append_new(user, pons_value_ref(line));
}

pons_value *lines_of(const char *file, const char *text, const pons_value *script)
{
    pons_value *list = json_array();
    pons_value *faults = NULL;
    pons_error err = PONS_ERROR_INIT;
    char line[1200];
    if (pons_bt_try(file, text, script, keep, list, &faults, &err) < 0) {
        fail_msg("%s\n%s", pons_error_line(&err, line, sizeof line), text);
    }
    assert_null(faults);
    return list;
}

void check_lines(const pons_value *c, const pons_value *got)
{
    const pons_value *want = pons_get(c, "lines");
    assert_int_equal(json_array_size(got), json_array_size(want));
    for (size_t i = 0; i < json_array_size(want); i++) {
        const char *key;
        pons_value *v;
        json_object_foreach(json_array_get(want, i), key, v) {
            const pons_value *g = pons_get(json_array_get(got, i), key);
            if (!json_equal(v, (pons_value *)g)) {
                char *a = NULL, *b = NULL;
                pons_value_line(json_array_get(want, i), &a);
                pons_value_line(json_array_get(got, i), &b);
                print_error("%s\n%s\nwant %s\ngot  %s\n", pons_get_str(c, "case", ""),
                            pons_get_str(c, "text", ""), a, b);
                free(a);
                free(b);
                fail();
            }
        }
    }
}

pons_bt *load_text(const char *file, const char *text, const pons_bt_registry *leaves,
                   pons_value **ret_faults)
{
    const size_t n = strlen(file);
    const pons_bt_load_options o = {.name = file,
                                    .leaves = leaves,
                                    .format = strcmp(file + n - 4, ".xml") == 0    ? PONS_BT_XML
                                              : strcmp(file + n - 5, ".json") == 0 ? PONS_BT_JSON
                                                                                   : PONS_BT_MDSL};
    pons_bt *bt = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_bt_load(text, strlen(text), &o, &bt, ret_faults, &err);
    return bt;
}
