// test_memory_tools.c - what one session keeps another one is shown; a save or a forget is done once
// whatever is killed when; a person sees what was done and what stood there before.
#include "agent_bench.h"
#include "pons/items.h"
#include "pons/store.h"
#include "unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The bench with the memory's tools in place of its own.
static void with_memory(bench *b)
{
    const pons_memory_tools_options opts = {.store = b->store, .clock = b->clock, .session = "s1"};
    pons_agent_close(b->a);
    b->a = NULL;
    assert_int_equal(pons_memory_tools_open(&opts, &b->tools, &b->err), PONS_OK);
    bench_agent(b);
}

static void without_memory(bench *b)
{
    b->tools.ops->close(b->tools.self);
}

static pons_items items_of(const bench *b)
{
    return (pons_items){.store = b->memory, .clock = b->clock};
}

static size_t count_in(const bench *b, const char *ns)
{
    const pons_items it = items_of(b);
    const pons_items_query q = {.prefix = ns, .limit = -1};
    pons_autovalue list = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_items_search(&it, &q, &list, &err), PONS_OK);
    return json_array_size(list);
}

static pons_value *memory_text(const bench *b, const char *key)
{
    const pons_items it = items_of(b);
    pons_autovalue item = NULL;
    pons_error err = PONS_ERROR_INIT;
    return pons_items_get(&it, PONS_AGENT_MEMORIES, key, &item, &err) < 0
               ? NULL
               : pons_value_ref(pons_get(pons_get(item, "value"), "text"));
}

// How many lines of the log about a key say what stood there before; *ret_text of one of them.
static int lines_with_was(const bench *b, const char *did, const char *key, char ret_text[64])
{
    const pons_items it = items_of(b);
    pons_autovalue filter = pons_object("did", json_string(did), "key", json_string(key), NULL);
    const pons_items_query q = {.prefix = PONS_AGENT_MEMORY_LOG, .filter = filter, .limit = -1};
    pons_autovalue list = NULL;
    pons_error err = PONS_ERROR_INIT;
    int n = 0;
    assert_int_equal(pons_items_search(&it, &q, &list, &err), PONS_OK);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *was = pons_get(pons_get(json_array_get(list, i), "value"), "was");
        if (was) {
            snprintf(ret_text, 64, "%s", pons_get_str(was, "text", ""));
            n++;
        }
    }
    return n;
}

// A model that says one line of a list after the other; a line is a reply as JSON.
typedef struct lines {
    const char *const *all;
    size_t next;
} lines;

static pons_value *say_line(void *user, const pons_value *request)
{
    // Asked again after a kill: by what the conversation has, not by how often it was asked.
    lines *l = user;
    const pons_value *messages = pons_get(request, "messages");
    size_t said = 0;
    for (size_t i = 0; i < json_array_size(messages); i++) {
        said += strcmp(pons_get_str(json_array_get(messages, i), "role", ""), "assistant") == 0;
    }
    l->next = said;
    return l->all[said] ? json(l->all[said]) : NULL;
}

#define CALL(id, tool, args)                                                                       \
    "{'content': '', 'tool_calls': [{'id': '" id "', 'name': '" tool "', 'arguments': " args "}]}"

static void saved_replaced_forgotten(void **state)
{
    (void)state;
    static const char *const all[] = {
        CALL("a", "save_memory", "{'key': 'favourite-food', 'text': 'ramen', 'tags': ['mara']}"),
        CALL("b", "save_memory", "{'text': 'the dock is noisy at night'}"),
        CALL("c", "save_memory", "{'key': 'favourite-food', 'text': 'soup'}"),
        CALL("d", "search_memory", "{'query': 'which food'}"),
        CALL("e", "forget_memory", "{'key': 'favourite-food'}"),
        CALL("f", "search_memory", "{'query': 'soup'}"),
        CALL("g", "forget_memory", "{'key': 'favourite-food'}"),
        CALL("h", "save_memory", "{'key': 'a key with spaces', 'text': 'x'}"),
        "{'content': 'done'}",
        NULL};
    lines l = {all, 0};
    bench b = {.model = say_line, .model_user = &l};
    bench_open(&b, "", NULL);
    with_memory(&b);
    bench_say(&b, "remember");
    assert_string_equal(bench_last_message(&b, "assistant"), "done");
    static const char *const outputs[] = {
        "saved as favourite-food", NULL,
        "replaced favourite-food", NULL,
        "forgot favourite-food",   "no memory has any of these words"};
    for (size_t i = 0; i < 6; i++) {
        const char *output = pons_get_str(bench_event(&b, "tool_end", i), "output", "");
        if (outputs[i]) {
            assert_string_equal(output, outputs[i]);
        }
    }
    const char *found = pons_get_str(bench_event(&b, "tool_end", 3), "output", "");
    assert_non_null(strstr(found, "\"text\":\"soup\""));
    assert_null(strstr(found, "dock"));
    assert_non_null(strstr(pons_get_str(bench_event(&b, "tool_end", 6), "output", ""),
                           "there is no memory favourite-food"));
    assert_int_equal(count_in(&b, PONS_AGENT_MEMORIES), 1);
    assert_int_equal(count_in(&b, PONS_AGENT_MEMORY_LOG), 4);
    assert_int_equal(bench_count(&b, "approval_request", NULL, NULL), 0);
    // What a person needs to put it back.
    char was[64] = "";
    assert_int_equal(lines_with_was(&b, "forget", "favourite-food", was), 1);
    assert_string_equal(was, "soup");
    assert_int_equal(lines_with_was(&b, "save", "favourite-food", was), 1);
    assert_string_equal(was, "ramen");
    bench_close(&b);
    without_memory(&b);
}

