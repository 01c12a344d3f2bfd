// test_pictures.c - which of a conversation's pictures reach a model's server, over its wire, by a server that counts
// them: the newest; none that may not leave the machine, that nobody allowed, or whose file is gone; none after the
// server has refused one; and none where a server sends the request elsewhere. What is left out is a line of text.
#include "llm/fake_server.h"
#include "llm/llm_fixture.h"
#include "pons/llm.h"
#include "pons/picture.h"
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANG_MS 120000 // a test that waits so long has failed
#define REPLY(status, body)                                                                        \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" body
#define HI                                                                                         \
    REPLY("200 OK", "{\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]" \
                    "}")
#define NOT_ALLOWED "no person has allowed that pictures go to this server)"

static char dir[] = "/tmp/pons-llm-pictures-XXXXXX";
static char names[3][PONS_PICTURE_NAME];

typedef struct talk {
    fake_server *server;
    pons_llm llm;
    uint64_t call;
} talk;

static pons_llm open_llm(const char *url, const char *pictures)
{
    pons_autovalue more = fixture_json(pictures);
    pons_autovalue config =
        pons_object("url", json_string(url), "model", json_string("m1"), "timeouts",
                    fixture_json("{\"first_byte_s\":60,\"backoff_s\":0.001}"), "pictures",
                    pons_object("folder", json_string(dir), "memory",
                                json_sprintf("%s/vision.json", dir), NULL),
                    NULL);
    json_object_update(json_object_get(config, "pictures"), more);
    pons_clock clock = pons_clock_real();
    pons_llm_factory *f = NULL;
    pons_llm llm = {0};
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_llm_factory_create(&clock, &f, &err), PONS_OK);
    if (pons_llm_factory_open(f, config, &llm, &err) != PONS_OK) {
        fixture_fail(&err, url);
    }
    pons_llm_factory_destroy(f);
    return llm;
}

static talk begin(const fake_step *steps, size_t n, const char *pictures)
{
    talk t = {.server = fake_server_start(steps, n)};
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", fake_server_port(t.server));
    t.llm = open_llm(url, pictures);
    return t;
}

static void end(talk *t)
{
    t->llm.ops->close(t->llm.self);
    fake_server_stop(t->server);
}

static pons_value *picture(int i)
{
    return pons_object("sha256", json_string(names[i]), "caption", json_sprintf("cup %d", i), NULL);
}

// Three questions, each with a picture.
static pons_value *conversation(void)
{
    pons_value *list = json_array();
    for (int i = 0; i < 3; i++) {
        json_array_append_new(list, pons_object("role", json_string("user"), "content",
                                                json_string("look"), "pictures",
                                                json_pack("[o]", picture(i)), NULL));
        json_array_append_new(list, json_pack("{ssss}", "role", "assistant", "content", "ok"));
    }
    return list;
}

// Takes messages. *ret_err: of a call that failed. The reply, or NULL.
static pons_value *ask(talk *t, pons_value *messages, bool allowed, pons_error *ret_err)
{
    pons_autovalue request = pons_object("messages", messages, NULL);
    if (allowed) { // a yes is for one server
        json_object_set_new(request, "pictures_allowed",
                            json_sprintf("127.0.0.1:%d", fake_server_port(t->server)));
    }
    pons_autovalue before = json_deep_copy(request);
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(t->llm.ops->start(t->llm.self, ++t->call, request, &err), PONS_OK);
    assert_true(json_equal(before, request)); // the host's own names them still
    for (;;) {
        pons_llm_event ev;
        while (t->llm.ops->next(t->llm.self, &ev)) {
            pons_value *reply = pons_value_ref(ev.value);
            const bool last = ev.kind == PONS_LLM_DONE || ev.kind == PONS_LLM_ERROR;
            if (ret_err) {
                *ret_err = ev.error;
            }
            pons_llm_event_clear(&ev);
            if (last) {
                return reply;
            }
            pons_value_unref(reply);
        }
        struct pollfd p = {.fd = t->llm.ops->event_fd(t->llm.self), .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
    }
}

static void say(talk *t, pons_value *messages, bool allowed)
{
    pons_autovalue reply = ask(t, messages, allowed, NULL);
    assert_string_equal(pons_get_str(reply, "content", ""), "hi");
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) {
        n++;
    }
    return n;
}

// Of the server's request i.
static int images(talk *t, size_t i)
{
    return count(fake_server_body(t->server, i), "\"type\":\"image_url\"");
}

static void has(talk *t, size_t i, const char *text)
{
    if (!strstr(fake_server_body(t->server, i), text)) {
        fail_msg("no \"%s\" in %s", text, fake_server_body(t->server, i));
    }
}

