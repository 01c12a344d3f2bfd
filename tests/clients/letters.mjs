// letters.mjs - the graphs letters and parrot of examples/graphs, in LangGraph JS: for the oracle of npm. As letters.py.
import { AIMessage } from '@langchain/core/messages';
import { Annotation, Command, END, interrupt, messagesStateReducer, START, StateGraph } from '@langchain/langgraph';

const last = () => Annotation();
const Letters = Annotation.Root({ wanted: last(), posted: last(), letters: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });

export const letters = new StateGraph(Letters)
  .addNode('write', (s, config) => {
    const n = s.letters.length + 1;
    config.writer?.({ writing: n });
    return { letters: [`letter ${n}`] };
  })
  .addNode('ask', (s) => {
    const answer = interrupt(`post ${s.letters.length} letters?`);
    return new Command({ goto: answer === true || answer === 'yes' ? 'post' : END });
  }, { ends: ['post', END] })
  .addNode('post', () => ({ posted: true }))
  .addEdge(START, 'write')
  .addConditionalEdges('write', (s) => (s.letters.length < (s.wanted ?? 0) ? 'write' : 'ask'), ['write', 'ask'])
  .addEdge('post', END)
  .compile();

const Parrot = Annotation.Root({ messages: Annotation({ reducer: messagesStateReducer, default: () => [] }), pause_ms: last(), id: last(), said: last(), left: last() });

export const parrot = new StateGraph(Parrot)
  .addNode('listen', (s) => {
    const words = s.messages.findLast((m) => m.getType() === 'human')?.content ?? '';
    return new Command({ update: { id: crypto.randomUUID(), said: '', left: words }, goto: words.startsWith('please') ? 'ask' : 'speak' });
  }, { ends: ['ask', 'speak'] })
  .addNode('ask', (s) => {
    const answer = interrupt({ action_requests: [{ name: 'speak', args: { text: s.left }, description: 'says it aloud' }],
      review_configs: [{ action_name: 'speak', allowed_decisions: ['approve', 'edit', 'reject'] }] });
    const d = answer.decisions[0];
    if (d.type === 'approve') return new Command({ goto: 'speak' });
    if (d.type === 'edit') return new Command({ goto: 'speak', update: { left: d.edited_action.args.text } });
    return new Command({ goto: 'finish', update: { said: `I say nothing: ${d.message ?? ''}` } });
  }, { ends: ['speak', 'finish'] })
  .addNode('speak', async (s, config) => {
    await new Promise((go) => setTimeout(go, s.pause_ms ?? 0));
    const [word, ...rest] = s.left.split(' ');
    if (word === 'error') throw new Error('a parrot does not say that');
    config.writer?.({ speaking: word });
    return { said: s.said + word + (rest.length ? ' ' : ''), left: rest.join(' ') };
  })
  .addNode('finish', (s) => ({ messages: [new AIMessage({ id: s.id, content: s.said })] }))
  .addEdge(START, 'listen')
  .addConditionalEdges('speak', (s) => (s.left ? 'speak' : 'finish'), ['speak', 'finish'])
  .addEdge('finish', END)
  .compile();
