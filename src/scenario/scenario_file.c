// scenario_file.c - the file of a scenario: read, held against schemas/scenario.json, written.
//
// What is wrong with it is said with its line. What it says stays a value: who plays it (scenario.c)
// and who shrinks it (shrink_scenario.c) read from it what they want.
#include "pons/schema.h"
#include "scenario/checks/expectations.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int pons_scenario_load(const char *path, pons_scenario **ret, pons_error *err)
{
    pons_yaml *yaml = NULL;
    pons_schema *schema = NULL;
    int rc = pons_yaml_load(path, &yaml, err);
    rc = rc < 0 ? rc : pons_schema_shipped("schemas/scenario.json", &schema, err);
    rc = rc < 0 ? rc : pons_schema_check_yaml(schema, yaml, err);
    if (rc >= 0) {
        pons_scenario *s = calloc(1, sizeof *s);
        if (s) {
            s->value = pons_value_ref(pons_yaml_value(yaml));
            s->yaml = yaml;
            yaml = NULL;
            *ret = s;
        } else {
            rc = pons_error_set(err, PONS_ENOMEM, "scenario", "no memory");
        }
    }
    pons_schema_destroy(schema);
    pons_yaml_destroy(yaml);
    return rc;
}

void pons_scenario_destroy(pons_scenario *s)
{
    if (s) {
        pons_value_unref(s->value);
        pons_yaml_destroy(s->yaml);
        free(s);
    }
}

int pons__scenario_fault(const pons_scenario *s, const char *pointer, pons_error *err,
                         const char *fmt, ...)
{
    char why[PONS_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    return s->yaml ? pons_yaml_fault(s->yaml, pointer, "scenario", err, "%s", why)
                   : pons_error_set(err, PONS_EINVAL, "scenario", "%s%s: %.400s",
                                    pons_scenario_name(s), pointer, why);
}

int pons_scenario_save(const pons_scenario *s, const char *path, pons_error *err)
{
    char *text = NULL;
    FILE *f = fopen(path, "we");
    const long n = pons_value_dump(s->value, &text); // JSON is YAML
    const bool written = f && n > 0 && fprintf(f, "%s\n", text) > 0;
    free(text);
    if ((f && fclose(f) != 0) || !written) {
        return pons_error_set(err, PONS_EIO, "scenario", "cannot write %s", path);
    }
    return PONS_OK;
}

const pons_value *pons_scenario_value(const pons_scenario *s)
{
    return s->value;
}

const char *pons_scenario_name(const pons_scenario *s)
{
    return pons_get_str(s->value, "name", "");
}

const char *pons_scenario_world(const pons_scenario *s)
{
    return pons_get_str(s->value, "world", "house");
}

const char *pons_scenario_driver(const pons_scenario *s)
{
    return pons_get_str(s->value, "driver", "kinematic");
}

bool pons_scenario_is_unmapped(const pons_scenario *s)
{
    return pons_get_bool(s->value, "unmapped", false);
}
