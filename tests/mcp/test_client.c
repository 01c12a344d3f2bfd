// The client against a server that misbehaves as it is told (fault_server.c; this program serves
// when it is called with "serve MODE"): the list in pages and its changes, results of every kind,
// progress, cancel, time-outs, death and the start after it, garbage and strangers on the wire,
// versions, and that nothing is sent twice.
#include "mcp/fault_server.h"
#include "mcp/mcp_fixture.h"
#include "runner.h"
#include "tools/conformance.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char self[PATH_MAX];
static char config_text[2 * PATH_MAX];

static const char *config(const char *mode, const char *more)
{
    snprintf(config_text, sizeof config_text,
             "{\"servers\":{\"f\":{\"command\":\"%s\",\"args\":[\"mcp/"
             "test_client\",\"serve\",\"%s\"]%s}},"
             "\"timeout_s\":100,\"start_s\":60}",
             self, mode, more);
    return config_text;
}

static size_t length_of(const host *h, const char *file)
{
    char *text = host_read(h, file);
    const size_t n = text ? strlen(text) : 0;
    free(text);
    return n;
}

static void wait_length(const host *h, const char *file, size_t n)
{
    for (int i = 0; i < 60000 && length_of(h, file) < n; i++) {
        const struct timespec nap = {.tv_nsec = 2000000};
        nanosleep(&nap, NULL);
    }
    assert_true(length_of(h, file) >= n);
}

static void risk(const host *h, const char *name, const char *word, bool read_only)
{
    pons_autovalue t = host_tool(h, name);
    assert_non_null(t);
    assert_string_equal(pons_get_str(t, "risk", ""), word);
    assert_int_equal(pons_get_bool(t, "read_only", false), read_only);
    assert_string_equal(pons_get_str(t, "category", ""), "mcp");
    // The argument that is an address, of a tool that may ask the world.
    assert_string_equal(pons_get_str(t, "address", ""), strstr(name, "echo") ? "" : "at");
}

static void test_lists_and_calls(void **state)
{
    host h;
    (void)state;
    setenv("OPENAI_API_KEY", "sk-secret-123", 1);
    host_open(&h, config("good", ",\"env\":{\"MINE\":\"given\"}"));
    pons_autovalue first = host_status(&h, "f"); // never "waiting" before it was tried
    assert_string_not_equal(pons_get_str(first, "state", ""), "waiting");
    host_wait_tool(&h, "f.echo");
    risk(&h, "f.echo", "warn", true); // a hint of a server that nobody has called trusted
    risk(&h, "f.slow", "warn", false);
    risk(&h, "f.crash", "dangerous", false);
    pons_autovalue odd = host_tool(&h, "f.odd_name_");
    assert_non_null(odd);
    // What pons's checker does not know is left out of the schema, and the rest stays.
    const pons_value *parameters = pons_get(odd, "parameters");
    assert_null(pons_get(parameters, "propertyNames"));
    assert_string_equal(pons_get_str(pons_get(pons_get(parameters, "properties"), "n"), "type", ""),
                        "integer");
    char *out = host_output(&h, "f.echo", "{\"n\":5}");
    assert_string_equal(out, "5 key t1/7");
    free(out);
    out = host_output(&h, "f.odd_name_", "{}"); // by the server's own name
    assert_string_equal(out, "odd name!");
    free(out);
    out = host_output(&h, "f.progress", "{}");
    assert_string_equal(out, "done");
    assert_int_equal(host_progress, 3);
    free(out);
    out = host_output(&h, "f.image", "{}");
    assert_string_equal(out, "[image: image/png, 6 bytes]\n[file:///a]\nwords\n[x://y: link]");
    free(out);
    pons_tool_event ev = host_call(&h, "f.data", "{}");
    assert_string_equal(pons_get_str(ev.value, "output", ""), "{\"t\":21.5}");
    assert_true(pons_get_num(pons_get(ev.value, "data"), "t", 0) == 21.5);
    pons_tool_event_clear(&ev);
    host_fails(&h, "f.fail", "{}", PONS_EIO, "it did not work");
    host_fails(&h, "f.error", "{}", PONS_EIO, "n is too large");
    out = host_output(&h, "f.ping", "{}");
    assert_string_equal(out, "pong");
    free(out);
    ev = host_call(&h, "f.big", "{\"n\":1000000}");
    assert_true(pons_get_bool(ev.value, "truncated", false));
    assert_true(strlen(pons_get_str(ev.value, "output", "")) < 70000);
    pons_tool_event_clear(&ev);
    out = host_output(&h, "f.env", "{}");
    assert_null(strstr(out, "sk-secret"));
    assert_non_null(strstr(out, "MINE=given"));
    free(out);
    unsetenv("OPENAI_API_KEY");
    pons_autovalue status = host_status(&h, "f");
    assert_string_equal(pons_get_str(status, "state", ""), "ready");
    assert_string_equal(pons_get_str(status, "protocol", ""), "2025-06-18");
    assert_string_equal(pons_get_str(pons_get(status, "server"), "name", ""), "fault");
    host_close(&h);
}

