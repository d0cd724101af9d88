// Why a task waits, on a whole service: each reason is brought about, and the page, the admin API and the
// command line give it in the same words. Also what an operator then does: with keys only, and with pauses.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { createAccount } from '../../src/money/new-account.rows';
import type { WaitingCode } from '../../src/tasks/waiting.rules';
import { adminWith } from '../support/admin';
import { catalogueText, parseCatalogue, pollIntervalMs } from '../support/catalogue';
import { startConsole, type TestConsole } from '../support/console';
import { createTestDatabase } from '../support/database';
import { call, type Service, startService, textTask } from '../support/service';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';
import { browse, type ConsoleInBrowser, describeInBrowser, hasBrowser } from './in-browser';

/** The channels beside `studio`, each with what it has of its own, and a model that it alone sells. */
const channels = {
  second: '',
  few: 'jobsInFlightMax: 2',
  gone: '',
  refusing: '',
  unclear: 'honoursIdempotencyKey: false, listLagMs: 60000',
  queueing: 'requestTimeoutMs: 60000',
};
type Name = keyof typeof channels;

/** The catalogue without one of the channels, if it is named. */
function catalogueWithout(gone?: Name): string {
  const names = (Object.keys(channels) as Name[]).filter((name) => name !== gone);
  const entries = names.map((name) => `  ${name}: { <<: *studio, ${channels[name]} }\n`);
  const sells = (model: string, at: readonly string[]) => {
    const choices = at.map((channel) => `{ channel: ${channel}, upstreamModel: studio-2.0 }`);
    return `  ${model}: { <<: *studio-2, channels: [${choices.join(', ')}] }\n`;
  };
  const models = [sells('both', ['studio', 'second']), ...names.map((name) => sells(name, [name]))];
  return catalogueText
    .replaceAll('pollIntervalMs: 1000', `pollIntervalMs: ${pollIntervalMs}`)
    .replace('  studio:\n', '  studio: &studio\n')
    .replace('\n# Exact output sizes', `${entries.join('')}\n# Exact output sizes`)
    .replace('\n# Super-resolution', `${models.join('')}\n# Super-resolution`);
}

let service: Service;
let served: TestConsole;
/** Undefined on a machine without a browser. */
let opened: ConsoleInBrowser | undefined;
let folder: string;
const file = () => join(folder, 'catalogue.yaml');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-catalogue-'));
  await writeFile(file(), catalogueWithout());
  const database = await createTestDatabase(20);
  const account = await createAccount(database.db, { name: 'Acme', creditMicros: 1e12 });
  service = await startService({
    known: { database, account },
    catalogue: ({ channels: { studio } }) =>
      parseCatalogue(catalogueWithout(), { STUDIO_URL: new URL(studio!.baseUrl).origin }),
  });
  served = await startConsole({
    known: { database },
    settings: { ...settings(), PUBLIC_URL: service.url },
  });
  if (hasBrowser) opened = await browse(served);
});
afterAll(async () => {
  await opened?.close();
  await served?.close();
  await service?.close();
  await rm(folder, { recursive: true });
});

const settings = () => ({
  CATALOGUE_FILE: file(),
  TEMPORAL_TASK_QUEUE: service.taskQueue,
  STUDIO_URL: service.studio.url,
});
const admin = adminWith(() => ({
  ...{ DATABASE_URL: service.databaseUrl, TEMPORAL_ADDRESS: temporalAddress() },
  ...settings(),
}));

const created = async (
  model: string,
  script: object,
  { apiKey, more = {} }: { readonly apiKey?: string; readonly more?: object } = {},
): Promise<string> => {
  const body = textTask({ ...script }, { model, ...more });
  const path = '/v1/videos/generations';
  const { json } = apiKey
    ? await call(service.url, apiKey, 'POST', path, body)
    : await service.create(body);
  return json.id as string;
};
const createdTimes = (model: string, count: number, script: object) =>
  Promise.all(Array.from({ length: count }, () => created(model, script)));

const jobs = (ids: readonly string[], columns: readonly string[]) =>
  service
    .db('jobs')
    .whereIn('task_id', ids)
    .select(...columns);
const untilJobIs = (id: string, state: string) =>
  until(`it is ${state}`, async () => (await jobs([id], ['state']))[0]?.state === state);

