// Freezes this tree as a release, into the folder that scripts/freeze.mjs names. It is a test, because
// it needs the servers of a test run.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { audit, auditNewMovements } from '../../src/money/audit.rows';
import { rollUp } from '../../src/money/roll-up.rows';
import { startCallbackSink } from '../support/callback-sink';
import { required } from '../support/database';
import { startService } from '../support/service';
import { realEnvironment, workflowBundle } from '../support/temporal';
import { recordHistories } from '../workflows/record-histories';
import { asLines } from './frozen';
import { recordedNames } from './names';
import { serveRelease, upgraded } from './on-release';
import { play } from './play';
import { promises } from './promises';
import { answersTo, readsOf, withoutVarying } from './reads';
import { dumpRows, type Frozen, stepsNow } from './rows';
import { schemaState } from './schema-changes';
import { missingIn } from './states';

test('the release is frozen, with rows in every state', async () => {
  const folder = required('FREEZE_INTO');
  const { played, accountId, keys } = await playedRows();
  const database = await upgraded(played);
  expect(await missingIn(database.db, { isNew: true })).toEqual([]);
  expect((await audit(database.db)).differences).toEqual([]);
  const schema = await schemaState(database.db);
  const answers = async (on: Awaited<ReturnType<typeof upgraded>>) => {
    const { service, operators, close } = await serveRelease({ ...played, accountId, keys }, on);
    try {
      return await answersTo(readsOf(played.rows, accountId), service, operators);
    } finally {
      await close();
    }
  };
  const first = await answers(database);
  const second = await answers(await upgraded(played));
  const release = { ...{ frozenAt: played.frozenAt, steps: played.steps }, accountId, keys };
  const whole = { ...release, names: recordedNames(), schema };
  await writeFile(join(folder, 'release.json'), `${JSON.stringify(whole, null, 1)}\n`);
  await writeFile(join(folder, 'promises.txt'), `${promises().join('\n')}\n`);
  await writeFile(join(folder, 'rows.jsonl'), asLines(played.rows));
  await writeFile(
    join(folder, 'answers.jsonl'),
    asLines(first.map((one, n) => withoutVarying(one, second[n]))),
  );
  expect(first.filter(({ status }) => status >= 500)).toEqual([]);
  const env = await realEnvironment();
  await recordHistories(env, workflowBundle(), join(folder, 'histories'));
  await env.teardown();
}, 300_000);

async function playedRows() {
  const sink = await startCallbackSink();
  const service = await startService({ allowHosts: [sink.hostPort], catalogue: withCosts });
  const steps = stepsNow();
  const { rows, keys } = await play(service, sink)
    .then(async (made) => ({ keys: made, rows: await dumpRows(service.db) }))
    .finally(() => Promise.all([service.close(), sink.close()]));
  // The roll-up and the audit leave out what is newer than ten minutes.
  const later = new Date(Date.now() + 20 * 60_000).toISOString();
  const database = await upgraded({ frozenAt: later, steps, rows });
  await rollUp(database.db, 'UTC');
  await auditNewMovements(database.db);
  const played: Frozen = {
    frozenAt: new Date().toISOString(),
    steps,
    rows: await dumpRows(database.db),
  };
  await database.drop();
  return { played, accountId: service.accountId, keys };
}

/** The catalogue of the studio, whose channels cost something. */
const withCosts = (catalogue: Catalogue): Catalogue => ({
  ...catalogue,
  models: Object.fromEntries(
    Object.entries(catalogue.models).map(([name, model]) => [
      name,
      {
        ...model,
        channels: model.channels.map((channel) => ({
          ...channel,
          cost: { microsPerMillionTokens: 30_000_000 },
        })),
      },
    ]),
  ),
});
