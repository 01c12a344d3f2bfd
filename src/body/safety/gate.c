// gate.c - see gate.h. Nothing here allocates, locks or waits.
#include "body/safety/gate.h"

static void publish(pons__gate *g);

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

void pons__gate_tick(pons__gate *g)
{
    pons__mailbox_take(&g->commands);
    pons__gate_take_saved(g);
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

int64_t pons__gate_stop(pons__gate *g, const char *reason)
{
    g->robot->write_velocity(g->self, (pons_twist2){0});
    const int64_t written_ns = pons_now_ns(&g->clock);
    pons__safety_latch(&g->safety, PONS__ORIGIN_STOP, reason);
    g->safety.last = g->safety.status.out = (pons_twist2){0};
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

static void publish(pons__gate *g)
{
    g->status[g->statuses.back] = g->safety.status;
    pons__mailbox_publish(&g->statuses);
    if (g->told_gen == g->safety.status.gen) {
        return;
    }
    g->told_gen = g->safety.status.gen;
    g->want[g->wants.back] = pons__safety_want(&g->safety);
    pons__mailbox_publish(&g->wants);
    if (g->wake_saver) {
        g->wake_saver(g->wake_ctx);
    }
}
