// Calls the API. A call returns the answer or throws one of two errors: `Fault` if the API refused
// the call, `Unreachable` if the service did not answer. The key is sent only in the Authorization
// header.

import { recall } from './session.js';

/** A refusal by the API, with its message, param and code. */
export class Fault extends Error {
  constructor(status, { message = '', param = '', code = '' } = {}, retryAfter = 0) {
    super(message || `The service answered ${status}.`);
    this.status = status;
    this.param = param;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Thrown if there is no answer, if the status is 500 or more, or if the answer is not JSON. */
export class Unreachable extends Error {}

/** `ifLost`: what to do if the call was carried out, but its answer was lost. */
export const sentenceOf = (error, ifLost) =>
  error instanceof Unreachable ? `${error.message} ${ifLost}` : error.message;

// These limits are longer than the service's own time limits, so that the service answers first.
const patienceMs = 30_000;
const uploadPatienceMs = 660_000;

export function createApi(key, { onSignedOut } = {}) {
  const isSignedIn = () => recall('key', '') === key;
  const ask = async (path, init, patience) => {
    const headers = { accept: 'application/json', authorization: `Bearer ${key}`, ...init.headers };
    const reply = await send(path, { ...init, headers }, patience);
    const json = await reply.json().catch(() => undefined);
    if (reply.ok && json !== undefined) return json;
    // A late answer to an ended session does not end the next one.
    if (reply.status === 401 && isSignedIn()) onSignedOut?.();
    // After `Unreachable` the page repeats only reads and creates. A repeated create is safe,
    // because it has the same idempotency key.
    if (reply.status >= 500 || json === undefined) {
      throw new Unreachable(json?.error?.message ?? 'The service does not answer at the moment.');
    }
    throw new Fault(reply.status, json.error, Number(reply.headers.get('retry-after') ?? 0));
  };
  const call = (method, path, body, headers = {}) =>
    body === undefined
      ? ask(path, { method, headers })
      : ask(path, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
  return {
    isSignedIn,
    get: (path) => call('GET', path),
    remove: (path) => call('DELETE', path),
    /**
     * The service determines the type of a file from its bytes, so this content type may be wrong.
     */
    upload: (file) =>
      ask(
        `/v1/files?name=${encodeURIComponent(file.name)}`,
        {
          method: 'POST',
          headers: { 'content-type': file.type || 'application/octet-stream' },
          body: file,
        },
        uploadPatienceMs,
      ),
    quote: (body) => call('POST', '/v1/videos/quotes', body),
    /** `attempt` is the idempotency key: every call with the same key returns the same task. */
    create: (body, attempt) =>
      call('POST', '/v1/videos/generations', body, { 'idempotency-key': attempt }),
    task: (id) => call('GET', `/v1/videos/generations/${encodeURIComponent(id)}`),
    cancel: (id) => call('DELETE', `/v1/videos/generations/${encodeURIComponent(id)}`),
    removeContent: (id) =>
      call('DELETE', `/v1/videos/generations/${encodeURIComponent(id)}/content`),
    request: (id) => call('GET', `/v1/videos/generations/${encodeURIComponent(id)}/request`),
    callbacks: (id) => call('GET', `/v1/videos/generations/${encodeURIComponent(id)}/callbacks`),
    resend: (id) =>
      call('POST', `/v1/videos/generations/${encodeURIComponent(id)}/callbacks/resend`),
    post: (path, body) => call('POST', path, body),
    /** The answer as CSV. */
    csv: async (path) => {
      const headers = { accept: 'text/csv', authorization: `Bearer ${key}` };
      const reply = await send(path, { headers });
      if (!reply.ok) throw new Unreachable(`The service answered ${reply.status}.`);
      return reply.text();
    },
  };
}

/** Loads the data that needs no key: the samples, and the URL of the Temporal UI. */
export async function loadSurroundings() {
  const reply = await send('/playground.json', {});
  return reply.json();
}

async function send(path, init, patience = patienceMs) {
  try {
    return await fetch(path, { ...init, signal: AbortSignal.timeout(patience) });
  } catch {
    throw new Unreachable('The service cannot be reached. Your connection or the service is down.');
  }
}

/**
 * Returns a new idempotency key. Unlike `crypto.randomUUID`, this function also works without
 * https.
 */
export function newAttempt() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
