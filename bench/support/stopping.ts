/** For the activities of a worker that does not stop. */
export const stopping = new AbortController().signal;
