// test_policy_servers.c - `pons watchdog policy` with servers that are written from their public protocols
// (policy_server.py): what the robot sees arrives as the server knows it, and its numbers come back in our units; each way
// to misbehave is one line; what the configuration lacks is one line before anything is sent.
#include "cli_bench.h"
#include "pons/buf.h"
#include "pons/picture.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SERVER PONS_SOURCE_DIR "/tests/cli/policy_server.py"
#define OPENVLA                                                                                    \
    "\"type\":\"http\",\"protocol\":\"openvla\",\"unnorm_key\":\"bridge_orig\","                   \
    "\"inputs\":{\"image\":\"images.front\",\"instruction\":\"instruction\"},"                     \
    "\"delta\":{\"frame\":\"base\",\"position\":\"cm\",\"rotation\":\"rad\"},"                     \
    "\"gripper\":{\"open\":1,\"closed\":0,\"width_m\":0.08}"

#define OPENPI                                                                                     \
    "\"type\":\"http\",\"protocol\":\"openpi\",\"token_env\":\"PONS_TEST_TOKEN\","                 \
    "\"inputs\":{\"observation/image\":\"images.front\",\"observation/state\":"                    \
    "\"joints_gripper\",\"prompt\":\"instruction\"},"                                              \
    "\"gripper\":{\"open\":0,\"closed\":1,\"width_m\":0.08}"

static int serve(bench *b, proc *server, const char *protocol, const char *mode)
{
    char words[256];
    snprintf(words, sizeof words, SERVER " %s %s", protocol, mode);
    bench_start_program(b, server, "/usr/bin/python3", words);
    return (int)pons_get_int(bench_await(server, "listening", NULL, NULL), "port", 0);
}

static void end(proc *server)
{
    bench_signal(server, SIGKILL);
    bench_finish(server);
    bench_free(server);
}

// A question as the runtime asks it: a red picture of 40 × 20, an arm with two joints, the gripper half open.
static char *question(const char *control_mode)
{
    uint8_t rgb[40 * 20 * 3];
    for (size_t i = 0; i < sizeof rgb; i++) {
        rgb[i] = i % 3 == 0 ? 200 : 40;
    }
    const pons_picture_raw p = {.width = 40, .height = 20, .rgb = rgb};
    void *jpeg = NULL;
    size_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf data = PONS_BUF_INIT;
    char *text = NULL, *line = NULL;
    assert_int_equal(pons_picture_jpeg(&p, 0, &jpeg, &n, &err), PONS_OK);
    assert_int_equal(pons_buf_base64(&data, jpeg, n), PONS_OK);
    free(jpeg);
    pons_autovalue v =
        json_pack("{ss si ss s{s{s{ss ss}} s[f,f,f,f,f,f,f,f,f,f] ss}}", "session_id", "s1", "step",
                  0, "instruction", "put it away", "observation", "images", "front", "encoding",
                  "jpeg", "data", data.data, "state", 0.0, 0.0, 0.0, 0.0, 0.0, 90.0, 1.0, 0.25,
                  -0.5, 0.04, "control_mode", control_mode);
    assert_true(pons_value_line(v, &text) > 0);
    assert_true(asprintf(&line, "%s\n", text) > 0);
    free(text);
    return line;
}

// What is said to one question; the caller's.
static pons_value *ask(bench *b, const char *client, const char *control_mode)
{
    proc p = {0};
    char *words = NULL, *line = question(control_mode);
    assert_true(asprintf(&words, "watchdog policy '%s'", client) > 0);
    bench_start(b, &p, line, words);
    bench_must_exit(&p, 0);
    assert_int_equal(json_array_size(p.events), 1);
    pons_value *v = pons_value_ref(json_array_get(p.events, 0));
    bench_free(&p);
    free(words);
    free(line);
    return v;
}

static double at(const pons_value *answer, size_t row, size_t column)
{
    return json_number_value(
        json_array_get(json_array_get(pons_get(answer, "actions"), row), column));
}

static void expect_near(double is, double wanted)
{
    if (!(fabs(is - wanted) < 2e-4)) {
        fail_msg("%g, not %g", is, wanted);
    }
}

// Each mode of a server gives an error of that code that has these words, and one line of it.
typedef struct fault {
    const char *mode, *code, *says;
} fault;

