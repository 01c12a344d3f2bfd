// test_message.c - the table of messages to the body (src/link/link_message.c), walked: each field of each
// message missing, null, of each other kind, at and over its limits, among members that the table does
// not have; what is read is what was written; and docs/reference/link-messages.md shows the table as it is.
#include "documented.h"
#include "pons/link_message.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A good value of a field.
static pons_value *good_value(const pons_field *f)
{
    switch (f->kind) {
    case PONS_FIELD_STRING:
        return json_string("word");
    case PONS_FIELD_INTEGER:
        return json_integer(f->min > 7 ? f->min : 7);
    case PONS_FIELD_NUMBER:
        return json_real(1.5);
    case PONS_FIELD_BOOLEAN:
        return json_true();
    case PONS_FIELD_OBJECT:
        return json_pack("{s:s}", "zone", "kitchen");
    case PONS_FIELD_LIST:
        return json_pack("[{s:s}]", "id", "kitchen");
    case PONS_FIELD_WORD:
    case PONS_FIELD_GROUP:
        break; // no message to the body has one
    }
    return NULL;
}

// A message of this type with all its fields.
static pons_value *full(pons_message_type type)
{
    size_t n = 0;
    const pons_field *fields = pons_message_fields(type, &n);
    pons_value *json = json_pack("{s:s}", "type", pons_message_word(type));
    for (size_t i = 0; i < n; i++) {
        json_object_set_new(json, fields[i].name, good_value(&fields[i]));
    }
    return json;
}

// The message is refused, and the reason names the field; or it is taken.
static void assert_read(const pons_value *json, const char *bad_field)
{
    pons_message m;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_message_decode(json, &m, &err);
    if (bad_field) {
        assert_int_equal(rc, PONS_EPROTOCOL);
        assert_int_equal(strncmp(m.fault.text, bad_field, strlen(bad_field)), 0);
        assert_int_equal(m.fault.text[strlen(bad_field)], ' ');
        assert_string_equal(err.message, m.fault.text);
    } else {
        assert_string_equal(m.fault.text, "");
        assert_int_equal(rc, PONS_OK);
    }
    pons_message_clear(&m);
    assert_int_equal(m.type, PONS_MESSAGE_NONE);
}

typedef void visit(pons_message_type type, const pons_field *f);

static void walk(visit *fn)
{
    int seen = 0;
    for (int t = PONS_MESSAGE_NONE + 1; t < PONS_MESSAGE_TYPES; t++) {
        size_t n = 0;
        const pons_field *fields = pons_message_fields((pons_message_type)t, &n);
        for (size_t i = 0; i < n; i++, seen++) {
            fn((pons_message_type)t, &fields[i]);
        }
    }
    assert_true(seen > 30);
}

// ---- each field ---------------------------------------------------------------------------------

static void leave_out(pons_message_type type, const pons_field *f)
{
    const bool required = f->use == PONS_FIELD_REQUIRED;
    pons_autovalue json = full(type);
    json_object_del(json, f->name);
    assert_read(json, required ? f->name : NULL);
    json_object_set_new(json, f->name, json_null());
    assert_read(json, required ? f->name : NULL);
}

static void a_required_field_that_is_missing_is_named(void **state)
{
    (void)state;
    walk(leave_out);
}

static bool fits(pons_field_kind kind, const pons_value *v)
{
    switch (kind) {
    case PONS_FIELD_STRING:
        return json_is_string(v);
    case PONS_FIELD_INTEGER:
        return json_is_integer(v) || (json_is_real(v) && json_real_value(v) == 10.0);
    case PONS_FIELD_NUMBER:
        return json_is_number(v);
    case PONS_FIELD_BOOLEAN:
        return json_is_boolean(v);
    case PONS_FIELD_OBJECT:
        return json_is_object(v);
    case PONS_FIELD_LIST:
        return json_is_array(v);
    case PONS_FIELD_WORD:
    case PONS_FIELD_GROUP:
        break;
    }
    return false;
}

