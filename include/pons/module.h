// module.h - the one loader for adapters that bring a heavy library (curl, MuJoCo, libpq, …).
//
// A module is a shared object "KIND-NAME.so" that exports one symbol, `pons_module`. It is loaded
// on first use and never unloaded. Searched in: $PONS_MODULE_PATH (colon-separated), lib/pons
// beside the executable, ../lib/pons beside it, pons/ and ../pons/ beside libpons.so.0 (in a program that uses that), then lib/
// of the workspace (a name that pons brings itself is never taken from there). Others add a driver, a skill, a store, a model provider or tools
// the same way; docs/reference/modules.md is their page.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_MODULE_ABI 1u

typedef struct pons_module {
    uint32_t abi; // PONS_MODULE_ABI; a module of pons itself has the version above it
    const char *
        kind; // "driver", "bridge", "topics", "skill", "llm", "store", "tool", "graph", "http", "server", "detector", "policy", "slam"
    const char *name; // "mujoco"
    // The kind's vtable: pons_robot_ops, pons_bridge_ops, pons_topics_ops, pons_skill, pons_llm_ops, pons_store_driver, pons_tool_module,
    // pons_graph_module, pons_http_ops, pons_http_server_ops, pons_detector_ops,
    // pons_policy_server_ops, pons_slam_ops.
    const void *ops;
} pons_module;

#ifdef PONS_VERSION_NUMBER // pons's own build: what it brings is of the program's version, 10203 for 1.2.3
#define PONS__MODULE_OF (PONS_MODULE_ABI | PONS_VERSION_NUMBER << 8)
#else
#define PONS__MODULE_OF PONS_MODULE_ABI
#endif

// Exports a module, once, at file scope: PONS_MODULE_EXPORT("driver", "mujoco", &mujoco_ops);
// (In C the type has taken the symbol's name; the assembler's label gives it back.)
#define PONS_MODULE_EXPORT(kind_, name_, ops_)                                                     \
    __attribute__((visibility("default"))) extern const pons_module pons__module_exported __asm__( \
        "pons_module");                                                                            \
    const pons_module pons__module_exported = {PONS__MODULE_OF, (kind_), (name_), (ops_)}

// Loads (once) and returns the vtable, static storage. PONS_ENOTFOUND names where it was looked
// for; PONS_EUNSUPPORTED when the ABI, the version or the kind differs; PONS_EENV with dlopen's reason when a
// library that it needs is missing. Any thread.
int pons_module_load(const char *kind, const char *name, const void **ret_ops, pons_error *err);
// The same for a contract whose vtable begins with its version, a uint32_t; PONS_EUNSUPPORTED when that is not `abi`.
int pons_module_load_of(const char *kind, const char *name, uint32_t abi, const void **ret_ops,
                        pons_error *err);
// Whether a file KIND-NAME.so is there, in a workspace's lib/ aside; it is not loaded. Any thread.
bool pons_module_installed(const char *kind, const char *name);
// Modules are also looked for in lib/ of this workspace, from now on; NULL: in none. What is found
// there is loaded only when nobody else could have changed it (pons_workspace_check,
// pons_file_check): otherwise PONS_EREFUSED. PONS_EINVAL: the path is too long.
int pons_module_workspace(const char *workspace, pons_error *err);

// The directory of the running executable, without a trailing slash; static storage.
const char *pons_exe_dir(void);
// Finds a data file ("worlds/house.yaml"): $PONS_SHARE, the executable's ../ (a build in the source
// tree), ../share/pons, the same beside libpons.so.0. Writes the path into buf; PONS_ENOTFOUND lists where it looked.
int pons_share_path(const char *relative, char *buf, size_t cap, pons_error *err);

PONS_C_END
