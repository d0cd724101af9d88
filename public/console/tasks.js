// The list of all tasks.

import { html } from '../preact.js';
import { useTitle } from './parts.js';
import { TaskList } from './task-list.js';

export function TasksPage({ api, query }) {
  useTitle('Tasks');
  return html`
    <main>
      <h1>Tasks</h1>
      <${TaskList} ...${{ api, query }} view="tasks" />
    </main>
  `;
}
