// Tests the page Usage with a real browser, on random months of three customers: the bars, the table, the
// CSV, the admin API and the command line have the same figures.

import { readFile } from 'node:fs/promises';
import { writeWorld } from '../money/usage-world';
import { adminWith } from '../support/admin';
import { randomFrom, seedOfRun } from '../support/books';
import { type ConsoleInBrowser, describeInBrowser, openConsole } from './in-browser';

const textOf = (date: Date) => date.toISOString().slice(0, 10);
const dayIn = (days: number) => textOf(new Date(Date.now() + 86_400_000 * days));

interface Bar {
  readonly name: string;
  readonly values: Readonly<Record<string, number>>;
}

describeInBrowser('the page Usage', () => {
  let opened: ConsoleInBrowser;
  const admin = adminWith(() => opened.served.environment);
  const random = randomFrom(seedOfRun());

  beforeAll(async () => {
    opened = await openConsole();
    await writeWorld(opened.served.database.db, random, { steps: 300, days: 25 });
  }, 180_000);
  afterAll(() => opened?.close());

  const show = async (query: string) => {
    const { page, served } = opened;
    await page.goto(`${served.url}/#/usage?${query}`);
    await page.getByRole('region', { name: 'Figures' }).waitFor();
  };
  /** The bars as they are drawn. */
  const bars = () =>
    opened.page.evaluate(
      `[...document.querySelectorAll('.bars .bar')].map((bar) => ({
        name: bar.dataset.name,
        values: Object.fromEntries([...bar.querySelectorAll('[data-series]')].map(
          ({ dataset }) => [dataset.series, Number(dataset.value)])),
      }))`,
    ) as Promise<readonly Bar[]>;
  const sumOf = (drawn: readonly Bar[]) =>
    drawn.flatMap(({ values }) => Object.values(values)).reduce((sum, one) => sum + one, 0);
  /** What was charged, by the file that the page offers. */
  const sumOfCsv = async () => {
    const [download] = await Promise.all([
      opened.page.waitForEvent('download'),
      opened.page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-[\d-]{21}\.csv$/);
    const text = await readFile(await download.path(), 'utf8');
    const [head = '', ...rows] = text.trim().split('\r\n');
    const at = head.split(',').indexOf('charged');
    return rows.reduce((sum, row) => sum + micros(row.split(',')[at] ?? ''), 0);
  };
  const micros = (amount: string) => Math.round(Number(amount.replaceAll(',', '')) * 1e6);

  test('the bars, the table, the answer and the command say the same, however they are split', async () => {
    const { page } = opened;
    await opened.signIn('operator', '#/usage');
    const { total, rows } = (await admin('usage --json')).json;
    const { day } = rows.find(({ charged }: { charged: string }) => Number(charged) > 0);
    const ofDay = (await admin(`usage --from ${day} --to ${day} --json`)).json.total;
    for (const by of ['', 'model', 'account', 'key', 'channel']) {
      await show(`by=${by}`);
      const split = by === 'account' ? ' and customer' : by && ` and ${by}`;
      await page.getByRole('img', { name: `Charged by day${split}`, exact: true }).waitFor();
      const drawn = await bars();
      expect(drawn).toHaveLength(30);
      expect(sumOf(drawn)).toBe(micros(total.charged));
      const foot = await page.locator('tfoot td').allTextContents();
      expect(foot.map((text) => text.trim().replaceAll(',', ''))).toEqual([
        ...[total.charged, total.corrected, `${total.tasks}`, `${total.failed}`],
        ...[
          `${total.seconds}`,
          total.cost,
          total.margin,
          expect.stringMatching(`^${total.withoutCost} jobs?$`),
        ],
      ]);
      await show(`by=${by}&from=${day}&to=${day}`);
      await page.getByText(`${day} to ${day}`).waitFor();
      const [bar, ...others] = await bars();
      expect([bar?.name, others]).toEqual([day, []]);
      expect(sumOf([bar as Bar])).toBe(micros(ofDay.charged));
      expect(await sumOfCsv()).toBe(micros(ofDay.charged));
    }
    for (const [measure, expected] of [
      ['tasks', total.tasks],
      ['failed', total.failed],
      ['cost', micros(total.cost)],
      ['margin', micros(total.margin)],
    ]) {
      await show(`measure=${measure}&by=model`);
      await page
        .getByRole('img', { name: new RegExp(`^${measure} by day and model`, 'i') })
        .waitFor();
      expect([measure, sumOf(await bars())]).toEqual([measure, expected]);
    }
  });

  test('jobs without a known cost have their own column, and their cost is never 0', async () => {
    const { page, served } = opened;
    await opened.signIn('operator', '#/usage?by=channel');
    await served.database.db.raw(`update jobs set cost_micros = null where channel = 'kling'`);
    await served.database.db.raw('delete from usage_days');
    await show('by=channel&channel=kling&measure=cost');
    const { total } = (await admin('usage --channel kling --json')).json;
    expect([total.cost, total.withoutCost]).toEqual([null, total.jobs]);
    await page.getByText(`The cost of ${total.jobs} job`).waitFor();
    const foot = await page.locator('tfoot td').allTextContents();
    expect(foot.slice(-3).map((text) => text.trim())).toEqual([
      '–',
      expect.any(String),
      `${total.jobs} jobs`,
    ]);
  });

  test('a split by customer names them, and those with the same name by their ids too', async () => {
    const { page, served } = opened;
    const { db } = served.database;
    const call = (id: string, name: string) => db('accounts').where({ id }).update({ name });
    for (const [id, name] of [
      ['acct_a', 'Anna\u202e & Co'],
      ['acct_b', 'Bert'],
      ['acct_c', 'Bert'],
    ] as const) {
      await call(id, name);
    }
    await opened.signIn('viewer', '#/usage?by=account&per=month');
    await show('by=account&per=month');
    const legend = page.getByRole('img', { name: 'Charged by month and customer' });
    await legend.waitFor();
    const shown = await page.locator('.legend bdi').allTextContents();
    expect(shown.sort()).toEqual(['Anna  & Co', 'Bert (acct_b)', 'Bert (acct_c)']);
    const anna = page.getByRole('region', { name: 'Figures' }).getByRole('link', { name: 'Anna' });
    expect(await anna.first().getAttribute('title')).toBe('acct_a');
    const { json } = await admin('usage --by account --json');
    expect(json.rows).toContainEqual(
      expect.objectContaining({ account: 'acct_b', accountName: 'Bert' }),
    );
    expect((await admin('usage --by account')).out).toMatch(/^acct_b +Bert /m);
    expect((await admin('usage --by account --csv')).out).toMatch(/^acct_b,.*,Bert$/m);
    for (const id of ['acct_a', 'acct_b', 'acct_c']) await call(id, id);
  });

  test('the arrow keys read the figures of each bar', async () => {
    const { page } = opened;
    await opened.signIn('viewer', '#/usage?range=7');
    await show('range=7');
    const chart = page.getByRole('img', { name: 'Charged by day' });
    await chart.focus();
    const [first, second] = await bars();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('status').getByText(`${first?.name}: `).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('status').getByText(`${second?.name}: `).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    const sixth = (await bars()).at(-2)?.name;
    await page.getByRole('status').getByText(`${sixth}: `).waitFor();
  });

  test('a reload, the back button and a link keep what is asked; longer periods get wider bars', async () => {
    const { page } = opened;
    await opened.signIn('viewer', '#/usage?range=90&by=model&measure=tasks');
    await page.getByRole('img', { name: 'Tasks by day and model' }).waitFor();
    await page.getByLabel('Split by').selectOption('account');
    await page.getByRole('img', { name: 'Tasks by day and customer' }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: 'Tasks by day and customer' }).waitFor();
    await page.goBack();
    await page.getByRole('img', { name: 'Tasks by day and model' }).waitFor();
    await page.getByLabel('Days', { exact: true }).selectOption('custom');
    await page.getByLabel('From').fill(dayIn(-300));
    await page.getByRole('img', { name: 'Tasks by week and model' }).waitFor();
    await page.getByLabel('Days', { exact: true }).selectOption('all');
    await page.getByRole('img', { name: 'Tasks by month and model' }).waitFor();
    const model = page.getByLabel('Model', { exact: true });
    await model.fill('none');
    await model.press('Enter');
    await page.getByText('Nothing ended from').waitFor();
    await page.goBack();
    await page.getByRole('img', { name: 'Tasks by month and model' }).waitFor();
    expect(await model.inputValue()).toBe('');
    await show('range=1e9');
    expect(await page.getByLabel('Days', { exact: true }).inputValue()).toBe('30');
  });

  test('the figures lead to the tasks of their days, with the filters of the page', async () => {
    const { page } = opened;
    await opened.signIn('viewer', '#/usage?per=month&by=model&account=acct_a&range=90');
    await page.getByRole('region', { name: 'Figures' }).waitFor();
    const links = (place: string) =>
      page
        .locator(`${place} td[data-label=Tasks] a`)
        .evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
    const queryOf = (href = '') => Object.fromEntries(new URLSearchParams(href.split('?')[1]));
    const row = queryOf((await links('tbody')).at(-1));
    expect(row).toEqual({
      account: 'acct_a',
      ...{ model: expect.stringMatching(/^(one|two)$/), from: expect.any(String) },
      to: expect.any(String),
    });
    const { rows } = (await admin('usage --account acct_a --by month --json')).json;
    const first = `${rows.findLast(({ tasks }: { tasks: number }) => tasks > 0).month}-01`;
    const next = new Date(first);
    next.setUTCMonth(next.getUTCMonth() + 1);
    const tomorrow = dayIn(1);
    // The page shows nothing of the days to come.
    const end = [textOf(next), tomorrow].sort()[0];
    expect([row.from, row.to]).toEqual([first, end]);
    const total = queryOf((await links('tfoot'))[0]);
    expect(total).toEqual({ account: 'acct_a', from: expect.any(String), to: tomorrow });
    expect(Date.parse(row.from ?? '') > Date.parse(total.from ?? '')).toBe(true);
    await page.locator('tfoot td[data-label=Tasks] a').click();
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
    expect(await page.getByLabel('Before').inputValue()).toBe(tomorrow);
    await opened.signIn('viewer', '#/usage?by=channel');
    await page.getByRole('region', { name: 'Figures' }).waitFor();
    expect(await links('tbody')).toEqual([]);
  });

  test('the books say what customers own and were given, and until when they agree', async () => {
    const { page, served } = opened;
    const { db } = served.database;
    await db.raw(
      `insert into loops (kind, ran_at, agreed_until)
       values ('audit', '2027-01-31T10:00:00Z', '2027-01-31T09:55:00Z')`,
    );
    await opened.signIn('viewer', '#/usage?range=90');
    const books = page.getByRole('region', { name: 'Books' });
    await books.getByText('2027-01-31 10:00:00').waitFor();
    await books.getByText('2027-01-31 09:55:00').waitFor();
    const { rows } = await db.raw(
      `select (select sum(available) from balances)::float8 as available,
              (select sum(held) from balances)::float8 as held,
              sum(amount) filter (where kind = 'credit')::float8 as credited,
              sum(case credit when 'available' then amount else -amount end)
                filter (where kind = 'correction')::float8 as corrected from transfers`,
    );
    const shown = (await books.locator('dd').allTextContents()).slice(0, 4);
    const { credited, corrected, available, held } = rows[0];
    expect(shown.map((text) => micros(text.replace(' CNY', '')))).toEqual([
      ...[credited, corrected, available, held],
    ]);
    await books.getByRole('link', { name: 'Log' }).click();
    await page.getByRole('heading', { name: 'Log', exact: true }).waitFor();
    const day = { from: '2020-01-01', to: '2020-01-01' };
    const { json } = await admin(`books --from ${day.from} --to ${day.to} --json`);
    expect(json).toMatchObject({ ...day, credited: '0.000000', corrected: '0.000000' });
  });

  test('a viewer gets no cost, and a lost console is said and found again', async () => {
    const { page } = opened;
    await opened.signIn('viewer', '#/usage?by=channel&measure=cost');
    await page.getByRole('img', { name: 'Charged by day and channel' }).waitFor();
    const measures = await page.getByLabel('Measure').locator('option').allTextContents();
    expect(measures).toEqual(['Charged', 'Tasks', 'Failed', 'Seconds']);
    const answers = await opened.answers();
    expect(answers).toContain('"charged"');
    expect(answers).not.toMatch(/"(cost|margin|percent|lostCost)"/);
    await page.route('**/admin/v1/usage?**', (route) => route.abort());
    await page.getByLabel('Measure').selectOption('tasks');
    await page.getByLabel('Split by').selectOption('model');
    await page.getByText('The console cannot be reached.').waitFor();
    await page.unroute('**/admin/v1/usage?**');
    await page.getByRole('img', { name: 'Tasks by day and model' }).waitFor();
  });

  test('axe finds no violation in any state, and nothing complained', async () => {
    const { page, served } = opened;
    await opened.signIn('operator', '#/usage');
    const go = (query: string) => page.goto(`${served.url}/#/usage?${query}`);
    const found = await opened.violations({
      filled: async () => {
        await show('by=model&measure=margin');
        await page.getByRole('img', { name: 'Margin by day and model' }).hover();
      },
      accounts: async () => {
        await show('by=account&range=7');
        await page.getByRole('img', { name: 'Charged by day and customer' }).waitFor();
      },
      refused: async () => {
        await go('account=nobody');
        await page.getByText('There is no account nobody').waitFor();
      },
    });
    expect(found).toEqual([]);
    expect(opened.complaints).toEqual([]);
    expect(opened.hosts.size).toBe(1);
  });
});
