// test_records.c - the tables of the brain's state: what is written is read again, what an earlier pons has
// stored is understood, docs/internals/brain-state.md has the tables as they are; and its machines move by theirs.
#include "../../tools/brain_tables.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_value *parsed(const char *text)
{
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_value_parse(text, strlen(text), &v, &err), PONS_OK);
    return v;
}

static void is_read_as_it_is_written(const pons__record *r)
{
    void *fresh = pons__record_new(r);
    pons_autovalue written = pons__record_write(r, fresh);
    void *again = pons__record_read(r, written);
    pons_autovalue twice = pons__record_write(r, again);
    assert_true(json_equal(written, twice));
    pons__record_free(r, fresh);
    pons__record_free(r, again);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; pons__state_records[i]; i++) {
        is_read_as_it_is_written(pons__state_records[i]);
    }
    for (size_t i = 0; pons__event_records[i]; i++) {
        is_read_as_it_is_written(pons__event_records[i]);
        assert_true(pons_brain_tells(pons__event_records[i]->name));
    }
    assert_true(pons_brain_tells("token"));
    assert_false(pons_brain_tells("task.finished"));
}

// As a thread of before the tables has it, with members that are gone and without those that are new.
static void an_earlier_task_is_understood(void **state)
{
    (void)state;
    pons_autovalue old = parsed(
        "{\"id\":\"task-7\",\"text\":\"去厨房\",\"goals\":[{\"intent\":\"go_to\",\"zone\":"
        "\"kitchen\","
        "\"text\":\"去厨房\",\"done\":false}],\"priority\":50,\"deadline_ms\":null,\"resources\":["
        "\"base\"],"
        "\"preemptible\":true,\"status\":\"active\",\"created_ms\":5,\"source\":\"user\","
        "\"attempt\":1,"
        "\"plan\":null,\"ladder\":{\"step\":\"wait\",\"failures\":2,\"best_m\":null},\"gone\":1}");
    pons__task *task = pons__record_read(&pons__task_record, old);
    assert_string_equal(task->id, "task-7");
    assert_int_equal(task->status, PONS_TASK_ACTIVE);
    assert_int_equal(task->deadline_ms, 0);
    assert_null(task->plan);
    assert_int_equal(task->recovery->failures, 2);
    assert_int_equal(task->recovery->tries, 1);
    assert_string_equal(((pons__goal *)task->goals.at[0])->zone, "kitchen");
    pons__task *copy = pons__record_copy(&pons__task_record, task);
    pons__set_text(&copy->id, "other");
    assert_string_equal(task->id, "task-7");
    pons__record_free(&pons__task_record, copy);
    pons__record_free(&pons__task_record, task);
}

static void what_is_of_another_kind_has_its_preset(void **state)
{
    (void)state;
    static const struct {
        const char *text, *as;
    } rows[] = {{"[]", "{}"},
                {"{\"priority\":\"high\"}", "{}"},
                {"{\"status\":\"asleep\"}", "{}"},
                {"{\"goals\":[{\"done\":1}]}", "{\"goals\":[{}]}"},
                {"{\"ladder\":{\"tries\":[]}}", "{\"ladder\":{}}"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_autovalue text = parsed(rows[i].text);
        pons_autovalue as = parsed(rows[i].as);
        PONS__AUTO(task) a = pons__record_read(&pons__task_record, text);
        PONS__AUTO(task) b = pons__record_read(&pons__task_record, as);
        pons_autovalue x = pons__record_write(&pons__task_record, a);
        pons_autovalue y = pons__record_write(&pons__task_record, b);
        assert_true(json_equal(x, y));
    }
}

// A name that is lacking is not one that is empty: "cancel" alone ends all tasks, with task "" none. And a number that
// no integer holds is no undefined one.
static void what_is_lacking_is_not_what_is_empty(void **state)
{
    (void)state;
    pons_autovalue none = parsed("{\"word\":\"cancel\",\"task\":7}");
    pons_autovalue empty = parsed("{\"word\":\"cancel\",\"task\":\"\",\"deadline_ms\":1e300}");
    pons__said *a = pons__said_read(none), *b = pons__said_read(empty);
    assert_null(a->task);
    assert_string_equal(b->task, "");
    assert_int_equal(b->deadline_ms, 9007199254740992);
    pons_autovalue back = pons__record_write(&pons__said_record, b);
    assert_string_equal(pons_get_str(back, "task", "?"), "");
    pons__record_free(&pons__said_record, a);
    pons__record_free(&pons__said_record, b);
    pons__reply *reply = pons__reply_read(none);
    assert_null(reply->id);
    assert_string_equal(reply->action, "reject");
    pons__record_free(&pons__reply_record, reply);
}

// What a buffer has cut in the middle of a character is text all the same: stored, and read again.
static void a_cut_text_ends_with_a_whole_character(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int bytes;
        const char *kept;
    } rows[] = {{"厨房", 6, "厨房"},
                {"厨房", 5, "厨"},
                {"厨房", 4, "厨"},
                {"厨房", 2, ""},
                {"a😀b", 5, "a😀"},
                {"a😀b", 4, "a"},
                {"a😀b", 2, "a"},
                {"café", 5, "café"},
                {"café", 4, "caf"},
                {"plain", 3, "pla"},
                {"厨房 kitchen", 8, "厨房 k"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = NULL;
        pons__set_textf(&text, "%.*s", rows[i].bytes, rows[i].text);
        assert_string_equal(text, rows[i].kept);
        pons__set_text(&text, NULL);
    }
}

static void read_document(const char *name, pons_buf *doc)
{
    char path[256], chunk[4096];
    snprintf(path, sizeof path, "%s/docs/%s", PONS_SOURCE_DIR, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;) {
        assert_true(pons_buf_bytes(doc, chunk, n) >= 0);
    }
    fclose(f);
}

static void the_document_has(const pons_buf *doc, const char *what, const char *text)
{
    if (!strstr(doc->data, text)) {
        fprintf(stderr, "the document should have:\n%s\n", text); // cmocka cuts long texts
        fail_msg("tools/make-reference: a document has not this table or drawing: %s", what);
    }
}

static const pons__transition *row_of(const pons__machine *m, int state, int event)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->rows[i].from == state && m->rows[i].event == event) {
            return &m->rows[i];
        }
    }
    return NULL;
}

