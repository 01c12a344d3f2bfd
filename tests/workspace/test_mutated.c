// test_mutated.c - two hundred files with one record spoiled: its fault is told in that record's lines,
// and every other record is read as before.
#include "unit.h"
#include "workspace/ws_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES 200

static const pons_ws_file data_files[] = {PONS_WS_ENVIRONMENT, PONS_WS_ACTION, PONS_WS_SESSIONS,
                                          PONS_WS_TARGETS, PONS_WS_SKILLS};

// What is put before the record's first member, in JSON or YAML.
static const char *const spoils[] = {
    "\"bad\": NaN",
    "\"bad\": -Infinity",
    "\"twice\": 1,\n \"twice\": 2",
    "\"bad\": 1e999",
    "\"deep\": {\"a\": 1, \"a\": 2}",
};
static const char *const yaml_spoils[] = {
    "bad: .nan\n",
    "bad: -.inf\n",
    "twice: 1\nINDENTtwice: 2\n",
    "bad: 99999999999999999999\n",
    "deep: {a: 1, a: 2}\n",
};

// The text with a record spoiled.
static char *spoil(pons_rand *r, const pons_ws_doc *d, const pons_ws_record *victim)
{
    size_t len;
    const char *text = pons_ws_text(d, &len), *at = text;
    pons_autobuf out = PONS_BUF_INIT;
    for (uint32_t line = 1; line < victim->line; line++) {
        at = strchr(at, '\n') + 1;
    }
    for (uint32_t column = 1; column < victim->column;) {
        at++;
        column += ((unsigned char)*at & 0xc0) != 0x80;
    }
    const size_t which = pons_rand_below(r, 5);
    if (*at == '"') { // a member of a map: its value is spoiled
        at = strstr(at, "{");
    }
    const bool json = *at == '{';
    at += json;
    pons_buf_bytes(&out, text, (size_t)(at - text));
    if (json) {
        pons_buf_printf(&out, "%s,", spoils[which]);
    } else {
        for (const char *s = yaml_spoils[which]; *s; s++) {
            if (strncmp(s, "INDENT", 6) == 0) {
                pons_buf_printf(&out, "%*s", (int)victim->column - 1, "");
                s += 5;
            } else {
                pons_buf_byte(&out, (uint8_t)*s);
            }
        }
        pons_buf_printf(&out, "%*s", (int)victim->column - 1, "");
    }
    pons_buf_str(&out, at);
    return pons_buf_take(&out, NULL);
}

static void one_spoiled_record(void **state)
{
    (void)state;
    const uint64_t seed = 5;
    pons_rand r;
    pons_rand_seed(&r, seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < FILES;) {
        const pons_ws_file file = data_files[pons_rand_below(&r, 5)];
        pons_ws_doc *d =
            help_made_up(&r, file, (pons_ws_dialect)pons_rand_below(&r, PONS_WS_DIALECTS));
        size_t n, m, faults;
        const pons_ws_record *all = pons_ws_records(d, &n);
        const pons_ws_record *victim = &all[pons_rand_below(&r, n)];
        if (strcmp(victim->kind, "scene") == 0 || json_object_size(victim->value) < 2) {
            pons_ws_destroy(d);
            continue;
        }
        char *text = spoil(&r, d, victim);
        pons_ws_doc *is = NULL;
        pons_error err = PONS_ERROR_INIT;
        if (pons_ws_read(file, text, strlen(text), "F.md", &is, &err) < 0) {
            fail_msg("%s %s\n%s", err.source, err.message, text);
        }
        const pons_ws_fault *f = pons_ws_faults(is, &faults);
        pons_ws_records(is, &m);
        if (faults != 1 || m != n - 1 || f->line < victim->line || f->line > victim->line + 40) {
            fail_msg("%zu faults, %zu of %zu records, %s %s at line %u\n%s", faults, m, n,
                     victim->kind, victim->id, victim->line, text);
        }
        for (size_t k = 0; k < n; k++) {
            const pons_ws_record *same = pons_ws_find(is, all[k].kind, all[k].id);
            assert_true(&all[k] == victim ? !same : same && json_equal(same->value, all[k].value));
        }
        // A change of a neighbour leaves what is spoiled as somebody wrote it.
        pons_autobuf out = PONS_BUF_INIT;
        assert_int_equal(pons_ws_render(is, NULL, 0, 3, &out, &err), PONS_OK);
        assert_int_equal(strncmp(out.data, text, 20), 0);
        free(text);
        pons_ws_destroy(is);
        pons_ws_destroy(d);
        i++;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_spoiled_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
