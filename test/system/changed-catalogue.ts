// Changes the catalogue while there are tasks in every state. The API and the worker read the
// change one after the other. Each case has its own channels, model and provider, so that all cases
// run at the same time.

import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import type { Catalogue, Channel } from '../../src/catalogue/catalogue.rules';
import { findTask } from '../../src/tasks/tasks.rows';
import { type PlayedArk, type PlayedJob, startPlayedArk } from '../support/played-ark';
import { cancelTask, type Service, startService, type TaskReply } from '../support/service';
import { until } from '../support/until';

// This limit only ends a test that hangs. It exceeds `requestTimeoutMs`, because an interrupted
// create is looked up only after that timeout.
const withinMs = 600_000;

export type Side = 'api' | 'worker';
type Edit = (catalogue: Catalogue, own: Own) => Catalogue;

/** The names that belong to one case. */
export interface Own {
  readonly name: string;
  readonly model: string;
  /** The channel that the case changes. */
  readonly a: string;
  /** A second channel with one slot. If `hasOther` is set, another task has this slot. */
  readonly b: string;
  readonly ark: PlayedArk;
  /** The same provider at another address. */
  readonly moved: PlayedArk;
}

export interface Case {
  readonly name: string;
  readonly first: Side;
  readonly slots: number | null;
  readonly edit: Edit;
  /** The channel `b` can serve the model too. */
  readonly hasOther?: boolean;
  /** The change frees slots, so that the waiting tasks get slots. */
  readonly freesSlots?: boolean;
  /** The change that repairs the catalogue at the end. The API and the worker read it together. */
  readonly mend?: Edit;
  /** The states of the tasks that the customer cancels before `mend`. */
  readonly cancelled?: readonly Part[];
}

/** The state of a task's job when the catalogue changes. */
export type Part = 'reported' | 'open' | 'sending' | 'waiting' | 'waiting too' | 'newcomer';

export interface Played {
  readonly own: Own;
  /** Undefined if the create was refused. */
  readonly tasks: ReadonlyMap<Part, TaskReply>;
}

export const setChannel =
  (channel: 'a' | 'b', change: Partial<Channel> | null): Edit =>
  (catalogue, own) => {
    const { [own[channel]]: entry, ...others } = catalogue.channels;
    const channels = change ? { ...others, [own[channel]]: { ...entry!, ...change } } : others;
    return { ...catalogue, channels };
  };

export const setModel =
  (channelsOf: ((own: Own) => readonly string[]) | null): Edit =>
  (catalogue, own) => {
    const { [own.model]: entry, ...others } = catalogue.models;
    if (!channelsOf) return { ...catalogue, models: others };
    const channels = channelsOf(own).map((channel) => ({ channel, upstreamModel: 'played' }));
    return { ...catalogue, models: { ...others, [own.model]: { ...entry!, channels } } };
  };

export const addChannel =
  (name: (own: Own) => string): Edit =>
  (catalogue, own) => {
    const channel = channelOf(name(own), own.ark.url, 2);
    return { ...catalogue, channels: { ...catalogue.channels, [channel.id]: channel } };
  };

export const inTurn =
  (...edits: readonly Edit[]): Edit =>
  (catalogue, own) =>
    edits.reduce((edited, edit) => edit(edited, own), catalogue);

function channelOf(id: string, baseUrl: string, slots: number | null): Channel {
  return {
    id,
    protocol: 'ark',
    baseUrl,
    apiKeyEnv: 'OLD_KEY',
    // The test holds one create open, on a slow machine for minutes. The timeout must be longer.
    requestTimeoutMs: 400_000,
    pollIntervalMs: 1_000,
    jobsInFlightMax: slots,
    honoursIdempotencyKey: false,
    hasList: true,
    listLagMs: 1_000,
  };
}

/** One case while it runs, with its tasks and its provider. */
class Actor {
  readonly tasks = new Map<Part | 'other', string | undefined>();
  private readonly finished = new Set<string>();
  private isOver = false;
  private letGo: () => void = () => undefined;
  private readonly released = new Promise<void>((resolve) => {
    this.letGo = resolve;
  });

