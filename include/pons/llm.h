// llm.h - model clients as hosts get them: one for each configuration, recorded, replayed.
//
// A host that has several uses for models (an agent's nodes, a critic, a companion) gives the
// factory a configuration for each and gets a handle for each. Behind equal configurations is one
// client: one thread, one set of connections, one memory of what the server takes. A handle is a
// pons_llm like any other: its call numbers are its own, and it gets its own calls' events only.
//
//     factory --> client (fingerprint a) --> provider: openai, script, replay, a module llm-NAME
//                    ^    ^                      ^
//                 handle handle                  +- recorded to a file, where asked for
#pragma once

#include "pons/ext/llm.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

// Calls that one run may make, whatever clients they go to (or the request's `run_calls_max`): a model
// that loops ends here. The run is named by the request's `run`; a request without one is not counted. The count is the
// factory's, in memory, of the PONS_LLM_RUNS_MAX runs that called last. A host whose runs survive a
// restart keeps a count in the run's own state too, against the same number.
#define PONS_LLM_RUN_CALLS_MAX 64
#define PONS_LLM_RUNS_MAX      256

// The hex digits of a fingerprint and its zero.
#define PONS_LLM_FINGERPRINT_MAX 33

typedef struct pons_llm_factory pons_llm_factory;

// The clock outlives the factory and every handle. Any thread may use a factory; a handle belongs
// to one thread at a time.
int pons_llm_factory_create(const pons_clock *clock, pons_llm_factory **ret, pons_error *err);
// Handles that are open stay good; the last one to close frees what is left. NULL-safe.
void pons_llm_factory_destroy(pons_llm_factory *f);

// A handle to the client of this configuration, which is opened when there is none yet.
// config: {
//   provider?  "openai" (default), "script" (default with path or replies), "replay", or the NAME
//              of a module llm-NAME.so
//   record?    a file that the conversation is added to (pons_llm_record)
//   pictures?  {folder, send?, model?, most?, memory?}: pictures that messages name are sent (ext/llm.h).
//              folder: where they are (pons_picture_put); send: "never", "ask" (a request needs
//              `pictures_allowed`) or "allowed"; absent: allowed to a server of this machine (a loopback
//              address), else ask. model: whether the model takes pictures, "yes", "no" or "auto": until
//              its server refuses one. memory: a file that keeps that. most: of a request, 2
//   …          the provider's own: url, model, api_key, ca_file, timeouts; path; see docs/reference/models.md
// }
// *ret: ops->close(self) gives the handle back, and ends the client with its last handle.
int pons_llm_factory_open(pons_llm_factory *f, const pons_value *config, pons_llm *ret,
                          pons_error *err);
// Whether a person is to be asked before pictures go to this configuration's server, and its address (cap bytes).
bool pons_llm_pictures_need_consent(const pons_value *config, char *ret, size_t cap);
// Why no picture may go to this configuration's model, for people; NULL: it may. agreed: the server to which a person
// lets pictures go, or NULL. Borrowed, for ever. Reads the file `memory`.
const char *pons_llm_pictures_withheld(const pons_value *config, const char *agreed);
// How many clients there are.
size_t pons_llm_factory_clients(pons_llm_factory *f);

// What makes two configurations the same: a hash of the configuration, the key included, with its
// keys sorted, without nulls, and without the slashes that its url ends with. The key cannot be
// read from it.
void pons_llm_fingerprint(const pons_value *config, char ret[PONS_LLM_FINGERPRINT_MAX]);

// A provider that does what `inner` does and adds the conversation to a file, a JSON object a line:
//
//     {"pons_llm_recording":1,"wall_ms":…}
//     {"call":1,"t_ms":0.0,"request":{…}}
//     {"call":1,"t_ms":812.4,"event":"token","text":"…"}           reasoning likewise
//     {"call":1,"t_ms":950.1,"event":"done","value":{…}}
//     {"call":2,"t_ms":960.0,"event":"error","status":-6,"message":"…","source":"…","cause":"…"}
//     {"call":3,"t_ms":990.0,"event":"cancel"}
//
// Times are of the clock, since the file was opened. `secret` (NULL: none) is written nowhere,
// however it is cut into tokens. The recording takes `inner`, also on failure, and closes it. It
// writes on the host's thread: it is for tests and for finding faults. When the disk is full, calls
// fail.
int pons_llm_record(pons_llm inner, const char *path, const char *secret, const pons_clock *clock,
                    pons_llm *ret, pons_error *err);

// Serves a recording: {path, pace?, compare?, ignore?}. A request gets the events of the recorded
// request that is equal to it, the first that was not yet used, at the pace of the recording (pace
// 1; 0: at once). When none is equal, the call ends in an error that names the first difference
// from the next recorded one: `messages.2.content: recorded "…", now "…"`. compare "order" takes
// them in their order, whatever is asked; ignore is a list of dotted paths that need not be equal,
// where * stands for any key or number. `run` never needs to be.
extern const pons_llm_ops pons_llm_replay;

// Linked in: answers from a YAML/JSON list of scripted replies, for tests and scenarios
// ({path} or {replies[…]}): each reply {content | decision{…} | tool_calls[…] |
// error{status,message}, delay_ms?, tokens?, when{field: value}?}.
extern const pons_llm_ops pons_llm_script;

PONS_C_END
