// Calls the admin API with the session of the browser. A call returns the answer, or throws `Fault` if
// it was refused and `Unreachable` if nothing answered.

import { Fault, Unreachable } from '../api.js';

const patienceMs = 30_000;
// The console sends a list as CSV for a minute at most.
const exportPatienceMs = 90_000;

// A session ends some time after the last call that a person caused. The others say so.
const attendedMs = 60_000;
let touchedAt = Date.now();
for (const name of ['keydown', 'pointerdown', 'wheel']) {
  addEventListener(name, () => (touchedAt = Date.now()), { capture: true, passive: true });
}
const unattended = () => (Date.now() - touchedAt > attendedMs ? { 'x-unattended': '1' } : {});

const asJson = (reply) => reply.json();
const asText = (reply) => reply.text();

async function ask(method, path, body, { patience = patienceMs, read = asJson } = {}) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const reply = await fetch(path, {
    method,
    headers: { accept: 'application/json', ...json, ...unattended() },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(patience),
  }).catch(() => {
    throw new Unreachable('The console cannot be reached. Your connection or the console is down.');
  });
  if (reply.status === 204) return null;
  const answer = await (reply.ok ? read : asJson)(reply).catch(() => undefined);
  if (reply.ok && answer !== undefined) return answer;
  if (reply.status >= 500 || answer === undefined) {
    throw notAnswered(answer?.error?.message);
  }
  throw new Fault(reply.status, answer.error);
}

/** What the console said is more than the page knows. */
function notAnswered(said) {
  return Object.assign(new Unreachable(said ?? 'The console does not answer at the moment.'), {
    said,
  });
}

export function createApi(onSignedOut) {
  const call = async (method, path, body, how) => {
    try {
      return await ask(method, `/admin/v1${path}`, body, how);
    } catch (error) {
      if (error.status === 401) onSignedOut();
      throw error;
    }
  };
  return {
    get: (path) => call('GET', path),
    csv: (path) => call('GET', path, undefined, { patience: exportPatienceMs, read: asText }),
    post: (path, body) => call('POST', path, body),
    remove: (path) => call('DELETE', path),
  };
}

export const signIn = (key) => ask('POST', '/session', { key });
export const signOut = () => ask('DELETE', '/session');
