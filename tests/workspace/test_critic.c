// test_critic.c - a workspace's critic: the seed's two lessons are refused with their numbers, each becomes
// a lesson once and is refused by its name afterwards; every number of EMBODIED.md that a person lowers holds
// at once; what changed lifts a lesson; hostile words stay words.
#include "pons/workspace_critic.h"
#include "unit.h"
#include "ws_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct folder {
    char dir[64];
    pons_ws_place *place;
} folder;

static void put(const folder *f, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void look(const folder *f, pons_ws_file file)
{
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_place_look(f->place, file, &err), PONS_OK);
}

#define FRANKA(reach, payload, volume, sensor, actions)                                            \
    "# EMBODIED — Franka\n\n## Identity\n- **Robot Model**: Franka Emika Panda\n\n## Sensors\n"  \
    "- [" sensor "] RGB-D Camera\n- [x] Joint Encoders\n\n## Supported Actions\n"                  \
    "| Action Type | Description | Parameters |\n|---|---|---|\n" actions                          \
    "\n## Physical Constraints\n- **Max Reach**: " reach "\n- **Max Payload**: " payload           \
    "\n- **Workspace Volume**: " volume "\n"
#define ALL "| pick_up | | |\n| target_navigation | | |\n| strategy | | |\n"

#define SCENE(apple, chair)                                                                        \
    "```json\n{\"schema_version\": \"v2.0\", \"scene_graph\": {\"nodes\": [\n"                     \
    "{\"id\": \"kitchen_counter\", \"type\": \"place\", \"position\": [4.5, 0, 0]},\n"             \
    "{\"id\": \"hallway_midpoint\", \"type\": \"place\", \"position\": [2.5, 2, 0]},\n"            \
    "{\"id\": \"chair_01\", \"type\": \"furniture\", \"position\": " chair "}], \"edges\": []},\n" \
    "\"robots\": [{\"robot_id\": \"franka_001\", \"pose\": [0.5, 0, 0], \"holding\": null}],\n"    \
    "\"objects\": [{\"id\": \"apple_01\", \"name\": \"红苹果\", \"mass_kg\": 0.2, "             \
    "\"position\": " apple "}]}\n```\n"

static void begin(folder *f)
{
    pons_error err = PONS_ERROR_INIT;
    snprintf(f->dir, sizeof f->dir, "/tmp/pons-critic-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    put(f, "EMBODIED.md", FRANKA("0.855 m", "3.0 kg", "~3 m³", "x", ALL));
    put(f, "ENVIRONMENT.md", SCENE("[1.8, 0.75, 0.8]", "[2.5, 0.1, 0]"));
    put(f, "LESSONS.md", "# LESSONS\n\nMine.\n");
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
    assert_int_equal(pons_ws_place_open(f->dir, &o, &f->place, &err), PONS_OK);
}

static void end(folder *f)
{
    char command[96];
    pons_ws_place_close(f->place);
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
}

// Judges, learns, and gives what was said; free().
static char *ask(folder *f, const char *type, const char *params, bool *ret_known)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue p = NULL;
    pons_ws_judgement j;
    assert_int_equal(pons_value_parse(params, strlen(params), &p, &err), PONS_OK);
    const pons_ws_asked asked = {.action_type = type, .params = p, .robot_id = "franka_001"};
    pons_ws_judge(f->place, &asked, &j);
    if (ret_known) {
        *ret_known = j.known;
    }
    char *why = strdup(j.ok ? "" : j.why);
    if (!j.ok) {
        assert_int_equal(pons_ws_learn(f->place, &asked, &j, &err), PONS_OK);
        assert_true(*j.lesson != '\0');
    }
    pons_ws_judgement_clear(&j);
    return why;
}

static size_t lessons(const folder *f, pons_ws_record *ret)
{
    size_t n = 0;
    const pons_ws_record *all = pons_ws_records(pons_ws_place_doc(f->place, PONS_WS_LESSONS), &n);
    if (n && ret) {
        *ret = all[0];
    }
    return n;
}

