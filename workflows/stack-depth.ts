// Loaded once, before the sandbox in which the workflows run is sealed: how long a stack is in
// there. The SDK notes one for every promise, for the call stack that the Temporal UI shows, and
// translates each of its lines back to a source: with the usual ten lines that is a fifth of all
// that a worker does for a task. Of four, two are the SDK's own; the others say what is waited for
// and who waits.

Error.stackTraceLimit = 4;

export {};
