// serve.h - a workspace over HTTP: its robot's page, its events, and its API, for people and programs.
//
//     browser, SDK --> doors (host, origin, token) --> routes --> the host's words   (pons_serve_host)
//                                                            \--> the store          (reads)
//     hub: the store's events, the host's live ones, a heartbeat --> every client's stream
//     the Stop port: a server of its own, which knows one word
//
// Everything a client says goes where `pons say`, `approve` and `stop` go: the store's inbox and the
// body's stop socket. The server has no way of its own to the robot.
#pragma once

#include "pons/agent.h"
#include "pons/clock.h"
#include "pons/ext/http.h"
#include "pons/ext/http_server.h"
#include "pons/ext/store.h"
#include "pons/graph.h"
#include "pons/link.h"
#include "pons/linkage.h"
#include "pons/mcp.h"
#include "pons/traces.h"

PONS_C_BEGIN

#define PONS_SERVE_PORT 2024 // Stop's is the next one

typedef struct pons_serve pons_serve;

typedef struct pons_serve_agent { // a session that is open; its thread's
    pons_agent *agent;
    void *parts; // the host's: its tools, its model
} pons_serve_agent;

// What the server cannot do by itself. Called from the server's workers, several at once; may block.
// Each *ret is the caller's, and may be NULL where it is not given.
typedef struct pons_serve_host {
    void *user;
    // As `pons status --json`: thread NULL is the newest one's.
    int (*status)(void *user, const char *thread, pons_value **ret, pons_error *err);
    // A person's words, durable when it returns. {thread, text, stopped} in *ret.
    int (*say)(void *user, const char *thread, const char *text, pons_value **ret, pons_error *err);
    // The same of a model's words (pons_brain_wish): they answer no question, and set nothing free.
    int (*wish)(void *user, const char *thread, const char *text, pons_value **ret,
                pons_error *err);
    // "pause", "continue", "cancel" (of one task, or NULL: of all), and "stop" where `stops` is: the brain
    // sends it to the body as soon as there is one. Durable when it returns.
    int (*control)(void *user, const char *thread, const char *word, const char *task,
                   pons_error *err);
    // An answer to an open question, {action, reason?, args?, op?, ops?}; question: its id. *ret: what
    // became of it, as pons_answer_read. `by` says who.
    int (*answer)(void *user, const char *thread, const char *question, pons_value *answer,
                  const char *by, pons_value **ret, pons_error *err);
    int (*reset)(void *user, pons_error *err);
    // Where the robot is, told by a person: as `pons body pose`.
    int (*place)(void *user, double x, double y, double yaw, pons_error *err);
    // PONS_OK when the robot has stopped and the latch is on the disk, as pons_stop_send.
    int (*stop)(void *user, const char *reason, pons_error *err);
    // Whether words to the agent are a person's stop of the robot: they go to `stop` then, and where that says
    // PONS_ENOTFOUND or PONS_ECLOSED (no body answers) to `control`. NULL: none are.
    bool (*stops)(void *user, const char *text);
    // A new thread from a checkpoint of another one (NULL: as it stands), as `pons threads fork`; edit
    // (NULL: none): {ns, values, as_node?}, its state is changed so as pons_state_update does.
    int (*fork)(void *user, const char *thread, const char *checkpoint, const char *to,
                const pons_value *edit, pons_error *err);
    // What was seen (pons/object_memory.h): a list, best first.
    int (*objects)(void *user, const char *what, const char *zone, int64_t since_ms, int64_t limit,
                   pons_value **ret, pons_error *err);
    // The companion's life as it was last committed (pons_companion_read). PONS_ENOTFOUND: none lives here.
    int (*life)(void *user, pons_value **ret, pons_error *err);
    // A message to the companion's phone; from NULL: nobody says. PONS_ENOTFOUND: none lives here.
    int (*message)(void *user, const char *text, const char *from, bool urgent, pons_error *err);
    // The fleet whose workspace this is, as `pons fleet status`, or its map. NULL, PONS_ENOTFOUND: it is none's.
    int (*fleet)(void *user, bool map, pons_value **ret, pons_error *err);
    // A word to its orchestrator, durable when it returns: "cancel", "clear", "settle", "block"
    // {id, done?, blocked?}; "assign" {id, name, stops, needs?, payload_kg?, priority?, deadline_s?}, a task.
    int (*fleet_say)(void *user, const char *word, const pons_value *value, pons_error *err);
    // A graph for a drawing, by its name ("react", "kernel"): {name, nodes, edges, channels}.
    int (*draw)(void *user, const char *name, pons_value **ret, pons_error *err);
    // What runs here: versions, store, model; never NULL but for memory.
    pons_value *(*system)(void *user);
    // The rows of `pons doctor`.
    int (*doctor)(void *user, pons_value **ret, pons_error *err);
    // A world as its file has it, with its boxes; name as the body says it.
    int (*world)(void *user, const char *name, pons_value **ret, pons_error *err);
    // `rooms` lists the rooms in the map of the body's world: {world, rooms: [{number, area_m2, x, y, polygon, zone?}]}.
    // `room_name` names the room at this point of the map, in English, in Chinese or both; *ret is {zone, known}, known: the
    // running body has the name. PONS_ENOTFOUND: no body has run here, or no room is at the point. NULL: there are no maps.
    int (*rooms)(void *user, pons_value **ret, pons_error *err);
    int (*room_name)(void *user, double x, double y, const char *en, const char *zh,
                     pons_value **ret, pons_error *err);
    // A picture of a camera of the world, as a JPEG (malloc); NULL: there are none here. PONS_ENOTFOUND.
    int (*camera)(void *user, const char *name, char **ret, size_t *ret_n, pons_error *err);
    // Keeps a JPEG or PNG for the agent: *ret as `pictures` of a message has it (ext/llm.h), the caller's. NULL: it
    // takes no pictures. PONS_EINVAL: it is none.
    int (*picture)(void *user, const void *bytes, size_t n, pons_value **ret, pons_error *err);
    // An observer's link to the body, its hello sent; it asks for views too, with the scan as it was
    // measured if it is to. PONS_ENOTFOUND, PONS_ECLOSED: there is none.
    int (*observe)(void *user, bool laser, pons_link **ret, pons_error *err);
    // Sessions with the planning agent: the same tools, approvals and walls as `pons agent` has. Each
    // on a thread of its own; NULL: there is no agent here. PONS_EBUSY: another process has it;
    // PONS_EENV: there is no model. look: with those tools alone that change nothing.
    int (*agent_open)(void *user, const char *session, bool look, pons_event_cb on_event,
                      void *event_user, pons_serve_agent *ret, pons_error *err);
    void (*agent_close)(void *user, pons_serve_agent *a);
    // The text of graph_config.yaml as it is in force (malloc), and writing another one, which was
    // checked. Workers, one at a time.
    int (*graph_config)(void *user, char **ret_text, pons_error *err);
    int (*graph_config_put)(void *user, const char *text, size_t n, pons_error *err);
} pons_serve_host;

