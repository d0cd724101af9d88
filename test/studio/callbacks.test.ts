// Callbacks of the studio: one for every change, in order, with the same body as a reading.

import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { until } from '../support/until';
import { type OpenStudio, openStudio } from './open-studio';

let sink: CallbackSink;
let studio: OpenStudio;
beforeAll(async () => {
  sink = await startCallbackSink();
  studio = await openStudio({ allowHosts: [sink.hostPort] });
});
beforeEach(() => {
  sink.received.length = 0;
  sink.answer = (_, response) => void response.writeHead(204).end();
});
afterAll(async () => {
  await studio?.close();
  await sink?.close();
});

const notices = () => sink.received.map(({ body }) => JSON.parse(body));
const statuses = () => notices().map(({ status }) => status);
const scripted = (script: object) => ({
  callback_url: sink.url,
  studio: { render: 'none', ...script },
});

test.each([
  ['succeeded', {}, ['queued', 'running', 'succeeded']],
  ['failed', { end: 'failed' }, ['queued', 'running', 'failed']],
  ['expired', { end: 'expired' }, ['queued', 'running', 'expired']],
])('a job that %s sends a callback for every state', async (_, script, expected) => {
  const id = await studio.accepted(scripted(script));
  await until('all callbacks have arrived', () => statuses().length === expected.length);
  expect(statuses()).toEqual(expected);
  expect(notices().at(-1)).toEqual((await studio.get(id)).json);
  expect(sink.received[0]?.headers['content-type']).toBe('application/json');
});

test('a cancelled job sends a callback', async () => {
  const id = await studio.accepted(scripted({ queue_s: 1000 }));
  await studio.remove(id);
  await until('the final callback has arrived', () => statuses().length === 2);
  expect(statuses()).toEqual(['queued', 'cancelled']);
});

test('an enhancement sends callbacks with the enhancer’s status words', async () => {
  const { json } = await studio.enhance({ callback_url: sink.url, callback_args: 'mine' });
  await until('all callbacks have arrived', () => statuses().length === 3);
  expect(statuses()).toEqual(['queued', 'running', 'completed']);
  expect(notices().at(-1)).toMatchObject({
    ...{ success: true, task_id: json.task_id, callback_args: 'mine' },
  });
});

test('only the final callback is repeated until it is accepted', async () => {
  sink.answer = (_, response) => {
    const isTaken = statuses().filter((status) => status === 'succeeded').length === 2;
    response.writeHead(isTaken ? 200 : 500).end();
  };
  await studio.accepted(scripted({}));
  await until('the last word is taken', () => statuses().length === 4);
  expect(statuses()).toEqual(['queued', 'running', 'succeeded', 'succeeded']);
});

test('a callback to an inside address is never sent, and the job succeeds', async () => {
  const other = await startCallbackSink();
  const id = await studio.accepted({ ...scripted({}), callback_url: other.url });
  await studio.reaching(id, 'succeeded');
  const next = await studio.accepted(scripted({}));
  await until('all callbacks of a later job have arrived', () => statuses().length === 3);
  await studio.reaching(next, 'succeeded');
  expect(other.received).toEqual([]);
  await other.close();
});
