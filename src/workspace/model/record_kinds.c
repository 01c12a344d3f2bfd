// record_kinds.c - the tables.
#include "workspace/model/record_kinds.h"

#include <string.h>
#include <strings.h>

#define N(a) (sizeof(a) / sizeof(a)[0])
#define P1   [PONS_WS_PAOS1]
#define P2   [PONS_WS_PAOS2]

// clang-format off
static const ws_field action[] = {
    {"action_id", {P1 = "id", P2 = "id"}, NULL, WS_STRING, true, .means = "names it"},
    {"action_type", {0}, "type", WS_STRING, true, .means = "move_to, pick_up, …"},
    {"params", {P1 = "parameters", P2 = "parameters"}, NULL, WS_MAP, .means = "what the type asks for"},
    {"status", {0}, NULL, WS_WORD, .words = "pending running completed failed cancelled canceled>cancelled succeeded>completed done>completed rejected>failed timed_out>failed queued>pending in_progress>running", .preset = "pending", .means = "where it is; none is pending"},
    {"robot_id", {0}, NULL, WS_STRING, .means = "who does it"},
    {"created_at", {0}, NULL, WS_STRING, .means = "ISO 8601"},
    {"completed_at", {0}, NULL, WS_STRING, .means = "ISO 8601"},
    {"result", {0}, NULL, WS_ANY, .means = "what came of it"},
    {"error", {0}, NULL, WS_ANY, .means = "code, message and trace of a failed one"},
};

#define SESSION_RUNS "finalizing>running awaiting_verification>running verifying>running awaiting_replan>running cancelling>running "
static const ws_field session[] = {
    {"session_id", {0}, NULL, WS_STRING, true, .means = "sess_<skill>_<n>"},
    {"target_ref", {0}, NULL, WS_REF, true, .words = "target", .unless = "intent", .means = "an id of TARGETS.md"},
    {"skill_ref", {P2 = "skillruntime_ref"}, NULL, WS_REF, true, .words = "skillruntime", .unless = "intent", .means = "an id of SKILLS.md"},
    {"task_description", {0}, NULL, WS_STRING, .means = "in words"},
    {"depends_on", {0}, NULL, WS_LIST, .means = "ids of sessions that must have succeeded before"},
    {"status", {0}, NULL, WS_WORD, .words = "pending running succeeded failed cancelled canceled>cancelled completed>succeeded queued>pending claimed>running preflight_checking>running " SESSION_RUNS "rejected>failed timed_out>failed replanned>failed", .preset = "pending", .means = "where it is"},
    {"priority", {0}, NULL, WS_WORD, .words = "high normal low", .preset = "normal", .means = "high before normal before low"},
    {"timeouts.session", {P1 = "timeouts.session_timeout_s", P2 = "timeouts.execute_timeout_s"}, NULL, WS_NUMBER, .means = "of the whole, s"},
    {"timeouts.skill", {P1 = "timeouts.skill_timeout_s", P2 = "timeouts.policy_timeout_s"}, NULL, WS_NUMBER, .means = "of one step, s"},
    {"retry.max_attempts", {P1 = "retry.max_retries-", P2 = "retry.max_retries-"}, NULL, WS_COUNT, .means = "how often in all"},
    {"retry.attempted", {0}, NULL, WS_COUNT, .means = "how often so far"},
    {"retry.backoff", {0}, NULL, WS_WORD, .words = "none fixed exponential", .means = "how long between them"},
    {"routing.target_adapter", {0}, NULL, WS_STRING, .means = "who speaks with the target"},
    {"routing.skill_runtime", {0}, NULL, WS_STRING, .means = "who runs the skill"},
    {"execution.params", {0}, NULL, WS_MAP, .means = "the skill's arguments"},
    {"created_at", {0}, NULL, WS_STRING, .means = "ISO 8601"},
    {"updated_at", {0}, NULL, WS_STRING, .means = "ISO 8601"},
    {"claimed_by", {0}, NULL, WS_STRING, .means = "who runs it"},
    {"claim_token", {0}, NULL, WS_STRING, .means = "by which claim"},
    {"result", {0}, NULL, WS_ANY, .means = "what came of it"},
    {"error", {0}, NULL, WS_ANY, .means = "code and message of a failed one"},
};

