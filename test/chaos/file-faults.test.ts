// One kill at each step that leaves something behind. All other kills are in the long tests.

import { fileKills, testFileFaults } from './file-faults';

const each = [
  'worker after the row of a result',
  'worker after the bytes of a copy',
  'storage after the head of a copy',
  'API after the bytes of an upload',
  'API after the record of an upload',
  'storage after the head of an upload',
  'API after the record of a deletion',
  'worker within the bytes of an output',
  'worker before the record of an output',
];

testFileFaults(
  fileKills.filter(([victim, when, { name }]) => each.includes(`${victim} ${when} ${name}`)),
  1,
);