static void has(const pons_value *v, const char *key, const char *part)
{
    const char *text = pons_get_str(v, key, "");
    if (!strstr(text, part)) {
        fail_msg("%s is '%s', without '%s'", key, text, part);
    }
}

static void refused(folder *f, const char *type, const char *params, const char *says)
{
    char *why = ask(f, type, params, NULL);
    if (*says ? !strstr(why, says) : *why != '\0') {
        fail_msg("%s %s: '%s', not '%s'", type, params, why, says);
    }
    free(why);
}

#define APPLE "{\"object_id\": \"apple_01\"}"
#define GO    "{\"target_label\": \"kitchen_counter\"}"

static void the_seeds_two_lessons(void **state)
{
    (void)state;
    folder f;
    pons_ws_record r = {0};
    bool known;
    begin(&f);
    refused(&f, "pick_up", APPLE, "[1.8, 0.75, 0.8] is 1.70 m away; max reach 0.855 m");
    assert_int_equal(lessons(&f, &r), 1);
    has(r.value, "title", "抓取失败:物体超出工作空间");
    has(r.value, "action", "pick_up apple_01");
    has(r.value, "reason", "[1.8, 0.75, 0.8]");
    has(r.value, "reason", "(0.855m)");
    has(r.value, "refusal", "EMBODIED.md Physical Constraints 校验失败");
    has(r.value, "fix", "move_to");
    refused(&f, "target_navigation", GO, "chair_01 stands on the direct way to kitchen_counter");
    assert_int_equal(lessons(&f, &r), 2);
    has(r.value, "title", "导航碰撞:路径被障碍物阻断");
    has(r.value, "action", "target_navigation to kitchen_counter");
    has(r.value, "fix", "hallway_midpoint");
    // Again: by name, and no second lesson.
    char *why = ask(&f, "pick_up", APPLE, &known);
    assert_true(known);
    assert_non_null(strstr(why, "抓取失败:物体超出工作空间"));
    free(why);
    assert_int_equal(lessons(&f, NULL), 2);
    // The chair is gone, the apple is near: both may be.
    put(&f, "ENVIRONMENT.md", SCENE("[1.1, 0.2, 0.3]", "[9, 9, 0]"));
    pons_ws_place_close(f.place);
    char path[128]; // the environment is no person's to edit while pons runs: begin anew
    snprintf(path, sizeof path, "rm -r %s/.pons", f.dir);
    assert_int_equal(system(path), 0);
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    refused(&f, "pick_up", APPLE, "");
    refused(&f, "target_navigation", GO, "");
    end(&f);
}

// Pages in the forms that PhyAgentOS writes: what they list may be, and what is beyond them may not.
static void pages_of_phyagentos_are_judged_by(void **state)
{
    (void)state;
    static const char embodied[] =
        "## Identity\n- **Name**: Bench arm\n\n## Sensors\n- **RGB-D**: on the wrist\n\n"
        "## Supported Actions\n\n| Action | Parameters |\n|---|---|\n"
        "| `pick_up` | `target: string` |\n| `pose` / `move_to` | `x, y, z` (cm) |\n\n"
        "## Physical Constraints\n"
        "- **Workspace bounds**: x ∈ [-80, 80], y ∈ [-50, 50], z ∈ [0, 60] (centimetres)\n"
        "- **Max payload**: 2 kg\n- **Max reach**: 85 cm from base\n";
    static const char scene[] =
        "```json\n{\"schema_version\": \"PhyAgentOS.environment.v1\",\n"
        "\"scene_graph\": {\"nodes\": [{\"id\": \"jar\", \"center\": "
        "{\"x\": 0.4, \"y\": 0.6, \"z\": 0.1}}]},\n"
        "\"robots\": {\"franka_001\": {\"robot_pose\": {\"frame\": \"map\", \"x\": 0, \"y\": 0, "
        "\"z\": 0, \"yaw\": 0}}},\n"
        "\"objects\": {\"near\": {\"position\": {\"x\": 0.4, \"y\": 0.1, \"z\": 0.2}},\n"
        "\"far\": {\"position\": {\"x\": 1.8, \"y\": 0.75, \"z\": 0.8}}}}\n```\n";
    static const struct {
        const char *type, *params, *says;
    } rows[] = {
        {"pick_up", "{\"target\": \"near\"}", ""},
        {"pick_up", "{\"target\": \"far\"}", "is 2.11 m away; max reach 0.85 m"},
        {"pick_up", "{\"object_id\": \"far\"}", "is 2.11 m away; max reach 0.85 m"},
        {"pick_up", "{\"object_id\": \"jar\"}", "has y = 0.6 m; the workspace goes up to 0.5 m"},
        {"move_to", "{\"target_pose\": {\"x\": 0.5, \"y\": 0, \"z\": 0.2}}", ""},
        {"move_to", "{\"target_pose\": {\"x\": 5, \"y\": 0, \"z\": 0.2}}", "max reach 0.85 m"},
        {"push", "{\"target\": \"near\"}", "can't do push"},
    };
    folder f;
    begin(&f);
    pons_ws_place_close(f.place);
    char path[128];
    snprintf(path, sizeof path, "rm -r %s/.pons", f.dir);
    assert_int_equal(system(path), 0);
    put(&f, "EMBODIED.md", embodied);
    put(&f, "ENVIRONMENT.md", scene);
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refused(&f, rows[i].type, rows[i].params, rows[i].says);
    }
    end(&f);
}

