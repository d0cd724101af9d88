// Reads secrets from files, in which Docker and Kubernetes provide them. The variable NAME_FILE is
// the path of a file with the value of NAME. A secret in a file is safer than one in the
// environment, which tools such as `docker inspect` show.

import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

interface SecretFiles {
  readonly values: Readonly<Record<string, string>>;
  /** Settings for which a file was given, even if it could not be read. */
  readonly named: ReadonlySet<string>;
  readonly faults: readonly string[];
}

const ending = '_FILE';

export function secretFilesIn(
  environment: Environment,
  isSecret: (name: string) => boolean,
): SecretFiles {
  const values: Record<string, string> = {};
  const named = new Set<string>();
  const faults: string[] = [];
  for (const [variable, file] of Object.entries(environment)) {
    const name = variable.slice(0, -ending.length);
    if (!variable.endsWith(ending) || !file || !isSecret(name)) continue;
    named.add(name);
    if (environment[name]) {
      faults.push(`${name} and ${variable} are both set. Set one of them.`);
      continue;
    }
    try {
      const value = readFileSync(file, 'utf8').trim();
      if (value === '') faults.push(`${variable} is "${file}"; the file is empty.`);
      values[name] = value;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      faults.push(`${variable} is "${file}"; the file cannot be read (${code}).`);
    }
  }
  return { values, named, faults };
}
