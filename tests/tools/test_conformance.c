// test_conformance.c - the core tools, and the module that is the example of one's own, held against
// the suite of every provider.
#include "pons/module.h"
#include "tools/conformance.h"
#include "tools/tools_fixture.h"
#include "unit.h"

#include <stdlib.h>

static void the_core_tools(void **state)
{
    (void)state;
    bench b;
    bench_open(&b, "{\"tools\":[\"list_dir\",\"terminal\"]}");
    tools_conformance(&(tools_subject){.tools = b.tools,
                                       .tool = "list_dir",
                                       .args = "{\"path\":\".\"}",
                                       .slow_tool = "terminal",
                                       .slow_args = "{\"command\":\"sleep 600\"}"});
    b.tools.self = NULL; // the suite has closed it
    bench_close(&b);
}

static void a_module(void **state)
{
    (void)state;
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/examples/modules", 1);
    if (pons_module_load("tool", "shelf", &ops, &err) != PONS_OK) {
        fail_msg("%s", err.message);
    }
    const pons_tool_module *module = ops;
    const pons_clock clock = pons_clock_real();
    pons_tools tools = {0};
    pons_autovalue empty = json_object();
    assert_int_equal(module->open(empty, &clock, &tools, &err), PONS_EINVAL);
    pons_autovalue config = bench_json("{\"name\":\"shelf\",\"things\":{\"tea\":\"kitchen\"}}");
    assert_int_equal(module->open(config, &clock, &tools, NULL), PONS_OK);
    tools_conformance(&(tools_subject){.tools = tools,
                                       .tool = "shelf.find",
                                       .args = "{\"thing\":\"tea\"}",
                                       .slow_tool = "shelf.find", // it is at once
                                       .slow_args = "{\"thing\":\"tea\"}"});
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_core_tools),
                                       cmocka_unit_test(a_module)};
    return cmocka_run_group_tests_name("tools/conformance", tests, NULL, NULL);
}
