// What outlives a reload: the key, the draft, an attempt whose answer is outstanding, and what this
// page saw of its tasks. All of it is in session storage, so it goes with the tab; signing out
// forgets it at once.

const prefix = 'playground.';
const notesMax = 200;

export function recall(name, otherwise) {
  try {
    const text = sessionStorage.getItem(prefix + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    if (value === undefined) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    // A full or forbidden storage costs the memory of a reload, nothing else.
  }
}

export function forgetEverything() {
  for (const name of Object.keys(sessionStorage)) {
    if (name.startsWith(prefix)) sessionStorage.removeItem(name);
  }
}

/** What the API does not tell about a task but this page knows, since it sent or watched it. */
export function noteOf(taskId) {
  return recall('notes', {})[taskId] ?? {};
}

export function note(taskId, more) {
  const notes = recall('notes', {});
  notes[taskId] = { ...notes[taskId], ...more };
  const extra = Object.keys(notes).length - notesMax;
  for (const id of Object.keys(notes).slice(0, Math.max(0, extra))) delete notes[id];
  remember('notes', notes);
}

/**
 * The first time a stage was seen counts; without an own clock of the API it is the best there is.
 */
export function noteStage(taskId, stage) {
  const { seen = {} } = noteOf(taskId);
  if (seen[stage] === undefined) note(taskId, { seen: { ...seen, [stage]: Date.now() } });
}
