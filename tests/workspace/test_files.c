// test_files.c - the files as people have them: what is read of them, what is wrong and where, and what
// a change leaves as it was.
#include "unit.h"
#include "workspace/ws_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pons_ws_doc *read_text(pons_ws_file file, const char *text)
{
    return help_read(file, text, strlen(text));
}

static const pons_value *value_of(const pons_ws_doc *d, const char *kind, const char *id)
{
    const pons_ws_record *r = pons_ws_find(d, kind, id);
    if (!r) {
        fail_msg("no %s %s", kind, id);
    }
    return r->value;
}

static void expect_fault(const pons_ws_doc *d, size_t i, uint32_t line, uint32_t column,
                         const char *what)
{
    size_t n;
    const pons_ws_fault *f = pons_ws_faults(d, &n);
    if (n <= i || f[i].line != line || f[i].column != column || !strstr(f[i].what, what)) {
        fail_msg("%zu faults; wanted %u:%u %s, got %u:%u %s", n, line, column, what,
                 n > i ? f[i].line : 0, n > i ? f[i].column : 0, n > i ? f[i].what : "none");
    }
}

// The text with one record changed; free().
static char *changed(const pons_ws_doc *d, const char *kind, const char *id, const char *patch)
{
    pons_autobuf out = PONS_BUF_INIT;
    pons_error err = PONS_ERROR_INIT;
    const pons_ws_record *r = pons_ws_find(d, kind, id);
    pons_value *value = r ? json_deep_copy(r->value) : json_object();
    pons_autovalue more = json_loads(patch, 0, NULL);
    json_object_update(value, more);
    const pons_ws_change c = {kind, id, value};
    if (pons_ws_render(d, &c, 1, 0, &out, &err) < 0) {
        fail_msg("%s", err.message);
    }
    json_decref(value);
    return pons_buf_take(&out, NULL);
}

static void the_seeds_files_are_read(void **state)
{
    (void)state;
    pons_ws_doc *d = help_seed(PONS_WS_EMBODIED);
    const pons_value *limits = value_of(d, "limits", "limits");
    assert_true(pons_get_num(limits, "max_reach_m", 0) == 0.855);
    assert_true(pons_get_num(limits, "max_payload_kg", 0) == 3.0);
    assert_true(pons_get_num(limits, "workspace_volume_m3", 0) == 1.5);
    assert_non_null(pons_ws_find(d, "action_type", "target_navigation"));
    pons_ws_destroy(d);
    d = help_seed(PONS_WS_TASK);
    assert_string_equal(pons_get_str(value_of(d, "task", "task"), "title", ""), "整理桌面");
    assert_string_equal(pons_get_str(value_of(d, "subtask", "3"), "status", ""), "running");
    pons_ws_destroy(d);
    d = help_seed(PONS_WS_LESSONS);
    const pons_value *lesson =
        value_of(d, "lesson", "2025-04-01 12:00:05 抓取失败:物体超出工作空间");
    assert_string_equal(pons_get_str(lesson, "action", ""), "pick_up apple_01");
    pons_ws_destroy(d);
    d = help_seed(PONS_WS_ENVIRONMENT);
    assert_non_null(pons_ws_find(d, "edge", "apple_01 on table_01"));
    assert_string_equal(pons_get_str(value_of(d, "robot_state", "franka_001"), "gripper", ""),
                        "open");
    pons_ws_destroy(d);
}

