// Compares the service with LiteLLM's proxy in the same run. LiteLLM stores nothing and passes on
// each create and each read. So the creates show the cost of durability, and the reads show the
// benefit of stored tasks.

import { atLeast, type Finding, type Row } from '../row';
import { type Reply, requestText, runLoad } from '../support/http-load';
import { type Peer, startPeer } from '../support/peer';
import { alternate, compare } from '../support/rounds';
import { acceptedId, createTasks, createText, readText, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const peerRow: Row = {
  name: 'peer',
  async measure(world: World): Promise<readonly Finding[]> {
    const peer = await startPeer(world);
    if ('why' in peer) {
      world.say(`  LiteLLM cannot be installed here and is left out: ${peer.why}`);
      return [];
    }
    try {
      return await measureBeside(world, peer);
    } finally {
      await peer.stop();
    }
  },
};

async function measureBeside(world: World, peer: Peer): Promise<readonly Finding[]> {
  const { rounds, quick } = world.settings;
  const account = await world.anAccount();
  const count = quick ? 32 : 64;
  const created: string[] = [];
  const peerIds: string[] = [];
  const creates = await alternate(
    rounds,
    async () => {
      const run = { model: models.instant, count, inFlight: 16 };
      const { ids, perSecond } = await createTasks(world, account, run);
      await untilCount(world, ids, 'finished', 120_000);
      created.push(...ids);
      return perSecond;
    },
    () => peerCreates(peer, { count, connections: 16 }, peerIds),
  );
  const burst = { count: quick ? 100 : 1_000, connections: 50 };
  const bursts = await alternate(
    quick ? 1 : 3,
    () => ourBurst(world, burst),
    () => peerCreates(peer, burst, peerIds),
  );
  const texts = created.slice(0, 50).map((id) => readText(account, id));
  const peerTexts = peerIds.slice(0, 50).map((id) => peerRequest(peer, 'GET', `/v1/videos/${id}`));
  const seconds = quick ? 1 : 2;
  const reads = await alternate(
    rounds,
    () => read(world.apiUrl, texts, seconds),
    () => read(peer.url, peerTexts, seconds),
  );
  const note = `LiteLLM ${peer.version}, which keeps nothing`;
  const { ours, bare, ratio, spread } = compare(creates);
  return [
    { figure: 'POST against LiteLLM', unit: '/s', ours, reference: bare, ratio, spread, note },
    atLeast(
      `burst of ${burst.count} POSTs of one account on ${burst.connections} connections, against LiteLLM`,
      '/s',
      compare(bursts),
      2,
      note,
    ),
    atLeast('GET against LiteLLM, 50 connections', '/s', compare(reads), 20),
  ];
}

function peerRequest({ apiKey }: Peer, method: string, path: string, body?: unknown): string {
  return requestText(method, path, { authorization: `Bearer ${apiKey}` }, body);
}

interface Burst {
  readonly count: number;
  readonly connections: number;
}

/**
 * Returns the rate of creates until all are answered, most of them with `pending`. Waits until the
 * tasks are finished, so that their work does not slow down the next round.
 */
async function ourBurst(world: World, { count, connections }: Burst): Promise<number> {
  const text = createText(await world.anAccount(), models.instant);
  const ids: string[] = [];
  const { perSecond } = await runLoad({
    url: world.apiUrl,
    connections,
    until: { requests: count },
    request: () => text,
    check: (reply) => void ids.push(acceptedId(reply, true)),
  });
  await untilCount(world, ids, 'finished', 300_000);
  return perSecond;
}

async function peerCreates(
  peer: Peer,
  { count, connections }: Burst,
  ids: string[],
): Promise<number> {
  const body = { model: 'sora-2', prompt: 'A paper boat', seconds: '4' };
  const text = peerRequest(peer, 'POST', '/v1/videos', body);
  const { perSecond } = await runLoad({
    url: peer.url,
    connections,
    until: { requests: count },
    request: () => text,
    check: (reply) => void ids.push((JSON.parse(ok(reply).body) as { id: string }).id),
  });
  return perSecond;
}

async function read(url: string, texts: readonly string[], seconds: number): Promise<number> {
  const { perSecond } = await runLoad({
    url,
    connections: 50,
    until: { seconds },
    request: (_index, connection) => texts[connection % texts.length] ?? '',
    check: (reply) => void ok(reply),
  });
  return perSecond;
}

function ok(reply: Reply): Reply {
  if (reply.status === 200) return reply;
  throw new Error(`It was answered with ${reply.status}: ${reply.body}`);
}
