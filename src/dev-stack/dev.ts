// `npm start` runs the whole stack on one machine. It prints its steps and all URLs, and restarts
// parts that die.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type Command, CommandError, runsUntilStopped } from '../commands/command';
import { hostPort } from '../config/setting-kinds';
import type { DevFile } from './dev-file';
import { type PartName, partNames } from './parts';
import { createProgress } from './progress';
import { startStack } from './stack';
import usageLines from './usage.json';

export const dev: Command<'dev'> = async ({ config, args }) => {
  const { without, receivers, setAside, help } = optionsOf(args);
  if (help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  if (setAside && config.databaseUrl) {
    throw new CommandError(
      '--set-aside moves the data folder, and not what DATABASE_URL names.',
      2,
    );
  }
  // The terminal may be closed, or a pipe that reads the lines. The stack must still stop in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const progress = createProgress(process.stdout);
  let giveUp: (error: Error) => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const starting = startStack({
    dataDir: config.dataDir,
    environment: config.environment,
    without,
    receivers,
    setAside,
    supervised: true,
    progress,
    onGivenUp: giveUp,
  });
  const stack = await Promise.race([starting, givenUp]);
  progress.line(banner(stack.addresses, without));
  const running = runsUntilStopped(() => progress.step('stopping everything', () => stack.stop()));
  const stopped = givenUp.catch(async (error: Error) => {
    progress.line(pc.red(`${error.message} Stopping everything.`));
    await stack.stop();
    throw error;
  });
  return { ...running, done: Promise.race([running.done, stopped]) };
};

// `scripts/start.mjs` prints the same lines before any package is installed.
const usage = usageLines.join('\n');

function optionsOf(args: readonly string[]) {
  const several = { type: 'string', multiple: true } as const;
  try {
    const flag = { type: 'boolean', default: false } as const;
    const options = { without: several, receiver: several, 'set-aside': flag, help: flag } as const;
    const { values } = parseArgs({ args: [...args], options });
    const { without = [], receiver = [], 'set-aside': setAside, help } = values;
    return {
      without: wordsOf(without).map(partOf),
      receivers: wordsOf(receiver).map(receiverOf),
      setAside,
      help,
    };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${(error as Error).message}\n${usage}`, 2);
  }
}

function wordsOf(given: readonly string[]): string[] {
  return given.flatMap((text) => text.split(',')).map((word) => word.trim());
}

function partOf(word: string): PartName {
  const part = partNames.find((name) => name === word);
  if (part) return part;
  throw new CommandError(`--without takes some of ${partNames.join(', ')}, not "${word}".`, 2);
}

function receiverOf(word: string): string {
  const { success, data } = hostPort().safeParse(word);
  if (success) return data;
  throw new CommandError(`--receiver takes host:port, as 127.0.0.1:9000, not "${word}".`, 2);
}

/**
 * The URL of a page of the Temporal UI that lists only the workflows of tasks. Watchers, callbacks
 * and reconciler runs are left out. Null if there is no Temporal UI.
 */
function tasksInTemporal({ temporalUi, environment }: DevFile): string | null {
  if (!temporalUi) return null;
  const workflows = `namespaces/${environment.TEMPORAL_NAMESPACE}/workflows`;
  const query = encodeURIComponent('WorkflowType="generateVideo"');
  return `${temporalUi.replace(/\/+$/, '')}/${workflows}?query=${query}`;
}

function banner(file: DevFile, without: readonly PartName[]): string {
  const { apiUrl, apiKey, environment } = file;
  const rows: [string, string | null][] = [
    ['API', apiUrl],
    ['API key', apiKey],
    ['Playground', `${file.playgroundUrl}/`],
    ['API docs', file.docsUrl],
    ['Console', file.consoleUrl],
    ['Console key', file.consoleUrl && `${file.consoleKey} (an owner, for the sign-in)`],
    ['Temporal UI', tasksInTemporal(file)],
    ['Studio', file.studioUrl],
    ['May call', `${environment.DANGEROUSLY_ALLOW_HOSTS} (DANGEROUSLY_ALLOW_HOSTS)`],
    ['Data, logs', environment.DATA_DIR ?? ''],
  ];
  const table = rows.flatMap(([name, value]) =>
    value ? [`  ${pc.bold(name.padEnd(12))} ${value}`] : [],
  );
  const body = '{"model":"studio-2.0","prompt":"A paper boat on a rainy street"}';
  return [
    '',
    // The time is measured from the start of the Node process, so it includes installing and
    // building.
    pc.green(`Everything runs, ${process.uptime().toFixed(1)} s after the command.`),
    ...(without.length > 0 ? [pc.yellow(`Left out: ${without.join(', ')}.`)] : []),
    '',
    ...table,
    '',
    'Try it:',
    `  curl -s ${apiUrl}/v1/videos/generations \\`,
    `    -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' \\`,
    `    -d '${body}'`,
    '',
    ...(file.temporalUi
      ? [
          'In the Temporal UI a task is the workflow with its id; the tab User Metadata has its state.',
        ]
      : []),
    'Ctrl-C stops everything. A part that dies is started again.',
  ].join('\n');
}
