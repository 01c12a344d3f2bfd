// body.c - the core: one object, stepped.
//
// A body joins a driver to whoever commands it. All of it but the gate belongs to one thread, the
// loop; the gate (gate.h) may run in another. One poll is
//
//     sense -> messages -> who is in control? -> control, when due -> telemetry, when due
//      |                                            |
//      | odometry, scan → localiser, grid           | skills → a velocity → the gate's mailbox
//
// Under the virtual clock pons_body_step() calls, in this order and on one thread: the driver's
// step, the gate, the poll. pons_body_run() (body_process.c) has a thread for each of the three.
// The functions are the same, so what a simulation shows is what the process does.
//
// Where the robot is, is the localiser's answer. The simulated truth goes to judges alone, through
// pons_body_truth().
//
// What outlives the process: the ledger (ledger.h), and beside it body.epoch with the control epoch
// that was issued last, the boot id, and the latch (epoch_file.h). What a body makes of what it finds
// there is in restart.c.
#include "body/core/body.h"

#include "body/core/gate_command.h"
#include "body/core/goal_reports.h"
#include "body/core/goals.h"
#include "body/core/link_clients.h"
#include "body/core/link_messages.h"
#include "body/core/pose_estimate.h"
#include "body/core/stop_reset.h"
#include "body/core/telemetry.h"
#include "body/mapping/robot_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE         "body"
#define STEP_NS        (10 * PONS_NS_PER_MS)  // the virtual clock's step of physics and gate
#define BLOBS_NS       (500 * PONS_NS_PER_MS) // between summaries of the obstacle layer
#define RATE_NS        PONS_NS_PER_S          // host time over which the real-time factor is taken
#define LATE_NS        (4 * PONS__CONTROL_NS) // a rhythm that is later than this starts anew
#define THINK_LOOKUPS  200000 // of a search for the pose, in one poll: a millisecond or two
#define THINK_CELLS    30000  // of a plan, in one poll: some milliseconds
#define ARM_BRAKE      2.0    // of its ordinary acceleration
#define EXPLORE_ROOM_M 0.10   // beside the robot, as ways are planned
#define MAPPED_STD_M   0.02   // of a pose that the mapper gives
#define SHIFTED_M      0.08   // of it at once: a loop was closed
#define MOVED_M        1.0    // a restored pose further off than this is not believed

// ---- the poll -----------------------------------------------------------------------------------

// A process that was stopped, or starved, does not go on where it was: until there is a scan from
// after the gap nothing is wanted of the wheels, and the gate brakes. The navigator's timers stand
// still meanwhile.
static void watch_clocks(pons_body *b, int64_t host_ns, int64_t robot_ns)
{
    const bool gap = (b->threaded && host_ns - b->host_ns > PONS__GAP_NS) ||
                     robot_ns - b->robot_ns > PONS__GAP_NS;
    if (gap) {
        pons__nav_hold(b->nav, b->robot_ns);
        b->blind_until_ns = robot_ns;
    } else if (robot_ns > b->robot_ns) {
        const double taken = 1.0 - pons__pace_share(b->safety.taken_pct);
        b->spared_ns += (int64_t)(taken * (double)(robot_ns - b->robot_ns));
        pons__nav_pace(b->nav, 1.0 - taken);
    }
    b->host_ns = host_ns;
    b->robot_ns = robot_ns;
}

// Takes the pose from the mapper or from the robot's own localisation. When they close a loop the pose jumps. Obstacles seen
// before would then lie in the wrong place, so the costmaps forget them.
static void take_place(pons_body *b, const pons_robot_place *place)
{
    const pons_pose2 was = pons__localizer_pose(b->localizer);
    pons__localizer_given(b->localizer, place);
    const pons_pose2 now = pons__localizer_pose(b->localizer);
    if (b->mapper && hypot(now.x - was.x, now.y - was.y) > SHIFTED_M) {
        pons__nav_forget(b->nav);
    }
}

