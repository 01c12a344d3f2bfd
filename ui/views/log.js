// log.js - what happens, newest at the bottom; at most ROWS_MAX rows, a batch a frame.
import { el } from '/ui/dom.js';
import { ROWS_MAX } from '/ui/store.js';

const SILENT = new Set(['observation', 'telemetry']);

function words(row) {
  const p = row.payload ?? {};
  switch (row.type) {
    case 'decision': return `${p.decision?.type ?? ''} ${p.decision?.reason ?? ''}`;
    case 'effect': return `${p.skill ?? ''} ${p.state ?? ''} ${p.error_msg ?? ''}`;
    case 'mode': return `${p.from ?? ''} → ${p.mode}: ${p.reason ?? ''}`;
    case 'task.queued': case 'task.active': case 'task.done': return `${p.task?.text ?? ''} ${p.task?.status ?? ''}`;
    case 'approval.requested': return p.question ?? '';
    case 'approval.resolved': return `${p.action ?? ''} ${p.by ?? ''}`;
    default: {
      const text = JSON.stringify(p);
      return text.length > 160 ? text.slice(0, 160) + '…' : text;
    }
  }
}

export class LogView {
  constructor(parent) {
    this.parent = parent;
    this.shown = 0;
    this.first = null;
  }

  draw(state, t) {
    const rows = state.rows;
    if (rows.length && rows[rows.length - 1] === this.last) return;
    const from = this.last ? rows.indexOf(this.last) + 1 : 0;
    const atEnd = this.parent.scrollHeight - this.parent.scrollTop - this.parent.clientHeight < 40;
    const add = document.createDocumentFragment();
    for (const r of rows.slice(from)) {
      if (r.again) add.append(el('li', { class: 'again' }, el('span', {}, '↻'), el('span', {}, t('restarted'))));
      if (SILENT.has(r.type)) continue;
      const when = new Date(r.ts_ms);
      add.append(el('li', {}, el('time', { datetime: when.toISOString() }, when.toLocaleTimeString([], { hour12: false })),
        el('span', {}, el('b', {}, r.type), ' ', words(r))));
    }
    this.parent.append(add);
    while (this.parent.childElementCount > ROWS_MAX) this.parent.firstElementChild.remove();
    if (rows.length) this.last = rows[rows.length - 1];
    if (atEnd) this.parent.scrollTop = this.parent.scrollHeight;
  }
}
