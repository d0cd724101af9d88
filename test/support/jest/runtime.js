// Loads each package once for all test files of a jest worker, with Node's own `require`. Jest would
// compile and evaluate all of them again for each file: that was a third of its processor time, and
// each file kept 50 MB. The modules of this repository are still evaluated again for each file, so
// that they share no state; only their compiled code is kept.
//
// Needs the environment beside it: packages and tests must have the same Error and Array.

const { createRequire, isBuiltin } = require('node:module');
const { isAbsolute } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: JestRuntime } = require('jest-runtime');

const compiled = new Map();

module.exports = class SharedPackages extends JestRuntime {
  constructor(...args) {
    super(...args);
    // Jest compiles in a context of the file's own, which this environment does not have.
    const { injectedModuleParameters } = this.executor;
    this.executor.compile = (source, filename) => {
      const known = compiled.get(filename);
      if (known?.source === source) return known.run;
      const run = compileFunction(source, injectedModuleParameters, { filename });
      compiled.set(filename, { source, run });
      return run;
    };
  }

  // The files of a worker have its true `process`, whose functions are right for packages.
  installGetBuiltinModule() {}

  requireModule(from, name, options, isRequireActual) {
    if (name && isPackage(name) && !options?.isInternalModule) {
      return this._environment.withPackage(() => createRequire(from)(name));
    }
    return super.requireModule(from, name, options, isRequireActual);
  }
};

const isPackage = (name) => !name.startsWith('.') && !isAbsolute(name) && !isBuiltin(name);
