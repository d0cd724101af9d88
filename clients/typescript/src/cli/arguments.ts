// Reads the arguments of the command line, and says how it is used.

import { parseArgs } from 'node:util';
import type { ClientOptions } from '../transport.ts';

export const usage = `Usage: videos COMMAND, with VIDEO_BASE_URL and VIDEO_API_KEY in the environment

  create PROMPT   create a task and print its id
    --model M --mode M --input-type T --resolution R --ratio R --duration S --seed N
    --sound, --no-sound, --watermark, --draft, --last-frame
    --super-resolution R   a tier, the pixels of the short side, or a JSON object
    --callback URL --deadline S --tool TYPE --safety-identifier X --input-video-duration S
    --metadata JSON        further fields of metadata, also as @FILE; the options go before them
    --image FILE  also --video and --audio; an address, the id of a file, or a file to upload; repeatable
    --label N=V   repeatable
    --key KEY     an Idempotency-Key: the same key gives the same task
    --wait        wait for its end and print the address of the video
    --out FILE    wait, and save the video; - writes it to standard output
  get TASK        print a task; --wait waits for its end, --out FILE also saves the video
  list            print tasks, newest first; --status S --model M --label N=V --limit N
  cancel TASK     cancel a task
  quote PROMPT    print the price; the options of create
  models [MODEL], files [FILE], webhooks [WEBHOOK]
                  print a line for each, or the one that is named; files takes --limit N
  account         print the balance
  statement       print the movements of the balance, newest first; --limit N
`;

export const options = {
  model: { type: 'string' },
  resolution: { type: 'string' },
  ratio: { type: 'string' },
  duration: { type: 'string' },
  seed: { type: 'string' },
  mode: { type: 'string' },
  'input-type': { type: 'string' },
  sound: { type: 'boolean' },
  'no-sound': { type: 'boolean' },
  watermark: { type: 'boolean' },
  draft: { type: 'boolean' },
  'last-frame': { type: 'boolean' },
  'super-resolution': { type: 'string' },
  callback: { type: 'string' },
  deadline: { type: 'string' },
  tool: { type: 'string', multiple: true },
  'safety-identifier': { type: 'string' },
  'input-video-duration': { type: 'string' },
  metadata: { type: 'string' },
  image: { type: 'string', multiple: true },
  video: { type: 'string', multiple: true },
  audio: { type: 'string', multiple: true },
  label: { type: 'string', multiple: true },
  key: { type: 'string' },
  wait: { type: 'boolean' },
  out: { type: 'string' },
  status: { type: 'string' },
  limit: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export type Values = ReturnType<typeof read>['values'];

export class UsageError extends Error {}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** For each command, how many operands it takes at least and at most. */
export const operandsOf = new Map<string, readonly [least: number, most: number]>([
  ...['create', 'get', 'cancel', 'quote'].map((name) => [name, [1, 1]] as const),
  ...['list', 'account', 'statement', 'help'].map((name) => [name, [0, 0]] as const),
  ...['models', 'files', 'webhooks'].map((name) => [name, [0, 1]] as const),
]);

export function readArguments(args: readonly string[]) {
  const { values, positionals } = read(args);
  const [command = values.help ? 'help' : '', ...operands] = positionals;
  const wanted = operandsOf.get(command);
  if (!wanted) throw new UsageError(`There is no command "${command}".`);
  const [least, most] = wanted;
  if (operands.length < least || operands.length > most) {
    const count = least < most ? `at most ${most}` : most;
    throw new UsageError(`${command} takes ${count} operand${most === 1 ? '' : 's'}.`);
  }
  return { command, operand: operands[0] ?? '', values };
}

export function limitOf(values: Values): number {
  const limit = Number(values.limit ?? 20);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit must be 1 or more.');
  return limit;
}

export function labelsOf({ label = [] }: Values): Record<string, string> {
  return Object.fromEntries(
    label.map((text) => {
      const [name = '', ...value] = text.split('=');
      if (value.length === 0) throw new UsageError(`--label ${text}: write NAME=VALUE.`);
      return [name, value.join('=')];
    }),
  );
}

export function clientOptions(env: Readonly<Record<string, string | undefined>>): ClientOptions {
  const apiKey = env.VIDEO_API_KEY || env.API_KEY;
  if (!apiKey) throw new UsageError('Set VIDEO_API_KEY to your key.');
  return { baseUrl: env.VIDEO_BASE_URL || env.BASE_URL || 'http://127.0.0.1:8080', apiKey };
}