static void test_change_of_the_list(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("good", ""));
    host_wait_tool(&h, "f.change");
    const uint64_t before = h.tools.ops->generation(h.tools.self);
    free(host_output(&h, "f.change", "{}"));
    host_wait_tool(&h, "f.extra");
    assert_true(h.tools.ops->generation(h.tools.self) != before);
    host_close(&h);
}

static void test_cancel_and_time(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("good", ",\"timeout_s\":100"));
    host_wait_tool(&h, "f.slow");
    const uint64_t call = host_start(&h, "f.slow", "{}");
    wait_length(&h, "slow", 1);
    h.tools.ops->cancel(h.tools.self, call);
    wait_length(&h, "canceled", 1); // the server was told
    char *out = host_output(&h, "f.echo", "{\"n\":1}");
    free(out);
    host_close(&h);

    host_open(&h, config("good", ",\"timeout_s\":0.2"));
    host_wait_tool(&h, "f.slow");
    host_fails(&h, "f.slow", "{}", PONS_ETIMEOUT, "no answer in time");
    wait_length(&h, "canceled", 1);
    host_close(&h);
}

static void test_death(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("good", ""));
    host_wait_tool(&h, "f.crash");
    host_fails(&h, "f.crash", "{}", PONS_ECLOSED, "the server ended with status 7");
    pons_autovalue still = host_tool(&h, "f.echo"); // it will be back
    assert_non_null(still);
    char *out = host_output(&h, "f.echo", "{\"n\":2}"); // waits for the start
    assert_string_equal(out, "2 key t1/7");
    free(out);
    assert_int_equal(length_of(&h, "crashed"), 1); // once
    assert_int_equal(length_of(&h, "started"), 2);
    char *log = host_read(&h, "run/mcp-f.log");
    assert_non_null(strstr(log, "about to crash\n"));
    assert_non_null(strstr(log, "pons: the server ended with status 7\n"));
    free(log);
    host_close(&h);
}

static void test_garbage_and_strangers(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("good", ""));
    host_wait_tool(&h, "f.garbage");
    char *out = host_output(&h, "f.garbage", "{}");
    assert_string_equal(out, "still here");
    free(out);
    out = host_output(&h, "f.half", "{}");
    assert_string_equal(out, "cut \uFFFD");
    free(out);
    out = host_output(&h, "f.strange", "{}");
    assert_string_equal(out, "fine");
    free(out);
    host_fails(&h, "f.data", "{\"n\":1}", PONS_EPROTOCOL, "content is no list");
    char *log = host_read(&h, "run/mcp-f.log");
    assert_non_null(strstr(log, "not a message: npm WARN"));
    assert_non_null(strstr(log, "an answer to no request of ours is ignored"));
    assert_non_null(strstr(log, "warning: \"a word for the log\""));
    free(log);
    assert_int_equal(length_of(&h, "started"), 1);
    // More than a message may have: the server is begun again, and the call is told.
    host_fails(&h, "f.big", "{\"n\":17000000}", PONS_ECLOSED, "more than 16777216 bytes");
    out = host_output(&h, "f.echo", "{\"n\":3}");
    free(out);
    host_close(&h);
}