static void the_document_has_table(const pons_buf *doc, const pons__record *r)
{
    pons_autobuf table = PONS_BUF_INIT;
    pons__record_describe(r, &table);
    the_document_has(doc, r->name, table.data);
}

// Each pair of a state and an event: it moves as its row says, or not at all, and that is told.
static void what_is_in_no_row_cannot_happen(void **state)
{
    (void)state;
    for (const pons__machine *const *all = pons__machines; *all; all++) {
        const pons__machine *m = *all;
        size_t moved = 0;
        bool there[64] = {false}, used[64] = {false};
        for (int from = 0; m->states[from]; from++) {
            for (int event = 0; m->events[event]; event++) {
                const pons__transition *row = row_of(m, from, event);
                const char *next = "?";
                pons_error err = PONS_ERROR_INIT;
                int now = from;
                const int rc = pons__machine_move(m, &now, event, &next, &err);
                if (row) {
                    moved++;
                    used[event] = true;
                    there[row->from] = there[row->to] = true;
                    assert_int_equal(rc, PONS_OK);
                    assert_int_equal(now, row->to);
                    assert_ptr_equal(next, row->next);
                } else {
                    assert_int_equal(rc, PONS_EPROTOCOL);
                    assert_int_equal(now, from);
                    assert_non_null(strstr(err.message, m->events[event]));
                    assert_non_null(strstr(err.message, m->states[from]));
                }
            }
        }
        assert_int_equal(moved, m->n); // no pair is there twice
        for (int i = 0; m->states[i]; i++) {
            assert_true(there[i]);
        }
        for (int i = 0; m->events[i]; i++) {
            assert_true(used[i]);
        }
    }
}

static void the_document_has_the_tables(void **state)
{
    (void)state;
    pons_autobuf tables = PONS_BUF_INIT, events = PONS_BUF_INIT, drawings = PONS_BUF_INIT;
    read_document("internals/brain-state.md", &tables);
    read_document("reference/events.md", &events);
    read_document("internals/brain.md", &drawings);
    for (size_t k = 0; pons__state_records[k]; k++) {
        the_document_has_table(&tables, pons__state_records[k]);
    }
    for (size_t k = 0; pons__event_records[k]; k++) {
        the_document_has_table(&events, pons__event_records[k]);
    }
    for (size_t k = 0; pons__machines[k]; k++) {
        pons_autobuf drawing = PONS_BUF_INIT;
        pons__machine_draw(pons__machines[k], &drawing);
        the_document_has(&drawings, pons__machines[k]->name, drawing.data);
    }
}

static const pons__field *member_of(const pons__record *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++) {
        if (strcmp(r->fields[i].name, name) == 0) {
            return &r->fields[i];
        }
    }
    return NULL;
}

// What is published is what there is: each member of a published schema is read and written by the table.
static void the_tables_have_what_the_schemas_publish(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        const pons__record *table;
    } rows[] = {{"decision.json", &pons__decision_record},
                {"observation.json", &pons__observation_record},
                {"task.json", &pons__task_record}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[512];
        const char *name;
        json_t *unused;
        snprintf(path, sizeof path, "%s/schemas/%s", PONS_SOURCE_DIR, rows[i].file);
        pons_autovalue schema = json_load_file(path, 0, NULL);
        assert_true(json_object_size(pons_get(schema, "properties")) > 0);
        json_object_foreach((json_t *)pons_get(schema, "properties"), name, unused) {
            if (!member_of(rows[i].table, name)) {
                fail_msg("%s has %s, and the table has not", rows[i].file, name);
            }
        }
    }
    // Of a skill it is the other way round: the brain reads a part of what is published.
    pons_autovalue skill = json_load_file(PONS_SOURCE_DIR "/schemas/skill.json", 0, NULL);
    for (size_t i = 0; i < pons__registered_record.n; i++) {
        const char *name = pons__registered_record.fields[i].name;
        if (!pons_get(pons_get(skill, "properties"), name)) {
            fail_msg("the brain reads %s of a skill, and skill.json has not", name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(an_earlier_task_is_understood),
        cmocka_unit_test(what_is_of_another_kind_has_its_preset),
        cmocka_unit_test(what_is_lacking_is_not_what_is_empty),
        cmocka_unit_test(a_cut_text_ends_with_a_whole_character),
        cmocka_unit_test(what_is_in_no_row_cannot_happen),
        cmocka_unit_test(the_document_has_the_tables),
        cmocka_unit_test(the_tables_have_what_the_schemas_publish),
    };
    pons_value_init();
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
