// predict.c - what is true before an action, and after it: where the robot stands, what it holds; and the rules of what
// it lifts.
#include "critic/action_target.h"
#include "critic/critic_input.h"
#include "pons/geometry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *id_of(const judgement *j, const char *name)
{
    const critic_object *object = pons__critic_object(j->critic, name);
    return object && *object->id ? object->id : name;
}

// ---- what is lifted -----------------------------------------------------------------------------

static void judge_holding(judgement *j, const char *name)
{
    const critic_state *s = j->state;
    const char *held = s->held ? s->held : "something";
    const bool releases = j->skill && j->skill->releases;
    char since[48] = "";
    if (s->held_since >= 0) {
        snprintf(since, sizeof since, " since step %lld", (long long)s->held_since);
    }
    if (name && s->grip == GRIP_FULL) {
        pons__violated(j, "holding", NAN, NAN, NULL, "it holds %s%s: it can't take %s too", held,
                       since, name);
    }
    if (releases && s->grip == GRIP_EMPTY) {
        pons__violated(j, "holding", NAN, NAN, NULL, "it holds nothing that it could let go of");
    }
    if ((name || releases) && s->grip == GRIP_UNKNOWN) {
        pons__unjudged(j, "holding");
    }
    for (size_t i = 0; releases && i < 2; i++) {
        const char *wanted = pons__critic_named(j, i);
        if (wanted && s->grip == GRIP_FULL && s->held && strcmp(id_of(j, wanted), s->held) != 0) {
            pons__violated(j, "holding", NAN, NAN, NULL, "it holds %s%s, not %s", held, since,
                           wanted);
        }
    }
}

static void judge_payload(judgement *j, const char *name)
{
    const double limit = j->critic->body.payload_kg;
    const critic_object *object = name ? pons__critic_object(j->critic, name) : NULL;
    const double mass = pons_get_num(j->args, "mass_kg", object ? object->mass_kg : NAN);
    if (isnan(mass) || isnan(limit)) {
        if (name) {
            pons__unjudged(j, "payload");
        }
    } else if (mass > limit) {
        pons__violated(j, "payload", mass, limit, "kg", "%s weighs %.4g kg; max payload %.4g kg",
                       name ? name : "the load", mass, limit);
    }
}

void pons__critic_load(judgement *j)
{
    const char *name = pons__critic_taken(j);
    judge_holding(j, name);
    judge_payload(j, name);
}

// ---- what will be true --------------------------------------------------------------------------

static void stands_at(critic_state *s, critic_point p)
{
    s->pose_known = p.known;
    for (int i = 0; i < 3; i++) {
        s->pose[i] = p.known ? p.at[i] : 0;
    }
    s->pose[3] = p.known ? p.yaw : 0;
}

void pons__critic_foresee(judgement *j)
{
    critic_state *s = j->state;
    s->foreseen = true;
    if (pons__critic_drives(j)) {
        const critic_zone *zone = pons__critic_zone(j->critic, pons_get_str(j->args, "zone", ""));
        stands_at(s, zone ? zone->target : pons__critic_point(pons_get(j->args, "pose")));
        s->pose[2] = 0;
        s->zone = zone && *zone->id ? zone->id : NULL;
        for (size_t i = 0; !s->zone && s->pose_known && i < j->critic->world.n_zones; i++) {
            const critic_zone *other = &j->critic->world.zones[i];
            if (*other->id && pons_polygon_contains(other->polygon, s->pose[0], s->pose[1])) {
                s->zone = other->id;
            }
        }
    }
    const char *name = pons__critic_taken(j);
    if (name) {
        s->grip = GRIP_FULL;
        s->held = id_of(j, name);
        s->held_since = j->step_id;
    } else if (j->skill && j->skill->releases) {
        s->grip = GRIP_EMPTY;
        s->held = NULL;
        s->held_since = -1;
    }
}

critic_telemetry pons__critic_telemetry_read(const pons_value *robot)
{
    const pons_value *held = pons_get(robot, "holding"), *stop = pons_get(robot, "stop");
    return (critic_telemetry){.given = robot,
                              .pose = pons__critic_point(pons_get(robot, "pose")),
                              .zone = pons_get_str(robot, "zone", NULL),
                              .grip = json_is_string(held) ? GRIP_FULL
                                      : json_is_null(held) ? GRIP_EMPTY
                                                           : GRIP_UNKNOWN,
                              .held = json_string_value(held),
                              .latched = pons_get_bool(stop, "latched", false),
                              .latched_for = pons_get_str(stop, "reason", ""),
                              .battery_pct = pons_get_num(robot, "battery_pct", NAN)};
}

critic_state pons__critic_state_of(const pons_critic *c, const critic_telemetry *robot)
{
    critic_state s = {
        .held_since = -1, .zone = robot->zone, .grip = robot->grip, .held = robot->held};
    const bool bolted = !robot->pose.known && !c->body.drives;
    stands_at(&s, robot->pose);
    if (bolted) {
        memcpy(s.pose, c->body.base.at, sizeof c->body.base.at);
        s.pose_known = true;
    }
    return s;
}
