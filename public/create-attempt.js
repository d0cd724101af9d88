// Sends a create once. An attempt has an idempotency key and is stored until it is answered, so it
// survives a reload and an outage of the service and makes one task however often it is sent.

import { newAttempt, Unreachable } from './api.js';
import { useEffect, useRef, useState } from './preact.js';
import { note, recall, remember } from './session.js';

const againMs = 2_000;

/**
 * `{ state, fault, create, stop }`; state is 'idle', 'sending', or 'waiting' for the service to
 * return.
 */
export function useAttempt(api, onCreated) {
  const [state, setState] = useState('idle');
  const [fault, setFault] = useState(null);
  const running = useRef(null);

  const send = async (attempt) => {
    running.current = attempt.key;
    const isCurrent = () => running.current === attempt.key;
    setFault(null);
    setState('sending');
    while (isCurrent()) {
      try {
        const task = await api.create(attempt.body, attempt.key);
        // The user signed out or gave up meanwhile, so the attempt no longer belongs to this
        // session.
        if (recall('attempt', null)?.key !== attempt.key) return;
        note(task.id, { body: attempt.body, draft: attempt.draft });
        remember('attempt', undefined);
        if (isCurrent()) onCreated(task);
        return;
      } catch (error) {
        if (!isCurrent()) return;
        if (!(error instanceof Unreachable)) {
          end();
          setFault(error);
          return;
        }
        setState('waiting');
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
  const end = () => {
    running.current = null;
    remember('attempt', undefined);
    setState('idle');
  };
  useEffect(() => {
    const left = recall('attempt', null);
    if (left) void send(left);
    // Leaving the view stops the calls. The stored attempt continues when the user returns.
    return () => {
      running.current = null;
    };
  }, []);

  return {
    state,
    fault,
    create(body, draft) {
      const attempt = { key: newAttempt(), body, draft };
      remember('attempt', attempt);
      void send(attempt);
    },
    stop: end,
    clearFault: () => setFault(null),
  };
}