static void give_each_kind(pons_message_type type, const pons_field *f)
{
    pons_autovalue kinds =
        json_pack("[s, i, f, f, f, b, b, {}, [], [s]]", "text", 10, 10.0, 2.5, 1e300, 1, 0, "a");
    size_t i;
    json_t *v;
    json_array_foreach(kinds, i, v) {
        if (json_is_number(v) && f->kind == PONS_FIELD_NUMBER && f->max > 0 &&
            json_number_value(v) > (double)f->max) {
            continue; // out of its limits, which is another test
        }
        pons_autovalue json = full(type);
        json_object_set(json, f->name, v);
        assert_read(json, fits(f->kind, v) ? NULL : f->name);
    }
}

static void a_field_of_another_kind_is_named(void **state)
{
    (void)state;
    walk(give_each_kind);
}

static void set_length(pons_value *json, const char *name, int64_t n)
{
    char *text = malloc((size_t)n + 1);
    assert_non_null(text);
    memset(text, 'x', (size_t)n);
    text[n] = '\0';
    json_object_set_new(json, name, json_string(text));
    free(text);
}

static void reach_limits(pons_message_type type, const pons_field *f)
{
    pons_autovalue json = full(type);
    if (f->max == 0) {
        return;
    }
    for (int64_t over = 0; over <= 1; over++) {
        if (f->kind == PONS_FIELD_STRING) {
            set_length(json, f->name, f->max + over);
            assert_read(json, over ? f->name : NULL);
            set_length(json, f->name, f->min - over);
        } else {
            json_object_set_new(json, f->name, json_integer(f->max + over));
            assert_read(json, over ? f->name : NULL);
            json_object_set_new(json, f->name, json_integer(f->min - over));
        }
        assert_read(json, over ? f->name : NULL);
    }
}

static void a_field_outside_its_limits_is_named(void **state)
{
    (void)state;
    walk(reach_limits);
}

static void add_unknown(pons_message_type type, const pons_field *f)
{
    char name[64];
    snprintf(name, sizeof name, "%s_of_tomorrow", f->name);
    pons_autovalue json = full(type);
    json_object_set_new(json, name, json_pack("[{}]"));
    assert_read(json, NULL);
}

static void unknown_members_are_passed_over(void **state)
{
    (void)state;
    walk(add_unknown);
    pons_autovalue beat = json_pack("{s:s, s:i}", "type", "heartbeat", "n", 3);
    assert_read(beat, NULL);
}

// ---- whole messages -----------------------------------------------------------------------------

static void what_is_written_is_what_was_read(void **state)
{
    (void)state;
    for (int t = PONS_MESSAGE_NONE + 1; t < PONS_MESSAGE_TYPES; t++) {
        pons_autovalue json = full((pons_message_type)t);
        pons_message m;
        assert_int_equal(pons_message_decode(json, &m, NULL), PONS_OK);
        assert_int_equal(m.type, t);
        pons_autovalue again = pons_message_encode(&m);
        assert_true(json_equal(json, again));
        pons_message_clear(&m);
    }
}

static void defaults_stand_in_for_what_is_not_said(void **state)
{
    (void)state;
    pons_message m;
    pons_autovalue hello = json_pack("{s:s}", "type", "hello");
    assert_int_equal(pons_message_decode(hello, &m, NULL), PONS_OK);
    assert_string_equal(m.as.hello.role, "observer");
    assert_string_equal(m.as.hello.name, "");
    pons_message_clear(&m);
    pons_autovalue cancel = json_pack("{s:s, s:s}", "type", "cancel", "goal_id", "g");
    assert_int_equal(pons_message_decode(cancel, &m, NULL), PONS_OK);
    assert_int_equal(m.as.about.epoch, -1); // is never in force
    pons_message_clear(&m);
    pons_autovalue spawn = json_pack("{s:s, s:s}", "type", "world.spawn", "id", "box");
    assert_int_equal(pons_message_decode(spawn, &m, NULL), PONS_OK);
    assert_true(isnan(m.as.spawn.x));
    pons_message_clear(&m);
}

