// @ts-check
// threads.js - threads and their past: a slider over checkpoints, what each step changed, a fork from there.
//
// What is shown here is history, and says so; nothing in it can be changed. A fork is another thread, also
// with other values, in which nothing runs before somebody resumes it, so going back in time moves no
// robot: a fork of the robot's own waits for `pons serve --thread`, an agent's for words in the chat, and
// one of a graph for a button here.
import { el, fill } from '/ui/dom.js';
import { sayServer } from '/ui/i18n/say.js';

const SPACES = ['react', 'kernel', 'agent', 'companion', ''], NAMED = 60, HEAD = 12; // threads that get a name, from so many of their first events

/** What is different: [[path, before, after], …]; at most `most` of them. */
export function diff(a, b, path = '', out = [], most = 200) {
  if (out.length >= most || JSON.stringify(a) === JSON.stringify(b)) return out;
  const both = a && b && typeof a === 'object' && typeof b === 'object' && Array.isArray(a) === Array.isArray(b);
  if (!both) { out.push([path || '(all)', a, b]); return out; }
  for (const k of new Set([...Object.keys(a), ...Object.keys(b)])) diff(a[k], b[k], path ? `${path}.${k}` : k, out, most);
  return out;
}

/** Of edited values those that are others than before. */
export function changed(was, now) {
  if (!now || typeof now !== 'object' || Array.isArray(now)) throw new Error('{"channel": value}');
  return Object.fromEntries(Object.entries(now).filter(([k, v]) => JSON.stringify(v) !== JSON.stringify(was[k])));
}

/** What a thread is called: what was asked for in it, and from when to when. */
export function nameOf(x, first, last, t) {
  const goals = first.filter((e) => e.type === 'task.queued').map((e) => e.payload?.task?.text).filter(Boolean), talk = x.spaces?.includes('agent');
  const said = goals.length ? goals : first.flatMap((e) => (e.type === 'run.started' && Array.isArray(e.payload?.goal) ? e.payload.goal : []));
  const what = said.length ? `${said.slice(0, 2).join(', ')}${said.length > 2 ? ' …' : ''}` : t(talk ? 'threads_talk' : 'threads_nothing');
  const time = (ms, o) => new Date(ms).toLocaleString([], o), begun = first[0]?.ts_ms, ended = last?.ts_ms;
  const day = (ms) => time(ms, { day: 'numeric', month: 'short' }), clock = (ms) => time(ms, { hour: '2-digit', minute: '2-digit', hour12: false });
  const when = begun ? `${day(begun)} ${clock(begun)}${ended > begun + 60000 ? ` – ${day(ended) === day(begun) ? '' : `${day(ended)} `}${clock(ended)}` : ''}` : '';
  return [what.length > 60 ? what.slice(0, 60) + '…' : what, when, x.thread].filter(Boolean).join(' · ');
}

const brief = (v) => { const s = v === undefined ? '∅' : JSON.stringify(v); return s.length > 220 ? s.slice(0, 220) + '…' : s; };

export class View {
  constructor(section, { wire, t, empty }) {
    this.empty = empty;
    this.none = el('div', { hidden: true });
    this.wire = wire;
    this.t = t;
    this.at = 0;
    this.list = [];
    this.n = 0;
    this.thread = el('select', { id: 'thread', onchange: () => this.read() });
    this.space = el('select', { id: 'space', onchange: () => this.read() }, ...SPACES.map((s) => el('option', { value: s }, s || '(graph)')));
    this.slider = el('input', { id: 'moment', type: 'range', min: 0, max: 0, step: 1, oninput: () => this.look() });
    this.words_ = ['threads_thread', 'threads_space', 'threads_moment'].map((key, i) => [key, el('label', { for: ['thread', 'space', 'moment'][i] })]);
    this.when = el('p', { class: 'moment', role: 'status' });
    this.past = el('p', { class: 'past' });
    this.changes = el('div', { class: 'changes' });
    this.whole = el('pre', { tabindex: '0' });
    this.name = el('input', { id: 'fork-name', maxlength: 60, autocomplete: 'off', pattern: '[A-Za-z0-9._\\-]+', required: true });
    this.nameLabel = el('label', { for: 'fork-name' });
    this.go = el('button', { type: 'submit' });
    this.told = el('p', { role: 'status' });
    this.values = el('textarea', { id: 'fork-values', rows: 6, spellcheck: 'false' });
    this.valuesLabel = el('label', { for: 'fork-values' });
    this.node = el('input', { id: 'fork-node', maxlength: 60, autocomplete: 'off' });
    this.nodeLabel = el('label', { for: 'fork-node' });
    this.editWord = el('summary');
    this.edit = el('details', { id: 'fork-edit' }, this.editWord, this.valuesLabel, this.values, el('div', { class: 'row' }, this.nodeLabel, this.node));
    this.edit.addEventListener('toggle', () => { if (this.edit.open && !this.values.value) this.values.value = this.offered = this.suggest(); });
    this.resume = el('button', { type: 'button', hidden: true, onclick: () => this.goOn() });
    this.fork = el('form', {}, el('div', { class: 'row' }, this.nameLabel, this.name, this.go), this.edit);
    this.fork.addEventListener('submit', (e) => { e.preventDefault(); this.branch(); });
    this.titles = [el('h1'), el('h2'), el('h2')];
    section.append(this.titles[0], this.none, this.picks = el('div', { class: 'row' }, this.words_[0][1], this.thread, this.words_[1][1], this.space), this.past,
      this.words_[2][1], this.slider, this.when, this.resume, this.fork, this.told, this.titles[1], this.changes,
      el('details', {}, this.summary = el('summary'), this.whole));
  }

