// fuzz_intents.c - no words may crash the rules, and what they understand names what is known.
#include "pons/rule_policy.h"
#include "pons/yaml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char world_text[] =
    "{\"zones\":[{\"id\":\"kitchen\",\"names\":{\"zh\":[\"厨房\"],\"en\":[\"kitchen\"]}},"
    "{\"id\":\"living_room\",\"names\":{\"zh\":[\"客厅\"],\"en\":[\"living room\"]}}],"
    "\"objects\":[{\"id\":\"apple\",\"class\":\"apple\",\"names\":{\"zh\":[\"苹果\"]}}]}";

static pons_policy rules;
static pons_value *world;

static void load(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *y;
    if (pons_yaml_load("config/intents.yaml", &y, &err) != PONS_OK ||
        pons_rules_open(pons_yaml_value(y), &rules, &err) != PONS_OK ||
        pons_value_parse(world_text, strlen(world_text), &world, &err) != PONS_OK) {
        abort();
    }
    pons_yaml_destroy(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!rules.ops) {
        load();
    }
    char *text = strndup((const char *)data, size);
    pons_value *v = NULL;
    pons_error err = PONS_ERROR_INIT;
    const int rc = rules.ops->parse(rules.self, text, world, &v, &err);
    if (rc == PONS_OK) {
        size_t i;
        json_t *goal;
        json_array_foreach(pons_get(v, "goals"), i, goal) {
            const char *zone = pons_get_str(goal, "zone", "kitchen");
            if (strcmp(zone, "kitchen") != 0 && strcmp(zone, "living_room") != 0) {
                abort();
            }
        }
    } else if (rc != PONS_EINVAL || v || !err.message[0]) {
        abort();
    }
    pons_value_unref(v);
    free(text);
    return 0;
}