  constructor(
    private readonly service: Service,
    readonly played: Case,
    readonly own: Own,
  ) {
    const onCreate = async (body: Record<string, unknown>) => {
      if (JSON.stringify(body.content).includes('"sending"')) await this.released;
      return 'answer' as const;
    };
    const echo = (job: PlayedJob) =>
      this.isOver || this.finished.has(job.id)
        ? made(job, own.ark.url)
        : { ...job, status: 'running' };
    for (const ark of [own.ark, own.moved]) Object.assign(ark, { onCreate, echo });
  }

  async create(part: Part | 'other'): Promise<void> {
    const body = { model: this.own.model, prompt: part, ratio: '16:9', resolution: '720p' };
    const { status, json } = await this.service.create({ ...body, metadata: {} });
    this.tasks.set(part, status === 200 ? json.id : undefined);
  }

  async jobOf(part: Part | 'other'): Promise<{ state: string; upstream_id: string | null }> {
    const { rows } = await this.service.db.raw<{
      rows: { state: string; upstream_id: string | null }[];
    }>('select state, upstream_id from jobs where task_id = ?', [this.tasks.get(part) ?? '']);
    return rows[0] ?? { state: 'none', upstream_id: null };
  }

  comesTo(part: Part | 'other', ...states: readonly string[]): Promise<void> {
    const isThere = async () => states.includes((await this.jobOf(part)).state);
    return this.waitUntil(`${part} is ${states[0]}`, isThere);
  }

  isShownRunning(part: Part): Promise<void> {
    return this.waitUntil(`${part} runs`, async () => {
      const id = this.tasks.get(part) ?? '';
      return (await findTask(this.service.db, id))?.status === 'running';
    });
  }

  /** All cases poll at the same time, so each case waits 200 ms before each poll. */
  private waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const asked = async () => {
      await setTimeout(200);
      return isSo();
    };
    return until(`${this.own.name}: ${what}`, asked, withinMs);
  }

  /** Lets the provider report the success of this task's job. */
  async finish(part: Part): Promise<void> {
    this.finished.add((await this.jobOf(part)).upstream_id ?? '');
  }

  /** Answers the create that is held open. From now on, each job succeeds at once. */
  end(): void {
    this.isOver = true;
    this.letGo();
  }
}

function made(job: PlayedJob, url: string): PlayedJob {
  const content = { video_url: `${url}/video.mp4` };
  const usage = { completion_tokens: 100_000 };
  return { ...job, status: 'succeeded', content, usage, updated_at: job.created_at };
}

/** Runs all cases at the same time. Each accepted task is final when the promise resolves. */
export async function playAll(cases: readonly Case[]): Promise<{
  readonly service: Service;
  readonly played: readonly Played[];
  close(): Promise<void>;
}> {
  const owns = await Promise.all(cases.map((_, number) => ownOf(cases, number)));
  const edits = { api: [] as number[], worker: [] as number[] };
  let shipped: Catalogue | undefined;
  const service = await startService({
    reconcileIntervalSeconds: 5,
    allowHosts: owns.map(({ ark }) => new URL(ark.url).host),
    channelKeys: { OLD_KEY: 'old', NEW_KEY: 'new' },
    catalogue: (catalogue) => {
      shipped = withCases(catalogue, cases, owns);
      return shipped;
    },
  });
  const read = (side: Side) => {
    const edited = edits[side].reduce((catalogue, number) => {
      return cases[number]!.edit(catalogue, owns[number]!);
    }, shipped!);
    service.catalogues[side] = edited;
  };
  const change = (number: number, side: Side) => edits[side].push(number);
  const actors = cases.map((one, number) => new Actor(service, one, owns[number]!));
  const all = (act: (actor: Actor) => Promise<unknown>) => Promise.all(actors.map(act));

  const letClose = await takeUp(service, actors);
  for (const [number, { first }] of cases.entries()) change(number, first);
  read('api');
  read('worker');
  await all((actor) => actor.create('newcomer'));
  // Eight seconds are enough for several rounds of each watcher and for a run of the reconciler.
  await setTimeout(8_000);
  for (const [number, { first }] of cases.entries()) {
    change(number, first === 'api' ? 'worker' : 'api');
  }
  read('api');
  read('worker');
  await all(async (actor) => {
    if (!actor.played.freesSlots) return;
    await actor.comesTo('waiting', 'open');
    await actor.comesTo('waiting too', 'open');
  });
  await letClose();
  for (const actor of actors) actor.end();
  await all((actor) =>
    Promise.all(
      (actor.played.cancelled ?? []).map(async (part) => {
        if (part === 'sending') await actor.comesTo(part, 'open');
        const id = actor.tasks.get(part);
        await cancelTask(service.call, id);
        await service.finished(id!, withinMs);
      }),
    ),
  );
  for (const side of ['api', 'worker'] as const) {
    service.catalogues[side] = cases.reduce((catalogue, { mend }, number) => {
      return mend ? mend(catalogue, owns[number]!) : catalogue;
    }, service.catalogues[side]);
  }
  const played = await all(async ({ own, tasks }) => {
    const ended = [...tasks].map(async ([part, id]) => {
      return [part, id && (await service.finished(id, withinMs))] as const;
    });
    return { own, tasks: new Map(await Promise.all(ended)) };
  });
  return {
    service,
    played: played as readonly Played[],
    async close() {
      await service.close();
      await Promise.all(owns.flatMap(({ ark, moved }) => [ark.close(), moved.close()]));
    },
  };
}

