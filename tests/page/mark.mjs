// mark.mjs - `node mark.mjs`: what a model writes, as elements (ui/mark.js), without a browser: a document of
// a few lines that keeps what it is given.
import { finish, must, test } from './plain.mjs';

class Node {
  constructor(name) { this.localName = name; this.childNodes = []; this.attributes = {}; this.className = ''; }
  setAttribute(k, v) { this.attributes[k] = v; if (k === 'class') this.className = v; }
  addEventListener() {}
  append(...what) { this.childNodes.push(...what); }
  get html() {
    const a = Object.entries(this.attributes).map(([k, v]) => ` ${k}="${v}"`).join('');
    return `<${this.localName}${a}>${this.childNodes.map((c) => (c instanceof Node ? c.html : String(c).replaceAll('&', '&amp;').replaceAll('<', '&lt;'))).join('')}</${this.localName}>`;
  }
}
globalThis.Node = Node;
globalThis.document = { createElement: (n) => new Node(n), createElementNS: (_, n) => new Node(n) };
const { mark } = await import('../../ui/mark.js');
const html = (text) => mark(text).map((e) => e.html).join('');
const is = (text, want) => { const got = html(text); must(got === want, `${JSON.stringify(text)}\n      is   ${got}\n      want ${want}`); };

await test('paragraphs, emphasis, code', () => {
  is('one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>');
  is('a **b** *c* _d_ ~~e~~ `f*g*`', '<p>a <strong>b</strong> <em>c</em> <em>d</em> <del>e</del> <code>f*g*</code></p>');
  is('**a *b* c**', '<p><strong>a <em>b</em> c</strong></p>');
  is('snake_case_name 2*3*4 5 * 6 * 7', '<p>snake_case_name 2<em>3</em>4 5 * 6 * 7</p>');
  is('\\*no\\* **open', '<p>*no* **open</p>');
  is('```py\nx = "<b>"\n\n- y\n```\nafter', '<pre>x = "&lt;b>"\n\n- y</pre><p>after</p>');
  is('```\nstill coming', '<pre>still coming</pre>');
});
await test('headings, rules, quotes, lists, tables', () => {
  is('# A **b**\ntext', '<p class="h">A <strong>b</strong></p><p>text</p>');
  is('a\n\n---\nb', '<p>a</p><hr></hr><p>b</p>');
  is('> a\n> - b', '<blockquote><p>a</p><ul><li>b</li></ul></blockquote>');
  is('- a\n- b\n  - c\n- d', '<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>');
  is('3. a\n4. b\n\nend', '<ol start="3"><li>a</li><li>b</li></ol><p>end</p>');
  is('- a\n\n- b', '<ul><li>a</li><li>b</li></ul>');
  is('| a | b |\n|---|:-:|\n| 1 | `2` |', '<div class="changes"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><code>2</code></td></tr></tbody></table></div>');
});
await test('markup is letters; a link goes where it may, and says where', () => {
  is('<img src=x onerror=alert(1)><script>x</script>', '<p>&lt;img src=x onerror=alert(1)>&lt;script>x&lt;/script></p>');
  is('[a](javascript:alert(1))', '<p><span>a (javascript:alert(1)</span>)</p>');
  for (const to of ['javascript:alert(1)', 'JaVaScRiPt:x', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', '//evil.example', '/v1/reset', ' javascript:x', 'java\tscript:x', 'blob:x'])
    must(!/href/.test(html(`[a](${to})`) + html(`![a](${to})`) + html(`<${to}>`)), to);
  is('![a](https://x.example/p.png)', '<p><span><a href="https://x.example/p.png" target="_blank" rel="noopener noreferrer nofollow">a</a> (x.example)</span></p>');
  is('[https://bank.example](https://evil.example)', '<p><span><a href="https://evil.example/" target="_blank" rel="noopener noreferrer nofollow">https://bank.example</a> (evil.example)</span></p>');
  is('see https://x.example/a_b_c.', '<p>see <span><a href="https://x.example/a_b_c" target="_blank" rel="noopener noreferrer nofollow">https://x.example/a_b_c</a></span>.</p>');
  must(html('[\u202Ea](https://x.example)').includes('U+202E'), 'a letter that turns the line is hidden');
});
await test('what is made to take long does not, and whatever is written is shown', () => {
  const n = 20000, made = ['*', '**', '_', '`', '[', '](', '> ', '- ', '~~', '|', '#', '\\', '1. ', '```\n', '- \n', '|-', '  ', '*a ', '[a](', '`a`` ', '-\n  '].map((x) => x.repeat(Math.floor(n / x.length)));
  made.push(`${'> '.repeat(3000)}x`, Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}- x`).join('\n'), `a|b\n${'-'.repeat(9000)}`, `a|b\n${'-|'.repeat(200)}x`);
  const began = process.cpuUsage();
  for (const text of made) html(text);
  const { user } = process.cpuUsage(began);
  must(user < 20e6, `${user / 1e6} s`);
  let seed = 7;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
  const bits = ['*', '**', '_', '`', '```', '\n', '\n\n', '- ', '1. ', '> ', '#', ' ', 'w', '[', '](', ')', '|', '---', '<b>', 'https://x.example', '\\', '  ', '~~'];
  for (let i = 0; i < 3000; i++) {
    const text = Array.from({ length: next() % 40 }, () => bits[next() % bits.length]).join('').replaceAll('```w', '```'); // a language is not shown
    const out = html(text);
    must(!/<b>/.test(out) && (text.match(/w/g) ?? []).length <= (out.replace(/<[^>]*>/g, '').match(/w/g) ?? []).length, JSON.stringify(text));
  }
});
finish();
