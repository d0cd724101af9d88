// A step of a later version is applied while this version runs, and takes nothing from its callers.

import { connect } from '../../src/database/database';
import { migrate } from '../../src/database/migrate';
import { migrations } from '../../src/database/migrations';
import { createTestDatabase } from '../support/database';
import { startService, textTask } from '../support/service';
import { laterStep, migrateBesideAReader } from './beside-a-reader';

test('a migration that waits for a long reader fails no create', async () => {
  const service = await startService({ withoutWorker: true });
  try {
    const statuses: number[] = [];
    let isDone = false;
    const caller = async () => {
      while (!isDone) statuses.push((await service.create(textTask())).status);
    };
    const callers = Promise.all([1, 2, 3].map(caller));
    const migrated = migrateBesideAReader(service.db).finally(() => {
      isDone = true;
    });
    await callers;
    expect(await migrated).toEqual([laterStep.name]);
    expect(statuses.length).toBeGreaterThan(10);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(service.failures).toEqual([]);
  } finally {
    await service.close();
  }
});

test('a migration gives up in the end, changes nothing, and names who uses a table', async () => {
  const database = await createTestDatabase();
  const impatient = connect({
    ...{ url: database.url, poolMax: 1, applicationName: 'migration' },
    slowMs: 2_000,
  });
  const reader = connect({ url: database.url, poolMax: 1, applicationName: 'a dump' });
  const reading = await reader.transaction();
  try {
    await reading.raw('lock table tasks in access share mode');
    await expect(migrate(impatient, undefined, [...migrations, laterStep])).rejects.toThrow(
      /lock timeout: a table was in use all the time\. Now use one: a dump \(process \d+\)\.$/,
    );
    const steps = await database.db('schema_migrations').pluck('name');
    expect(steps).toEqual(migrations.map(({ name }) => name));
  } finally {
    await reading.rollback();
    await reader.destroy();
    await impatient.destroy();
    await database.drop();
  }
});
