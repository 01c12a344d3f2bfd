// test_memory.c - every allocation of the public calls of behaviour trees made to fail once, one at a
// time: both formats (and MDSL's JSON form) loaded, from a text and from a file with an include, faulty
// ones too; trees made, ticked, halted, asked, saved, restored, put under another definition; drawings.
// Whatever is told that there is no memory says PONS_ENOMEM and leaks nothing; what gets along gives
// what it gives undisturbed.
#include "oom.h"
#include "pons/bt.h"
#include "pons/buf.h"

#include <stdio.h>

// ---- loading ------------------------------------------------------------------------------------

typedef struct text_case {
    pons_bt_format format;
    const char *text;
    const char *script; // of pons_bt_try
} text_case;

static const text_case mdsl = {
    PONS_BT_MDSL,
    "root { sequence while(Free) entry(In, 1) exit(Out) { lotto [3, 1] "
    "{ action [A, 8, \"x\", $p] action [B] } "
    "retry [2, 3] { action [C] } branch [Rest] wait [100] } }\n"
    "root [Rest] { parallel { condition [D] succeed { fail { action [A, 2.5, null] } } } }",
    "{\"ticks\":6,\"dt_ms\":60,\"random\":[0.1,0.9],\"watch\":true,"
    "\"properties\":{\"p\":{\"deep\":[1]}},"
    "\"leaves\":{\"A\":\"RS\",\"B\":\"S\",\"C\":\"FS\",\"D\":\"T\","
    "\"Free\":\"T\",\"In\":\"S\",\"Out\":\"S\"},"
    "\"conditions\":[\"D\",\"Free\"]}"};

static const text_case json_form = {PONS_BT_JSON,
                                    "[{\"type\":\"root\",\"child\":{\"type\":\"selector\","
                                    "\"children\":[{\"type\":\"action\",\"call\":\"A\",\"args\":"
                                    "[1,\"t\\u00e9\",{\"$\":\"p\"}],\"while\":{\"call\":\"G\","
                                    "\"succeedOnAbort\":true}},{\"type\":\"branch\",\"ref\":"
                                    "\"R\"}]}},{\"type\":\"root\",\"id\":\"R\",\"child\":{\"type\":"
                                    "\"repeat\",\"iterations\":[2,3],\"child\":{\"type\":"
                                    "\"action\",\"call\":\"B\"}}}]",
                                    "{\"ticks\":4,\"properties\":{\"p\":7},\"leaves\":{\"A\":"
                                    "\"RF\",\"B\":\"RS\",\"G\":\"TN\"},\"conditions\":[\"G\"]}"};

static const text_case xml = {
    PONS_BT_XML,
    "<root BTCPP_format=\"4\" main_tree_to_execute=\"Main\"><BehaviorTree ID=\"Main\"><Sequence "
    "name=\"all\">"
    "<Script code=\"a := 1; b := 'text' .. a; c := a &lt; 2 ? 3.5 : 'no'\"/>"
    "<SetBlackboard value=\"hello there\" output_key=\"d\"/>"
    "<SubTree ID=\"Sub\" x=\"{a}\" y=\"literal\" _autoremap=\"false\"/>"
    "<Fallback _skipIf=\"a == 7\"><Move to=\"{d}\" _onSuccess=\"e := "
    "2\"/><AlwaysSuccess/></Fallback>"
    "<Switch2 variable=\"{b}\" case_1=\"1\" case_2=\"2\"><Move/><Move/><Look/></Switch2>"
    "<LoopDouble queue=\"1;2;3\" value=\"{v}\"><Look/></LoopDouble>"
    "<RetryUntilSuccessful "
    "num_attempts=\"2\"><Look/></RetryUntilSuccessful></Sequence></BehaviorTree>"
    "<BehaviorTree ID=\"Sub\"><Parallel success_count=\"1\"><Script code=\"z := x + 1\"/><Delay "
    "delay_msec=\"5\"><Look/></Delay></Parallel></BehaviorTree></root>",
    "{\"tree\":\"Main\",\"tick\":\"once\",\"ticks\":6,\"dt_ms\":10,\"watch\":true,\"leaves\":{"
    "\"Move\":\"RS\",\"Look\":"
    "\"SFS\"},\"blackboard\":{\"start\":{\"pose\":[1,2]}},\"events\":[{\"before_tick\":2,\"set\":{"
    "\"d\":\"there\"}},"
    "{\"before_tick\":5,\"halt\":true}]}"};

static const text_case faulty_mdsl = {
    PONS_BT_MDSL, "root { sequence { action [] wait [x] nope { } } } root { }", "{}"};
static const text_case faulty_xml = {
    PONS_BT_XML,
    "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence><Unknown/><Delay "
    "delay_msec=\"soon\"/>"
    "<SubTree ID=\"None\"/><Script code=\"a := \"/></Sequence></BehaviorTree></root>",
    "{}"};

