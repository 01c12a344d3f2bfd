// test_report.c - the table of what the body says (src/link/link_report.c), walked, its groups too: each
// field of each report missing, null, of each other kind; what is read is what was written; a report
// of an older body is heard as far as it goes; and docs/reference/link-messages.md shows the table as it is.
#include "documented.h"
#include "pons/link_report.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_value *full_fields(const pons_field *fields, size_t n);

// A good value of a field.
static pons_value *good_value(const pons_field *f)
{
    switch (f->kind) {
    case PONS_FIELD_STRING:
        return json_string("text");
    case PONS_FIELD_WORD:
        return json_string(f->choices[1]);
    case PONS_FIELD_INTEGER:
        return json_integer(7);
    case PONS_FIELD_NUMBER:
        return json_real(1.5);
    case PONS_FIELD_BOOLEAN:
        return json_true();
    case PONS_FIELD_OBJECT:
    case PONS_FIELD_GROUP:
        return full_fields(f->fields, f->n_fields);
    case PONS_FIELD_LIST: {
        pons_value *list = json_array();
        json_array_append_new(list, full_fields(f->fields, f->n_fields));
        return list;
    }
    }
    return NULL;
}

static pons_value *full_fields(const pons_field *fields, size_t n)
{
    pons_value *json = json_object();
    for (size_t i = 0; i < n; i++) {
        pons_autovalue v = good_value(&fields[i]);
        if (*fields[i].name) {
            json_object_set(json, fields[i].name, v);
        } else {
            json_object_update(json, v);
        }
    }
    return json;
}

static pons_value *full(pons_report_type type)
{
    size_t n = 0;
    const pons_field *fields = pons_report_fields(type, &n);
    pons_value *json = full_fields(fields, n);
    json_object_set_new(json, "type", json_string(pons_report_word(type)));
    return json;
}

// bad: the field that is at fault, with its groups ("stop.latched"), or NULL.
static void assert_read(const pons_value *json, const char *bad)
{
    pons_report r;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_report_decode(json, &r, &err);
    if (bad) {
        assert_int_equal(rc, PONS_EPROTOCOL);
        if (strncmp(r.fault.text, bad, strlen(bad)) != 0 || r.fault.text[strlen(bad)] != ' ') {
            fail_msg("%s is at fault, but it says: %s", bad, r.fault.text);
        }
        assert_non_null(strstr(err.message, r.fault.text));
    } else {
        assert_string_equal(r.fault.text, "");
        assert_int_equal(rc, PONS_OK);
    }
    pons_report_clear(&r);
}

// Calls fn with each field of each report, those of groups too: in is the object that it lies in.
typedef void visit(pons_value *json, pons_value *in, const pons_field *f, const char *name);
static int walk_fields(visit *fn, pons_report_type type, const pons_field *fields, size_t n,
                       const char *group)
{
    int seen = 0;
    for (size_t i = 0; i < n; i++) {
        const pons_field *f = &fields[i];
        char name[80];
        snprintf(name, sizeof name, "%s%s%s", group, *group ? "." : "", f->name);
        if (*f->name) {
            pons_autovalue json = full(type);
            fn(json, *group ? json_object_get(json, group) : json, f, name);
            seen++;
        }
        if (f->kind == PONS_FIELD_GROUP) {
            seen += walk_fields(fn, type, f->fields, f->n_fields, f->name);
        }
    }
    return seen;
}

static void walk(visit *fn)
{
    int seen = 0;
    for (int t = PONS_REPORT_NONE + 1; t < PONS_REPORT_TYPES; t++) {
        size_t n = 0;
        const pons_field *fields = pons_report_fields((pons_report_type)t, &n);
        seen += walk_fields(fn, (pons_report_type)t, fields, n, "");
    }
    assert_true(seen > 100);
}

static void leave_out(pons_value *json, pons_value *in, const pons_field *f, const char *name)
{
    const char *bad = f->use == PONS_FIELD_REQUIRED ? name : NULL;
    json_object_del(in, f->name);
    assert_read(json, bad);
    json_object_set_new(in, f->name, json_null());
    assert_read(json, bad);
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
    case PONS_FIELD_WORD:
        return false; // none of the values below is one
    case PONS_FIELD_INTEGER:
        return json_is_integer(v) || (json_is_real(v) && json_real_value(v) == 2.0);
    case PONS_FIELD_NUMBER:
        return json_is_number(v);
    case PONS_FIELD_BOOLEAN:
        return json_is_boolean(v);
    case PONS_FIELD_OBJECT:
        return json_is_object(v);
    case PONS_FIELD_LIST:
        return json_is_array(v);
    case PONS_FIELD_GROUP:
        return false; // an empty object may lack what is required
    }
    return false;
}

