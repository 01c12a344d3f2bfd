// builtin_nodes.c - what the built-in XML nodes take: BehaviorTree.CPP's and Nav2's.
//
// A node's ports are one line: `name:type`, `=default` (up to the next space), `!` for a mandatory
// one, `>` before the name for an output, `<>` for both ways; `*` accepts other ports too: Nav2's
// leaves have got ports from release to release, and its trees load whichever release they are of.
#include "bt/xml/builtin_nodes.h"

#include "bt/core/node_types.h"

#include <stddef.h>
#include <string.h>

#define CASES2 "variable:s case_1:s case_2:s"
#define SERVER "* server_name:s server_timeout:d >error_code_id:a >error_msg:a "

static const pons__bt_manifest manifests[] = {
    {"Sequence", X_SEQUENCE, ""},
    {"AsyncSequence", X_ASYNC_SEQUENCE, ""},
    {"SequenceWithMemory", X_SEQUENCE_MEMORY, ""},
    {"Fallback", X_FALLBACK, ""},
    {"AsyncFallback", X_ASYNC_FALLBACK, ""},
    {"ReactiveSequence", X_REACTIVE_SEQUENCE, ""},
    {"ReactiveFallback", X_REACTIVE_FALLBACK, ""},
    {"Parallel", X_PARALLEL, "success_count:i=-1 failure_count:i=1"},
    {"ParallelAll", X_PARALLEL_ALL, "max_failures:i=1"},
    {"IfThenElse", X_IF_THEN_ELSE, ""},
    {"WhileDoElse", X_WHILE_DO_ELSE, ""},
    {"Switch2", X_SWITCH2, CASES2},
    {"Switch3", X_SWITCH3, CASES2 " case_3:s"},
    {"Switch4", X_SWITCH4, CASES2 " case_3:s case_4:s"},
    {"Switch5", X_SWITCH5, CASES2 " case_3:s case_4:s case_5:s"},
    {"Switch6", X_SWITCH6, CASES2 " case_3:s case_4:s case_5:s case_6:s"},
    {"TryCatch", X_TRY_CATCH, "catch_on_halt:b=false"},
    {"Inverter", X_INVERTER, ""},
    {"ForceSuccess", X_FORCE_SUCCESS, ""},
    {"ForceFailure", X_FORCE_FAILURE, ""},
    {"Repeat", X_REPEAT, "num_cycles:i!"},
    {"RetryUntilSuccessful", X_RETRY, "num_attempts:i!"},
    {"KeepRunningUntilFailure", X_KEEP_RUNNING, ""},
    {"Delay", X_DELAY, "delay_msec:u!"},
    {"Timeout", X_TIMEOUT, "msec:u!"},
    {"RunOnce", X_RUN_ONCE, "then_skip:b=true"},
    {"Precondition", X_PRECONDITION, "if:s! else:t=FAILURE"},
    {"LoopInt", X_LOOP_INT, "<>queue:a! if_empty:t=SUCCESS >value:i"},
    {"LoopBool", X_LOOP_BOOL, "<>queue:a! if_empty:t=SUCCESS >value:b"},
    {"LoopDouble", X_LOOP_DOUBLE, "<>queue:a! if_empty:t=SUCCESS >value:d"},
    {"LoopString", X_LOOP_STRING, "<>queue:a! if_empty:t=SUCCESS >value:s"},
    {"SkipUnlessUpdated", X_SKIP_UNLESS_UPDATED, "entry:k!"},
    {"WaitValueUpdate", X_WAIT_VALUE_UPDATE, "entry:k!"},
    {"WasEntryUpdated", X_WAS_ENTRY_UPDATED, "entry:k!"},
    {"AlwaysSuccess", X_ALWAYS_SUCCESS, ""},
    {"AlwaysFailure", X_ALWAYS_FAILURE, ""},
    {"Script", X_SCRIPT, "code:s!"},
    {"ScriptCondition", X_SCRIPT_CONDITION, "code:s!"},
    {"SetBlackboard", X_SET_BLACKBOARD, "value:a! >output_key:k!"},
    {"UnsetBlackboard", X_UNSET_BLACKBOARD, "key:k!"},
    {"Sleep", X_SLEEP, "msec:u!"},

    {"PipelineSequence", X_PIPELINE, ""},
    {"RecoveryNode", X_RECOVERY, "number_of_retries:i=1"},
    {"RoundRobin", X_ROUND_ROBIN, "wrap_around:b=true"},
    {"NonblockingSequence", X_NONBLOCKING, ""},
    {"PersistentSequence", X_PERSISTENT, "<>current_child_idx:i"},
    {"PauseResumeController", X_PAUSE_RESUME, "pause_service_name:s resume_service_name:s"},
    {"RecoveryManager", X_RECOVERY_MANAGER, "* param_namespace:s"},
    {"RateController", X_RATE, "hz:d=10.0"},
    {"DistanceController", X_DISTANCE, "* distance:d=1.0"},
    {"SpeedController", X_SPEED,
     "* min_rate:d=0.1 max_rate:d=1.0 min_speed:d=0.0 max_speed:d=0.5 filter_duration:d=0.3"},
    {"GoalUpdatedController", X_GOAL_UPDATED_CONTROLLER, "* goals:a={goals} goal:a={goal}"},
    {"GoalUpdater", X_GOAL_UPDATER,
     "* input_goal:a input_goals:a >output_goal:a >output_goals:a goal_updater_topic:s"},
    {"SingleTrigger", X_SINGLE_TRIGGER, ""},
    {"PathLongerOnApproach", X_PATH_LONGER, "* path:a={path} prox_len:d=3.0 length_factor:d=2.0"},
    {"GoalUpdated", X_GOAL_UPDATED, "* goals:a={goals} goal:a={goal}"},
    {"GlobalUpdatedGoal", X_GLOBAL_UPDATED_GOAL, "* goals:a={goals} goal:a={goal}"},
    {"TimeExpired", X_TIME_EXPIRED, "seconds:d=1.0"},
    {"DistanceTraveled", X_DISTANCE_TRAVELED, "* distance:d=1.0"},
    {"PathExpiringTimer", X_PATH_EXPIRING, "seconds:d=1.0 path:a={path}"},
    {"AreErrorCodesPresent", X_ERROR_CODES_PRESENT, "error_code:i error_codes_to_check:s"},
    {"WouldAControllerRecoveryHelp", X_CONTROLLER_HELP, "error_code:i"},
    {"WouldAPlannerRecoveryHelp", X_PLANNER_HELP, "error_code:i"},

    {"IsStuck", X_CONDITION, "*"},
    {"IsPathValid", X_CONDITION,
     "* path:a={path} max_cost:d consider_cost_change_only_on_path:b server_timeout:d"},
    {"IsBatteryLow", X_CONDITION,
     "* min_battery:d battery_topic:s=/battery_status is_voltage:b=false"},
    {"IsBatteryCharging", X_CONDITION, "* battery_topic:s=/battery_status"},
    {"GoalReached", X_CONDITION, "* goal:a={goal} global_frame:s robot_base_frame:s"},
    {"TransformAvailable", X_CONDITION, "* child:s parent:s"},
    {"InitialPoseReceived", X_CONDITION, "* initial_pose_received:b"},
    {"WouldASmootherRecoveryHelp", X_CONDITION, "* error_code:i"},
    {"ArePosesNear", X_CONDITION, "*"},
    {"IsWithinPathTrackingBounds", X_CONDITION, "*"},
    {"IsStopped", X_CONDITION, "* velocity_threshold:d duration_stopped:a"},
    {"IsPoseOccupied", X_CONDITION, "* pose:a cost_threshold:d"},
    {"IsGoalNearby", X_CONDITION, "* path:a={path} proximity_threshold:d"},
    {"WouldARouteRecoveryHelp", X_CONDITION, "* error_code:i"},
    {"ObstaclesSeen", X_CONDITION, "service_name:s"}, // pons' own

    {"ComputePathToPose", X_ACTION,
     SERVER "goal:a={goal} start:a use_start:b planner_id:s >path:a={path}"},
    {"ComputePathThroughPoses", X_ACTION,
     SERVER "goals:a={goals} start:a use_start:b planner_id:s >path:a={path}"},
    {"FollowPath", X_ACTION,
     SERVER "path:a={path} controller_id:s goal_checker_id:s progress_checker_id:s"},
    {"SmoothPath", X_ACTION,
     SERVER "unsmoothed_path:a max_smoothing_duration:d check_for_collisions:b smoother_id:s "
            ">smoothed_path:a >smoothing_duration:a >was_completed:a"},
    {"TruncatePath", X_ACTION, "* distance:d=1.0 input_path:a >output_path:a"},
    {"TruncatePathLocal", X_ACTION, "* input_path:a >output_path:a"},
    {"ClearEntireCostmap", X_ACTION, "* service_name:s server_timeout:d"},
    {"ClearCostmapAroundRobot", X_ACTION, "* service_name:s reset_distance:d=1"},
    {"ClearCostmapExceptRegion", X_ACTION, "* service_name:s reset_distance:d=1"},
    {"ClearCostmapAroundPose", X_ACTION, "* service_name:s"},
    {"Spin", X_ACTION,
     SERVER "spin_dist:d=1.57 time_allowance:d=10.0 is_recovery:b=true "
            "disable_collision_checks:b=false"},
    {"Wait", X_ACTION, SERVER "wait_duration:d=1.0"},
    {"BackUp", X_ACTION,
     SERVER "backup_dist:d=0.15 backup_speed:d=0.025 time_allowance:d=10.0 "
            "disable_collision_checks:b=false"},
    {"DriveOnHeading", X_ACTION,
     SERVER "dist_to_travel:d=0.15 speed:d=0.025 time_allowance:d=10.0 "
            "disable_collision_checks:b=false"},
    {"AssistedTeleop", X_ACTION, SERVER "time_allowance:d=10.0 is_recovery:b=false"},
    {"NavigateToPose", X_ACTION, SERVER "goal:a={goal} behavior_tree:s"},
    {"NavigateThroughPoses", X_ACTION, SERVER "goals:a={goals} behavior_tree:s"},
    {"RemovePassedGoals", X_ACTION,
     "* radius:d=0.5 input_goals:a >output_goals:a robot_base_frame:s"},
    {"RemoveInCollisionGoals", X_ACTION, "*"},
    {"GetPoseFromPath", X_ACTION, "*"},
    {"GetCurrentPose", X_ACTION, "*"},
    {"ConcatenatePaths", X_ACTION, "*"},
    {"ValidatePath", X_ACTION, // IsPathValid, IsPoseOccupied and IsStopped of later releases
     "* service_name:s server_timeout:d path:a={path} max_cost:d=254 "
     "consider_unknown_as_obstacle:b=false layer_name:s footprint:s "
     "stop_at_first_collision:b=true max_lookahead_distance:d=-1 >collision_poses:a"},
    {"CheckPoseOccupancy", X_ACTION,
     "* service_name:s server_timeout:d pose:a cost_threshold:d=254 use_footprint:b=true "
     "consider_unknown_as_obstacle:b=false"},
    {"CheckStopStatus", X_ACTION, "velocity_threshold:d=0.01 duration_stopped:a"},
    {"AppendGoalPoseToGoals", X_ACTION, "*"},
    {"ExtractRouteNodesAsGoals", X_ACTION, "*"},
    {"GetNextFewGoals", X_ACTION, "*"},
    {"ComputeRoute", X_ACTION, SERVER},
    {"ComputeAndTrackRoute", X_ACTION, SERVER},
    {"TrackPrecomputedRoute", X_ACTION, SERVER "route:a >route_feedback:a >path:a"},
    {"DockRobot", X_ACTION,
     SERVER "dock_id:s dock_pose:a dock_type:s max_staging_time:d=1000 use_dock_id:b=true "
            "navigate_to_staging_pose:b=true >success:a >num_retries:a"},
    {"UndockRobot", X_ACTION, SERVER "dock_type:s max_undocking_time:d=30 >success:a"},
    {"FollowObject", X_ACTION,
     SERVER "pose_topic:s=dynamic_pose tracked_frame:s max_duration:d=0 >total_elapsed_time:a"},
    {"RandomCrawl", X_ACTION, "*"},
    {"ToggleCollisionMonitor", X_ACTION, "* enable:b"},
    {"ControllerSelector", X_ACTION,
     "* default_controller:s >selected_controller:a topic_name:s=controller_selector"},
    {"PlannerSelector", X_ACTION,
     "* default_planner:s >selected_planner:a topic_name:s=planner_selector"},
    {"GoalCheckerSelector", X_ACTION,
     "* default_goal_checker:s >selected_goal_checker:a topic_name:s=goal_checker_selector"},
    {"ProgressCheckerSelector", X_ACTION,
     "* default_progress_checker:s >selected_progress_checker:a "
     "topic_name:s=progress_checker_selector"},
    {"PathHandlerSelector", X_ACTION,
     "* default_path_handler:s >selected_path_handler:a topic_name:s=path_handler_selector"},
    {"SmootherSelector", X_ACTION,
     "* default_smoother:s >selected_smoother:a topic_name:s=smoother_selector"},
    {"CancelControl", X_ACTION, "*"},
    {"CancelBackUp", X_ACTION, "*"},
    {"CancelSpin", X_ACTION, "*"},
    {"CancelWait", X_ACTION, "*"},
    {"CancelDriveOnHeading", X_ACTION, "*"},
    {"CancelAssistedTeleop", X_ACTION, "*"},
    {"CancelComputeAndTrackRoute", X_ACTION, "*"},
    {"CancelFollowObject", X_ACTION, "*"},
    {"ReinitializeGlobalLocalization", X_ACTION, "*"},
};

const pons__bt_manifest *pons__bt_manifest_of(const char *id)
{
    for (size_t i = 0; i < sizeof manifests / sizeof *manifests; i++) {
        if (strcmp(manifests[i].id, id) == 0) {
            return &manifests[i];
        }
    }
    return NULL;
}

bool pons__bt_manifest_btcpp(const pons__bt_manifest *m)
{
    return m <= pons__bt_manifest_of("Sleep"); // the last one of its part of the table
}