static void other_shapes_are_read(void **state)
{
    (void)state;
    pons_ws_doc *d = read_text(PONS_WS_ACTION, "{\"action_type\":\"stop\",\"id\":\"a\"}");
    assert_string_equal(pons_get_str(value_of(d, "action", "a"), "status", ""), "pending");
    pons_ws_destroy(d);
    // The heading that says the kind of page takes the title; a person's own stays.
    static const char *const headings[][2] = {{"# 任务\n", "# 任务:扫地\n"},
                                              {"# 我的计划\n", "# 我的计划\n"}};
    for (size_t i = 0; i < 2; i++) {
        d = read_text(PONS_WS_TASK, headings[i][0]);
        char *out = changed(d, "task", "task", "{\"title\":\"扫地\"}");
        assert_string_equal(out, headings[i][1]);
        free(out);
        pons_ws_destroy(d);
    }
    d = read_text(PONS_WS_ACTION,
                  "{\"action_type\":\"stop\",\"parameters\":{}}"); // none has named it
    size_t n;
    const pons_ws_record *only = pons_ws_records(d, &n);
    assert_int_equal(n, 1);
    assert_int_equal(strncmp(only->id, PONS_WS_UNNAMED, strlen(PONS_WS_UNNAMED)), 0);
    char *out = changed(d, "action", only->id, "{\"action_id\":\"b\"}");
    assert_non_null(strstr(out, "\"id\": \"b\""));
    pons_ws_destroy(d);
    d = help_read(PONS_WS_ACTION, out, strlen(out)); // one that joins it makes a list of them
    free(out);
    out = changed(d, "action", "c", "{\"action_id\":\"c\",\"action_type\":\"wait\"}");
    pons_ws_destroy(d);
    d = help_read(PONS_WS_ACTION, out, strlen(out));
    free(out);
    pons_ws_records(d, &n);
    assert_int_equal(n, 2);
    value_of(d, "action", "b");
    value_of(d, "action", "c");
    pons_ws_destroy(d);
    d = read_text(PONS_WS_ACTION, "actions:\n- id: a\n  action_type: stop\n  status: canceled\n");
    assert_string_equal(pons_get_str(value_of(d, "action", "a"), "status", ""), "cancelled");
    pons_ws_destroy(d);
    d = read_text(PONS_WS_ACTION,
                  "~~~JSON\n[{\"action_id\":\"a\",\"action_type\":\"stop\"}]\n~~~\n");
    assert_non_null(pons_ws_find(d, "action", "a"));
    pons_ws_destroy(d);
    d = read_text(PONS_WS_ENVIRONMENT, "```json\n{\"apple\":{\"position\":[1,2,3]}}\n```\n");
    assert_non_null(pons_ws_find(d, "object", "apple"));
    pons_ws_destroy(d);
    d = read_text(
        PONS_WS_ENVIRONMENT,
        "```json\n{\"schema_version\":\"v1\",\"robot\":{\"robot_id\":\"r\"},"
        "\"objects\":{\"sim::cup\":{\"name\":\"c\"}},"
        "\"relations\":[{\"subject\":\"a\",\"relation\":\"on\",\"object\":\"b\"}]}\n```\n");
    assert_non_null(pons_ws_find(d, "robot_state", "r"));
    assert_string_equal(pons_get_str(value_of(d, "object", "cup"), "target", ""), "sim");
    assert_non_null(pons_ws_find(d, "edge", "a on b"));
    pons_ws_destroy(d);
    d = read_text(PONS_WS_SESSIONS, "# Runtime Sessions\n\n```yaml\nversion: runtime_sessions_v1\n"
                                    "sessions:\n- session_id: s\n  target_ref: target://t\n"
                                    "  skillruntime_ref: skillruntime://k\n"
                                    "  timeouts:\n    execute_timeout_s: 300.0\n"
                                    "  retry:\n    max_retries: 2\n```\n");
    const pons_value *s = value_of(d, "session", "s");
    assert_int_equal(pons_ws_doc_dialect(d), PONS_WS_PAOS2);
    assert_string_equal(pons_get_str(s, "target_ref", ""), "t");
    assert_int_equal(pons_get_int(pons_get(s, "retry"), "max_attempts", 0), 3);
    assert_true(pons_get_num(pons_get(s, "timeouts"), "session", 0) == 300.0);
    pons_ws_destroy(d);
    d = read_text(PONS_WS_SKILLS, "```text\nskills: none here\n```\n```yml\nskills:\n- id: a\n"
                                  "  policy_client: /models/x\n```\n");
    assert_string_equal(
        pons_get_str(pons_get(value_of(d, "skill", "a"), "policy_client"), "checkpoint", ""),
        "/models/x");
    pons_ws_destroy(d);
}

// EMBODIED as PhyAgentOS's drivers bring it: names as code, limits with words behind them or in a table, sensors by
// bold names.
static void a_profile_of_phyagentos_is_read(void **state)
{
    (void)state;
    pons_ws_doc *d =
        read_text(PONS_WS_EMBODIED,
                  "# Robot Embodiment Declaration\n\n## Identity\n\n- **Name**: Bench arm\n"
                  "- **Engine**: `BenchEngine`\n\n## Sensors\n\n- **LiDAR**: 4D, all around\n"
                  "- **Camera**: none\n- Sonar: none\n- [ ] **RGB-D**: on the wrist\n- [x] Joint "
                  "Encoders (7x)\n\n"
                  "## Supported Actions\n\n| Action | Parameters | Description |\n|---|---|---|\n"
                  "| `move_to` | `x, y, z` (cm) | Move the tool |\n| `nod_head` | — | Nod |\n"
                  "| `pose` / `arm_pose` | `target: string` | Go |\n\n## Physical Constraints\n\n"
                  "- **Max payload**: 50 g\n- **Max reach**: 85 cm from base\n"
                  "- **Collision policy**: stop at 2 N\n\n## Navigation Capabilities\n\n"
                  "- **Frames**: `map`, `odom`\n- **Max linear speed**: 1.5 m/s\n");
    size_t n;
    const pons_value *drive = value_of(d, "limits", "Navigation Capabilities limits");
    assert_true(pons_get_num(drive, "max_speed_mps", 0) == 1.5);
    assert_string_equal(pons_get_str(drive, "Frames", ""), "map, odom");
    pons_ws_faults(d, &n);
    assert_int_equal(n, 0);
    const pons_value *limits = value_of(d, "limits", "limits");
    assert_true(pons_get_num(limits, "max_reach_m", 0) == 0.85);
    assert_true(pons_get_num(limits, "max_payload_kg", 0) == 0.05);
    assert_string_equal(pons_get_str(limits, "Collision policy", ""), "stop at 2 N");
    assert_string_equal(pons_get_str(value_of(d, "identity", "identity"), "model", ""),
                        "Bench arm");
    const pons_value *lidar = value_of(d, "sensor", "LiDAR");
    assert_string_equal(pons_get_str(lidar, "description", ""), "4D, all around");
    assert_true(pons_get_bool(lidar, "present", false));
    assert_false(pons_get_bool(value_of(d, "sensor", "Camera"), "present", true));
    assert_false(pons_get_bool(value_of(d, "sensor", "Sonar"), "present", true));
    assert_false(pons_get_bool(value_of(d, "sensor", "RGB-D"), "present", true));
    value_of(d, "sensor", "Joint Encoders (7x)");
    assert_string_equal(pons_get_str(value_of(d, "action_type", "move_to"), "parameters", ""),
                        "`x, y, z` (cm)");
    value_of(d, "action_type", "nod_head");
    value_of(d, "action_type", "pose / arm_pose");
    pons_ws_destroy(d);
}