// What drives goes to the pose itself, whatever its arm's reach is.
static void a_base_with_a_reach_goes_there(void **state)
{
    (void)state;
    static const char embodied[] =
        "## Supported Actions\n\n| Action |\n|---|\n| `move_to` |\n| `target_navigation` |\n"
        "| `pick_up` |\n\n## Physical Constraints\n- **Max Reach**: 85 cm from base\n";
    folder f;
    begin(&f);
    pons_ws_place_close(f.place);
    char path[128];
    snprintf(path, sizeof path, "rm -r %s/.pons", f.dir);
    assert_int_equal(system(path), 0);
    put(&f, "EMBODIED.md", embodied);
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    refused(&f, "move_to", "{\"target_pose\": [9, 9, 0]}", "");
    refused(&f, "pick_up", APPLE, "max reach 0.85 m");
    end(&f);
}

// A page about several robots: each is judged by its own sections, and by those that are nobody's.
static void a_page_about_several_robots(void **state)
{
    (void)state;
    static const char embodied[] =
        "# Embodied Targets\n\n## Target: other\n\n### Identity\n- **Name**: other\n\n"
        "### Supported Actions\n\n| Action |\n|---|\n| `push` |\n| `pick_up` |\n\n"
        "### Constraints\n- **Max reach**: 9 m\n\n"
        "## Target: franka_001\n\n### Identity\n- **Name**: arm\n\n"
        "### Supported Actions\n\n| Action |\n|---|\n| `pick_up` |\n\n"
        "### Constraints\n- **Max reach**: 85 cm\n\n"
        "## Navigation Capabilities\n- **Frames**: `map`\n";
    folder f;
    begin(&f);
    pons_ws_place_close(f.place);
    char path[128];
    snprintf(path, sizeof path, "rm -r %s/.pons", f.dir);
    assert_int_equal(system(path), 0);
    put(&f, "EMBODIED.md", embodied);
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    size_t n;
    pons_ws_faults(pons_ws_place_doc(f.place, PONS_WS_EMBODIED), &n);
    assert_int_equal(n, 0);
    refused(&f, "push", APPLE, "can't do push");
    refused(&f, "pick_up", APPLE, "max reach 0.85 m");
    end(&f);
}

static const char *memory; // of the apple; NULL: none
static bool believed;

static bool seen(void *user, const char *what, char *line, size_t cap)
{
    snprintf(line, cap, "%s", memory ? memory : "");
    return believed;
}

