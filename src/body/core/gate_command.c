// gate_command.c - what the loop asks of the gate, and what it knows of the gate's answer.
#include "body/core/gate_command.h"

#include <stdio.h>
#include <string.h>

void pons__body_publish(pons_body *b)
{
    pons__gate_command(&b->guard, &b->cmd);
}

void pons__body_env(pons_body *b, pons__skill_env *ret)
{
    *ret = (pons__skill_env){
        .robot_ns = b->robot_ns,
        .spared_ns = b->spared_ns,
        .pose = b->pose,
        .where = pons__localizer_watch(b->localizer),
        .odom = b->state.odom_from_base,
        .twist = b->state.twist,
        .scan = b->scans > 0 ? &b->scan : NULL,
        .scans = b->scans,
        .battery_pct = b->state.battery_pct,
        .battery = b->state.battery,
        .on_charger = b->state.on_charger,
        .steer = {.v = b->steer.v,
                  .w = b->steer.w,
                  .n = b->steer.n,
                  .let_go = b->steer.let_go,
                  .age_ns = b->host_ns - b->steer_host_ns},
        .safety = &b->safety,
        .hand = b->hand.ops ? &b->hand : NULL,
        .nav = b->nav,
        .grid = b->grid,
        .mapper = b->mapper,
        .world = b->world,
        .caps = &b->caps,
        .robot = b->robot,
        .self = b->self,
        .lacks = *b->lacks ? b->lacks : NULL,
    };
}

// Under the virtual clock this is what a datagram to the stop socket does; else the gate finds it in
// its mailbox.
void pons__body_stop_request(pons_body *b, pons__origin origin, const char *reason)
{
    b->cmd.stop_count++;
    b->cmd.stop_origin = origin;
    b->cmd.want = (pons_twist2){0};
    memset(b->cmd.arm.qd, 0, sizeof b->cmd.arm.qd);
    snprintf(b->cmd.reason, sizeof b->cmd.reason, "%s", reason && *reason ? reason : "stop");
    if (!b->threaded) {
        pons__gate_still(&b->guard);
    }
    pons__body_send_command(b);
}

uint64_t pons__body_latch_number(const pons_body *b)
{
    return b->safety.latch_count + (b->cmd.stop_count - b->safety.stops_seen);
}

void pons__body_send_command(pons_body *b)
{
    pons__body_publish(b);
    if (b->kick) {
        b->kick(b->kick_user);
    }
    if (!b->threaded) {
        pons__body_settle(b);
    }
}

// Single thread: the gate takes its requests, and the disk follows, until neither has more to do.
void pons__body_settle(pons_body *b)
{
    do {
        pons__gate_requests(&b->guard);
        pons__saver_work(&b->saver);
        pons__gate_take_saved(&b->guard);
    } while (!b->saver.failing && pons__gate_want(&b->guard)->gen != b->saver.saved.gen);
    b->safety = *pons__gate_status(&b->guard);
}

bool pons__body_latched(const pons_body *b)
{
    return b->safety.latched || b->cmd.stop_count != b->safety.stops_seen;
}

double pons__body_rate(const pons_body *b)
{
    return b->realtime;
}
