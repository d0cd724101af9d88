// Tests one kill at each step that leaves something behind. The long tests have all kills.

import { fileKills, testFileFaults } from './file-faults';

const each = [
  'worker after the insert of a result row',
  'worker after the bytes of a copy',
  'storage after the request head of a copy',
  'API after the bytes of an upload',
  'API after the update that marks an upload as stored',
  'storage after the request head of an upload',
  'API after the update that marks a file as deleted',
];

testFileFaults(
  fileKills.filter(([victim, when, { name }]) => each.includes(`${victim} ${when} ${name}`)),
  1,
);
