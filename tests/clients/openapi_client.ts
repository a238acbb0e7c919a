// The generated TypeScript client against the API at argv[2]: what it was told, as JSON.
import { client } from './generated/client.gen';
import * as api from './generated/sdk.gen';

declare const process: { argv: string[] };

client.setConfig({ baseUrl: process.argv[2], headers: { authorization: 'Bearer dev' } });
const say = (message: string) => api.postV1Chat({ body: { message, session_id: 'generated' } });

async function use(): Promise<void> {
  const added = await say('add a task: buy milk');
  const listed = await api.postV1ExtensionsAppIdCall({ path: { app_id: 'tasks' }, body: { function: 'list_tasks' } });
  const asked = await say('delete the task buy milk');
  const waiting = asked.data && 'confirmation' in asked.data ? asked.data.confirmation?.id ?? '' : '';
  const done = await api.postV1ConfirmationsId({ path: { id: waiting }, body: { accept: true } });
  const session = await api.getV1SessionsId({ path: { id: 'generated' } });
  const wrong = await api.postV1ExtensionsAppIdCall({ path: { app_id: 'nothing' }, body: { function: 'x' } });
  console.log(
    JSON.stringify({
      added: added.data,
      listed: listed.data,
      asked: asked.data,
      done: done.data,
      sessions: (await api.getV1Sessions({ query: { limit: 5 } })).data,
      turns: session.data?.turns,
      wrong: wrong.error,
      apps: (await api.getV1Extensions()).data,
      health: (await api.getV1Health()).data,
      export: (await api.getV1MeExport({ parseAs: 'text' })).data,
    }),
  );
}

void use();