  words() {
    const { t } = this;
    for (const [key, e] of this.words_) e.textContent = t(key);
    this.titles[0].textContent = t('tabs').threads;
    this.none.replaceChildren(this.empty('empty_threads'));
    for (const o of this.space.options) o.textContent = t('threads_spaces')[o.value] ?? o.value;
    for (const o of this.thread.options) this.call(o);
    this.titles[1].textContent = t('threads_changed');
    this.summary.textContent = t('threads_whole');
    this.past.textContent = '↺ ' + t('threads_past');
    this.nameLabel.textContent = t('threads_fork_name');
    this.go.textContent = t('threads_fork');
    this.editWord.textContent = t('threads_edit');
    this.valuesLabel.textContent = t('threads_edit_help');
    this.nodeLabel.textContent = t('threads_node');
  }

  async show() {
    const r = await this.wire.ask('GET', '/v1/threads');
    const was = this.thread.value;
    this.thread.replaceChildren(...(r.body ?? []).map((x) => el('option', { value: x.thread }, x.thread)));
    this.rows = r.body ?? [];
    this.none.hidden = this.rows.length > 0;
    this.nameAll();
    if (was && this.rows.some((x) => x.thread === was)) this.thread.value = was;
    await this.read();
  }

  /** Whatever is known of a thread by now is its name. */
  call(o) {
    const x = this.rows?.find((y) => y.thread === o.value);
    if (x?.first) o.textContent = nameOf(x, x.first, x.last, this.t);
  }

  async nameAll() {
    const rows = this.rows;
    for (const o of [...this.thread.options].slice(-NAMED)) {
      const x = rows.find((y) => y.thread === o.value), at = `/v1/threads/${encodeURIComponent(o.value)}/events`;
      try {
        const [first, last] = await Promise.all([this.wire.ask('GET', `${at}?after=0&limit=${HEAD}`), this.wire.ask('GET', `${at}?after=${Math.max(x.events - 1, 0)}&limit=1`)]);
        if (this.rows !== rows || first.status !== 200) return;
        x.first = first.body;
        x.last = last.body?.at?.(-1);
      } catch { return; } // the page shows that the way is broken
      this.call(o);
    }
  }

  async read() {
    const n = ++this.n, name = encodeURIComponent(this.thread.value);
    if (!this.thread.value) return;
    const known = this.rows?.find((x) => x.thread === this.thread.value)?.spaces ?? SPACES;
    for (const o of this.space.options) o.hidden = o.disabled = !known.includes(o.value);
    if (known.length && !known.includes(this.space.value)) this.space.value = known[0];
    this.values.value = '';
    this.edit.open = false;
    const graph = known.includes('');
    this.resume.hidden = !graph && !known.includes('agent');
    this.resume.textContent = this.t(graph ? 'threads_resume' : 'threads_chat');
    const r = await this.wire.ask('GET', `/v1/threads/${name}/history?ns=${this.space.value}&limit=200`);
    if (n !== this.n) return;
    this.list = r.status === 200 ? r.body.reverse() : [];
    this.slider.max = String(Math.max(this.list.length - 1, 0));
    this.slider.value = this.slider.max;
    this.slider.hidden = this.list.length < 2;
    await this.look();
  }

