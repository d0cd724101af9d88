// Texts that a customer, an operator, a provider or a receiver of callbacks may write, each of them an
// attack: on every page of the console and of the customer they are shown as text, and in every CSV file
// they are no formula.

import { readFileSync } from 'node:fs';
import { routes } from '../../src/console/routes';
import { closeTask } from '../../src/money/ledger.rows';
import { untilRead } from '../playground/browser';
import { adminWith } from '../support/admin';
import { startApi, type TestApi, textBody } from '../support/api';
import { aClosing } from '../support/books';
import { catalogueText } from '../support/catalogue';
import { startConsole } from '../support/console';
import { call } from '../support/service';
import { cellsIn, formulasIn } from '../support/spreadsheet';
import { until } from '../support/until';
import { browse, type ConsoleInBrowser, describeInBrowser } from './in-browser';

const attack = '"><img src=//evil.test onerror=alert(1)>';
const hostile = (field: string, charsMax = 200) =>
  `=${field}${attack};"=1+1;<script>alert(2)</script>javascript:alert(3)\u202e`.slice(0, charsMax);
/** An address has no spaces. */
const hostileUrl = (field: string) =>
  `https://hooks.example.com/=${field}"><img/src=//evil.test/onerror=alert(1)>javascript:alert(3)`;

/** What is drawn last is named for a page that shows none of the fields. */
type Visit = readonly [hash: string, fields: readonly string[], drawn?: string];

const month = new Date().toISOString().slice(0, 7);

