// simulated_life.c - the life of a companion, minute by minute.
//
//     pons_companion_tick: which minute it is; the caller says when
//        |  messages out of the inbox                                     life_checkpoint.c
//        |  what is over is ended, energy flows                           activity_executor.c
//        v
//     the tree's guards ask the world and the blackboard                  tree_leaves.c, world_moment.c
//        |  emergency > model > routine; every proposal passes the filter model_suggestion.c, safety_filter.c
//        v
//     the decision is recorded, what it decided is started                events.c, activity_executor.c
//        |
//        v
//     one commit: state, events, messages taken                           life_checkpoint.c
//        |
//        v
//     subscribers see the events                                          events.c
//
// The thread that ticks a life owns it; a world view (world_view.h) is shared.
//
// A life is a function of its world view, its seed, its messages and what the model said: nothing
// here asks for the time or for randomness. So minutes in which nothing new was decided need no
// commit of their own: after a kill they are lived again, and come out the same. A minute with news
// is committed whole before anybody sees it. A commit that fails leaves the companion stopped; what
// is in the store is the truth, and the next open goes on from there.
#include "companion/activity_executor.h"
#include "companion/calendar.h"
#include "companion/events.h"
#include "companion/lasting_memories.h"
#include "companion/life.h"
#include "companion/life_checkpoint.h"
#include "companion/model_suggestion.h"
#include "companion/tree_leaves.h"
#include "companion/world_moment.h"
#include "companion/world_view_queries.h"

#include <stdlib.h>

enum { MS_A_MINUTE = 60000, NS_A_MS = 1000000 };

// ---- opening ------------------------------------------------------------------------------------

static int make_tree(pons_companion *c, pons_bt *bt, pons_error *err)
{
    pons_bt_registry *leaves = pons_bt_registry_create();
    int rc = leaves ? pons__co_register_leaves(leaves, c, err)
                    : pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot open a companion");
    rc = rc < 0 ? rc : pons_bt_calls(bt, pons__co_check_call, c, err);
    c->bt = pons_bt_ref(bt);
    c->n_args = 2 * (size_t)pons_bt_nodes(bt) + 2;
    c->args = calloc(c->n_args, sizeof *c->args);
    if (rc >= 0 && !c->args) {
        rc = pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot open a companion");
    }
    const pons_bt_tree_options options = {
        .clock = pons_clock_from_manual(&c->tree_clock), .leaves = leaves, .user = c};
    rc = rc < 0 ? rc : pons_bt_tree_create(bt, &options, &c->tree, err);
    pons_bt_registry_destroy(leaves);
    return rc;
}

static int64_t life_ms(void *ctx)
{
    return ((const pons_companion *)ctx)->minute * MS_A_MINUTE;
}

static int64_t life_ns(void *ctx)
{
    return life_ms(ctx) * NS_A_MS;
}

static int begin_or_go_on(pons_companion *c, const pons_companion_options *o, pons_error *err)
{
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    c->board.policy.asked_window = -1;
    c->board.branch = "";
    int rc =
        c->store.ops ? pons_companion_read(c->store, c->thread, &state, &none) : PONS_ENOTFOUND;
    if (rc >= 0) {
        rc = pons__co_state_read(c, state, err);
        c->until_min = o->until_min > 0 ? o->until_min : c->until_min;
    } else if (rc == PONS_ENOTFOUND) {
        rc = PONS_OK;
        c->began = true;
        c->seed = o->seed;
        c->simulated = o->simulated;
        c->minute = c->first_min = o->start_min;
        c->until_min = o->until_min;
        c->world.energy = c->view->start_energy;
        snprintf(c->world.place, PONS__CO_ID_MAX, "%s", c->view->start_place);
    } else if (err) {
        *err = none;
    }
    // Ids of checkpoints only have to be new: they come from the seed and the minute begun at.
    pons_rand_seed(&c->rand, c->seed ^ (uint64_t)c->minute << 20 ^ c->lease.epoch);
    c->id_clock = (pons_clock){.now_ns = life_ns, .wall_ms = life_ms, .boot_ns = life_ns, .ctx = c};
    pons_id_source_init(&c->ids, c->id_clock, &c->rand);
    return rc >= 0 && c->began ? pons__co_memories_begin(c, err) : rc;
}

// ---- one minute ---------------------------------------------------------------------------------

static int live(pons_companion *c, pons_error *err)
{
    pons_bt_status status;
    pons__co_board_clear(c);
    pons__co_hear_model(c);
    int rc = pons__co_take_messages(c, err);
    if (rc < 0) {
        return rc;
    }
    pons__co_end_what_is_over(c);
    rc = pons_bt_tick(c->tree, PONS_BT_EXACTLY_ONCE, &status, err);
    if (rc < 0) {
        return rc;
    }
    pons__co_record_decision(c);
    pons__co_apply(c);
    pons__co_live_a_minute(c);
    return PONS_OK;
}

