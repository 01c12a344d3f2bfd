#include "llm/llm_fixture.h"

#include "pons/rule_policy.h"
#include "pons/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char world_text[] =
    "{\"zones\":["
    "{\"id\":\"kitchen\",\"names\":{\"zh\":[\"厨房\"],\"en\":[\"kitchen\"]}},"
    "{\"id\":\"living_room\",\"names\":{\"zh\":[\"客厅\",\"起居室\"],"
    "\"en\":[\"living room\",\"lounge\"]}},"
    "{\"id\":\"bedroom\",\"names\":{\"zh\":[\"卧室\"],\"en\":[\"bedroom\"]}},"
    "{\"id\":\"corridor\",\"names\":{\"zh\":[\"走廊\"],\"en\":[\"corridor\",\"hall\"]}},"
    "{\"id\":\"exit\",\"names\":{\"zh\":[\"紧急出口\"],\"en\":[\"emergency exit\"]}}],"
    "\"objects\":["
    "{\"id\":\"apple_1\",\"class\":\"apple\",\"names\":{\"zh\":\"苹果\",\"en\":\"apple\"}},"
    "{\"id\":\"cup_1\",\"class\":\"cup\",\"names\":{\"zh\":[\"杯子\"],\"en\":[\"cup\"]}},"
    "{\"id\":\"table\",\"class\":\"table\",\"names\":{\"zh\":[\"桌子\"],\"en\":[\"table\"]}},"
    "{\"id\":\"ball_1\",\"class\":\"ball\",\"names\":{\"en\":[\"red ball\"]}},"
    "{\"id\":\"ball_2\",\"class\":\"ball\",\"names\":{\"en\":[\"blue ball\"]}},"
    "{\"id\":\"fruit_basket\",\"class\":\"basket\",\"names\":{\"zh\":[\"果篮\",\"水果篮\"],"
    "\"en\":[\"fruit basket\"]}}]}";

void fixture_fail(const pons_error *err, const char *what)
{
    char line[1200];
    fprintf(stderr, "%s: %s\n", what, pons_error_line(err, line, sizeof line));
    exit(1);
}

pons_value *fixture_json(const char *text)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *v;
    if (pons_value_parse(text, strlen(text), &v, &err) != PONS_OK) {
        fixture_fail(&err, text);
    }
    return v;
}

pons_value *fixture_world(void)
{
    return fixture_json(world_text);
}

pons_value *fixture_intents(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *y;
    if (pons_yaml_load(PONS_SOURCE_DIR "/config/intents.yaml", &y, &err) != PONS_OK) {
        fixture_fail(&err, "config/intents.yaml");
    }
    pons_value *v = json_deep_copy(pons_yaml_value(y));
    pons_yaml_destroy(y);
    return v;
}

pons_policy fixture_rules(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue intents = fixture_intents();
    pons_policy p;
    if (pons_rules_open(intents, &p, &err) != PONS_OK) {
        fixture_fail(&err, "rules");
    }
    return p;
}

pons_schema *fixture_schema(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/schemas/%s.json", PONS_SOURCE_DIR, name);
    pons_error err = PONS_ERROR_INIT;
    json_error_t why;
    pons_autovalue doc = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (!doc) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, why.line, why.column, why.text);
        exit(1);
    }
    pons_schema *s;
    if (pons_schema_compile(doc, &s, &err) != PONS_OK) {
        fixture_fail(&err, path);
    }
    return s;
}
