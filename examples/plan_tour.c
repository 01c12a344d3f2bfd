// plan_tour.c - the plan protocol in eight parts: made, filled, written, read, asked, answered,
// taken from a model, enumerated. It checks what it shows and ends with 1 when something is amiss.
//
//     cc examples/plan_tour.c -Iinclude … && ./plan_tour
#include "pons/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rule[] = "----------------------------------------";
static const char thick[] =
    "======================================================================";

static void must(bool good, const char *what, const pons_error *err)
{
    char line[1024];
    if (good) {
        return;
    }
    fprintf(stderr, "plan_tour: %s: %s\n", what, pons_error_line(err, line, sizeof line));
    exit(1);
}

static void part(int n, const char *title)
{
    printf("\n[%d] %s\n%s\n", n, title, rule);
}

// 1. A new plan: the time and the id come from outside, so that a run can be replayed.
static pons_plan *create(const pons_plan_origin *from)
{
    pons_plan *plan = NULL;
    pons_error err = PONS_ERROR_INIT;
    part(1, "创建 Plan");
    must(pons_plan_create_new("执行环境监测任务", "检测到环境参数异常,需要执行降温操作",
                              PONS_RISK_MEDIUM, "llm", from, &plan, &err) == PONS_OK,
         "create", &err);
    printf("创建计划: %s\n目标: %s\n风险等级: %s\n来源: %s\n", plan->plan_id, plan->goal,
           pons_risk_level_word(plan->risk_level), plan->source);
    return plan;
}

// 2. Four steps. What is not given has the protocol's default.
static void fill(pons_plan *plan)
{
    const pons_plan_step steps[] = {
        {.step_id = 1,
         .action = "query_world_state",
         .tool_call_type = PONS_TOOL_QUERY_WORLD,
         .parameters = "{\"query\":\"temperature\"}",
         .description = "查询当前温度",
         .metadata = "{\"source\":\"world_model\"}"},
        {.step_id = 2,
         .action = "confirm_action",
         .tool_call_type = PONS_TOOL_ASK_USER,
         .parameters = "{\"prompt\":\"是否启动降温设备?\"}",
         .description = "等待用户确认",
         .requires_confirmation = true,
         .confirmation_message = "当前温度过高,是否启动降温?"},
        {.step_id = 3,
         .action = "adjust_cooling",
         .tool_call_type = PONS_TOOL_EXECUTE,
         .parameters = "{\"device_id\":\"cooler_001\",\"level\":3}",
         .preconditions = "{\"temperature_above\":30}",
         .fallback = "alert_operator",
         .description = "调整降温设备",
         .metadata = "{\"device\":\"cooler\",\"priority\":\"high\"}"},
        {.step_id = 4,
         .action = "speak_notification",
         .tool_call_type = PONS_TOOL_SPEAK,
         .parameters = "{\"message\":\"降温设备已启动\",\"volume\":0.8}",
         .description = "通知操作员"},
    };
    pons_error err = PONS_ERROR_INIT;
    part(2, "添加 PlanStep");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        must(pons_plan_add_step(plan, &steps[i], &err) == PONS_OK, "add a step", &err);
    }
    must(pons_plan_add_step(plan, &steps[2], &err) == PONS_EEXIST, "the same id twice", &err);
    printf("添加了 %zu 个步骤\n", plan->n_steps);
    for (size_t i = 0; i < plan->n_steps; i++) {
        printf("  - Step %lld: %s (%s)\n", (long long)plan->steps[i].step_id, plan->steps[i].action,
               pons_tool_call_word(plan->steps[i].tool_call_type));
    }
    printf("再次添加: %s\n", err.message);
}

// 3. Canonical JSON: one plan has one text.
static char *write_out(const pons_plan *plan)
{
    enum { SHOWN = 200 };
    char *text = NULL;
    part(3, "序列化为 JSON");
    must(pons_plan_text(plan, &text) > 0, "write", &(pons_error){.status = PONS_ENOMEM});
    size_t n = SHOWN; // not in the middle of a character
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
        n--;
    }
    printf("Plan JSON:\n%.*s...\n", (int)n, text);
    return text;
}