static const ws_field target[] = {
    {"id", {0}, "target_id ?profile_id", WS_STRING, true, .means = "what target_ref names"},
    {"type", {P2 = "target_kind"}, NULL, WS_WORD, .words = "sim=simulation real_robot real>real_robot game debug", .means = "sim or real_robot"},
    {"enabled", {0}, NULL, WS_BOOL, .means = "false: nothing runs on it"},
    {"backend", {0}, NULL, WS_STRING, .means = "its driver: mujoco, kinematic, …"},
    {"workspace", {0}, NULL, WS_STRING, .means = "a folder of its own"},
    {"supported_skills", {P2 = "supported_skillruntimes"}, "?action_space", WS_LIST, .means = "ids of SKILLS.md"},
    {"adapter.class", {P1 = "runtime.target_adapter", P2 = "runtime.target_adapter"}, NULL, WS_REF, .words = "target_adapter", .means = "SimTargetAdapter, RealRobotTargetAdapter"},
    {"adapter.obs_format", {P1 = "runtime.obs_format", P2 = "runtime.obs_format"}, NULL, WS_STRING, .means = "how observations are given"},
    {"adapter.driver", {P1 = "runtime.driver", P2 = "runtime.driver"}, NULL, WS_STRING, .means = "of a real robot"},
    {"perception.cameras", {0}, NULL, WS_LIST, .means = "name, resolution, fps, device"},
    {"config", {0}, NULL, WS_MAP, .means = "the target's own: world, ip, control_mode"},
};

static const ws_field skill[] = {
    {"id", {P2 = "skillruntime_id"}, "skill_id", WS_STRING, true, .means = "what skill_ref names"},
    {"category", {0}, NULL, WS_STRING, .means = "manipulation, navigation, perception; vla, builtin, …"},
    {"description", {0}, NULL, WS_STRING, .means = "in words"},
    {"runtime", {0}, NULL, WS_STRING, .means = "ReKepPolicyRuntime, VLAPolicyRuntime, BuiltinRuntime"},
    {"runtime_kind", {0}, NULL, WS_STRING, .means = "policy, builtin: what runs it where no runtime is named"},
    {"supported_target_types", {P2 = "supported_target_kinds"}, NULL, WS_WORDS, .words = "sim=simulation real_robot real>real_robot game debug", .means = "sim, real_robot"},
    {"policy_client", {P2 = "policy"}, NULL, WS_CLIENT, .means = "type, protocol, endpoint, checkpoint"},
    {"requires.sensors", {0}, NULL, WS_LIST, .means = "rgb_camera, depth_camera, joint_states"},
    {"requires.environment_outputs", {0}, NULL, WS_LIST, .means = "scene_graph, perception_data"},
    {"requires.strict_environment_contract", {0}, NULL, WS_BOOL, .means = "lack of one refuses"},
};

static const ws_field scene[] = {
    {"schema_version", {0}, NULL, WS_STRING, .means = "v2.0; v1 has nodes only, and one robot"},
    {"updated_at", {0}, "captured_at", WS_STRING, .means = "ISO 8601"},
    {"perception", {0}, NULL, WS_MAP, .means = "camera_rgb, depth: paths"},
    {"map", {0}, NULL, WS_ANY, .means = "an occupancy grid"},
    {"tf", {0}, NULL, WS_ANY, .means = "transforms"},
};

static const ws_field node[] = {
    {"id", {0}, NULL, WS_STRING, true, .means = "names it"},
    {"type", {0}, "?class", WS_STRING, .means = "furniture, object, …"},
    {"position", {0}, "?center", WS_NUMBERS, .means = "x, y, z, m"},
    {"status", {0}, NULL, WS_STRING, .means = "on_table, …"},
};

static const ws_field edge[] = {
    {"from", {P1 = "source", P2 = "subject"}, NULL, WS_STRING, true, .means = "a node"},
    {"to", {P1 = "target", P2 = "object"}, NULL, WS_STRING, true, .means = "a node"},
    {"relation", {0}, "predicate", WS_STRING, true, .means = "on, in, near"},
};

static const ws_field robot_state[] = {
    {"robot_id", {0}, "id", WS_STRING, true, .means = "names it"},
    {"pose", {0}, "?robot_pose", WS_POSE, .means = "x, y, yaw"},
    {"joint_state", {0}, NULL, WS_MAP, .means = "rad or m, by joint"},
    {"gripper", {0}, NULL, WS_ANY, .means = "open, closed"},
    {"holding", {0}, NULL, WS_ANY, .means = "an object's id or null"},
};

