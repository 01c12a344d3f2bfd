// test_memory.c - every allocation of base's public calls made to fail once, one at a time: values,
// buffers, YAML, schemas, event queues, text for a terminal. A call that is told that there is no
// memory says so with PONS_ENOMEM, leaks nothing and leaves its inputs as they were; one that gets
// along without that piece gives what it gives undisturbed.
#include "oom.h"
#include "pons/buf.h"
#include "pons/event_queue.h"
#include "pons/printable.h"
#include "pons/schema.h"
#include "pons/yaml.h"

#include <stdio.h>
#include <unistd.h>

static int dump(const pons_value *v, char **ret)
{
    const long n = pons_value_dump(v, ret);
    return n < 0 ? (int)n : PONS_OK;
}

// ---- values -------------------------------------------------------------------------------------

static int parse_and_dump(const void *user, char **ret, pons_error *err)
{
    pons_autovalue v = NULL;
    int st = pons_value_parse(user, strlen(user), &v, err);
    return st < 0 ? st : dump(v, ret);
}

static int load(const void *user, char **ret, pons_error *err)
{
    pons_autovalue v = NULL;
    int st = pons_value_load(user, &v, err);
    return st < 0 ? st : dump(v, ret);
}

// With a member that is absent: that is no loss, and a lost one is not taken for absent.
static int object(const void *user, char **ret, pons_error *err)
{
    (void)user;
    (void)err;
    pons_autovalue v = pons_object_whole(
        "text", json_string("a text"), "absent", PONS_ABSENT, "number", json_integer(7), "none",
        pons_optional(NULL), "list", json_pack("[i,i]", 1, 2), "real", json_real(0.5), "last",
        pons_object_whole("in", json_string("it"), NULL), NULL);
    return v ? dump(v, ret) : PONS_ENOMEM;
}

static int big_object(const void *user, char **ret, pons_error *err)
{
    (void)user;
    (void)err;
    pons_autovalue v = json_object();
    int bad = v ? 0 : -1;
    for (int i = 0; i < 60 && !bad; i++) { // more members than are sorted on the stack
        char key[16];
        snprintf(key, sizeof key, "k%d", (i * 7) % 60);
        bad = json_object_set_new(v, key, json_integer(i));
    }
    return bad ? PONS_ENOMEM : dump(v, ret);
}

static void values(void **state)
{
    (void)state;
    char path[] = "/tmp/pons-memory-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"a\":[1,2,{\"b\":null}]}", 22), 22);
    close(fd);
    oom_sweep("parse", parse_and_dump,
              "{\"a\":[1,2.5,\"x\",{\"b\":null}],\"c\":\"\\u00e9\",\"d\":{}}");
    oom_sweep(
        "parse long words", parse_and_dump,
        "{\"a key of more than sixteen bytes\":[\"and a string that makes the reader's buffer "
        "grow, once and again and once more, \\u00e9\\n until it is long enough\"],\"n\":"
        "123456789012345678,\"m\":0.12345678901234567}");
    oom_sweep("parse what is no JSON", parse_and_dump, "{\"a\":[1,2.5,");
    oom_sweep("load", load, path);
    oom_sweep("load what is not there", load, "/nowhere/at/all.json");
    oom_sweep("pons_object_whole", object, NULL);
    oom_sweep("dump of many members", big_object, NULL);
    unlink(path);
}

// ---- buffers, text ------------------------------------------------------------------------------

static int buffer(const void *user, char **ret, pons_error *err)
{
    (void)user;
    (void)err;
    pons_autobuf b = PONS_BUF_INIT;
    for (int i = 0; i < 100; i++) {
        pons_buf_printf(&b, "%d:%s ", i, "some words that make it grow");
        pons_buf_str(&b, "and more");
    }
    *ret = pons_buf_take(&b, NULL);
    return *ret ? PONS_OK : PONS_ENOMEM;
}

static int plain(const void *user, char **ret, pons_error *err)
{
    (void)err;
    pons_autobuf b = PONS_BUF_INIT;
    int st = pons_plain(&b, user, strlen(user), false);
    if (st < 0) {
        return st;
    }
    *ret = pons_buf_take(&b, NULL);
    return *ret ? PONS_OK : PONS_ENOMEM;
}

static void buffers(void **state)
{
    (void)state;
    oom_sweep("a buffer", buffer, NULL);
    oom_sweep("plain text", plain, "red \033[31m and a line\nand \xe2\x80\xae backwards");
}

// ---- YAML, schemas ------------------------------------------------------------------------------