// A graph that clients run by its id. Each of its runs has a thread of the process to itself.
typedef struct pons_serve_graph {
    const char *id;          // "letters"
    const char *help;        // one line; may be NULL
    const pons_graph *graph; // borrowed, until the server is closed
    const char *ns; // where its state is, in a thread of the store: "" of a graph of one's own
    // How its awaits are served: called on the run's thread. A start may answer at once
    // (pons_run_answer), or anybody later (pons_serve_answer). Borrowed.
    const pons_await_handler *handlers;
    size_t n_handlers;
    // Somebody cancels a run: what it has begun elsewhere is to end. On the run's thread, between two
    // supersteps; may be NULL, and then the handlers of what it waits for are canceled.
    void (*stop)(void *user, const char *thread, pons_run *run);
    // The run is put away for a while, as if the server had died: when it returns, nothing is told to
    // an await of this thread until one starts again. On the run's thread; may be NULL.
    void (*let_go)(void *user, const char *thread, pons_run *run);
    // In drawings and lists of subgraphs in place of graph, with what its nodes wait for inside. Borrowed; NULL: graph.
    const pons_graph *drawn;
    // Adds the channels of what the thread's runs wait for to the values of its newest state; a name that is there stays.
    // PONS_ENOTFOUND: no client has begun this thread. On a worker thread; may be NULL.
    int (*state)(void *user, const char *thread, pons_value *values, pons_error *err);
    void *user;
} pons_serve_graph;

