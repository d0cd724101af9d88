// Loaded before anything else by a process whose machine has the wrong time: by a fixed difference,
// or by the one that a file holds now, so that the clock steps when the file changes.

const { readFileSync } = require('node:fs');

const file = process.env.CLOCK_SHIFT_FILE;
let shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const RealDate = Date;

if (file) {
  const read = () => {
    shiftMs = Number(readFileSync(file, 'utf8'));
  };
  read();
  setInterval(read, 50).unref();
}

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};
