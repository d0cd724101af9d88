// Tests which requests the API logs, and which requests it only counts.

import { observeApi } from '../../src/commands/api-observer';
import type { FinishedRequest } from '../../src/gateway/deps';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';

const request: FinishedRequest = {
  method: 'POST',
  route: '/v1/videos/generations',
  status: 200,
  ms: 1,
  requestId: 'r',
  traceId: 't',
  accountId: undefined,
  taskId: undefined,
  fileId: undefined,
  code: undefined,
  answeredBy: undefined,
};

function observe(requests: readonly Partial<FinishedRequest>[]) {
  const lines: string[] = [];
  const log = createLogger(
    { level: 'info', format: 'json', name: 'api' },
    { write: (line: string) => void lines.push(line) },
  );
  const meters = createMeters('api');
  const refused: string[] = [];
  const observer = observeApi(log, meters, (...one) => void refused.push(one.join(' ')));
  for (const one of requests) observer.finished({ ...request, ...one });
  return { lines, refused, metrics: () => meters.registry.metrics() };
}

test('calls without a valid key are counted but not logged', async () => {
  const refused = { status: 401, code: 'invalid_api_key' };
  const { lines, metrics } = observe([
    ...[refused, { ...refused, method: 'GET' }],
    ...[404, 405, 429].map((status) => ({ method: 'GET', status, code: 'route_not_found' })),
  ]);
  expect(lines).toEqual([]);
  expect(await metrics()).toMatch(/video_http_refusals_total\{code="invalid_api_key".*\} 2/);
});

test('a refusal of a customer is handed on with its code, and nothing else is', () => {
  const { refused } = observe([
    { accountId: 'acct', status: 429, code: 'rate_limited' },
    { status: 401, code: 'invalid_api_key' },
    { accountId: 'acct' },
  ]);
  expect(refused).toEqual(['acct rate_limited']);
});

test('the line of a deletion names the task or the file', () => {
  const { lines } = observe([
    { method: 'DELETE', accountId: 'acct', taskId: 'task_1' },
    { method: 'DELETE', accountId: 'acct', fileId: 'file_1' },
  ]);
  const [ofTask, ofFile] = lines.map((line) => JSON.parse(line));
  expect([ofTask.task, ofFile.file]).toEqual(['task_1', 'file_1']);
});

test('every create and every refusal is logged in one line', () => {
  const accountId = 'acct';
  const { lines } = observe([
    { accountId },
    { accountId, method: 'GET', status: 404, code: 'task_not_found' },
    { status: 503, code: 'unavailable' },
  ]);
  const statuses = lines.map((line) => (JSON.parse(line) as { status: number }).status);
  expect(statuses).toEqual([200, 404, 503]);
});
