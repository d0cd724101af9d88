// A replacement for `docker` on the PATH. It records its calls with the TAG of each, answers from a table,
// and fails where a test says so. It runs no container: test/containers runs the same scripts on an engine.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const project = resolve(__dirname, '../..');

// Each rule of the file `rules` is a line: a part of a call, the exit code, and what is printed.
const program = `#!/bin/sh
call="\${TAG:+TAG=$TAG }docker $*"
echo "$call" >> "$FAKE/calls"
case " $* " in *' exec -T postgres pg_restore '*|*' tar '*|*'psql -U video -d video '*) cat > /dev/null ;; esac
while IFS='|' read -r part code text; do
  case $call in *"$part"*) [ -z "$text" ] || echo "$text"; exit "$code" ;; esac
done < "$FAKE/rules"
exit 0
`;

export interface Rule {
  readonly when: string;
  readonly code?: number;
  readonly says?: string;
}

export function fakeDocker(rules: readonly Rule[]) {
  const folder = mkdtempSync(join(tmpdir(), 'video-deploy-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'fake'));
  for (const name of ['deploy', 'ops']) {
    cpSync(join(project, name), join(folder, name), { recursive: true });
  }
  writeFileSync(join(folder, 'bin/docker'), program, { mode: 0o755 });
  const calls = join(folder, 'fake/calls');
  return {
    folder,
    /** Runs the script, and answers differently to some calls. */
    run(script: string, args: readonly string[], others: readonly Rule[] = []) {
      const lines = [...others, ...rules].map(
        ({ when, code = 0, says = '' }) => `${when}|${code}|${says}\n`,
      );
      writeFileSync(join(folder, 'fake/rules'), lines.join(''));
      rmSync(calls, { force: true });
      const { status, stdout, stderr } = spawnSync(
        '/bin/sh',
        [`deploy/compose/${script}`, ...args],
        {
          cwd: folder,
          encoding: 'utf8',
          env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, FAKE: join(folder, 'fake') },
        },
      );
      const made = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
      return { status, stdout, stderr, calls: made };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
