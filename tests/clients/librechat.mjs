// What LibreChat does with the block of docs/clients.md: its schema reads the block, its agents talk to the endpoint
// that the block names, as they do in one of its conversations. argv: npm's modules, the block, an API key, the conversation's id, what is said.
import { createRequire } from 'node:module';

const [, , modules, block, token, conversation, ...said] = process.argv;
const load = createRequire(`${modules}/`);
const { configSchema, extractEnvVariable } = load('librechat-data-provider');
const { Run, Providers } = load('@librechat/agents');
const { HumanMessage, AIMessage } = load('@langchain/core/messages');

const [endpoint] = configSchema.strict().parse(load('js-yaml').load(block)).endpoints.custom;
process.env.WEBBEE_TOKEN = token;
const defaultHeaders = Object.fromEntries(
  Object.entries(endpoint.headers).map(([name, value]) => [name, value.replace('{{LIBRECHAT_BODY_CONVERSATIONID}}', conversation)]),
);
const apiKey = extractEnvVariable(endpoint.apiKey);
const configuration = { baseURL: endpoint.baseURL, defaultHeaders };
const listed = await fetch(`${endpoint.baseURL}/models`, { headers: { authorization: `Bearer ${apiKey}` } });
const models = (await listed.json()).data.map(({ id }) => id);
const messages = [];
const replies = [];
for (const text of said) {
  messages.push(new HumanMessage(text));
  const run = await Run.create({
    runId: crypto.randomUUID(),
    graphConfig: {
      type: 'standard',
      llmConfig: { provider: Providers.OPENAI, model: endpoint.models.default[0], apiKey, streaming: true, configuration },
    },
    returnContent: true,
  });
  const config = { configurable: { thread_id: conversation }, streamMode: 'values', version: 'v2' };
  const parts = await run.processStream({ messages }, config);
  const reply = parts.map((part) => part.text ?? '').join('');
  messages.push(new AIMessage(reply));
  replies.push(reply);
}
console.log(JSON.stringify({ models, replies }));
process.exit(0);
