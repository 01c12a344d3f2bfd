// sight.c - `pons sight`: hears the body, tells the memory, writes it.
//
//     body --sees--> view, detections --sight_tell--> memory --every second, what is due--> the store
//          --a look is under way, in the telemetry---------> five times a second, all of it
//     body --senses--> poses --.
//     detectors of pictures ---+--> view, detections --sight_tell--^   (detector_supervisor.c)
//
// It only observes: the body needs it for nothing, and neither does the brain, which reads the store. It may be killed at
// any time; the next one goes on with what was written (pons/object_memory.h).
#include "app/sight/detector_supervisor.h"
#include "app/workspace/which_robot.h"
#include "app/workspace/workspace_scope.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "sight/sighting_thumbnail.h"
#include "sight/view_from_report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SAVE_MS = 1000, LOOK_SAVE_MS = 200, CONNECT_MS = 500, PRUNE_MS = 3600 * 1000 };

void app_objects_space(const app_context *c, char ret[64])
{
    app_own_space(c, "pons-objects", ret);
}

void app_seen_folder(const app_context *c, char *ret, size_t cap)
{
    snprintf(ret, cap, "%s/seen", c->run_dir);
}

int app_sight_config(const app_context *c, pons_value **ret, pons_error *err)
{
    pons_value *config = NULL;
    const int rc = app_yaml(c, "config/sight.yaml", "schemas/sight.json", &config, err);
    pons_each(d, pons_get(config, "detectors")) {
        const char *name = pons_get_str(d, "name", "");
        if (pons_find(pons_get(config, "detectors"), "name", name) != d) {
            app_bad(err, "config/sight.yaml: two detectors are called '%s'", name);
            pons_value_unref(config);
            return PONS_EINVAL;
        }
    }
    *ret = config;
    return rc;
}

size_t app_sight_detectors(const pons_value *config, const pons_value *world)
{
    size_t n = 0;
    pons_each(d, pons_get(config, "detectors")) {
        const bool sim = strcmp(pons_get_str(d, "kind", "sim"), "sim") == 0;
        const pons_value *camera =
            pons_find(pons_get(world, "cameras"), "id", pons_get_str(d, "camera", ""));
        n += sim ? pons_get(world, "sight") != NULL : camera != NULL;
    }
    return n;
}

// ---- the memory ---------------------------------------------------------------------------------

static void tell(sight *s, const char *what)
{
    sight_say(s, &s->warned_ms, what);
}

static void save(sight *s, bool all)
{
    pons_error err = PONS_ERROR_INIT;
    const int64_t now = pons_now_ms(&s->clock);
    if (!s->memory || (!all && now < s->save_due_ms)) {
        return;
    }
    s->save_due_ms = now + (s->looks ? LOOK_SAVE_MS : SAVE_MS);
    if (pons_object_memory_save(s->memory, all || s->looks, &err) < 0) {
        tell(s, err.message); // it is kept, and written with the next
    }
}

// Pictures that no object names: of candidates that were forgotten, of one whose row was not written any more.
static void prune_pictures(sight *s, const char *space)
{
    char folder[PATH_MAX + 16];
    const pons_items items = {.store = s->store, .clock = s->clock};
    pons_error err = PONS_ERROR_INIT;
    app_seen_folder(s->c, folder, sizeof folder);
    const int64_t before_ms =
        pons_wall_ms(&s->clock) - PRUNE_MS; // a younger one's row may be to come
    const int rc = pons__thumbnail_prune(&items, space, folder, before_ms, &err);
    s->prune_due_ms = pons_now_ms(&s->clock) + PRUNE_MS;
    if (rc < 0) {
        tell(s, err.message);
    }
}

// Of a body in another world the walls, the zones and the things are others.
static int open_memory(sight *s, const char *world_id, pons_error *err)
{
    char space[64];
    pons_autovalue body = app_robot_reported(s->c);
    const char *world = app_robot_world(body);
    if (s->memory && strcmp(s->world_id, world_id) == 0) {
        return PONS_OK;
    }
    save(s, true);
    pons_object_memory_close(s->memory);
    pons__walls_fini(&s->walls);
    pons_value_unref(s->world);
    s->memory = NULL;
    s->world = NULL;
    int rc = world ? app_world(world, &s->world, err)
                   : app_lacks(err, "the body does not say which world it is in");
    rc = rc < 0 ? rc : pons__walls_init(&s->walls, s->world, err);
    app_objects_space(s->c, space);
    const pons_object_memory_options o = {.items = {.store = s->store, .clock = s->clock},
                                          .ns = space,
                                          .config = s->config,
                                          .zones = pons_get(s->world, "zones"),
                                          .objects = pons_get(s->world, "objects")};
    rc = rc < 0 ? rc : pons_object_memory_open(&o, &s->memory, err);
    snprintf(s->world_id, sizeof s->world_id, "%s", world_id);
    sight_detectors_world(s); // also without one: theirs is gone
    if (rc >= 0) {
        prune_pictures(s, space);
    }
    return rc;
}

// ---- the body -----------------------------------------------------------------------------------

