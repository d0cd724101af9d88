// Creates the logger, which writes one line per event. The logger removes keys, secrets, prompts
// and the query strings of URLs, no matter which code logs them. Secret fields are found by their
// names. Keys and URLs are found in any text by their form.

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

// An API writes a log line for each request. A system call for each line would be a third of the
// cost of a refused request. So the lines are written together ten times a second. A line of level
// warn or above is written at once.
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
  'password',
  'databaseUrl',
  'prompt',
];

// Our log calls use at most two levels of nesting.
const redacted = secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Keeps only the fields that locate an error. Drivers attach whole rows and requests to errors. */
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

// A URL keeps its host and path, but not its user, password and query. Keys are found by their
// prefix (vk_, vo_, whsec_). Each entry is a mark, a pattern and its replacement. A line without the
// mark has no match. A provider chooses parts of a line, so the time to match a pattern must grow
// only in proportion to the length of the line.
const patterns: readonly (readonly [string, RegExp, string])[] = [
  ['://', /(?<=:\/\/)[^\s"'/?#@\\]*@/g, '…@'],
  ['://', /[?#](?<=:\/\/[^\s"'?#\\]*[?#])[^\s"'\\]*/g, '?…'],
  ['vk_|vo_|whsec_', /\b(vk_|vo_|whsec_)[A-Za-z0-9_+/=-]+/g, '$1…'],
  ['console=', /\b(console=)[A-Za-z0-9_-]+/g, '$1…'],
  ['bearer', /\b(Bearer) [^\s"'\\]+/gi, '$1 …'],
];

// Most lines contain no mark, and one check is cheaper than four replacements.
const suspicious = new RegExp(patterns.map(([mark]) => mark).join('|'), 'i');

function withoutSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  let cleaned = line;
  for (const [, pattern, replacement] of patterns) cleaned = cleaned.replace(pattern, replacement);
  return cleaned;
}