// Who must be answered by its id, or obeyed, is known although another field is wrong.
static void a_faulty_message_keeps_its_good_fields(void **state)
{
    (void)state;
    pons_message m;
    pons_autovalue goal = full(PONS_MESSAGE_GOAL);
    json_object_set_new(goal, "args", json_array());
    json_object_set_new(goal, "attempt", json_string("first"));
    assert_int_equal(pons_message_decode(goal, &m, NULL), PONS_EPROTOCOL);
    assert_string_equal(m.fault.text, "args must be an object, not a list");
    assert_string_equal(m.as.goal.goal_id, "word");
    assert_null(m.as.goal.args);
    assert_int_equal(m.as.goal.attempt, 0);
    pons_message_clear(&m);
    pons_autovalue stop = json_pack("{s:s, s:i}", "type", "stop", "reason", 5);
    assert_int_equal(pons_message_decode(stop, &m, NULL), PONS_EPROTOCOL);
    assert_int_equal(m.type, PONS_MESSAGE_STOP);
    assert_string_equal(m.as.stop.reason, "stop");
    pons_message_clear(&m);
}

static void a_message_outlives_its_json(void **state)
{
    (void)state;
    pons_value *json = full(PONS_MESSAGE_GOAL);
    pons_message m;
    assert_int_equal(pons_message_decode(json, &m, NULL), PONS_OK);
    pons_value_unref(json);
    pons_message kept = pons_message_share(&m);
    pons_message_clear(&m);
    assert_string_equal(kept.as.goal.skill, "word");
    assert_string_equal(pons_get_str(kept.as.goal.args, "zone", ""), "kitchen");
    pons_message_clear(&kept);
    pons_message_clear(NULL);
}

static void an_unknown_type_is_no_message(void **state)
{
    (void)state;
    static const char *const words[] = {"dance", "", "Goal", "goal ", "accepted"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        pons_message m;
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue json = json_pack("{s:s}", "type", words[i]);
        assert_int_equal(pons_message_decode(json, &m, &err), PONS_ENOTFOUND);
        assert_int_equal(m.type, PONS_MESSAGE_NONE);
        assert_non_null(strstr(err.message, words[i]));
    }
    assert_null(pons_message_word(PONS_MESSAGE_NONE));
    assert_null(pons_message_word(PONS_MESSAGE_TYPES));
}

static void a_sent_message_has_what_is_usual(void **state)
{
    (void)state;
    pons_autovalue got = pons_message_encode(&(pons_message){
        .type = PONS_MESSAGE_HELLO, .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "a"}});
    char *text = NULL;
    assert_true(pons_value_line(got, &text) > 0);
    assert_string_equal(text,
                        "{\"type\":\"hello\",\"protocol\":1,\"role\":\"observer\",\"name\":\"a\"}");
    free(text);
}

static void the_documentation_shows_the_table(void **state)
{
    (void)state;
    pons_autobuf table = PONS_BUF_INIT;
    assert_int_equal(pons_message_describe(&table), PONS_OK);
    assert_int_equal(pons_buf_byte(&table, 0), PONS_OK);
    documented_rows(table.data);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_required_field_that_is_missing_is_named),
        cmocka_unit_test(a_field_of_another_kind_is_named),
        cmocka_unit_test(a_field_outside_its_limits_is_named),
        cmocka_unit_test(unknown_members_are_passed_over),
        cmocka_unit_test(what_is_written_is_what_was_read),
        cmocka_unit_test(defaults_stand_in_for_what_is_not_said),
        cmocka_unit_test(a_faulty_message_keeps_its_good_fields),
        cmocka_unit_test(a_message_outlives_its_json),
        cmocka_unit_test(an_unknown_type_is_no_message),
        cmocka_unit_test(a_sent_message_has_what_is_usual),
        cmocka_unit_test(the_documentation_shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