// What the memory of what was seen knows of a thing stands behind a refusal, and what is gone from its place is none to
// pick.
static void it_judges_by_what_was_seen(void **state)
{
    (void)state;
    folder f;
    pons_error err = PONS_ERROR_INIT;
    begin(&f);
    pons_ws_place_close(f.place);
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL, .seen = seen};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    memory = "apple in kitchen, seen 40 min ago, 82 %";
    believed = true;
    refused(&f, "pick_up", APPLE, "goes 1.13 m (apple in kitchen, seen 40 min ago, 82 %)");
    pons_ws_place_close(f.place);
    char path[128]; // the environment is no person's to edit while pons runs: begin anew
    snprintf(path, sizeof path, "rm -r %s/.pons", f.dir);
    assert_int_equal(system(path), 0);
    put(&f, "ENVIRONMENT.md", SCENE("[0.8, 0.2, 0.3]", "[9, 9, 0]"));
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    char *why = ask(&f, "pick_up", APPLE, NULL);
    assert_string_equal(why, ""); // in reach, and believed to be there
    free(why);
    memory = "apple in kitchen, seen 40 min ago, 12 %";
    believed = false;
    refused(&f, "pick_up", APPLE,
            "seen: apple in kitchen, seen 40 min ago, 12 %: it may not be there any more");
    memory = NULL; // never seen: the file's word counts
    why = ask(&f, "pick_up", APPLE, NULL);
    assert_string_equal(why, "");
    free(why);
    end(&f);
}

// A failure's lesson says what to do about that failure.
static void a_failures_fix_fits_it(void **state)
{
    (void)state;
    static const struct {
        const char *code, *fix;
    } rows[] = {{"POLICY_UNREACHABLE", "policy_client.endpoint"},
                {"TARGET_DISABLED", "enabled: true"},
                {"SKILL_TIMEOUT", "timeouts.skill"},
                {"SKILL_FAILED", "改变位置、目标或环境后重试"}};
    folder f;
    pons_ws_record r = {0};
    begin(&f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue params = json_pack("{s:s}", "skill", rows[i].code);
        pons_ws_judgement j = {.rules = json_array()};
        const pons_ws_asked asked = {.action_type = "session", .params = params};
        assert_int_equal(
            pons_ws_learn_failure(f.place, &asked, &j, rows[i].code, "it says why", &err), PONS_OK);
        pons_ws_judgement_clear(&j);
        assert_int_equal(lessons(&f, &r), i + 1);
        has(r.value, "fix", rows[i].fix);
        has(r.value, "reason", "it says why");
    }
    // The same failure of the same session is one lesson, another failure is another.
    static const char *const codes[] = {"POLICY_TIMEOUT", "POLICY_ERROR", "POLICY_TIMEOUT"};
    for (size_t i = 0; i < 3; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue params = json_pack("{s:s}", "skill", "same");
        pons_ws_judgement j = {0};
        const pons_ws_asked asked = {.action_type = "session", .params = params, .robot_id = "t1"};
        pons_ws_judge(f.place, &asked, &j);
        assert_int_equal(pons_ws_learn_failure(f.place, &asked, &j, codes[i], "why", &err),
                         PONS_OK);
        pons_ws_judgement_clear(&j);
    }
    assert_int_equal(lessons(&f, NULL), sizeof rows / sizeof rows[0] + 2);
    end(&f);
}

