// Calls the admin API with the session of the browser. A call returns the answer, or throws `Fault` if
// it was refused and `Unreachable` if nothing answered.

import { Fault, Unreachable } from '../api.js';

const patienceMs = 30_000;

async function ask(method, path, body) {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const reply = await fetch(path, {
    method,
    headers: { accept: 'application/json', ...json },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(patienceMs),
  }).catch(() => {
    throw new Unreachable('The console cannot be reached. Your connection or the console is down.');
  });
  if (reply.status === 204) return null;
  const answer = await reply.json().catch(() => undefined);
  if (reply.ok && answer !== undefined) return answer;
  if (reply.status >= 500 || answer === undefined) {
    throw new Unreachable(answer?.error?.message ?? 'The console does not answer at the moment.');
  }
  throw new Fault(reply.status, answer.error);
}

export function createApi(onSignedOut) {
  const call = async (method, path, body) => {
    try {
      return await ask(method, `/admin/v1${path}`, body);
    } catch (error) {
      if (error.status === 401) onSignedOut();
      throw error;
    }
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    remove: (path) => call('DELETE', path),
  };
}

export const signIn = (key) => ask('POST', '/session', { key });
export const signOut = () => ask('DELETE', '/session');