// While the mapper runs, the costmap gets its newest map, and the pose is the mapper's unless the robot localises itself.
static void sense_map(pons_body *b)
{
    if (pons__mapper_take(b->mapper, b->grid)) {
        pons__nav_map_changed(b->nav);
    }
    if (pons__mapper_is_robots(b->mapper)) {
        return;
    }
    const pons__mapper_output *made = pons__mapper_newest(b->mapper);
    const pons__mapper_state state = pons__mapper_state_of(b->mapper);
    const bool runs = state == PONS__MAPPER_RUNNING || state == PONS__MAPPER_SAVING;
    if (runs && made->placed) {
        take_place(b, &(pons_robot_place){.known = true,
                                          .map_from_odom = made->map_from_odom,
                                          .std_m = MAPPED_STD_M});
    } else if (!runs) {
        pons__localizer_own(b->localizer, b->state.odom_from_base);
    }
}

static void sense_scan(pons_body *b)
{
    const int64_t last_ns = b->scans > 0 ? b->scan.stamp_ns : INT64_MIN;
    if (!b->robot->scan(b->self, &b->scan)) {
        return;
    }
    // Before the stamp is compared: between two scans the driver gives the same raw one again.
    pons__self_filter_apply(&b->self_filter, &b->scan);
    if (b->scan.stamp_ns == last_ns) {
        return;
    }
    pons__near_returns_update(&b->near_returns, &b->scan);
    b->scans++;
    const pons_pose2 at = pons__odom_at(b, b->scan.stamp_ns);
    pons__localizer_correct(b->localizer, &b->scan, at);
    if (b->mapper) {
        pons__mapper_scan(b->mapper, &b->scan, at);
        sense_map(b);
    }
    // Where the robot was when it looked: now, less the motion since then.
    const pons_pose2 since = pons_pose_between(b->state.odom_from_base, at);
    const pons_pose2 then = pons_pose_compose(pons__localizer_pose(b->localizer), since);
    b->scan_pose = then;
    // What is seen from a place that is in doubt would be drawn where it is not.
    const pons__pose_watch *where = pons__localizer_watch(b->localizer);
    if (where->trust != PONS__POSE_SURE || where->contradicted) {
        return;
    }
    pons__costmap_observe(b->grid, then, &b->scan);
    pons__nav_observe(b->nav, then, &b->scan);
}

// What the robot's own software says: what is missing, and where it is. Each change of what is missing is
// told once, to the controller: to others, who have asked something, an error is an answer.
static void sense_outside(pons_body *b)
{
    const pons_robot_outside_ops *o = pons_robot_outside(b->robot);
    pons_robot_place place;
    if (!o) {
        return;
    }
    if (!o->lacks(b->self, b->lacks)) {
        b->lacks[0] = '\0';
    }
    if (b->controller && strcmp(b->lacks, b->lacked) != 0) {
        memcpy(b->lacked, b->lacks, sizeof b->lacked);
        pons__client_error(b->controller, "robot", "lacks", "%s",
                           *b->lacks ? b->lacks : "nothing is missing any more");
    }
    if (o->place && o->place(b->self, &place)) {
        take_place(b, &place);
    }
}

static bool due(int64_t now_ns, int64_t *due_ns, int64_t every_ns)
{
    if (now_ns < *due_ns) {
        return false;
    }
    *due_ns += every_ns;
    if (now_ns - *due_ns > LATE_NS) {
        *due_ns = now_ns + every_ns;
    }
    return true;
}

static void sense(pons_body *b)
{
    watch_clocks(b, pons_now_ns(&b->clock), b->robot->time_ns(b->self));
    b->safety = *pons__gate_status(&b->guard);
    b->robot->read(b->self, &b->state);
    pons__battery_filter_apply(&b->battery_filter, &b->state, b->robot_ns);
    const pons_pose2 odom = b->state.odom_from_base;
    b->odometer_m += hypot(odom.x - b->last_odom.x, odom.y - b->last_odom.y);
    b->last_odom = odom;

    b->odom[b->odom_head] = (pons__odom_sample){b->state.stamp_ns, odom};
    b->odom_head = (b->odom_head + 1) % PONS__ODOM_RING;
    if (b->odom_n < PONS__ODOM_RING) {
        b->odom_n++;
    }
    pons__localizer_predict(b->localizer, odom);
    sense_outside(b);
    sense_scan(b);
    b->thinking = pons__localizer_think(b->localizer, THINK_LOOKUPS);
    pons__place_watch(b);

    if (b->host_ns - b->rate_host_ns >= RATE_NS) {
        b->realtime =
            (double)(b->robot_ns - b->rate_robot_ns) / (double)(b->host_ns - b->rate_host_ns);
        b->rate_host_ns = b->host_ns;
        b->rate_robot_ns = b->robot_ns;
    }
    if (due(b->robot_ns, &b->blobs_due_ns, BLOBS_NS)) {
        b->n_blobs = pons__costmap_blobs(b->grid, b->blobs, PONS__BLOBS_MAX);
    }
}