static void test_versions(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("old", ""));
    host_wait_tool(&h, "f.echo");
    pons_autovalue status = host_status(&h, "f");
    assert_string_equal(pons_get_str(status, "protocol", ""), "2024-11-05");
    host_close(&h);
    static const struct {
        const char *mode, *says;
    } bad[] = {{"future", "speaks version 2099-01-01, pons up to 2025-11-25"},
               {"dies", "the server ended with status 3"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        host_open(&h, config(bad[i].mode, ""));
        wait_length(&h, "started", 2); // it is tried again
        pons_autovalue s = host_status(&h, "f");
        if (!strstr(pons_get_str(s, "error", ""), bad[i].says)) {
            fail_msg("%s: %s", bad[i].mode, pons_get_str(s, "error", ""));
        }
        host_close(&h);
    }
    snprintf(config_text, sizeof config_text,
             "{\"servers\":{\"f\":{\"command\":\"%s\",\"args\":[\"mcp/"
             "test_client\",\"serve\",\"silent\"]},\"off\":{"
             "\"command\":\"x\",\"disabled\":true},\"none\":{\"command\":\"no-such-program\"}},"
             "\"start_s\":0.1}",
             self);
    host_open(&h, config_text);
    wait_length(&h, "started", 2);
    pons_autovalue silent = host_status(&h, "f");
    assert_non_null(strstr(pons_get_str(silent, "error", ""), "initialize: no answer in time"));
    pons_autovalue off = host_status(&h, "off");
    assert_string_equal(pons_get_str(off, "state", ""), "disabled");
    pons_autovalue none = host_status(&h, "none");
    assert_string_equal(pons_get_str(none, "error", ""), "there is no program no-such-program");
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue args = mcp_json("{}");
    assert_int_equal(h.tools.ops->start(h.tools.self, 1, "none.x", args, NULL, &err),
                     PONS_ENOTFOUND);
    host_close(&h);
}

static int load(const char *dir, const char *text, pons_value **ret, pons_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s/mcp.json", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    *err = (pons_error)PONS_ERROR_INIT;
    return pons_mcp_load(path, dir, ret, err);
}

#define A(entry) "{'mcpServers':{'a':" entry "}}"

