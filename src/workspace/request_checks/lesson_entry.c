// lesson_entry.c - what a refusal teaches: a dated section of LESSONS.md.
//
//     ## 2025-04-01 12:00:05 — 抓取失败:物体超出工作空间
//     - **动作**: pick_up apple_01
//     - **原因**: 目标位置 [1.8, 0.75, 0.8] 距离 1.70 m,超出 Franka Emika Panda 最大臂展 (0.855m)
//     - **Critic 拒绝**: EMBODIED.md Physical Constraints 校验失败 (reach: …)
//     - **修复**: 先执行 move_to 将机器人导航到更近位置
//     - **条件**: robot [0.5, 0.0, 0.0]; target [1.8, 0.75, 0.8]; reach 0.855 m; …
//
// The seed's files speak Chinese, the other dialects' English: a lesson is written in its file's language, with
// the critic's own words beside it. The conditions are what the judgement rests on. When they are the same
// again, so is its outcome.
#include "workspace/request_checks/lesson_entry.h"

#include "pons/buf.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LESSONS_MAX   2000 // a file of more is somebody's to tidy up: nothing is added
#define TRIES         60   // seconds that a lesson's date moves on, when one of its name is there
#define CONDITIONS_ZH "条件"
#define CONDITIONS_EN "Conditions"

