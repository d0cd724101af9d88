// Upgrades each frozen release to this tree: its rows in the schema of this version, all of its reads,
// and its live tasks without their Temporal. The replay of its histories is in
// test/workflows/replay.test.ts, and old beside new processes are in test/deploy/mixed-versions.test.ts.

import { checkSchema, migrate } from '../../src/database/migrate';
import { migrations } from '../../src/database/migrations';
import { roleNames } from '../../src/embedded/postgres';
import { audit } from '../../src/money/audit.rows';
import { acceptedJobs } from '../support/accepted-jobs';
import { adminWith } from '../support/admin';
import { heldMicros } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';
import { frozenRelease, frozenVersions, neighbours, type Release } from './frozen';
import { notMissed } from './not-missed';
import { type OnRelease, serveRelease } from './on-release';
import { breaking, harmless, lostBy } from './planted';
import { answersTo, differences } from './reads';
import { restore } from './rows';
import { schemaState, takenAway } from './schema-changes';
import { missingIn } from './states';

/** What is lost and may be missed, and what is known as lost and is there. */
const unlike = (lost: readonly string[], known: readonly string[]) => ({
  missed: lost.filter((sentence) => !known.includes(sentence)),
  outdated: known.filter((sentence) => !lost.includes(sentence)),
});

const versions = frozenVersions();
if (versions.length === 0) test.todo('upgrades a release, once one is frozen');

for (const version of versions) {
  describe(`the release ${version}`, () => {
    let release: Release;
    let database: TestDatabase;
    let on: OnRelease | undefined;
    beforeAll(async () => {
      release = frozenRelease(version);
      database = await createTestDatabase();
      await restore(database.db, release);
    });
    afterAll(() => on?.close() ?? database?.drop());

    test('has a row in each table, a value in each column, and each value of a state', async () => {
      expect(await missingIn(database.db, { isNew: false })).toEqual([]);
    });

    test('gets the later steps of the schema, and its books agree', async () => {
      const later = migrations.map(({ name }) => name).slice(release.steps.length);
      expect(await migrate(database.db, roleNames)).toEqual(later);
      await checkSchema(database.db);
      expect((await audit(database.db)).differences).toEqual([]);
    });

    // What a version needs no more may go one version later, so only neighbours count.
    if (neighbours().includes(version)) {
      const known = Object.keys(notMissed[version] ?? {});
      test('loses nothing by the later steps that its processes rely on', async () => {
        const lost = takenAway(release.schema, await schemaState(database.db));
        expect(unlike(lost, known)).toEqual({ missed: [], outdated: [] });
      });

      test('may lose what is known not to be missed, as long as it is lost', async () => {
        const sentence = 'tasks.trace_id is gone';
        const step = 'alter table tasks drop column trace_id';
        const lost = await lostBy(database.db, release, step);
        expect(unlike(lost, known)).toEqual({ missed: [sentence], outdated: [] });
        expect(unlike(lost, [...known, sentence])).toEqual({ missed: [], outdated: [] });
        const without = lost.filter((one) => one !== sentence);
        expect(unlike(without, [...known, sentence])).toEqual({ missed: [], outdated: [sentence] });
      });

      // A version whose steps are all known gives its own privileges, and would take those of newer
      // processes that still run: on the way back to the version before too.
      test('has other privileges only together with a later step', async () => {
        const { privileges } = await schemaState(database.db);
        const hasStep = migrations.length > release.steps.length;
        expect(privileges).toEqual(hasStep ? privileges : release.schema.privileges);
      });

      test.each(breaking)('would lose something by a step like: %s', async (step, lost) => {
        const found = await lostBy(database.db, release, step);
        expect(found.length).toBeGreaterThan(0);
        for (const sentence of found) expect(sentence).toMatch(lost);
      });

      test.each(harmless)('would lose nothing by a step like: %s', async (step) => {
        expect(await lostBy(database.db, release, step)).toEqual([]);
      });
    }

    test('is read as before, by callers and by operators', async () => {
      on = await serveRelease(release, database);
      const { service, operators } = on;
      const answers = await answersTo(release.answers, service, operators);
      const changed = release.answers.flatMap(({ path, status, answer }, n) => {
        const now = answers[n];
        return [
          ...(now?.status === status ? [] : [`${path} was ${status}, and is ${now?.status}`]),
          ...differences(answer, now?.answer, path),
        ];
      });
      expect(changed).toEqual([]);
      expect(release.answers.length).toBeGreaterThan(100);
      expect(service.failures).toEqual([]);
    });

    test('has pending tasks that are made, and open tasks that are refunded once their loss is confirmed', async () => {
      const { service } = on!;
      const { db, databaseUrl } = service;
      const idsIn = async (state: string): Promise<string[]> =>
        (await db('tasks').where({ state }).orderBy('id')).map(({ id }) => id);
      const [pending, open] = [await idsIn('pending'), await idsIn('open')];
      expect([pending.length > 1, open.length > 5]).toEqual([true, true]);
      await service.startWorker();
      const checked = async () => {
        const { rows } = await db.raw(
          `select 1 from loops where kind = 'reconciler' and ran_at > now() - interval '1 minute'`,
        );
        return rows.length > 0;
      };
      await until('the reconciler has run', checked, 60_000);
      for (const id of pending) expect((await service.finished(id)).status).toBe('succeeded');
      expect(await idsIn('open')).toEqual(open);
      const admin = adminWith(() => ({
        ...{ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress() },
      }));
      expect(await admin('reconcile lost')).toMatchObject({ exitCode: 0 });
      for (const id of open) {
        const { status, billing } = await service.finished(id);
        expect([id, status, billing.charged]).toEqual([id, 'failed', '0.000000']);
      }
      expect((await audit(db)).differences).toEqual([]);
      expect(await heldMicros(db)).toBe(0);
      const made = await Promise.all([...pending, ...open].map((id) => acceptedJobs(service, id)));
      expect(made).toEqual([...pending.map(() => 1), ...open.map(() => 0)]);
      expect(service.failures).toEqual([]);
    });
  });
}
