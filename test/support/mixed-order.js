// Sorts the test files: those that mostly wait run beside those that keep a core busy, so that no core
// is idle and no process is starved. The files of each kind are spread over the first part of the run,
// all others over the whole run. Most of these are short, so all workers end at about the same time.
// Within a kind the order is that of jest: the slowest first by the last run on this machine, or the
// largest.

const { default: Sequencer } = require('@jest/test-sequencer');

// A file is of the first kind that fits.
const kinds = [
  // Many processes each. All workers at once would starve them.
  { folders: /\/test\/chaos\//, part: 0.4 },
  // Services that mostly wait.
  { folders: /\/test\/(system|activities|embedded|dev-stack)\//, part: 0.5 },
  // Browsers.
  { folders: /\/test\/(console|playground)\//, part: 0.8 },
  { folders: /\//, part: 1 },
];

const kindOf = ({ path }) => kinds.find(({ folders }) => folders.test(path));

module.exports = class MixedOrder extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return kinds
      .flatMap((kind) => {
        const files = sorted.filter((test) => kindOf(test) === kind);
        return files.map((test, n) => ({ test, at: (n / files.length) * kind.part }));
      })
      .sort((a, b) => a.at - b.at)
      .map(({ test }) => test);
  }
};
