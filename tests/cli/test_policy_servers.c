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
#include <unistd.h>

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

#define LEROBOT                                                                                    \
    "\"type\":\"http\",\"protocol\":\"lerobot\",\"python\":\"/usr/bin/python3\","                  \
    "\"policy_type\":\"act\",\"checkpoint\":\"me/mine\",\"inputs\":{\"front\":\"images.front\","   \
    "\"state\":\"joints_gripper\",\"task\":\"instruction\"},"                                      \
    "\"gripper\":{\"open\":100,\"closed\":0,\"width_m\":0.08},\"scale\":1"

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
static char *question(const char *control_mode, const char *words)
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
                  0, "instruction", words, "observation", "images", "front", "encoding", "jpeg",
                  "data", data.data, "state", 0.0, 0.0, 0.0, 0.0, 0.0, 90.0, 1.0, 0.25, -0.5, 0.04,
                  "control_mode", control_mode);
    assert_true(pons_value_line(v, &text) > 0);
    assert_true(asprintf(&line, "%s\n", text) > 0);
    free(text);
    return line;
}

// What is said to these questions, by one process; the caller's.
static pons_value *ask_all(bench *b, const char *client, const char *questions)
{
    proc p = {0};
    char *words = NULL;
    assert_true(asprintf(&words, "watchdog policy '%s'", client) > 0);
    bench_start(b, &p, questions, words);
    bench_must_exit(&p, 0);
    pons_value *v = pons_value_ref(p.events);
    bench_free(&p);
    free(words);
    return v;
}