static void give_each_kind(pons_value *json, pons_value *in, const pons_field *f, const char *name)
{
    pons_autovalue kinds =
        json_pack("[s, i, f, f, b, b, {}, [], [s]]", "text", 3, 2.0, 2.5, 1, 0, "a");
    size_t i;
    json_t *v;
    json_array_foreach(kinds, i, v) {
        if (f->kind == PONS_FIELD_GROUP && json_is_object(v)) {
            continue;
        }
        json_object_set(in, f->name, v);
        assert_read(json, fits(f->kind, v) ? NULL : name);
    }
}

static void a_field_of_another_kind_is_named(void **state)
{
    (void)state;
    walk(give_each_kind);
}

static void what_is_written_is_what_was_read(void **state)
{
    (void)state;
    for (int t = PONS_REPORT_NONE + 1; t < PONS_REPORT_TYPES; t++) {
        pons_autovalue json = full((pons_report_type)t);
        pons_report r;
        assert_int_equal(pons_report_decode(json, &r, NULL), PONS_OK);
        assert_int_equal(r.type, t);
        pons_autovalue again = pons_report_encode(&r);
        assert_true(json_equal(json, again));
        pons_report_clear(&r);
    }
}

static char *line_of(const pons_report *r)
{
    pons_autovalue json = pons_report_encode(r);
    char *text = NULL;
    assert_true(pons_value_line(json, &text) > 0);
    return text;
}

static void what_is_not_known_is_null(void **state)
{
    (void)state;
    pons_report r = {.type = PONS_REPORT_STATUS, .as.status = {.goal_id = "g", .boot_id = "b"}};
    char *text = line_of(&r);
    assert_string_equal(text,
                        "{\"type\":\"status\",\"goal_id\":\"g\",\"known\":false,\"state\":null,"
                        "\"skill\":null,\"boot_id\":\"b\",\"same_boot\":false,\"started\":false,"
                        "\"error_code\":0,\"error_msg\":\"\",\"metrics\":{}}");
    free(text);
    r = (pons_report){.type = PONS_REPORT_TELEMETRY,
                      .as.telemetry = {.nearest_m = NAN, .scan_age_ms = -1}};
    pons_autovalue reported = pons_report_encode(&r);
    assert_true(json_is_null(pons_get(reported, "nearest_m")));
    assert_true(json_is_null(pons_get(reported, "scan_age_ms")));
    assert_true(json_is_null(pons_get(reported, "goal")));
    assert_int_equal(json_array_size(pons_get(reported, "obstacles")), 0);
    pons_report again;
    assert_int_equal(pons_report_decode(reported, &again, NULL), PONS_OK);
    assert_true(isnan(again.as.telemetry.nearest_m));
    assert_int_equal(again.as.telemetry.scan_age_ms, -1);
    assert_false(again.as.telemetry.goal.active);
    assert_string_equal(again.as.telemetry.goal.goal_id, "");
    pons_report_clear(&again);
}

// A navigation tells more, by Nav2's names; its numbers are null while it has no path.
static void only_a_navigation_has_its_names(void **state)
{
    (void)state;
    pons_report r = {.type = PONS_REPORT_FEEDBACK, .as.feedback = {.goal_id = "g"}};
    pons_autovalue plain = pons_report_encode(&r);
    assert_null(json_object_get(plain, "navigation_time"));
    r.as.feedback.navigates = true;
    r.as.feedback.distance_remaining = NAN;
    r.as.feedback.number_of_poses_remaining = -1;
    pons_autovalue more = pons_report_encode(&r);
    assert_non_null(json_object_get(more, "navigation_time"));
    assert_true(json_is_null(json_object_get(more, "distance_remaining")));
    assert_null(json_object_get(more, "number_of_poses_remaining"));
    pons_report again;
    assert_int_equal(pons_report_decode(more, &again, NULL), PONS_OK);
    assert_true(again.as.feedback.navigates);
    assert_int_equal(again.as.feedback.number_of_poses_remaining, -1);
    pons_report_clear(&again);
}