typedef struct pons_serve_options {
    const pons_http_server_ops *http; // pons_http_server_load
    pons_store store;                 // borrowed
    pons_clock clock;
    pons_serve_host host;
    const char *thread;     // the robot's, whose events a client gets that names none
    const char *address;    // NULL: 127.0.0.1
    int port, stop_port;    // 0: free ones; stop_port < 0: the next after port
    const char *token_file; // made with fresh tokens when it is not there, mode 0600
    bool open_doors;        // clients of this machine are operators without a token; loopback only
    const char *const
        *origins; // that may call besides the page itself, "https://chat.example:8080"
    size_t n_origins;
    const char *const *hosts; // names that clients use for this machine, besides its address
    size_t n_hosts;
    const char *certificate,
        *key; // PEM texts; both or neither; any other address than loopback needs them
    // Tools for clients of the Model Context Protocol, at /mcp; its providers belong to the server's
    // thread while it is open. NULL: none.
    const pons_mcp_server_options *mcp;
    pons_traces *traces;            // of what the host tells; borrowed, NULL: none
    const pons_http_ops *client;    // of webhooks (pons_http_load); NULL: there are none
    const pons_serve_graph *graphs; // (n_graphs) borrowed
    size_t n_graphs;
    // Every event of every chat with the agent, for who sits at this process itself; on the chat's
    // thread, several at once. NULL: nobody.
    pons_event_cb on_chat;
    void *chat_user;
    const char *workspace; // whose files may be looked at; NULL: none
    // The configuration of the tools there (pons_core_tools_open): what it hides from them is not shown
    // either. Read at open; NULL: nothing beside the table (pons/protected_files.h).
    const pons_value *tools;
    const char *ui_dir; // the page's files, read anew for each request; NULL: none
} pons_serve_options;

// Listens on both ports when it returns. PONS_EBUSY: a port is taken. PONS_EREFUSED: an address
// beyond this machine without a certificate, or a token file that others may read.
int pons_serve_open(const pons_serve_options *opts, pons_serve **ret, pons_error *err);
// Ends every stream, waits for requests that are being answered. NULL-safe.
void pons_serve_close(pons_serve *s);
int pons_serve_port(const pons_serve *s);
int pons_serve_stop_port(const pons_serve *s);
// A token of a role, "viewer", "operator" or "admin", for whoever started the server; borrowed.
const char *pons_serve_token(const pons_serve *s, const char *role);
// An event that the host had: a live one goes out at once, a stored one wakes the hub. Any thread.
void pons_serve_event(pons_serve *s, const pons_event *ev);
// A commit of the host's store (pons_store_watch), for /metrics. Any thread.
void pons_serve_commit(pons_serve *s, int rc, int64_t ns);
// An answer to an await of a served graph's run, from any thread. Takes it. PONS_ENOTFOUND: no run of
// the thread is at work, and whoever asks again will be told that it is asked again (`restarted`).
int pons_serve_answer(pons_serve *s, const char *thread, const char *await_id, pons_value *answer);

// A piece of a message of what an await of a served graph's run waits for, {type: "AIMessageChunk", id, content}: streamed
// to who follows the run, as of `node`. Any thread. Takes it. PONS_ENOTFOUND as above.
int pons_serve_message(pons_serve *s, const char *thread, const char *await_id, const char *node,
                       pons_value *chunk);

// A chat with the agent from this process itself, as /api/chat has it for others. Each waits until the
// session has heard it; what comes of it comes to on_chat. Any thread but a chat's. PONS_EBUSY: a turn
// is under way, or another process has the session.
int pons_serve_chat(pons_serve *s, const char *session, const char *text, pons_error *err);
// To the open question with this plan_id or request_id, {action, reason?, …} as pons_agent_answer; the reason of a
// yes is the answer to a question in words.
int pons_serve_chat_answer(pons_serve *s, const char *session, const char *question,
                           const pons_value *answer, pons_error *err);
// Takes the session up, so that a turn that was cut short goes on.
int pons_serve_chat_open(pons_serve *s, const char *session, pons_error *err);
int pons_serve_chat_stop(pons_serve *s, const char *session, pons_error *err); // ends the turn

PONS_C_END
