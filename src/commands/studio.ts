// Runs the studio as a process. The studio is a separate program, so it gets single values instead
// of the config.

import { join } from 'node:path';
import { createStudio } from '../../studio/server';
import { lockStack } from '../dev-stack/lock';
import { type Command, CommandError, runsUntilStopped } from './command';

export const studio: Command<'studio'> = async ({ config, log }) => {
  const dataDir = join(config.dataDir, 'studio');
  // A second studio would replace the journal of the first.
  const lock = await lockStack(dataDir);
  const running = await createStudio({
    host: config.studioHost,
    port: config.studioPort,
    publicUrl: config.studioPublicUrl ?? undefined,
    samplesUrl: config.studioSamplesUrl ?? undefined,
    apiKey: config.studioApiKey,
    dataDir,
    // The studio is a provider: it fetches the media of callers and the files of the service.
    allowHosts: [...config.dangerouslyAllowHosts, ...config.dangerouslyAllowProviderHosts],
    maxRunning: 10,
    maxRenders: 2,
    ffmpegPath: config.ffmpegPath ?? undefined,
    log,
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CommandError(
      `Port ${config.studioPort} is taken. Stop what listens there, or set STUDIO_PORT to another port.`,
    );
  });
  return runsUntilStopped(() => running.close().finally(lock.release));
};