static const ws_field object[] = {
    {"id", {0}, "object_id", WS_STRING, true, .means = "names it"},
    {"name", {0}, NULL, WS_STRING, .means = "as people call it"},
    {"category", {0}, "?type ?class", WS_STRING, .means = "fruit, …"},
    {"position", {0}, "?center", WS_NUMBERS, .means = "x, y, z, m"},
};

static const ws_field identity[] = {
    {"model", {0}, NULL, WS_STRING, .seed_label = "Robot Model", .labels = "机器人型号|Model|Robot|Name|名称", .means = "its make"},
    {"dof", {0}, NULL, WS_STRING, .seed_label = "DOF", .labels = "自由度|Degrees of Freedom", .means = "joints"},
    {"end_effector", {0}, NULL, WS_STRING, .seed_label = "End Effector", .labels = "末端执行器|Gripper", .means = "its hand"},
    {"driver", {0}, NULL, WS_STRING, .seed_label = "Driver", .labels = "驱动", .means = "which driver has it"},
};

static const ws_field sensor[] = {
    {"name", {0}, NULL, WS_STRING, true, .means = "its name and make"},
    {"present", {0}, NULL, WS_BOOL, .means = "ticked"},
    {"description", {0}, NULL, WS_STRING, .means = "in words"},
};

static const ws_field action_type[] = {
    {"action_type", {0}, NULL, WS_STRING, true, .seed_label = "Action Type", .labels = "Action|Type|动作类型|动作", .means = "its name"},
    {"description", {0}, NULL, WS_STRING, .seed_label = "Description", .labels = "说明|描述", .means = "in words"},
    {"parameters", {0}, NULL, WS_STRING, .seed_label = "Parameters", .labels = "Params|Required Parameters|参数", .means = "their names and kinds"},
};

static const ws_field limit[] = {
    {"max_reach_m", {0}, NULL, WS_NUMBER, .seed_label = "Max Reach", .labels = "Reach|Maximum Reach|Workspace Radius|Reach Radius|最大臂展|臂展|工作半径", .means = "m"},
    {"reach_from_m", {0}, NULL, WS_NUMBER, .seed_label = "Reach From", .labels = "Shoulder Height|肩高|臂展起点", .means = "m that the shoulder is above what the robot stands on"},
    {"max_payload_kg", {0}, NULL, WS_NUMBER, .seed_label = "Max Payload", .labels = "Payload|Maximum Payload|最大载荷|载荷", .means = "kg"},
    {"workspace_volume_m3", {0}, NULL, WS_NUMBER, .seed_label = "Workspace Volume", .labels = "Volume|工作空间体积|工作空间", .means = "m³"},
    {"max_speed_mps", {0}, NULL, WS_NUMBER, .seed_label = "Max Speed", .labels = "Speed|Maximum Speed|Max Linear Speed|最大速度|最大线速度", .means = "m/s"},
};

static const ws_field task[] = {
    {"title", {0}, NULL, WS_STRING, true, .means = "what all of it is for"},
};

#define TASK_WORDS "pending running done failed cancelled completed>done canceled>cancelled in_progress>running todo>pending"
static const ws_field subtask[] = {
    {"n", {0}, NULL, WS_STRING, true, .seed_label = "子任务", .paos_label = "ID", .labels = "#|Step|No|Sub-Task ID|序号|步骤|编号", .means = "names it"},
    {"action", {0}, NULL, WS_STRING, .seed_label = "动作", .paos_label = "Sub-Task", .labels = "Action|Subtask|Description|Task|描述|任务|内容", .means = "what is done"},
    {"goal", {0}, NULL, WS_STRING, .seed_label = "目标", .paos_label = "Goal", .labels = "Target|Success Condition", .means = "what holds then"},
    {"status", {0}, NULL, WS_WORD, .words = TASK_WORDS, .preset = "pending", .seed_label = "状态", .paos_label = "Status", .labels = "State", .means = "where it is"},
    {"note", {0}, NULL, WS_STRING, .seed_label = "备注", .paos_label = "Notes", .labels = "Note|Remarks|Result", .means = "anything"},
};

static const ws_field assignment[] = {
    {"task", {0}, NULL, WS_STRING, true, .seed_label = "任务", .paos_label = "Task", .labels = "Goal", .means = "names it"},
    {"assigned_to", {0}, NULL, WS_STRING, true, .seed_label = "分配至", .paos_label = "Assigned To", .labels = "Robot|Assignee|机器人", .means = "a robot"},
    {"priority", {0}, NULL, WS_STRING, .seed_label = "优先级", .paos_label = "Priority", .means = "high, normal, low"},
    {"status", {0}, NULL, WS_STRING, .seed_label = "状态", .paos_label = "Status", .labels = "State", .means = "where it is"},
};