static void limits_have_units_and_words(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double reach_m; // NAN: it is refused
    } rows[] = {
        {"- **Max Reach**: 0.855 m", 0.855},
        {"- **Max reach**: 85 cm from base", 0.85},
        {"- Reach: up to 850 mm (configurable)", 0.85},
        {"- **Workspace radius**: max 0.46 m from base", 0.46},
        {"- **最大臂展**: 约 85 厘米,从基座算起", 0.85},
        {"- Reach: 2\n- Max Reach: 1.5 metres", 1.5}, // the lower one holds
        {"| Parameter | Value |\n|---|---|\n| Max reach | 855 mm from base |", 0.855},
        {"- Reach: nan", NAN},
        {"- Reach: inf m", NAN},
        {"- Reach: 0x10 m", NAN},
        {"- Reach: -1 m", NAN},
        {"- Reach: > 1 m", NAN},
        {"- Reach: 1 kg", NAN},
        {"- Reach: 1 mole", NAN},
        {"- Reach: 0.5 m, 0.8 m with the rail", NAN}, // nobody knows which
        {"- Reach: 0.5-0.8 m", NAN},
        {"| Parameter | Value |\n|---|---|\n| Max reach | far |", NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_autobuf text = PONS_BUF_INIT;
        pons_buf_printf(&text, "## Physical Constraints\n\n%s\n", rows[i].line);
        pons_ws_doc *d = read_text(PONS_WS_EMBODIED, text.data);
        const pons_ws_record *r = pons_ws_find(d, "limits", "limits");
        const double is = r ? pons_get_num(r->value, "max_reach_m", -1) : NAN;
        if (isnan(rows[i].reach_m) ? r != NULL : fabs(is - rows[i].reach_m) > 1e-9) {
            fail_msg("%s is %g", rows[i].line, is);
        }
        pons_ws_destroy(d);
    }
}

// Tables as people head them, and a name in backticks.
static void peoples_own_forms(void **state)
{
    (void)state;
    pons_ws_doc *d = read_text(PONS_WS_TASK, "# 任务\n\n| 步骤 | 描述 | 状态 |\n|---|---|---|\n"
                                             "| 1 | 去厨房 | pending |\n| 2 | 回来 | done |\n");
    assert_string_equal(pons_get_str(value_of(d, "subtask", "1"), "action", ""), "去厨房");
    assert_string_equal(pons_get_str(value_of(d, "subtask", "2"), "status", ""), "done");
    pons_ws_destroy(d);
    d = read_text(PONS_WS_ACTION,
                  "```json\n{\"actions\": [{\"action_id\": \"a1\", \"action_type\": "
                  "\"`move_to`\", \"params\": {}, \"status\": \"pending\"}]}\n```\n");
    assert_string_equal(pons_get_str(value_of(d, "action", "a1"), "action_type", ""), "move_to");
    pons_ws_destroy(d);
}