static void the_newest_are_sent(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    talk t = begin(steps, 1, "{}"); // a server on this machine: nobody is asked
    say(&t, conversation(), false);
    assert_int_equal(images(&t, 0), 2);
    has(&t, 0, "look\\n(picture: cup 0, not sent again)\"");
    has(&t, 0,
        "{\"type\":\"text\",\"text\":\"look\\n(picture: cup 2, here)\"},"
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,cGljdHVyZSAy\"}}");
    assert_int_equal(count(fake_server_body(t.server, 0), names[2]), 0);
    end(&t);

    t = begin(steps, 1, "{\"most\":1}");
    say(&t, conversation(), false);
    assert_int_equal(images(&t, 0), 1);
    end(&t);
}

static void what_may_not_go_is_a_line(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    talk t = begin(steps, 1, "{\"send\":\"never\"}");
    say(&t, conversation(), true);
    assert_int_equal(images(&t, 0), 0);
    has(&t, 0, "(picture: cup 1, not sent: pictures stay on this machine (send: never))");
    end(&t);

    t = begin(steps, 1, "{\"send\":\"ask\"}");
    say(&t, conversation(), false);
    say(&t, conversation(), true); // a person has said yes
    assert_int_equal(images(&t, 0), 0);
    has(&t, 0, NOT_ALLOWED);
    assert_int_equal(images(&t, 1), 2);
    end(&t);

    t = begin(steps, 1, "{\"model\":\"no\"}");
    say(&t, conversation(), true);
    assert_int_equal(images(&t, 0), 0);
    has(&t, 0, "not sent: this model takes no pictures");
    end(&t);

    char path[256], aside[256];
    snprintf(path, sizeof path, "%s/%s.jpg", dir, names[2]);
    snprintf(aside, sizeof aside, "%s/aside", dir);
    assert_int_equal(rename(path, aside), 0);
    t = begin(steps, 1, "{}");
    say(&t, conversation(), false);
    assert_int_equal(images(&t, 0), 2); // the older two
    has(&t, 0, "(picture: cup 2, its file is gone)");
    end(&t);
    assert_int_equal(rename(aside, path), 0);
}

// A tool's message is a text on the wire: what it took follows as the user's.
static void a_tools_picture_follows_the_results(void **state)
{
    static const fake_step steps[] = {{.bytes = HI}};
    talk t = begin(steps, 1, "{}");
    pons_value *list = fixture_json(
        "[{\"role\":\"user\",\"content\":\"look\"},{\"role\":\"assistant\",\"content\":null,"
        "\"tool_calls\":[{\"id\":\"a\",\"name\":\"take_picture\",\"arguments\":{}},"
        "{\"id\":\"b\",\"name\":\"time\",\"arguments\":{}}]},"
        "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"taken\"},"
        "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"noon\"}]");
    json_object_set_new(json_array_get(list, 2), "pictures", json_pack("[o]", picture(0)));
    say(&t, list, false);
    has(&t, 0,
        "{\"role\":\"tool\",\"content\":\"noon\",\"tool_call_id\":\"b\"},{\"role\":\"user\","
        "\"content\":[{\"type\":\"text\",\"text\":\"(The pictures that the calls above "
        "gave.)\"},{\"type\":\"image_url\"");
    end(&t);
}

// However a server says that it takes none, it is asked again without, and never with one again: not by a later client
// either, but another model of it is.
static void a_refusal_is_found_out_once(void **state)
{
    static const char *const refusals[] = {
        REPLY("400 Bad Request",
              "{\"error\":{\"message\":\"Invalid content type. image_url is only "
              "supported by certain models.\"}}"),
        REPLY("404 Not Found", "{\"error\":{\"message\":\"No endpoints found that support image "
                               "input\"}}"),
        REPLY("422 Unprocessable Entity",
              "{\"detail\":[{\"msg\":\"Input should be a valid string\"}]}"),
        REPLY("500 Internal Server Error",
              "{\"error\":{\"message\":\"image input is not supported - "
              "you may need to provide the mmproj\"}}")};
    char path[256], url[64];
    snprintf(path, sizeof path, "%s/vision.json", dir);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const fake_step steps[] = {{.bytes = refusals[i]}, {.bytes = HI}};
        talk t = begin(steps, 2, "{}");
        unlink(path);
        say(&t, conversation(), false);
        assert_int_equal(images(&t, 0), 2);
        assert_int_equal(images(&t, 1), 0);
        has(&t, 1, "(The server took no pictures: they were left out.)");
        say(&t, conversation(), false);
        t.llm.ops->close(t.llm.self);
        snprintf(url, sizeof url, "http://user:secret@127.0.0.1:%d/v1", fake_server_port(t.server));
        t.llm = open_llm(url, "{}");
        say(&t, conversation(), false);
        assert_int_equal(fake_server_requests(t.server), 4);
        assert_int_equal(images(&t, 2) + images(&t, 3), 0);
        has(&t, 3, "not sent: this model takes no pictures");
        pons_autovalue other =
            pons_object("model", json_string("m2"), "messages", conversation(), NULL);
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(t.llm.ops->start(t.llm.self, 99, other, &err), PONS_OK);
        fake_server_wait_requests(t.server, 5);
        assert_int_equal(images(&t, 4), 2);
        end(&t);
        pons_autovalue known = NULL;
        assert_int_equal(pons_value_load(path, &known, &err), PONS_OK);
        assert_int_equal(json_object_size(known), 1); // and no password in it
        assert_null(strstr(json_object_iter_key(json_object_iter(known)), "secret"));
        unlink(path);
    }
}

