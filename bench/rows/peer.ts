// LiteLLM's proxy beside ours in the same run. It keeps nothing: a create is passed on and
// forgotten, a read is passed on every time. So its creates are the mark for what durability costs,
// and its reads for what keeping things is worth.

import { atLeast, type Finding, type Row } from '../row';
import { type Reply, requestText, runLoad } from '../support/http-load';
import { type Peer, startPeer } from '../support/peer';
import { alternate, compare } from '../support/rounds';
import { createTasks, readText, untilCount } from '../support/tasks';
import { models, type World } from '../world';

export const peerRow: Row = {
  name: 'peer',
  async measure(world: World): Promise<readonly Finding[]> {
    const peer = await startPeer(world);
    if ('why' in peer) {
      world.say(`  LiteLLM cannot be had here and is left out: ${peer.why}`);
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
    () => peerCreates(peer, count, peerIds),
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
    atLeast('GET against LiteLLM, 50 connections', '/s', compare(reads), 20),
  ];
}

function peerRequest({ apiKey }: Peer, method: string, path: string, body?: unknown): string {
  return requestText(method, path, { authorization: `Bearer ${apiKey}` }, body);
}

async function peerCreates(peer: Peer, count: number, ids: string[]): Promise<number> {
  const body = { model: 'sora-2', prompt: 'A paper boat', seconds: '4' };
  const text = peerRequest(peer, 'POST', '/v1/videos', body);
  const { perSecond } = await runLoad({
    url: peer.url,
    connections: 16,
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