static const ws_field pool[] = {
    {"robot", {0}, NULL, WS_STRING, true, .seed_label = "机器人", .paos_label = "Robot", .labels = "Robot ID|ID", .means = "names it"},
    {"status", {0}, NULL, WS_STRING, .seed_label = "当前状态", .paos_label = "Status", .labels = "State|状态|Current Status", .means = "busy, idle, lost"},
    {"last_heartbeat", {0}, NULL, WS_STRING, true, .seed_label = "最后心跳", .paos_label = "Last Heartbeat", .labels = "Heartbeat", .means = "a time of day"},
    {"task", {0}, NULL, WS_STRING, .seed_label = "当前任务", .paos_label = "Current Task", .labels = "Task|任务", .means = "what it does"},
};

static const ws_field waiting[] = {
    {"task", {0}, NULL, WS_STRING, true, .seed_label = "任务", .paos_label = "Task", .labels = "Goal", .means = "names it"},
    {"requirements", {0}, NULL, WS_STRING, true, .seed_label = "要求", .paos_label = "Requirements", .labels = "Requires|Required Capabilities", .means = "capabilities, joined with +"},
    {"priority", {0}, NULL, WS_STRING, .seed_label = "优先级", .paos_label = "Priority", .means = "high, normal, low"},
    {"queued_at", {0}, NULL, WS_STRING, .seed_label = "排队时间", .paos_label = "Queued At", .labels = "Queued|Since", .means = "a time of day"},
};

static const ws_field lesson[] = {
    {"at", {P2 = "timestamp"}, NULL, WS_STRING, .seed_label = "时间", .paos_label = "Timestamp", .means = "when"},
    {"title", {P2 = "summary"}, NULL, WS_STRING, .seed_label = "标题", .paos_label = "Title", .labels = "Summary", .means = "in a line"},
    {"action", {0}, NULL, WS_STRING, .seed_label = "动作", .paos_label = "Action", .labels = "Task", .means = "what was wanted"},
    {"parameters", {0}, NULL, WS_ANY, .seed_label = "参数", .paos_label = "Parameters", .labels = "Params", .means = "with what"},
    {"reason", {0}, NULL, WS_STRING, .seed_label = "原因", .paos_label = "Reasoning", .labels = "Reason|Cause|Outcome", .means = "why it failed"},
    {"refusal", {0}, NULL, WS_STRING, .seed_label = "Critic 拒绝", .paos_label = "Critic Rejection", .labels = "Rejection|Critic", .means = "what the critic held against it"},
    {"fix", {0}, NULL, WS_STRING, .seed_label = "修复", .paos_label = "Fix", .labels = "Insight|Suggestion", .means = "what to do instead"},
};

static const ws_field robot[] = {
    {"id", {0}, NULL, WS_STRING, true, .seed_label = "id", .paos_label = "Robot ID", .labels = "ID|Robot|机器人", .means = "names it"},
    {"driver", {0}, NULL, WS_STRING, .seed_label = "driver", .paos_label = "Driver", .labels = "驱动|Type", .means = "which driver has it"},
    {"workspace", {0}, NULL, WS_STRING, .seed_label = "workspace", .paos_label = "Workspace", .labels = "工作区", .means = "its folder"},
    {"status", {0}, NULL, WS_STRING, .seed_label = "status", .paos_label = "Status", .labels = "State|状态", .means = "busy, idle, lost"},
    {"last_heartbeat", {0}, NULL, WS_STRING, .seed_label = "last heartbeat", .paos_label = "Last Heartbeat", .labels = "Heartbeat|最后心跳", .means = "a time"},
    {"pose", {0}, NULL, WS_STRING, .seed_label = "pose", .paos_label = "Pose", .labels = "Position|Location|位姿", .means = "where it is"},
    {"task", {0}, NULL, WS_STRING, .seed_label = "task", .paos_label = "Current Task", .labels = "Task|任务|当前任务", .means = "what it does"},
};