int pons_companion_open(const pons_companion_options *o, pons_companion **ret, pons_error *err)
{
    pons_companion *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, PONS__COMPANION, "cannot open a companion");
    }
    c->view = pons_world_view_ref(o->view);
    c->store = o->store;
    c->llm = o->llm;
    c->clock = o->clock;
    c->wait = o->wait;
    c->user = o->user;
    snprintf(c->thread, sizeof c->thread, "%s", o->thread ? o->thread : PONS_COMPANION_THREAD);
    int rc = make_tree(c, o->tree, err);
    if (rc >= 0 && c->store.ops) {
        rc = c->store.ops->lease_acquire(c->store.self, c->thread, &c->lease, err);
        c->leased = rc >= 0;
    }
    rc = rc < 0 ? rc : begin_or_go_on(c, o, err);
    if (rc >= 0 && o->on_event) {
        rc = pons_companion_subscribe(c, NULL, o->on_event, o->user, err);
    }
    if (rc < 0) {
        c->failed = true; // nothing to commit
        pons_companion_close(c);
        return rc;
    }
    *ret = c;
    return PONS_OK;
}

void pons_companion_close(pons_companion *c)
{
    if (!c) {
        return;
    }
    (void)pons_companion_flush(c, NULL);
    if (c->leased) {
        c->store.ops->lease_release(c->store.self, &c->lease);
    }
    pons__co_board_clear(c);
    pons__co_stop_asking(c);
    for (size_t i = 0; i < c->n_events; i++) {
        pons_value_unref(c->events[i]);
    }
    for (size_t i = 0; i < c->world.n_messages; i++) {
        pons__co_message_fini(&c->world.messages[i]);
    }
    for (size_t i = 0; i < c->n_read; i++) {
        pons__co_message_fini(&c->read[i]);
    }
    free(c->read);
    for (size_t i = 0; i < c->n_texts; i++) {
        free(c->texts[i]);
    }
    free(c->texts);
    free(c->args);
    free(c->events);
    free(c->taken);
    free(c->world.messages);
    pons_bt_tree_destroy(c->tree);
    pons_bt_unref(c->bt);
    pons_world_view_unref(c->view);
    free(c);
}

int pons_companion_tick(pons_companion *c, bool ask, pons_error *err)
{
    if (c->failed) {
        return pons_error_set(err, PONS_ECLOSED, PONS__COMPANION, "the companion has stopped");
    }
    c->board.ask = ask;
    c->event_min = c->minute;
    c->tree_clock.now_ns = c->minute * MS_A_MINUTE * NS_A_MS;
    if (pons__co_wanted(c, "tick")) {
        char time[32];
        pons_autovalue tick = pons_object(
            "time", json_string(pons_world_view_time(c->view, c->minute, time, sizeof time)),
            "type", json_string("tick"), "place", json_string(c->world.place), "activity",
            c->world.current.what ? json_string(c->world.current.what->id) : json_null(), "energy",
            json_integer((json_int_t)(c->world.energy + 0.5)), NULL);
        pons__co_publish(c, tick);
    }
    int rc = live(c, err);
    if (rc < 0) {
        c->failed = true;
        return rc;
    }
    c->minute++;
    c->quiet++;
    const bool news = c->n_events > 0 || c->n_taken > 0 || c->board.model_from != NULL;
    const bool midnight = pons__co_local(c->view, c->minute) % PONS__CO_MINUTES_A_DAY == 0;
    if (news || !c->simulated || c->quiet >= PONS__CO_QUIET_MIN) {
        rc = pons__co_commit(c, err);
    }
    if (rc >= 0 && midnight && c->leased) {
        pons__co_prune(c);
    }
    return rc;
}

int pons_companion_flush(pons_companion *c, pons_error *err)
{
    return c->failed || c->quiet == 0 ? PONS_OK : pons__co_commit(c, err);
}

int pons_companion_skip(pons_companion *c, int64_t minute, pons_error *err)
{
    if (minute <= c->minute) {
        return PONS_OK;
    }
    c->minute = c->event_min = minute;
    if (c->world.current.what) {
        pons__co_board_clear(c);
        pons__co_end(c, "interrupted", "a gap");
    }
    return pons__co_commit(c, err);
}

int64_t pons_companion_minute(const pons_companion *c)
{
    return c->minute;
}

pons_value *pons_companion_state(const pons_companion *c)
{
    return pons__co_state_json(c);
}
