// engine.h - the map of src/graph, and the name by which its errors go.
//
// A graph is a set of nodes over named channels. One *superstep* runs every triggered node against
// the same state, then applies what they wrote in the order of the nodes' names, never in the order
// in which they finished. What the state is after a superstep is a *checkpoint*. Five nouns:
//
//   pons_graph    compiled and immutable: names are indices, sorted, so that an index is also the
//                 place in task order; edges, routers and joins hang on their node (definition/internal.h)
//   pons__ns      a namespace's head: one slot a channel, which nodes come next, which legs of
//                 joins have arrived. It outlives runs, so that starting one reads no store
//                 (state/namespace_head.h)
//   pons_thread   the right to write one thread of a store, and its namespaces (core/thread.h)
//   pons_run      one invocation: the tasks of the superstep under way, and what has gathered for
//                 the next commit (core/run.h)
//   pons_cx       one task: its writes, its posts, events and effects, its awaits; also what a node
//                 sees of the engine (core/task.h)
//
// How one superstep goes (run/superstep.c drives it):
//
//   store what is due -> prepare tasks from `next` -> run them
//                                                       |
//                    +----------------------------------+-----------------+
//                    v                                  v                 v
//               all are done                       some wait         some failed
//                    |                                  |                 |
//             apply, then store                store their records   store, FAILED
//                    |                                  |
//                 next step                     call the handlers
//
// Applying checks everything before it changes anything: a conflict leaves the state as it was. A
// commit that fails leaves the step applied in memory and *due*: the next advance tries it again
// before anything else happens, and nothing of the step has been shown.
//
// What is committed when:
//
//   a step        one checkpoint row with what changed (state/checkpoint_pack.c), together with the inbox
//                 messages it took, its posts, events and effects: all or nothing
//   a park        the checkpoint when it is not stored yet (exit durability, quiet steps), the
//                 records of what was asked and of the siblings that are done; then the handlers
//                 are called
//   an answer     its record, before anybody sees it
//   a task result its record, before it is returned
//   a call        of a task (task/future.c): its result's record, before the caller sees it
//   a graph call  its record, before the graph begins; again with its state, before it is returned
//   a dispatch    DISPATCHED, synced, before anything is sent (node/effect.c)
//
// Under `async` only steps that carry nothing but state are queued. A step with durable events or
// effects is committed in place (which keeps the order), because its events may be shown only once
// they are there, with their numbers.
//
// Rooms, each using only those above it:
//
//   base/    growth, bits, text, hashed names, worker threads: what knows no graph
//   shape/   what a graph is: builder, compiler, drawings
//   state/   what a namespace holds: channels, messages, checkpoints; what a task brings out
//   core/    threads, runs and tasks as things: made, found, woken, freed
//   keep/    what goes into the store: commits, records, streams
//   node/    what a node can call: read, write, route, await, effects
//   task/    how one task is run: a pass, its policy, blocking nodes, subgraphs, tasks that it calls
//   run/     how a run is driven: begin, supersteps, answers, queues, commands
//   past/    reading from outside, forks, updates, pruning
//
// All of it runs on the thread that calls it, with two exceptions: util/worker_pool.c has workers for
// blocking nodes, and a graph is shared by threads (definition/internal.h says what is locked in it).
#pragma once

#define PONS__MODULE "graph"