// One server in the words of whoever wrote the file, and in pons's own.
static void test_forms_of_an_entry(void **state)
{
    static const struct {
        const char *text, *spec;
    } rows[] = {
        {A("{'command':'x','args':['-p',80,true],'env':{'N':1,'B':true,'U':null}}"),
         "{'command':'x','args':['-p','80','true'],'env':{'N':'1','B':'true'}}"},
        {A("{'command':'x','env':[],'cwd':null,'url':''}"), "{'command':'x','env':[]}"},
        {A("{'command':'x','disabled':true,'args':['${PONS_NOT_SET}']}"),
         "{'command':'x','disabled':true,'args':['${PONS_NOT_SET}']}"},
        {A("{'command':'x','colour':1,'inputs':[]}"), "{'command':'x','colour':1,'inputs':[]}"},
        // what texts stand for
        {A("{'command':'${PONS_SET}/"
           "x','args':['${env:PONS_SET}','${env:PONS_NOT:-d}','{env:PONS_SET}',"
           "'$PONS_SET','$PONS_NOT','a $ {b} ${PONS_NOT:-}','${pathSeparator}'],'cwd':"
           "'${workspaceFolder}'}"),
         "{'command':'value/x','args':['value','d','value','value','$PONS_NOT','a $ {b} ','/'],"
         "'cwd':'DIR'}"},
        {A("{'url':'http://${PONS_SET}/','headers':{'A':'Bearer ${PONS_SET}'}}"),
         "{'url':'http://value/','headers':{'A':'Bearer value'}}"},
        // which transport
        {A("{'command':'x','url':'http://u'}"), "{'command':'x'}"},
        {A("{'command':'x','url':'http://u','type':'stdio'}"), "{'command':'x','type':'stdio'}"},
        {A("{'command':'x','url':'http://u','type':'streamable-http'}"),
         "{'url':'http://u','type':'streamable-http'}"},
        {A("{'url':'http://u','type':'sse'}"), "{'url':'http://u','type':'sse'}"},
        // Gemini CLI, Windsurf, opencode, Zed
        {A("{'httpUrl':'http://u'}"), "{'url':'http://u'}"},
        {A("{'serverUrl':'http://u'}"), "{'url':'http://u'}"},
        {"{'mcp':{'a':{'type':'local','command':['npx','-y','x'],'environment':{'K':'v'},'enabled':"
         "true}}}",
         "{'type':'local','command':'npx','args':['-y','x'],'env':{'K':'v'},'enabled':true}"},
        {"{'mcp':{'a':{'type':'remote','url':'http://u','enabled':false}}}",
         "{'type':'remote','url':'http://u','enabled':false,'disabled':true}"},
        {"{'context_servers':{'a':{'command':{'path':'x','args':['y'],'env':{'K':'v'}}}}}",
         "{'command':'x','args':['y'],'env':{'K':'v'}}"},
        // VS Code: its own file, and its settings; a plugin of Claude Code: the map alone
        {"{'inputs':[{'id':'i'}],'servers':{'a':{'type':'stdio','command':'x'}}}",
         "{'type':'stdio','command':'x'}"},
        {"{'mcp':{'inputs':[],'servers':{'a':{'command':'x'}}}}", "{'command':'x'}"},
        {"{'a':{'command':'x'}}", "{'command':'x'}"},
        // a mark, comments, commas
        {"\xEF\xBB\xBF{ // the ' servers\n'mcpServers':{/* {,\n "
         "*/'a':{'command':'x//y',\n'args':['/*',],},},}",
         "{'command':'x//y','args':['/*']}"},
        // the file of the environment; what the entry says goes first
        {A("{'command':'x','env':{'K':'own'},'envFile':'${workspaceFolder}/e'}"),
         "{'command':'x','env':{'K':'own','Q':'a # b','P':'c','E':''},'envFile':'DIR/e'}"},
    };
    char dir[] = "/tmp/pons-mcp-file-XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/e", dir);
    FILE *f = fopen(path, "w");
    fputs("\xEF\xBB\xBF# about\n\nexport K = file\r\nQ=\"a # b\" # c\nP= c # d\nE=\nnothing\n", f);
    fclose(f);
    setenv("PONS_SET", "value", 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        pons_autovalue servers = NULL;
        pons_error err;
        snprintf(text, sizeof text, "%s", rows[i].text);
        for (char *at = text; (at = strchr(at, '\''));) {
            *at = '"';
        }
        if (load(dir, text, &servers, &err) < 0) {
            fail_msg("%s: %s", text, err.message);
        }
        char spec[512];
        snprintf(spec, sizeof spec, "%s", rows[i].spec);
        for (char *at = spec; (at = strchr(at, '\''));) {
            *at = '"';
        }
        pons_autovalue want = mcp_json(spec);
        for (const char *const *key = (const char *const[]){"cwd", "envFile", NULL}; *key; key++) {
            const char *given = pons_get_str(want, *key, NULL);
            if (given && strncmp(given, "DIR", 3) == 0) {
                json_object_set_new(want, *key, json_sprintf("%s%s", dir, given + 3));
            }
        }
        // what is read under another name stays, as any key that is not pons's
        for (const char *const *key =
                 (const char *const[]){"httpUrl", "serverUrl", "environment", "path", NULL};
             *key; key++) {
            json_object_del(json_object_get(servers, "a"), *key);
        }
        if (!json_equal(want, pons_get(servers, "a"))) {
            char *got = NULL;
            pons_value_line(servers, &got);
            fail_msg("%s gave %s", rows[i].text, got);
        }
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/mcp.json", dir);
    unlink(path);
    rmdir(dir);
}

