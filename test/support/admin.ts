// Runs an admin command in this process.

import { runAdmin } from '../../src/commands/admin';
import { readConfig } from '../../src/config/config';

export interface Said {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  /** The data that was printed with `--json`, or the error. */
  // biome-ignore lint/suspicious/noExplicitAny: every command has its own shape; a wrong guess fails the expectation
  readonly json: any;
}

type Admin = (line: string | readonly string[], over?: object) => Promise<Said>;

export function adminWith(environment: () => Readonly<Record<string, string>>): Admin {
  return async (line, over = {}) => {
    const said = { out: '', err: '' };
    const config = readConfig('admin', { ...environment(), ...over });
    const exitCode = await runAdmin(config, typeof line === 'string' ? line.split(' ') : line, {
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    });
    return {
      exitCode,
      ...said,
      get json() {
        const body = JSON.parse(said.out);
        return 'error' in body ? body : body.data;
      },
    };
  };
}
