// test_config.c - graph_config.yaml: the seed's defaults, what is merged onto them, and every kind
// of fault refused with its place.
#include "agent_bench.h"

#include <stdio.h>
#include <string.h>

static void the_defaults_are_the_seeds(void **state)
{
    (void)state;
    pons_agent_config *c = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_agent_config_load(NULL, &c, &err), PONS_OK);
    const pons_value *g = pons_get(pons_agent_config_value(c), "graph");
    const pons_value *nodes = pons_get(g, "nodes");
    assert_int_equal(pons_get_int(pons_get(nodes, "agent"), "max_iterations", 0), 50);
    assert_string_equal(
        json_string_value(json_array_get(pons_get(pons_get(nodes, "agent"), "tools"), 0)), "all");
    assert_true(pons_get_bool(pons_get(nodes, "planner"), "enabled", false));
    assert_false(pons_get_bool(pons_get(nodes, "approval"), "enabled", true));
    const pons_value *executor = pons_get(nodes, "executor");
    assert_int_equal(pons_get_int(executor, "max_iterations", 0), 30);
    assert_int_equal(pons_get_int(executor, "max_steps", 0), 8);
    assert_string_equal(json_string_value(json_array_get(pons_get(executor, "tools"), 0)), "core");
    assert_string_equal(json_string_value(json_array_get(pons_get(executor, "tools"), 1)), "mcp");
    assert_int_equal(json_array_size(pons_get(executor, "tools")), 2);
    assert_true(pons_get_bool(pons_get(nodes, "replanner"), "enabled", false));
    assert_true(pons_get_bool(pons_get(nodes, "replanner"), "skip_on_success", false));
    assert_true(pons_get_bool(pons_get(nodes, "summarizer"), "enabled", false));
    assert_int_equal(pons_get_int(pons_get(g, "settings"), "recursion_limit", 0), 100);
    pons_agent_config_destroy(c);
}

static void what_is_written_is_merged(void **state)
{
    (void)state;
    static const char text[] = "graph:\n  nodes:\n    executor:\n      max_steps: 3\n"
                               "    approval: {enabled: true}\n    agent:\n";
    pons_agent_config *c = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_agent_config_parse(text, strlen(text), "t", &c, &err), PONS_OK);
    const pons_value *nodes = pons_get(pons_get(pons_agent_config_value(c), "graph"), "nodes");
    assert_int_equal(pons_get_int(pons_get(nodes, "executor"), "max_steps", 0), 3);
    assert_int_equal(pons_get_int(pons_get(nodes, "executor"), "max_iterations", 0), 30);
    assert_true(pons_get_bool(pons_get(nodes, "approval"), "enabled", false));
    assert_int_equal(pons_get_int(pons_get(nodes, "agent"), "max_iterations", 0), 50);
    pons_agent_config_destroy(c);
}

static void the_shipped_file_is_good(void **state)
{
    (void)state;
    pons_agent_config *c = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (pons_agent_config_load(PONS_SOURCE_DIR "/config/graph_config.yaml", &c, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    pons_agent_config_destroy(c);
}

// Whether "graph: {a: {b: VALUE}}" is read, for the pointer /graph/a/b.
static bool takes(const char *pointer, double value)
{
    char text[512];
    int n = 0, depth = 0;
    for (const char *p = pointer; *p; depth++) {
        const size_t name = strcspn(p + 1, "/");
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.*s: ", depth ? "{" : "", (int)name,
                      p + 1);
        p += 1 + name;
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "%.17g", value);
    for (; depth > 1; depth--) {
        n += snprintf(text + n, sizeof text - (size_t)n, "}");
    }
    pons_agent_config *c = NULL;
    pons_error err = PONS_ERROR_INIT;
    const bool taken = pons_agent_config_parse(text, (size_t)n, "t", &c, &err) >= 0;
    pons_agent_config_destroy(c);
    return taken;
}

// Each number of the published schema has the range that is read; each default is what stands without it.
static size_t keys_hold(const pons_value *schema, const char *pointer, const pons_value *defaults)
{
    size_t seen = 0;
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)pons_get(schema, "properties"), name, member) {
        char at[256];
        snprintf(at, sizeof at, "%s/%s", pointer, name);
        const pons_value *low = pons_get(member, "minimum"), *high = pons_get(member, "maximum"),
                         *initial = pons_get(member, "default"), *is = pons_get(defaults, name);
        const bool number = json_is_number(initial);
        seen += keys_hold(member, at, is);
        if (initial && (number ? json_number_value(initial) != json_number_value(is)
                               : !json_equal(initial, is))) {
            fail_msg("%s: another default", at);
        }
        if (low && high) {
            const double a = json_number_value(low), b = json_number_value(high);
            if (!takes(at, a) || !takes(at, b) || takes(at, a - 1) || takes(at, b + 1)) {
                fail_msg("%s: another range", at);
            }
            seen++;
        }
    }
    return seen;
}

static void the_published_schema_says_what_is_read(void **state)
{
    (void)state;
    pons_autovalue schema = json_load_file(PONS_SOURCE_DIR "/schemas/graph-config.json", 0, NULL);
    pons_agent_config *c = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_non_null(schema);
    assert_int_equal(pons_agent_config_load(NULL, &c, &err), PONS_OK);
    assert_in_range(keys_hold(schema, "", pons_agent_config_value(c)), 15, 40);
    pons_agent_config_destroy(c);
}

