// Limits stack traces in the workflow sandbox to four lines; loaded once, before the sandbox is
// sealed. The SDK records a stack for every promise, for the call stack in the Temporal UI, and
// maps each line to its source. With the default of ten lines this takes a fifth of a worker's time
// per task. Two of the four lines are the SDK's; the others show the call that waits and its
// caller.

Error.stackTraceLimit = 4;

export {};