test('no task goes to a paused channel; those that have no other wait for it and end after its resume', async () => {
  const running = await createdTimes('studio-2.0', 2, { run_s: 4 });
  await until('both are placed', async () => {
    const placed = await jobs(running, ['upstream_id']);
    return placed.length === 2 && placed.every(({ upstream_id: id }) => id !== null);
  });
  await admin('channels pause studio --as Ann --why rotation');
  const free = await createdTimes('both', 10, { run_s: 0.2 });
  const stuck = await createdTimes('studio-2.0', 3, { run_s: 0.2 });
  for (const id of free) expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
  const used = (await jobs(free, ['channel'])).map(({ channel }) => channel);
  expect(new Set(used)).toEqual(new Set(['second']));
  for (const id of running) {
    expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
  }
  for (const id of stuck) await untilJobIs(id, 'waiting');
  await admin('channels resume studio');
  for (const id of stuck) expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
  expect(service.failures).toEqual([]);
});

test('routes say the hold and the first channel of the create that follows', async () => {
  const body = textTask({ run_s: 0.2 });
  const line = ['routes', '--account', service.accountId, '--body', JSON.stringify(body), '--json'];
  const { hold, routes } = (await admin(line)).json;
  const { json } = await service.create(body);
  const { billing } = await service.finished(json.id);
  expect([hold, routes[0].charged]).toEqual([billing.held, billing.held]);
  expect(await jobs([json.id], ['channel'])).toEqual([{ channel: routes[0].channel }]);
});

test('a worker tests a channel, so the machine of the operator needs no key', async () => {
  const { json } = await admin('channels probe studio --json');
  expect(json).toMatchObject({ channel: 'studio', isWell: true, code: null });
});

async function cancelAtStudio(id: string): Promise<void> {
  const [{ upstream_id: upstreamId }] = await jobs([id], ['upstream_id']);
  const url = `${service.studio.url}/api/v3/contents/generations/tasks/${upstreamId}`;
  const headers = { authorization: `Bearer ${service.studioKey}` };
  const { status } = await fetch(url, { method: 'DELETE', headers });
  expect(status).toBe(200);
}

interface Reason {
  readonly code: WaitingCode;
  readonly sentence: string;
}

const reasonsOf = async (id: string): Promise<readonly Reason[]> =>
  (await served.as('viewer', 'GET', `/tasks/${id}`)).json.data.waiting;