async function ownOf(cases: readonly Case[], number: number): Promise<Own> {
  const { name, first } = cases[number]!;
  const [ark, moved] = await Promise.all([startPlayedArk(), startPlayedArk()]);
  Object.assign(moved, { jobs: ark.jobs, creates: ark.creates });
  const model = `case-${number}`;
  return { name: `${name}, ${first} first`, model, a: `${model}-a`, b: `${model}-b`, ark, moved };
}

function withCases(catalogue: Catalogue, cases: readonly Case[], owns: readonly Own[]): Catalogue {
  const channels = { ...catalogue.channels };
  const models = { ...catalogue.models };
  const like = catalogue.models['studio-2.0']!;
  for (const [number, { slots, hasOther }] of cases.entries()) {
    const { model, a, b, ark } = owns[number]!;
    channels[a] = channelOf(a, ark.url, slots);
    channels[b] = channelOf(b, ark.url, 1);
    const names = hasOther ? [b, a] : [a];
    const choices = names.map((channel) => ({ channel, upstreamModel: 'played' }));
    models[model] = { ...like, id: model, modes: {}, channels: choices };
  }
  return { ...catalogue, channels, models };
}

/**
 * Brings one task of each case to each state. Returns a function that unlocks the rows of the
 * `reported` tasks.
 */
async function takeUp(service: Service, actors: readonly Actor[]): Promise<() => Promise<void>> {
  const all = (act: (actor: Actor) => Promise<unknown>) => Promise.all(actors.map(act));
  await all(async (actor) => {
    if (!actor.played.hasOther) return;
    await actor.create('other');
    await actor.comesTo('other', 'open');
  });
  await all((actor) => actor.create('reported'));
  await all((actor) => actor.isShownRunning('reported'));
  const reported = actors.map((actor) => actor.tasks.get('reported'));
  // A task whose row is locked cannot acknowledge the end of its job.
  const lock = new Client({ connectionString: service.databaseUrl });
  await lock.connect();
  await lock.query('begin');
  await lock.query('select 1 from tasks where id = any($1) for update', [reported]);
  await all(async (actor) => {
    await actor.finish('reported');
    // A job whose task does not acknowledge its end is closed after a while.
    await actor.comesTo('reported', 'reported', 'closed');
  });
  await all((actor) => Promise.all([actor.create('open'), actor.create('sending')]));
  await all((actor) =>
    Promise.all([actor.comesTo('open', 'open'), actor.comesTo('sending', 'sending')]),
  );
  await all((actor) => Promise.all([actor.create('waiting'), actor.create('waiting too')]));
  await all(async (actor) => {
    if (actor.played.slots === null) return;
    await Promise.all([
      actor.comesTo('waiting', 'waiting'),
      actor.comesTo('waiting too', 'waiting'),
    ]);
  });
  return async () => {
    await lock.query('commit');
    await lock.end();
  };
}