  async one(i) {
    const c = this.list[i];
    if (!c) return null;
    if (c.whole) return c.whole;
    const r = await this.wire.ask('GET', `/v1/threads/${encodeURIComponent(this.thread.value)}/state?ns=${this.space.value}&checkpoint=${encodeURIComponent(c.checkpoint_id)}`);
    if (r.status === 200) c.whole = r.body;
    return c.whole ?? null;
  }

  async look() {
    const i = Number(this.slider.value), n = ++this.n, c = this.list[i];
    this.fork.hidden = !c;
    if (!c) {
      this.when.textContent = this.t('none');
      this.changes.replaceChildren();
      this.whole.textContent = '';
      return;
    }
    const m = c.metadata ?? {};
    this.when.textContent = `${i + 1} / ${this.list.length} · ${new Date(c.ts_ms).toLocaleString([], { hour12: false })} · ${this.t('threads_step')} ${m.step ?? ''} · → ${(c.next ?? []).map((k) => this.t('graph_names')[k] ?? k.replaceAll('_', ' ')).join(', ') || '–'}`;
    this.slider.setAttribute('aria-valuetext', this.when.textContent);
    const [now, before] = await Promise.all([this.one(i), this.one(i - 1)]);
    if (n !== this.n || !now) return;
    const rows = diff(before?.values ?? {}, now.values ?? {});
    fill(this.changes, c.checkpoint_id, rows.length ? el('table', {}, el('tbody', {}, ...rows.map(([path, a, b]) => el('tr', {}, el('th', { scope: 'row' }, path), el('td', { class: 'was' }, brief(a)), el('td', { class: 'is' }, brief(b)))))) : el('p', {}, this.t('none')));
    if (this.edit.open && this.values.value === this.offered) this.values.value = this.offered = this.suggest(); // nobody has touched it
    this.whole.textContent = JSON.stringify(now.values, null, 1).slice(0, 100000);
  }

  /** The values that a person may want to change: small ones, as they stand. */
  suggest() {
    const values = this.list[Number(this.slider.value)]?.whole?.values ?? {};
    const small = Object.entries(values).filter(([k, v]) => k !== 'messages' && JSON.stringify(v).length < 6000).slice(0, 12);
    return JSON.stringify(Object.fromEntries(small), null, 1);
  }

  async branch() {
    const c = this.list[Number(this.slider.value)], to = this.name.value.trim(), latest = Number(this.slider.value) === this.list.length - 1;
    let edit;
    if (this.edit.open) {
      try {
        edit = { ns: this.space.value, values: changed(c.whole?.values ?? {}, JSON.parse(this.values.value)), as_node: this.node.value.trim() || undefined };
      } catch (error) {
        this.told.textContent = String(error);
        this.values.focus();
        return;
      }
    }
    if (!confirm(`${this.t('threads_fork_ask')} ${to}?${edit ? ` ${JSON.stringify(edit.values).slice(0, 300)}` : ''}`)) return;
    const agent = this.space.value === 'agent';
    const r = await this.wire.ask('POST', `/v1/threads/${encodeURIComponent(this.thread.value)}/fork`, { to, checkpoint: latest ? undefined : c.checkpoint_id, edit });
    this.told.textContent = r.status === 201 ? (agent || this.space.value === '' ? to : `${this.t('threads_forked')}: pons serve --thread ${to}`) : sayServer(r.body?.detail ?? r.status);
    if (r.status !== 201) return;
    await this.show();
    if (agent || this.space.value === '') { this.thread.value = to; await this.read(); }
  }

  /** An agent's session goes on in the chat; a graph's thread by a run without input. */
  async goOn() {
    const thread = this.thread.value;
    if (this.space.value === 'agent') {
      try { localStorage.setItem('pons.session', thread); } catch { /* a private window */ }
      location.search = '?view=chat';
      return;
    }
    const about = await this.wire.ask('GET', `/threads/${encodeURIComponent(thread)}`);
    const r = await this.wire.ask('POST', `/threads/${encodeURIComponent(thread)}/runs`, { assistant_id: about.body?.metadata?.graph_id, input: null });
    this.told.textContent = r.status < 300 ? `${this.t('threads_resumed')}: ${r.body?.run_id ?? ''}` : sayServer(r.body?.detail ?? r.status);
  }
}
