// Runs the clients of other services against the service, from the create to the bytes of the video.
// Then each of them creates many tasks through a proxy that loses answers, refuses and is slow.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { hasTool, npmPackages, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';
import { type Service, startService, textTask } from '../support/service';

// Long enough to download the packages on a new machine; one of them has 500 MB.
jest.setTimeout(1_200_000);

const python = hasTool('python3', '-m', 'pip', '--version');
/** A long run sets CREATES=500. */
const creates = Number(process.env.CREATES ?? '20');

let service: Service;
let proxy: FaultProxy;
/** A picture that generators take: those of one pixel are refused. */
let picture: string;
beforeAll(async () => {
  const colour = { width: 512, height: 512, channels: 3, background: 'teal' } as const;
  picture = (await sharp({ create: colour }).png().toBuffer()).toString('base64');
  service = await startService();
  proxy = await startFaultProxy(service.url);
});
beforeEach(() => proxy.reset());
afterAll(async () => {
  await proxy?.close();
  await service?.close();
});

let marks = 0;
function aMark(): string {
  marks += 1;
  return `vendor ${process.pid} ${marks}`;
}

async function run(
  command: string,
  file: string,
  what: string,
  { env = {}, ...over }: { env?: Record<string, string>; packages?: string; mark?: string },
) {
  const { apiKey } = service;
  const settings = { url: proxy.url, apiKey, creates, picture, mark: aMark(), ...over };
  const args = [join(__dirname, file), what, JSON.stringify(settings)];
  const program = runProgram(command, args, { env });
  if ((await program.code) !== 0) throw new Error(program.err().slice(-5_000));
  return JSON.parse(program.out());
}

const inNode = async (what: string, packages: string, mark?: string) =>
  run(process.execPath, 'vendors.mjs', what, { packages, ...(mark ? { mark } : {}) });
const inPython = async (what: string, sdk: string, mark?: string) => {
  const env = {
    ...{ PYTHONPATH: sdk, PYTHONIOENCODING: 'utf-8' },
    // LiteLLM would first try to download its prices.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  };
  return run('python3', 'vendors.py', what, { env, ...(mark ? { mark } : {}) });
};
const openAiInNode = () => npmPackages(['openai', '7.57.0']);
const byteDance = () => npmPackages(['ai', '7.0.173'], ['@ai-sdk/bytedance', '1.0.29']);
const openAiInPython = () => pythonPackage('openai', '3.57.0');
const liteLlm = () => pythonPackage('litellm', '1.110.2');
const arkSdk = () =>
  pythonPackage(...(['volcengine-ark-runtime', '5.0.54', 'volcenginesdkarkruntime'] as const));

const taskOf = async (id: string) =>
  (await service.call('GET', `/v1/videos/generations/${id}`)).json;

async function sha256At(link: string): Promise<string> {
  const bytes = await (await fetch(link)).arrayBuffer();
  return createHash('sha256').update(Buffer.from(bytes)).digest('hex');
}

/** The newest tasks that a list of two a page returns, and the digest of the file of the newest. */
async function expectedOf(prompt: string) {
  const rows = await service.db('tasks').orderBy('id', 'desc').pluck('id');
  const made = await service.db('tasks').whereRaw(`request->>'prompt' = ?`, [prompt]).pluck('id');
  const file = await service.db('files').where({ task_id: made[0] }).first('sha256');
  return { rows, id: made[0], sha256: Buffer.from(file.sha256).toString('hex') };
}

async function threePages() {
  for (let n = 0; n < 5; n += 1) await service.create(textTask());
}

const clientsOfOpenAi = [
  ['JavaScript', async (mark: string) => inNode('openai', await openAiInNode(), mark)],
  ['Python', async (mark: string) => inPython('openai', await openAiInPython(), mark)],
] as const;

test.each(clientsOfOpenAi)(
  'the client of OpenAI in %s creates with a picture, polls, lists three pages, downloads and deletes',
  async (name, use) => {
    if (name === 'Python' && !python) return;
    await threePages();
    const mark = aMark();
    const seen = await use(mark);
    const { rows, id, sha256 } = await expectedOf(mark);
    const own = { id, status: 'completed', seconds: '5', sha256, deleted: true };
    expect(seen).toMatchObject(own);
    expect(seen.ids).toEqual(rows);
    expect(rows.length).toBeGreaterThan(4);
    expect((await taskOf(id)).data[0].url_gone_reason).toBeDefined();
  },
);

test('the provider of ByteDance for the AI SDK makes a video', async () => {
  const mark = aMark();
  const { sha256 } = await inNode('bytedance', await byteDance(), mark);
  expect(sha256).toBe((await expectedOf(mark)).sha256);
});

(python ? describe : describe.skip)('a Python client', () => {
  test('the client of Ark makes a video, and lists it', async () => {
    const seen = await inPython('ark', await arkSdk());
    const own = await taskOf(seen.id);
    expect(seen).toEqual({
      ...{ id: own.id, status: 'succeeded', link: own.video_url },
      listed: expect.arrayContaining([own.id]),
    });
  });

  test('LiteLLM makes a video through each of its three providers for such services', async () => {
    const mark = aMark();
    const seen = await inPython('litellm', await liteLlm(), mark);
    for (const provider of ['openai', 'hosted_vllm', 'volcengine']) {
      const { id, sha256 } = await expectedOf(`${mark} ${provider}`);
      expect(seen[provider]).toEqual(['completed', sha256]);
      expect(await sha256At((await taskOf(id)).video_url)).toBe(sha256);
    }
  });
});

const pass: Fault = { kind: 'slow', pieces: 1, pauseMs: 0 };
const faults: readonly Fault[] = [
  ...[{ kind: 'lose' }, pass, { kind: 'answer', status: 503, retryAfter: 1 }, pass],
  ...[{ kind: 'slow', pieces: 3, pauseMs: 300 }, pass, { kind: 'refuse' }, pass],
] as readonly Fault[];

const creators = [
  [
    'OpenAI in JavaScript',
    true,
    async (m: string) => inNode('creates-openai', await openAiInNode(), m),
  ],
  [
    'OpenAI in Python',
    python,
    async (m: string) => inPython('creates-openai', await openAiInPython(), m),
  ],
  ['Ark', python, async (m: string) => inPython('creates-ark', await arkSdk(), m)],
  [
    'ByteDance for the AI SDK',
    true,
    async (m: string) => inNode('creates-bytedance', await byteDance(), m),
  ],
  ['LiteLLM', python, async (m: string) => inPython('creates-litellm', await liteLlm(), m)],
] as const;

test.each(creators)(
  'creates through the client of %s with lost answers, refusals and slow answers make one task each',
  async (_name, isThere, create) => {
    if (!isThere) return;
    const given = Array.from({ length: creates }, () => faults).flat();
    proxy.reset(/^POST /, given);
    const mark = aMark();
    const { ids, sent } = await create(mark);
    const posts = proxy.seen.filter(({ method }) => method === 'POST');
    const rows = await service
      .db('tasks')
      .whereRaw(`request->>'prompt' like ?`, [`${mark} %`])
      .pluck('id');
    expect(rows).toHaveLength(creates);
    expect(new Set(ids)).toEqual(new Set(rows));
    // The faults happened: a call was repeated for each answer that was lost or refused.
    expect(posts.length).toBeGreaterThan(creates * 1.2);
    // Who repeats: LiteLLM sends each create that it is asked for once.
    if (sent !== undefined) expect(posts).toHaveLength(sent);
  },
);