// Whether a stop, or a hold, has come or gone since it was told: that is told at once.
static bool stands_otherwise(pons_body *b)
{
    const bool latched = b->safety.latched, held = pons__goals_held(b);
    const bool so = latched != b->reported_latched || held != b->reported_held;
    b->reported_latched = latched;
    b->reported_held = held;
    return so;
}

// A new latch ends what was moving.
static void watch_latch(pons_body *b)
{
    if (b->safety.latch_count != b->latch_seen) {
        b->latch_seen = b->safety.latch_count;
        b->note[0] = '\0';
        // A stop that a reset has lifted already does not touch what was asked for after it.
        pons__goals_stopped(b, b->safety.reason,
                            b->safety.latched ? b->goal_seq : b->cmd.reset_goal_seq);
    }
    pons__note_latch(b);
}

static void relocalize(void *user)
{
    pons__localizer_doubt(((pons_body *)user)->localizer);
}

static void tell_navigator(pons_body *b)
{
    const pons__nav_senses senses = {.odom = b->state.odom_from_base,
                                     .odometer_m = b->odometer_m,
                                     .gate = b->safety.out,
                                     .battery_pct = b->state.battery_pct,
                                     .battery = b->state.battery,
                                     .relocalize = relocalize,
                                     .user = b};
    pons__nav_sense(b->nav, &senses);
}

static void control(pons_body *b)
{
    b->cmd.want = (pons_twist2){0};
    b->cmd.docking = false;
    memset(b->cmd.arm.qd, 0, sizeof b->cmd.arm.qd);
    pons__limb_sense(&b->hand);
    tell_navigator(b);
    if (b->scans == 0 || b->scan.stamp_ns > b->blind_until_ns) {
        if (b->blind_until_ns > INT64_MIN && !pons__goals_held(b)) {
            pons__nav_resume(b->nav, b->robot_ns);
        }
        b->blind_until_ns = INT64_MIN;
        pons__goals_step(b);
    }
    pons__body_tell_tree(b);
    b->cmd.stamp_ns = b->robot_ns;
    b->cmd.map_from_odom = pons_pose_compose(b->pose, pons_pose_inverse(b->state.odom_from_base));
    b->cmd.alive_until_host_ns = b->controller ? b->beat_host_ns + PONS__HEARTBEAT_NS : INT64_MIN;
    pons__body_publish(b);
}

void pons__body_poll(pons_body *b)
{
    sense(b);
    pons__clients_pump(b);
    watch_latch(b);
    pons__requests_step(b);
    pons__clients_watch(b);
    pons__goals_watch(b);
    if (due(b->robot_ns, &b->control_due_ns, PONS__CONTROL_NS)) {
        control(b);
        pons__body_tell_senses(b);
        pons__body_tell_sees(b);
    }
    const bool planning = pons__nav_think(b->nav, THINK_CELLS);
    if (b->planning && !planning) {
        b->control_due_ns = b->robot_ns; // who waits for the path has it at once
    }
    b->planning = planning;
    b->thinking = b->thinking || planning;
    const int64_t now_ns = b->threaded ? b->host_ns : b->robot_ns;
    const bool news = stands_otherwise(b);
    if (due(now_ns, &b->telemetry_due_ns, PONS__TELEMETRY_NS) || news) {
        pons__body_tell(b, NULL);
    }
    if (due(now_ns, &b->view_due_ns, PONS__VIEW_NS)) {
        pons__body_tell_view(b);
    }
    pons__clients_flush(b);
}

static pons_value *pose_value(pons_pose2 p)
{
    return pons_object("x", json_real(p.x), "y", json_real(p.y), "yaw", json_real(p.yaw), NULL);
}

