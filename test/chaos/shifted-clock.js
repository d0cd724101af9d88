// Shifts the clock of a process that loads this file with --require. The difference is read from a
// file every 50 ms (CLOCK_SHIFT_FILE). The clock steps when the file changes.

const { readFileSync } = require('node:fs');

const file = process.env.CLOCK_SHIFT_FILE;
let shiftMs = 0;
const RealDate = Date;

const read = () => {
  shiftMs = Number(readFileSync(file, 'utf8'));
};
read();
setInterval(read, 50).unref();

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};