// What a load says of a definition: its drawings, or its faults.
static int say(pons_bt *bt, const pons_value *faults, pons_buf *b)
{
    if (faults) {
        char *text = NULL;
        const long n = pons_value_dump(faults, &text);
        pons_buf_str(b, n < 0 ? "" : text);
        free(text);
        return n < 0 ? (int)n : PONS_OK;
    }
    static const char *const formats[] = {"text", "dot"};
    for (int i = 0; bt && i < 2; i++) {
        char *text = NULL;
        pons_error e = PONS_ERROR_INIT;
        const int rc = pons_bt_draw(bt, formats[i], &text, &e);
        if (rc < 0) {
            return rc;
        }
        pons_buf_str(b, text);
        free(text);
    }
    return PONS_OK;
}

static int finish(int rc, pons_buf *b, char **ret, pons_error *err)
{
    if (rc != PONS_ENOMEM) {
        *ret = pons_buf_take(b, NULL);
        if (*ret) {
            return rc;
        }
        *err = (pons_error)PONS_ERROR_INIT; // the test's own words found no memory
    }
    return PONS_ENOMEM;
}

static int load(const void *user, char **ret, pons_error *err)
{
    const text_case *c = user;
    pons_bt *bt = NULL;
    pons_value *faults = NULL;
    pons_autobuf b = PONS_BUF_INIT;
    const pons_bt_load_options o = {
        .format = c->format, .name = "a tree", .any_leaf = c != &faulty_xml};
    int rc = pons_bt_load(c->text, strlen(c->text), &o, &bt, &faults, err);
    const int said = rc == PONS_ENOMEM ? PONS_OK : say(bt, faults, &b);
    pons_bt_unref(bt);
    pons_value_unref(faults);
    if (said < 0 && err) {
        *err = (pons_error)PONS_ERROR_INIT;
    }
    return finish(said < 0 ? said : rc, &b, ret, err);
}

