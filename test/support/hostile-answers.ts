// Answers of a provider with texts that a database may not be able to store, for each protocol: an
// honest answer, in which one value at a time is replaced.

interface Variant {
  /** The names from the answer to the replaced value, joined by dots. */
  readonly path: string;
  readonly text: string;
}

const [pair, half] = ['😀', '\ud83d'];
const deep = '@deep@';
const deepText = `${'[{"a":'.repeat(5_000)}0${'}]'.repeat(5_000)}`;

/** The last character of the first `chars` ones is the first half of a pair. */
const splitAt = (chars: number, start = '') => `${start.padEnd(chars - 1, 'x')}${pair}x`;

// Texts that are unlike each other.
const texts = ['\u0000', half, splitAt(100)];
const likeThese = [
  ...[`\udc00${half}`, 'a\u0000b', '\u0007\u001b[31m\u009d', 'x'.repeat(100_000)],
  ...[splitAt(101), splitAt(256)],
];
const around = (text: string) => [
  ...[`${text}${half}`, `\u0000${text}`, splitAt(100, text), splitAt(4_096, text)],
  splitAt(4_097, text),
];

/** Every text, also around an honest one. */
export const hostileTexts: readonly string[] = [...texts, ...likeThese, ...around('honest')];

type Choose = (value: unknown) => readonly unknown[];

const othersFor = (value: unknown) =>
  typeof value === 'string' ? [...likeThese, ...around(value)] : likeThese.slice(0, 2);

const everyText: Choose = (value) => [...texts, deep, ...othersFor(value)];

/** The texts that are unlike each other, and one of the others in turn. */
function textsInTurn(): Choose {
  let place = 0;
  return (value) => {
    const others = othersFor(value);
    place += 1;
    return [...texts, deep, others[place % others.length]];
  };
}

/** All answers that differ from this one in one value. */
export const variantsOf = (answer: unknown): readonly Variant[] => variants(answer, everyText);

/** Fewer of them, but each value is replaced by a text of each kind. */
export const someVariantsOf = (answer: unknown): readonly Variant[] =>
  variants(answer, textsInTurn());

function variants(answer: unknown, hostileFor: Choose): readonly Variant[] {
  const found: Variant[] = [];
  const visit = (value: unknown, path: string, put: (other: unknown) => unknown): void => {
    if (path !== '') {
      for (const hostile of hostileFor(value)) {
        found.push({ path, text: JSON.stringify(put(hostile)).replaceAll(`"${deep}"`, deepText) });
      }
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [name, item] of Object.entries(value)) {
      const copyWith = (other: unknown) =>
        Array.isArray(value)
          ? value.map((old: unknown, index) => (String(index) === name ? other : old))
          : { ...value, [name]: other };
      visit(item, path === '' ? name : `${path}.${name}`, (other) => put(copyWith(other)));
    }
  };
  visit(answer, '', (other) => other);
  return found;
}

export interface Spoken {
  readonly channel: object;
  readonly model: string;
  /** The path and the id of a job, as it is stored. */
  readonly storedId: (id: string) => string;
  /** Without these values, an answer says nothing about the end of its job. */
  readonly needs: readonly string[];
  readonly made: (id: string, videoUrl: string) => object;
  readonly failed: (id: string) => object;
  readonly accepted: (id: string) => object;
  readonly refused: { readonly status: number; readonly body: object };
  /** A list in which a lost job is looked for; absent if the protocol has none. */
  readonly list?: (id: string, taskId: string, seconds: number) => object;
  /** Puts an answer about one job into an envelope, and several into the answer of a list. */
  readonly single?: (item: string) => string;
  readonly page?: (items: readonly string[]) => string;
}

const sameId = (id: string) => id;
const keyless = { honoursIdempotencyKey: false, hasList: false };
const listOf = (items: readonly string[]) =>
  `{"items":[${items.join(',')}],"total":${items.length}}`;

