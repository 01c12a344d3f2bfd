// test_detectors.c - the detectors that pons brings, held against the suite of all: tags that are drawn by the library
// itself and seen from many places (the seed is printed), networks of some hundred bytes, services and models of a script.
#include "detectors/conformance.h"
#include "detectors/tiny_network.h"
#include "llm/fake_server.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED 20261129u
#define NONE                                                                                       \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

static pons_picture_raw picture(int width, int height, int r, int g, int b)
{
    pons_picture_raw p = {
        .width = width, .height = height, .rgb = malloc(3 * (size_t)width * (size_t)height)};
    for (int i = 0; i < width * height; i++) {
        p.rgb[3 * i] = (uint8_t)r, p.rgb[3 * i + 1] = (uint8_t)g, p.rgb[3 * i + 2] = (uint8_t)b;
    }
    return p;
}

// ---- tags ---------------------------------------------------------------------------------------

static void tags(void **state)
{
    const pons_detector_ops *ops = detector_ops("apriltag");
    pons_picture_raw tag = {0}, p = picture(320, 240, 255, 255, 255);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(ops->draw("tag36h11:7", &tag, NULL), PONS_OK);
    assert_int_equal(tag.width, 10);
    for (int y = 0; y < 100; y++) { // ten pixels for each of its ten
        for (int x = 0; x < 100; x++) {
            memcpy(p.rgb + 3 * ((70 + y) * 320 + 120 + x), tag.rgb + 3 * (y / 10 * 10 + x / 10), 3);
        }
    }
    free(tag.rgb);
    static const char *const unknown[] = {
        "tag36h11", "tag36h11:", "tag36h11:587", "tag36h11:-1", "tag36h11:7x", "tag99:1", ""};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(ops->draw(unknown[i], &tag, &err), PONS_ENOTFOUND);
    }
    static const struct detector_refusal refused[] = {
        {"{\"family\": \"tag1\"}", "no family"}, {"{\"size_m\": -1}", "size_m"}, NONE};
    pons_autovalue config = json_pack("{s:f, s:{s:s}}", "size_m", 0.16, "labels", "7", "cup");
    const detector_subject s = {.kind = "apriltag",
                                .config = config,
                                .picture = p,
                                .lens = {400, 400, 160, 120, {0}},
                                .label = "cup",
                                .box = {130, 80, 80, 80},
                                .near_px = 1.0,
                                .refused = refused};
    detector_conformance(&s);
    free(p.rgb);
}

typedef struct pose {
    double r[3][3], t[3];
} pose;

// A tag of 0.2 m as a camera has it: each pixel is the mean of nine rays to the tag's plane.
static bool on_tag(const pose *at, const double ray[3], double whole, double ret[2])
{
    double d[3], e[3];
    for (int a = 0; a < 3; a++) { // into the tag's frame
        d[a] = at->r[0][a] * ray[0] + at->r[1][a] * ray[1] + at->r[2][a] * ray[2];
        e[a] = -(at->r[0][a] * at->t[0] + at->r[1][a] * at->t[1] + at->r[2][a] * at->t[2]);
    }
    const double far = -e[2] / d[2];
    ret[0] = (e[0] + far * d[0]) / whole + 0.5, ret[1] = (e[1] + far * d[1]) / whole + 0.5;
    return far > 0;
}

static void render(const pons_picture_raw *tag, const pons_lens *l, const pose *at,
                   pons_picture_raw *p)
{
    const double whole = 0.2 * tag->width / 8.0; // with the white around the eight that count
    for (int i = 0; i < p->width * p->height; i++) {
        double sum = 0, ray[3] = {0, 0, 1}, to[2];
        const double u = i % p->width, v = (double)(i / p->width);
        ray[0] = (u - l->cx) / l->fx, ray[1] = (v - l->cy) / l->fy; // roughly
        const bool far_off =
            !on_tag(at, ray, whole, to) || fabs(to[0] - 0.5) > 0.8 || fabs(to[1] - 0.5) > 0.8;
        for (int k = 0; k < 9 && !far_off; k++) {
            pons_lens_ray(l, u + (k % 3 + 0.5) / 3.0, v + (k / 3 + 0.5) / 3.0, ray);
            const bool on =
                on_tag(at, ray, whole, to) && to[0] >= 0 && to[0] < 1 && to[1] >= 0 && to[1] < 1;
            sum += on ? tag->rgb[3 * ((int)(to[1] * tag->height) * tag->width +
                                      (int)(to[0] * tag->width))]
                      : 128;
        }
        memset(p->rgb + 3 * (size_t)i, far_off ? 128 : (int)lround(sum / 9), 3);
    }
}