static int load_file(const void *user, char **ret, pons_error *err)
{
    pons_bt *bt = NULL;
    pons_value *faults = NULL;
    pons_autobuf b = PONS_BUF_INIT;
    const pons_bt_load_options o = {.any_leaf = true};
    int rc = pons_bt_load_file(user, &o, &bt, &faults, err);
    const int said = rc == PONS_ENOMEM ? PONS_OK : say(bt, faults, &b);
    pons_bt_unref(bt);
    pons_value_unref(faults);
    return finish(said < 0 ? said : rc, &b, ret, err);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void loading(void **state)
{
    (void)state;
    char dir[] = "/tmp/pons-bt-memory-XXXXXX", main[64], part[64];
    assert_non_null(mkdtemp(dir));
    snprintf(main, sizeof main, "%s/main.xml", dir);
    snprintf(part, sizeof part, "%s/part.xml", dir);
    write_text(
        main,
        "<root BTCPP_format=\"4\"><include path=\"part.xml\"/><BehaviorTree ID=\"M\"><SubTree "
        "ID=\"P\"/></BehaviorTree></root>");
    write_text(part,
               "<root BTCPP_format=\"4\"><BehaviorTree ID=\"P\"><Look/></BehaviorTree></root>");
    oom_sweep("MDSL", load, &mdsl);
    oom_sweep("MDSL as JSON", load, &json_form);
    oom_sweep("XML", load, &xml);
    oom_sweep("MDSL with faults", load, &faulty_mdsl);
    oom_sweep("XML with faults", load, &faulty_xml);
    oom_sweep("a file with an include", load_file, main);
    oom_sweep("a file that is not there", load_file, "/nowhere/at/all.xml");
    remove(main);
    remove(part);
    remove(dir);
}

// ---- trees --------------------------------------------------------------------------------------

static int note_line(void *user, const pons_value *v)
{
    char *text = NULL;
    pons_buf *b = user;
    if (pons_value_dump(v, &text) < 0) {
        b->failed = true;
    } else {
        pons_buf_str(b, text);
        pons_buf_str(b, "\n");
    }
    free(text);
    return 0;
}

static void line(void *user, const pons_value *v)
{
    note_line(user, v);
}

static int try_it(const void *user, char **ret, pons_error *err)
{
    const text_case *c = user;
    pons_autobuf b = PONS_BUF_INIT;
    pons_autovalue script = NULL;
    pons_value *faults = NULL;
    static const char *const names[] = {
        [PONS_BT_MDSL] = "t.mdsl", [PONS_BT_JSON] = "t.json", [PONS_BT_XML] = "t.xml"};
    int rc = pons_value_parse(c->script, strlen(c->script), &script, err);
    rc = rc < 0 ? rc : pons_bt_try(names[c->format], c->text, script, line, &b, &faults, err);
    pons_value_unref(faults);
    return finish(rc, &b, ret, err);
}

static void trying(void **state)
{
    (void)state;
    oom_sweep("an MDSL tree at work", try_it, &mdsl);
    oom_sweep("a JSON tree at work", try_it, &json_form);
    oom_sweep("an XML tree at work", try_it, &xml);
}

static int leaf(pons_bt_call *call, void *user, pons_error *err)
{
    (void)user;
    pons_autovalue in = NULL;
    if (call->reason == PONS_BT_HALT) {
        return PONS_BT_READY;
    }
    int rc = pons_bt_call_input(call, "in", &in, err);
    if (rc == PONS_ENOMEM) {
        return rc;
    }
    pons_value *out = pons_object_whole("from", pons_optional(in), "at", json_integer(1), NULL);
    rc = out ? pons_bt_call_output(call, "out", out, err) : PONS_ENOMEM;
    return rc < 0 ? rc : PONS_BT_RUNNING;
}

static const char kept[] = "<root BTCPP_format=\"4\"><BehaviorTree ID=\"M\"><Sequence><Script "
                           "code=\"n := 1\"/><Work in=\"{goal}\" "
                           "out=\"{path}\"/></Sequence></BehaviorTree></root>";

static int open_kept(pons_bt_registry **leaves, pons_bt **bt, pons_bt_tree **t, pons_error *err)
{
    static const pons_bt_port ports[] = {{.name = "in"}, {.name = "out"}};
    static pons_clock_manual time;
    const pons_bt_leaf l = {.name = "Work", .ports = ports, .n_ports = 2, .fn = leaf};
    const pons_bt_tree_options none = {.clock = pons_clock_from_manual(&time)};
    pons_bt_tree_options o = none;
    *leaves = pons_bt_registry_create();
    int rc = *leaves ? pons_bt_register(*leaves, &l, err) : PONS_ENOMEM;
    rc = rc < 0 ? rc : pons_bt_register_enum(*leaves, "RED", 3, err);
    const pons_bt_load_options how = {.format = PONS_BT_XML, .name = "kept", .leaves = *leaves};
    rc = rc < 0 ? rc : pons_bt_load(kept, strlen(kept), &how, bt, NULL, err);
    o.leaves = *leaves;
    return rc < 0 ? rc : pons_bt_tree_create(*bt, &o, t, err);
}

// Ticked, saved, restored into another tree, reloaded, and asked for everything.
static int keep(const void *user, char **ret, pons_error *err)
{
    (void)user;
    pons_autobuf b = PONS_BUF_INIT;
    pons_bt_registry *leaves[2] = {NULL};
    pons_bt *bt[2] = {NULL};
    pons_bt_tree *t[2] = {NULL};
    pons_autovalue saved = NULL;
    pons_autovalue goal = NULL;
    pons_bt_status s = PONS_BT_READY;
    int rc = open_kept(&leaves[0], &bt[0], &t[0], err);
    pons_value *v = rc < 0 ? NULL : pons_object_whole("x", json_real(1.5), NULL);
    rc = rc < 0 ? rc : v ? pons_bt_set(t[0], "goal", v, err) : PONS_ENOMEM;
    v = rc < 0 ? NULL : json_string("nobody's");
    rc = rc < 0 ? rc : v ? pons_bt_set(t[0], "spare", v, err) : PONS_ENOMEM;
    rc = rc < 0 ? rc : pons_bt_tick(t[0], PONS_BT_ONCE, &s, err);
    rc = rc < 0 ? rc : pons_bt_save(t[0], &saved, err);
    rc = rc < 0 ? rc : open_kept(&leaves[1], &bt[1], &t[1], err);
    rc = rc < 0 ? rc : pons_bt_restore(t[1], saved, err);
    rc = rc < 0 ? rc : pons_bt_reload(t[1], bt[0], leaves[0], err);
    rc = rc < 0 ? rc : pons_bt_get(t[1], "goal", &goal);
    if (rc >= 0) {
        pons_autovalue board = pons_bt_board(t[1]);
        char *states = pons_bt_states(t[1]);
        rc = board && states ? PONS_OK : PONS_ENOMEM;
        if (rc >= 0) {
            note_line(&b, board);
            note_line(&b, goal);
            pons_buf_str(&b, states);
        }
        free(states);
    }
    for (int i = 0; i < 2; i++) {
        pons_bt_tree_destroy(t[i]);
        pons_bt_unref(bt[i]);
        pons_bt_registry_destroy(leaves[i]);
    }
    return finish(rc, &b, ret, err);
}

static void keeping(void **state)
{
    (void)state;
    oom_sweep("a tree kept", keep, NULL);
}

int main(void)
{
    oom_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading),
        cmocka_unit_test(trying),
        cmocka_unit_test(keeping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
