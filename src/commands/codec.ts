// The process that serves the codec endpoint of the Temporal UI. The endpoint has a separate
// process, because it needs the encryption keys and nothing else.

import { createCodecHandler } from '../engine/codec-server';
import { createPayloadCodec } from '../engine/payload-codec';
import { type Command, runsUntilStopped } from './command';
import { listen } from './http-server';

const port = 8234;

export const codec: Command<'codec'> = async ({ config, log }) => {
  const { encryptionKeys, temporalUiUrl, codecHost } = config;
  const uiOrigin = temporalUiUrl ? new URL(temporalUiUrl).origin : null;
  const handler = createCodecHandler(createPayloadCodec(encryptionKeys), uiOrigin);
  const server = await listen(handler, codecHost, port, { host: 'CODEC_HOST' });
  log.info({ event: 'listening', port: server.port }, `codec on port ${server.port}`);
  return runsUntilStopped(server.close);
};
