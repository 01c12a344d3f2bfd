// test_pictures.c - pictures as a person has them: `--picture`, a camera's by the model's wish, what config/vision.yaml
// holds back or blurs, a question before one leaves, and none left when its thread is gone. The server counts what it
// gets.
#include "cli/serve_client.h"
#include "llm/fake_server.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/picture.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CUP PONS_SOURCE_DIR "/fuzz/corpus/camera_picture/rgb.png"
#define REPLY(message)                                                                             \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"               \
    "{\"choices\":[{\"message\":" message ",\"finish_reason\":\"stop\"}]}"
#define HI REPLY("{\"content\":\"I see.\"}")
#define LOOK                                                                                       \
    REPLY("{\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{"  \
          "\"name\":\"take_picture\",\"arguments\":\"{\\\"camera\\\":\\\"front\\\"}\"}}]}")

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAAAbUlEQVR42q3SOQ6AMBAEwTb3YbNI"                 \
    "IP7/VCIQp1nbSJVM0tEYoPtDgQAm3R7KEh1DeYpLqIh2D5VxHkNVhLdQHcoTaoL4Q63eZ0j7bU2o"                 \
    "11CGrJcDqw+5JwM4WMAFhYYzgXmfoSEBgREEpm0KyArXPQq0zSbjdgAAAABJRU5ErkJggg=="
#define URL(text) "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" text "\"}}"
#define ASK(part)                                                                                  \
    "{\"model\":\"agent\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","       \
    "\"text\":\"what is it\"}," part "]}]}"

typedef struct stage {
    bench b;
    fake_server *server;
    char url[64];
    char *says; // what `taken` printed on standard error
} stage;

static void begin(stage *s, const fake_step *steps, size_t n, const char *vision)
{
    char dir[128];
    bench_open(&s->b);
    s->says = NULL;
    s->server = fake_server_start(steps, n);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/v1", fake_server_port(s->server));
    mkdir(s->b.workspace, 0700);
    snprintf(dir, sizeof dir, "%s/config", s->b.workspace);
    mkdir(dir, 0700);
    bench_put(&s->b, "config/vision.yaml", vision);
}

static void end(stage *s)
{
    fake_server_stop(s->server);
    free(s->says);
    bench_close(&s->b);
}

static void run(stage *s, int status, const char *words)
{
    proc p;
    char line[1024];
    snprintf(line, sizeof line, "%s --llm %s", words, s->url);
    bench_start(&s->b, &p, NULL, line);
    bench_must_exit(&p, status);
    bench_free(&p);
}

static int images(stage *s)
{
    int n = 0;
    for (size_t i = 0; i < fake_server_requests(s->server); i++) {
        for (const char *at = fake_server_body(s->server, i); (at = strstr(at, "image_url\":{"));
             at++) {
            n++;
        }
    }
    return n;
}

static size_t kept(const stage *s)
{
    char folder[160];
    size_t n = 0;
    uint64_t bytes = 0;
    snprintf(folder, sizeof folder, "%s/run/pictures", s->b.workspace);
    pons_picture_usage(folder, &n, &bytes);
    return n;
}

static void a_persons_picture_is_sent_counted_and_gone_with_its_thread(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    stage s;
    if (bench_no_model_module()) {
        skip();
    }
    begin(&s, steps, 1, "{}");
    run(&s, 0, "agent --session a --picture " CUP " what is it");
    run(&s, 0, "agent --session b --picture " CUP " and here");
    assert_int_equal(images(&s), 2);
    assert_int_equal(kept(&s), 1); // the same picture, once
    proc p;
    bench_start(&s.b, &p, NULL, "doctor");
    bench_finish(&p);
    assert_non_null(strstr(p.text, "1 in run/pictures, 0.0 MB"));
    bench_free(&p);
    assert_int_equal(bench_run(&s.b, "threads rm a"), 0);
    assert_int_equal(kept(&s), 1); // b names it
    assert_int_equal(bench_run(&s.b, "threads rm b"), 0);
    assert_int_equal(kept(&s), 0);
    end(&s);
}

static void nothing_leaves_that_may_not(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    stage s;
    if (bench_no_model_module()) {
        skip();
    }
    begin(&s, steps, 1, "send: never\n");
    run(&s, 0, "agent --session n --picture " CUP " what is it");
    assert_int_equal(fake_server_requests(s.server), 1);
    assert_int_equal(images(&s), 0);
    end(&s);

    begin(&s, steps, 1, "send: ask\n");
    run(&s, 4, "agent --session q --picture " CUP " what is it");
    assert_int_equal(fake_server_requests(s.server), 0); // not before a person has said yes
    assert_int_equal(bench_run(&s.b, "approve q approve"), 0);
    run(&s, 0, "resume q");
    assert_int_equal(images(&s), 1);
    run(&s, 0, "agent --session q --picture " CUP " and now"); // the same thread: not asked again
    assert_int_equal(images(&s), 1 + 2);
    run(&s, 4, "agent --session r --picture " CUP " what is it"); // another one is
    assert_int_equal(bench_run(&s.b, "approve r reject"), 0);
    run(&s, 0, "resume r");
    assert_int_equal(images(&s), 3);
    end(&s);
}

