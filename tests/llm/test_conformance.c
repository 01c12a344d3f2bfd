// test_conformance.c - the providers held against the one suite: script, recorder, replay and the
// client of OpenAI's API, each by itself or behind a factory's handle.
#include "llm/conformance.h"
#include "llm/fake_server.h"
#include "llm/llm_fixture.h"
#include "pons/llm.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRIPT                                                                                     \
    "\"replies\":[{\"when\":{\"messages.0.content\":\"slow\"},\"delay_ms\":600000,"                \
    "\"content\":\"never\",\"repeat\":true},{\"content\":\"a b\",\"repeat\":true}]"
#define GOOD                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"              \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":"           \
    "\"stop\"}]}\n\ndata: [DONE]\n\n"

static void of_a_factory(const char *config)
{
    const pons_clock clock = pons_clock_real();
    pons_llm_factory *f = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_llm llm = {0};
    pons_autovalue v = fixture_json(config);
    assert_int_equal(pons_llm_factory_create(&clock, &f, &err), PONS_OK);
    if (pons_llm_factory_open(f, v, &llm, &err) != PONS_OK) {
        fixture_fail(&err, config);
    }
    llm_conformance(llm);
    assert_int_equal(pons_llm_factory_clients(f), 0);
    pons_llm_factory_destroy(f);
}

static void a_script(void **state)
{
    (void)state;
    const pons_clock clock = pons_clock_real();
    pons_error err = PONS_ERROR_INIT;
    pons_llm llm = {.ops = &pons_llm_script};
    pons_autovalue config = fixture_json("{" SCRIPT "}");
    assert_int_equal(llm.ops->open(config, &clock, &llm.self, &err), PONS_OK);
    llm_conformance(llm);
}

static void a_factorys_handle(void **state)
{
    (void)state;
    of_a_factory("{" SCRIPT "}");
}

static void a_recorder_and_its_replay(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-llm-XXXXXX", path[64], config[1024];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/talk.jsonl", dir);
    snprintf(config, sizeof config, "{" SCRIPT ",\"record\":\"%s\"}", path);
    of_a_factory(config);
    snprintf(config, sizeof config,
             "{\"provider\":\"replay\",\"compare\":\"order\",\"path\":\"%s\"}", path);
    of_a_factory(config);
    unlink(path);
    rmdir(dir);
}

static void the_client_of_openais_api(void **state)
{
    (void)state;
    const fake_step steps[] = {{.bytes = GOOD}, {.bytes = GOOD}, {.bytes = GOOD},
                               {.bytes = GOOD}, {.bytes = GOOD}, {.hold = true}};
    fake_server *server = fake_server_start(steps, sizeof steps / sizeof steps[0]);
    char config[128];
    snprintf(config, sizeof config, "{\"url\":\"http://127.0.0.1:%d/v1\",\"model\":\"m\"}",
             fake_server_port(server));
    of_a_factory(config);
    fake_server_stop(server);
}

int main(void)
{
    pons_value_init();
    setenv("PONS_MODULE_PATH", PONS_BINARY_DIR "/lib/pons", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script),
        cmocka_unit_test(a_factorys_handle),
        cmocka_unit_test(a_recorder_and_its_replay),
        cmocka_unit_test(the_client_of_openais_api),
    };
    return cmocka_run_group_tests_name("llm/conformance", tests, NULL, NULL);
}
