// Uploads files to the service, one after the other.

import { kindNames } from './format.js';
import { useState } from './preact.js';
import { noteFile } from './session.js';

/**
 * `take(files)` uploads at most `room` files. After each upload, `take` calls `onStored` with the
 * link of the file. A file of another kind than `kind` is reported as a fault instead. `onUpload` is
 * called with 1 when the uploads begin, and with -1 when they have ended.
 */
export function useUploads(api, { kind, room, onStored, onUpload }) {
  const [busy, setBusy] = useState('');
  const [fault, setFault] = useState('');
  const take = async (list) => {
    const files = [...list];
    const faults = files.slice(room).map(({ name }) => `${name}: there is no room for it.`);
    onUpload(1);
    for (const file of files.slice(0, room)) {
      setBusy(file.name);
      try {
        const stored = await api.upload(file);
        if (!api.isSignedIn()) return;
        noteFile(stored);
        if (kind && stored.kind !== kind) {
          faults.push(`${file.name} is ${kindNames[stored.kind]}, not ${kindNames[kind]}.`);
        } else onStored(stored.url);
      } catch (error) {
        faults.push(`${file.name}: ${error.message}`);
      }
    }
    onUpload(-1);
    setBusy('');
    setFault(faults.join('\n'));
  };
  return { busy, fault, take };
}

/** Returns handlers for an element. Files that are dropped on the element are passed to `take`. */
export function useDrop(take) {
  const [isOver, setOver] = useState(false);
  const onDragOver = (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event) => {
    setOver(false);
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    void take(event.dataTransfer.files);
  };
  return { isOver, handlers: { onDragOver, onDragLeave: () => setOver(false), onDrop } };
}
