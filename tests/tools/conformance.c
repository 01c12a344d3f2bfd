// conformance.c - the one suite for providers of tools; see conformance.h.
#include "tools/conformance.h"

#include "pons/schema.h"
#include "unit.h"

#include <poll.h>
#include <string.h>

#define DEADLINE_ROUNDS 6000 // of LOOK_MS: only a broken provider reaches it
#define LOOK_MS         10
#define QUIET_ROUNDS    20
#define NAME_LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static int start(const tools_subject *s, uint64_t call, const char *tool, const char *args,
                 pons_error *err)
{
    char key[32];
    pons_autovalue v = NULL;
    snprintf(key, sizeof key, "conformance-%d", (int)call);
    assert_int_equal(pons_value_parse(args, strlen(args), &v, err), PONS_OK);
    return s->tools.ops->start(s->tools.self, call, tool, v, key, err);
}

static void must_start(const tools_subject *s, uint64_t call, const char *tool, const char *args)
{
    pons_error err = PONS_ERROR_INIT;
    if (start(s, call, tool, args, &err) != PONS_OK) {
        fail_msg("%s: %s", tool, err.message);
    }
    assert_int_equal(err.status, PONS_OK); // nothing is said where nothing is wrong
}

// The next event that ends a call; false after so many rounds without one.
static bool next_end(const tools_subject *s, int rounds, pons_tool_event *ret)
{
    for (int i = 0; i < rounds; i++) {
        pons_tool_event ev = {0};
        while (s->tools.ops->next(s->tools.self, &ev)) {
            if (ev.kind != PONS_TOOL_PROGRESS) {
                *ret = ev;
                return true;
            }
            assert_non_null(ev.text);
            pons_tool_event_clear(&ev);
        }
        if (s->pump) {
            s->pump(s->user);
        }
        const int fd = s->tools.ops->event_fd(s->tools.self);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, fd < 0 ? 0 : 1, s->pump ? 1 : LOOK_MS);
    }
    return false;
}

static void must_end(const tools_subject *s, uint64_t call)
{
    pons_tool_event ev = {0};
    assert_true(next_end(s, DEADLINE_ROUNDS, &ev));
    assert_int_equal(ev.call, call);
    if (ev.kind != PONS_TOOL_DONE) {
        fail_msg("call %d: %s", (int)call, ev.error.message);
    }
    assert_true(json_is_string(pons_get(ev.value, "output")));
    pons_tool_event_clear(&ev);
}

static void must_be_quiet(const tools_subject *s)
{
    pons_tool_event ev = {0};
    if (next_end(s, QUIET_ROUNDS, &ev)) {
        fail_msg("an event of call %d that nobody waits for: %s", (int)ev.call, ev.error.message);
    }
}

// ---- what is checked ----------------------------------------------------------------------------

static void the_tool_is_described(const pons_value *tool)
{
    static const char *const risks[] = {"safe", "warn", "dangerous", "blocked"};
    const char *name = pons_get_str(tool, "name", ""), *risk = pons_get_str(tool, "risk", "");
    const size_t n = strlen(name);
    bool known = false;
    for (size_t i = 0; i < sizeof risks / sizeof risks[0]; i++) {
        known = known || strcmp(risk, risks[i]) == 0;
    }
    if (n == 0 || n > 64 || strspn(name, NAME_LETTERS) != n || !known) {
        fail_msg("tool '%s', risk '%s'", name, risk);
    }
    assert_true(*pons_get_str(tool, "category", ""));
    assert_true(*pons_get_str(tool, "description", ""));
    assert_true(json_is_boolean(pons_get(tool, "read_only")));
    pons_schema *schema = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_schema_compile(pons_get(tool, "parameters"), &schema, &err) != PONS_OK) {
        fail_msg("%s: %s", name, err.message);
    }
    pons_schema_destroy(schema);
}

