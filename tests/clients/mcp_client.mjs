// The TypeScript SDKs against the API at argv[2], with the token argv[3]: what they were told, as JSON on one line.
const [, , modules, url, token] = process.argv;
const load = (name) => import(`${modules}/${name}`);
const headers = { authorization: `Bearer ${token}` };
const asked = { handshake: [], stateless: [] };
const answering = (era) => async (request) => {
  asked[era].push(request.params.message);
  return { action: 'accept', content: {} };
};

async function drive(client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  const call = (name, args = {}) => client.callTool({ name, arguments: args });
  const title = `milk ${Math.random()}`;
  const added = await call('tasks__add', { title });
  const listed = await call('tasks__list_tasks');
  const deleted = await call('tasks__delete', { title });
  const wrong = await call('tasks__add', { title: 7 });
  const left = await call('tasks__list_tasks');
  await client.close();
  return { tools: tools.map((t) => t.name), title, added, listed, deleted, wrong, left };
}

const v1 = await load('@modelcontextprotocol/sdk/dist/esm/client/index.js');
const http1 = await load('@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js');
const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/dist/esm/types.js');
const unable = await drive(
  new v1.Client({ name: 'ts-1', version: '1' }),
  new http1.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);
const able = new v1.Client({ name: 'ts-1', version: '1' }, { capabilities: { elicitation: {} } });
able.setRequestHandler(ElicitRequestSchema, answering('handshake'));
const handshake = await drive(
  able,
  new http1.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);

const v2 = await load('@modelcontextprotocol/client/dist/index.mjs');
const eliciting = new v2.Client(
  { name: 'ts-2', version: '1' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
);
eliciting.setRequestHandler('elicitation/create', answering('stateless'));
const stateless = await drive(
  eliciting,
  new v2.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);
console.log(JSON.stringify({ unable, handshake, stateless, asked }));
