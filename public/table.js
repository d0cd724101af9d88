// A table of rows, for both pages.

import { count, exactMoney } from './format.js';
import { html } from './preact.js';

/**
 * `columns`: `[title, shownOf(row), isNumber]`. `total`: a row whose numbers stand below all others.
 * `totalTitle`: what they are. `look`: a class. In the console the rows become cards on a phone, and the
 * first link of a row opens it.
 */
export function Table({ label, columns, rows, keyOf, total, totalTitle = 'Total', look }) {
  const shown = columns.filter(Boolean);
  const numbers = shown.filter(([, , isNumber]) => isNumber);
  return html`<table aria-label=${label} class=${look}>
    <thead>
      <tr>
        ${shown.map(
          ([title, , isNumber]) =>
            html`<th key=${title} scope="col" class=${classOf(isNumber)}>${title}</th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr key=${keyOf(row)}>
          ${shown.map(
            ([title, shownOf, isNumber]) => html`<td key=${title} data-label=${title}
              class=${classOf(isNumber)}><div>${shownOf(row) ?? '–'}</div></td>`,
          )}
        </tr>`,
      )}
    </tbody>
    ${
      total &&
      html`<tfoot>
        <tr>
          <th scope="row" colspan=${shown.length - numbers.length}>${totalTitle}</th>
          ${numbers.map(
            ([title, shownOf]) => html`<td key=${title} data-label=${title} class="number">
              <div>${shownOf(total) ?? '–'}</div></td>`,
          )}
        </tr>
      </tfoot>`
    }
  </table>`;
}

const classOf = (isNumber) => (isNumber ? 'number' : 'text');

/** What customers see of usage. */
export const usageColumns = [
  ['Charged', ({ charged }) => exactMoney(charged), true],
  ['Tasks', ({ tasks }) => count(tasks), true],
  ['Failed', ({ failed }) => count(failed), true],
  ['Seconds', ({ seconds }) => count(seconds), true],
];