static void connect_body(sight *s)
{
    pons_error none = PONS_ERROR_INIT;
    const int64_t now = pons_now_ms(&s->clock);
    const pons_message hello = {.type = PONS_MESSAGE_HELLO,
                                .as.hello = {.protocol = PONS_LINK_PROTOCOL,
                                             .role = "observer",
                                             .name = "sight",
                                             .sees = true,
                                             .senses = s->poses}};
    if (s->link || now < s->connect_due_ms) {
        return;
    }
    s->connect_due_ms = now + CONNECT_MS;
    if (app_body_link(s->c, &s->link, &none) < 0) {
        s->link = NULL;
    } else if (pons_message_send(s->link, &hello, &none) < 0) {
        pons_link_close(s->link);
        s->link = NULL;
    }
}

static void on_sees(sight *s, const pons_report_sees *r)
{
    pons__simulated_view v;
    if (pons__simulated_view_of(r, "sim", s->boot_id, pons_wall_ms(&s->clock), &v)) {
        sight_tell(s, &v.view, v.found, v.n);
    }
}

// Who has the robot look wants to know what it sees now.
static void on_telemetry(sight *s, const pons_report_telemetry *t)
{
    const bool looks = t->goal.active && t->goal.skill && strcmp(t->goal.skill, "look") == 0;
    if (looks != s->looks) {
        save(s, true);
    }
    s->looks = looks;
}

static int hear(sight *s, pons_error *err)
{
    pons_value *msg = NULL;
    int rc = 0;
    while (s->link && (rc = pons_link_recv(s->link, &msg, err)) > 0) {
        pons_report r;
        const bool whole = pons_report_decode(msg, &r, NULL) == PONS_OK;
        int opened = PONS_OK;
        if (whole && r.type == PONS_REPORT_HELLO) {
            snprintf(s->boot_id, sizeof s->boot_id, "%s", r.as.hello.boot_id);
            opened = open_memory(s, r.as.hello.world_id, err);
        } else if (whole && r.type == PONS_REPORT_SEES) {
            on_sees(s, &r.as.sees);
        } else if (whole && r.type == PONS_REPORT_TELEMETRY) {
            on_telemetry(s, &r.as.telemetry);
        } else if (whole && r.type == PONS_REPORT_SENSES) {
            sight_detectors_pose(s, &r.as.senses);
        }
        pons_report_clear(&r);
        pons_value_unref(msg);
        if (opened < 0) {
            return opened;
        }
    }
    if (s->link && rc < 0 && rc != PONS_EPROTOCOL) { // it has gone
        save(s, true);
        pons_link_close(s->link);
        s->link = NULL;
    }
    return PONS_OK;
}

static void wait_for_more(const sight *s)
{
    struct pollfd fds[1 + SIGHT_DETECTORS_MAX] = {
        {.fd = s->link ? pons_link_fd(s->link) : -1, .events = POLLIN}};
    poll(fds, sight_detectors_fds(s, fds, 1), CONNECT_MS);
}

static int round_of(sight *s, pons_error *err)
{
    connect_body(s);
    const int rc = hear(s, err);
    sight_detectors_look(s);
    save(s, false);
    if (s->memory && pons_now_ms(&s->clock) >= s->prune_due_ms) {
        char space[64];
        app_objects_space(s->c, space);
        prune_pictures(s, space);
    }
    return rc;
}

// ---- the process --------------------------------------------------------------------------------

static int be_the_only_one(const app_context *c, int *ret, pons_error *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/sight.lock", c->run_dir);
    *ret = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*ret < 0) {
        return pons_error_set(err, PONS_EIO, "sight", "cannot open %.200s: %s", path,
                              strerror(errno));
    }
    if (flock(*ret, LOCK_EX | LOCK_NB) < 0) {
        return pons_error_set(err, PONS_EBUSY, "sight",
                              "another process remembers for this workspace already");
    }
    return PONS_OK;
}

int app_sight_run(const app_context *c, const volatile sig_atomic_t *quit, pons_error *err)
{
    sight s = {.c = c, .quit = quit, .clock = pons_clock_real()};
    int lock = -1;
    int rc = app_workspace(c, true, err);
    rc = rc < 0 ? rc : app_sight_config(c, &s.config, err);
    rc = rc < 0 ? rc : be_the_only_one(c, &lock, err);
    rc = rc < 0 ? rc : app_store(c, &s.store, err);
    rc = rc < 0 ? rc : sight_detectors_open(&s, err);
    if (rc >= 0 && json_array_size(pons_get(s.config, "detectors")) == 0) {
        app_tell(c, "pons: config/sight.yaml names no detector");
        rc = APP_LACKING;
    }
    while (rc >= 0 && !*quit) {
        pons_error why = PONS_ERROR_INIT;
        if (round_of(&s, &why) < 0) {
            tell(&s, why.message);
            pons_link_close(s.link); // tried again, with the body
            s.link = NULL;
        }
        wait_for_more(&s);
    }
    sight_detectors_close(&s);
    save(&s, true);
    pons_link_close(s.link);
    pons_object_memory_close(s.memory);
    pons__walls_fini(&s.walls);
    pons_value_unref(s.world);
    pons_value_unref(s.config);
    pons_store_close(&s.store);
    if (lock >= 0) {
        close(lock);
    }
    return rc;
}
