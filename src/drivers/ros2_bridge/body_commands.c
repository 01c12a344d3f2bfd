// body_commands.c - what the bridge tells the body while it is in control.
#include "drivers/ros2_bridge/body_commands.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPIRES_MS 3000

bool bridge_send(pons_link *l, const pons_message *m)
{
    return l && pons_message_send(l, m, NULL) >= 0;
}

bool bridge_in_control(const bridge *b)
{
    return b->hand.epoch > 0;
}

bool bridge_goal_send(bridge *b, const char *id, const char *skill, pons_value *args, bool preempt)
{
    uint8_t sum[32];
    char hash[17], *text = NULL;
    const long n = pons_value_line(args, &text);
    pons_sha256(n > 0 ? text : "", n > 0 ? (size_t)n : 0, sum);
    free(text);
    for (int i = 0; i < 8; i++) {
        snprintf(hash + 2 * i, 3, "%02x", sum[i]);
    }
    const pons_message m = {
        .type = PONS_MESSAGE_GOAL,
        .as.goal = {.goal_id = id,
                    .epoch = b->hand.epoch,
                    .expires_ms = b->clock.boot_ns(b->clock.ctx) / PONS_NS_PER_MS + EXPIRES_MS,
                    .robot_id = b->robot_id,
                    .skill = skill,
                    .args = args,
                    .args_hash = hash,
                    .thread = "ros2",
                    .attempt = 1,
                    .preempt = preempt}};
    return bridge_send(b->hand.link, &m);
}

void bridge_goal_cancel(bridge *b, const char *id)
{
    const pons_message m = {.type = PONS_MESSAGE_CANCEL,
                            .as.about = {.goal_id = id, .epoch = b->hand.epoch}};
    bridge_send(b->hand.link, &m);
}
