// Admin commands for ENCRYPTION_KEYS. One counts the stored rows that are encrypted with each key.
// The other finds the rows that are encrypted with other keys than the first, and encrypts them
// again with the first key.

import type { Config } from '../../config/config';
import { countByKey, type KeyUse, resealRows, sealedTables } from '../../db/reseal';
import { CommandError } from '../command';
import type { AdminCommand, Answer } from './command-line';
import { table } from './tables';

const keys: AdminCommand = {
  name: 'encryption keys',
  about: 'how many rows are encrypted with which key of ENCRYPTION_KEYS',
  async run({ config, db }) {
    return shown(config, await countByKey(db()));
  },
};

const reseal: AdminCommand = {
  name: 'encryption reseal',
  changes: () => ({ kind: 'service' }),
  about:
    'encrypts the rows under older keys with the first of ENCRYPTION_KEYS, while the service runs',
  async run({ config, committed }) {
    const [first] = config.encryptionKeys;
    if (!first) throw new CommandError('ENCRYPTION_KEYS is not set: there is no key to use.', 2);
    const all = async (): Promise<Answer> => {
      const rows = await resealRows(committed(), first.id);
      const { data, text } = shown(config, await countByKey(committed()));
      const left = data.keys.filter((use) => use.keyId !== first.id && sumOf(use) > 0);
      const again =
        left.length > 0
          ? `\n\nRows under ${left.map(({ keyId }) => `"${keyId}"`).join(', ')} are left, because they changed meanwhile or a process ` +
            'still encrypts with that key. Restart every process with the new order of keys and run the command again.'
          : '';
      return {
        data: { ...data, resealed: rows },
        text: `Rows that were encrypted again: ${rows}.\n\n${text}${again}`,
        exitCode: left.length > 0 ? 1 : 0,
      };
    };
    return { data: {}, text: '', afterwards: all };
  },
};

export const encryptionCommands = [keys, reseal];

const sumOf = (use: KeyUse) => sealedTables.reduce((sum, name) => sum + use[name], 0);

function shown({ encryptionKeys }: Config, uses: readonly KeyUse[]) {
  const [first] = encryptionKeys;
  const text = table(uses, [
    { title: 'KEY', of: ({ keyId }) => keyId },
    { title: 'FIRST', of: ({ keyId }) => (keyId === first?.id ? 'yes' : 'no') },
    ...sealedTables.map((name) => ({
      title: name.toUpperCase().replace('_', ' '),
      of: (use: KeyUse) => use[name],
    })),
  ]);
  return {
    data: { first: first?.id ?? null, keys: uses },
    text:
      `${text}\n\nThe histories of Temporal are not counted. They need a key until the retention of the namespace has passed ` +
      'after the end of the last workflow that began with it.',
  };
}
