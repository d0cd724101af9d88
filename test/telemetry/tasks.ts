// Creates the tasks for the telemetry tests. The requests contain secret words in the places that a
// customer can fill. The tests search for these words in logs and traces.

import { cancelTask, textTask } from '../support/service';
import { until } from '../support/until';
import type { TelemetryWorld } from './world';

export interface TaskIds {
  readonly whole: string;
  readonly failed: string;
  readonly cancelled: string;
  /** A task whose opening failed at first, because the database refused it. */
  readonly late: string;
}

/** Texts of a customer that must not appear in logs or traces. */
export const planted = [
  'planted-prompt',
  'planted-hook',
  'planted-media',
  'planted-bearer',
  'planted-query',
];

/** The trace that the caller sends with the first task. */
export const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

/**
 * Creates four tasks: one with super-resolution and a callback, one that fails, one that is
 * cancelled, and one whose opening is refused at first. Also sends requests that the API refuses.
 * Returns the ids when all tasks have ended.
 */
export async function runTasks(world: TelemetryWorld): Promise<TaskIds> {
  const ids: Record<string, string> = {};
  const callback_url = `${world.sink.url}?token=planted-hook`;
  world.sink.answer = (_, response) => {
    const first = world.sink.received.length === 1;
    response.writeHead(first ? 429 : 204, first ? { 'retry-after': '1' } : {}).end();
  };
  const create = async (
    name: keyof TaskIds,
    body: unknown,
    headers: Record<string, string> = {},
  ) => {
    const { status, json } = await world.call('POST', '/v1/videos/generations', body, headers);
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(json)}`);
    ids[name] = json.id;
  };
  await create(
    'whole',
    textTask(
      {},
      {
        prompt: 'planted-prompt',
        metadata: { callback_url, super_resolution_config: { resolution: '1080p' } },
      },
    ),
    { traceparent: `00-${caller.traceId}-${caller.spanId}-01` },
  );
  await create('failed', textTask({ end: 'failed', code: 'InternalServiceError' }));
  await create('cancelled', textTask({ queue_s: 600 }));
  await world.call('POST', '/v1/videos/generations', { model: 'studio-2.0' });
  await world.call('POST', '/v1/videos/generations', '{"prompt":"planted-prompt');
  const stranger = { authorization: 'Bearer planted-bearer' };
  await world.call('GET', '/v1/tasks?api_key=planted-query', undefined, stranger);
  // A cancel before its create request would leave one request less.
  await until('the job is placed', async () =>
    Boolean(await world.db('jobs').where({ task_id: ids.cancelled, state: 'open' }).first()),
  );
  await cancelTask(world.call, String(ids.cancelled));
  await createWhileTheDatabaseRefuses(world, create);
  for (const id of Object.values(ids)) await world.finished(id);
  await until('the callback arrived', () => world.sink.received.length > 1);
  return ids as unknown as TaskIds;
}

/**
 * Creates a task whose opening fails until a constraint is dropped. The error has the whole row.
 */
async function createWhileTheDatabaseRefuses(
  world: TelemetryWorld,
  create: (name: keyof TaskIds, body: unknown) => Promise<void>,
): Promise<void> {
  const refused = `owes is null and request::text like '%planted-media%'`;
  await world.db.raw(`alter table tasks add constraint no_media check (not (${refused}))`);
  const prompt = 'planted-prompt see https://media.example/a.png?sign=planted-media';
  await create('late', textTask({}, { prompt }));
  await until('its opening was refused', () => world.logs().includes('no_media'));
  await world.db.raw('alter table tasks drop constraint no_media');
}
