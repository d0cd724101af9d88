import type { Exchange, Log } from './http';
import { ProtocolError } from './protocol-error';
export function createSamples(_folder: string, _ffmpegPath: string | undefined, _log: Log) {
  return {
    file(_path: string): string | undefined {
      return undefined;
    },
    async serve(_e: Exchange) {
      throw new ProtocolError(404, 'NotFound', 'no sample');
    },
    prepare() {},
    async close() {},
  };
}
