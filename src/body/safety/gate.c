// gate.c - see gate.h. Nothing here allocates, locks or waits.
#include "body/safety/gate.h"

#include <math.h>
#include <string.h>

#define ARM_STEP_MAX_S 0.05 // a longer gap between two steps ramps like this one

static void publish(pons__gate *g)
{
    g->status[g->statuses.back] = g->safety.status;
    pons__mailbox_publish(&g->statuses);
    if (g->reported_gen == g->safety.status.gen) {
        return;
    }
    g->reported_gen = g->safety.status.gen;
    g->want[g->wants.back] = pons__safety_want(&g->safety);
    pons__mailbox_publish(&g->wants);
    if (g->wake_saver) {
        g->wake_saver(g->wake_ctx);
    }
}

void pons__gate_init(pons__gate *g, const pons_robot_ops *robot, void *self, pons_clock clock,
                     const pons__safety_params *params)
{
    *g = (pons__gate){.robot = robot, .self = self, .clock = clock};
    pons__safety_init(&g->safety, params);
    pons__mailbox_init(&g->commands);
    pons__mailbox_init(&g->statuses);
    pons__mailbox_init(&g->wants);
    pons__mailbox_init(&g->saves);
    for (int i = 0; i < PONS__MAILBOX_SLOTS; i++) { // a command of the distant past: stand
        g->command[i] = (pons__command){.stamp_ns = INT64_MIN / 2};
    }
    publish(g);
}

// What forbids the arm all motion; CLEAR: nothing. By the same rules as the wheels', but for scans:
// an arm is kept from what stands by what it knows, not by a lidar at its foot.
static pons__arm_zone arm_zone(const pons__gate *g, const pons__command *cmd, int64_t robot_ns)
{
    const pons__safety *s = &g->safety;
    bool moves = cmd->arm.grips != g->grips_seen;
    for (int i = 0; i < PONS_ARM_JOINTS; i++) {
        moves = moves || cmd->arm.qd[i] != 0.0;
    }
    if (s->status.latched) {
        return PONS__ARM_LATCHED;
    }
    if (robot_ns - cmd->stamp_ns > s->p.cmd_timeout_ns || cmd->stamp_ns <= s->blind_until_ns ||
        (moves && cmd->arm.goal_seq <= s->dead_goal_seq)) {
        return PONS__ARM_OLD_COMMAND;
    }
    if (cmd->arm.hold || (moves && pons_now_ns(&g->clock) > cmd->alive_until_host_ns)) {
        return PONS__ARM_HELD;
    }
    return PONS__ARM_CLEAR;
}

static void arm_tick(pons__gate *g)
{
    if (!g->arm_ops) {
        return;
    }
    const pons__command *cmd = &g->command[g->commands.front];
    const int64_t robot_ns = g->robot->time_ns(g->self);
    const double passed = (double)(robot_ns - g->arm_ns) / (double)PONS_NS_PER_S;
    pons_robot_arm_state state;
    double out[PONS_ARM_JOINTS] = {0};
    const pons__arm_zone zone = arm_zone(g, cmd, robot_ns);
    g->arm_ops->state(g->self, &state);
    g->arm_ns = robot_ns;
    g->arm.taken_pct = g->safety.status.taken_pct;
    pons__arm_gate_step(&g->arm, zone, cmd->arm.qd, &state, fmin(fmax(passed, 0.0), ARM_STEP_MAX_S),
                        out);
    g->arm_ops->write(g->self, out);
    // A wish of the gripper that a stop or a gap makes void stays void: nothing is dropped later.
    if (cmd->arm.grips != g->grips_seen) {
        g->grips_seen = cmd->arm.grips;
        if (zone == PONS__ARM_CLEAR && cmd->arm.grip_seq > g->safety.dead_goal_seq) {
            g->arm_ops->grip(g->self, cmd->arm.width_m, cmd->arm.force_n);
        }
    }
    g->safety.status.arm = g->arm.status;
}

void pons__gate_tick(pons__gate *g)
{
    pons__mailbox_take(&g->commands);
    pons__gate_take_saved(g);
    pons_robot_state state;
    g->robot->read(g->self, &state);
    const bool have_scan = g->robot->scan(g->self, &g->scan);
    const char *fault = g->robot->fault ? g->robot->fault(g->self) : NULL;
    const pons_robot_outside_ops *outside = pons_robot_outside(g->robot);
    char why[PONS_OUTSIDE_TEXT_MAX];
    g->safety.lacks = outside && outside->lacks(g->self, why);
    const pons_twist2 out = pons__safety_step(&g->safety, &g->command[g->commands.front], &state,
                                              have_scan ? &g->scan : NULL, fault,
                                              g->robot->time_ns(g->self), pons_now_ns(&g->clock));
    g->robot->write_velocity(g->self, out);
    arm_tick(g);
    g->safety.status.write_host_ns = pons_now_ns(&g->clock);
    publish(g);
}

void pons__gate_arm(pons__gate *g, const pons_robot_arm_ops *ops, const pons__arm_params *params)
{
    pons__arm_gate_init(&g->arm, params);
    g->arm_ops = ops;
    g->arm_ns = g->robot->time_ns(g->self);
}

void pons__gate_still(pons__gate *g)
{
    static const double still[PONS_ARM_JOINTS];
    g->robot->write_velocity(g->self, (pons_twist2){0});
    if (g->arm_ops) {
        g->arm_ops->write(g->self, still);
    }
}

int64_t pons__gate_stop(pons__gate *g, const char *reason)
{
    pons__gate_still(g);
    const int64_t written_ns = pons_now_ns(&g->clock);
    pons__safety_latch(&g->safety, PONS__ORIGIN_STOP, reason);
    g->safety.last = g->safety.status.out = (pons_twist2){0};
    memset(g->arm.last, 0, sizeof g->arm.last);
    g->safety.status.zone = PONS__ZONE_LATCHED;
    g->safety.status.write_host_ns = written_ns;
    publish(g);
    return written_ns;
}

void pons__gate_boot_latch(pons__gate *g, pons__origin origin, const char *reason)
{
    pons__safety_latch(&g->safety, origin, reason);
    g->safety.status.saved_gen = g->safety.status.gen;
    publish(g);
}

void pons__gate_boot_pace(pons__gate *g, int taken_pct)
{
    g->safety.status.taken_pct = g->safety.status.taken_seen = taken_pct;
    for (int i = 0; i < PONS__MAILBOX_SLOTS; i++) {
        g->command[i].taken_pct = taken_pct;
    }
    publish(g);
}

void pons__gate_take_saved(pons__gate *g)
{
    if (pons__mailbox_take(&g->saves)) {
        pons__safety_saved(&g->safety, &g->saved[g->saves.front]);
        publish(g);
    }
}

void pons__gate_requests(pons__gate *g)
{
    pons__mailbox_take(&g->commands);
    pons__safety_requests(&g->safety, &g->command[g->commands.front], NULL);
    publish(g);
}

const pons__latch_want *pons__gate_want(pons__gate *g)
{
    pons__mailbox_take(&g->wants);
    return &g->want[g->wants.front];
}

void pons__gate_saved(pons__gate *g, const pons__latch_saved *saved)
{
    g->saved[g->saves.back] = *saved;
    pons__mailbox_publish(&g->saves);
}

void pons__gate_command(pons__gate *g, const pons__command *cmd)
{
    g->command[g->commands.back] = *cmd;
    pons__mailbox_publish(&g->commands);
}

const pons__safety_status *pons__gate_status(pons__gate *g)
{
    pons__mailbox_take(&g->statuses);
    return &g->status[g->statuses.front];
}
