// @ts-check
// chat.js - a chat with the agent: what was said, the turn as it happens, what it asks, and words to it.
//
// What was said is the session's own state, read again when a turn begins and ends; the turn that is under
// way is made of its events (turn.js). So a tab that was closed, another one, and a terminal
// (`pons agent --serve`) show the same, and whoever answers first has answered.
import { coded, el, fill } from '/ui/dom.js';
import { schemaForm } from '/ui/form.js';
import { listenTo } from '/ui/listen.js';
import { sayServer } from '/ui/i18n/say.js';
import { mark } from '/ui/mark.js';
import { begin, hear } from '/ui/turn.js';

const SESSION = 'main_session', SHOWN = 200, BRIEF = 2000;
const NAME = /^[A-Za-z0-9._-]{1,100}$/;
const saved = () => { try { return localStorage.getItem('pons.session') || SESSION; } catch { return SESSION; } };
const save = (/** @type {string} */ name) => { try { localStorage.setItem('pons.session', name); } catch { /* a private window */ } };
const words = (/** @type {any} */ v) => (typeof v === 'string' ? v : JSON.stringify(v, null, 1) ?? '');
const cut = (/** @type {string} */ s) => (s.length > BRIEF ? s.slice(0, BRIEF) + '…' : s);

/** What is said in a state of the agent's, as rows; a turn that is under way shows itself from its events. */
export function said(/** @type {any[]} */ messages, /** @type {boolean} */ under) {
  const list = messages ?? [], end = under ? list.findLastIndex((m) => m.role === 'user') + 1 : list.length;
  const out = [];
  for (const m of list.slice(0, end)) {
    if (m.role === 'user' || (m.role === 'assistant' && m.content)) out.push({ id: m.id, role: m.role, text: words(m.content) });
    for (const c of m.tool_calls ?? []) out.push({ id: `${m.id} ${c.id}`, role: 'tool', call: c.id, tool: c.name, input: c.arguments });
    if (m.role === 'tool') {
      const call = out.findLast((x) => x.call === m.tool_call_id);
      if (call) call.output = words(m.content);
    }
  }
  return out.slice(-SHOWN);
}

