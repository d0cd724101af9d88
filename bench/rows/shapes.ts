// Compares a create and a read in the form of OpenAI with the same calls in our own form, one call at
// a time. The create is a form, as the clients of OpenAI send it.

import { atMost, type Finding, type Row } from '../row';
import { requestText, runLoad } from '../support/http-load';
import { alternate, compare, quantile } from '../support/rounds';
import { seedFinished } from '../support/seed';
import { createText, readText, untilCount } from '../support/tasks';
import { type Account, models, type World } from '../world';

const stored = 1_000;

export const shapesRow: Row = {
  name: 'shapes',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const account = await world.anAccount();
    const created: string[] = [];
    const create = (text: string) => async () => {
      const ids: string[] = [];
      const p50 = await p50Of(world, quick ? 12 : 24, () => text, ids);
      created.push(...ids);
      // Otherwise the placing of the jobs would slow down the next round.
      await untilCount(world, ids, 'placed', 60_000);
      return p50;
    };
    const creates = await alternate(
      rounds,
      create(formText(account)),
      create(createText(account, models.parked)),
    );
    await world.generator.finish(created);
    await untilCount(world, created, 'finished', 120_000);
    const ids = await seedFinished(world, account, stored);
    const read = (textOf: (id: string) => string) => () =>
      p50Of(world, 200, (index) => textOf(ids[index % ids.length] ?? ''));
    // Many short rounds, because other load on the machine changes within seconds.
    const shown = await alternate(
      (quick ? 4 : 10) * rounds,
      read((id) => requestText('GET', `/v1/videos/${id}`, keyOf(account))),
      read((id) => readText(account, id)),
    );
    return [
      atMost('POST as OpenAI, p50, against our own form', 'ms', compare(creates), 1.15),
      atMost('GET as OpenAI, p50, against our own form', 'ms', compare(shown), 1.1),
    ];
  },
};

async function p50Of(
  { apiUrl }: World,
  requests: number,
  request: (index: number) => string,
  ids: string[] = [],
): Promise<number> {
  const { latencies } = await runLoad({
    url: apiUrl,
    connections: 1,
    until: { requests },
    request,
    check: ({ status, body }) => {
      if (status !== 200) throw new Error(`A call was answered with ${status}: ${body}`);
      ids.push((JSON.parse(body) as { id: string }).id);
    },
  });
  return quantile(latencies, 0.5);
}

const keyOf = ({ apiKey }: Account) => ({ authorization: `Bearer ${apiKey}` });

const boundary = 'bench-form';

function formText(account: Account): string {
  const fields = {
    model: models.parked,
    prompt: 'A paper boat sails down a rainy street, evening light',
    resolution: '480p',
    ratio: '16:9',
    seconds: '4',
    'metadata[execution_expires_after]': '172800',
  };
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = `${parts.join('')}--${boundary}--\r\n`;
  const head = requestText('POST', '/v1/videos', {
    ...keyOf(account),
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(Buffer.byteLength(body)),
  });
  return `${head}${body}`;
}
