// Sorts the test files: the slowest first, so that all workers end at about the same time. Jest
// knows the time of a file from its last run on this machine. Without a last run, Jest sorts by
// file size. The files in `slowFolders` may be small, but they are slow, so they start first.

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
