// saved_world.c - the shared part of a saved world: pons__sim_vars as a value, and back.
//
// Numbers survive exactly: values are dumped in their shortest round-trip form, and the random
// generator's words are stored as the signed integers that JSON has. The command that the wheels
// were following is not saved: a restored robot stands until it is told to move.
#include "drivers/sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAVE_VERSION = 1 };

pons_value *pons__sim_whole(pons_value *object, size_t members)
{
    if (json_object_size(object) == members) {
        return object;
    }
    pons_value_unref(object);
    return NULL;
}

pons_value *pons__sim_save_pose(pons_pose2 pose)
{
    pons_value *v = pons_object("x", json_real(pose.x), "y", json_real(pose.y), "yaw",
                                json_real(pose.yaw), NULL);
    return pons__sim_whole(v, 3);
}

// Takes the item; NULL, and no list any more, when there is no memory.
static pons_value *append(pons_value *list, pons_value *item)
{
    if (json_array_append_new(list, item) == 0) {
        return list;
    }
    pons_value_unref(list);
    return NULL;
}

pons_value *pons__sim_save_reals(const double *v, size_t n)
{
    pons_value *list = json_array();
    for (size_t i = 0; list && i < n; i++) {
        list = append(list, json_real(v[i]));
    }
    return list;
}

static pons_value *save_rand(const pons_rand *r)
{
    pons_value *list = json_array();
    for (int i = 0; list && i < 4; i++) {
        list = append(list, json_integer((int64_t)r->s[i]));
    }
    return list;
}

static pons_value *save_obstacles(const pons__sim_vars *v)
{
    pons_value *list = json_array();
    for (int i = 0; list && i < PONS__SIM_OBSTACLES_MAX; i++) {
        const pons__obstacle *o = &v->obstacles[i];
        if (!*o->id) {
            continue;
        }
        pons_value *item = pons_object(
            "slot", json_integer(i), "id", json_string(o->id), "x", json_real(o->box.x), "y",
            json_real(o->box.y), "yaw", json_real(o->box.yaw), "sx", json_real(o->box.sx), "sy",
            json_real(o->box.sy), "height", json_real(o->height_m), NULL);
        list = append(list, pons__sim_whole(item, 8));
    }
    return list;
}

static pons_value *save_sight(const pons__sim *s)
{
    pons_value *places = json_array();
    for (int i = 0; places && i < s->p.n_objects; i++) {
        places = append(places, pons__sim_save_reals(s->v.objects_at[i], 3));
    }
    return pons__sim_whole(pons_object("next_ns", json_integer(s->v.next_sight_ns), "rand",
                                       save_rand(&s->v.sight_rand), "objects", places, NULL),
                           3);
}

pons_value *pons__sim_save(const pons__sim *s, const char *driver)
{
    const pons__sim_vars *v = &s->v;
    const bool charge =
        atomic_load_explicit(&((pons__sim *)s)->charge_wanted, memory_order_relaxed);
    const double odom_scales[] = {v->odom_scale, v->odom_yaw_scale};
    const double twist[] = {v->twist.v, v->twist.w};
    pons_value *all =
        pons_object("driver", json_string(driver),                                           //
                    "version", json_integer(SAVE_VERSION), "world", json_string(s->p.world), //
                    "time_ns", json_integer(v->time_ns),                                     //
                    "next_scan_ns", json_integer(v->next_scan_ns),                           //
                    "battery_pct", json_real(v->battery_pct),                                //
                    "charge", json_boolean(charge),                                          //
                    "on_charger", json_boolean(v->on_charger),                               //
                    "contact_until", json_integer(v->contact_until),                         //
                    "bumps", json_integer(v->bumps),                                         //
                    "odom", pons__sim_save_pose(v->odom),                                    //
                    "odom_scales", pons__sim_save_reals(odom_scales, 2),                     //
                    "cov", pons__sim_save_reals(v->cov, 9),                                  //
                    "twist", pons__sim_save_reals(twist, 2),                                 //
                    "rand", save_rand(&v->rand),                                             //
                    "obstacles", save_obstacles(v), NULL);
    all = pons__sim_whole(all, 16);
    if (all && s->p.sight.period_ns && json_object_set_new(all, "sight", save_sight(s))) {
        pons_value_unref(all);
        return NULL;
    }
    return all;
}

bool pons__sim_load_pose(const pons_value *v, pons_pose2 *ret)
{
    *ret = (pons_pose2){pons_get_num(v, "x", NAN), pons_get_num(v, "y", NAN),
                        pons_get_num(v, "yaw", NAN)};
    return isfinite(ret->x) && isfinite(ret->y) && isfinite(ret->yaw);
}