static void bad_input_is_one_line(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    stage s;
    char line[512];
    if (bench_no_model_module()) {
        skip();
    }
    begin(&s, steps, 1, "{}");
    snprintf(line, sizeof line, "agent --llm %s --picture %s hi", s.url,
             bench_file(&s.b, "text.png", "no picture"));
    bench_must_fail(&s.b, line, 2, "neither a JPEG nor a PNG");
    snprintf(line, sizeof line, "agent --llm %s --picture %s/none.png hi", s.url, s.b.dir);
    bench_must_fail(&s.b, line, 2, "cannot read");
    bench_put(&s.b, "config/vision.yaml", "blur:\n  - {camera: front, rect: [0, 0, 2, 1]}\n");
    snprintf(line, sizeof line, "agent --llm %s hi", s.url);
    bench_must_fail(&s.b, line, 2, "vision.yaml:2:");
    assert_int_equal(fake_server_requests(s.server), 0);
    end(&s);
}

// The picture that the newest request has.
static pons_picture_raw received(stage *s)
{
    static const char head[] = "data:image/jpeg;base64,";
    const char *body = fake_server_body(s->server, fake_server_requests(s->server) - 1);
    const char *from = strstr(body, head);
    pons_autobuf jpeg = PONS_BUF_INIT;
    pons_picture_raw p = {0};
    pons_error err = PONS_ERROR_INIT;
    assert_non_null(from);
    from += strlen(head);
    assert_int_equal(pons_buf_unbase64(&jpeg, from, strcspn(from, "\"")), PONS_OK);
    assert_int_equal(pons_picture_decode(jpeg.data, jpeg.len, 0, &p, &err), PONS_OK);
    return p;
}

// How many rows of cells of the left half's middle column differ from the one above: of 480 blurred ones few.
static int changes(const pons_picture_raw *p, int x)
{
    int n = 0;
    for (int y = 1; y < p->height; y++) {
        const uint8_t *at = p->rgb + 3 * (y * p->width + x);
        n += abs(at[0] - at[-3 * p->width]) > 8;
    }
    return n;
}

// Of all columns the most.
static int most_changes(pons_picture_raw *p)
{
    int most = 0;
    for (int x = 20; x < p->width; x += 40) {
        const int n = changes(p, x);
        most = n > most ? n : most;
    }
    free(p->rgb);
    return most;
}

// What `pons body camera` writes; false: no pictures are drawn here.
static bool taken(stage *s, pons_picture_raw *ret)
{
    char line[512], path[256];
    size_t n = 0;
    pons_error err = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/front.jpg", s->b.dir);
    snprintf(line, sizeof line, "body camera front --driver mujoco --world tabletop --out %s",
             path);
    proc p = {0};
    bench_start(&s->b, &p, NULL, line);
    const int status = bench_finish(&p);
    free(s->says);
    s->says = bench_stderr(&p);
    bench_free(&p);
    if (status != 0) {
        return false;
    }
    char *bytes = pons_file_text(path, PONS_PICTURE_BYTES_MAX, &n);
    assert_non_null(bytes);
    assert_int_equal(pons_picture_decode(bytes, n, 0, ret, &err), PONS_OK);
    free(bytes);
    return true;
}

// In the file, and at the model; without `blur` it is clear.
static void a_cameras_picture_is_blurred(void **state)
{
    static const fake_step steps[] = {{.bytes = LOOK}, {.bytes = HI}};
    stage s;
    if (bench_no_model_module()) {
        skip();
    }
    enum { BORDERS = 12 }; // 3 borders of 4 cells
    pons_picture_raw p = {0};
    begin(&s, steps, 2, "{}");
    if (!taken(&s, &p)) {
        end(&s);
        skip();
    }
    assert_true(most_changes(&p) > BORDERS);
    bench_put(&s.b, "config/vision.yaml",
              "blur:\n  - {camera: front, rect: [0, 0, 1, 1]}\n"
              "  - {camera: frnt, rect: [0, 0, 1, 1]}\n"); // a camera that does not exist is named
    assert_true(taken(&s, &p));
    assert_non_null(strstr(s.says, "blur: the world tabletop has no camera frnt"));
    assert_in_range(most_changes(&p), 0, BORDERS);
    run(&s, 0, "agent --driver mujoco --world tabletop look");
    assert_int_equal(images(&s), 1);
    p = received(&s);
    assert_int_equal(p.width, 640);
    assert_in_range(most_changes(&p), 0, BORDERS);
    end(&s);
}

#define CALL(name, arguments)                                                                      \
    REPLY("{\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{"  \
          "\"name\":\"" name "\",\"arguments\":\"" arguments "\"}}]}")

// How many pictures request i has.
static int images_of(stage *s, size_t i)
{
    int n = 0;
    const char *at = fake_server_body(s->server, i);
    for (; at && (at = strstr(at, "image_url\":{")); at++) {
        n++;
    }
    return n;
}

