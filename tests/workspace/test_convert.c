// test_convert.c - one meaning in three dialects: each to each other and back, records, unknown keys
// and people's words intact. The seed's own files, and files made up from seeds that are printed.
#include "rounds.h"
#include "unit.h"
#include "workspace/ws_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_ws_doc *convert(const pons_ws_doc *d, pons_ws_file file, pons_ws_dialect to)
{
    pons_autobuf out = PONS_BUF_INIT;
    pons_error err = PONS_ERROR_INIT;
    char line[1024];
    if (pons_ws_convert(d, to, &out, &err) < 0) {
        fail_msg("%s", pons_error_line(&err, line, sizeof line));
    }
    pons_ws_doc *is = help_read(file, out.data ? out.data : "", out.len);
    size_t n;
    pons_ws_records(is, &n);
    // paos1 and paos2 have the same tables, and EMBODIED is one in all.
    const bool tables = file == PONS_WS_TASK || file == PONS_WS_ORCHESTRATOR;
    const bool both = tables && to == PONS_WS_PAOS2;
    if (n > 1 && file != PONS_WS_EMBODIED && !both && pons_ws_doc_dialect(is) != to) {
        fail_msg("%s does not look like %s:\n%s", pons_ws_file_name(file), pons_ws_dialect_name(to),
                 out.data);
    }
    return is;
}

static void seed_files_in_all_dialects(void **state)
{
    (void)state;
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_ws_doc *seed = help_seed((pons_ws_file)f);
        assert_int_equal(pons_ws_doc_dialect(seed), PONS_WS_SEED);
        for (int a = 0; a < PONS_WS_DIALECTS; a++) {
            pons_ws_doc *one = convert(seed, (pons_ws_file)f, (pons_ws_dialect)a);
            help_same_records(seed, one, pons_ws_file_name((pons_ws_file)f));
            for (int b = 0; b < PONS_WS_DIALECTS; b++) {
                pons_ws_doc *two = convert(one, (pons_ws_file)f, (pons_ws_dialect)b);
                pons_ws_doc *back = convert(two, (pons_ws_file)f, PONS_WS_SEED);
                help_same_records(seed, two, pons_ws_file_name((pons_ws_file)f));
                help_same_records(seed, back, pons_ws_file_name((pons_ws_file)f));
                pons_ws_destroy(two);
                pons_ws_destroy(back);
            }
            pons_ws_destroy(one);
        }
        pons_ws_destroy(seed);
    }
}

static void what_people_wrote_stays(void **state)
{
    (void)state;
    size_t len;
    pons_ws_doc *seed = help_seed(PONS_WS_SESSIONS);
    pons_ws_doc *paos = convert(seed, PONS_WS_SESSIONS, PONS_WS_PAOS2);
    const char *text = pons_ws_text(paos, &len);
    assert_non_null(strstr(text, "# SESSIONS\n\nSessions.\n\n```yaml\n"));
    assert_non_null(strstr(text, "target_ref: \"target://sim_franka_tabletop\""));
    assert_non_null(strstr(text, "max_retries: 2"));
    assert_non_null(strstr(text, "End.\n"));
    pons_ws_destroy(paos);
    pons_ws_destroy(seed);
}

static void a_strict_dialect_keeps_unknown_keys_in_a_comment(void **state)
{
    (void)state;
    static const char text[] = "```yaml\nsessions:\n  - session_id: s\n    target_ref: t\n"
                               "    skill_ref: k\n    mood: \"a-->b\"\n```\nmore\n";
    size_t len;
    pons_ws_doc *d = help_read(PONS_WS_SESSIONS, text, sizeof text - 1);
    pons_ws_doc *strict = convert(d, PONS_WS_SESSIONS, PONS_WS_PAOS2);
    const char *out = pons_ws_text(strict, &len);
    assert_non_null(strstr(out, "<!-- pons kept: {\"session s\":{\"mood\":"));
    assert_null(strstr(out, "mood:"));
    help_same_records(d, strict, "kept");
    pons_ws_doc *back = convert(strict, PONS_WS_SESSIONS, PONS_WS_SEED);
    assert_null(strstr(pons_ws_text(back, &len), "pons kept"));
    help_same_records(d, back, "put back");
    pons_ws_destroy(d);
    pons_ws_destroy(strict);
    pons_ws_destroy(back);
}

static void made_up_files_by_any_way(void **state)
{
    (void)state;
    const char *given = getenv("PONS_TEST_SEED");
    const uint64_t first = given ? strtoull(given, NULL, 10) : 1;
    for (uint64_t seed = first;
         seed < first + (given ? 1 : (uint64_t)rounds(ROUNDS_workspace_files)); seed++) {
        pons_rand r;
        pons_rand_seed(&r, seed);
        for (int f = 0; f < PONS_WS_FILES; f++) {
            char what[64];
            snprintf(what, sizeof what, "seed %llu, %s", (unsigned long long)seed,
                     pons_ws_file_name((pons_ws_file)f));
            const pons_ws_dialect from = (pons_ws_dialect)pons_rand_below(&r, PONS_WS_DIALECTS);
            pons_ws_doc *made = help_made_up(&r, (pons_ws_file)f, from);
            pons_ws_doc *now = convert(made, (pons_ws_file)f, pons_ws_doc_dialect(made));
            for (int step = 0; step < 4; step++) {
                pons_ws_doc *next = convert(now, (pons_ws_file)f,
                                            (pons_ws_dialect)pons_rand_below(&r, PONS_WS_DIALECTS));
                help_same_records(made, next, what);
                size_t len;
                assert_non_null(strstr(pons_ws_text(next, &len), "A person's words, 人写的."));
                pons_ws_destroy(now);
                now = next;
            }
            pons_ws_destroy(made);
            pons_ws_destroy(now);
        }
    }
    print_message("seeds %llu…; PONS_TEST_SEED=N repeats one\n", (unsigned long long)first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seed_files_in_all_dialects),
        cmocka_unit_test(what_people_wrote_stays),
        cmocka_unit_test(a_strict_dialect_keeps_unknown_keys_in_a_comment),
        cmocka_unit_test(made_up_files_by_any_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
