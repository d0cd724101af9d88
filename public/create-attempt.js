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
 * Returns `{ state, isStopped, fault, create, stop, clearFault }`. The state is 'idle' or 'sending',
 * or 'waiting' after a call without an answer, also while a limit refuses its repeat. After a stop,
 * nobody knows whether there is a task.
 */
export function useAttempt(api, onCreated) {
  const [state, setState] = useState('idle');
  const [fault, setFault] = useState(null);
  const [isStopped, setStopped] = useState(false);
  const running = useRef(null);

  const send = async (attempt, isUnknownAtFirst) => {
    running.current = attempt.key;
    const isCurrent = () => running.current === attempt.key;
    setFault(null);
    setStopped(false);
    setState('sending');
    // After a call without an answer the task may exist, so a limit does not end the attempt.
    let isUnknown = isUnknownAtFirst;
    while (isCurrent()) {
      try {
        const task = await api.create(attempt.body, attempt.key);
        // If the user has signed out or stopped the attempt in the meantime, the task is not stored
        // in this session.
        // If the user has left this view and returned, the first answer has removed the attempt.
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
  const end = () => {
    running.current = null;
    remember('attempt', undefined);
    setState('idle');
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
    isStopped,
    fault,
    create(body, draft) {
      const attempt = { key: newAttempt(), body, draft };
      remember('attempt', attempt);
      void send(attempt, false);
    },
    stop() {
      end();
      setStopped(true);
    },
    clearFault: () => setFault(null),
  };
}
