// Runs a test file in the realm of its jest worker, so that the files of a worker can share the
// packages (runtime.js). What a file changes in the realm is undone at its end.

const { AsyncLocalStorage } = require('node:async_hooks');
const timers = require('node:timers');
const laterTimers = require('node:timers/promises');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const ofPackages = new Set();

const faked =
  /^(Date|Intl|(set|clear)(Timeout|Interval|Immediate)|queueMicrotask|nextTick|hrtime)$/;
const clock = [globalThis, process, timers, laterTimers].flatMap((holder) =>
  Object.getOwnPropertyNames(holder)
    .filter((name) => faked.test(name))
    .map((name) => ({ holder, name, real: holder[name] })),
);

/** A package keeps the timers that it finds when it is loaded, so it finds no fake ones. */
function withRealClock(load) {
  const now = clock.map(({ holder, name }) => holder[name]);
  for (const { holder, name, real } of clock) holder[name] = real;
  try {
    return load();
  } finally {
    for (const [index, { holder, name }] of clock.entries()) holder[name] = now[index];
  }
}

// Before Node 24, each async-local storage that was ever used slows down every promise of the
// process, until it is disabled. Jest and each connection to Temporal make one per file.
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function runNoted(...args) {
  storages.add(this);
  return run.apply(this, args);
};

// Sums are kept by day and month, and a day of most time zones begins with an hour. No test begins
// shortly before an hour, and no file shortly before a day in UTC, so that none sees two days.
const shortlyBefore = {
  run_start: { everyMs: 86_400_000, lastMs: 120_000 },
  test_start: { everyMs: 3_600_000, lastMs: 15_000 },
};

module.exports = class OneRealm {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  // Those of jest before version 27, which no test uses.
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.before = {
      globals: Object.getOwnPropertyDescriptors(globalThis),
      env: { ...process.env },
      exit: process.exit,
    };
    Object.assign(globalThis, projectConfig.globals);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async handleTestEvent({ name }) {
    const near = shortlyBefore[name];
    if (!near) return;
    const leftMs = near.everyMs - (withRealClock(() => Date.now()) % near.everyMs);
    if (leftMs < near.lastMs) await withRealClock(() => laterTimers.setTimeout(leftMs));
  }

  /** Loads a package. Its globals stay, because it is loaded only once. */
  withPackage(load) {
    const known = new Set(Reflect.ownKeys(globalThis));
    const loaded = withRealClock(load);
    for (const key of Reflect.ownKeys(globalThis)) if (!known.has(key)) ofPackages.add(key);
    return loaded;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const storage of storages) storage.disable();
    storages.clear();
    const { globals, env, exit } = this.before;
    for (const key of Reflect.ownKeys(globalThis)) {
      const { writable, value } = globals[key] ?? {};
      // Node defines those that are not writable at their first use.
      if (writable) globalThis[key] = value;
      else if (!(key in globals || ofPackages.has(key))) Reflect.deleteProperty(globalThis, key);
    }
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return globalThis;
  }
};
