// The official client (@modelcontextprotocol/sdk, from the folder in $PONS_MCP_PEERS) against
// `pons mcp serve`:
//
//     node official_client.mjs PONS WORKSPACE
//
// Core tools, a question that the client's person answers by elicitation, one that is rejected,
// progress and cancel, what is refused; and the robot of a body that runs in the workspace. Prints a
// line for each thing it has seen; ends with 1 at the first thing that is not so.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import process from 'node:process';
import fs from 'node:fs';
import assert from 'node:assert/strict';

const require = createRequire(path.join(process.env.PONS_MCP_PEERS, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
const { ElicitRequestSchema, ToolListChangedNotificationSchema, LATEST_PROTOCOL_VERSION } =
    await load('@modelcontextprotocol/sdk/types.js');
const [, , pons, workspace] = process.argv;

async function connect(args, capabilities) {
    const client = new Client({ name: 'official', version: '1' }, { capabilities });
    const env = { ...process.env };
    await client.connect(new StdioClientTransport({
        command: pons, args: ['mcp', 'serve', '--workspace', workspace, ...args], env, stderr: 'ignore',
    }));
    return client;
}

const text = (r) => r.content.map((c) => c.text).join('');
const seen = (what) => console.log(what);

// ---- core tools, with a person behind the client
{
    const client = await connect(['--tools', 'core'], { elicitation: {} });
    let answer = { action: 'accept', content: { allow: true } };
    let asked = '';
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
        asked = request.params.message;
        return answer;
    });
    assert.equal(client.getServerVersion().name, 'pons');
    const { tools } = await client.listTools();
    const names = tools.map((t) => t.name);
    assert.ok(names.includes('read_file') && names.includes('terminal'), String(names));
    seen(`protocol ${LATEST_PROTOCOL_VERSION}, ${tools.length} core tools`);
    let r = await client.callTool({ name: 'write_file', arguments: { path: 'a.md', content: '你好\n' } });
    assert.ok(!r.isError);
    r = await client.callTool({ name: 'read_file', arguments: { path: 'a.md' } });
    assert.equal(text(r), '你好\n');
    assert.equal(r.structuredContent.path, 'a.md');
    r = await client.callTool({ name: 'read_file', arguments: { path: '../x' } });
    assert.ok(r.isError && /workspace/.test(text(r)));
    r = await client.callTool({ name: 'read_file', arguments: { nothing: 1 } });
    assert.ok(r.isError && /arguments are not right/.test(text(r)));
    await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /no tool/);
    r = await client.callTool({ name: 'terminal', arguments: { command: 'ls' } });
    assert.ok(!r.isError && asked === ''); // safe: nobody is asked
    r = await client.callTool({ name: 'terminal', arguments: { command: 'rm -rf /' } });
    assert.ok(r.isError && /blocked/.test(text(r)) && asked === '');
    r = await client.callTool({ name: 'terminal', arguments: { command: 'touch approved' } });
    assert.ok(!r.isError && /touch approved/.test(asked));
    assert.ok(fs.existsSync(path.join(workspace, 'approved')));
    seen('elicitation: approved');
    answer = { action: 'decline' };
    r = await client.callTool({ name: 'terminal', arguments: { command: 'touch rejected' } });
    assert.ok(r.isError && /rejected/.test(text(r)));
    assert.ok(!fs.existsSync(path.join(workspace, 'rejected')));
    answer = { action: 'accept', content: { allow: false } };
    r = await client.callTool({ name: 'terminal', arguments: { command: 'touch rejected' } });
    assert.ok(r.isError && !fs.existsSync(path.join(workspace, 'rejected')));
    seen('elicitation: rejected');
    answer = { action: 'accept', content: { allow: true } };
    const stop = new AbortController();
    const slow = client.callTool(
        { name: 'terminal', arguments: { command: 'touch begun; sleep 1000', timeout_s: 500 } }, undefined,
        { signal: stop.signal });
    while (!fs.existsSync(path.join(workspace, 'begun'))) await new Promise((go) => setTimeout(go, 5));
    stop.abort('enough');
    await assert.rejects(slow);
    await client.ping();
    seen('canceled');
    await client.close();
}

// ---- the robot, for a client that cannot ask
{
    const client = await connect([], {});
    let changed = () => {};
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => changed());
    let names = [];
    for (;;) {
        const next = new Promise((go) => { changed = go; });
        names = (await client.listTools()).tools.map((t) => t.name);
        if (names.includes('navigate_to_pose')) break;
        await next; // the skills come when the body has answered
    }
    seen(`robot: ${names.join(' ')}`);
    const { resources } = await client.listResources();
    for (let connected = false; !connected;) { // and a moment later where it is
        const status = await client.readResource({ uri: resources[0].uri });
        connected = JSON.parse(status.contents[0].text).connected;
    }
    let r = await client.callTool({ name: 'navigate_to_pose', arguments: { zone: 'nowhere' } });
    assert.ok(r.isError, text(r));
    let progress = 0;
    r = await client.callTool({ name: 'navigate_to_pose', arguments: { zone: 'kitchen' } }, undefined,
        { onprogress: () => { progress++; }, timeout: 300000 });
    assert.ok(!r.isError, text(r));
    assert.ok(progress > 0);
    seen(`drove to the kitchen: ${text(r).slice(0, 80)}`);
    const stop = new AbortController();
    const drive = client.callTool({ name: 'navigate_to_pose', arguments: { zone: 'living_room' } }, undefined,
        { onprogress: () => stop.abort('enough'), signal: stop.signal, timeout: 300000 });
    await assert.rejects(drive);
    r = await client.callTool({ name: 'query_world', arguments: {} });
    assert.ok(!r.isError);
    seen('a drive was canceled');
    await client.close();
}