static void faults_name_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message, *at;
    } rows[] = {
        {"graph:\n  nodes:\n    agnt: {}\n", "graph.nodes.agnt: unknown key", "f.yaml:3:11"},
        {"graph:\n  nodes:\n    agent:\n      max_iteration: 5\n",
         "graph.nodes.agent.max_iteration: unknown key", "f.yaml:4:22"},
        {"graph:\n  nodes:\n    executor: {enabled: false}\n",
         "graph.nodes.executor.enabled: unknown key", "f.yaml:3:25"},
        {"grph: {}\n", "grph: unknown key", "f.yaml:1:7"},
        {"graph:\n  settings:\n    recursion_limit: many\n", "expected an integer", "f.yaml:3:22"},
        {"graph:\n  settings:\n    recursion_limit: 0\n", "expected an integer, 1 to 1000000",
         "f.yaml:3:22"},
        {"graph:\n  nodes:\n    planner: {enabled: 1}\n", "expected true or false", "f.yaml:3:24"},
        {"graph:\n  nodes:\n    planner: yes\n", "graph.nodes.planner: expected a mapping",
         "f.yaml:3:14"},
        {"graph:\n  nodes:\n    agent: {tools: all}\n", "expected a list", "f.yaml:3:20"},
        {"graph:\n  nodes:\n    agent: {tools: [all, 3]}\n",
         "graph.nodes.agent.tools.1: expected a name", "f.yaml:3:26"},
        {"graph:\n  tools: {risk: {look: deadly}}\n", "expected safe, warn, dangerous or blocked",
         "f.yaml:2:24"},
        {"graph:\n  prices: {m: {prompt: 1}}\n", "expected {prompt, completion}", "f.yaml:2:15"},
        {"[1, 2]\n", "expected a mapping", "f.yaml:1:1"},
        {"graph:\n  nodes: {agent: [}\n", "", "f.yaml:2:"},
        {"graph: {}\ngraph: {}\n", "", "f.yaml:2:1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_agent_config *c = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc =
            pons_agent_config_parse(rows[i].text, strlen(rows[i].text), "f.yaml", &c, &err);
        if (rc != PONS_EINVAL || !strstr(err.message, rows[i].message) ||
            strncmp(err.source, rows[i].at, strlen(rows[i].at)) != 0) {
            fail_msg("row %zu: %d %s [%s]", i, rc, err.message, err.source);
        }
    }
}

// What needs the tools and the middlewares to be known is found out when an agent is opened.
static void faults_that_need_the_tools(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message, *at;
    } rows[] = {
        {"graph:\n  nodes:\n    agent: {tools: [look, lok]}\n", "no tool and no category named lok",
         "f.yaml:3:27"},
        {"graph:\n  nodes:\n    executor: {tools: [cor]}\n", "named cor", "f.yaml:3:24"},
        {"graph:\n  middleware: [debug, tming]\n", "no middleware tming", "f.yaml:2:23"},
        {"graph:\n  middleware: [{rate_limit: {per_hour: 3}}]\n", "unknown option per_hour",
         "f.yaml:2:16"},
        {"graph:\n  middleware: [rate_limit]\n", "per_minute: expected", "f.yaml:2:16"},
        {"graph:\n  middleware: [{redact: {patterns: ['(']}}]\n", "no regular expression",
         "f.yaml:2:16"},
    };
    bench b = {0};
    bench_open(&b, "", "- content: hi");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_agent_config *c = NULL;
        pons_agent *a = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(
            pons_agent_config_parse(rows[i].text, strlen(rows[i].text), "f.yaml", &c, &err),
            PONS_OK);
        const pons_agent_options opts = {.store = b.memory,
                                         .thread = "other",
                                         .clock = b.clock,
                                         .config = c,
                                         .tools = &b.tools,
                                         .n_tools = 1};
        const int rc = pons_agent_open(&opts, &a, &err);
        if (rc >= 0 || !strstr(err.message, rows[i].message) ||
            strcmp(err.source, rows[i].at) != 0) {
            fail_msg("row %zu: %d %s [%s]", i, rc, err.message, err.source);
        }
        pons_agent_config_destroy(c);
    }
    bench_close(&b);
}

static void specs_choose_tools(void **state)
{
    (void)state;
    static const struct {
        const char *specs;
        size_t offered; // to the agent, plan_create included
    } rows[] = {
        {"[all]", 12}, {"[core]", 10}, {"[mcp]", 2}, {"[robot]", 2}, {"[look, server.far]", 3},
        {"[]", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char yaml[128], when[96];
        bench b = {0};
        snprintf(yaml, sizeof yaml, "graph: {nodes: {agent: {tools: %s}}}", rows[i].specs);
        // The script's reply fits only when the n-th tool is there and no further one is.
        snprintf(when, sizeof when, "- {when: {tools.%zu.name: null}, content: right}",
                 rows[i].offered);
        bench_open(&b, yaml, when);
        bench_say(&b, "go");
        if (strcmp(bench_last_message(&b, "assistant"), "right") != 0) {
            fail_msg("row %zu", i);
        }
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_the_seeds),
        cmocka_unit_test(what_is_written_is_merged),
        cmocka_unit_test(the_shipped_file_is_good),
        cmocka_unit_test(the_published_schema_says_what_is_read),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(faults_that_need_the_tools),
        cmocka_unit_test(specs_choose_tools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