export const spoken: Readonly<Record<string, Spoken>> = {
  ark: {
    channel: { honoursIdempotencyKey: false, hasList: true },
    model: 'm',
    storedId: sameId,
    needs: ['id', 'status'],
    made: (id, videoUrl) => ({
      ...{ id, model: 'm', status: 'succeeded', error: null, created_at: 1_800_000_000 },
      content: { video_url: videoUrl, last_frame_url: videoUrl },
      usage: { completion_tokens: 1_000, total_tokens: 1_000 },
      ...{ updated_at: 1_800_000_100, seed: 1, resolution: '720p', ratio: '16:9', duration: 5 },
    }),
    failed: (id) => ({
      ...{ id, model: 'm', status: 'failed' },
      error: { code: 'OutputVideoSensitive', message: 'no' },
    }),
    accepted: (id) => ({ id }),
    refused: {
      status: 400,
      body: { error: { code: 'InvalidParameter.seed', message: 'no', param: 'seed', type: 'x' } },
    },
    list: (id, _, seconds) => ({
      items: [{ id, status: 'running', seed: 42, created_at: seconds, resolution: '720p' }],
      total: 1,
    }),
    page: listOf,
  },
  dashscope: {
    channel: keyless,
    model: 'wan3.0-video',
    storedId: sameId,
    needs: ['output', 'output.task_status'],
    made: (id, videoUrl) => ({
      request_id: 'r',
      output: { task_id: id, task_status: 'SUCCEEDED', video_url: videoUrl },
      usage: { video_duration: 5, SR: 720, ratio: '16:9' },
    }),
    failed: (id) => ({
      output: { task_id: id, task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' },
    }),
    accepted: (id) => ({ output: { task_id: id, task_status: 'PENDING' } }),
    refused: { status: 400, body: { code: 'InvalidParameter', message: 'no', request_id: 'r' } },
    list: (id, _, seconds) => ({
      ...{ total: 1, page_no: 1 },
      data: [{ task_id: id, status: 'RUNNING', gmt_create: seconds * 1_000, model_name: 'm' }],
    }),
  },
  kling: {
    channel: { ...keyless, apiKeyEnv: 'KEY_PAIR' },
    model: 'kling-v3',
    storedId: (id) => `text2video/${id}`,
    needs: ['code', 'data', 'data.task_status'],
    made: (id, videoUrl) => ({
      ...{ code: 0, message: 'ok', request_id: 'r' },
      data: {
        ...{ task_id: id, task_status: 'succeed', task_status_msg: '' },
        task_result: { videos: [{ id: 'v', url: videoUrl, duration: '5.1' }] },
        watermark_info: { enabled: false },
      },
    }),
    failed: (id) => ({
      code: 0,
      data: { task_id: id, task_status: 'failed', task_status_msg: 'no' },
    }),
    accepted: (id) => ({ code: 0, data: { task_id: id, task_status: 'submitted' } }),
    refused: { status: 400, body: { code: 1201, message: 'no', request_id: 'r' } },
    list: (id, taskId, seconds) => ({
      code: 0,
      data: {
        ...{ task_id: id, task_status: 'submitted', created_at: seconds * 1_000 },
        task_info: { external_task_id: taskId },
      },
    }),
  },
  mediakit: {
    channel: { honoursIdempotencyKey: true, hasList: false },
    model: 'enhance-video',
    storedId: sameId,
    needs: ['success', 'status'],
    made: (id, videoUrl) => ({
      ...{ success: true, task_id: id, status: 'completed', expires_at: 1_800_000_000 },
      result: { video_url: videoUrl, duration: 5, resolution: '1080p', fps: 24 },
    }),
    failed: (id) => ({
      ...{ success: true, task_id: id, status: 'failed' },
      error: { code: 'BadVideo', message: 'no' },
    }),
    accepted: (id) => ({ success: true, task_id: id }),
    refused: {
      status: 400,
      body: { success: false, error: { code: 'InvalidParameter', message: 'no', param: 'fps' } },
    },
  },
  minimax: {
    channel: { honoursIdempotencyKey: false, hasList: true },
    model: 'MiniMax-H3',
    storedId: sameId,
    needs: ['id', 'status'],
    made: (id, videoUrl) => ({
      ...{ id, status: 'succeeded', content: { url: videoUrl }, resolution: '2k', ratio: '16:9' },
      ...{ usage: { output_seconds: 5, input_seconds: 0 }, duration: 5, created_at: 1_800_000_000 },
    }),
    failed: (id) => ({
      ...{ id, status: 'failed' },
      error: { code: '1026', message: 'sensitive (1026)', type: 'x' },
    }),
    accepted: (id) => ({ task_id: id }),
    refused: {
      status: 400,
      body: { error: { type: 'bad_request', message: 'invalid params (2013)' } },
    },
    list: (id, _, seconds) => ({
      items: [{ id, status: 'running', created_at: seconds }],
      total: 1,
    }),
    single: (item) => `{"task":${item}}`,
    page: listOf,
  },
  'openai-videos': {
    channel: { honoursIdempotencyKey: false, hasList: true, profile: 'gateway' },
    model: 'm',
    storedId: sameId,
    needs: ['status'],
    made: (id) => ({
      ...{ id, status: 'completed', model: 'm', seconds: '5', size: '1280x720' },
      ...{ progress: 100, expires_at: 1_800_000_000, prompt: 'a lighthouse at dusk' },
    }),
    failed: (id) => ({
      ...{ id, status: 'failed' },
      error: { code: null, type: 'server_error', message: 'no' },
    }),
    accepted: (id) => ({ id, status: 'queued' }),
    refused: {
      status: 400,
      body: { error: { code: null, type: 'invalid_request', message: 'no', param: 'size' } },
    },
    list: (id, _, seconds) => ({
      data: [{ id, prompt: 'a lighthouse at dusk', created_at: seconds, seconds: '5', model: 'm' }],
      ...{ has_more: false, object: 'list' },
    }),
  },
};