static void expect_faults(const char *protocol, const char *scheme, const char *more,
                          const char *control_mode, const fault *faults, size_t n)
{
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < n; i++) {
        proc server = {0};
        char *client = NULL;
        const int port = serve(&b, &server, protocol, faults[i].mode);
        assert_true(asprintf(&client, "{%s,\"endpoint\":\"%s:%d/%s\"}", more, scheme, port,
                             strcmp(protocol, "openvla") == 0 ? "act" : "") > 0);
        pons_autovalue v = ask(&b, client, control_mode);
        const pons_value *error = pons_get(v, "error");
        const char *says = pons_get_str(error, "message", "");
        if (strcmp(pons_get_str(error, "code", ""), faults[i].code) != 0 ||
            !strstr(says, faults[i].says) || strchr(says, '\n')) {
            fail_msg("%s: %s '%s', not %s '%s'", faults[i].mode, pons_get_str(error, "code", "-"),
                     says, faults[i].code, faults[i].says);
        }
        free(client);
        end(&server);
    }
    bench_close(&b);
}

static void openvla_is_asked(void **state)
{
    (void)state;
    static const char *const modes[] = {"good", "list"};
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < 2; i++) {
        proc server = {0};
        char client[1024];
        snprintf(client, sizeof client, "{%s,\"endpoint\":\"http://127.0.0.1:%d/act\"}", OPENVLA,
                 serve(&b, &server, "openvla", modes[i]));
        pons_autovalue v = ask(&b, client, "tool_delta");
        assert_int_equal(json_array_size(pons_get(v, "actions")), i + 1);
        assert_string_equal(pons_get_str(v, "frame", ""), "base");
        expect_near(at(v, i, 0), 0.02 * 0.01);  // red, in cm
        expect_near(at(v, i, 1), 0.004 * 0.01); // 40 pixels wide
        expect_near(at(v, i, 2), 0.001 * 0.01); // unnorm_key
        expect_near(at(v, i, 5), 0.011);        // letters
        expect_near(at(v, i, 6), 0.08);         // open
        end(&server);
    }
    bench_close(&b);
}

static void openvla_misbehaves(void **state)
{
    (void)state;
    static const fault faults[] = {
        {"error", "POLICY_ERROR", "500"},
        {"nan", "POLICY_BAD_ANSWER", "no JSON"},
        {"numpy_nan", "POLICY_BAD_ANSWER", "action 0 has nan"},
        {"width", "POLICY_BAD_ANSWER", "an action has 6 numbers"},
        {"shape", "POLICY_BAD_ANSWER", "shape"},
        {"negative", "POLICY_BAD_ANSWER", "shape"},
        {"dtype", "POLICY_BAD_ANSWER", "dtype"},
        {"bytes", "POLICY_BAD_ANSWER", "bytes"},
        {"words", "POLICY_BAD_ANSWER", "numbers"},
        {"ragged", "POLICY_BAD_ANSWER", "lengths"},
        {"text", "POLICY_BAD_ANSWER", "no JSON"},
        {"midway", "POLICY_UNREACHABLE", "127.0.0.1"},
        {"huge", "POLICY_BAD_ANSWER", "too long"},
    };
    expect_faults("openvla", "http://127.0.0.1", OPENVLA, "tool_delta", faults,
                  sizeof faults / sizeof *faults);
}

static void openpi_is_asked(void **state)
{
    (void)state;
    static const char *const modes[] = {"good", "wide"};
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < 2; i++) {
        proc server = {0};
        char client[1024];
        const int port = serve(&b, &server, "openpi", modes[i]);
        snprintf(client, sizeof client, "{%s,\"endpoint\":\"ws://127.0.0.1:%d\"%s}", OPENPI, port,
                 i ? ",\"chunk\":1,\"scale\":0.5" : "");
        pons_autovalue v = ask(&b, client, "joint_velocity");
        assert_int_equal(json_array_size(pons_get(v, "actions")), i ? 1 : 2);
        assert_null(pons_get(v, "frame"));
        expect_near(at(v, 0, 0), i ? 0.01 : 0.02);    // red
        expect_near(at(v, 0, 1), i ? 0.002 : 0.004);  // 40 pixels wide
        expect_near(at(v, 0, 2), i ? 0.0025 : 0.005); // the gripper, half closed
        expect_near(at(v, 0, 5), i ? 0.0055 : 0.011); // letters
        expect_near(at(v, 0, 6), 0.0);                // closed
        end(&server);
    }
    bench_close(&b);
}

