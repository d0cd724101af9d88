// Every kill of a copy, an upload, a deletion and an output, with 200 tasks in all.

import { fileKills, testFileFaults } from '../chaos/file-faults';

const copies = fileKills.filter(([, , { of }]) => of === 'copy').length;

testFileFaults(fileKills, Math.ceil(200 / copies));