static void turned(double yaw, double pitch, double roll, double r[3][3])
{
    const double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch), cr = cos(roll),
                 sr = sin(roll);
    const double all[3][3] = {{cy * cr + sy * sp * sr, -cy * sr + sy * sp * cr, sy * cp},
                              {cp * sr, cp * cr, -sp},
                              {-sy * cr + cy * sp * sr, sy * sr + cy * sp * cr, cy * cp}};
    memcpy(r, all, sizeof all);
}

static double angle_between(const double q[4], double r[3][3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                            {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                            {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    double trace = 0;
    for (int i = 0; i < 9; i++) {
        trace += m[i / 3][i % 3] * r[i / 3][i % 3];
    }
    return acos(fmin(1.0, fmax(-1.0, (trace - 1) / 2))) * 180 / M_PI;
}

// Within 2 cm and 2 degrees at 2 m, upright, upside down and slanted, also through a lens that bends.
static void tag_poses(void **state)
{
    const pons_detector_ops *ops = detector_ops("apriltag");
    pons_picture_raw tag = {0}, p = picture(800, 600, 0, 0, 0);
    pons_rand rand;
    void *self = NULL;
    double worst_m = 0, worst_deg = 0;
    static pons_detected found[PONS_DETECTED_MAX];
    pons_autovalue config = json_pack("{s:f}", "size_m", 0.2);
    assert_int_equal(ops->draw("tag36h11:42", &tag, NULL), PONS_OK);
    assert_int_equal(ops->open(config, &self, NULL), PONS_OK);
    pons_rand_seed(&rand, SEED);
    printf("seed %u\n", SEED);
    for (int i = 0; i < 8; i++) {
        const pons_lens l = {
            900, 900, 400, 300, {i % 2 ? -0.2 : 0, i % 2 ? 0.05 : 0, 0, i % 2 ? 0.001 : 0, 0}};
        pose at = {.t = {0.5 * pons_rand_unit(&rand) - 0.25, 0.4 * pons_rand_unit(&rand) - 0.2,
                         1.9 + 0.1 * pons_rand_unit(&rand)}};
        const double yaw = (0.35 + 0.4 * pons_rand_unit(&rand)) * (i % 4 < 2 ? 1 : -1);
        turned(yaw, pons_rand_unit(&rand) - 0.5, i == 3 ? M_PI : 6.28 * pons_rand_unit(&rand),
               at.r);
        size_t n = 0;
        render(&tag, &l, &at, &p);
        assert_int_equal(ops->detect(self, &p, &l, found, &n, NULL), PONS_OK);
        assert_int_equal(n, 1);
        assert_string_equal(found[0].identity, "tag36h11:42");
        assert_true(found[0].posed);
        double off = 0;
        for (int k = 0; k < 3; k++) {
            off += (found[0].position[k] - at.t[k]) * (found[0].position[k] - at.t[k]);
        }
        off = sqrt(off);
        const double turn = angle_between(found[0].quaternion, at.r);
        worst_m = fmax(worst_m, off), worst_deg = fmax(worst_deg, turn);
        assert_true(off < 4 * found[0].sd_m &&
                    turn * M_PI / 180 < 4 * found[0].sd_rad); // as it says itself
    }
    printf("worst of 8 at 2 m: %.1f mm, %.2f degrees\n", 1000 * worst_m, worst_deg);
    assert_true(worst_m < 0.02 && worst_deg < 2);
    ops->close(self);
    free(tag.rgb);
    free(p.rgb);
}

// ---- networks -----------------------------------------------------------------------------------

static void network_of(const char *form, const char *label, int r, int b)
{
    char dir[] = "/tmp/pons-onnx-XXXXXX", model[64], labels[64], junk[64];
    assert_non_null(mkdtemp(dir));
    snprintf(model, sizeof model, "%s/tiny.onnx", dir);
    snprintf(labels, sizeof labels, "%s/labels", dir);
    snprintf(junk, sizeof junk, "%s/junk.onnx", dir);
    tiny_network_write(model, form);
    FILE *f = fopen(labels, "w");
    assert_non_null(f);
    fputs("red thing\nblue thing\n", f);
    fclose(f);
    f = fopen(junk, "w");
    assert_non_null(f);
    fputs("this is no network", f);
    fclose(f);
    char refused_json[4][256];
    snprintf(refused_json[0], 256, "{\"model\": \"%s\", \"form\": \"yolo99\"}", model);
    snprintf(refused_json[1], 256, "{\"model\": \"%s/none\"}", dir);
    snprintf(refused_json[2], 256, "{\"model\": \"%s\"}", junk);
    snprintf(refused_json[3], 256, "{\"model\": \"%s\", \"form\": \"%s\", \"input\": [64, 64]}",
             model, form);
    const struct detector_refusal refused[] = {{refused_json[0], "no form"},
                                               {refused_json[1], "no file"},
                                               {refused_json[2], "cannot be used"},
                                               {refused_json[3], "none of this form"},
                                               NONE};
    pons_autovalue config =
        json_pack("{ss ss s[ii] ss s{ss}}", "model", model, "form", form, "input", 32, 32,
                  "labels_file", labels, "labels", "blue thing", "sky");
    // Twice the network's size, and the lower half of what goes in is grey.
    const detector_subject s = {.kind = "onnx",
                                .config = config,
                                .picture = picture(64, 64, r, 0, b),
                                .lens = {50, 50, 32, 32, {0}},
                                .label = label,
                                .box = {8, 32, 32, 16},
                                .near_px = 0.01,
                                .refused = refused};
    detector_conformance(&s);

    // The second box, half as sure, is over the first one and left out; of another label it stays.
    static pons_detected found[PONS_DETECTED_MAX];
    const pons_detector_ops *ops = detector_ops("onnx");
    void *self = NULL;
    size_t n = 0;
    assert_int_equal(ops->open(config, &self, NULL), PONS_OK);
    assert_int_equal(ops->detect(self, &s.picture, &s.lens, found, &n, NULL), PONS_OK);
    assert_int_equal(n, 1);
    assert_true(fabs(found[0].score - 1.0) < 0.01);
    pons_picture_raw dark = picture(64, 64, 0, 0, 0); // sure of nothing
    assert_int_equal(ops->detect(self, &dark, &s.lens, found, &n, NULL), PONS_OK);
    assert_int_equal(n, 0);
    free(dark.rgb);
    ops->close(self);
    free(s.picture.rgb);
    unlink(model), unlink(labels), unlink(junk), rmdir(dir);
}

static void networks(void **state)
{
    static const char *const forms[] = {"yolox", "nanodet", "yolov8"};
    detector_ops("onnx");
    for (size_t i = 0; i < 3; i++) {
        network_of(forms[i], "red thing", 255, 0);
        network_of(forms[i], "sky", 0, 255); // by another name
    }
}

// A network that people use, where there is one: PONS_DETECTOR_ONNX names a YOLOX file of 416 × 416 with one label that
// finds letters, and ./dev test --detector fetches it.
static void real_network(void **state)
{
    const char *file = getenv("PONS_DETECTOR_ONNX");
    if (!file || !*file) {
        skip();
    }
    const pons_detector_ops *ops = detector_ops("onnx");
    static pons_detected found[PONS_DETECTED_MAX];
    static const char *const glyphs[2][7] = {
        {" ### ", "#   #", "#   #", "#####", "#   #", "#   #", "#   #"},
        {"#   #", "#  # ", "# #  ", "##   ", "# #  ", "#  # ", "#   #"}};
    pons_picture_raw p = picture(344, 384, 120, 160, 120);
    const int at[2][2] = {{50, 70}, {200, 230}};
    for (int g = 0; g < 2; g++) {
        for (int y = 0; y < 49; y++) {
            for (int x = 0; x < 35; x++) {
                if (glyphs[g][y / 7][x / 7] == '#') {
                    memset(p.rgb + 3 * ((at[g][1] + y) * p.width + at[g][0] + x), g ? 30 : 200, 2);
                }
            }
        }
    }
    const pons_lens lens = {400, 400, 172, 192, {0}};
    pons_autovalue config = json_pack("{ss}", "model", file);
    pons_error err = PONS_ERROR_INIT;
    void *self = NULL;
    size_t n = 0;
    if (ops->open(config, &self, &err) < 0 || ops->detect(self, &p, &lens, found, &n, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (size_t i = 0; i < n; i++) {
        printf("%s %.2f at %.0f, %.0f, %.0f x %.0f\n", found[i].label, found[i].score,
               found[i].box[0], found[i].box[1], found[i].box[2], found[i].box[3]);
    }
    for (int g = 0; g < 2; g++) { // a box whose middle is that of the letter
        bool there = false;
        for (size_t i = 0; i < n; i++) {
            there = there || hypot(found[i].box[0] + 0.5 * found[i].box[2] - at[g][0] - 17,
                                   found[i].box[1] + 0.5 * found[i].box[3] - at[g][1] - 24) < 15;
        }
        assert_true(there);
    }
    ops->close(self);
    free(p.rgb);
}

// ---- services -----------------------------------------------------------------------------------

// A service that says this to whatever it is sent.
static fake_server *service_of(fake_step *step, const char *status, const char *body)
{
    static char reply[64 * 1024];
    snprintf(reply, sizeof reply,
             "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
             strlen(body), body);
    *step = (fake_step){.bytes = reply};
    return fake_server_start(step, 1);
}

// A detection of the service at this address fails, and says so.
static void must_say(int port, const char *says)
{
    static pons_detected found[PONS_DETECTED_MAX];
    char url[64];
    pons_picture_raw p = picture(64, 48, 1, 2, 3);
    const pons_lens lens = {50, 50, 32, 24, {0}};
    const pons_detector_ops *ops = detector_ops("http");
    pons_error err = PONS_ERROR_INIT;
    void *self = NULL;
    size_t n = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    pons_autovalue config = json_pack("{ss}", "url", url);
    assert_int_equal(ops->open(config, &self, NULL), PONS_OK);
    assert_true(ops->detect(self, &p, &lens, found, &n, &err) < 0);
    if (!strstr(err.message, says)) {
        fail_msg("'%s' does not say '%s'", err.message, says);
    }
    ops->close(self);
    free(p.rgb);
}

static void good_service(void **state)
{
    static const struct detector_refusal refused[] = {
        {"{}", "url is missing"},
        {"{\"url\": \"http://x/\", \"token_env\": \"PONS_NO_SUCH\"}", "PONS_NO_SUCH"},
        NONE};
    static pons_detected found[PONS_DETECTED_MAX];
    const pons_detector_ops *ops = detector_ops("http");
    char url[64];
    fake_step step;
    fake_server *server = service_of(
        &step, "200 OK",
        "{\"detections\": [{\"label\": \"cup\", \"score\": 0.8, \"box\": [10, 20, 30, 40], "
        "\"identity\": \"mine\"}]}");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/find", fake_server_port(server));
    setenv("PONS_TEST_TOKEN", "secret", 1);
    pons_autovalue config = json_pack("{ss ss s{ss}}", "url", url, "token_env", "PONS_TEST_TOKEN",
                                      "labels", "cup", "mug");
    const detector_subject s = {.kind = "http",
                                .config = config,
                                .picture = picture(64, 48, 9, 9, 9),
                                .lens = {50, 50, 32, 24, {0}},
                                .label = "mug",
                                .box = {10, 20, 30, 40},
                                .near_px = 1e-9,
                                .refused = refused};
    detector_conformance(&s);
    void *self = NULL;
    size_t n = 0;
    assert_int_equal(ops->open(config, &self, NULL), PONS_OK);
    assert_int_equal(ops->detect(self, &s.picture, &s.lens, found, &n, NULL), PONS_OK);
    assert_string_equal(found[0].identity, "mine");
    assert_non_null(strstr(fake_server_head(server, 0), "Authorization: Bearer secret"));
    assert_memory_equal(fake_server_body(server, 0), "\xff\xd8", 2); // a JPEG
    ops->close(self);
    fake_server_stop(server);
    free(s.picture.rgb);
}

static void bad_services(void **state)
{
    static char many[40000] = "{\"detections\": [0";
    for (size_t n = strlen(many), i = 1; i < 10000; i++, n += 2) {
        memcpy(many + n, ",0", 3);
    }
    memcpy(many + strlen(many), "]}", 3);
    const struct {
        const char *status, *body, *says;
    } bad[] = {
        {"200 OK", many, "has 10000 detections"}, {"200 OK", "{\"detections\": [", "has no list"},
        {"200 OK", "{}", "has no list"},          {"200 OK", "", "has no list"},
        {"503 Busy", "{}", "status 503"},         {"302 Elsewhere", "", "status 302"}};
    fake_step step = {.reset = true};
    detector_ops("http");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_server *server = service_of(&step, bad[i].status, bad[i].body);
        must_say(fake_server_port(server), bad[i].says);
        fake_server_stop(server);
    }
    step = (fake_step){.reset = true};
    fake_server *server = fake_server_start(&step, 1);
    const int port = fake_server_port(server);
    must_say(port, "does not answer");
    fake_server_stop(server);
    must_say(port, "does not answer"); // nobody listens
}

// ---- models -------------------------------------------------------------------------------------

#define SAID(text)                                                                                 \
    "{\"choices\":[{\"message\":{\"content\":\"" text "\"},\"finish_reason\":\"stop\"}]}"
#define CUP_AT(box)                                                                                \
    "{\\\"detections\\\":[{\\\"label\\\":\\\"cup\\\",\\\"score\\\":0.8,\\\"box\\\":" box "}]}"

static pons_value *model_config(const fake_server *server, const char *more)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", fake_server_port(server));
    pons_value *config = json_loads(more, 0, NULL);
    assert_non_null(config);
    json_object_set_new(config, "url", json_string(url));
    json_object_set_new(config, "model", json_string("eyes"));
    return config;
}

// What it finds in a picture of this size, the first one in *ret; an error must say `says`.
static size_t model_finds(const pons_value *config, int width, int height, const char *says,
                          pons_detected *ret)
{
    static pons_detected found[PONS_DETECTED_MAX];
    const pons_detector_ops *ops = detector_ops("model");
    pons_picture_raw p = picture(width, height, 1, 2, 3);
    const pons_lens lens = {50, 50, 32, 24, {0}};
    pons_error err = PONS_ERROR_INIT;
    void *self = NULL;
    size_t n = 0;
    assert_int_equal(ops->open(config, &self, NULL), PONS_OK);
    const int rc = ops->detect(self, &p, &lens, found, &n, &err);
    if (says ? rc >= 0 || !strstr(err.message, says) || strchr(err.message, '\n') : rc < 0) {
        fail_msg("'%s' does not say '%s'", err.message, says);
    }
    ops->close(self);
    free(p.rgb);
    *ret = found[0];
    return says ? 0 : n;
}

// Each form of a box, as it is asked for; with words around it.
static void good_models(void **state)
{
    static const struct detector_refusal refused[] = {
        {"{}", "url is missing"},
        {"{\"url\": \"http://x/\", \"token_env\": \"PONS_NO_SUCH\"}", "PONS_NO_SUCH"},
        {"{\"url\": \"http://x/\", \"boxes\": \"xywh\"}", "no form xywh"},
        NONE};
    static const struct {
        const char *more, *says, *asks;
    } forms[] = {{"{\"boxes\": \"xyxy_1000\"}", SAID(CUP_AT("[250,250,500,750]")),
                  "[left, top, right, bottom], from 0 to 1000"},
                 {"{\"boxes\": \"yxyx_1000\"}",
                  SAID("Here: ```json\\n" CUP_AT("[250,250,750,500]") "\\n``` Done."),
                  "[top, left, bottom, right]"},
                 {"{\"boxes\": \"xyxy_pixels\"}",
                  SAID("<think>a {cup}?</think>" CUP_AT("[16,12,32,36]")),
                  "pixels of the picture"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        fake_step step;
        fake_server *server = service_of(&step, "200 OK", forms[i].says);
        pons_autovalue config = model_config(server, forms[i].more);
        json_object_set_new(config, "find", json_pack("[ss]", "cup", "red bottle"));
        json_object_set_new(config, "labels", json_pack("{ss}", "cup", "mug"));
        const detector_subject s = {.kind = "model",
                                    .config = config,
                                    .picture = picture(64, 48, 9, 9, 9),
                                    .lens = {50, 50, 32, 24, {0}},
                                    .label = "mug",
                                    .box = {16, 12, 16, 24},
                                    .near_px = 1e-9,
                                    .refused = refused};
        pons_detected first;
        if (i == 0) { // its large picture takes a while
            detector_conformance(&s);
        }
        assert_int_equal(model_finds(config, 64, 48, NULL, &first), 1);
        for (int k = 0; k < 4; k++) {
            assert_float_equal(first.box[k], s.box[k], 1e-9);
        }
        const char *body = fake_server_body(server, 0);
        assert_non_null(strstr(body, forms[i].asks));
        assert_non_null(strstr(body, "cup, red bottle"));
        assert_non_null(strstr(body, "64 x 48 pixels"));
        assert_non_null(strstr(body, "data:image/jpeg;base64,/9j/"));
        assert_non_null(strstr(body, "\"response_format\""));
        free(s.picture.rgb);
        fake_server_stop(server);
    }
    // A large picture goes smaller, and pixels are those of what went; what was not asked for is left out; one without a
    // score is half sure, one whose box is no numbers is the caller's to refuse.
    pons_detected first;
    fake_step step;
    fake_server *server =
        service_of(&step, "200 OK",
                   SAID("{\\\"detections\\\":[{\\\"label\\\":\\\"password\\\",\\\"score\\\":1,"
                        "\\\"box\\\":[1,2,3,4]},"
                        "{\\\"label\\\":\\\"Cup\\\",\\\"box\\\":[100,200,300,400]},"
                        "{\\\"label\\\":\\\"cup\\\",\\\"score\\\":2,\\\"box\\\":[\\\"a\\\"]}]}"));
    pons_autovalue config =
        model_config(server, "{\"boxes\": \"xyxy_pixels\", \"find\": [\"cup\"]}");
    assert_int_equal(model_finds(config, 2048, 256, NULL, &first), 2);
    assert_string_equal(first.label, "Cup");
    assert_float_equal(first.score, 0.5, 1e-9);
    assert_float_equal(first.box[0], 200, 1e-9);
    assert_float_equal(first.box[3], 400, 1e-9);
    assert_non_null(strstr(fake_server_body(server, 0), "1024 x 128 pixels"));
    fake_server_stop(server);
}

static void bad_models(void **state)
{
    static char many[120000] = "{\"choices\":[{\"message\":{\"content\":\"{\\\"detections\\\":[0";
    for (size_t n = strlen(many), i = 1; i < 10000; i++, n += 2) {
        memcpy(many + n, ",0", 3);
    }
    strcat(many, "]}\"},\"finish_reason\":\"stop\"}]}");
    static const struct {
        const char *status, *body, *says;
    } bad[] = {{"200 OK", many, "has 10000 detections"},
               {"200 OK", SAID("I see a cup."), "no list `detections`: I see a cup."},
               {"200 OK", SAID("{\\\"detections\\\": 3}"), "no list `detections`"},
               {"200 OK", SAID("{\\\"detections\\\": [{\\\"label"), "no list `detections`"},
               {"200 OK", SAID("<think>a cup"), "no list `detections`"},
               {"200 OK",
                "{\"choices\":[{\"message\":{\"refusal\":\"I cannot "
                "help.\"},\"finish_reason\":\"stop\"}]}",
                "I cannot help"},
               {"401 No", "{\"error\":{\"message\":\"no such key\"}}", "no such key"}};
    pons_detected first;
    detector_ops("model");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_step step;
        fake_server *server = service_of(&step, bad[i].status, bad[i].body);
        pons_autovalue config = model_config(server, "{}");
        model_finds(config, 64, 48, bad[i].says, &first);
        fake_server_stop(server);
    }
    // A box of NaN is repaired to none, or is none: no detection with numbers comes of it.
    fake_step step;
    fake_server *server = service_of(&step, "200 OK", SAID(CUP_AT("[NaN,1,2,3]")));
    pons_autovalue config = model_config(server, "{}");
    model_finds(config, 64, 48, "no list `detections`", &first);
    fake_server_stop(server);
    // One that does not answer is left after nine tenths of the limit.
    const fake_step hold = {.bytes = "HTTP/1.1 200 OK\r\n", .hold = true};
    server = fake_server_start(&hold, 1);
    pons_autovalue hasty = model_config(server, "{\"limit_s\": 0.2}");
    model_finds(hasty, 64, 48, "", &first);
    fake_server_stop(server);
}

// What may not leave this machine does not: the server counts what it gets. A model that takes no pictures is found out
// once.
static void pictures_stay_here(void **state)
{
    static const char *const rules[][2] = {
        {"{\"vision\": {\"send\": \"ask\"}}", "no person has allowed"},
        {"{\"vision\": {\"send\": \"never\"}}", "pictures stay on this machine"},
        {"{\"vision\": {\"model\": \"no\"}}", "this model takes no pictures"}};
    char dir[] = "/tmp/pons-detector-XXXXXX", more[128], path[64];
    pons_detected first;
    fake_step step;
    detector_ops("model");
    fake_server *server = service_of(&step, "200 OK", SAID(CUP_AT("[1,2,3,4]")));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        pons_autovalue config = model_config(server, rules[i][0]);
        model_finds(config, 64, 48, rules[i][1], &first);
    }
    pons_autovalue elsewhere = model_config(server, "{\"vision\": {}}");
    json_object_set_new(elsewhere, "url", json_string("http://models.example/v1"));
    model_finds(elsewhere, 64, 48, "no person has allowed that pictures go to this server", &first);
    assert_int_equal(fake_server_requests(server), 0);
    pons_autovalue allowed = model_config(server, "{\"vision\": {\"send\": \"allowed\"}}");
    assert_int_equal(model_finds(allowed, 64, 48, NULL, &first), 1);
    assert_int_equal(fake_server_requests(server), 1);
    fake_server_stop(server);

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/vision.json", dir);
    snprintf(more, sizeof more, "{\"vision\": {\"memory\": \"%s\"}}", path);
    static char no[512], hi[512];
    snprintf(no, sizeof no,
             "HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n{\"error\":{\"message\":\"Invalid "
             "content type. "
             "image_url is only supported by certain models.\"}}");
    snprintf(hi, sizeof hi,
             "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" SAID(CUP_AT("[1,2,3,4]")));
    const fake_step blind[] = {{.bytes = no}, {.bytes = hi}};
    server = fake_server_start(blind, 2);
    pons_autovalue config = model_config(server, more);
    model_finds(config, 64, 48, "this model takes no pictures", &first);
    assert_int_equal(fake_server_requests(server), 2); // with it, and without
    model_finds(config, 64, 48, "not sent: this model takes no pictures", &first);
    assert_int_equal(fake_server_requests(server), 2);
    fake_server_stop(server);
    unlink(path), rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tags),
                                       cmocka_unit_test(tag_poses),
                                       cmocka_unit_test(networks),
                                       cmocka_unit_test(real_network),
                                       cmocka_unit_test(good_service),
                                       cmocka_unit_test(bad_services),
                                       cmocka_unit_test(good_models),
                                       cmocka_unit_test(bad_models),
                                       cmocka_unit_test(pictures_stay_here)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