// clang-format off
static const struct rule_words {
    const char *rule;
    const char *zh_title, *en_title;
    const char *part;         // of the file that it was held against
    const char *zh_fix, *en_fix; // NULL: as for others
} rules[] = {
    {"reach", "物体超出工作空间", "object beyond reach", "EMBODIED.md Physical Constraints",
     "先执行 move_to 将机器人导航到更近位置", "first move_to brings the robot closer"},
    {"volume", "物体超出工作空间", "object outside the workspace", "EMBODIED.md Physical Constraints",
     "先执行 move_to 将机器人导航到更近位置", "first move_to brings the robot closer"},
    {"workspace", "物体超出工作空间", "object outside the workspace", "EMBODIED.md Physical Constraints",
     "先执行 move_to 将机器人导航到更近位置", "first move_to brings the robot closer"},
    {"payload", "物体超出载荷", "object too heavy", "EMBODIED.md Physical Constraints",
     "换用更轻的物体,或交给载荷更大的机器人", "take something lighter, or a robot that carries more"},
    {"speed_limit", "超出速度限制", "too fast", "EMBODIED.md Physical Constraints",
     "降低速度后重试", "ask for less speed"},
    {"supported_action", "动作不受支持", "action not supported", "EMBODIED.md Supported Actions",
     "改用 Supported Actions 中的动作", "use one of the Supported Actions"},
    {"sensor", "缺少传感器", "sensor missing", "EMBODIED.md Sensors",
     "启用所需传感器后重试", "have the sensor first"},
    {"embodied", "能力画像无法读取", "EMBODIED.md cannot be read", "EMBODIED.md",
     "修复 EMBODIED.md 后重试", "mend EMBODIED.md first"},
    {"path", "路径被障碍物阻断", "the way is blocked", "ENVIRONMENT.md scene_graph", NULL, NULL},
    {"object", "目标物体未知", "object unknown", "ENVIRONMENT.md objects",
     "先观察环境,再使用 ENVIRONMENT.md 中的物体", "observe first; use an object of ENVIRONMENT.md"},
    {"holding", "夹爪状态不符", "gripper in the wrong state", "ENVIRONMENT.md robots",
     "先放下所持物体,或先抓取物体", "put down what is held, or take something first"},
};
// What to do about a failure, by its code. One that is not here has to do with the robot's surroundings.
static const struct {
    const char *code, *zh, *en;
} failures[] = {
    {"POLICY_UNREACHABLE", "启动策略服务,并检查 SKILLS.md 的 policy_client.endpoint", "start the policy's server; see policy_client.endpoint in SKILLS.md"},
    {"POLICY_TIMEOUT", "检查策略服务的负载,或增大 timeouts.skill", "see why the policy is slow, or give timeouts.skill more time"},
    {"POLICY_BAD_ANSWER", "修正策略的输出,使其符合策略接口", "mend what the policy answers: its form, width and length"},
    {"POLICY_ERROR", "查看策略自身的错误后重试", "look at the policy's own error first"},
    {"POLICY_NOT_AVAILABLE", "修正 SKILLS.md 的 policy_client", "mend policy_client in SKILLS.md"},
    {"DEPENDENCY_FAILED", "先让它所依赖的会话成功", "let the session that it depends on succeed first"},
    {"DEPENDENCY_UNKNOWN", "修正 depends_on 中的会话 id", "mend the session's id in depends_on"},
    {"DEPENDENCY_CYCLE", "去掉 depends_on 中的循环", "take the circle out of depends_on"},
    {"TARGET_UNKNOWN", "修正 target_ref,或在 TARGETS.md 中登记该目标", "mend target_ref, or register the target in TARGETS.md"},
    {"TARGET_DISABLED", "在 TARGETS.md 中启用该目标 (enabled: true)", "enable the target in TARGETS.md (enabled: true)"},
    {"SKILL_UNKNOWN", "修正 skill_ref,或在 SKILLS.md 中登记该技能", "mend skill_ref, or register the skill in SKILLS.md"},
    {"SKILL_NOT_SUPPORTED_BY_TARGET", "换用该目标支持的技能,或换一个目标", "use a skill that the target supports, or another target"},
    {"ADAPTER_UNKNOWN", "修正 routing.target_adapter 或目标的 adapter.class", "mend routing.target_adapter, or the target's adapter.class"},
    {"RUNTIME_UNKNOWN", "修正 routing.skill_runtime 或技能的 runtime", "mend routing.skill_runtime, or the skill's runtime"},
    {"REQUIRED_SENSOR_MISSING", "为该目标配置所需传感器,或换一个目标", "give the target the sensor, or use another target"},
    {"ENVIRONMENT_OUTPUT_MISSING", "先更新 ENVIRONMENT.md,补全所需数据", "have ENVIRONMENT.md say it first"},
    {"ACTION_CONTRACT_UNSATISFIED", "修正 execution.params 或目标的 config.control_mode", "mend execution.params, or the target's config.control_mode"},
    {"BACKEND_NOT_AVAILABLE", "修正目标的 backend、config.world,或安装该驱动", "mend the target's backend or config.world, or install the driver"},
    {"BODY_NOT_THERE", "启动该机器人的 body 后重试", "start the robot's body first"},
    {"BODY_REFUSED", "按 body 给出的限制修改参数", "keep to the limits that the body names"},
    {"STORE_FAILED", "检查存储 (pons doctor) 后重试", "look at the store (pons doctor) first"},
    {"SESSION_TIMEOUT", "拆分任务,或增大 timeouts.session", "ask for less at once, or give timeouts.session more time"},
    {"SKILL_TIMEOUT", "查明该步骤为何缓慢,或增大 timeouts.skill", "see why the step is slow, or give timeouts.skill more time"},
    {"OUTCOME_UNKNOWN", "先观察环境,确认结果后再决定", "look what has become of it before anything else"},
};
static const struct {
    const char *type, *zh, *en;
} verbs[] = {
    {"pick_up", "抓取失败", "pick_up failed"}, {"place", "放置失败", "place failed"},
    {"put_down", "放置失败", "put_down failed"}, {"move_to", "移动失败", "move_to failed"},
    {"target_navigation", "导航失败", "navigation failed"}, {"push", "推动失败", "push failed"},
};
// clang-format on

#define N(a) (sizeof(a) / sizeof(a)[0])