int pons__body_save_sim(pons_body *b, pons_value *state, pons_error *err)
{
    const pons_pose2 map_from_odom =
        pons_pose_compose(b->pose, pons_pose_inverse(b->state.odom_from_base));
    pons_autovalue saved =
        pons_object("driver", json_string(b->robot->name), "world",
                    json_string(pons_get_str(b->world, "name", "")), "state", state, "pose",
                    pose_value(b->pose), "map_from_odom", pose_value(map_from_odom), "odometer_m",
                    json_real(b->odometer_m), NULL);
    char *text = NULL;
    const long n = saved ? pons_value_line(saved, &text) : -1;
    if (n < 0) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory to save the world");
    }
    const int rc = pons__replace_file(b->sim_state_path, text, (size_t)n, false, err);
    free(text);
    return rc;
}

static void save_when_due(pons_body *b)
{
    if (!b->sim_state_path || !b->robot->save || b->sim_failed ||
        !due(b->robot_ns, &b->save_due_ns, PONS__SAVE_NS)) {
        return;
    }
    pons_value *state = NULL;
    if (b->robot->save(b->self, &state, NULL) == PONS_OK) {
        pons__body_save_sim(b, state, NULL); // the next one is due soon anyway
    }
}

// ---- creation -----------------------------------------------------------------------------------

// The arm, as the body knows it, and its gate.
static int open_arm(pons_body *b, pons_error *err)
{
    const int rc = pons__limb_open(&b->hand, b->robot, b->self, b->opened, err);
    if (rc < 0 || !b->hand.ops) {
        return rc;
    }
    pons__arm_params p = {.model = b->hand.model,
                          .accel = b->hand.caps.accel_max_radps2,
                          .brake = ARM_BRAKE * b->hand.caps.accel_max_radps2,
                          .speed_share = 0.8,
                          .effort_share = 0.9,
                          .effort_s = 0.3,
                          .margin_m = 0.004,
                          .react_s = 0.03,
                          .floor = -b->hand.caps.mount.p[2]};
    for (int i = 0; i < b->hand.n_surfaces && i < PONS__ARM_BOXES; i++) {
        p.boxes[p.n_boxes++] = b->hand.surfaces[i].box;
    }
    for (int i = 0; i < 3; i++) { // given in the robot's base; the arm is mounted upright
        p.workspace_min[i] = b->hand.caps.workspace_min[i] - b->hand.caps.mount.p[i];
        p.workspace_max[i] = b->hand.caps.workspace_max[i] - b->hand.caps.mount.p[i];
    }
    pons__gate_arm(&b->guard, b->hand.ops, &p);
    return PONS_OK;
}

static int open_driver(pons_body *b, const pons_body_options *opts, pons_error *err)
{
    pons_autovalue config =
        pons_object("seed", json_integer((json_int_t)(opts->seed & INT64_MAX)), "battery_pct",
                    opts->battery_pct >= 0.0 ? json_real(opts->battery_pct) : NULL, "workspace",
                    opts->workspace ? json_string(opts->workspace) : NULL, NULL);
    if (!config) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a body");
    }
    // A simulated robot may be in a place that it does not know.
    const pons_value *real = pons_get(b->world, "simulated");
    const int rc = b->robot->open(real ? real : b->world, config, &b->self, err);
    if (rc < 0) {
        return rc;
    }
    b->robot->caps(b->self, &b->caps);
    b->auto_reset = opts->auto_reset_sim && b->caps.simulated;
    pons__safety_params params;
    pons__safety_params_from_caps(&params, &b->caps);
    pons__self_filter_read(pons_get(b->world, "lidar"), &params.self_filter);
    pons__gate_init(&b->guard, b->robot, b->self, b->clock, &params);
    b->self_filter = params.self_filter;
    b->near_returns = (pons__near_returns){params.footprint, params.radius_m};
    b->cmd.stamp_ns = INT64_MIN / 2;
    return open_arm(b, err);
}

static bool grows(const pons_body *b)
{
    return pons_get_bool(pons_get(b->world, "map"), "grows", false);
}