export class View {
  constructor(section, { wire, t }) {
    this.wire = wire;
    this.t = t;
    this.session = saved();
    this.turn = begin();
    this.past = [];
    this.booted = '';
    this.n = 0;
    this.drawn = new Map(); // of this turn's items
    this.title = el('h1');
    this.pick = el('select', { id: 'chat-session', onchange: () => this.take(this.pick.value) });
    this.pickLabel = el('label', { for: 'chat-session' });
    this.fresh = el('button', { type: 'button', onclick: () => this.take(`chat-${Date.now().toString(36)}`) });
    this.list = el('ol', { class: 'chat', tabindex: '0' });
    this.live = el('ol', { class: 'chat', 'aria-live': 'polite' });
    this.state = el('p', { class: 'moment', role: 'status' });
    this.asks = el('div', { class: 'asked', 'aria-live': 'assertive' });
    this.text = el('textarea', { id: 'chat-text', rows: 2, maxlength: 60000, enterkeyhint: 'send', required: true });
    this.label = el('label', { for: 'chat-text' });
    this.go = el('button', { type: 'submit', class: 'main' });
    this.end = el('button', { type: 'button', onclick: () => this.order('/api/chat/stop', { session_id: this.session }) });
    this.told = el('p', { role: 'status', class: 'wrong' });
    this.down = el('button', { type: 'button', class: 'down', hidden: true, onclick: () => { this.atEnd = true; this.toEnd(); this.text.focus({ preventScroll: true }); } });
    this.atEnd = true; // until the reader scrolls up, the end is followed
    addEventListener('scroll', () => { if (this.ears) { this.atEnd = innerHeight + scrollY > document.documentElement.scrollHeight - 120; this.down.hidden = this.atEnd; } }, { passive: true });
    this.form = el('form', { id: 'chat-form' }, this.label, this.text, el('div', { class: 'row' }, this.go, this.end));
    this.form.addEventListener('submit', (e) => { e.preventDefault(); this.say(); });
    this.text.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return;
      e.preventDefault();
      if (!this.go.disabled) this.form.requestSubmit();
    });
    section.append(this.title, el('div', { class: 'row' }, this.pickLabel, this.pick, this.fresh), this.list, this.live, this.state, this.asks, this.down, this.form, this.told);
  }

  words() {
    const { t } = this;
    this.drawn.clear();
    this.title.textContent = t('tabs').chat;
    this.pickLabel.textContent = t('chat_session');
    this.fresh.textContent = t('chat_new');
    this.label.textContent = t('chat_say');
    this.go.textContent = t('send');
    this.end.textContent = t('chat_end');
    this.down.textContent = `↓ ${t('chat_down')}`;
    this.list.setAttribute('aria-label', t('chat_said'));
    this.live.setAttribute('aria-label', t('chat_now'));
    this.paint();
  }

  show() {
    this.atEnd = true;
    this.listen();
    this.sessions();
  }

  hide() {
    this.ears?.stop();
    this.ears = null;
  }

  async sessions() {
    const r = await this.wire.ask('GET', '/v1/threads');
    const names = (Array.isArray(r.body) ? r.body : []).filter((x) => x.spaces?.includes('agent')).map((x) => x.thread);
    for (const name of [SESSION, this.session]) if (!names.includes(name)) names.push(name);
    this.pick.replaceChildren(...names.map((n) => el('option', { value: n, selected: n === this.session }, n)));
  }

  take(/** @type {string} */ name) {
    if (!NAME.test(name)) return;
    this.session = name;
    save(name);
    this.turn = begin();
    this.past = [];
    this.told.textContent = '';
    this.hide();
    this.show();
    this.paint();
  }

  listen() {
    if (this.ears) return;
    const name = this.session;
    const one = (/** @type {any} */ e) => {
      const was = this.turn;
      this.turn = hear(was, e);
      if (was.over !== this.turn.over) this.read();
    };
    this.ears = listenTo({ token: this.wire.token, query: `?thread=${encodeURIComponent(name)}`, live: false, heard: (m) => {
      if (name !== this.session) return;
      if (m.kind === 'hello') this.read();
      else if (m.kind === 'event') one(m.data);
      else if (m.kind === 'batch') m.list.forEach(one);
      else return;
      this.paint();
    } });
  }

  /** What was said, as it is stored. */
  async read() {
    const n = ++this.n, name = this.session;
    try {
      const r = await this.wire.ask('GET', `/v1/threads/${encodeURIComponent(name)}/state?ns=agent`);
      if (n !== this.n || name !== this.session) return;
      this.messages = r.status === 200 ? r.body?.values?.messages ?? [] : [];
      this.paint();
    } catch { /* the next event, or the next hello, reads it again */ }
  }

  paint() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.put(); });
  }

  put() {
    const { t, turn } = this;
    const rows = said(this.messages ?? [], !turn.over);
    fill(this.list, JSON.stringify([rows.length, rows.at(-1)?.id, rows.at(-1)?.output?.length, this.session]), ...rows.map((r) => this.row(r)));
    this.list.hidden = !rows.length;
    this.follow(turn.over ? [] : turn.items);
    this.live.hidden = turn.over || !turn.items.length;
    const phase = t('phases')[turn.phase] ?? turn.phase, long = rows.length > 0 || !turn.over;
    const is = turn.asks.length ? t('chat_waits') : turn.working ? phase || t('chat_thinks') : turn.failed ? `${t('chat_failed')}: ${t('statuses')[turn.failed] ?? turn.failed}` : rows.length ? '' : t('empty_chat');
    fill(this.state, is, ...coded(is));
    fill(this.asks, JSON.stringify(turn.asks), ...turn.asks.map((a) => this.ask(a)));
    this.end.hidden = turn.over;
    if (this.ears && this.atEnd && long) this.toEnd();
  }

  toEnd() { scrollTo(0, document.documentElement.scrollHeight); }

  /** A token changes the last item: the others stay as they are, opened or read. */
  follow(/** @type {any[]} */ items) {
    const { live } = this, nodes = items.map((i) => this.drawn.get(i) ?? this.item(i));
    this.drawn = new Map(items.map((item, k) => [item, nodes[k]]));
    nodes.forEach((n, k) => { if (live.children[k] !== n) live.insertBefore(n, live.children[k] ?? null); });
    while (live.childElementCount > nodes.length) live.lastElementChild.remove();
  }

  row(r) {
    if (r.role === 'tool') return this.tool(r.tool, r.input, r.output, undefined);
    return el('li', { class: r.role, dir: 'auto' }, el('b', { class: 'who' }, this.t(r.role === 'user' ? 'chat_you' : 'chat_agent')), el('div', { class: 'words' }, ...(r.role === 'user' ? [r.text] : mark(r.text))));
  }

  tool(name, input, output, ms) {
    return el('li', { class: 'tool' }, el('details', {}, el('summary', {}, el('span', { class: 'sign', 'aria-hidden': 'true' }, output === undefined ? '▶' : '✓'), ` ${name}${Number.isFinite(ms) ? ` · ${ms} ms` : ''}`),
      el('pre', {}, cut(words(input ?? ''))), output === undefined ? null : el('pre', { class: 'is' }, cut(output))));
  }

  item(i) {
    if (i.kind === 'tool') return this.tool(i.tool, i.input, i.output, i.ms);
    if (i.kind === 'plan') return el('li', { class: 'plan' }, el('b', {}, i.plan?.title ?? ''), this.steps(i.plan?.steps));
    return el('li', { class: i.kind === 'error' ? 'failed' : 'assistant', dir: 'auto' }, el('b', { class: 'who' }, this.t('chat_agent')), el('div', { class: 'words' }, ...(i.kind === 'error' ? [sayServer(i.text ?? '')] : mark(i.text ?? ''))));
  }

  steps(list) {
    const sign = { completed: '✓', running: '▶', failed: '✕', skipped: '–' }, tone = { completed: 'good', running: 'active', failed: 'bad' };
    return el('ol', { class: 'steps' }, ...(list ?? []).map((s) => {
      const { id, title, status, ...rest } = s;
      return el('li', { class: tone[status] ?? '' }, el('span', { class: 'sign' }, `${sign[status] ?? '·'} `), String(title ?? id ?? ''), Object.keys(rest).length ? el('pre', {}, cut(words(rest))) : null);
    }));
  }

  /** A question: a plan, a call, or one that wants words. */
  ask(a) {
    const { t } = this, inWords = a.tool === 'ask_user';
    const why = el('input', { maxlength: 1000, 'aria-label': inWords ? t('chat_answer') : t('why'), placeholder: inWords ? t('chat_answer') : t('why'), required: inWords });
    const answer = (/** @type {any} */ more) => this.order(a.plan ? '/api/plan/approve' : '/api/approve',
      { ...(a.plan ? { plan_id: a.plan_id } : { request_id: a.request_id }), session_id: this.session, feedback: why.value || undefined, ...more });
    const form = schemaForm({}, a.plan ? (a.steps ?? []).map((s) => s.title) : a.input ?? {}, {});
    const edit = el('form', { hidden: true, novalidate: true }, form.e, el('div', { class: 'row' }, el('button', { type: 'submit', class: 'main' }, t('approve_edited'))));
    edit.addEventListener('submit', (e) => {
      e.preventDefault();
      try {
        answer({ approved: true, [a.plan ? 'steps' : 'args']: form.read() });
      } catch (error) {
        error.field?.reportValidity();
      }
    });
    const open = el('button', { type: 'button', 'aria-expanded': 'false', onclick: () => { edit.hidden = !edit.hidden; open.setAttribute('aria-expanded', String(!edit.hidden)); } }, t('edit'));
    return el('article', {}, el('h2', {}, `⚠ ${t('asks')}`),
      el('p', { class: 'headline' }, a.plan ? a.title : inWords ? words(a.input?.question) : a.tool), a.why ? el('p', { class: 'rule' }, sayServer(a.why)) : null,
      a.plan ? this.steps(a.steps) : inWords ? null : el('pre', {}, words(a.input ?? {})),
      el('div', { class: 'row' }, el('button', { type: 'button', class: 'main', onclick: () => (inWords && !why.value ? why.reportValidity() : answer({ approved: true })) }, t(inWords ? 'send' : 'approve')),
        why, el('button', { type: 'button', onclick: () => answer({ approved: false }) }, t('reject')), inWords ? null : open), inWords ? null : edit);
  }

  async order(path, body) {
    try {
      const r = await this.wire.ask('POST', path, body);
      this.told.textContent = r.status < 300 ? '' : sayServer(r.body?.detail ?? r.status);
    } catch (e) { this.told.textContent = String(e); }
  }

  /** The turn is heard with everything else of the session; of this stream only its beginning is, which says what is wrong. */
  async say() {
    const text = this.text.value, control = new AbortController();
    if (!text.trim()) return;
    this.told.textContent = '';
    try {
      const r = await fetch('/api/chat', { method: 'POST', signal: control.signal, headers: this.wire.headers({ 'content-type': 'application/json' }), body: JSON.stringify({ message: text, session_id: this.session }) });
      const { value } = r.body ? await r.body.getReader().read() : { value: new Uint8Array() };
      const head = new TextDecoder().decode(value);
      control.abort();
      const first = /^data: (\{.*\})$/m.exec(head), is = r.ok ? (first ? JSON.parse(first[1]) : {}) : { type: 'error', content: JSON.parse(head || '{}').detail ?? r.status };
      if (is.type === 'error') { this.told.textContent = sayServer(is.content); return; }
      this.atEnd = true;
      this.text.value = '';
      this.read();
      if (![...this.pick.options].some((o) => o.value === this.session)) this.sessions();
    } catch (e) { this.told.textContent = String(e); }
  }

  draw() {}
}
