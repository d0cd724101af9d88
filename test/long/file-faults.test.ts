// Runs every kill during a copy, an upload or a deletion. The copies have at least 200
// tasks together.

import { fileKills, testFileFaults } from '../chaos/file-faults';

const copies = fileKills.filter(([, , { of }]) => of === 'copy').length;

testFileFaults(fileKills, Math.ceil(200 / copies));