bool pons__sim_load_reals(const pons_value *v, double *ret, size_t n)
{
    if (json_array_size(v) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const pons_value *item = json_array_get(v, i);
        ret[i] = json_number_value(item);
        if (!json_is_number(item) || !isfinite(ret[i])) {
            return false;
        }
    }
    return true;
}

static bool load_rand(const pons_value *v, pons_rand *ret)
{
    for (size_t i = 0; i < 4; i++) {
        if (!json_is_integer(json_array_get(v, i))) {
            return false;
        }
        ret->s[i] = (uint64_t)json_integer_value(json_array_get(v, i));
    }
    return true;
}

static bool load_obstacles(const pons__sim *s, const pons_value *list, pons__sim_vars *ret)
{
    if (!json_is_array(list)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *item = json_array_get(list, i);
        const int64_t slot = pons_get_int(item, "slot", -1);
        bool removed = false;
        if (slot < 0 || slot >= PONS__SIM_OBSTACLES_MAX ||
            pons__sim_spawn_parse(s, item, &ret->obstacles[slot], &removed, NULL) < 0 || removed) {
            return false;
        }
    }
    return true;
}

// A state from before its world had a detector has nothing of it: the detector begins as the world has it.
static bool load_sight(const pons__sim *s, const pons_value *v, pons__sim_vars *ret)
{
    const pons_value *places = pons_get(v, "objects");
    ret->next_sight_ns = pons_get_int(v, "next_ns", 0);
    ret->sight_rand = s->v.sight_rand;
    memcpy(ret->objects_at, s->v.objects_at, sizeof ret->objects_at);
    if (!v || !s->p.sight.period_ns) {
        return true;
    }
    bool good = json_array_size(places) == (size_t)s->p.n_objects &&
                load_rand(pons_get(v, "rand"), &ret->sight_rand);
    for (int i = 0; good && i < s->p.n_objects; i++) {
        good = pons__sim_load_reals(json_array_get(places, (size_t)i), ret->objects_at[i], 3);
    }
    return good;
}

int pons__sim_load(pons__sim *s, const pons_value *saved, const char *driver, pons_error *err)
{
    if (strcmp(pons_get_str(saved, "driver", ""), driver) != 0 ||
        pons_get_int(saved, "version", 0) != SAVE_VERSION) {
        return pons_error_set(
            err, PONS_EINVAL, s->module,
            "cannot restore: not a state that this version of the %s driver saved", driver);
    }
    const char *world = pons_get_str(saved, "world", "");
    if (strcmp(world, s->p.world) != 0) {
        return pons_error_set(err, PONS_EINVAL, s->module,
                              "cannot restore: the state is of world %s, and this is %s", world,
                              s->p.world);
    }
    pons__sim_vars v = {
        .time_ns = pons_get_int(saved, "time_ns", -1),
        .next_scan_ns = pons_get_int(saved, "next_scan_ns", -1),
        .battery_pct = pons_get_num(saved, "battery_pct", NAN),
        .charge_wanted = pons_get_bool(saved, "charge", false),
        .on_charger = pons_get_bool(saved, "on_charger", false),
        .contact_until = pons_get_int(saved, "contact_until", 0),
        .bumps = pons_get_int(saved, "bumps", 0),
    };
    double scales[2], twist[2];
    const bool good = v.time_ns >= 0 && v.next_scan_ns >= 0 && isfinite(v.battery_pct) &&
                      pons__sim_load_pose(pons_get(saved, "odom"), &v.odom) &&
                      pons__sim_load_reals(pons_get(saved, "odom_scales"), scales, 2) &&
                      pons__sim_load_reals(pons_get(saved, "cov"), v.cov, 9) &&
                      pons__sim_load_reals(pons_get(saved, "twist"), twist, 2) &&
                      load_rand(pons_get(saved, "rand"), &v.rand) &&
                      load_obstacles(s, pons_get(saved, "obstacles"), &v) &&
                      load_sight(s, pons_get(saved, "sight"), &v);
    if (!good) {
        return pons_error_set(err, PONS_EINVAL, s->module,
                              "cannot restore: the saved state is damaged");
    }
    v.odom_scale = scales[0];
    v.odom_yaw_scale = scales[1];
    v.twist = (pons_twist2){twist[0], twist[1]};
    s->v = v;
    atomic_store_explicit(&s->charge_wanted, v.charge_wanted, memory_order_relaxed);
    atomic_store_explicit(&s->cmd, 0, memory_order_relaxed);
    pons_scan none; // what was seen before belongs to another time
    memset(&none, 0, sizeof none);
    pons__seqlock_write(&s->scan, &none);
    pons_robot_sight nothing;
    memset(&nothing, 0, sizeof nothing);
    pons__seqlock_write(&s->sight, &nothing);
    return PONS_OK;
}
