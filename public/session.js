// The data that survives a reload: the API key, the theme, the draft, a create without an answer, the
// forms of the console without an answer, and notes about tasks and files. The data is in session storage. The browser deletes the data
// when the tab is closed, and the page deletes the data when the user signs out.

const prefix = 'playground.';
const notesMax = 200;

/** What the storage did not take, because it is full or forbidden. A reload loses it. */
const memory = new Map();

export function recall(name, otherwise) {
  if (memory.has(name)) return memory.get(name);
  try {
    const text = sessionStorage.getItem(prefix + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  memory.delete(name);
  try {
    if (value === undefined) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    if (value !== undefined) memory.set(name, value);
  }
}

export function forgetEverything() {
  memory.clear();
  try {
    for (const name of Object.keys(sessionStorage)) {
      if (name.startsWith(prefix)) sessionStorage.removeItem(name);
    }
  } catch {
    // A forbidden storage has nothing to forget.
  }
}

/**
 * Facts about a task that the API does not report. This page knows them because it sent or watched
 * the task.
 */
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
 * Notes the time at which this page first saw the stage, because the API does not report that time.
 */
export function noteStage(taskId, stage) {
  const { seen = {} } = noteOf(taskId);
  if (seen[stage] === undefined) note(taskId, { seen: { ...seen, [stage]: Date.now() } });
}

/** The name of the uploaded file with this link; undefined if the page does not know the link. */
export function fileName(url) {
  return recall('files', {})[url];
}

export function noteFile({ url, name }) {
  const files = Object.entries({ ...recall('files', {}), [url]: name });
  remember('files', Object.fromEntries(files.slice(-notesMax)));
}
