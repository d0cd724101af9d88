// The command `admin storage usage` shows how many files and bytes each account has.

import { readUsageByAccount } from '../../db/files/usage';
import type { AdminCommand } from './command-line';
import { table } from './tables';

export const storageUsage: AdminCommand = {
  name: 'storage usage',
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
