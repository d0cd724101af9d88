// Every page of the console without what it shows: while it waits, away, refused, away after it was
// shown, and with nothing to show. axe finds nothing in any of them. The tests of the pages do the same
// with what they show.

import { readFileSync } from 'node:fs';
import type { Locator, Page, Route } from 'playwright-core';
import { closeTask } from '../../src/money/ledger.rows';
import { adminWith } from '../support/admin';
import { aClosing, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { sized } from '../support/sized';
import { until } from '../support/until';
import {
  type ConsoleInBrowser,
  describeInBrowser,
  everyLook,
  type Look,
  openConsole,
} from './in-browser';

// In each run one look at a state, in turn, so that each page and each kind of state gets both: what a page
// says of its state has the same colours and the same parts on each page. In the long run every look.
const inTurn = [
  { width: 360, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const;
const looksAt = sized<(index: number) => readonly Look[]>({
  each: (index) => [inTurn[index % 2]!],
  long: () => everyLook,
});

/** A page, and which calls are answered whatever becomes of the others, so that its parts are there. */
interface View {
  readonly hash: string;
  readonly answered?: RegExp;
}
type Lead = readonly [state: string, lead: () => Promise<void>];
type Answer = (route: Route) => unknown;
type State = 'waits' | 'is away' | 'is refused';

const forbidden = { code: 'forbidden', message: 'This needs the role owner; you are a viewer.' };
const me = /\/me$/;
const nothing = /^$/;

describeInBrowser('the pages of the console without what they show', () => {
  let opened: ConsoleInBrowser;
  let page: ConsoleInBrowser['page'];
  let accountId: string;
  let liveTask: string;
  let endedTask: string;
  const admin = adminWith(() => opened.served.environment);
  const db = () => opened.served.database.db;

  const asUsual: Answer = (route) => route.continue();
  const held: Route[] = [];
  let answer: Answer = asUsual;
  let answered = nothing;
  const answers: Readonly<Record<State, Answer>> = {
    waits: (route) => held.push(route),
    'is away': (route) => route.abort(),
    'is refused': (route) => route.fulfill({ status: 403, json: { error: forbidden } }),
  };

  beforeAll(async () => {
    opened = await openConsole();
    ({ page } = opened);
    const name = 'Advertising and Film Production Company Limited';
    const made = ['accounts', 'create', '--name', name, '--credit', '100', '--json'];
    accountId = (await admin(made)).json.accountId;
    liveTask = aTaskId();
    await openNew(db(), anOpening(accountId, liveTask, 1_000_000));
    const charged = aTaskId();
    await openNew(db(), anOpening(accountId, charged, 1_000_000));
    await closeTask(db(), aClosing(charged, 1_000_000, 900_000));
    const { database } = opened.served;
    endedTask = await aFinalTask(database, 'https://hooks.example.com/in', { accountId });
    await opened.signIn('owner', '#/attention');
    await page.route(/\/(admin\/v1\/.*|session)$/, (route) =>
      answered.test(new URL(route.request().url()).pathname) ? asUsual(route) : answer(route),
    );
  });
  afterAll(() => opened?.close());

  /** From now on calls are answered so, also those that wait. */
  async function answerAs(next: Answer, always = me): Promise<void> {
    [answer, answered] = [next, always];
    for (const route of held.splice(0)) await route.abort();
  }

  /** Shows the page anew while its calls are answered so. */
  async function show({ hash, answered: always }: View, as: Answer): Promise<void> {
    const before = page.getByRole('heading', { name: 'Nothing here' });
    await answerAs(asUsual);
    await page.goto(`${opened.served.url}/#/nothing`);
    await before.waitFor();
    await answerAs(as, always);
    await page.goto(`${opened.served.url}/${hash}`);
    await before.waitFor({ state: 'detached' });
  }

  /** How many parts of the page wait, and how many say what is wrong. */
  const counts = () =>
    page.evaluate(
      `['.boot', ':is(p.fault, .banner)'].map((one) => document.querySelectorAll('main ' + one).length)`,
    ) as Promise<[waiting: number, said: number]>;
  const isIn: Readonly<Record<State, (waiting: number, said: number) => boolean>> = {
    waits: (waiting, said) => waiting > 0 && said === 0,
    // Each part that waits says why.
    'is away': (waiting, said) => waiting > 0 && said === waiting,
    'is refused': (waiting, said) => waiting === 0 && said > 0,
  };
  const untilIn = (name: string, state: State) =>
    until(`${name} ${state}`, async () => isIn[state](...(await counts())));
  const untilShown = (name: string) =>
    until(`${name} is shown`, async () => String(await counts()) === '0,0');

  const violations = (leads: readonly Lead[]) =>
    opened.violations(Object.fromEntries(leads), looksAt);

  const pages = (): Readonly<Record<string, View>> => ({
    attention: { hash: '#/attention' },
    tasks: { hash: '#/tasks' },
    task: { hash: `#/tasks/${liveTask}` },
    customers: { hash: '#/customers' },
    customer: { hash: `#/customers/${accountId}` },
    usage: { hash: '#/usage' },
    channels: { hash: '#/channels' },
    callbacks: { hash: '#/callbacks' },
    log: { hash: '#/log' },
  });
  const others = (): Readonly<Record<string, View>> => ({
    search: { hash: '#/find?q=elsewhere' },
    callback: { hash: `#/tasks/${endedTask}`, answered: /\/(me|tasks\/task_\w+)$/ },
  });
  const tabs = (): Readonly<Record<string, View>> => {
    const named = {
      overview: 'overview',
      'tasks of a customer': 'tasks',
      statement: `statement&month=${new Date().toISOString().slice(0, 7)}`,
      keys: 'keys',
      webhooks: 'webhooks',
      'acts on a customer': 'log',
    };
    const answers = /\/(me|accounts\/acct_\w+)$/;
    const views = Object.entries(named).map(([name, tab]) => {
      return [name, { hash: `#/customers/${accountId}?tab=${tab}`, answered: answers }] as const;
    });
    return Object.fromEntries(views);
  };

  test('every page of the console is among them', () => {
    const views = readFileSync('public/console/app.js', 'utf8').matchAll(/\bview === '(\w+)'/g);
    const shown = Object.values({ ...pages(), ...others() }).map(
      ({ hash }) => hash.split(/[/?]/)[1],
    );
    expect(new Set([...views].map(([, view]) => view))).toEqual(new Set(shown));
  });

  test('axe finds no violation while a page or a part of it waits, is away or is refused', async () => {
    const views = Object.entries({ ...pages(), ...tabs(), ...others() });
    const leads = views.flatMap(([name, view]) => {
      const next = (state: State) => async () => {
        await answerAs(answers[state], view.answered);
        await opened.passes(6_000);
        await untilIn(name, state);
      };
      const first = async () => {
        await show(view, answers.waits);
        await untilIn(name, 'waits');
      };
      return [
        [`${name} waits`, first],
        [`${name} is away`, next('is away')],
        [`${name} is refused`, next('is refused')],
      ] as const;
    });
    expect(await violations(leads)).toEqual([]);
  });

  test('axe finds no violation in what was shown before the console was away', async () => {
    const leads = Object.entries({ ...pages(), ...tabs() }).map(
      ([name, view]): Lead => [
        `${name} is away later`,
        async () => {
          await show(view, asUsual);
          await untilShown(name);
          await answerAs(answers['is away'], view.answered);
          await opened.passes(61_000);
          await page.locator('main :is(.banner, p.fault)').first().waitFor();
          expect((await counts())[0]).toBe(0);
        },
      ],
    );
    expect(await violations(leads)).toEqual([]);
  });

  test('axe finds no violation where nothing is to be shown', async () => {
    await db().raw(
      `insert into loops (kind, channel, ran_at, agreed_until)
       values ('reconciler', '', now(), null), ('audit', '', now(), now()),
              ('watcher', 'studio', now(), null)
       on conflict (kind, channel) do update
          set ran_at = excluded.ran_at, agreed_until = excluded.agreed_until`,
    );
    await db().raw('update usage_state set until = now()');
    const { accountId: id } = (await admin('accounts create --name Empty --no-key --json')).json;
    const emptied = (data: object) =>
      Array.isArray(data)
        ? []
        : Object.fromEntries(
            Object.entries(data).map(([name, value]) => [name, Array.isArray(value) ? [] : value]),
          );
    const withoutChannels: Answer = async (route) => {
      if (!/\/(channels|catalogue)$/.test(route.request().url())) return route.continue();
      const { data } = await (await route.fetch()).json();
      return route.fulfill({ json: { data: emptied(data) } });
    };
    const views: Readonly<Record<string, readonly [hash: string, said: string, as?: Answer]>> = {
      attention: ['#/attention', 'Nothing needs you.'],
      tasks: ['#/tasks?model=none', 'No task has these filters.'],
      customers: ['#/customers?find=nobody', 'No customer has these filters.'],
      'low balances': ['#/customers?low=true', 'No customer has these filters.'],
      usage: ['#/usage?channel=none', 'Nothing ended from'],
      channels: ['#/channels', 'The catalogue has no channel', withoutChannels],
      log: ['#/log?who=nobody', 'No act has these filters.'],
      callbacks: ['#/callbacks?state=stopped', 'None was stopped.'],
      search: ['#/find?q=elsewhere', 'Nothing has this id or name.'],
      'a search for a secret': ['#/find', 'they stay in your browser'],
      overview: [`#/customers/${id}`, 'It has no tasks yet.'],
      'tasks of a customer': [`#/customers/${id}?tab=tasks`, 'No task has these filters.'],
      statement: [`#/customers/${id}?tab=statement`, 'No money has moved yet.'],
      keys: [`#/customers/${id}?tab=keys`, 'It has no key'],
      webhooks: [`#/customers/${id}?tab=webhooks`, 'None was delivered yet.'],
      'acts on a customer': [`#/customers/${id}?tab=log&who=nobody`, 'No act has these filters.'],
    };
    const leads = Object.entries(views).map(
      ([name, [hash, said, as = asUsual]]): Lead => [
        `${name} is empty`,
        async () => {
          await show({ hash }, as);
          await page.getByText(said).waitFor();
          await untilShown(name);
        },
      ],
    );
    expect(await violations(leads)).toEqual([]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const unreached = 'The console cannot be reached.';
  const untilSaid = async (state: State, waiting: Locator, within: Page | Locator) => {
    if (state === 'waits') await waiting.waitFor();
    if (state === 'is away') await within.getByText(unreached).waitFor();
    if (state === 'is refused') await within.getByText(forbidden.message).waitFor();
  };

  test('axe finds no violation in a dialog and in forms that wait, are away or refused', async () => {
    const dialog = page.getByRole('dialog');
    const inDialog = (state: State) => async () => {
      await show({ hash: `#/tasks/${liveTask}` }, asUsual);
      await button('Cancel').click();
      await dialog.getByLabel('Why').fill('asked');
      await answerAs(answers[state]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await untilSaid(state, dialog.locator('[aria-busy=true]'), dialog);
    };
    const inForms = (state: State) => async () => {
      await show({ hash: '#/channels' }, asUsual);
      await page.getByRole('region', { name: 'Catalogue' }).getByRole('table').waitFor();
      await answerAs(answers[state]);
      await button('Plan it').click();
      await page.getByLabel('The whole changed catalogue').fill('a: 1');
      await button('Preview').click();
      await button('Test now: studio').click();
      const words = state === 'is away' ? unreached : forbidden.message;
      await until(
        'all three say it',
        async () => (await page.locator('main :is(form, li)').getByText(words).count()) === 3,
      );
    };
    const withoutFile = async () => {
      const isFile = (route: Route) => route.request().url().includes('format=csv');
      await show({ hash: '#/tasks' }, (route) =>
        isFile(route) ? answers['is refused'](route) : asUsual(route),
      );
      await button('CSV').click();
      await page.getByText(forbidden.message).waitFor();
    };
    expect(
      await violations([
        ['a dialog waits', inDialog('waits')],
        ['a dialog is away', inDialog('is away')],
        ['a dialog is refused', inDialog('is refused')],
        ['forms are away', inForms('is away')],
        ['forms are refused', inForms('is refused')],
        ['a file is refused', withoutFile],
      ]),
    ).toEqual([]);
  });

  test('axe finds no violation while the frame and the sign-in wait, are away or refused', async () => {
    const label = page.getByLabel('Key of an operator');
    const inFrame = (state: State) => async () => {
      await answerAs(answers[state], nothing);
      // Who is signed in is asked when the page is loaded.
      await page.goto('about:blank');
      await page.goto(`${opened.served.url}/#/tasks`);
      await untilIn('the frame', state);
    };
    const inSignIn = (state: State) => async () => {
      await answerAs(asUsual);
      await page.context().clearCookies();
      await opened.open('#/tasks', label);
      await answerAs(answers[state], nothing);
      await label.fill('vo_of_nobody');
      await button('Sign in').click();
      await untilSaid(state, button('Signing in…'), page);
    };
    expect(
      await violations([
        ['the frame waits', inFrame('waits')],
        ['the frame is away', inFrame('is away')],
        ['the frame is refused', inFrame('is refused')],
        ['the sign-in waits', inSignIn('waits')],
        ['the sign-in is away', inSignIn('is away')],
        ['the sign-in is refused', inSignIn('is refused')],
      ]),
    ).toEqual([]);
  });

  test('nothing complained, and no other host was asked', () => {
    expect(opened.complaints).toEqual([]);
    expect([...opened.hosts]).toEqual([new URL(opened.served.url).host]);
  });
});