#define KIND(name, fields, id) {name, fields, N(fields), id}
static const ws_kind_info kinds[WS_KINDS] = {
    [WS_ACTION] = KIND("action", action, "action_id"),
    [WS_SESSION] = KIND("session", session, "session_id"),
    [WS_TARGET] = KIND("target", target, "id"),
    [WS_SKILL] = KIND("skill", skill, "id"),
    [WS_SCENE] = KIND("scene", scene, NULL),
    [WS_NODE] = KIND("node", node, "id"),
    [WS_EDGE] = KIND("edge", edge, NULL),
    [WS_ROBOT_STATE] = KIND("robot_state", robot_state, "robot_id"),
    [WS_OBJECT] = KIND("object", object, "id"),
    [WS_IDENTITY] = KIND("identity", identity, NULL),
    [WS_SENSOR] = KIND("sensor", sensor, "name"),
    [WS_ACTION_TYPE] = KIND("action_type", action_type, "action_type"),
    [WS_LIMIT] = KIND("limits", limit, NULL),
    [WS_TASK] = KIND("task", task, NULL),
    [WS_SUBTASK] = KIND("subtask", subtask, "n"),
    [WS_ASSIGNMENT] = KIND("assignment", assignment, "task"),
    [WS_POOL] = KIND("pool", pool, "robot"),
    [WS_WAITING] = KIND("waiting", waiting, "task"),
    [WS_LESSON] = KIND("lesson", lesson, NULL),
    [WS_ROBOT] = KIND("robot", robot, "id"),
};

static const ws_place environment_places[] = {
    {WS_SCENE, {"", "", ""}, {0}},
    {WS_NODE, {"scene_graph.nodes", "scene_graph.nodes", "scene_graph.nodes", "nodes"}, {0}},
    {WS_EDGE, {"scene_graph.edges", "scene_graph.edges", "relations", "scene_graph.relations", "edges"}, {0}},
    {WS_ROBOT_STATE, {"robots", "robots", "targets", "robot"}, {P1 = true, P2 = true}},
    {WS_OBJECT, {"objects", "objects", "objects"}, {P1 = true, P2 = true}},
};
static const ws_place action_places[] = {{WS_ACTION, {"queue", "actions", "actions"}, {0}}};
static const ws_place session_places[] = {{WS_SESSION, {"sessions", "sessions", "sessions"}, {0}}};
static const ws_place target_places[] = {{WS_TARGET, {"targets", "targets", "targets"}, {0}}};
static const ws_place skill_places[] = {{WS_SKILL, {"skills", "skills", "skillruntimes"}, {0}}};
#define SKILLS_ALLOWED "loop_mode agent_exposure policy.* requires.* observation.* action.* observation_contract.* target_tool_policy.* supports_chunk " \
                       "default_replan_every input_contract.* output_contract.* adapter_requirements.* benchmark.*"
static const ws_place embodied_places[] = {{WS_IDENTITY, {0}, {0}}, {WS_SENSOR, {0}, {0}}, {WS_ACTION_TYPE, {0}, {0}}, {WS_LIMIT, {0}, {0}}};
static const ws_place task_places[] = {{WS_TASK, {0}, {0}}, {WS_SUBTASK, {0}, {0}}};
static const ws_place orchestrator_places[] = {{WS_ASSIGNMENT, {0}, {0}}, {WS_POOL, {0}, {0}}, {WS_WAITING, {0}, {0}}};
static const ws_place lesson_places[] = {{WS_LESSON, {"lessons", "lessons", "lessons"}, {0}}};
static const ws_place robot_places[] = {{WS_ROBOT, {0}, {0}}};