static void what_a_person_lowers_holds(void **state)
{
    (void)state;
    static const struct {
        const char *embodied, *type, *params, *says;
    } rows[] = {
        {FRANKA("0.855 m", "3.0 kg", "~3 m³", "x", ALL), "pick_up", APPLE, ""},
        {FRANKA("0.5 m", "3.0 kg", "~3 m³", "x", ALL), "pick_up", APPLE, "max reach 0.5 m"},
        {FRANKA("0.855 m", "0.1 kg", "~3 m³", "x", ALL), "pick_up", APPLE, "max payload 0.1 kg"},
        {FRANKA("0.855 m", "3.0 kg", "~0.2 m³", "x", ALL), "pick_up", APPLE, "workspace of 0.2 m³"},
        {FRANKA("0.855 m", "3.0 kg", "~3 m³", " ", ALL), "pick_up", APPLE, "[ ] RGB-D Camera"},
        {FRANKA("0.855 m", "3.0 kg", "~3 m³", "x", "| move_to | | |\n"), "pick_up", APPLE,
         "can't do pick_up"},
        // From the shoulder, when it is said how high that is.
        {FRANKA("0.65 m", "3.0 kg", "~3 m³", "x", ALL), "pick_up", APPLE, "is 0.70 m away"},
        {FRANKA("0.65 m\n- **Reach From**: 30 cm", "3.0 kg", "~3 m³", "x", ALL), "pick_up", APPLE,
         ""},
        {FRANKA("0.65 m\n- **Reach From**: 1.2 m", "3.0 kg", "~3 m³", "x", ALL), "pick_up", APPLE,
         "is 1.10 m away; max reach 0.65 m"},
        // No other spelling of it is a way round.
        {FRANKA("0.5 m", "3.0 kg", "~3 m³", "x", ALL), "strategy",
         "{\"skill\": \"pick\", \"args\": {\"object\": \"apple_01\"}}", "max reach 0.5 m"},
        {FRANKA("0.5 m", "3.0 kg", "~3 m³", "x", ALL), "pick", "{\"object\": \"apple_01\"}",
         "max reach 0.5 m"},
        // What stops is never held up.
        {FRANKA("0.5 m", "3.0 kg", "~3 m³", " ", "| move_to | | |\n"), "stop", "{}", ""},
    };
    folder f;
    begin(&f);
    pons_ws_place_close(f.place);
    put(&f, "ENVIRONMENT.md", SCENE("[1.1, 0.2, 0.3]", "[9, 9, 0]"));
    char path[128];
    snprintf(path, sizeof path, "rm -r %s/.pons", f.dir);
    assert_int_equal(system(path), 0);
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[4096]; // a text without its stamp may be half of one: nothing is missing in it
        const pons_ws_doc *d = pons_ws_place_doc(f.place, PONS_WS_EMBODIED);
        snprintf(text, sizeof text, "%s<!-- pons generation=%llu -->\n", rows[i].embodied,
                 (unsigned long long)pons_ws_generation(d));
        put(&f, "EMBODIED.md", text);
        look(&f, PONS_WS_EMBODIED);
        refused(&f, rows[i].type, rows[i].params, rows[i].says);
    }
    end(&f);
}

// What cannot be read allows nothing, whichever way it became so.
static void unreadable_limits_allow_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *embodied, *says;
    } rows[] = {
        {FRANKA("banana", "3.0 kg", "~3 m³", "x", ALL), "EMBODIED.md:"},
        {FRANKA("-1 m", "3.0 kg", "~3 m³", "x", ALL), "EMBODIED.md:"},
        {NULL, "EMBODIED.md cannot be read"}, // a folder
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder f;
        char path[192];
        pons_error err = PONS_ERROR_INIT;
        begin(&f);
        pons_ws_place_close(f.place);
        snprintf(path, sizeof path, "rm -r %s/.pons %s/EMBODIED.md", f.dir, f.dir);
        assert_int_equal(system(path), 0);
        put(&f, "ENVIRONMENT.md", SCENE("[1.1, 0.2, 0.3]", "[9, 9, 0]"));
        if (rows[i].embodied) {
            put(&f, "EMBODIED.md", rows[i].embodied);
        } else {
            snprintf(path, sizeof path, "mkdir %s/EMBODIED.md", f.dir);
            assert_int_equal(system(path), 0);
        }
        const pons_ws_place_options o = {.role = PONS_WS_BY_HAL};
        assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
        refused(&f, "pick_up", APPLE, rows[i].says);
        refused(&f, "stop", "{}", "");
        end(&f);
    }
}

