// guard.c - see guard.h. Nothing here allocates, locks or waits.
#include "body/guard.h"

static void publish(pons__guard *g);

void pons__guard_init(pons__guard *g, const pons_robot_ops *robot, void *self, pons_clock clock,
                      const pons__safety_params *params)
{
    *g = (pons__guard){.robot = robot, .self = self, .clock = clock};
    pons__safety_init(&g->safety, params);
    pons__mailbox_init(&g->commands);
    pons__mailbox_init(&g->statuses);
    for (int i = 0; i < PONS__MAILBOX_SLOTS; i++) // a command of the distant past: stand
        g->command[i] = (pons__command){.stamp_ns = INT64_MIN / 2};
    publish(g);
}

void pons__guard_tick(pons__guard *g)
{
    pons__mailbox_take(&g->commands);
    pons_robot_state state;
    g->robot->read(g->self, &state);
    const bool have_scan = g->robot->scan(g->self, &g->scan);
    const char *fault = g->robot->fault ? g->robot->fault(g->self) : NULL;
    const pons_twist2 out = pons__safety_step(&g->safety, &g->command[g->commands.front], &state,
                                              have_scan ? &g->scan : NULL, fault,
                                              g->robot->time_ns(g->self), pons_now_ns(&g->clock));
    g->robot->write_velocity(g->self, out);
    g->safety.status.write_host_ns = pons_now_ns(&g->clock);
    publish(g);
}

int64_t pons__guard_stop(pons__guard *g, const char *reason)
{
    g->robot->write_velocity(g->self, (pons_twist2){0});
    const int64_t written_ns = pons_now_ns(&g->clock);
    pons__safety_latch(&g->safety, reason);
    g->safety.last = g->safety.status.out = (pons_twist2){0};
    g->safety.status.zone = PONS__ZONE_LATCHED;
    g->safety.status.write_host_ns = written_ns;
    publish(g);
    return written_ns;
}

void pons__guard_command(pons__guard *g, const pons__command *cmd)
{
    g->command[g->commands.back] = *cmd;
    pons__mailbox_publish(&g->commands);
}

const pons__safety_status *pons__guard_status(pons__guard *g)
{
    pons__mailbox_take(&g->statuses);
    return &g->status[g->statuses.front];
}

static void publish(pons__guard *g)
{
    g->status[g->statuses.back] = g->safety.status;
    pons__mailbox_publish(&g->statuses);
}
