// core_tools.c - the providers of tools that config/tools.yaml names: the core tools, and modules
// tool-NAME.so of whoever extends pons.
//
//     modules: [shelf, {name: lift, floors: 3}]
//
// An entry is a module's name, or an object with its name and what it is configured by; the module
// gets the object with the workspace in it (ext/tool.h, pons_tool_module).
#include "app/agent/agent_setup.h"
#include "pons/config_file.h"
#include "pons/module.h"
#include "pons/tools.h"
#include "pons/yaml.h"

#define WHERE "tools"

int app_tools_config(const app_context *c, pons_value **ret, pons_error *err)
{
    char path[PATH_MAX + 64];
    pons_error none = PONS_ERROR_INIT;
    pons_yaml *yaml = NULL;
    int rc = pons_config_find(c->workspace, "config/tools.yaml", path, sizeof path, NULL, &none);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        *err = none;
        return rc;
    }
    rc = rc < 0 ? PONS_OK : pons_yaml_load(path, &yaml, err);
    if (rc < 0) {
        return rc;
    }
    const pons_value *given = yaml ? pons_yaml_value(yaml) : NULL;
    *ret = json_is_object(given) ? json_copy((pons_value *)(uintptr_t)given) : json_object();
    pons_yaml_destroy(yaml);
    if (json_object_set_new(*ret, "workspace", json_string(c->workspace)) < 0) {
        pons_value_unref(*ret);
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the configuration");
    }
    return PONS_OK;
}

int app_core_tools(const app_context *c, const pons_clock *clock, const char *folder,
                   pons_tools *ret, pons_error *err)
{
    pons_autovalue config = NULL;
    const int rc = app_tools_config(c, &config, err);
    if (rc >= 0 && folder) {
        json_object_set_new(config, "folder", json_string(folder));
    }
    return rc < 0 ? rc : pons_core_tools_open(config, clock, ret, err);
}

static int open_module(const app_context *c, const pons_value *entry, const pons_clock *clock,
                       pons_tools *ret, pons_error *err)
{
    const char *name =
        json_is_string(entry) ? json_string_value(entry) : pons_get_str(entry, "name", "");
    const void *ops = NULL;
    int rc = pons_module_load_of("tool", name, PONS_TOOL_ABI, &ops, err);
    if (rc < 0) {
        return rc;
    }
    const pons_tool_module *module = ops;
    pons_autovalue config =
        json_is_object(entry) ? json_copy((pons_value *)(uintptr_t)entry) : json_object();
    json_object_set_new(config, "name", json_string(name));
    if (json_object_set_new(config, "workspace", json_string(c->workspace)) < 0) {
        return pons_error_set(err, PONS_ENOMEM, WHERE, "no memory for the configuration");
    }
    rc = module->open(config, clock, ret, err);
    if (rc < 0) {
        return pons_error_context(err, "config/tools.yaml, module %s", name);
    }
    if (!ret->ops || ret->ops->abi != PONS_TOOL_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, WHERE,
                              "tool %s gave no functions of version %u", name, PONS_TOOL_ABI);
    }
    return PONS_OK;
}

int app_tool_modules(const app_context *c, const pons_clock *clock, pons_tools *tools, size_t max,
                     size_t *n, pons_error *err)
{
    pons_autovalue config = NULL;
    int rc = app_tools_config(c, &config, err);
    const pons_value *entries = rc < 0 ? NULL : pons_get(config, "modules");
    for (size_t i = 0; rc >= 0 && i < json_array_size(entries); i++) {
        if (*n >= max) {
            return pons_error_set(err, PONS_EINVAL, WHERE,
                                  "config/tools.yaml names more than %d modules",
                                  APP_TOOL_MODULES_MAX);
        }
        rc = open_module(c, json_array_get(entries, i), clock, &tools[*n], err);
        *n += rc >= 0;
    }
    return rc;
}