// The robot's own SLAM makes the map that grows.
static bool maps_itself(const pons_body *b)
{
    return grows(b) && pons__robot_map_given(b->robot, b->self);
}

static int open_registry(pons_body *b, const pons_body_options *opts, pons_error *err)
{
    // Where the dock is, its own software knows.
    const bool docks = pons__external_goal_takes(&pons__skill_dock, b->robot, b->self);
    const unsigned has = (b->caps.speed_max_mps > 0.0 ? PONS__WITH_WHEELS : 0u) |
                         (b->hand.ops ? PONS__WITH_ARM : 0u) |
                         (docks || pons_get(b->world, "charger") ? PONS__WITH_CHARGER : 0u) |
                         (opts->slam || maps_itself(b) ? PONS__WITH_MAPPER : 0u);
    int rc = pons__skills_open(&b->skills, has, opts->skills, opts->n_skills, err);
    rc = rc < 0 ? rc : pons__skills_join(&b->skills, b->robot, b->self, err);
    if (rc >= 0 && !(b->registry = pons__skills_registry(&b->skills))) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the registry of skills");
    }
    return rc;
}

// The policy auto_reset: sim lifts only the body's own doubt, and telemetry goes on saying that it
// was used.
static void decide_latch(pons_body *b, const pons__witness *latch)
{
    if (latch->latched && latch->origin == PONS__ORIGIN_BOOT && b->auto_reset) {
        snprintf(b->note, sizeof b->note, "lifted by auto_reset: sim (%s)", latch->reason);
    } else if (latch->latched) {
        pons__gate_boot_latch(&b->guard, latch->origin, latch->reason);
    }
    pons__saver_init(&b->saver, &b->guard, &b->keeper);
    b->saver.saved.gen = b->guard.safety.status.gen;
    b->safety = *pons__gate_status(&b->guard);
    b->latch_seen = b->noted_latch = b->safety.latch_count;
    b->pump_latch = pons__body_latch_number(b);
}

// A process draws its boot id. Under the virtual clock it follows from the seed and from what went
// before, so that a run can be repeated and two boots of one run still differ.
static void make_boot_id(pons_body *b, const pons_body_options *opts, const pons__durable *past)
{
    pons_rand r;
    if (b->threaded) {
        pons_rand_seed_os(&r);
    } else {
        pons_autovalue seen =
            pons_object("seed", json_integer((json_int_t)(opts->seed & INT64_MAX)), "epoch",
                        json_integer(past->epoch), "boot_id", json_string(past->boot_id), NULL);
        char hash[33] = "";
        pons_value_hash(seen, hash);
        hash[15] = '\0'; // 60 bits
        pons_rand_seed(&r, strtoull(hash, NULL, 16));
    }
    const unsigned long long high = pons_rand_u64(&r), low = pons_rand_u64(&r);
    snprintf(b->boot_id, sizeof b->boot_id, "%016llx%016llx", high, low);
}

// The state is on the disk before the ledger has this start's line, so a body that finds a ledger
// with lines and no state knows that the state was lost.
static int open_durable(pons_body *b, const pons_body_options *opts, pons_error *err)
{
    int rc = pons__ledger_open(b->ledger_path, &b->ledger, err);
    if (rc < 0) {
        return rc;
    }
    const pons__ledger_bounds bounds = {.part_bytes = (int64_t)(opts->ledger_part_mb * 1e6),
                                        .size_bytes = (int64_t)(opts->ledger_size_mb * 1e6),
                                        .audit_ms = (int64_t)(opts->ledger_audit_days * 86400e3),
                                        .clock = b->clock};
    pons__durable past = {0};
    int state_rc = PONS_ENOTFOUND;
    if (b->keeper.path) {
        state_rc = pons__durable_load(b->keeper.path, &past, err);
        if (state_rc < 0 && state_rc != PONS_ENOTFOUND && state_rc != PONS_ECORRUPT) {
            return state_rc;
        }
    }
    pons__witness latch;
    const bool lost = pons__boot_latched(b->ledger, state_rc, &past, &latch) && state_rc < 0;
    // A lost file cannot make the epoch fall: the ledger remembers those that had a goal.
    if (past.epoch < pons__ledger_epoch(b->ledger)) {
        past.epoch = pons__ledger_epoch(b->ledger);
    }
    if (lost && past.epoch < PONS__EPOCH_MAX - PONS__EPOCH_GAP) {
        past.epoch += PONS__EPOCH_GAP;
    }
    make_boot_id(b, opts, &past);
    b->keeper.d.epoch = b->last_epoch = past.epoch;
    snprintf(b->keeper.d.boot_id, sizeof b->keeper.d.boot_id, "%s", b->boot_id);
    b->cmd.taken_pct = pons__boot_taken(b->ledger, state_rc, &past);
    pons__gate_boot_pace(&b->guard, b->cmd.taken_pct);
    decide_latch(b, &latch);
    const pons__latch_want now = pons__safety_want(&b->guard.safety);
    rc = pons__keeper_latch(&b->keeper, &now, err);
    if (rc < 0) {
        return rc;
    }
    const pons_ledger_note note = {.kind = PONS_LEDGER_BOOT,
                                   .boot_id = b->boot_id,
                                   .ts_ms = pons_wall_ms(&b->clock),
                                   .latched = now.latched};
    rc = pons__ledger_note(b->ledger, &note, err);
    if (rc == PONS_OK) {
        pons__ledger_bound(b->ledger, &bounds);
    }
    return rc;
}

