// Sorts the test files: the slowest first, so that all workers end at about the same time. Jest
// knows the time of a file from its last run on this machine. Without a last run, Jest sorts by
// file size. The files in `slowFolders` may be small, but they are slow, so they start first. The files
// in `worlds` start many processes each. All workers at once would starve them, so they are spread.

const { default: Sequencer } = require('@jest/test-sequencer');

const worlds = '/test/chaos/';
const between = 6;
const slowFolders = ['/test/system/', '/test/playground/', '/test/activities/'];

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const rankOf = ({ path, duration }) => {
      const rank =
        duration === undefined ? slowFolders.findIndex((part) => path.includes(part)) : 0;
      return rank === -1 ? slowFolders.length : rank;
    };
    sorted.sort((a, b) => rankOf(a) - rankOf(b));
    const ofWorlds = sorted.filter(({ path }) => path.includes(worlds));
    const others = sorted.filter(({ path }) => !path.includes(worlds));
    return [...ofWorlds.flatMap((one) => [one, ...others.splice(0, between)]), ...others];
  }
};
