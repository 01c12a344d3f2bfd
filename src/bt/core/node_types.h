// node_types.h - the kinds of nodes of both formats, and the limits that every reader keeps.
#pragma once

enum {
    PONS__BT_DEPTH_MAX = 256,
    PONS__BT_FILE_MAX = 8 << 20,
    PONS__BT_NODES_MAX = 200000,
    PONS__BT_FAULTS_MAX = 100,
    PONS__BT_SCRIPT_DEPTH_MAX = 200,
    PONS__BT_NONE = -1
};

// X(symbol, word, least children, most children (-1: any)). The M_ ones are mistreevous', the X_
// ones BehaviorTree.CPP's and Nav2's; in each family what has many children, then one, then none.
#define PONS__BT_TYPES(X)                                                                          \
    X(M_ROOT, "root", 1, 1)                                                                        \
    X(M_SEQUENCE, "sequence", 1, -1)                                                               \
    X(M_SELECTOR, "selector", 1, -1)                                                               \
    X(M_PARALLEL, "parallel", 1, -1)                                                               \
    X(M_RACE, "race", 1, -1)                                                                       \
    X(M_ALL, "all", 1, -1)                                                                         \
    X(M_LOTTO, "lotto", 1, -1)                                                                     \
    X(M_REPEAT, "repeat", 1, 1)                                                                    \
    X(M_RETRY, "retry", 1, 1)                                                                      \
    X(M_FLIP, "flip", 1, 1)                                                                        \
    X(M_SUCCEED, "succeed", 1, 1)                                                                  \
    X(M_FAIL, "fail", 1, 1)                                                                        \
    X(M_ACTION, "action", 0, 0)                                                                    \
    X(M_CONDITION, "condition", 0, 0)                                                              \
    X(M_WAIT, "wait", 0, 0)                                                                        \
    X(M_BRANCH, "branch", 0, 0)                                                                    \
    X(X_SEQUENCE, "Sequence", 1, -1)                                                               \
    X(X_ASYNC_SEQUENCE, "AsyncSequence", 1, -1)                                                    \
    X(X_SEQUENCE_MEMORY, "SequenceWithMemory", 1, -1)                                              \
    X(X_FALLBACK, "Fallback", 1, -1)                                                               \
    X(X_ASYNC_FALLBACK, "AsyncFallback", 1, -1)                                                    \
    X(X_REACTIVE_SEQUENCE, "ReactiveSequence", 1, -1)                                              \
    X(X_REACTIVE_FALLBACK, "ReactiveFallback", 1, -1)                                              \
    X(X_PARALLEL, "Parallel", 1, -1)                                                               \
    X(X_PARALLEL_ALL, "ParallelAll", 1, -1)                                                        \
    X(X_IF_THEN_ELSE, "IfThenElse", 2, 3)                                                          \
    X(X_WHILE_DO_ELSE, "WhileDoElse", 2, 3)                                                        \
    X(X_SWITCH2, "Switch2", 3, 3)                                                                  \
    X(X_SWITCH3, "Switch3", 4, 4)                                                                  \
    X(X_SWITCH4, "Switch4", 5, 5)                                                                  \
    X(X_SWITCH5, "Switch5", 6, 6)                                                                  \
    X(X_SWITCH6, "Switch6", 7, 7)                                                                  \
    X(X_TRY_CATCH, "TryCatch", 2, -1)                                                              \
    X(X_PIPELINE, "PipelineSequence", 1, -1)                                                       \
    X(X_RECOVERY, "RecoveryNode", 2, 2)                                                            \
    X(X_ROUND_ROBIN, "RoundRobin", 1, -1)                                                          \
    X(X_NONBLOCKING, "NonblockingSequence", 1, -1)                                                 \
    X(X_PERSISTENT, "PersistentSequence", 1, -1)                                                   \
    X(X_PAUSE_RESUME, "PauseResumeController", 1, 4)                                               \
    X(X_RECOVERY_MANAGER, "RecoveryManager", 1, -1)                                                \
    X(X_INVERTER, "Inverter", 1, 1)                                                                \
    X(X_FORCE_SUCCESS, "ForceSuccess", 1, 1)                                                       \
    X(X_FORCE_FAILURE, "ForceFailure", 1, 1)                                                       \
    X(X_REPEAT, "Repeat", 1, 1)                                                                    \
    X(X_RETRY, "RetryUntilSuccessful", 1, 1)                                                       \
    X(X_KEEP_RUNNING, "KeepRunningUntilFailure", 1, 1)                                             \
    X(X_DELAY, "Delay", 1, 1)                                                                      \
    X(X_TIMEOUT, "Timeout", 1, 1)                                                                  \
    X(X_RUN_ONCE, "RunOnce", 1, 1)                                                                 \
    X(X_PRECONDITION, "Precondition", 1, 1)                                                        \
    X(X_LOOP_INT, "LoopInt", 1, 1)                                                                 \
    X(X_LOOP_BOOL, "LoopBool", 1, 1)                                                               \
    X(X_LOOP_DOUBLE, "LoopDouble", 1, 1)                                                           \
    X(X_LOOP_STRING, "LoopString", 1, 1)                                                           \
    X(X_SKIP_UNLESS_UPDATED, "SkipUnlessUpdated", 1, 1)                                            \
    X(X_WAIT_VALUE_UPDATE, "WaitValueUpdate", 1, 1)                                                \
    X(X_SUBTREE, "SubTree", 0, 0)                                                                  \
    X(X_RATE, "RateController", 1, 1)                                                              \
    X(X_DISTANCE, "DistanceController", 1, 1)                                                      \
    X(X_SPEED, "SpeedController", 1, 1)                                                            \
    X(X_GOAL_UPDATED_CONTROLLER, "GoalUpdatedController", 1, 1)                                    \
    X(X_GOAL_UPDATER, "GoalUpdater", 1, 1)                                                         \
    X(X_SINGLE_TRIGGER, "SingleTrigger", 1, 1)                                                     \
    X(X_PATH_LONGER, "PathLongerOnApproach", 1, 1)                                                 \
    X(X_ALWAYS_SUCCESS, "AlwaysSuccess", 0, 0)                                                     \
    X(X_ALWAYS_FAILURE, "AlwaysFailure", 0, 0)                                                     \
    X(X_SCRIPT, "Script", 0, 0)                                                                    \
    X(X_SCRIPT_CONDITION, "ScriptCondition", 0, 0)                                                 \
    X(X_SET_BLACKBOARD, "SetBlackboard", 0, 0)                                                     \
    X(X_UNSET_BLACKBOARD, "UnsetBlackboard", 0, 0)                                                 \
    X(X_SLEEP, "Sleep", 0, 0)                                                                      \
    X(X_WAS_ENTRY_UPDATED, "WasEntryUpdated", 0, 0)                                                \
    X(X_GOAL_UPDATED, "GoalUpdated", 0, 0)                                                         \
    X(X_GLOBAL_UPDATED_GOAL, "GlobalUpdatedGoal", 0, 0)                                            \
    X(X_TIME_EXPIRED, "TimeExpired", 0, 0)                                                         \
    X(X_DISTANCE_TRAVELED, "DistanceTraveled", 0, 0)                                               \
    X(X_PATH_EXPIRING, "PathExpiringTimer", 0, 0)                                                  \
    X(X_ERROR_CODES_PRESENT, "AreErrorCodesPresent", 0, 0)                                         \
    X(X_CONTROLLER_HELP, "WouldAControllerRecoveryHelp", 0, 0)                                     \
    X(X_PLANNER_HELP, "WouldAPlannerRecoveryHelp", 0, 0)                                           \
    X(X_ACTION, "Action", 0, 0)                                                                    \
    X(X_CONDITION, "Condition", 0, 0)

typedef enum pons__bt_type {
#define PONS__BT_TYPE_ENUM(sym, word, least, most) sym,
    PONS__BT_TYPES(PONS__BT_TYPE_ENUM)
#undef PONS__BT_TYPE_ENUM
        PONS__BT_TYPE_COUNT
} pons__bt_type;

typedef struct pons__bt_type_info {
    const char *word;
    int least, most;
} pons__bt_type_info;
extern const pons__bt_type_info pons__bt_types[PONS__BT_TYPE_COUNT];

// What MDSL may hang on a node.
enum { AT_WHILE, AT_UNTIL, AT_ENTRY, AT_STEP, AT_EXIT, AT_COUNT };
extern const char *const pons__bt_attr_words[AT_COUNT];