static void bytes_that_are_no_text_are_shown_as_such(void **state)
{
    (void)state;
    char *text = line_of(
        &(pons_report){.type = PONS_REPORT_UNSAVED, .as.unsaved = {.message = "a \xff disk"}});
    assert_string_equal(text, "{\"type\":\"unsaved\",\"message\":\"a ? disk\"}");
    free(text);
}

static void an_older_body_is_heard_as_far_as_it_goes(void **state)
{
    (void)state;
    pons_autovalue json = json_pack("{s:s, s:i, s:{s:b}, s:s}", "type", "telemetry", "robot_ms", 5,
                                    "stop", "latched", 1, "of_tomorrow", "x");
    pons_report r;
    assert_int_equal(pons_report_decode(json, &r, NULL), PONS_OK);
    assert_true(r.as.telemetry.stop.latched);
    assert_string_equal(r.as.telemetry.stop.reason, "");
    assert_string_equal(r.as.telemetry.battery_state, "unknown");
    assert_true(isnan(r.as.telemetry.pose.x));
    pons_report_clear(&r);
}

static void a_faulty_report_keeps_its_good_fields(void **state)
{
    (void)state;
    pons_autovalue json = full(PONS_REPORT_RESULT);
    json_object_set_new(json, "status", json_string("danced"));
    pons_report r;
    assert_int_equal(pons_report_decode(json, &r, NULL), PONS_EPROTOCOL);
    assert_string_equal(r.fault.text, "status cannot be danced");
    assert_string_equal(pons_report_goal_id(&r), "text");
    assert_int_equal(r.as.result.status, PONS_GOAL_NONE);
    pons_report kept = pons_report_share(&r);
    pons_report_clear(&r);
    assert_string_equal(kept.as.result.skill, "text");
    pons_report_clear(&kept);
    pons_report_clear(NULL);
}

static void an_unknown_type_is_no_report(void **state)
{
    (void)state;
    static const char *const words[] = {"dance", "", "Result", "goal", "heartbeat"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        pons_report r;
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue json = json_pack("{s:s}", "type", words[i]);
        assert_int_equal(pons_report_decode(json, &r, &err), PONS_ENOTFOUND);
        assert_int_equal(r.type, PONS_REPORT_NONE);
        assert_string_equal(pons_report_goal_id(&r), "");
    }
    assert_null(pons_report_word(PONS_REPORT_NONE));
    assert_null(pons_report_word(PONS_REPORT_TYPES));
}

static void the_items_of_lists_are_read_by_tables_too(void **state)
{
    (void)state;
    const pons_report_change change = {
        .node = 3, .path = "a > b", .from = "IDLE", .to = "RUNNING", .robot_ms = 7};
    pons_autovalue json = pons_report_change_value(&change);
    pons_report_change again;
    pons_report_change_read(json, &again);
    assert_int_equal(again.node, 3);
    assert_string_equal(again.to, "RUNNING");
    pons_report_node node;
    pons_report_node_read(json, &node); // whatever is there
    assert_string_equal(node.path, "a > b");
    assert_string_equal(node.state, "");
    pons_report_obstacle o;
    pons_report_obstacle_read(NULL, &o);
    assert_true(isnan(o.r));
}

static void the_documentation_shows_the_table(void **state)
{
    (void)state;
    pons_autobuf table = PONS_BUF_INIT;
    assert_int_equal(pons_report_describe(&table), PONS_OK);
    assert_int_equal(pons_buf_byte(&table, 0), PONS_OK);
    documented_rows(table.data);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_required_field_that_is_missing_is_named),
        cmocka_unit_test(a_field_of_another_kind_is_named),
        cmocka_unit_test(what_is_written_is_what_was_read),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(only_a_navigation_has_its_names),
        cmocka_unit_test(bytes_that_are_no_text_are_shown_as_such),
        cmocka_unit_test(an_older_body_is_heard_as_far_as_it_goes),
        cmocka_unit_test(a_faulty_report_keeps_its_good_fields),
        cmocka_unit_test(an_unknown_type_is_no_report),
        cmocka_unit_test(the_items_of_lists_are_read_by_tables_too),
        cmocka_unit_test(the_documentation_shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
