// Builds the programs of a Temporal cluster from their Go module: the server, and the tool that
// creates its schema. The programs are kept in the cache, by version.

import { type ExecFileException, execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../../src/embedded/cache';
import { SetupError } from '../../src/embedded/setup-error';

const run = promisify(execFile);

// Later 1.30 releases need a newer Go than the Go in Debian and in most images.
const version = '1.30.8';

interface Programs {
  readonly server: string;
  readonly sqlTool: string;
}

const goIsMissing =
  'The Temporal cluster is built from source, so install Go 1.25 or later (https://go.dev/dl) and put it on PATH.';

/**
 * Builds the programs if they are not in the cache. A build takes minutes, so `say` announces it.
 */
export async function temporalPrograms(say?: (line: string) => void): Promise<Programs> {
  const folder = await cached({
    name: `temporal-cluster-${version}-${process.platform}-${process.arch}`,
    needs: ['server', 'sql'],
    async fill(draft) {
      say?.(
        `building the Temporal server ${version} with Go; the first time takes ten minutes or more`,
      );
      for (const program of ['cmd/server', 'cmd/tools/sql']) {
        const module = `go.temporal.io/server/${program}@v${version}`;
        try {
          await run('go', ['install', module], { env: { ...process.env, GOBIN: draft } });
        } catch (error) {
          const { stderr, message, code } = error as ExecFileException;
          if (code === 'ENOENT') throw new SetupError(goIsMissing);
          throw new SetupError(`"go install ${module}" failed:\n${stderr || message}`);
        }
      }
    },
  });
  return { server: join(folder, 'server'), sqlTool: join(folder, 'sql') };
}