// A registry of runtime skills as PhyAgentOS writes it, and its SKILLS.md, which is prose with an example.
static void runtime_skills_are_read(void **state)
{
    (void)state;
    static const char registry[] =
        "# Runtime Skills\n\n```yaml\nversion: runtime_skill_registry_v1\nskillruntimes:\n"
        "  - id: vla\n    runtime: OpenPISkillRuntime\n    runtime_kind: policy\n"
        "    supported_target_kinds: [simulation, real_robot]\n"
        "    policy:\n      policy_client: openpi\n      policy_adapter: policy_adapter://a\n"
        "    agent_exposure: none\n```\n";
    static const char prose[] =
        "# Agent Skills\n\nSkills are Markdown.\n\n```yaml\n---\nname: example-skill\n"
        "metadata: {\"always\": false}\n---\n```\n\n- `a`: b\n";
    size_t n;
    pons_ws_file file;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf out = PONS_BUF_INIT, back = PONS_BUF_INIT;
    assert_int_equal(pons_ws_file_of("SKILLRUNTIME.md", &file), PONS_OK);
    pons_ws_doc *d = read_text(file, registry);
    const pons_value *skill = value_of(d, "skill", "vla"),
                     *client = pons_get(skill, "policy_client");
    pons_ws_faults(d, &n);
    assert_int_equal(n, 0);
    assert_int_equal(pons_ws_doc_dialect(d), PONS_WS_PAOS2);
    assert_string_equal(pons_get_str(skill, "runtime", ""), "OpenPISkillRuntime");
    assert_string_equal(pons_get_str(skill, "runtime_kind", ""), "policy");
    assert_string_equal(
        json_string_value(json_array_get(pons_get(skill, "supported_target_types"), 0)), "sim");
    assert_string_equal(pons_get_str(client, "type", ""), "openpi");
    assert_string_equal(pons_get_str(client, "policy_adapter", ""), "policy_adapter://a");
    // To the seed's words and back: its own again.
    assert_int_equal(pons_ws_convert(d, PONS_WS_SEED, &out, &err), PONS_OK);
    pons_ws_destroy(d);
    d = help_read(file, out.data, out.len);
    assert_non_null(strstr(out.data, "type: openpi"));
    assert_int_equal(pons_ws_convert(d, PONS_WS_PAOS2, &back, &err), PONS_OK);
    assert_non_null(strstr(back.data, "policy_client: openpi"));
    assert_non_null(strstr(back.data, "simulation"));
    assert_non_null(strstr(back.data, "version: runtime_skill_registry_v1"));
    assert_null(strstr(back.data, "pons kept"));
    pons_ws_destroy(d);

    d = read_text(PONS_WS_SKILLS, prose);
    pons_ws_records(d, &n);
    assert_int_equal(n, 0);
    pons_ws_faults(d, &n);
    assert_int_equal(n, 0);
    pons_buf_clear(&out);
    assert_int_equal(pons_ws_convert(d, PONS_WS_PAOS2, &out, &err), PONS_OK);
    assert_string_equal(out.data, prose);
    pons_ws_destroy(d);
    // What should be data and cannot be read is told.
    static const char two[] = "```yaml\n---\nskills: []\n---\n```\n";
    assert_int_equal(pons_ws_read(PONS_WS_SKILLS, two, strlen(two), "SKILLS.md", &d, &err),
                     PONS_EINVAL);
}

// States of PhyAgentOS's sessions, and state files: what they say in the model, and their wrapper in what is written.
static void states_and_state_files_are_read(void **state)
{
    (void)state;
    static const char *const states[][2] = {
        {"rejected", "failed"},         {"timed_out", "failed"},
        {"replanned", "failed"},        {"finalizing", "running"},
        {"verifying", "running"},       {"awaiting_verification", "running"},
        {"awaiting_replan", "running"}, {"cancelling", "running"},
        {"claimed", "running"}};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        pons_autobuf text = PONS_BUF_INIT;
        pons_buf_printf(&text,
                        "```yaml\nversion: runtime_sessions_v1\nsessions:\n- session_id: s\n"
                        "  target_ref: target://t\n  skillruntime_ref: skillruntime://k\n"
                        "  status: %s\n  priority: normal\n```\n",
                        states[i][0]);
        pons_ws_doc *d = read_text(PONS_WS_SESSIONS, text.data);
        assert_string_equal(pons_get_str(value_of(d, "session", "s"), "status", ""), states[i][1]);
        char *out = changed(d, "session", "s", "{\"priority\": \"low\"}");
        assert_non_null(strstr(out, states[i][0])); // it stays as it was written
        free(out);
        pons_ws_destroy(d);
    }
    pons_autobuf out = PONS_BUF_INIT;
    pons_error err = PONS_ERROR_INIT;
    pons_ws_doc *d = read_text(
        PONS_WS_TARGETS,
        "```json\n{\"paos\": {\"protocol\": \"paos.state-file.v1\", \"kind\": \"targets\", "
        "\"revision\": \"r1\"},\n\"data\": {\"profile_id\": \"lab\", \"action_space\": "
        "[\"object.acquire\"],\n\"limits\": {\"speed\": {\"value\": 0.2}}}}\n```\n");
    const pons_value *v = value_of(d, "target", "lab");
    assert_string_equal(json_string_value(json_array_get(pons_get(v, "supported_skills"), 0)),
                        "object.acquire");
    assert_non_null(pons_get(v, "limits"));
    assert_int_equal(pons_ws_convert(d, PONS_WS_PAOS2, &out, &err), PONS_OK);
    assert_non_null(strstr(out.data, "paos.state-file.v1"));
    pons_ws_destroy(d);
    // A session that a state file intends has no target yet.
    d = read_text(
        PONS_WS_SESSIONS,
        "```json\n{\"paos\": {\"protocol\": \"paos.state-file.v1\"}, \"data\": {\"sessions\": "
        "[{\"session_id\": \"a\", \"intent\": \"tidy up\", \"acceptance_criteria\": [\"it is\"], "
        "\"retry_limit\": 1},\n{\"session_id\": \"b\"}]}}\n```\n");
    assert_string_equal(pons_get_str(value_of(d, "session", "a"), "intent", ""), "tidy up");
    expect_fault(d, 0, 3, 1, "target_ref is missing");
    pons_ws_destroy(d);
    d = read_text(PONS_WS_ENVIRONMENT,
                  "```json\n{\"paos\": {\"protocol\": \"paos.state-file.v1\"}, \"data\": "
                  "{\"schema_version\": \"paos.environment.v1\", \"scene_graph\": {\"nodes\": [], "
                  "\"relations\": []}, \"objects\": {\"a\": {\"position\": [1, 2, 3]}}}}\n```\n");
    assert_string_equal(pons_get_str(value_of(d, "scene", "scene"), "schema_version", ""), "v2.0");
    char *text = changed(d, "object", "a", "{\"position\": [4, 5, 6]}");
    assert_non_null(strstr(text, "\"paos.environment.v1\""));
    assert_non_null(strstr(text, "[4, 5, 6]"));
    free(text);
    pons_ws_destroy(d);
}