static const char yaml_text[] = "name: a house\n"
                                "zones: &z\n"
                                "  - {id: kitchen, at: [1.5, 2], open: true}\n"
                                "  - id: hall\n"
                                "    note: |\n"
                                "      two\n"
                                "      lines\n"
                                "limits: {speed: 0.5, 'quoted key': \"x\\ty\", none: ~}\n";

static int yaml(const void *user, char **ret, pons_error *err)
{
    pons_yaml *y = NULL;
    int st = pons_yaml_parse(user, strlen(user), "house.yaml", &y, err);
    if (st == PONS_OK) {
        st = dump(pons_yaml_value(y), ret);
    }
    pons_yaml_destroy(y);
    return st;
}

static int yaml_file(const void *user, char **ret, pons_error *err)
{
    pons_yaml *y = NULL;
    int st = pons_yaml_load(user, &y, err);
    if (st == PONS_OK) {
        st = dump(pons_yaml_value(y), ret);
    }
    pons_yaml_destroy(y);
    return st;
}

static const char schema_text[] =
    "{\"$defs\":{\"id\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\",\"maxLength\":20}},\"type\":"
    "\"object\","
    "\"required\":[\"id\"],\"properties\":{\"id\":{\"$ref\":\"#/$defs/"
    "id\"},\"n\":{\"type\":\"integer\","
    "\"minimum\":0},\"kind\":{\"enum\":[\"a\",\"b\"]},\"list\":{\"type\":\"array\",\"items\":{\"$"
    "ref\":"
    "\"#/$defs/"
    "id\"},\"uniqueItems\":true}},\"additionalProperties\":false,\"anyOf\":[{\"required\":[\"n\"]},"
    "{\"required\":[\"kind\"]}]}";

static void note(void *user, const char *pointer, const char *message)
{
    pons_buf_printf(user, "%s: %s\n", pointer, message);
}

static int schema(const void *user, char **ret, pons_error *err)
{
    pons_autovalue shape = NULL;
    pons_autovalue v = NULL;
    pons_schema *s = NULL;
    pons_autobuf b = PONS_BUF_INIT;
    int st = pons_value_parse(schema_text, strlen(schema_text), &shape, err);
    st = st < 0 ? st : pons_value_parse(user, strlen(user), &v, err);
    st = st < 0 ? st : pons_schema_compile(shape, &s, err);
    if (st == PONS_OK) {
        st = pons_schema_check(s, v, err);
    }
    if (s && (st == PONS_OK || st == PONS_EINVAL)) {
        const int n = pons_schema_faults(s, v, note, &b);
        if (n < 0) {
            st = n;
        }
        pons_buf_printf(&b, "%d", n);
        *ret = n < 0 ? NULL : pons_buf_take(&b, NULL);
        st = n >= 0 && !*ret ? PONS_ENOMEM : st;
        if (st == PONS_ENOMEM && err) {
            *err = (pons_error)PONS_ERROR_INIT; // the list's own
        }
    }
    pons_schema_destroy(s);
    return st;
}

static void documents(void **state)
{
    (void)state;
    oom_sweep("YAML", yaml, yaml_text);
    oom_sweep("YAML with a fault", yaml, "a: [1, 2\nb: 3\n");
    oom_sweep("a YAML file", yaml_file, PONS_SOURCE_DIR "/config/intents.yaml");
    oom_sweep("a schema, kept", schema, "{\"id\":\"hall\",\"n\":3,\"list\":[\"a\",\"b\",\"c\"]}");
    oom_sweep("a schema, broken", schema,
              "{\"id\":\"Hall\",\"n\":-1,\"list\":[\"a\",\"a\",3],\"more\":1}");
}

// ---- event queues -------------------------------------------------------------------------------

static void clear_event(void *event)
{
    (void)event;
}

// An event that finds no memory is dropped by the queue's own rule: only the first calls can say so.
static int queue(const void *user, char **ret, pons_error *err)
{
    (void)user;
    (void)ret;
    pons_event_queue q;
    int st = pons_event_queue_init(&q, sizeof(int), clear_event, err);
    if (st != PONS_OK) {
        return st;
    }
    for (uint64_t call = 1; call < 20 && st == PONS_OK; call++) {
        st = pons_event_queue_begin(&q, call);
    }
    pons_event_queue_end_all(&q);
    pons_event_queue_fini(&q);
    return st;
}

static void queues(void **state)
{
    (void)state;
    oom_sweep("an event queue", queue, NULL);
}

int main(void)
{
    oom_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(buffers),
        cmocka_unit_test(documents),
        cmocka_unit_test(queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
