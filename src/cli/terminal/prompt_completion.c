// prompt_completion.c - what Tab knows at the prompt of `pons run`: the words that the prompt itself takes,
// and the names of the world's zones and objects and of the body's skills.
#include "cli/terminal/prompt_completion.h"

#include "cli/cli.h"

#include <string.h>

static void add(pons_value *words, const char *word)
{
    pons_each(had, words) {
        if (strcmp(json_string_value(had), word) == 0) {
            return;
        }
    }
    json_array_append_new(words, json_string(word));
}

// The names of all languages: {zh: [客厅, …], en: […]}.
static void add_names(pons_value *words, const pons_value *things)
{
    pons_each(thing, things) {
        pons_each_member(language, list, pons_get(thing, "names")) {
            pons_each(name, list) {
                add(words, json_string_value(name));
            }
        }
    }
}

pons_value *cli_run_words(const char *world_name, const char *skill_modules)
{
    static const char *const own[] = {
        "approve", "approve edit", "approve reject", "cancel", "continue", "exit",
        "pause",   "quit",         "reset",          "status", "stop"};
    pons_error ignored = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    pons_autovalue skills = NULL;
    app_skills modules = {0};
    pons_value *words = json_array();
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        add(words, own[i]);
    }
    if (world_name && app_world(world_name, &world, &ignored) >= 0) {
        add_names(words, pons_get(world, "zones"));
        add_names(words, pons_get(world, "objects"));
    }
    if (app_skills_load(skill_modules, &modules, &ignored) >= 0 &&
        pons_body_skills(modules.at, modules.n, &skills, &ignored) >= 0) {
        size_t i;
        json_t *skill;
        json_array_foreach(skills, i, skill) {
            add(words, pons_get_str(skill, "name", ""));
        }
    }
    return words;
}