// Positions by their axes, and a robot's pose under its name there; what changes keeps the form.
static void positions_by_their_axes_are_read_and_kept(void **state)
{
    (void)state;
    pons_ws_doc *d = read_text(
        PONS_WS_ENVIRONMENT,
        "```json\n{\"schema_version\": \"PhyAgentOS.environment.v1\", \"scene_graph\": {\"nodes\": "
        "[{\"id\": \"n\", \"class\": \"cup\", \"center\": {\"x\": 0.5, \"y\": 1, \"z\": 0.75}}]},\n"
        "\"robots\": {\"r\": {\"robot_pose\": {\"frame\": \"map\", \"x\": 1, \"y\": 2, \"yaw\": "
        "0, \"stamp\": 9}}},\n"
        "\"objects\": {\"apple\": {\"position\": {\"x\": 5, \"y\": 5, \"z\": 0}},\n"
        "\"cup\": {\"position\": {\"x\": 5, \"y\": 5, \"frame\": \"map\"}},\n"
        "\"far\": {\"position\": {\"x\": 5, \"y\": \"nan\"}}}}\n```\n");
    expect_fault(d, 0, 6, 9, "position must be a list of numbers, or x, y and z");
    static const struct {
        const char *kind, *id, *key, *is;
    } rows[] = {
        {"node", "n", "position", "[0.5,1,0.75]"},
        {"node", "n", "type", "\"cup\""},
        {"object", "apple", "position", "[5,5,0]"},
        {"object", "cup", "position", "{\"x\":5,\"y\":5,\"frame\":\"map\"}"},
        {"robot_state", "r", "pose", "{\"frame\":\"map\",\"x\":1,\"y\":2,\"yaw\":0,\"stamp\":9}"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = NULL;
        pons_value_line(pons_get(value_of(d, rows[i].kind, rows[i].id), rows[i].key), &text);
        assert_string_equal(text, rows[i].is);
        free(text);
    }
    char *out = changed(d, "object", "apple", "{\"position\": [1, 2, 3]}");
    assert_non_null(strstr(out, "\"position\": {\"x\": 1, \"y\": 2, \"z\": 3}"));
    free(out);
    out = changed(d, "robot_state", "r", "{\"pose\": [4, 5, 0.5]}");
    assert_non_null(
        strstr(out, "\"robot_pose\": {\"frame\": \"map\", \"x\": 4, \"y\": 5, \"yaw\": 0.5}"));
    assert_null(strstr(out, "\"pose\""));
    free(out);
    pons_ws_destroy(d);
}

// A key with a dot in it is no member of a member, and half of a map that is known is not all of it.
static void keys_that_nobody_knows_stay(void **state)
{
    (void)state;
    pons_ws_doc *d = read_text(PONS_WS_SESSIONS,
                               "sessions:\n- session_id: a\n  target_ref: t\n  skill_ref: s\n"
                               "  timeouts.session: 5\n  timeouts: {session: 9, mine: {x: 1}}\n"
                               "  empty: {}\n");
    const pons_value *v = value_of(d, "session", "a"), *times = pons_get(v, "timeouts");
    assert_int_equal(pons_get_int(v, "timeouts.session", 0), 5);
    assert_int_equal(pons_get_int(times, "session", 0), 9);
    assert_int_equal(pons_get_int(pons_get(times, "mine"), "x", 0), 1);
    assert_non_null(pons_get(v, "empty"));
    pons_ws_destroy(d);
}

static void a_fault_names_its_place_and_blocks_nobody(void **state)
{
    (void)state;
    pons_ws_doc *d = read_text(
        PONS_WS_ACTION, "# A\n\n```json\n{\"queue\": [\n"
                        "  {\"action_id\": \"a\", \"action_type\": \"x\",\n"
                        "   \"params\": {\"v\": NaN}},\n"
                        "  {\"action_id\": \"b\", \"action_type\": \"x\"},\n"
                        "  {\"action_id\": \"c\", \"action_type\": \"x\", \"action_id\": \"d\"},\n"
                        "  {\"action_id\": \"e\", \"action_type\": \"x\", \"id\": \"f\"},\n"
                        "  {\"action_id\": \"g\", \"action_type\": \"x\", \"status\": \"odd\"},\n"
                        "  {\"action_id\": \"b\", \"action_type\": \"y\"},\n"
                        "  {\"action_id\": \"h\", \"action_type\": \"y\"}\n"
                        "]}\n```\n");
    size_t n;
    pons_ws_records(d, &n);
    assert_int_equal(n, 2);
    assert_non_null(pons_ws_find(d, "action", "b"));
    assert_non_null(pons_ws_find(d, "action", "h"));
    expect_fault(d, 0, 6, 15, "NaN");
    expect_fault(d, 1, 8, 42, "given twice");
    expect_fault(d, 2, 9, 42, "contradict");
    expect_fault(d, 3, 10, 42, "status cannot be 'odd'");
    expect_fault(d, 4, 11, 3, "the id 'b' is given twice, first in line 7");
    pons_ws_destroy(d);
    d = read_text(PONS_WS_EMBODIED, "## Physical Constraints\n- **Max Reach**: far\n");
    expect_fault(d, 0, 2, 18, "max_reach_m is 'far'");
    pons_ws_destroy(d);
    d = read_text(PONS_WS_TASK, "| 子任务 | 状态 |\n|--|--|\n| 1 | odd |\n| 2 | ✅ |\n");
    expect_fault(d, 0, 3, 7, "status cannot be 'odd'");
    assert_string_equal(pons_get_str(value_of(d, "subtask", "2"), "status", ""), "done");
    pons_ws_destroy(d);
}

// In YAML nan is a word, which may be somebody's name; .nan is a number that JSON cannot hold.
static void the_word_nan_is_no_number(void **state)
{
    (void)state;
    pons_ws_doc *d = read_text(PONS_WS_ENVIRONMENT,
                               "```yaml\nobjects:\n- {id: a, name: nan}\n- {id: inf, name: NaN}\n"
                               "- {id: b, name: .nan}\n- {id: c, position: [nan, 1, 2]}\n"
                               "- {id: d, name: \".nan\"}\n```\n");
    assert_string_equal(pons_get_str(value_of(d, "object", "a"), "name", ""), "nan");
    assert_string_equal(pons_get_str(value_of(d, "object", "inf"), "name", ""), "NaN");
    assert_string_equal(pons_get_str(value_of(d, "object", "d"), "name", ""), ".nan");
    expect_fault(d, 0, 5, 11, ".nan is not a number that JSON can hold");
    expect_fault(d, 1, 6, 11, "position must be a list of numbers");
    size_t n;
    pons_ws_faults(d, &n);
    assert_int_equal(n, 2);
    pons_ws_destroy(d);
}

static void what_cannot_be_read_says_where(void **state)
{
    (void)state;
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    const char *text = "# A\n\n```json\n{\"queue\": [\n```\n";
    assert_int_equal(pons_ws_read(PONS_WS_ACTION, text, strlen(text), "ACTION.md", &d, &err),
                     PONS_EINVAL);
    assert_non_null(strstr(err.source, "ACTION.md:"));
    text = "sessions:\n  - a: [\n";
    assert_int_equal(pons_ws_read(PONS_WS_SESSIONS, text, strlen(text), "SESSIONS.md", &d, &err),
                     PONS_EINVAL);
    // A file of words has no records, and is no fault.
    d = read_text(PONS_WS_ACTION, "# Action queue\n\nNothing to do: yet.\n");
    size_t n;
    pons_ws_records(d, &n);
    assert_int_equal(n, 0);
    pons_ws_destroy(d);
}

// A page of fences holds nobody: empty ones are nobody's data, and of others so many are looked into and no more.
static void a_page_of_fences_is_looked_into_for_a_while(void **state)
{
    (void)state;
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    pons_autobuf text = PONS_BUF_INIT;
    for (int i = 0; i < 500; i++) {
        pons_buf_str(&text, "```\n \n```\n");
    }
    pons_buf_str(
        &text, "```json\n{\"queue\": [{\"action_id\": \"a\", \"action_type\": \"stop\"}]}\n```\n");
    assert_int_equal(pons_ws_read(PONS_WS_ACTION, text.data, text.len, "ACTION.md", &d, &err), 0);
    assert_non_null(pons_ws_find(d, "action", "a"));
    pons_ws_destroy(d);
    d = NULL;
    pons_buf_clear(&text);
    for (int i = 0; i < 101; i++) {
        pons_buf_str(&text, "```\nnote: mine\n```\n");
    }
    assert_int_equal(pons_ws_read(PONS_WS_ACTION, text.data, text.len, "ACTION.md", &d, &err),
                     PONS_EINVAL);
    assert_string_equal(err.message, "the first 100 fenced blocks have none of its data");
    assert_string_equal(err.source, "ACTION.md:302:1");
    assert_null(d);
}

// Loops that hold a robot read pages: what would hold them is refused, in one line with its place.
static void a_page_that_would_hold_a_loop_is_refused(void **state)
{
    (void)state;
    static const struct {
        pons_ws_file file;
        const char *head, *piece;
        size_t size; // bytes
        const char *says, *at;
    } rows[] = {
        {PONS_WS_ACTION, "", "x", (1 << 20) + 1, "larger than 1 MiB", "P:1:1"},
        {PONS_WS_ACTION, "", "\n", 1 << 20, "more than 65536 lines", "P:65537:1"},
        {PONS_WS_TASK, "| a | b |\n|---|---|\n", "| 1 | x |\n", 1 << 18,
         "a page of more than 10000 lines", "P:10001:1"},
        {PONS_WS_ACTION, "```json\n", "[", 1 << 18, "nested deeper than 64", "P:2:1"},
        {PONS_WS_ACTION, "```json\n", "[\n", 60000, "nested deeper than 64", "P:66:1"},
        {PONS_WS_ACTION, "```json\n{\"queue\": [0", ", 1", 1 << 18, "a line of more than 64 KiB",
         "P:2:1"},
        {PONS_WS_SESSIONS, "sessions:\n", "  - 1\n", 1 << 18, "more than 32768 values",
         "P:32768:5"},
        {PONS_WS_ACTION, "```yaml\nqueue: |\n  x\n", "\n", 60000,
         "more than 256 blank lines, one after another", "P:260:1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pons_ws_doc *d = NULL;
        pons_error err = PONS_ERROR_INIT;
        pons_autobuf text = PONS_BUF_INIT;
        pons_buf_str(&text, rows[i].head);
        while (text.len < rows[i].size) {
            pons_buf_str(&text, rows[i].piece);
        }
        assert_int_equal(pons_ws_read(rows[i].file, text.data, text.len, "P", &d, &err),
                         PONS_EINVAL);
        assert_string_equal(err.message, rows[i].says);
        assert_string_equal(err.source, rows[i].at);
        assert_null(d);
    }
}

static void a_change_leaves_the_rest(void **state)
{
    (void)state;
    const char *text = "Words before.\r\n```yaml\r\n# a note\r\nsessions:\r\n"
                       "  - session_id: a   # mine\r\n    target_ref: t\r\n    skill_ref: k\r\n"
                       "  # between\r\n"
                       "  - skill_ref: k\r\n    custom: [1,   2]\r\n    session_id: b\r\n"
                       "    target_ref: target://t\r\nother: 1\r\n```\r\nWords behind.";
    pons_ws_doc *d = read_text(PONS_WS_SESSIONS, text);
    char *out = changed(d, "session", "b", "{\"status\":\"running\"}");
    const char *expect = "Words before.\r\n```yaml\r\n# a note\r\nsessions:\r\n"
                         "  - session_id: a   # mine\r\n    target_ref: t\r\n    skill_ref: k\r\n"
                         "  # between\r\n"
                         "  - skill_ref: k\r\n    custom: [1, 2]\r\n    session_id: b\r\n"
                         "    target_ref: \"target://t\"\r\n    status: running\r\nother: 1\r\n"
                         "```\r\nWords behind.";
    assert_string_equal(out, expect);
    free(out);
    pons_ws_destroy(d);
    d = read_text(PONS_WS_ACTION,
                  "{\"queue\": [{\"action_id\":\"a\",\"action_type\":\"x\",\"n\":NaN},"
                  " {\"action_id\":\"b\",\"action_type\":\"x\"}]}");
    out = changed(d, "action", "b", "{\"status\":\"running\"}");
    assert_string_equal(
        out, "{\"queue\": [{\"action_id\":\"a\",\"action_type\":\"x\",\"n\":NaN},"
             " {\"action_id\": \"b\", \"action_type\": \"x\", \"status\": \"running\"}]}");
    free(out);
    pons_ws_destroy(d);
    d = help_seed(PONS_WS_TASK);
    out = changed(d, "subtask", "3", "{\"status\":\"done\"}");
    assert_non_null(strstr(out, "| 3 | 放置到果篮 | 将苹果放入篮子 | ✅ done | 需要精确定位 |\n"));
    assert_non_null(strstr(out, "**总体进度**: 3/5 (60%)"));
    free(out);
    pons_ws_destroy(d);
}

static void a_changed_bullet_keeps_its_form(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"- **Max payload**: 3 kg", "- **Max payload**: 5 kg"},
        {"- **Max payload:** 3 kg", "- **Max payload:** 5 kg"},
        {"- Max payload:3 kg", "- Max payload: 5 kg"},
        {"- 最大载荷：3 kg", "- 最大载荷：5 kg"},
        {"- **最大载荷**： 3 kg", "- **最大载荷**： 5 kg"},
        {"| Parameter | Value |\n|---|---|\n| Max payload | 3 kg |",
         "| Parameter | Value |\n|---|---|\n| Max payload | 5 kg |"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pons_autobuf text = PONS_BUF_INIT, expect = PONS_BUF_INIT;
        pons_buf_printf(&text, "## Physical Constraints\n\n%s\n", rows[i][0]);
        pons_buf_printf(&expect, "## Physical Constraints\n\n%s\n", rows[i][1]);
        pons_ws_doc *d = read_text(PONS_WS_EMBODIED, text.data);
        char *out = changed(d, "limits", "limits", "{\"max_payload_kg\":5}");
        assert_string_equal(out, expect.data);
        free(out);
        pons_ws_destroy(d);
    }
}

static void nothing_changed_is_nothing_written(void **state)
{
    (void)state;
    for (int f = 0; f < PONS_WS_FILES; f++) {
        pons_ws_doc *d = help_seed((pons_ws_file)f);
        pons_autobuf out = PONS_BUF_INIT;
        size_t n, len;
        const pons_ws_record *r = pons_ws_records(d, &n);
        pons_ws_change *c = calloc(n, sizeof *c);
        for (size_t i = 0; i < n; i++) {
            c[i] = (pons_ws_change){r[i].kind, r[i].id, r[i].value};
        }
        assert_int_equal(pons_ws_render(d, c, 0, 0, &out, NULL), PONS_OK);
        assert_string_equal(out.data, pons_ws_text(d, &len));
        free(c);
        pons_ws_destroy(d);
    }
}

// Each record of each list, gone, and the others as they were: first, last, the only one.
static void records_come_and_go(void **state)
{
    (void)state;
    const uint64_t seed = 11;
    pons_rand r;
    pons_rand_seed(&r, seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 40; round++) {
        for (int f = 0; f < PONS_WS_FILES; f++) {
            const pons_ws_dialect dialect = (pons_ws_dialect)pons_rand_below(&r, PONS_WS_DIALECTS);
            pons_ws_doc *d = help_made_up(&r, (pons_ws_file)f, dialect);
            pons_ws_change c[128];
            size_t n, m, k = 0;
            const pons_ws_record *rec = pons_ws_records(d, &n);
            for (size_t i = 0; i < n; i++) {
                if (strcmp(rec[i].kind, "scene") != 0 && strcmp(rec[i].kind, "task") != 0 &&
                    pons_rand_below(&r, 2)) {
                    c[k++] = (pons_ws_change){rec[i].kind, rec[i].id, NULL};
                }
            }
            pons_autobuf out = PONS_BUF_INIT;
            pons_error err = PONS_ERROR_INIT;
            if (pons_ws_render(d, c, k, 9, &out, &err) < 0) {
                fail_msg("%s", err.message);
            }
            pons_ws_doc *less = help_read((pons_ws_file)f, out.data, out.len);
            pons_ws_records(less, &m);
            if (m + k != n) {
                fail_msg("%zu less %zu are %zu\n%s\n----\n%s", n, k, m, pons_ws_text(d, &m),
                         out.data);
            }
            for (size_t i = 0; i < n; i++) {
                const pons_ws_record *is = pons_ws_find(less, rec[i].kind, rec[i].id);
                assert_true(!is || json_equal(is->value, rec[i].value));
            }
            pons_ws_destroy(less);
            pons_ws_destroy(d);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seeds_files_are_read),
        cmocka_unit_test(other_shapes_are_read),
        cmocka_unit_test(a_profile_of_phyagentos_is_read),
        cmocka_unit_test(limits_have_units_and_words),
        cmocka_unit_test(peoples_own_forms),
        cmocka_unit_test(runtime_skills_are_read),
        cmocka_unit_test(states_and_state_files_are_read),
        cmocka_unit_test(positions_by_their_axes_are_read_and_kept),
        cmocka_unit_test(keys_that_nobody_knows_stay),
        cmocka_unit_test(a_fault_names_its_place_and_blocks_nobody),
        cmocka_unit_test(the_word_nan_is_no_number),
        cmocka_unit_test(what_cannot_be_read_says_where),
        cmocka_unit_test(a_page_of_fences_is_looked_into_for_a_while),
        cmocka_unit_test(a_page_that_would_hold_a_loop_is_refused),
        cmocka_unit_test(a_change_leaves_the_rest),
        cmocka_unit_test(a_changed_bullet_keeps_its_form),
        cmocka_unit_test(nothing_changed_is_nothing_written),
        cmocka_unit_test(records_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