static const struct rule_words *words_of(const char *rule)
{
    for (size_t i = 0; i < N(rules); i++) {
        if (strcmp(rules[i].rule, rule) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

// ---- in words -----------------------------------------------------------------------------------

void pons__ws_action_says(const pons_ws_asked *a, char *ret, size_t cap)
{
    static const char *const names[] = {"object_id", "object", "target_object"};
    const char *label = pons_get_str(a->params, "target_label", NULL);
    pons_autobuf b = PONS_BUF_INIT;
    char *text = NULL;
    pons_buf_str(&b, a->action_type);
    if (label) {
        pons_buf_printf(&b, " to %s", label);
    }
    for (size_t i = 0; i < N(names) && !label; i++) {
        label = pons_get_str(a->params, names[i], NULL);
        if (label) {
            pons_buf_printf(&b, " %s", label);
        }
    }
    const pons_value *target = pons_get(a->params, "target_pose");
    target = target ? target : pons_get(a->params, "target_position");
    target = target ? target : pons_get(a->params, "target");
    const pons_value *rest = target ? target : !label ? a->params : NULL;
    if (json_is_string(rest)) {
        pons_buf_printf(&b, " %s", json_string_value(rest));
    } else if (rest && json_object_size(rest) + json_array_size(rest) &&
               pons_value_line(rest, &text) >= 0) {
        pons_buf_printf(&b, " %s", text);
    }
    free(text);
    for (size_t i = 0; i < b.len; i++) { // one line
        b.data[i] = (unsigned char)b.data[i] < 0x20 ? ' ' : b.data[i];
    }
    pons__ws_copy_text(ret, cap, b.data, b.len);
}

static void put_title(pons_buf *b, const char *type, const char *rule, bool zh)
{
    const struct rule_words *w = words_of(rule);
    const char *verb = zh ? "执行失败" : "failed";
    for (size_t i = 0; i < N(verbs); i++) {
        if (strcmp(verbs[i].type, type) == 0) {
            verb = zh ? verbs[i].zh : verbs[i].en;
        }
    }
    if (zh && strcmp(rule, "path") == 0) {
        verb = "导航碰撞";
    }
    pons_buf_printf(b, "%s%s%s", verb, zh ? ":" : ": ",
                    w ? (zh ? w->zh_title : w->en_title) : rule);
}

static void put_reason(pons_buf *b, const pons_value *rule, const ws_body *body, const ws_target *t,
                       bool zh)
{
    const char *name = pons_get_str(rule, "rule", ""), *by = pons_get_str(rule, "by", "");
    const double found = pons_get_num(rule, "found", 0), limit = pons_get_num(rule, "limit", 0);
    char where[96] = "";
    if (t->known && t->has_z) {
        snprintf(where, sizeof where, "[%.4g, %.4g, %.4g]", t->at[0], t->at[1], t->at[2]);
    } else if (t->known) {
        snprintf(where, sizeof where, "[%.4g, %.4g]", t->at[0], t->at[1]);
    }
    if (!zh) {
        pons_buf_str(b, pons_get_str(rule, "message", ""));
    } else if (strcmp(name, "reach") == 0) {
        pons_buf_printf(b, "目标位置 %s 距离 %.2f m,超出 %s 最大臂展 (%.4gm)", where, found,
                        body->name, limit);
    } else if (strcmp(name, "volume") == 0) {
        pons_buf_printf(b, "目标位置 %s 距离 %.2f m,超出工作空间 %.4g m³ (半径 %.2f m)", where,
                        found, body->volume_m3, limit);
    } else if (strcmp(name, "payload") == 0) {
        pons_buf_printf(b, "%s 重 %.4g kg,超出最大载荷 (%.4g kg)", t->id ? t->id : "物体", found,
                        limit);
    } else if (strcmp(name, "speed_limit") == 0) {
        pons_buf_printf(b, "速度 %.4g m/s 超出最大速度 (%.4g m/s)", found, limit);
    } else if (strcmp(name, "path") == 0) {
        pons_buf_printf(b, "直接路径上有 %s 阻挡 (距路径 %.2f m,需要 %.2f m)", by, found, limit);
    } else {
        pons_buf_str(b, pons_get_str(rule, "message", ""));
    }
}

static void put_fix(pons_buf *b, const pons_value *rule, bool zh)
{
    const struct rule_words *w = words_of(pons_get_str(rule, "rule", ""));
    const char *via = pons_get_str(rule, "via", "");
    if (strcmp(pons_get_str(rule, "rule", ""), "path") == 0) {
        if (*via) {
            pons_buf_printf(b, zh ? "拆解为经过 %s 的多段导航" : "go by %s, in several legs", via);
        } else {
            pons_buf_str(b, zh ? "先移开障碍物,或改变目标" : "clear the way, or go elsewhere");
        }
    } else if (w && w->zh_fix) {
        pons_buf_str(b, zh ? w->zh_fix : w->en_fix);
    } else {
        pons_buf_str(b, zh ? "检查参数后重新规划" : "look at the parameters and plan again");
    }
}

static void put_refusal(pons_buf *b, const pons_value *rule, bool zh)
{
    const char *name = pons_get_str(rule, "rule", "");
    const struct rule_words *w = words_of(name);
    if (strcmp(name, "path") == 0) {
        pons_buf_str(b, zh ? "未考虑障碍物,建议添加中间路径点"
                           : "obstacles were not considered: add waypoints");
    } else {
        pons_buf_printf(b, zh ? "%s 校验失败" : "%s check failed", w ? w->part : name);
    }
    pons_buf_printf(b, " (%s: %s)", name, pons_get_str(rule, "message", ""));
}

// ---- finding ------------------------------------------------------------------------------------

static const char *conditions_of(const pons_value *lesson)
{
    const char *zh = pons_get_str(lesson, CONDITIONS_ZH, NULL);
    return zh ? zh : pons_get_str(lesson, CONDITIONS_EN, NULL);
}

static bool names_place(const pons_value *lesson, const ws_target *t)
{
    char at[96];
    if (!t->known || !t->has_z) {
        return false;
    }
    snprintf(at, sizeof at, "[%.4g, %.4g, %.4g]", t->at[0], t->at[1], t->at[2]);
    return strstr(pons_get_str(lesson, "reason", ""), at) != NULL;
}

bool pons__ws_lesson_find(const pons_ws_doc *lessons, pons_ws_judgement *j, const ws_target *t,
                          bool refused)
{
    size_t n = 0;
    const pons_ws_record *all = lessons ? pons_ws_records(lessons, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const pons_value *v = all[i].value;
        const char *conditions = conditions_of(v);
        if (strcmp(pons_get_str(v, "action", ""), j->action) != 0) {
            continue;
        }
        if (conditions ? strcmp(conditions, j->conditions) == 0 : refused || names_place(v, t)) {
            pons__ws_copy_text(j->lesson, sizeof j->lesson, all[i].id, strlen(all[i].id));
            return true;
        }
    }
    return false;
}

// ---- writing ------------------------------------------------------------------------------------

static pons_value *text_of(pons_buf *b)
{
    return pons_string(b->data ? b->data : "");
}

static int add(pons_ws_place *place, pons_ws_judgement *j, pons_value *take, bool zh,
               pons_error *err)
{
    pons_autovalue lesson = take;
    const pons_ws_doc *d = pons_ws_place_doc(place, PONS_WS_LESSONS);
    const char *title = pons_get_str(lesson, "title", "");
    char when[32], id[PONS_WS_LESSON_MAX];
    size_t n = 0;
    time_t t = time(NULL);
    if (d) {
        pons_ws_records(d, &n);
    }
    if (n >= LESSONS_MAX) {
        return pons_error_set(err, PONS_EBUSY, "workspace", "LESSONS.md has %zu lessons: no more",
                              n);
    }
    for (int i = 0; i < TRIES; i++, t++) { // its date and title are its name
        struct tm tm;
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", gmtime_r(&t, &tm));
        snprintf(id, sizeof id, "%s %.200s", when, title);
        if (!d || !pons_ws_find(d, "lesson", id)) {
            break;
        }
    }
    json_object_set_new(lesson, "at", json_string(when));
    json_object_set_new(lesson, zh ? CONDITIONS_ZH : CONDITIONS_EN, pons_string(j->conditions));
    const pons_ws_change c = {"lesson", id, lesson};
    const int rc = pons_ws_place_change_as(place, PONS_WS_BY_CRITIC, PONS_WS_LESSONS, &c, 1, err);
    if (rc >= 0) {
        pons__ws_copy_text(j->lesson, sizeof j->lesson, id, strlen(id));
    }
    return rc;
}

static bool is_chinese(const pons_ws_place *place)
{
    const pons_ws_doc *d = pons_ws_place_doc(place, PONS_WS_LESSONS);
    return !d || pons_ws_doc_dialect(d) == PONS_WS_SEED;
}

int pons_ws_learn(pons_ws_place *place, const pons_ws_asked *asked, pons_ws_judgement *j,
                  pons_error *err)
{
    const pons_value *rule = json_array_get(j->rules, 0);
    if (j->ok || j->known || !rule) {
        return PONS_OK;
    }
    const bool zh = is_chinese(place);
    pons_autobuf title = PONS_BUF_INIT, reason = PONS_BUF_INIT, refusal = PONS_BUF_INIT,
                 fix = PONS_BUF_INIT;
    ws_body body;
    ws_target target;
    pons__ws_body_read(pons_ws_place_doc(place, PONS_WS_EMBODIED), asked->robot_id, &body);
    pons__ws_target_read(pons_ws_place_doc(place, PONS_WS_ENVIRONMENT), asked->params, &target);
    put_title(&title, asked->action_type, pons_get_str(rule, "rule", ""), zh);
    pons_each(each, j->rules) {
        pons_buf_str(&reason, each_at ? "; " : "");
        pons_buf_str(&refusal, each_at ? "; " : "");
        put_reason(&reason, each, &body, &target, zh);
        put_refusal(&refusal, each, zh);
    }
    put_fix(&fix, rule, zh);
    pons__ws_body_clear(&body);
    return add(place, j,
               pons_object("title", text_of(&title), "action", pons_string(j->action), "reason",
                           text_of(&reason), "refusal", text_of(&refusal), "fix", text_of(&fix),
                           NULL),
               zh, err);
}

int pons_ws_learn_failure(pons_ws_place *place, const pons_ws_asked *asked, pons_ws_judgement *j,
                          const char *code, const char *message, pons_error *err)
{
    const bool zh = is_chinese(place);
    pons_autobuf title = PONS_BUF_INIT;
    if (strcmp(asked->action_type, "session") ==
        0) { // of it the target and the failure are the conditions
        const ws_target nowhere = {.known = false};
        snprintf(j->conditions, sizeof j->conditions, "%.100s: %s",
                 asked->robot_id ? asked->robot_id : "", code);
        j->known =
            pons__ws_lesson_find(pons_ws_place_doc(place, PONS_WS_LESSONS), j, &nowhere, false);
    }
    if (j->known) {
        return PONS_OK;
    }
    put_title(&title, asked->action_type, code, zh);
    const char *fix =
        zh ? "改变位置、目标或环境后重试" : "try again from elsewhere, or when something changed";
    for (size_t i = 0; i < N(failures); i++) {
        if (strcmp(failures[i].code, code) == 0) {
            fix = zh ? failures[i].zh : failures[i].en;
        }
    }
    return add(place, j,
               pons_object("title", text_of(&title), "action", pons_string(j->action), "reason",
                           pons_string(message), "fix", json_string(fix), NULL),
               zh, err);
}