static const char *const kept[] = {
    CALL("a", "save_memory", "{'key': 'home', 'text': 'the dock'}"),
    CALL("b", "save_memory", "{'text': 'no key'}"),
    CALL("c", "save_memory", "{'key': 'home', 'text': 'the kitchen'}"),
    CALL("d", "forget_memory", "{'key': 'old'}"),
    "{'content': 'done'}",
    NULL};

static void one_that_is_old(const bench *b)
{
    const pons_items it = items_of(b);
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue v = json("{'text': 'of before'}");
    assert_int_equal(pons_items_put(&it, PONS_AGENT_MEMORIES, "old", v, NULL, &err), PONS_OK);
}

// Killed at every commit. Meanwhile a person takes away what was saved under "home" for the first
// time: a call that was done is not done over what the person did.
static void a_kill_at_every_commit_writes_once(void **state)
{
    (void)state;
    lines l = {kept, 0};
    bench calm = {.model = say_line, .model_user = &l};
    bench_open(&calm, "", NULL);
    with_memory(&calm);
    one_that_is_old(&calm);
    bench_say(&calm, "work");
    const int commits = calm.commits;
    bench_close(&calm);
    without_memory(&calm);
    assert_true(commits > 12);
    int between = 0;
    for (int n = 1; n < commits; n++) {
        l.next = 0;
        bench b = {.model = say_line, .model_user = &l};
        bench_open(&b, "", NULL);
        with_memory(&b);
        one_that_is_old(&b);
        b.left = n;
        bench_say(&b, "work");
        const size_t before = count_in(&b, PONS_AGENT_MEMORY_LOG);
        bool taken = false;
        if (b.dead) {
            const pons_items it = items_of(&b);
            bench_kill(&b);
            without_memory(&b);
            if (before == 1) {
                assert_int_equal(pons_items_delete(&it, PONS_AGENT_MEMORIES, "home", &b.err),
                                 PONS_OK);
                taken = true;
            }
            const pons_memory_tools_options opts = {
                .store = b.store, .clock = b.clock, .session = "s1"};
            assert_int_equal(pons_memory_tools_open(&opts, &b.tools, &b.err), PONS_OK);
            bench_agent(&b);
        }
        bench_settle(&b);
        if (!bench_last_message(&b, "assistant")) { // the words were not committed
            bench_say(&b, "work");
        }
        assert_string_equal(bench_last_message(&b, "assistant"), "done");
        bench_check_messages(&b);
        assert_int_equal(count_in(&b, PONS_AGENT_MEMORY_LOG), 4);
        assert_int_equal(count_in(&b, PONS_AGENT_MEMORIES), 2);
        pons_autovalue home = memory_text(&b, "home");
        assert_string_equal(json_string_value(home), "the kitchen");
        char was[64] = "";
        // Had the first save been done again, there would be something to replace.
        assert_int_equal(lines_with_was(&b, "save", "home", was), taken ? 0 : 1);
        between += taken;
        bench_close(&b);
        without_memory(&b);
    }
    assert_true(between > 0);
}

static void a_flood_is_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        CALL("a", "save_memory", "{'text': 'one more'}"),
        CALL("b", "save_memory", "{'key': 'k7', 'text': 'in its place'}"), "{'content': 'done'}",
        NULL};
    lines l = {all, 0};
    bench b = {.model = say_line, .model_user = &l};
    bench_open(&b, "", NULL);
    with_memory(&b);
    const pons_items it = items_of(&b);
    pons_autovalue v = json("{'text': 'x'}");
    for (int i = 0; i < 2000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(pons_items_put(&it, PONS_AGENT_MEMORIES, key, v, NULL, &b.err), PONS_OK);
    }
    bench_say(&b, "remember");
    assert_non_null(strstr(pons_get_str(bench_event(&b, "tool_end", 0), "output", ""),
                           "2000 memories already"));
    assert_string_equal(pons_get_str(bench_event(&b, "tool_end", 1), "output", ""), "replaced k7");
    assert_int_equal(count_in(&b, PONS_AGENT_MEMORIES), 2000);
    bench_close(&b);
    without_memory(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_replaced_forgotten),
        cmocka_unit_test(a_kill_at_every_commit_writes_once),
        cmocka_unit_test(a_flood_is_refused),
    };
    return cmocka_run_group_tests_name("memory_tools", tests, NULL, NULL);
}
