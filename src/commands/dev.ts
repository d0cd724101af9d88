// `npm start`: the stack for a person who wants to see it work. Says what it does, prints where
// everything is, and starts again what dies.

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { stopAllChildren } from '../embedded/child';
import { type Command, CommandError } from './command';
import type { DevFile } from './dev-file';
import { createProgress } from './progress';
import { type Stack, startStack } from './stack';
import { type PartName, partNames } from './stack-site';

export const dev: Command<'dev'> = async ({ config, args }) => {
  const without = partsLeftOut(args);
  const progress = createProgress(process.stdout);
  const startedAt = Date.now();
  let stack: Stack | undefined;
  let stopping = false;
  let finish: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });

  const starting = startStack({
    dataDir: config.dataDir,
    environment: config.environment,
    without,
    supervised: true,
    progress,
    onGivenUp(error) {
      progress.line(pc.red(`${error.message} Stopping everything.`));
      void (stack?.stop() ?? stopAllChildren(3_000)).finally(() => fail(error));
    },
  });
  starting.then(
    (started) => {
      stack = started;
      if (!stopping) progress.line(banner(started.addresses, Date.now() - startedAt, without));
    },
    (error: Error) => {
      if (!stopping) fail(error);
    },
  );

  return {
    done,
    async stop() {
      stopping = true;
      await progress.step('stopping', async (say) => {
        if (stack) await stack.stop();
        else await stopMidway(starting);
        say('everything is stopped');
      });
      finish();
    },
  };
};

/** Nobody holds all the parts yet: those that run are stopped, which ends the start. */
async function stopMidway(starting: Promise<Stack>): Promise<void> {
  await stopAllChildren(5_000);
  const soon = new Promise((resolve) => setTimeout(resolve, 1_000));
  await Promise.race([starting.then((stack) => stack.stop()).catch(() => undefined), soon]);
}

function partsLeftOut(args: readonly string[]): PartName[] {
  const options = { without: { type: 'string', multiple: true } } as const;
  let given: readonly string[];
  try {
    given = parseArgs({ args: [...args], options }).values.without ?? [];
  } catch (error) {
    throw new CommandError(`npm start takes --without <parts>. ${(error as Error).message}`, 2);
  }
  return given
    .flatMap((text) => text.split(','))
    .map((word) => {
      const part = partNames.find((name) => name === word.trim());
      if (part) return part;
      throw new CommandError(`--without takes some of ${partNames.join(', ')}, not "${word}".`, 2);
    });
}

function banner(file: DevFile, tookMs: number, without: readonly PartName[]): string {
  const { apiUrl, apiKey, environment } = file;
  const rows: [string, string | null][] = [
    ['API', apiUrl],
    ['API key', apiKey],
    ['Playground', `${file.playgroundUrl}/`],
    ['API docs', file.docsUrl],
    ['Temporal UI', file.temporalUi],
    ['Studio', file.studioUrl],
    ['Reachable', `${environment.DANGEROUSLY_ALLOW_HOSTS} (DANGEROUSLY_ALLOW_HOSTS)`],
    ['Data, logs', environment.DATA_DIR ?? ''],
  ];
  const table = rows.flatMap(([name, value]) =>
    value ? [`  ${pc.bold(name.padEnd(12))} ${value}`] : [],
  );
  const body = '{"model":"studio-2.0","prompt":"A paper boat on a rainy street"}';
  return [
    '',
    pc.green(`Everything runs (${(tookMs / 1000).toFixed(1)} s).`),
    ...(without.length > 0 ? [pc.yellow(`Left out: ${without.join(', ')}.`)] : []),
    '',
    ...table,
    '',
    'Try it:',
    `  curl -s ${apiUrl}/v1/videos/generations \\`,
    `    -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' \\`,
    `    -d '${body}'`,
    '',
    'Ctrl-C stops everything. A part that dies is started again.',
  ].join('\n');
}