/** Two readers come at different times, and what was yesterday is told with its day. */
const timeless = (text: string) =>
  text
    .replaceAll(/(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC/g, 'TIME')
    .replaceAll(/\b\d+ (?:s|min)( ago)?\b/g, (_, ago = '') => `N s${ago}`);

/**
 * Waits for the reason. Returns all reasons of the task, which the API, the command line and the page
 * give alike.
 */
async function toldEverywhere(id: string, code: WaitingCode): Promise<readonly string[]> {
  await until(code, async () => (await reasonsOf(id)).some((reason) => reason.code === code));
  const told = (await reasonsOf(id)).map(({ sentence }) => timeless(sentence));
  const { out } = await admin(`tasks show ${id}`);
  expect(out.split('\n').map(timeless)).toEqual(expect.arrayContaining([...told]));
  if (!opened) return told;
  const region = opened.page.getByRole('region', { name: 'Why it is waiting' });
  await opened.go(`#/tasks/${id}`, region);
  const shown = await region.locator('p[data-code]').allTextContents();
  expect(shown.map(timeless)).toEqual(told);
  return told;
}

const later = { queue_s: 600 };

test('page, API and command line give each reason in the same words', async () => {
  const { db } = service;
  await opened?.signIn('operator', '#/tasks');
  await admin('channels pause gone --as Ann --why rotation');
  const limited = await service.anAccount();
  await db('accounts').where({ id: limited.accountId }).update({ running_max: 1 });
  const ending = await created('studio-2.0', later);
  await untilJobIs(ending, 'open');
  await db.transaction(async (trx) => {
    // Its workflow cannot end it meanwhile.
    await trx.raw('select from tasks where id = ? for update', [ending]);
    await cancelAtStudio(ending);
    expect(await toldEverywhere(ending, 'reported')).toEqual([
      'The job has ended at studio (cancelled); its workflow is notified.',
    ]);
  });

  const sending = await created('queueing', { create: [{ delay_s: 30 }] });
  expect(await toldEverywhere(sending, 'sending')).toEqual([
    'The create was sent to queueing N s ago; the answer is awaited.',
  ]);
  const [asked, forgotten, refused, lost, copied, paused, first] = await Promise.all([
    created('queueing', later),
    created('queueing', later),
    created('refusing', { create: [{ status: 403, times: 1_000 }] }),
    created(
      'unclear',
      { ...later, create: [{ lose_reply: true }] },
      { more: { metadata: { seed: 7 } } },
    ),
    created('studio-2.0', { run_s: 0, result: [{ status: 503, times: 1_000 }] }),
    created('gone', {}),
    created('second', later, { apiKey: limited.apiKey }),
  ]);
  expect(await toldEverywhere(refused, 'rests')).toEqual([
    'It is being placed with refusing. An attempt is at work, or the next one begins by TIME. refusing: refuses our key or account (TIME).',
    'refusing rests until TIME: it refuses our key or account.',
  ]);
  expect(await toldEverywhere(lost, 'unanswered')).toEqual([
    'The create was sent to unclear N s ago and not answered; the list of unclear is searched since TIME. No other channel gets it.',
  ]);
  expect(await toldEverywhere(copied, 'storing')).toEqual([
    'The video is made; it is being copied since TIME.',
  ]);
  await untilJobIs(first, 'open');
  const second = await created('second', {}, { apiKey: limited.apiKey });
  expect(await toldEverywhere(second, 'account_limit')).toEqual([
    'The customer runs 1 of its 1 task (running-max).',
    'second: 1 slot used. 1 job of 1 customer waits; this one is the 1st of its customer.',
  ]);
  const [{ upstream_id: upstreamId }] = await jobs([asked], ['upstream_id']);
  expect(await toldEverywhere(asked, 'at_provider')).toEqual([
    `queueing has it as ${upstreamId} since TIME and says queued; last asked N s ago.`,
  ]);
  await untilJobIs(forgotten, 'open');
  await db('jobs').where({ task_id: forgotten }).update({ upstream_id: 'cgt-forgotten' });
  expect(await toldEverywhere(forgotten, 'missing')).toEqual([
    'queueing does not know cgt-forgotten since TIME; the task ends if that stays.',
  ]);
  expect(await toldEverywhere(paused, 'paused')).toEqual(['Ann paused gone at TIME: "rotation".']);
  const changed = parseCatalogue(catalogueWithout('gone'), { STUDIO_URL: service.studio.url });
  Object.assign(service.catalogues, { api: changed, worker: changed });
  await writeFile(file(), catalogueWithout('gone'));
  expect(await toldEverywhere(paused, 'no_channel')).toEqual([
    'Every channel of its plan has left the catalogue: gone.',
  ]);
});

test('of three customers with six waiting jobs each, every job learns its place and the slots', async () => {
  const busy = await createdTimes('few', 2, later);
  for (const id of busy) await untilJobIs(id, 'open');
  const keys = [
    service.apiKey,
    (await service.anAccount()).apiKey,
    (await service.anAccount()).apiKey,
  ];
  await Promise.all(
    Array.from({ length: 18 }, (_, n) => created('few', {}, { apiKey: keys[n % 3]! })),
  );
  const waiting = () =>
    service
      .db('jobs')
      .where({ state: 'waiting' })
      .whereRaw(`channels = array['few']`)
      .orderBy('waiting_since')
      .select('task_id', 'account_id');
  await until('all wait', async () => (await waiting()).length === 18);
  const expectPlaces = async (count: number) => {
    const places = new Map<string, number>();
    const expected = (await waiting()).map(({ task_id: id, account_id: account }) => {
      const place = (places.get(account) ?? 0) + 1;
      places.set(account, place);
      const sentence = expect.stringMatching(
        `^few: 2 of 2 slots used\\. ${count} jobs of 3 customers wait; this one is the ${place}(st|nd|rd|th) of its customer, and customers take turns\\.$`,
      );
      return { id, reasons: [{ code: 'slots', sentence }] };
    });
    expect([places.size, Math.max(...places.values())]).toEqual([3, 6]);
    // One after the other: on a slow machine many reads at once wait too long for a connection.
    const told: object[] = [];
    for (const { id } of expected) told.push({ id, reasons: await reasonsOf(id) });
    expect(told).toEqual(expected);
  };
  await expectPlaces(18);
  const [oldest, ...others] = await waiting();
  const [told = ''] = await toldEverywhere(others.at(-1)!.task_id, 'slots');
  expect(told).toContain('this one is the 6th of its customer');
  await admin(`tasks cancel ${oldest!.task_id} --why asked`);
  await until('one waits no more', async () => (await waiting()).length === 17);
  await expectPlaces(17);
});

describeInBrowser('with keys only', () => {
  const page = () => opened!.page;
  const button = (name: string) => page().getByRole('button', { name, exact: true });
  const dialog = () => page().getByRole('dialog');
  let pressed = 0;
  const press = async (key: string) => {
    pressed += 1;
    await page().keyboard.press(key);
  };
  const type = (text: string) => page().keyboard.type(text);
  const tabTo = async (element: Locator) => {
    await element.waitFor();
    const focused = element.and(page().locator(':focus'));
    while ((await focused.count()) === 0) {
      await press('Tab');
      // Otherwise the test would go round the page for ever.
      expect(pressed).toBeLessThan(100);
    }
  };

  /** Signs in, and opens what the search leads to. Only the address is given otherwise. */
  async function signInAndFind(role: 'operator' | 'owner', text: string): Promise<void> {
    const key = page().getByLabel('Key of an operator');
    await page().context().clearCookies();
    await opened!.open('#/attention', key);
    pressed = 0;
    await tabTo(key);
    await type(served.keys[role]);
    await press('Enter');
    await page().getByText(`${role}, ${role}`).waitFor();
    await press('/');
    await type(text);
    await press('Enter');
  }

  test('a task is found by its id upstream, cancelled with a reason, and seen refunded', async () => {
    const id = await created('queueing', later);
    await untilJobIs(id, 'open');
    const [{ upstream_id: upstreamId }] = await jobs([id], ['upstream_id']);
    await signInAndFind('operator', upstreamId);
    await page().getByText(`queueing has it as ${upstreamId}`).waitFor();
    await tabTo(button('Cancel'));
    await press('Enter');
    await dialog().getByLabel('Why').waitFor();
    await type('asked by phone');
    await press('Enter');
    await page().getByText('Nothing was charged; all 5.009400 CNY of its hold').waitFor();
    expect(pressed).toBeLessThan(15);
    const { json } = await admin('log --limit 1 --json');
    expect(json).toMatchObject([{ command: `tasks cancel ${id}`, why: 'asked by phone' }]);
  });

  test('a customer is found and credited, and the statement shows the movement', async () => {
    await admin('accounts create --name Zebra --no-key');
    await signInAndFind('owner', 'Zebra');
    await tabTo(button('Credit'));
    await press('Enter');
    await dialog().getByLabel('Amount').waitFor();
    await type('5.00');
    await tabTo(dialog().getByLabel('Reason'));
    await type('top-up');
    await tabTo(dialog().getByLabel('Why'));
    await type('paid by transfer');
    await press('Enter');
    await dialog().getByText('is added to').waitFor();
    await tabTo(dialog().getByRole('button', { name: 'Credit' }));
    await press('Enter');
    await dialog().getByText('It is recorded as').waitFor();
    await press('Escape');
    await tabTo(page().getByRole('link', { name: 'Statement' }));
    await press('Enter');
    const row = page().getByRole('row').filter({ hasText: 'top-up' });
    await row.getByText('5.000000').first().waitFor();
    expect(pressed).toBeLessThan(30);
  });
});

(hasBrowser ? test : test.skip)(
  'the page asks another host only for the video, and only after its content was shown',
  async () => {
    const { page, hosts, complaints } = opened!;
    const id = await created('studio-2.0', { run_s: 0.2 });
    expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
    await opened!.signIn('operator', `#/tasks/${id}`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    const own = new URL(served.url).host;
    expect([...hosts]).toEqual([own]);
    await page.getByRole('button', { name: 'Show content' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('case 7');
    await page.keyboard.press('Enter');
    await page.locator('video').waitFor();
    expect([...hosts]).toEqual([own]);
    const sent = page.waitForResponse((response) => response.url().startsWith(service.url));
    await page.evaluate(
      `Object.assign(document.querySelector('video'), { preload: 'auto' }).load()`,
    );
    expect((await sent).ok()).toBe(true);
    expect([...hosts]).toEqual([own, new URL(service.url).host]);
    expect(complaints).toEqual([]);
  },
);

test('while no worker runs, a new task is not started, and a job is not watched', async () => {
  const id = await created('second', later);
  await untilJobIs(id, 'open');
  await service.stopWorker();
  await opened?.signIn('operator', '#/tasks');
  const fresh = await created('second', later);
  expect(await toldEverywhere(fresh, 'not_started')).toEqual([
    'Accepted N s ago; Temporal has not started it. 1 task of all customers is pending, the oldest for N s.',
  ]);
  await service.db.raw(`update loops set ran_at = now() - interval '7 minutes'`);
  expect(await toldEverywhere(id, 'unwatched')).toEqual(['No worker has asked second since TIME.']);
  expect(opened?.complaints ?? []).toEqual([]);
});
