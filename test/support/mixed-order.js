// Sorts the test files: those that mostly wait run beside those that keep a core busy, so that no core
// is idle and no process is starved. The files of each kind are spread over the first part of the run,
// all others over the whole run. These are short, so all workers end at about the same time. Within a
// kind the order is that of jest: the slowest first by the last run on this machine, or the largest.

const { default: Sequencer } = require('@jest/test-sequencer');

const kinds = [
  // Many processes each. All workers at once would starve them.
  { folders: ['chaos'], part: 0.4 },
  // Services that mostly wait.
  { folders: ['system', 'activities', 'embedded', 'dev-stack'], part: 0.5 },
  // Browsers.
  { folders: ['console', 'playground'], part: 0.8 },
];

const spread = (files, part) => files.map((test, n) => ({ test, at: (n / files.length) * part }));

module.exports = class MixedOrder extends Sequencer {
  sort(tests) {
    let others = super.sort(tests);
    const mixed = kinds.flatMap(({ folders, part }) => {
      const isOfKind = ({ path }) => folders.some((folder) => path.includes(`/test/${folder}/`));
      const files = others.filter(isOfKind);
      others = others.filter((test) => !isOfKind(test));
      return spread(files, part);
    });
    return [...mixed, ...spread(others, 1)].sort((a, b) => a.at - b.at).map(({ test }) => test);
  }
};