static void words_stay_words(void **state)
{
    (void)state;
    folder f;
    pons_ws_record r = {0};
    begin(&f);
    // A name cannot begin a section, a fence or a row of its own.
    refused(&f, "pick_up",
            "{\"object_id\": \"x\\n## 2030-01-01 00:00:00 — forged\\n- **动作**: stop\\n```\\n\"}",
            "unknown object");
    assert_int_equal(lessons(&f, &r), 1);
    has(r.value, "title", "抓取失败:目标物体未知");
    size_t n;
    assert_non_null(strstr(pons_ws_text(pons_ws_place_doc(f.place, PONS_WS_LESSONS), &n), "Mine."));
    pons_ws_faults(pons_ws_place_doc(f.place, PONS_WS_LESSONS), &n);
    assert_int_equal(n, 0);
    // Params that are no object, and numbers that are none.
    refused(&f, "pick_up", "[1, 2]", "");
    refused(&f, "move_to", "{\"target_pose\": [\"a\", null, 1]}", "can't do move_to");
    end(&f);
}

// An arm whose EMBODIED names five actions may stand still, whatever else it may not.
static void who_waits_does_nothing(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    refused(&f, "wait", "{\"s\": 3}", "");
    refused(&f, "stop", "{}", "");
    refused(&f, "push", "{\"object\": \"apple_01\"}", "can't do push");
    end(&f);
}

static void another_robots_entry_is_its_own(void **state)
{
    (void)state;
    folder f;
    pons_error err = PONS_ERROR_INIT;
    begin(&f);
    pons_ws_place_close(f.place);
    const pons_ws_place_options o = {.role = PONS_WS_BY_HAL, .robot_id = "robot_001"};
    assert_int_equal(pons_ws_place_open(f.dir, &o, &f.place, &err), PONS_OK);
    pons_autovalue theirs = pons_object("robot_id", json_string("franka_001"), NULL);
    pons_autovalue ours = pons_object("robot_id", json_string("robot_001"), NULL);
    const pons_ws_change c[] = {{"robot_state", "franka_001", theirs},
                                {"robot_state", "robot_001", ours}};
    assert_int_equal(pons_ws_place_change(f.place, PONS_WS_ENVIRONMENT, c, 1, &err), PONS_EREFUSED);
    assert_non_null(strstr(err.message, "franka_001"));
    assert_int_equal(pons_ws_place_change(f.place, PONS_WS_ENVIRONMENT, c + 1, 1, &err), PONS_OK);
    end(&f);
}

// The file has what the body says a second later; between two actions the body's own word counts.
static void the_body_knows_itself(void **state)
{
    (void)state;
    folder f;
    begin(&f);
    const struct {
        const char *robot, *says;
    } rows[] = {
        {"{\"pose\": {\"x\": 1.6, \"y\": 0.6, \"yaw\": 1}, \"holding\": null}", ""},
        {"{\"pose\": {\"x\": 1.6, \"y\": 0.6, \"yaw\": 1}, \"holding\": \"cup\"}", "holds cup"},
        {"{\"holding\": null}", "max reach 0.855 m"}, // where it stands is as the file has it
        {"{}", "max reach 0.855 m"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue robot = NULL;
        pons_autovalue params = pons_object("object_id", json_string("apple_01"), NULL);
        pons_ws_judgement j;
        assert_int_equal(pons_value_parse(rows[i].robot, strlen(rows[i].robot), &robot, &err),
                         PONS_OK);
        const pons_ws_asked asked = {"pick_up", params, "franka_001", robot};
        pons_ws_judge(f.place, &asked, &j);
        if (*rows[i].says ? !strstr(j.why, rows[i].says) : !j.ok) {
            fail_msg("%s: '%s', not '%s'", rows[i].robot, j.why, rows[i].says);
        }
        pons_ws_judgement_clear(&j);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seeds_two_lessons),
        cmocka_unit_test(pages_of_phyagentos_are_judged_by),
        cmocka_unit_test(a_base_with_a_reach_goes_there),
        cmocka_unit_test(a_page_about_several_robots),
        cmocka_unit_test(it_judges_by_what_was_seen),
        cmocka_unit_test(a_failures_fix_fits_it),
        cmocka_unit_test(what_a_person_lowers_holds),
        cmocka_unit_test(unreadable_limits_allow_nothing),
        cmocka_unit_test(words_stay_words),
        cmocka_unit_test(the_body_knows_itself),
        cmocka_unit_test(who_waits_does_nothing),
        cmocka_unit_test(another_robots_entry_is_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
