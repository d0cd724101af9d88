// Sending a request so that it is sent once: an attempt has a key of its own, is kept until it is
// answered, survives a reload and a service that is away, and makes one task however often it had
// to be sent.

import { newAttempt, Unreachable } from './api.js';
import { note, recall, remember } from './session.js';
import { useEffect, useRef, useState } from './ui.js';

const againMs = 2_000;

/**
 * `{ state, fault, create, stop }`; state is 'idle', 'sending' or 'waiting' for the service to come
 * back.
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
        // Signed out meanwhile, or given up: then it is not this session's any more.
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
    // Leaving this view ends the asking; the attempt is kept, and coming back takes it up again.
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
