// Reads secrets from files, because Docker and Kubernetes provide secrets as files. The variable
// NAME_FILE is the path of a file with the value of NAME. A file is safer than the environment,
// because tools such as `docker inspect` show the environment.

import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

interface SecretFiles {
  readonly values: Readonly<Record<string, string>>;
  /** Settings for which a file was given, even if the file could not be read. */
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
