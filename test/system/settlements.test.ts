// Runs tasks with known bills through the whole service: what the studio reports as usage decides
// the charge, the rest of the hold comes back, and what the hold does not cover is charged too.

import { audit } from '../../src/money/audit.rows';
import { type Service, startService, textTask } from '../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

interface Bill {
  readonly held: string;
  readonly charged: string;
  readonly refunded: string;
}
const bill = (held: string, charged: string, refunded: string): Bill => ({
  held,
  charged,
  refunded,
});

const clip = { videos: ['https://media.example.com/1.mp4'] };
const enhanced = { metadata: { super_resolution_config: { resolution: '1080p' } } };

type Row = [
  name: string,
  request: object,
  script: Record<string, unknown>,
  bill: Bill,
  movements: string,
];
const rows: readonly Row[] = [
  ['4 s', { duration: 4 }, {}, bill('4.015800', '4.015800', '0.000000'), 'hold settle'],
  ['7 s', { duration: 7 }, {}, bill('6.996600', '6.996600', '0.000000'), 'hold settle'],
  [
    '4 s after 4 s of reference video',
    { duration: 4, ...clip },
    { tokens: 173_700 },
    bill('11.642400', '4.863600', '6.778800'),
    'hold settle refund',
  ],
  [
    '5 s with a short clip, counted at the floor',
    clip,
    { tokens: 194_400 },
    bill('12.247200', '5.443200', '6.804000'),
    'hold settle refund',
  ],
  [
    '5 s of 1080p with a short clip, counted at the floor',
    { ...clip, resolution: '1080p' },
    { tokens: 437_400 },
    bill('30.508650', '13.559400', '16.949250'),
    'hold settle refund',
  ],
  [
    '5 s of 786x1180, its size taken from the input',
    { ratio: 'adaptive' },
    { tokens: 109_594 },
    bill('5.091418', '5.041324', '0.050094'),
    'hold settle refund',
  ],
  [
    'the worked example of docs/money.md',
    enhanced,
    { tokens: 100_000, enhance: { reported_s: 4.042 } },
    bill('5.135450', '4.701050', '0.434400'),
    'hold settle settle refund',
  ],
  [
    'an enhanced video with the usage of the hold',
    enhanced,
    {},
    bill('5.135450', '5.135450', '0.000000'),
    'hold settle settle',
  ],
  [
    'more tokens than held',
    {},
    { tokens: 200_000 },
    bill('5.009400', '9.200000', '0.000000'),
    'hold settle extra_charge',
  ],
  [
    'more tokens than the hold of both lines covers, and a longer video',
    enhanced,
    { tokens: 200_000, enhance: { reported_s: 60 } },
    bill('5.135450', '9.351050', '0.000000'),
    'hold settle extra_charge extra_charge',
  ],
  ['no tokens', {}, { tokens: 0 }, bill('5.009400', '0.000000', '5.009400'), 'hold refund'],
  [
    'no length from the enhancer, so the length from the generator counts',
    enhanced,
    { enhance: { usage: false } },
    bill('5.135450', '5.134400', '0.001050'),
    'hold settle settle refund',
  ],
];

test.each(rows)('the bill of %s', async (_, request, script, expected, movements) => {
  const before = await service.call('GET', '/v1/account');
  const { json } = await service.create(textTask(script, { duration: 5, ...request }));
  const task = await service.finished(json.id);
  expect(task.status).toBe('succeeded');
  expect(task.billing).toMatchObject(expected);
  expect(task.billing).not.toHaveProperty('usage_missing');
  expect(await movementsOf(json.id)).toBe(movements);
  const after = await service.call('GET', '/v1/account');
  const spent = Number(before.json.available) - Number(after.json.available);
  expect(spent.toFixed(6)).toBe(expected.charged);
  expect((await audit(service.db)).differences).toEqual([]);
});

test.each([
  ['without usage', { usage: false }],
  ['with a figure far above its hold', { tokens: 900_000_000 }],
])('a generation %s is charged its hold, and the bill says so', async (_, script) => {
  const { json } = await service.create(textTask(script, { duration: 5 }));
  const task = await service.finished(json.id);
  expect(task.status).toBe('succeeded');
  expect(task.billing).toMatchObject({ charged: '5.009400', usage_missing: true });
  expect(await movementsOf(json.id)).toBe('hold settle');
  expect((await audit(service.db)).differences).toEqual([]);
});

async function movementsOf(taskId: string): Promise<string> {
  const rows = await service.db('transfers').where({ task_id: taskId }).orderBy('seq');
  return rows.map(({ kind }) => kind).join(' ');
}
