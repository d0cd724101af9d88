// The button that sends a callback once more. Its receiver recognises the repeat by its id.

import { html, useState } from './preact.js';

/** `send` asks for it, and `onSent` reads again what is shown. */
export function SendAgain({ send, onSent, look = 'button' }) {
  const [said, setSaid] = useState('');
  const again = async () => {
    setSaid('…');
    try {
      await send();
      setSaid('It is sent again.');
      onSent();
    } catch (error) {
      setSaid(error.message);
    }
  };
  return html`<button type="button" class=${look} disabled=${said === '…'} onClick=${again}>Send again</button>
    ${said && html` <span role="status"><bdi>${said}</bdi></span>`}`;
}
