// Admin commands about files: how many files and bytes each account has, and the removal of one
// file.

import { readUsageByAccount } from '../../files/usage.rows';
import { takeDown } from '../../tasks/remove-files.rows';
import { CommandError } from '../command';
import type { AdminCommand, Input } from './command-line';
import { table } from './tables';

export const storageUsage: AdminCommand = {
  name: 'storage usage',
  http: { none: 'it reads every file' },
  about: 'files and bytes of every account that has files, the largest first',
  async run({ db }) {
    const data = await readUsageByAccount(db());
    if (data.length === 0) return { data, text: 'No account has files.' };
    const text = table(data, [
      { title: 'ACCOUNT', of: ({ accountId }) => accountId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'RESULTS', of: ({ results }) => results },
      { title: 'BYTES', of: ({ resultBytes }) => resultBytes },
      { title: 'NOT YET STORED', of: ({ awaited }) => awaited },
      { title: 'UPLOADS', of: ({ uploads }) => uploads },
      { title: 'BYTES', of: ({ uploadBytes }) => uploadBytes },
    ]);
    return { data, text };
  },
};

export const removeFile: AdminCommand = {
  name: 'files remove',
  http: { none: 'it names a file by its secret link' },
  operands: ['FILE'],
  changes: (input) => ({ kind: 'file', id: idOrToken(input) }),
  about: 'ends the link of one file, named by its link or its id; its bytes are deleted soon',
  async run({ db }, input) {
    const file = await takeDown(db(), idOrToken(input));
    if (!file)
      throw new CommandError(
        'There is no such file, it was removed before, or its task has not ended yet.',
      );
    const { id, accountId, taskId } = file;
    const of = taskId === null ? accountId : `the task ${taskId} of ${accountId}`;
    return { data: file, text: `The file ${id} of ${of} is removed.`, effect: 'stored → removed' };
  },
};

function idOrToken(input: Input): string {
  const named = input.operand('FILE');
  return /([\w-]{32,64})\.\w{1,8}(?:[?#].*)?$/.exec(named)?.[1] ?? named;
}
