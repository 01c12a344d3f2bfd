// test_reply.c - the one object of an answer: what is read out of what models write, and what is refused
// because it could be meant in two ways.
#include "pons/plan.h"
#include "unit.h"

#include <string.h>

static void one_object_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *action; // NULL: refused, and
        const char *says;
    } rows[] = {
        {"{\"action\": \"go\"}", "go", NULL},
        {"Well.\n```json\n{'action': 'go',}\n```\nSo be it.", "go", NULL},
        {"<think>{\"action\": \"stay\"}</think>{action: \"go\"}", "go", NULL},
        {"I saw {\"zone\": \"hall\"}.\n{\"action\": \"go\"}", "go", NULL},
        {"{\"action\": \"go\"}\n{\"action\": \"go\"}", "go", NULL},
        {"{\"action\": \"go\"}\n{\"action\": \"stay\"}", NULL, "two answers"},
        {"{\"action\": \"go\", \"why\": \"bec", NULL, "no end"},
        {"{\"action\": \"go\",", NULL, "in the middle"},
        {"<think>{\"action\": \"go\"}", NULL, "thinking has no end"},
        {"<THINK>{\"action\": \"stay\"}</Think>{\"action\": \"go\"}", "go", NULL},
        {"<thinking>{\"action\": \"stay\"}</thinking>{\"action\": \"go\"}", "go", NULL},
        {"Hm. <reasoning>{\"action\": \"stay\"}</reasoning> {\"action\": \"go\"}", "go", NULL},
        {"[THINK]{\"action\": \"stay\"}[/THINK]{\"action\": \"go\"}", "go", NULL},
        {"<|channel|>analysis<|message|>{\"action\": \"stay\"}<|end|><|start|>assistant"
         "<|channel|>final<|message|>{\"action\": \"go\"}",
         "go", NULL},
        {"perhaps {\"action\": \"stay\"}</think>{\"action\": \"go\"}", "go", NULL},
        {"{\"action\": \"go\", \"why\": \"a </think> in a text\"}", "go", NULL},
        {"Well. <thinking>{\"action\": \"go\"}", NULL, "thinking has no end"},
        {"<think>a</think> so <think>{\"action\": \"go\"}", NULL, "thinking has no end"},
        {"<|channel|>analysis<|message|>{\"action\": \"go\"}", NULL, "thinking has no end"},
        {"{\"zone\": \"hall\"}", NULL, "without action"},
        {"{\"action\": \"go\", \"action\": \"stay\"}", NULL, ""},
        {"Go to the hall.", NULL, "no plan"},
        {"", NULL, ""},
        {"[]", NULL, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_value *v = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_reply_object(rows[i].text, strlen(rows[i].text), "action", &v, &err);
        if (rows[i].action ? rc < 0 || strcmp(pons_get_str(v, "action", ""), rows[i].action) != 0
                           : rc != PONS_EINVAL || !strstr(err.message, rows[i].says)) {
            fail_msg("row %zu: %d, %s, %s", i, rc, pons_get_str(v, "action", "nothing"),
                     err.message);
        }
        pons_value_unref(v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_object_is_found),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
