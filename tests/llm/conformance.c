// conformance.c - the one suite for model providers; see conformance.h.
#include "llm/conformance.h"

#include "unit.h"

#include <poll.h>
#include <string.h>

#define DEADLINE_ROUNDS 6000 // of LOOK_MS: only a broken provider reaches it
#define LOOK_MS         10
#define QUIET_ROUNDS    20

static void start(pons_llm llm, uint64_t call, const char *words)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue request = json_pack("{s[{ssss}]}", "messages", "role", "user", "content", words);
    if (llm.ops->start(llm.self, call, request, &err) != PONS_OK) {
        fail_msg("call %d: %s", (int)call, err.message);
    }
    assert_int_equal(err.status, PONS_OK); // nothing is said where nothing is wrong
}

static void look(pons_llm llm)
{
    const int fd = llm.ops->event_fd(llm.self);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    poll(&p, fd < 0 ? 0 : 1, LOOK_MS);
}

// The next event that ends a call; false after so many rounds without one.
static bool next_end(pons_llm llm, int rounds, pons_llm_event *ret)
{
    for (int i = 0; i < rounds; i++) {
        pons_llm_event ev = {0};
        while (llm.ops->next(llm.self, &ev)) {
            if (ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR) {
                *ret = ev;
                return true;
            }
            assert_non_null(ev.text);
            assert_null(ev.value);
            pons_llm_event_clear(&ev);
        }
        look(llm);
    }
    return false;
}

static uint64_t must_end(pons_llm llm)
{
    pons_llm_event ev = {0};
    assert_true(next_end(llm, DEADLINE_ROUNDS, &ev));
    if (ev.kind == PONS_LLM_ERROR) {
        fail_msg("call %d: %s", (int)ev.call, ev.error.message);
    }
    const pons_value *content = pons_get(ev.value, "content");
    assert_true(json_is_string(content) || json_is_null(content));
    assert_true(json_is_array(pons_get(ev.value, "tool_calls")));
    assert_true(*pons_get_str(ev.value, "finish_reason", ""));
    const uint64_t call = ev.call;
    pons_llm_event_clear(&ev);
    return call;
}

static void must_be_quiet(pons_llm llm)
{
    for (int i = 0; i < QUIET_ROUNDS; i++) {
        pons_llm_event ev = {0};
        if (llm.ops->next(llm.self, &ev)) {
            fail_msg("an event of call %d that nobody waits for", (int)ev.call);
        }
        look(llm);
    }
}

static void calls_end_once(pons_llm llm)
{
    start(llm, 10, "quick");
    assert_int_equal(must_end(llm), 10);
    llm.ops->cancel(llm.self, 10);  // over already: nothing to stop
    llm.ops->cancel(llm.self, 999); // never was
    must_be_quiet(llm);
    start(llm, 21, "quick");
    start(llm, 20, "quick"); // numbers are the host's choice, in any order
    const uint64_t a = must_end(llm), b = must_end(llm);
    assert_true((a == 20 && b == 21) || (a == 21 && b == 20));
    must_be_quiet(llm);
}

static void a_cancelled_call_is_silent(pons_llm llm)
{
    start(llm, 30, "quick");
    for (int i = 0; i < QUIET_ROUNDS; i++) {
        look(llm);
    }
    llm.ops->cancel(llm.self, 30); // its end may be there, and nobody has taken it
    must_be_quiet(llm);
    start(llm, 31, "quick");
    assert_int_equal(must_end(llm), 31);
    start(llm, 32, "slow");
    look(llm);
    llm.ops->cancel(llm.self, 32);
    must_be_quiet(llm);
}

void llm_conformance(pons_llm llm)
{
    assert_int_equal(llm.ops->abi, PONS_LLM_ABI);
    assert_true(llm.ops->name && *llm.ops->name);
    calls_end_once(llm);
    a_cancelled_call_is_silent(llm);
    start(llm, 40, "slow");
    llm.ops->close(NULL);
    llm.ops->close(llm.self); // with a call under way: nothing may leak or linger
}