// A file that is missing, torn, or of another world or driver is no reason not to start.
static bool read_saved(pons_body *b, pons_value **ret)
{
    FILE *f = fopen(b->sim_state_path, "re");
    if (!f) {
        return false;
    }
    char *text = NULL;
    size_t cap = 0;
    const ssize_t n = getdelim(&text, &cap, '\0', f);
    fclose(f);
    pons_value *v = NULL;
    const bool parsed = n > 0 && pons_value_parse(text, (size_t)n, &v, NULL) == PONS_OK;
    free(text);
    if (parsed && strcmp(pons_get_str(v, "driver", ""), b->robot->name) == 0 &&
        strcmp(pons_get_str(v, "world", ""), pons_get_str(b->world, "name", "")) == 0) {
        *ret = v;
        return true;
    }
    pons_value_unref(v);
    return false;
}

// Puts a simulated robot back where it stood, with the pose that the localiser believed then.
static bool restore_sim(pons_body *b, pons_pose2 *ret_pose)
{
    pons_autovalue saved = NULL;
    if (!b->sim_state_path || !b->robot->restore || !read_saved(b, &saved)) {
        return false;
    }
    pons_pose2 pose, map_from_odom;
    if (!pons__pose_read(pons_get(saved, "pose"), &pose) ||
        !pons__pose_read(pons_get(saved, "map_from_odom"), &map_from_odom) ||
        b->robot->restore(b->self, pons_get(saved, "state"), NULL) < 0) {
        return false;
    }
    // The state may be a little newer than the pose; odometry bridges that.
    b->robot->read(b->self, &b->state);
    const pons_pose2 now = pons_pose_compose(map_from_odom, b->state.odom_from_base);
    *ret_pose = hypot(now.x - pose.x, now.y - pose.y) < MOVED_M ? now : pose;
    b->odometer_m = pons_get_num(saved, "odometer_m", 0.0);
    return true;
}

static bool localises_itself(const pons_body *b)
{
    const pons_robot_outside_ops *outside = pons_robot_outside(b->robot);
    pons_robot_place place;
    return outside && outside->place && outside->place(b->self, &place);
}

static int open_mapper(pons_body *b, const pons_slam_ops *slam, pons_error *err)
{
    const bool own = maps_itself(b);
    if (!own && slam && localises_itself(b)) { // two sources of the pose
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "this world's map grows, but the robot localises itself and gives no "
                              "map: set its localization to pons, or remove `grows`");
    }
    if (!own && !slam && grows(b) && pons_robot_gives_map(b->robot)) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE,
                              "this world's map grows: that needs a module slam-NAME (package "
                              "pons-slam), or a robot with localization: ros, whose SLAM gives its "
                              "map");
    }
    pons_pose2 home = {0};
    pons__pose_read(pons_get(b->world, "start"), &home);
    const pons_footprint *f = &b->caps.footprint;
    const double inscribed_m = f->n > 0 ? f->inscribed_m : b->caps.radius_m;
    const pons__mapper_options o = {.slam = own ? NULL : slam,
                                    .robot = b->robot,
                                    .robot_self = b->self,
                                    .grid = b->grid,
                                    .home = home,
                                    .map_path = pons_get_str(pons_get(b->world, "map"), "path", ""),
                                    .radius_m = inscribed_m,
                                    .room_m = b->caps.radius_m + EXPLORE_ROOM_M,
                                    .threaded = b->threaded};
    return own || slam ? pons__mapper_create(&o, &b->mapper, err) : PONS_OK;
}