// A refusal of these pictures is none of all.
static void pictures_that_are_too_large_are_left_out_alone(void **state)
{
    static const fake_step steps[] = {
        {.bytes = REPLY("400 Bad Request", "{\"error\":{\"message\":\"image is too large\"}}")},
        {.bytes = HI}};
    talk t = begin(steps, 2, "{}");
    say(&t, conversation(), false);
    say(&t, conversation(), false);
    assert_int_equal(images(&t, 1), 0);
    assert_int_equal(images(&t, 2), 2);
    end(&t);
}

static void a_redirect_takes_no_picture_along(void **state)
{
    static const fake_step hi[] = {{.bytes = HI}};
    fake_server *other = fake_server_start(hi, 1);
    char reply[256];
    snprintf(reply, sizeof reply,
             "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:%d/v1/chat/completions"
             "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
             fake_server_port(other));
    const fake_step steps[] = {{.bytes = reply}};
    talk t = begin(steps, 1, "{}");
    pons_error err = PONS_ERROR_INIT;
    assert_null(ask(&t, conversation(), false, &err));
    assert_non_null(strstr(err.message, "redirects are not followed"));
    assert_int_equal(images(&t, 0), 2);
    assert_int_equal(fake_server_requests(other), 0);
    end(&t);
    fake_server_stop(other);
}

static void only_this_machine_is_trusted(void **state)
{
    static const struct {
        const char *url, *asks; // NULL: nobody
    } rows[] = {{"http://127.0.0.1:8080/v1", NULL},
                {"http://127.9.9.9/v1", NULL},
                {"http://localhost/v1", NULL},
                {"http://[::1]:8080/v1", NULL},
                {"http://192.168.1.5:8080/v1", "192.168.1.5:8080"},
                {"http://10.0.0.1", "10.0.0.1"},
                {"http://LOCALHOST/v1", "LOCALHOST"}, // a proxy may get it
                {"http://0x7f.1/v1", "0x7f.1"},
                {"https://user:secret@models.example/v1", "models.example"},
                {"http://127.0.0.1@models.example/v1", "models.example"},
                {"http://models.example/v1?@127.0.0.1/", "models.example"},
                {"http://127.models.example/v1", "127.models.example"},
                {"http://localhost.models.example/", "localhost.models.example"},
                {"http:///models.example/v1", ""}, // curl goes there all the same
                {"http://[2001:db8::1]:80/v1", "[2001:db8::1]:80"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char to[256] = "";
        pons_autovalue config =
            pons_object("url", json_string(rows[i].url), "pictures", json_object(), NULL);
        const bool asks = pons_llm_pictures_need_consent(config, to, sizeof to);
        assert_true(asks == !!pons_llm_pictures_withheld(config, NULL)); // nobody's yes is none
        if (asks != (rows[i].asks != NULL) || strcmp(to, asks ? rows[i].asks : "") != 0) {
            fail_msg("%s: %d, '%s'", rows[i].url, asks, to);
        }
    }
    char to[256];
    pons_autovalue module =
        fixture_json("{\"provider\":\"other\",\"url\":\"127.0.0.1\",\"pictures\":{}}");
    assert_true(pons_llm_pictures_need_consent(module, to, sizeof to)); // who knows where it goes
    pons_autovalue script = fixture_json("{\"replies\":[],\"pictures\":{}}");
    assert_false(pons_llm_pictures_need_consent(script, to, sizeof to));
    pons_autovalue allowed =
        fixture_json("{\"url\":\"http://models.example\",\"pictures\":{\"send\":\"allowed\"}}");
    assert_false(pons_llm_pictures_need_consent(allowed, to, sizeof to));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_are_sent),
        cmocka_unit_test(what_may_not_go_is_a_line),
        cmocka_unit_test(a_tools_picture_follows_the_results),
        cmocka_unit_test(a_refusal_is_found_out_once),
        cmocka_unit_test(pictures_that_are_too_large_are_left_out_alone),
        cmocka_unit_test(a_redirect_takes_no_picture_along),
        cmocka_unit_test(only_this_machine_is_trusted),
    };
    pons_value_init();
    if (!mkdtemp(dir)) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        pons_error err = PONS_ERROR_INIT;
        char bytes[16];
        snprintf(bytes, sizeof bytes, "picture %d", i);
        if (pons_picture_put(dir, bytes, strlen(bytes), names[i], &err) < 0) {
            return 1;
        }
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 ? failed : 1;
}
