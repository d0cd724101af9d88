// The panel that shows the current request as code, with a button to copy it.

import { languages } from './code.js';
import { CopyButton } from './controls.js';
import { html, useState } from './preact.js';

export function CodePanel({ body }) {
  const [chosen, setChosen] = useState('curl');
  const [, , write] = languages.find(([id]) => id === chosen);
  const text = write(location.origin, body);
  return html`
    <details class="codes">
      <summary>As code</summary>
      <div class="bar">
        ${languages.map(
          ([id, title]) => html`
            <button key=${id} type="button" class="tab" aria-pressed=${id === chosen}
              onClick=${() => setChosen(id)}>
              ${title}
            </button>
          `,
        )}
        <${CopyButton} text=${text} />
      </div>
      <pre tabindex="0"><code>${text}</code></pre>
    </details>
  `;
}