describeInBrowser('hostile texts', () => {
  let api: TestApi;
  let site: ConsoleInBrowser;
  let accountId: string;
  let apiKey: string;
  let made: Awaited<ReturnType<typeof tasksOf>>;
  const dialogs: string[] = [];
  const admin = adminWith(() => site.served.environment);

  beforeAll(async () => {
    api = await startApi({ playground: true });
    site = await browse(
      await startConsole({ known: { database: api.database }, settings: { PUBLIC_URL: api.url } }),
    );
    site.page.on('dialog', (shown) => {
      dialogs.push(shown.message());
      void shown.dismiss();
    });
    await writeAsOperator();
    made = await tasksOf();
    await writeAsCustomer();
    await writeAsReceiver();
  });
  afterAll(async () => {
    await site?.close();
    await site?.served.close();
    await api?.close();
  });

  async function writeAsOperator(): Promise<void> {
    const as = ['--as', hostile('operator'), '--why', hostile('why')];
    const account = ['accounts', 'create', '--name', hostile('account'), '--no-key', '--json'];
    accountId = (await admin([...account, ...as])).json.accountId;
    const key = ['keys', 'create', '--account', accountId, '--name', hostile('key')];
    apiKey = (await admin([...key, '--manages-keys', '--json'])).json.apiKey;
    const texts = ['--reference', hostile('reference'), '--reason', hostile('reason')];
    await admin(['accounts', 'credit', accountId, '100', ...texts]);
    await admin([
      'channels',
      'pause',
      'studio',
      '--as',
      hostile('operator'),
      '--why',
      hostile('pause'),
    ]);
    const operator = ['operators', 'add', '--name', hostile('colleague'), '--role', 'viewer'];
    const { json } = await admin([...operator, '--json']);
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    const signedIn = await site.served.call(
      'POST',
      '/session',
      headers,
      JSON.stringify({ key: json.key }),
    );
    expect(signedIn.status).toBe(204);
  }

  const send = (method: string, path: string, body: object) =>
    call(api.url, apiKey, method, path, body);

  /** Tasks of the customer, with what a provider may answer: one that waits, and others in each state. */
  async function tasksOf() {
    const labels = { team: hostile('label', 64) };
    const create = async () => {
      const metadata = { labels, callback_url: hostileUrl('callback'), note: hostile('metadata') };
      const prompt = hostile('prompt').padEnd(9_000, 'W');
      const { status, json } = await send('POST', '/v1/videos/generations', {
        ...{ ...textBody, image: hostileUrl('image') },
        prompt,
        metadata,
      });
      expect([status, json]).toEqual([200, json]);
      await api.opened(json.id);
      return json.id as string;
    };
    const change = (id: string, row: object) => api.db('jobs').where({ task_id: id }).update(row);
    const none = { owes: null, due_at: null };
    const [waiting, live, failed, done] = [
      await create(),
      await create(),
      await create(),
      await create(),
    ];
    await change(waiting, {
      ...none,
      state: 'waiting',
      channels: ['studio'],
      waiting_since: new Date(),
    });
    const at = { ...none, channel: 'studio', opened_at: new Date() };
    await change(live, { ...at, state: 'open', upstream_id: hostile('live') });
    await api.db.raw('update loops set ran_at = now()');
    await api.finish(failed);
    const failure = { code: hostile('code', 100), sentence: 'It failed.' };
    const report = { kind: 'generation', upstreamId: hostile('failed'), status: 'failed', failure };
    const row = {
      ...at,
      state: 'closed',
      upstream_id: hostile('failed'),
      status: 'failed',
      report,
    };
    await change(failed, { ...row, refusal: failure });
    const input = api.temporal.submitted.find(({ taskId }) => taskId === done)!;
    const held = input.plan.hold.amountMicros;
    const closing = aClosing(done, held, held);
    const [video] = closing.object.data;
    const shown = {
      url: `${api.url}/files/none`,
      resolution: hostile('resolution', 100),
      ratio: hostile('ratio', 100),
    };
    const object = {
      ...closing.object,
      labels,
      data: [{ ...video, ...shown }],
      video_url: shown.url,
    };
    await closeTask(api.db, { ...closing, object: object as typeof closing.object });
    return { waiting, live, failed, done };
  }

  async function writeAsCustomer(): Promise<void> {
    const events = ['succeeded', 'balance.low'];
    const hook = await send('POST', '/v1/webhooks', { url: hostileUrl('webhook'), events });
    const key = await send('POST', '/v1/account/keys', { name: hostile('own') });
    const png = new Blob([readFileSync('studio/assets/placeholder.png')]);
    const form = new FormData();
    // What stands before a slash is no part of a name.
    form.set('file', png, hostile('file').replaceAll('/', ''));
    const headers = { authorization: `Bearer ${apiKey}` };
    const file = await fetch(`${api.url}/v1/files`, { method: 'POST', headers, body: form });
    expect([hook.status, key.status, file.status]).toEqual([201, 201, 200]);
  }

  async function writeAsReceiver(): Promise<void> {
    await api.db('callback_attempts').insert({
      ...{ task_id: made.done, delivery: 1, attempt: 1, at: new Date(), status: 500 },
      ...{ latency_ms: 12, error: 'HTTP 500', reply: hostile('reply') },
    });
    await api.db('callbacks').where({ task_id: made.done }).update({ state: 'exhausted' });
  }

  /** Waits until the page shows this element, and the attacks of these fields as text. */
  async function shows(where: string, fields: readonly string[], drawn = 'h1'): Promise<void> {
    const { page } = site;
    await page.locator(drawn).first().waitFor();
    await untilRead(page);
    await until(`${where} shows ${fields.join(', ')}`, async () => {
      const seen = (await page.locator('body').textContent()) ?? '';
      // JSON escapes a quote, and a form the one in the name of its file.
      const text = seen.replaceAll(/\\"|%22/g, '"');
      return fields.every((field) => text.includes(`=${field}"><img`));
    });
    const injected =
      'document.querySelectorAll(\'img[src*="evil"], script:not([src]), [onerror], [href^="javascript:" i]\').length';
    const isWide = 'document.documentElement.scrollWidth > innerWidth';
    await page.setViewportSize({ width: 360, height: 900 });
    const isWideOnPhone = await page.evaluate(isWide);
    await page.setViewportSize({ width: 1280, height: 900 });
    const found = [await page.evaluate(injected), await page.evaluate(isWide), isWideOnPhone];
    expect([where, found]).toEqual([where, [0, false, false]]);
  }

  test('the console shows them as text', async () => {
    const { page, served } = site;
    await site.signIn('owner', '#/attention');
    const customer = `#/customers/${accountId}`;
    const figuresBy = (name: string) => `[aria-label=Figures] th:has-text("${name}")`;
    const visits: readonly Visit[] = [
      ['#/attention', ['pause', 'operator']],
      ['#/tasks', ['account'], `main:has(h1:text-is("Tasks")) a[href="#/tasks/${made.done}"]`],
      [`#/tasks/${made.waiting}`, ['account', 'pause', 'operator', 'label']],
      [`#/tasks/${made.live}`, ['live']],
      [`#/tasks/${made.failed}`, ['code', 'failed', 'callback']],
      [`#/tasks/${made.done}`, ['label', 'callback', 'reply']],
      ['#/customers', ['account']],
      [customer, ['account']],
      [`${customer}?tab=tasks`, ['account']],
      [`${customer}?tab=statement&month=${month}`, ['account', 'reason']],
      [`${customer}?tab=keys`, ['account', 'key', 'own']],
      [`${customer}?tab=webhooks`, ['account', 'webhook']],
      [`${customer}?tab=log`, ['account', 'operator', 'why', 'key', 'reference', 'reason']],
      ['#/usage?by=key', [], figuresBy('Key')],
      ['#/usage?by=account', [], figuresBy('Customer')],
      ['#/channels', ['pause', 'operator']],
      ['#/log', ['colleague', 'operator', 'why', 'account', 'pause']],
      [`#/find?q=${encodeURIComponent(hostile('account'))}`, ['account']],
    ];
    for (const [hash, fields, drawn] of visits) {
      await page.goto(`${served.url}/${hash}`);
      await shows(hash, fields, drawn);
    }
  });

  test('what a customer wrote, and a pasted catalogue and create, are shown as text', async () => {
    const { page, served } = site;
    await site.signIn('owner', `#/tasks/${made.done}`);
    await page.getByRole('button', { name: 'Show content' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill(hostile('why'));
    await page.keyboard.press('Enter');
    await shows('content', ['prompt', 'image', 'metadata', 'label', 'callback']);
    await page.goto(`${served.url}/#/channels`);
    const preview = page.getByRole('region', { name: 'Preview of a changed catalogue' });
    const paste = async (text: string) => {
      await preview.getByLabel('The whole changed catalogue').fill(text);
      await preview.getByRole('button', { name: 'Preview' }).click();
    };
    const named = (from: string, to: string) =>
      catalogueText.replace(`\n  ${from}:`, `\n  ${JSON.stringify(hostile(to))}:`);
    await paste(named('studio-1.0', 'model'));
    await shows('a preview', ['model']);
    await paste(named('studio', 'channel'));
    await shows('a broken preview', ['channel']);
    const routesOf = page.getByRole('region', { name: 'What would this create cost' });
    await routesOf
      .getByLabel('Body of the create')
      .fill(JSON.stringify({ model: hostile('sold'), prompt: 'x' }));
    await routesOf.getByRole('button', { name: 'Plan it' }).click();
    await shows('what a create costs', ['sold']);
  });

  test('the page of the customer shows them as text', async () => {
    const { page } = site;
    await page.goto(api.url);
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('[data-test=hold]').waitFor();
    const visits: readonly Visit[] = [
      ['#/tasks', [], `main.list a[href="#/tasks/${made.done}"]`],
      [`#/tasks/${made.live}`, ['prompt', 'label']],
      [`#/tasks/${made.failed}`, ['prompt', 'label']],
      [`#/tasks/${made.done}`, ['prompt', 'label', 'resolution', 'ratio']],
      ['#/library', ['file']],
      ['#/account', ['reason']],
      ['#/account/usage', [], '[aria-label=Usage] table'],
      ['#/account/months', [], '[aria-label=Month] table'],
      ['#/account/webhooks', ['webhook']],
      ['#/account/alerts', [], '[aria-label=Alerts] form'],
      ['#/account/keys', ['key', 'own']],
    ];
    for (const [hash, fields, drawn] of visits) {
      await page.goto(`${api.url}/${hash}`);
      await shows(hash, fields, drawn);
    }
  });

  test('no cell of a CSV file is a formula', async () => {
    const fields = new Set<string>();
    const read = (csv: string) => {
      const cells = cellsIn(csv);
      expect(cells.length).toBeGreaterThan(10);
      expect(formulasIn(csv)).toEqual([]);
      for (const cell of cells) {
        const field = /^'=(\w+)/.exec(cell)?.[1];
        if (field) fields.add(field);
      }
    };
    const lists = routes.filter(({ http }) => http.csv);
    expect(lists.length).toBeGreaterThan(5);
    for (const { path } of lists) {
      const filled = path.replace('/admin/v1', '').replace(':ID', accountId);
      const asked = {
        '/callbacks': `&account=${accountId}`,
        [`/accounts/${accountId}/summary`]: `&month=${month}`,
        '/usage': '&by=account,model,key,channel',
      };
      const query = asked[filled as keyof typeof asked] ?? '';
      read((await site.served.as('owner', 'GET', `${filled}?format=csv${query}`)).text);
    }
    for (const path of [
      '/account/statement',
      '/usage?by=model,key',
      `/account/summaries/${month}`,
    ]) {
      const headers = { accept: 'text/csv' };
      read((await call(api.url, apiKey, 'GET', `/v1${path}`, undefined, headers)).text);
    }
    expect([...fields].sort()).toEqual([
      'account',
      'colleague',
      'key',
      'operator',
      'own',
      'pause',
      'reason',
      'why',
    ]);
  });

  test('nothing ran, nothing was reported, and no other host was asked', () => {
    expect(dialogs).toEqual([]);
    expect(site.complaints).toEqual([]);
    // Links to files begin with the public address, which is http://localhost.
    const known = ['localhost', new URL(site.served.url).host, new URL(api.url).host];
    expect([...site.hosts].sort()).toEqual(known.sort());
  });
});
