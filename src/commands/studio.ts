// The studio as a process of its own. It shares no code with the gateway, so all it is given is
// plain values.

import { createStudio } from '../studio/server';
import { type Command, CommandError } from './command';

export const studio: Command<'studio'> = async ({ config, log }) => {
  const running = await createStudio({
    host: config.studioHost,
    port: config.studioPort,
    publicUrl: config.studioPublicUrl ?? undefined,
    apiKey: config.studioApiKey,
    adminKey: config.studioAdminKey ?? undefined,
    dataDir: config.studioDataDir,
    allowHosts: [...config.dangerouslyAllowHosts],
    maxRunning: config.studioRunningMax,
    maxRenders: config.studioRendersMax,
    ffmpegPath: config.ffmpegPath ?? undefined,
    log,
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CommandError(
      `Port ${config.studioPort} is taken. Stop what listens there, or set STUDIO_PORT to another port.`,
    );
  });
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return {
    done,
    async stop() {
      await running.close();
      finish();
    },
  };
};
