// The logger. A log line is one JSON object per event; what must never be read in a log (keys,
// secrets, prompts, the query string of an address) is cut out here, whatever hands it in: fields
// by their names, and what looks like a key or an address wherever it stands in a line.

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
  /** Which process of the system writes. */
  readonly name: string;
}

export function createLogger(settings: LogSettings, output?: DestinationStream): Logger {
  const { level, name } = settings;
  const sink = output ? cleaning(output) : standardOutput(settings);
  const options: LoggerOptions = {
    level,
    base: { name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: redacted, censor: '[redacted]' },
    serializers: { err: plainError },
  };
  const warn = pino.levels.values.warn ?? 40;
  const lines = {
    [pino.symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      sink.write(line);
      if (lines.lastLevel >= warn) sink.flush?.();
    },
  };
  return pino(options, lines);
}

interface Sink extends DestinationStream {
  flush?(): void;
}

function standardOutput({ format, name }: LogSettings): Sink {
  if (format === 'pretty') return cleaning(prettyStream());
  const sink = cleaning(pino.destination(1));
  return name === 'api' ? gathering(sink) : sink;
}

function cleaning(output: DestinationStream): Sink {
  return { write: (text) => output.write(withoutSecrets(text)) };
}

// An API writes a line for each request, and each write would be a third of what a refused one
// costs. So its lines are gathered for a tenth of a second, unless something is wrong.
const gatherMs = 100;
const gatherMax = 16_384;

function gathering(sink: Sink): Sink {
  let gathered = '';
  const flush = () => {
    if (gathered !== '') sink.write(gathered);
    gathered = '';
  };
  setInterval(flush, gatherMs).unref();
  process.once('exit', flush);
  return {
    write(line) {
      gathered += line;
      if (gathered.length >= gatherMax) flush();
    },
    flush,
  };
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

// Two levels deep is where our own log calls put things; nothing is logged whole.
const redacted = secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Only what tells where an error came from: drivers hang whole rows and requests on theirs. */
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

// An address keeps its host and path; its user, password and query do not. Keys have a form of
// their own (vk_, whsec_), so they are found in any text.
// Each begins with what no line of its kind is without.
const patterns: readonly (readonly [string, RegExp, string])[] = [
  ['://', /([a-z][a-z0-9+.-]*:\/\/)[^\s"'/?#@\\]*@/gi, '$1…@'],
  ['://', /([a-z][a-z0-9+.-]*:\/\/[^\s"'?#\\]*)[?#][^\s"'\\]*/gi, '$1?…'],
  ['vk_|whsec_', /\b(vk_|whsec_)[A-Za-z0-9_+/=-]+/g, '$1…'],
  ['bearer', /\b(Bearer) [^\s"'\\]+/gi, '$1 …'],
];

// Most lines have none of it, and one look is cheaper than four.
const suspicious = new RegExp(patterns.map(([mark]) => mark).join('|'), 'i');

function withoutSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  let cleaned = line;
  for (const [, pattern, replacement] of patterns) cleaned = cleaned.replace(pattern, replacement);
  return cleaned;
}
