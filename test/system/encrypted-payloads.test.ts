// With TEMPORAL_PAYLOAD_KEYS nothing a customer sent or was given can be read in Temporal, and a key
// can be introduced and replaced while tasks are under way.

import { startService, textTask } from '../support/service';
import { connectTemporal } from '../support/temporal';
import { until } from '../support/until';

const first = { id: 'first', key: Buffer.alloc(32, 1) };
const second = { id: 'second', key: Buffer.alloc(32, 2) };

test('a history shows no word of the customer and no link of the result', async () => {
  const service = await startService({ payloadKeys: [first] });
  const temporal = await connectTemporal();
  try {
    const body = textTask(
      {},
      { prompt: 'planted-prompt', metadata: { labels: { a: 'planted-label' } } },
    );
    const { json } = await service.create(body);
    const done = await service.finished(json.id);
    expect(done.status).toBe('succeeded');
    const handle = temporal.client.workflow.getHandle(json.id);
    const events = (await handle.fetchHistory()).events ?? [];
    expect(events.length).toBeGreaterThan(10);
    // Bytes are base64 in JSON.
    const text = JSON.stringify(events).replace(/"[\w+/]{12,}=*"/g, (bytes) =>
      Buffer.from(bytes, 'base64').toString('latin1'),
    );
    expect(text).toContain('binary/encrypted');
    expect(text).toContain(service.accountId); // A search attribute.
    const host = new URL(done.data[0].url).host;
    for (const word of ['planted', host]) expect(text).not.toContain(word);
  } finally {
    await temporal.close();
    await service.close();
  }
});

test('tasks under way go on while a key is introduced, replaced and dropped', async () => {
  const options: Parameters<typeof startService>[0] & object = {};
  const service = await startService(options);
  try {
    const create = async () => (await service.create(textTask({ run_s: 4 }))).json.id as string;
    const ids: string[] = [];
    for (const keys of [[first], [second, first], [second]]) {
      ids.push(await create());
      await until('its job is known', async () => {
        const rows = await service.db('jobs').where({ task_id: ids.at(-1) });
        return rows.some((row) => row.upstream_id !== null);
      });
      if (keys.length === 1 && keys[0] === second) {
        for (const id of ids) await service.finished(id);
        ids.length = 0;
      }
      await service.stopWorker();
      options.payloadKeys = keys;
      await service.startWorker();
    }
    for (const id of ids) expect((await service.finished(id)).status).toBe('succeeded');
  } finally {
    await service.close();
  }
});