static pons_value *ask(bench *b, const char *client, const char *control_mode)
{
    char *line = question(control_mode, "put it away");
    pons_autovalue all = ask_all(b, client, line);
    free(line);
    assert_int_equal(json_array_size(all), 1);
    return pons_value_ref(json_array_get(all, 0));
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

// A way to misbehave is an error of that code that has these words, and one line of it.
typedef struct fault {
    const char *mode, *code, *says;
} fault;

static void expect_fault(const fault *f, const pons_value *answer)
{
    const pons_value *error = pons_get(answer, "error");
    const char *says = pons_get_str(error, "message", "");
    if (strcmp(pons_get_str(error, "code", ""), f->code) != 0 || !strstr(says, f->says) ||
        strchr(says, '\n')) {
        fail_msg("%s: %s '%s', not %s '%s'", f->mode, pons_get_str(error, "code", "-"), says,
                 f->code, f->says);
    }
}

typedef struct protocol {
    const char *name, *scheme, *path, *more, *control_mode;
} protocol;
static const protocol openvla = {"openvla", "http://", "/act", OPENVLA, "tool_delta"},
                      openpi = {"openpi", "ws://", "", OPENPI ",\"scale\":1", "joint_velocity"},
                      lerobot = {"lerobot", "", "", LEROBOT, "joint_position"};

static void make_client(const protocol *of, int port, char ret[1024])
{
    snprintf(ret, 1024, "{%s,\"endpoint\":\"%s127.0.0.1:%d%s\"}", of->more, of->scheme, port,
             of->path);
}

// One server, which is told how to misbehave by the instruction, one question after the other.
static void expect_faults(const protocol *of, const fault *faults, size_t n)
{
    bench b;
    proc server = {0};
    pons_autobuf questions = PONS_BUF_INIT;
    char client[1024], words[64];
    bench_open(&b);
    make_client(of, serve(&b, &server, of->name, "good"), client);
    for (size_t i = 0; i < n; i++) {
        snprintf(words, sizeof words, "mode %s", faults[i].mode);
        char *line = question(of->control_mode, words);
        pons_buf_str(&questions, line);
        free(line);
    }
    pons_autovalue all = ask_all(&b, client, questions.data);
    assert_int_equal(json_array_size(all), n);
    for (size_t i = 0; i < n; i++) {
        expect_fault(&faults[i], json_array_get(all, i));
    }
    end(&server);
    bench_close(&b);
}

// Those of a server that misbehaves before it is asked.
static void expect_no_server(const protocol *of, const fault *faults, size_t n)
{
    bench b;
    bench_open(&b);
    for (size_t i = 0; i < n; i++) {
        proc server = {0};
        char client[1024];
        make_client(of, serve(&b, &server, of->name, faults[i].mode), client);
        pons_autovalue v = ask(&b, client, of->control_mode);
        expect_fault(&faults[i], v);
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
    expect_faults(&openvla, faults, sizeof faults / sizeof *faults);
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
        snprintf(client, sizeof client, "{%s,\"endpoint\":\"ws://127.0.0.1:%d%s}", OPENPI, port,
                 i ? "/?arm=left\",\"chunk\":1,\"scale\":0.5" : "\",\"scale\":1");
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

// After its first answer the connection is gone, as after a pause in which nobody answered the server's pings.
static void openpi_is_asked_again_over_a_new_connection(void **state)
{
    (void)state;
    bench b;
    proc server = {0};
    char client[1024], *line = question("joint_velocity", "put it away"), *both = NULL;
    bench_open(&b);
    make_client(&openpi, serve(&b, &server, "openpi", "once"), client);
    assert_true(asprintf(&both, "%s%s", line, line) > 0);
    pons_autovalue all = ask_all(&b, client, both);
    assert_int_equal(json_array_size(all), 2);
    assert_true(json_equal(json_array_get(all, 0), json_array_get(all, 1)));
    assert_int_equal(json_array_size(pons_get(json_array_get(all, 1), "actions")), 2);
    free(both);
    free(line);
    end(&server);
    bench_close(&b);
}

static void openpi_misbehaves(void **state)
{
    (void)state;
    static const fault early[] = {
        {"no_upgrade", "POLICY_UNREACHABLE", "it speaks no WebSocket: HTTP/1.1 404"},
        {"accept", "POLICY_UNREACHABLE", "it speaks no WebSocket"},
        {"no_metadata", "POLICY_UNREACHABLE", "it has closed the connection"},
        {"text_metadata", "POLICY_BAD_ANSWER", "begin with its metadata"},
        {"bad_metadata", "POLICY_BAD_ANSWER", "begin with its metadata"},
    };
    static const fault faults[] = {
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
        {"pings", "POLICY_BAD_ANSWER", "a message has over 10000 frames"},
        {"map", "POLICY_BAD_ANSWER", "no MessagePack"},
        {"deep", "POLICY_BAD_ANSWER", "no MessagePack"},
        {"midway", "POLICY_UNREACHABLE", "it has closed the connection"},
        {"closes", "POLICY_UNREACHABLE", "it has closed the connection"},
    };
    expect_no_server(&openpi, early, sizeof early / sizeof *early);
    expect_faults(&openpi, faults, sizeof faults / sizeof *faults);
}

static void a_protocol_that_nobody_speaks(void **state)
{
    (void)state;
    static const fault none = {"", "POLICY_NOT_AVAILABLE", "no policy 'gopher'"};
    bench b;
    bench_open(&b);
    pons_autovalue v = ask(&b,
                           "{\"type\":\"http\",\"protocol\":\"gopher\","
                           "\"endpoint\":\"http://127.0.0.1:1/\"}",
                           "joint_velocity");
    expect_fault(&none, v);
    bench_close(&b);
}

static void hostile_pickles(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"good", "[[0.0199"},
                                          {"system", "it names posix.system"},
                                          {"eval", "it names builtins.eval"},
                                          {"getattr", "it names builtins.getattr"},
                                          {"words", "no list of 1 to 256 TimedAction"},
                                          {"map", "no list of 1 to 256 TimedAction"},
                                          {"shape", "one dimension"},
                                          {"beyond", "beyond its storage"},
                                          {"numbers", "the numbers that it says"},
                                          {"dtype", "it names torch.HalfStorages"}};
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start_program(&b, &p, "/usr/bin/python3",
                        SERVER " pickles good,system,eval,getattr,words,map,shape,beyond,numbers,"
                               "dtype");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *says = pons_get_str(bench_await(&p, "pickle", "mode", rows[i][0]), "says", "");
        if (!strstr(says, rows[i][1])) {
            fail_msg("%s: '%s', not '%s'", rows[i][0], says, rows[i][1]);
        }
    }
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// Without grpcio for the system's Python there is nothing to ask with.
static bool no_grpc(void)
{
    const bool none = system("/usr/bin/python3 -c 'import grpc, google.protobuf' 2>/dev/null") != 0;
    if (none) {
        print_message("skipped: python3 has no grpcio\n");
    }
    return none;
}

static void lerobot_is_asked(void **state)
{
    (void)state;
    bench b;
    proc server = {0};
    char client[1024];
    if (no_grpc()) {
        skip();
    }
    bench_open(&b);
    const int port = serve(&b, &server, "lerobot", "good");
    snprintf(client, sizeof client, "{%s,\"endpoint\":\"127.0.0.1:%d\"}", LEROBOT, port);
    pons_autovalue v = ask(&b, client, "joint_position");
    assert_int_equal(json_array_size(pons_get(v, "actions")), 2);
    expect_near(at(v, 0, 0), 0.02);        // red
    expect_near(at(v, 1, 1), 0.008);       // twice 40 pixels wide
    expect_near(at(v, 0, 2), 0.5);         // the gripper, half open
    expect_near(at(v, 0, 5), 0.011);       // letters
    expect_near(at(v, 0, 6), 0.01 * 0.08); // 1 of 100
    end(&server);
    bench_close(&b);
}

static void lerobot_misbehaves(void **state)
{
    (void)state;
    static const fault faults[] = {
        {"system", "POLICY_BAD_ANSWER", "it names posix.system"},
        {"map", "POLICY_BAD_ANSWER", "no list of 1 to 256 TimedAction"},
        {"nan", "POLICY_BAD_ANSWER", "action 0 has nan"},
        {"error", "POLICY_ERROR", "no such policy"},
        {"empty", "POLICY_ERROR", "gives no actions"},
        {"huge", "POLICY_BAD_ANSWER", "RESOURCE_EXHAUSTED"},
        {"dies", "POLICY_UNREACHABLE", "UNAVAILABLE"},
    };
    if (no_grpc()) {
        skip();
    }
    unlink("/tmp/pons-pickle-was-here");
    expect_faults(&lerobot, faults, sizeof faults / sizeof *faults);
    assert_int_not_equal(access("/tmp/pons-pickle-was-here", F_OK), 0);
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
        {"{" OPENPI "}", "joint_velocity", "scale is missing: 1 when the server has rad"},
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
        cmocka_unit_test_teardown(openpi_is_asked_again_over_a_new_connection, bench_teardown),
        cmocka_unit_test_teardown(openpi_misbehaves, bench_teardown),
        cmocka_unit_test_teardown(a_protocol_that_nobody_speaks, bench_teardown),
        cmocka_unit_test_teardown(hostile_pickles, bench_teardown),
        cmocka_unit_test_teardown(lerobot_is_asked, bench_teardown),
        cmocka_unit_test_teardown(lerobot_misbehaves, bench_teardown),
        cmocka_unit_test_teardown(what_the_configuration_lacks, bench_teardown),
    };
    return bench_together("policy_servers", tests, sizeof tests / sizeof *tests);
}