// 4. And back.
static void read_back(const pons_plan *plan, const char *text, const pons_plan_origin *from)
{
    const pons_plan_read_options options = {.from = *from};
    pons_plan *restored = NULL;
    char *again = NULL;
    pons_error err = PONS_ERROR_INIT;
    part(4, "从 JSON 恢复 Plan");
    must(pons_plan_read(text, strlen(text), &options, &restored, &err) == PONS_OK, "read", &err);
    printf("恢复计划 ID: %s\n恢复步骤数: %zu\n恢复风险等级: %s\n", restored->plan_id,
           restored->n_steps, pons_risk_level_word(restored->risk_level));
    must(pons_plan_text(restored, &again) > 0 && strcmp(text, again) == 0 &&
             strcmp(plan->plan_id, restored->plan_id) == 0 && plan->n_steps == restored->n_steps,
         "the same after reading", &err);
    puts("✓ 序列化/反序列化验证通过");
    free(again);
    pons_plan_destroy(restored);
}

// 5. Statuses move along a table; a plan is asked what is left to do.
static void operate(pons_plan *plan)
{
    pons_error err = PONS_ERROR_INIT;
    part(5, "Plan 操作演示");
    printf("初始待执行步骤数: %zu\n", pons_plan_pending_steps(plan, NULL, 0));
    pons_plan_step *step1 = pons_plan_step_get(plan, 1), *step2 = pons_plan_step_get(plan, 2);
    must(pons_plan_step_move(step1, PONS_STEP_RUNNING, &err) == PONS_OK, "start", &err);
    must(pons_plan_current_step(plan) == step1, "the current step", &err);
    printf("Step 1 状态更新为: %s\n", pons_step_status_word(step1->status));
    must(pons_plan_step_move(step1, PONS_STEP_SUCCESS, &err) == PONS_OK, "end", &err);
    printf("Step 1 状态更新为: %s\n", pons_step_status_word(step1->status));
    must(pons_plan_step_move(step1, PONS_STEP_RUNNING, &err) == PONS_EPROTOCOL, "again", &err);
    printf("再次开始: %s\n", err.message);
    must(pons_plan_step_move(step2, PONS_STEP_WAIT_CONFIRMATION, &err) == PONS_OK, "wait", &err);
    pons_plan_step *waiting[4];
    const size_t n = pons_plan_waiting_steps(plan, waiting, 4);
    must(n == 1 && waiting[0] == step2, "the waiting step", &err);
    printf("等待确认的步骤: [%lld]\n", (long long)waiting[0]->step_id);
    must(!pons_plan_is_finished(plan) && !pons_plan_is_success(plan), "not at its end", &err);
    printf("计划是否完成: false\n计划是否成功: false\n下一个步骤 ID: %lld\n",
           (long long)pons_plan_next_step_id(plan));
}

static void show_result(const char *name, pons_execution_result *r)
{
    char *text = NULL;
    must(pons_execution_result_text(r, &text) > 0, "write", &(pons_error){.status = PONS_ENOMEM});
    printf("%s: %s\n", name, text);
    free(text);
    pons_execution_result_destroy(r);
}

// 6. What an executor reports.
static void results(const pons_plan *plan, double now_s)
{
    pons_execution_result *r = NULL;
    pons_error err = PONS_ERROR_INIT;
    part(6, "ExecutionResult 演示");
    must(pons_execution_result_success(plan->plan_id, 1, "温度查询成功",
                                       "{\"temperature\":32.5,\"humidity\":65}", now_s, &r,
                                       &err) == PONS_OK,
         "success", &err);
    show_result("成功结果", r);
    must(pons_execution_result_failure(plan->plan_id, 3, "设备通信失败",
                                       "{\"error_code\":\"E503\",\"device\":\"cooler_001\"}", now_s,
                                       &r, &err) == PONS_OK,
         "failure", &err);
    show_result("失败结果", r);
    must(pons_execution_result_skipped(plan->plan_id, 4, "条件不满足,跳过通知", now_s, &r, &err) ==
             PONS_OK,
         "skipped", &err);
    show_result("跳过结果", r);
    const pons_execution_result wrong = {
        .plan_id = plan->plan_id, .step_id = 1, .status = PONS_STEP_SUCCESS};
    must(pons_execution_result_create(&wrong, &r, &err) == PONS_EINVAL, "a contradiction", &err);
    printf("矛盾的结果: %s\n", err.message);
}