#define PLACES(p) .places = p, .n_places = N(p)
static const ws_file_info files[PONS_WS_FILES] = {
    [PONS_WS_ENVIRONMENT] = {"ENVIRONMENT.md", .json = true, PLACES(environment_places),
        .format_key = {"schema_version", "schema_version", "schema_version"},
        .format = {"v2.0", "PhyAgentOS.environment.v1", "paos.environment.v2"},
        .title = {"ENVIRONMENT", "Environment State", "Environment State"}},
    [PONS_WS_EMBODIED] = {"EMBODIED.md", .page = true, PLACES(embodied_places),
        .title = {"EMBODIED", "EMBODIED", "EMBODIED"},
        .text = {"## Identity\n\n## Sensors\n\n## Supported Actions\n\n## Physical Constraints\n"}},
    [PONS_WS_ACTION] = {"ACTION.md", .json = true, PLACES(action_places),
        .format_key = {P1 = "schema_version", P2 = "schema_version"},
        .format = {P1 = "PhyAgentOS.action_queue.v1", P2 = "paos.action_queue.v2"},
        .title = {"ACTION", "Action Queue", "Action Queue"}},
    [PONS_WS_SESSIONS] = {"SESSIONS.md", PLACES(session_places),
        .format_key = {P1 = "version", P2 = "version"}, .format = {P1 = "sessions_v1", P2 = "runtime_sessions_v1"},
        .title = {"SESSIONS", "Sessions", "Runtime Sessions"},
        .allowed = "intent acceptance_criteria retry_limit parent_task_id parent_session_id replan_attempt goal_id parent_goal_id horizon verification_profile verification.* timeouts.queue_timeout_s timeouts.preflight_timeout_s "
                   "routing.* execution.* runtime_hints.* safety_profile.*"},
    [PONS_WS_TARGETS] = {"TARGETS.md", PLACES(target_places),
        .format_key = {P1 = "version", P2 = "version"}, .format = {P1 = "targets_v1", P2 = "runtime_target_registry_v1"},
        .title = {"TARGETS", "Targets", "Runtime Targets"},
        .allowed = "target_class embodiment benchmark_capabilities runtime.* observation.* perception.* config.*"},
    [PONS_WS_SKILLS] = {"SKILLS.md", PLACES(skill_places),
        .format_key = {P1 = "version", P2 = "version"}, .format = {P1 = "skills_v1", P2 = "runtime_skill_registry_v1"},
        .title = {"SKILLS", "Skills", "Skill Runtimes"},
        .allowed = SKILLS_ALLOWED},
    [PONS_WS_SKILLRUNTIME] = {"SKILLRUNTIME.md", PLACES(skill_places),
        .format_key = {P1 = "version", P2 = "version"}, .format = {P1 = "skills_v1", P2 = "runtime_skill_registry_v1"},
        .title = {"SKILLRUNTIME", "Runtime Skills", "Runtime Skills"},
        .allowed = SKILLS_ALLOWED},
    [PONS_WS_TASK] = {"TASK.md", .page = true, PLACES(task_places),
        .title = {"任务", "Task", "Task"}},
    [PONS_WS_ORCHESTRATOR] = {"ORCHESTRATOR.md", .page = true, PLACES(orchestrator_places),
        .title = {"调度面板", "Orchestrator", "Orchestrator"}},
    [PONS_WS_LESSONS] = {"LESSONS.md", .page = true, PLACES(lesson_places),
        .format_key = {P2 = "version"}, .format = {P2 = "runtime_lessons_v1"},
        .title = {"LESSONS", "Lessons", "Runtime Lessons"}},
    [PONS_WS_ROBOTS] = {"ROBOTS.md", .page = true, PLACES(robot_places),
        .title = {"ROBOTS", "Robots", "Robots"}},
};
// clang-format on

static const char *const dialects[] = {"seed", "paos1", "paos2"};

const ws_kind_info *pons__ws_kind_of(ws_kind kind)
{
    return &kinds[kind];
}

bool pons__ws_kind_by_name(const char *name, ws_kind *ret)
{
    for (int k = 0; k < WS_KINDS; k++) {
        if (strcmp(kinds[k].name, name) == 0) {
            *ret = (ws_kind)k;
            return true;
        }
    }
    return false;
}

const ws_file_info *pons__ws_file_of(pons_ws_file file)
{
    return &files[file];
}

const char *pons__ws_field_name(const ws_field *f, pons_ws_dialect d)
{
    return f->names[d] ? f->names[d] : f->name;
}

// ---- public -------------------------------------------------------------------------------------

const char *pons_ws_file_name(pons_ws_file file)
{
    return files[file].name;
}

int pons_ws_file_of(const char *name, pons_ws_file *ret)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    for (int f = 0; f < PONS_WS_FILES; f++) {
        const size_t stem = strlen(files[f].name) - strlen(".md");
        if (strcasecmp(base, files[f].name) == 0 ||
            (strlen(base) == stem && strncasecmp(base, files[f].name, stem) == 0)) {
            *ret = (pons_ws_file)f;
            return PONS_OK;
        }
    }
    return PONS_ENOTFOUND;
}

const char *pons_ws_dialect_name(pons_ws_dialect dialect)
{
    return dialects[dialect];
}

int pons_ws_dialect_of(const char *name, pons_ws_dialect *ret)
{
    for (int d = 0; d < PONS_WS_DIALECTS; d++) {
        if (strcmp(dialects[d], name) == 0) {
            *ret = (pons_ws_dialect)d;
            return PONS_OK;
        }
    }
    return PONS_ENOTFOUND;
}
