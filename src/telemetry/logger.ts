// The logger. A log line is one JSON object per event. The logger removes keys, secrets, prompts
// and the query string of an address, whichever code logs them: fields by their names, and keys and
// addresses wherever they are in a text.

import {
  type DestinationStream,
  type LoggerOptions,
  type Logger as PinoLogger,
  pino,
  type SerializedError,
} from 'pino';

export type Logger = PinoLogger;

interface LogSettings {
  readonly level: string;
  readonly format: 'json' | 'pretty';
  /** The process that writes the line. */
  readonly name: string;
}

export function createLogger(settings: LogSettings, output?: DestinationStream): Logger {
  const { level, name } = settings;
  const sink = output ?? destinationOf(settings);
  const warn = pino.levels.values.warn ?? 40;
  const options: LoggerOptions = {
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: '[redacted]' },
    serializers: { err: plainError },
    hooks: {
      streamWrite: withoutSecrets,
      logMethod(args, method, methodLevel) {
        method.apply(this, args);
        if (methodLevel >= warn && 'flushSync' in sink) (sink as Destination).flushSync();
      },
    },
  };
  return pino(options, sink);
}

type Destination = ReturnType<typeof pino.destination>;

// An API writes a line for each request, and a write of its own for each would be a third of what a
// refused request costs. So its lines are written ten times a second, or at once from level warn on.
const gathering = { minLength: 8_192, periodicFlush: 100 };

function destinationOf({ format, name }: LogSettings): DestinationStream {
  if (format === 'pretty') return prettyStream();
  if (name !== 'api') return pino.destination(1);
  const destination = pino.destination({ dest: 1, sync: true, ...gathering });
  process.once('exit', () => destination.flushSync());
  return destination;
}

function prettyStream(): DestinationStream {
  const { build } = require('pino-pretty') as typeof import('pino-pretty');
  return build({ colorize: process.stdout.isTTY, ignore: 'pid', translateTime: 'SYS:HH:MM:ss' });
}

const secrets = [
  'authorization',
  'apiKey',
  'api_key',
  'secret',
  'webhookSecret',
  'pepper',
  'password',
  'databaseUrl',
  'prompt',
];

// Our log calls use at most two levels of nesting.
const redacted = secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Only the fields that locate an error: drivers attach whole rows and requests to theirs. */
function plainError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack, code } = pino.stdSerializers.err(error) as SerializedError & {
    code?: unknown;
  };
  const cause = error.cause === undefined || depth > 3 ? {} : plainError(error.cause, depth + 1);
  return {
    type,
    message,
    stack,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.cause === undefined ? {} : { cause }),
  };
}

// An address keeps its host and path, without user, password and query. Keys are found in any text
// by their prefix (vk_, whsec_). Each pattern begins with a string that every match contains. The
// time of each grows in proportion to the line: a provider chooses a part of it.
const patterns: readonly (readonly [string, RegExp, string])[] = [
  ['://', /(?<=:\/\/)[^\s"'/?#@\\]*@/g, '…@'],
  ['://', /[?#](?<=:\/\/[^\s"'?#\\]*[?#])[^\s"'\\]*/g, '?…'],
  ['vk_|whsec_', /\b(vk_|whsec_)[A-Za-z0-9_+/=-]+/g, '$1…'],
  ['bearer', /\b(Bearer) [^\s"'\\]+/gi, '$1 …'],
];

// Most lines contain none of them, and one check is cheaper than four.
const suspicious = new RegExp(patterns.map(([mark]) => mark).join('|'), 'i');

function withoutSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  let cleaned = line;
  for (const [, pattern, replacement] of patterns) cleaned = cleaned.replace(pattern, replacement);
  return cleaned;
}