// 7. From a model's reply: as a value, and as the text that models really write.
static void from_model(const pons_plan_origin *from)
{
    static const char reply[] =
        "好的,计划如下:\n```json\n"
        "{'goal': '自动巡检任务', 'reasoning': '定时任务触发,执行标准巡检流程', 'risk_level': "
        "'low',\n"
        " 'requires_confirmation': False, 'steps': [\n"
        "  {'step_id': 1, 'action': 'move_to_location', 'tool_call_type': 'execute',\n"
        "   'parameters': {'target': 'zone_A'}, 'description': '移动到巡检区域A'},\n"
        "  {'step_id': 2, 'action': 'capture_sensor_data', 'tool_call_type': 'execute',\n"
        "   'parameters': {'sensors': ['temp', 'humidity']}, 'description': '采集传感器数据'},\n"
        "  {'step_id': 3, 'action': 'speak_report', 'tool_call_type': 'speak',\n"
        "   'parameters': {'content': '巡检完成'}, 'description': '报告巡检结果'},\n"
        "]}\n```\n";
    const pons_plan_read_options options = {.from = *from};
    pons_plan *read = NULL, *plan = NULL;
    pons_value *value = NULL;
    pons_error err = PONS_ERROR_INIT;
    part(7, "从 LLM 输出创建 Plan");
    must(pons_plan_read(reply, strlen(reply), &options, &read, &err) == PONS_OK, "read", &err);
    must(pons_plan_to_value(read, &value, &err) == PONS_OK, "a value", &err);
    must(pons_plan_from_llm_response(value, "llm", from, &plan, &err) == PONS_OK, "reply", &err);
    must(plan->n_steps == 3 && plan->steps[2].tool_call_type == PONS_TOOL_SPEAK, "steps", &err);
    printf("从 LLM 创建计划: %s\n目标: %s\n步骤数: %zu\n", plan->plan_id, plan->goal,
           plan->n_steps);
    pons_value_unref(value);
    pons_plan_destroy(read);
    pons_plan_destroy(plan);
}

// 8. The enumerations, as the header's tables have them.
static void enumerations(void)
{
    // The name without its prefix: PONS_RISK_LOW is LOW.
#define SHOW_RISK(symbol, word) printf("  - %s = %s\n", #symbol + strlen("PONS_RISK_"), word);
#define SHOW_STEP(symbol, word) printf("  - %s = %s\n", #symbol + strlen("PONS_STEP_"), word);
#define SHOW_PLAN(symbol, word) printf("  - %s = %s\n", #symbol + strlen("PONS_PLAN_"), word);
#define SHOW_TOOL(symbol, word) printf("  - %s = %s\n", #symbol + strlen("PONS_TOOL_"), word);
    part(8, "枚举使用演示");
    puts("RiskLevel 枚举:");
    PONS_RISK_LEVEL_TABLE(SHOW_RISK)
    puts("\nStepStatus 枚举:");
    PONS_STEP_STATUS_TABLE(SHOW_STEP)
    puts("\nPlanStatus 枚举:");
    PONS_PLAN_STATUS_TABLE(SHOW_PLAN)
    puts("\nToolCallType 枚举:");
    PONS_TOOL_CALL_TABLE(SHOW_TOOL)
}

int main(void)
{
    pons_rand rand;
    pons_value_init();
    pons_rand_seed(&rand, 1);
    const pons_plan_origin from = {.now_s = 1700000000.5, .rand = &rand};
    printf("%s\nTool Protocol 测试演示\n%s\n", thick, thick);
    pons_plan *plan = create(&from);
    fill(plan);
    char *text = write_out(plan);
    read_back(plan, text, &from);
    operate(plan);
    results(plan, from.now_s);
    from_model(&from);
    enumerations();
    printf("\n%s\n测试演示完成\n%s\n", thick, thick);
    free(text);
    pons_plan_destroy(plan);
    return 0;
}
