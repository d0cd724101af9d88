// Sends a create until the service answers it. The attempt is stored with its idempotency key, so
// it survives a reload of the page and an outage of the service. The key makes sure that repeated
// calls create only one task.

import { newAttempt, Unreachable } from './api.js';
import { useEffect, useRef, useState } from './preact.js';
import { note, recall, remember } from './session.js';

const againMs = 2_000;

/** A limit may ask for a longer pause. */
function pauseAfter({ retryAfter }, isLimited) {
  const ms = isLimited ? Math.max(againMs, 1_000 * (retryAfter || 0)) : againMs;
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Returns `{ state, fault, create, stop, clearFault }`. The state is 'idle' or 'sending', or 'waiting'
 * after a call without an answer, also while a limit refuses its repeat, or 'stopped' by the user:
 * then nobody knows whether there is a task.
 */
export function useAttempt(api, onCreated) {
  const [state, setState] = useState('idle');
  const [fault, setFault] = useState(null);
  const running = useRef(null);

  const send = async (attempt, isUnknownAtFirst) => {
    running.current = attempt.key;
    const isCurrent = () => running.current === attempt.key;
    setFault(null);
    setState('sending');
    // After a call without an answer the task may exist, so a limit does not end the attempt.
    let isUnknown = isUnknownAtFirst;
    while (isCurrent()) {
      try {
        const task = await api.create(attempt.body, attempt.key);
        // If the user has signed out or stopped, the task is not stored in this session. After a
        // visit of another view, an earlier call may have removed the attempt already.
        if (!isCurrent() && recall('attempt', null)?.key !== attempt.key) return;
        note(task.id, { body: attempt.body, draft: attempt.draft });
        remember('attempt', undefined);
        if (isCurrent()) onCreated(task);
        return;
      } catch (error) {
        if (!isCurrent()) return;
        const isLimited = isUnknown && error.status === 429;
        if (!(error instanceof Unreachable) && !isLimited) {
          end();
          setFault(error);
          return;
        }
        isUnknown = true;
        setState('waiting');
        if (isLimited) setFault(error);
        await pauseAfter(error, isLimited);
      }
    }
  };
  const end = (how = 'idle') => {
    running.current = null;
    remember('attempt', undefined);
    setState(how);
  };
  useEffect(() => {
    const left = recall('attempt', null);
    if (left) void send(left, true);
    // The calls stop when the user leaves the view. The stored attempt continues when the user
    // returns.
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
      void send(attempt, false);
    },
    stop: () => end('stopped'),
    clearFault: () => setFault(null),
  };
}
