// space_rules.c - the rules that measure where an action goes: map, keep-out areas, workspace, reach.
//
// An action that does not drive must reach its target from where the robot stands; one that drives
// brings the robot there, so only the map, the keep-out areas and the workspace bound it.
#include "critic/action_target.h"
#include "critic/judgement.h"
#include "pons/geometry.h"

#include <math.h>
#include <stdio.h>

static void check_map(judgement *j, const target *t)
{
    const double *limit = j->critic->world.bounds;
    if (!j->critic->world.has_bounds) {
        pons__unjudged(j, "map_bounds");
        return;
    }
    const double x = t->at[0], y = t->at[1];
    const double out = fmax(fmax(limit[0] - x, x - limit[2]), fmax(limit[1] - y, y - limit[3]));
    if (out > 0) {
        pons__violated(j, "map_bounds", out, 0, "m",
                       "%s [%.2f, %.2f] is outside the map [%.2f, %.2f] to [%.2f, %.2f]", t->what,
                       x, y, limit[0], limit[1], limit[2], limit[3]);
    }
}

static const char *shown(const target *t, char buf[CRITIC_WHAT_MAX])
{
    if (t->has_z) {
        snprintf(buf, CRITIC_WHAT_MAX, "[%.4g, %.4g, %.4g]", t->at[0], t->at[1], t->at[2]);
    } else {
        snprintf(buf, CRITIC_WHAT_MAX, "[%.2f, %.2f]", t->at[0], t->at[1]);
    }
    return buf;
}

static void check_area(judgement *j, const target *t, const critic_zone *area)
{
    const char *id = *area->id ? area->id : "area", *why = area->reason;
    const double distance = pons_polygon_distance(area->polygon, t->at[0], t->at[1]);
    const double radius = isnan(j->critic->body.radius_m) ? 0 : j->critic->body.radius_m;
    char at[CRITIC_WHAT_MAX];
    if (distance == 0) {
        pons__violated(j, "keep_out", 0, radius, "m", "%s %s lies in the keep-out area %s%s%s",
                       t->what, shown(t, at), id, *why ? ": " : "", why);
    } else if (distance < radius && !t->has_z) {
        pons__violated(j, "keep_out", distance, radius, "m",
                       "%s %s is %.2f m from the keep-out area %s; the robot needs %.2f m%s%s",
                       t->what, shown(t, at), distance, id, radius, *why ? ": " : "", why);
    }
}

static void check_keep_out(judgement *j, const target *t)
{
    const critic_world *w = &j->critic->world;
    for (size_t i = 0; i < w->n_areas; i++) {
        check_area(j, t, &w->areas[i]);
    }
    if (w->lacks) { // a name that is misspelt keeps the robot out of nowhere
        pons__violated(j, "keep_out", 0, 0, "",
                       "the policy keeps the robot out of \"%s\", and this world has no such zone: "
                       "where it may go nobody can say",
                       w->lacks);
    }
    if (!w->has_areas) {
        pons__unjudged(j, "keep_out");
    }
}

static void to_base(const judgement *j, const double in_map[3], double ret[3])
{
    const double *p = j->state->pose;
    const double c = cos(p[3]), s = sin(p[3]), dx = in_map[0] - p[0], dy = in_map[1] - p[1];
    ret[0] = c * dx + s * dy;
    ret[1] = c * dy - s * dx;
    ret[2] = in_map[2] - p[2];
}

static void check_workspace(judgement *j, const target *t)
{
    const critic_body *l = &j->critic->body;
    static const char axes[] = "xyz";
    double at[3] = {t->at[0], t->at[1], t->at[2]};
    if (!l->has_workspace || (l->workspace_in_base && pons__critic_drives(j))) {
        return;
    }
    if (l->workspace_in_base && !j->state->pose_known) {
        pons__unjudged(j, "workspace");
        return;
    }
    if (l->workspace_in_base) {
        to_base(j, t->at, at);
    }
    for (int i = 0; i < (t->has_z ? 3 : 2); i++) {
        const bool below = at[i] < l->low[i];
        const double limit = below ? l->low[i] : l->high[i];
        if (below || at[i] > l->high[i]) {
            pons__violated(j, "workspace", at[i], limit, "m",
                           "%s has %c = %.4g m; the workspace goes %s %.4g m", t->what, axes[i],
                           at[i], below ? "down to" : "up to", limit);
        }
    }
}

static void check_reach(judgement *j, const target *t)
{
    const critic_body *l = &j->critic->body;
    if (!t->has_z || pons__critic_drives(j)) {
        return;
    }
    if (isnan(l->reach_m) || !j->state->pose_known) {
        pons__unjudged(j, "reach");
        return;
    }
    double at[3];
    to_base(j, t->at, at);
    const double dx = at[0] - l->reach_from.at[0], dy = at[1] - l->reach_from.at[1],
                 dz = at[2] - l->reach_from.at[2];
    const double distance = sqrt(dx * dx + dy * dy + dz * dz);
    char where[CRITIC_WHAT_MAX];
    if (distance > l->reach_m) {
        pons__violated(j, "reach", distance, l->reach_m, "m",
                       "%s %s is %.2f m away; max reach %.4g m", t->what, shown(t, where), distance,
                       l->reach_m);
    }
}

void pons__critic_space(judgement *j)
{
    targets found = {0};
    pons__critic_targets(j, &found);
    for (size_t i = 0; i < found.n; i++) {
        check_map(j, &found.all[i]);
        check_keep_out(j, &found.all[i]);
        check_workspace(j, &found.all[i]);
        check_reach(j, &found.all[i]);
    }
}