// A fault of an entry is its own: it has a line, the next one is a server. One of the file is an error.
static void test_faults_of_a_file(void **state)
{
    static const struct {
        const char *entry, *says;
    } rows[] = {
        {"{\n \"command\": 5}", "/mcpServers/a: b~1/command: expected"},
        {"{\"command\":\"x\",\"args\":[\"y\",{}]}", "/args/1"},
        {"{\"url\":[\"http://x\"]}", "/url: expected string, found array"},
        {"{}", "a command or a url"},
        {"7", "expected object"},
        {"{\"command\":\"\"}", "/command"},
        {"{\"url\":\"file:///x\"}", "/url: an address begins with http:// or https://"},
        {"{\"type\":\"ws\",\"url\":\"ws://x\"}", "/type: servers over WebSocket"},
        {"{\"command\":\"x\",\"risk\":\"mild\"}", "/risk"},
        {"{\"command\":\"x\",\"env\":{\"K\":\"${PONS_NOT_SET}\"}}",
         "/env/K: the environment has no PONS_NOT_SET"},
        {"{\"command\":\"x\",\"env\":{\"K\":\"${env:PONS_NOT_SET}\"}}", "has no PONS_NOT_SET"},
        {"{\"command\":\"x\",\"env\":{\"K\":\"${input:key}\"}}",
         "${input:key} is asked of a person by editors"},
        {"{\"command\":\"x\",\"envFile\":\"none\"}", "/envFile: cannot read "},
    };
    static const char *const files[][2] = {
        {"{\"mcpServers\":\n", ":2:"},
        {"{}", ":1:"},
        {"[]", ":1:"},
        {"{\"mcpServers\":{\"a\":{\"command\":\"x\" 1}}}", ":1:"}};
    char dir[] = "/tmp/pons-mcp-file-XXXXXX", path[64];
    pons_error err = PONS_ERROR_INIT;
    pons_value *servers = NULL;
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/mcp.json", dir);
    assert_int_equal(pons_mcp_load(path, dir, &servers, &err), PONS_ENOTFOUND);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"mcpServers\":{\"a: b/\xC3\xA4\":%s,\n\"good\":{\"command\":\"x\"}}}",
                 rows[i].entry);
        assert_int_equal(load(dir, text, &servers, &err), PONS_OK);
        const char *fault = pons_get_str(pons_get(servers, "a: b/\xC3\xA4"), "fault", "");
        char says[128];
        snprintf(says, sizeof says, "%s", rows[i].says);
        char *name = strstr(says, "b~1/");
        if (name) { // a name may be anything; as a pointer it has ~1 for /
            snprintf(says, sizeof says, "/mcpServers/a: b~1\xC3\xA4/command: expected");
        }
        if (!strstr(fault, says) || !strstr(fault, "/mcp.json:")) {
            fail_msg("%s: %s", rows[i].entry, fault);
        }
        assert_string_equal(pons_get_str(pons_get(servers, "good"), "command", ""), "x");
        assert_null(pons_get(pons_get(servers, "good"), "fault"));
        pons_value_unref(servers);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const int rc = load(dir, files[i][0], &servers, &err);
        if (rc != PONS_EINVAL || !strstr(err.source, files[i][1])) {
            fail_msg("%s: %d %s [%s]", files[i][0], rc, err.message, err.source);
        }
    }
    unlink(path);
    rmdir(dir);
}

// A server whose entry has a fault is told, and is not started; tools that the file keeps back are blocked.
static void test_an_entry_with_a_fault(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("good", ",\"excludeTools\":[\"echo\"]},\"bad\":{\"fault\":"
                                 "\"mcp: no [mcp.json:1:1]\""));
    host_wait_tool(&h, "f.echo");
    pons_autovalue status = NULL;
    pons_autovalue tools = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_mcp_status(&h.tools, &status, &err), PONS_OK);
    const pons_value *bad = pons_find(status, "name", "bad");
    assert_string_equal(pons_get_str(bad, "state", ""), "refused");
    assert_string_equal(pons_get_str(bad, "error", ""), "mcp: no [mcp.json:1:1]");
    assert_int_equal(h.tools.ops->list(h.tools.self, &tools, &err), PONS_OK);
    assert_string_equal(pons_get_str(pons_find(tools, "name", "f.echo"), "risk", ""), "blocked");
    assert_string_not_equal(pons_get_str(pons_find(tools, "name", "f.slow"), "risk", ""),
                            "blocked");
    host_close(&h);
}

// The suite of every provider of tools (tests/tools/conformance.c); the suite closes it.
static void test_conformance(void **state)
{
    host h;
    (void)state;
    host_open(&h, config("good", ""));
    host_wait_tool(&h, "f.echo");
    tools_conformance(&(tools_subject){.tools = h.tools,
                                       .tool = "f.echo",
                                       .args = "{\"n\":5}",
                                       .slow_tool = "f.slow",
                                       .slow_args = "{}"});
    h.tools.self = NULL;
    host_close(&h);
}

int main(void)
{
    pons_value_init();
    if (runner_words[0]) {
        return fault_server(runner_words[1]);
    }
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_and_calls),       cmocka_unit_test(test_change_of_the_list),
        cmocka_unit_test(test_cancel_and_time),       cmocka_unit_test(test_death),
        cmocka_unit_test(test_garbage_and_strangers), cmocka_unit_test(test_versions),
        cmocka_unit_test(test_forms_of_an_entry),     cmocka_unit_test(test_faults_of_a_file),
        cmocka_unit_test(test_an_entry_with_a_fault), cmocka_unit_test(test_conformance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