static int open_navigation(pons_body *b, const pons_body_options *opts, pons_error *err)
{
    int rc = pons__costmap_from_world(b->world, &b->grid, err);
    if (rc < 0) {
        return rc;
    }
    pons__safety_set_area(&b->guard.safety, pons__costmap_area(b->grid)); // before its thread
    pons__nav_params params = PONS_NAV_PARAMS_INIT;
    params.radius_m = b->caps.radius_m;
    params.footprint = b->caps.footprint;
    params.turning_radius_m = b->caps.turning_radius_m;
    params.speed_max_mps = b->caps.speed_max_mps;
    params.yaw_rate_max_radps = b->caps.yaw_rate_max_radps;
    params.accel_mps2 = b->caps.accel_max_mps2;
    params.reverse_max_mps = b->caps.reverse_max_mps;
    b->nav = pons__nav_create(b->grid, &params);

    rc = open_mapper(b, opts->slam, err);
    if (rc < 0) {
        return rc;
    }
    pons_pose2 start = {0};
    pons__pose_read(pons_get(b->world, "start"), &start);
    const bool restored = restore_sim(b, &start);
    b->localizer = pons__localizer_create(b->grid, start);
    if (!b->nav || !b->localizer) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the navigator");
    }
    rc = pons__nav_workspace(b->nav, opts->workspace, err);
    if (rc < 0) {
        return rc;
    }
    b->robot->read(b->self, &b->state);
    pons__limb_sense(&b->hand); // what a restored robot holds is told from the first
    b->last_odom = b->state.odom_from_base;
    if (restored) {
        pons__localizer_reset(b->localizer, start, b->state.odom_from_base);
    }
    b->pose = start;
    b->blind_until_ns = INT64_MIN;
    b->robot_ns = b->rate_robot_ns = b->robot->time_ns(b->self);
    b->control_due_ns = b->save_due_ns = b->blobs_due_ns = b->robot_ns;
    b->telemetry_due_ns = b->threaded ? b->host_ns : b->robot_ns;
    return PONS_OK;
}

static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    char *ret = NULL;
    if (asprintf(&ret, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, name) < 0) {
        return NULL;
    }
    return ret;
}

// ---- public functions ---------------------------------------------------------------------------

int pons_body_create(const pons_body_options *opts, pons_body **ret, pons_error *err)
{
    return pons__body_open(opts, false, ret, err);
}

static int open_parts(pons_body *b, const pons_body_options *opts, pons_error *err)
{
    int rc = open_driver(b, opts, err);
    if (rc == PONS_OK) {
        rc = open_registry(b, opts, err);
    }
    if (rc == PONS_OK) {
        rc = open_durable(b, opts, err);
    }
    return rc == PONS_OK ? open_navigation(b, opts, err) : rc;
}

