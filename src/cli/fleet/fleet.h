// fleet.h - the commands of `pons fleet`, and fleet.yaml.
#ifndef PONS_CLI_FLEET_H
#define PONS_CLI_FLEET_H

#include "cli/cli.h"
#include "pons/fleet.h"

#define CLI_FLEET_CAPABILITIES 32
#define CLI_FLEET_THREAD       "fleet" // of the store: words to the orchestrator, who has it
#define CLI_FLEET_TASKS        "fleet.tasks"
#define CLI_FLEET_LEGS         "fleet.legs"
#define CLI_FLEET_NOW          "fleet.now" // "now" and "map": what others may see

typedef struct cli_fleet_robot {
    pons_fleet_robot is;
    char driver[64], world[PATH_MAX], profile[PATH_MAX], dir[PATH_MAX], start[PONS_FLEET_NAME_MAX];
    bool enabled;
} cli_fleet_robot;

typedef struct cli_fleet_file {
    char dir[PATH_MAX]; // the shared workspace
    char map[PATH_MAX];
    cli_fleet_robot *robots;
    size_t n;
    char capabilities[CLI_FLEET_CAPABILITIES][PONS_FLEET_NAME_MAX];
    size_t n_capabilities;
} cli_fleet_file;

// fleet_file.c: reads fleet.yaml of the workspace; faults with file:line:col.
int cli_fleet_load(const cli *c, cli_fleet_file *ret, pons_error *err);
void cli_fleet_free(cli_fleet_file *f);
// "mobile+arm" as bits; PONS_EINVAL: no robot has one of them.
int cli_fleet_needs(const cli_fleet_file *f, const char *text, uint32_t *ret, pons_error *err);
void cli_fleet_needs_text(const cli_fleet_file *f, uint32_t bits, char *buf, size_t cap);

// fleet_task.c: a task as its item has it.
pons_value *cli_fleet_task_value(const cli_fleet_file *f, const pons_fleet_map *map,
                                 const pons_fleet_robot *robots, const pons_fleet_task *t);
int cli_fleet_task_read(const cli_fleet_file *f, const pons_fleet_map *map,
                        const pons_fleet_robot *robots, size_t n, const pons_value *v,
                        pons_fleet_task *ret, pons_error *err);

// orchestrator_page.c: ORCHESTRATOR.md and ROBOTS.md of the shared workspace say how things stand.
typedef struct cli_fleet_files cli_fleet_files;
int cli_fleet_files_open(const cli_fleet_file *f, cli_fleet_files **ret, pons_error *err);
void cli_fleet_files_close(cli_fleet_files *files); // NULL-safe
// At most once a second, and only what has changed.
int cli_fleet_files_show(cli_fleet_files *files, const pons_fleet *fleet, const pons_fleet_map *map,
                         int64_t wall_ms, pons_error *err);

// fleet_status.c: how a fleet stands, from the store, with at most so many ended tasks; and its map.
// PONS_ENOTFOUND: no orchestrator has run here yet.
int cli_fleet_look(pons_store store, size_t ended_max, pons_value **ret, pons_error *err);
int cli_fleet_look_map(pons_store store, pons_value **ret, pons_error *err);
// fleet_assign.c: of {id, name, stops?: "kitchen,desk:speak{…}", needs?, payload_kg?, priority?, deadline_s?} the value of
// the word "task", checked. Without stops its name is what is wanted, in words.
int cli_fleet_task_of(const cli *c, const pons_value *wanted, pons_value **ret, pons_error *err);
// fleet_text_task.c: what is said, as the stops of a task; *ret_arm: its robot has to hold a thing.
int cli_fleet_wish(const cli *c, const cli_fleet_file *file, const pons_fleet_map *map,
                   const char *text, pons_buf *ret_stops, bool *ret_arm, pons_error *err);
// fleet_commands.c: a word to the orchestrator, durable when it returns: "cancel", "settle", "clear", "block" with an
// `id`.
int cli_fleet_say(pons_store store, const char *word, const pons_value *value, pons_error *err);
int cli_fleet_post(cli *c, const char *kind, const pons_value *value,
                   pons_error *err); // of a command

int cli_fleet_onboard(cli *c, int dialect, pons_error *err); // fleet_onboard.c; a pons_ws_dialect

#endif