static void openpi_misbehaves(void **state)
{
    (void)state;
    static const fault faults[] = {
        {"no_upgrade", "POLICY_UNREACHABLE", "it speaks no WebSocket: HTTP/1.1 404"},
        {"accept", "POLICY_UNREACHABLE", "it speaks no WebSocket"},
        {"no_metadata", "POLICY_UNREACHABLE", "it has closed the connection"},
        {"text_metadata", "POLICY_BAD_ANSWER", "begin with its metadata"},
        {"bad_metadata", "POLICY_BAD_ANSWER", "begin with its metadata"},
        {"error", "POLICY_ERROR", "RuntimeError: out of memory"},
        {"nan", "POLICY_BAD_ANSWER", "action 0 has"},
        {"shape", "POLICY_BAD_ANSWER", "bytes"},
        {"dims", "POLICY_BAD_ANSWER", "shape"},
        {"long", "POLICY_BAD_ANSWER", "shape"},
        {"negative", "POLICY_BAD_ANSWER", "shape"},
        {"dtype", "POLICY_BAD_ANSWER", "dtype"},
        {"no_array", "POLICY_BAD_ANSWER", "numpy"},
        {"no_actions", "POLICY_BAD_ANSWER", "actions"},
        {"frame", "POLICY_BAD_ANSWER", "a message has over 4194304 bytes"},
        {"length", "POLICY_BAD_ANSWER", "a frame is none of WebSocket's"},
        {"map", "POLICY_BAD_ANSWER", "no MessagePack"},
        {"deep", "POLICY_BAD_ANSWER", "no MessagePack"},
        {"midway", "POLICY_UNREACHABLE", "it has closed the connection"},
        {"closes", "POLICY_UNREACHABLE", "it has closed the connection"},
    };
    expect_faults("openpi", "ws://127.0.0.1", OPENPI, "joint_velocity", faults,
                  sizeof faults / sizeof *faults);
}

static void what_the_configuration_lacks(void **state)
{
    (void)state;
    static const struct {
        const char *client, *mode, *says;
    } rows[] = {
        {"{\"protocol\":\"openvla\"}", "tool_delta", "inputs is missing"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"photo\"}}", "tool_delta",
         "inputs.image is instruction, images.NAME"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"images.front\"}}", "tool_delta",
         "delta is missing"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"images.front\"},\"delta\":{}}",
         "tool_delta", "delta.frame is missing: base or tool"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"images.front\"},\"delta\":{\"frame\":"
         "\"base\",\"rotation\":\"rad\"}}",
         "tool_delta", "delta.position is missing: m, cm or mm"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"images.front\"},\"delta\":{\"frame\":"
         "\"tool\",\"position\":\"m\",\"rotation\":\"turns\"}}",
         "tool_delta", "delta.rotation is turns: rad or deg"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"images.front\"},\"delta\":{\"frame\":"
         "\"tool\",\"position\":\"m\",\"rotation\":\"deg\"}}",
         "tool_delta", "gripper is missing"},
        {"{" OPENVLA "}", "joint_velocity", "config.control_mode has to be tool_delta"},
        {"{" OPENVLA ",\"endpoint\":\"ws://127.0.0.1:9/act\"}", "tool_delta", "endpoint"},
        {"{\"protocol\":\"openvla\",\"inputs\":{\"image\":\"images.left\"},\"delta\":{\"frame\":"
         "\"tool\",\"position\":\"m\",\"rotation\":\"deg\"},\"gripper\":{\"open\":1,\"closed\":0,"
         "\"width_m\":0.1},\"endpoint\":\"http://127.0.0.1:9/act\"}",
         "tool_delta", "needs a picture of the camera left"},
    };
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_autovalue v = ask(&b, rows[i].client, rows[i].mode);
        const pons_value *error = pons_get(v, "error");
        assert_string_equal(pons_get_str(error, "code", ""), "POLICY_NOT_AVAILABLE");
        if (!strstr(pons_get_str(error, "message", ""), rows[i].says)) {
            fail_msg("%s: '%s'", rows[i].says, pons_get_str(error, "message", ""));
        }
    }
    bench_close(&b);
}

int main(void)
{
    const char *asan = getenv("ASAN_OPTIONS");
    char options[512]; // a map of two billion pairs is refused as malloc refuses it
    snprintf(options, sizeof options, "%s:allocator_may_return_null=1", asan ? asan : "");
    setenv("ASAN_OPTIONS", options, 1);
    setenv("PONS_TEST_TOKEN", "secret", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(openvla_is_asked, bench_teardown),
        cmocka_unit_test_teardown(openvla_misbehaves, bench_teardown),
        cmocka_unit_test_teardown(openpi_is_asked, bench_teardown),
        cmocka_unit_test_teardown(openpi_misbehaves, bench_teardown),
        cmocka_unit_test_teardown(what_the_configuration_lacks, bench_teardown),
    };
    return bench_together("policy_servers", tests, sizeof tests / sizeof *tests);
}