// A plan is made with a picture of now, and judged after a step with one of then; a person is asked before the first.
static void who_plans_and_who_judges_sees(void **state)
{
    static const fake_step steps[] = {
        {.bytes = HI},
        {.bytes = CALL(
             "plan_create",
             "{\\\"title\\\":\\\"t\\\",\\\"steps\\\":[\\\"one\\\",\\\"two\\\",\\\"three\\\"]}")},
        {.bytes = HI}, // of the first step
        {.bytes = REPLY(
             "{\"content\":\"{\\\"action\\\":\\\"finish\\\",\\\"reason\\\":\\\"I see it\\\"}\"}")},
        {.bytes = HI}};
    static const int each[] = {0, 1, 1, 1,
                               0}; // the last goes on with what was done, not with a person's words
    stage s;
    pons_picture_raw p = {0};
    if (bench_no_model_module()) {
        skip();
    }
    begin(&s, steps, 5, "{send: ask, cameras: [front]}\n");
    if (!taken(&s, &p)) {
        end(&s);
        skip();
    }
    free(p.rgb);
    bench_put(&s.b, "config/graph_config.yaml",
              "graph: {nodes: {replanner: {skip_on_success: false}}}\n");
    run(&s, 4, "agent --session p --driver mujoco --world tabletop tidy the table");
    assert_int_equal(fake_server_requests(s.server), 0);
    assert_int_equal(kept(&s), 0); // not even taken
    assert_int_equal(bench_run(&s.b, "approve p approve"), 0);
    run(&s, 0, "resume p"); // in the usual world, which has no camera
    run(&s, 0, "agent --session p --driver mujoco --world tabletop tidy the table");
    assert_int_equal(fake_server_requests(s.server), 5);
    for (size_t i = 0; i < 5; i++) {
        if (images_of(&s, i) != each[i]) {
            fail_msg("request %zu has %d pictures, not %d", i, images_of(&s, i), each[i]);
        }
    }
    assert_non_null(strstr(fake_server_body(s.server, 3), "camera front at"));
    end(&s);
}

// A picture that no thread names, of last week.
static void leave_orphan(const stage *s, const char *bytes)
{
    char folder[160], name[PONS_PICTURE_NAME], path[256];
    pons_error err = PONS_ERROR_INIT;
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 8L * 24 * 3600},
                                     {.tv_sec = time(NULL) - 8L * 24 * 3600}};
    snprintf(folder, sizeof folder, "%s/run/pictures", s->b.workspace);
    assert_int_equal(pons_picture_put(folder, bytes, strlen(bytes), name, &err), PONS_OK);
    snprintf(path, sizeof path, "%s/%s.jpg", folder, name);
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

// Of a chat program and of the page. What nobody names goes when one is kept, once an hour.
static void a_servers_chats_take_pictures(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    stage s;
    proc p = {0};
    char line[256];
    if (bench_no_model_module()) {
        skip();
    }
    begin(&s, steps, 1, "{}");
    snprintf(line, sizeof line, SERVE FAST " --llm %s", s.url);
    bench_start(&s.b, &p, NULL, line);
    const serve_at a = serve_ready(&s.b, &p);
    static const char *const bad[][2] = {
        {ASK(URL("https://models.example/x.png")), "none is fetched from elsewhere"},
        {ASK(URL("data:image/png;base64,QUJD")), "neither a JPEG nor a PNG"},
        {ASK(URL("data:image/png;base64,QUJ")), "none is fetched from elsewhere"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        serve_must(&a, a.port, "POST", "/v1/chat/completions", bad[i][0], 400, bad[i][1]);
    }
    assert_int_equal(fake_server_requests(s.server), 0);
    leave_orphan(&s, "one");
    serve_must(&a, a.port, "POST", "/v1/chat/completions", ASK(URL("data:image/png;base64," PNG)),
               200, "I see.");
    assert_int_equal(images(&s), 1);
    assert_int_equal(kept(&s), 1);
    leave_orphan(&s, "another");
    serve_must(
        &a, a.port, "POST", "/api/chat",
        "{\"message\":\"and here\",\"stream\":false,\"session_id\":\"s1\",\"pictures\":[\"data:"
        "image/png;base64," PNG "\"]}",
        200, "I see.");
    assert_int_equal(images(&s), 2);
    assert_int_equal(kept(&s), 2); // the hour is not over
    bench_signal(&p, SIGTERM);
    bench_must_exit(&p, 0);
    bench_free(&p);
    end(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_persons_picture_is_sent_counted_and_gone_with_its_thread,
                                  bench_teardown),
        cmocka_unit_test_teardown(nothing_leaves_that_may_not, bench_teardown),
        cmocka_unit_test_teardown(bad_input_is_one_line, bench_teardown),
        cmocka_unit_test_teardown(a_servers_chats_take_pictures, bench_teardown),
        cmocka_unit_test_teardown(a_cameras_picture_is_blurred, bench_teardown),
        cmocka_unit_test_teardown(who_plans_and_who_judges_sees, bench_teardown),
    };
    pons_value_init();
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // OSMesa, which draws, keeps some bytes
    return cmocka_run_group_tests_name("pictures", tests, NULL, NULL);
}
