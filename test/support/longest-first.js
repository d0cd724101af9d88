// The order of the test files: the longest first, so that all workers end together. Jest knows the time
// of a file from its last run on this machine. On a new machine it takes the longest file for the
// slowest one; the files that start processes are short and slow.

const { default: Sequencer } = require('@jest/test-sequencer');

const slowFolders = ['/test/chaos/', '/test/system/', '/test/playground/', '/test/activities/'];

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const rankOf = ({ path, duration }) => {
      const rank =
        duration === undefined ? slowFolders.findIndex((part) => path.includes(part)) : 0;
      return rank === -1 ? slowFolders.length : rank;
    };
    return sorted.sort((a, b) => rankOf(a) - rankOf(b));
  }
};
