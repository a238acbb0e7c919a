// A desktop host as the block of docs/clients.md configures it: argv[3] is that block, its program is
// the one of npm's that lies in argv[2]. What the tools said, as JSON on one line.
const [, , modules, block] = process.argv;
const load = (name) => import(`${modules}/${name}`);
const { Client } = await load('@modelcontextprotocol/sdk/dist/esm/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/dist/esm/client/stdio.js');
const { command, args, env } = JSON.parse(block).mcpServers.webbee;
const [yes, program, ...rest] = args;
if (command !== 'npx' || yes !== '-y') throw new Error(`not started by npx: ${command} ${yes}`);
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [`${modules}/${program}/dist/proxy.js`, ...rest.map((arg) => arg.replace(/\$\{(\w+)\}/g, (_, name) => env[name]))],
  env: { ...process.env, ...env },
});
const client = new Client({ name: 'desktop', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
const call = (name, args = {}) => client.callTool({ name, arguments: args });
const added = await call('tasks__add', { title: 'from the desktop' });
const card = await call('tasks__delete', { title: 'from the desktop' });
const left = await call('tasks__list_tasks');
await client.close();
console.log(JSON.stringify({ tools: tools.map((t) => t.name), added, card, left }));