int pons__body_open(const pons_body_options *opts, bool threaded, pons_body **ret, pons_error *err)
{
    if (!opts->robot || opts->robot->abi < PONS_ROBOT_ABI_FIRST ||
        opts->robot->abi > PONS_ROBOT_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, MODULE,
                              "the driver's contract is version %u, this body's is %u",
                              opts->robot ? opts->robot->abi : 0, PONS_ROBOT_ABI);
    }
    pons_body *b = calloc(1, sizeof *b);
    if (!b) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a body");
    }
    b->robot = opts->robot;
    b->opened = pons_value_ref(opts->world);
    b->world = pons_value_ref(opts->world);
    b->clock = opts->clock;
    b->speed = opts->speed > 0.0 ? opts->speed : 1.0;
    b->realtime = b->speed;
    b->threaded = threaded;
    b->for_run = opts->for_run;
    b->started_ms = pons_wall_ms(&b->clock);
    b->host_ns = b->rate_host_ns = pons_now_ns(&b->clock);
    b->ledger_path = opts->ledger_path ? strdup(opts->ledger_path) : NULL;
    b->sim_state_path = opts->sim_state_path ? strdup(opts->sim_state_path) : NULL;

    char *state_path = opts->ledger_path ? beside(opts->ledger_path, "body.epoch") : NULL;
    int rc = pons__keeper_init(&b->keeper, state_path, err);
    if ((opts->ledger_path && (!b->ledger_path || !state_path)) ||
        (opts->sim_state_path && !b->sim_state_path)) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a body");
    }
    free(state_path);
    rc = rc < 0 ? rc : pons_world_id(b->world, b->world_id, err);
    if (rc == PONS_OK) {
        rc = open_parts(b, opts, err);
    }
    if (rc < 0) {
        pons_body_destroy(b);
        return rc;
    }
    *ret = b;
    return PONS_OK;
}

void pons_body_destroy(pons_body *b)
{
    if (!b) {
        return;
    }
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons_link_close(b->clients[i].link);
    }
    for (size_t i = 0; i < PONS__GOALS_MAX; i++) {
        pons__goal *g = &b->goals[i];
        if (pons__goal_active(g) && g->state != PONS_GOAL_ACCEPTED &&
            (g->skill->module || *g->run.external_goal)) { // it may have something to free
            pons__skill_env env;
            pons__body_env(b, &env);
            pons__skill_stop(g->skill, &g->run, &env);
        }
        pons_value_unref(g->run.answer);
        pons_message_clear(&g->msg);
    }
    pons__mapper_destroy(b->mapper);
    pons__nav_destroy(b->nav);
    pons__localizer_destroy(b->localizer);
    pons__costmap_destroy(b->grid);
    pons__ledger_close(b->ledger);
    pons__limb_close(&b->hand);
    pons__skills_close(&b->skills);
    pons_value_unref(b->registry);
    if (b->self) {
        b->robot->close(b->self);
    }
    pons_value_unref(b->world);
    pons_value_unref(b->opened);
    free(b->ledger_path);
    pons__keeper_fini(&b->keeper);
    free(b->sim_state_path);
    free(b);
}

int pons_body_attach(pons_body *b, pons_link *link, pons_error *err)
{
    pons__client *place = pons__clients_place(b);
    if (place) {
        // It may have connected, and spoken, before the stops that were heard last.
        *place = (pons__client){.link = link,
                                .pid = pons_link_peer_pid(link),
                                .since_host_ns = pons_now_ns(&b->clock),
                                .seen_latch = b->pump_latch};
        return PONS_OK;
    }
    pons_link_close(link);
    return pons_error_set(err, PONS_EBUSY, MODULE, "%d clients are the most that a body serves",
                          PONS__CLIENTS_MAX);
}

int pons_body_step(pons_body *b, int64_t dt_ns, pons_error *err)
{
    while (dt_ns > 0) {
        const int64_t step_ns = dt_ns < STEP_NS ? dt_ns : STEP_NS;
        dt_ns -= step_ns;
        if (b->robot->step && !b->sim_failed) {
            const int rc = b->robot->step(b->self, step_ns, err);
            if (rc < 0) {
                b->sim_failed = true;
                pons_body_stop(b, "the simulation failed");
                pons__body_poll(b);
                return rc;
            }
        }
        pons__gate_tick(&b->guard);
        pons__saver_work(&b->saver);
        pons__body_poll(b);
        save_when_due(b);
    }
    return PONS_OK;
}

int64_t pons_body_robot_ns(const pons_body *b)
{
    return b->robot->time_ns(b->self);
}

void pons_body_stop(pons_body *b, const char *reason)
{
    pons__gate_stop(&b->guard, reason);
    pons__body_settle(b);
}

int pons_body_truth(pons_body *b, pons_pose2 *ret, pons_error *err)
{
    if (!b->robot->truth) {
        return pons_error_set(err, PONS_EUNSUPPORTED, MODULE, "a real robot's truth is not known");
    }
    b->robot->truth(b->self, ret);
    return PONS_OK;
}
