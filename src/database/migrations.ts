// The migrations: an ordered list of named steps. There are no down migrations. A step that is frozen
// under test/releases is never changed or removed: each change of the schema is a new step at the end. A
// step only adds, so that processes of the version before can run on it: what they could not live with is
// removed a version later. That holds for the privileges in roles.ts too.

import { createHash } from 'node:crypto';
import { schema } from './schema';

interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [{ name: '0001_schema', sql: schema }];

/** Stored with each applied step. It is the same after a change of a comment or of blank space. */
export function hashOf({ sql }: Migration): string {
  const words = sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
  return createHash('sha256').update(words).digest('hex');
}