static void the_list_is_sound(const tools_subject *s)
{
    pons_autovalue list = NULL;
    pons_autovalue again = NULL;
    pons_autovalue names = json_object();
    pons_error err = PONS_ERROR_INIT;
    const uint64_t generation = s->tools.ops->generation(s->tools.self);
    assert_int_equal(s->tools.ops->list(s->tools.self, &list, &err), PONS_OK);
    assert_int_equal(s->tools.ops->list(s->tools.self, &again, &err), PONS_OK);
    assert_true(json_is_array(list) && json_array_size(list) > 0);
    if (s->tools.ops->generation(s->tools.self) == generation) {
        assert_true(json_equal(list, again)); // another list has another number
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *tool = json_array_get(list, i);
        the_tool_is_described(tool);
        assert_null(pons_get(names, pons_get_str(tool, "name", "")));
        json_object_set_new(names, pons_get_str(tool, "name", ""), json_true());
    }
    assert_non_null(pons_get(names, s->tool));
    assert_non_null(pons_get(names, s->slow_tool));
}

static void an_unknown_tool_is_an_error_and_no_event(const tools_subject *s)
{
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(start(s, 100, "conformance.no_such_tool", "{}", &err), PONS_ENOTFOUND);
    assert_int_equal(err.status, PONS_ENOTFOUND);
    assert_true(err.message[0]);
    must_be_quiet(s);
}

static void a_call_ends_once(const tools_subject *s)
{
    must_start(s, 200, s->tool, s->args);
    must_end(s, 200);
    s->tools.ops->cancel(s->tools.self, 200); // over already: nothing to stop
    s->tools.ops->cancel(s->tools.self, 999); // never was
    must_be_quiet(s);
}

static void a_cancelled_call_is_silent(const tools_subject *s)
{
    must_start(s, 300, s->slow_tool, s->slow_args);
    if (s->pump) {
        s->pump(s->user);
    }
    s->tools.ops->cancel(s->tools.self, 300);
    must_be_quiet(s);
    // Also when its end was there already and nobody had taken it.
    must_start(s, 301, s->tool, s->args);
    for (int i = 0; i < QUIET_ROUNDS; i++) {
        struct pollfd p = {.fd = s->tools.ops->event_fd(s->tools.self), .events = POLLIN};
        poll(&p, p.fd < 0 ? 0 : 1, LOOK_MS);
    }
    s->tools.ops->cancel(s->tools.self, 301);
    must_be_quiet(s);
    must_start(s, 302, s->tool, s->args); // and others are served
    must_end(s, 302);
}

// A key that nobody has started: known as such, or the answer is an event, never both.
static void a_key_of_nobody_is_not_done(const tools_subject *s)
{
    if (!s->tools.ops->adopt) {
        return;
    }
    pons_error err = PONS_ERROR_INIT;
    const int rc =
        s->tools.ops->adopt(s->tools.self, 400, s->slow_tool, "conformance-nobody", &err);
    if (rc != PONS_OK) {
        assert_int_equal(err.status, rc);
        must_be_quiet(s);
        return;
    }
    pons_tool_event ev = {0};
    assert_true(next_end(s, DEADLINE_ROUNDS, &ev));
    assert_int_equal(ev.call, 400);
    assert_int_equal(ev.kind, PONS_TOOL_FAILED); // it has not been done
    assert_true(ev.error.message[0]);
    pons_tool_event_clear(&ev);
    must_be_quiet(s);
}

void tools_conformance(const tools_subject *s)
{
    assert_int_equal(s->tools.ops->abi, PONS_TOOL_ABI);
    assert_true(s->tools.ops->name && *s->tools.ops->name);
    the_list_is_sound(s);
    an_unknown_tool_is_an_error_and_no_event(s);
    a_call_ends_once(s);
    a_cancelled_call_is_silent(s);
    a_key_of_nobody_is_not_done(s);
    must_start(s, 500, s->slow_tool, s->slow_args);
    s->tools.ops->close(s->tools.self); // with a call under way: nothing may leak or linger
    s->tools.ops->close(NULL);
}
