// The price card of the form: the amount that the task would hold. The page asks for a quote 350 ms
// after the last change of the form. The API stores nothing for a quote.

import { Fault } from './api.js';
import { count, exactMoney, itemNames, money, span, unitPrice } from './format.js';
import { html, useEffect, useState } from './preact.js';

const pauseMs = 350;
// If there is no answer, or a limit refuses the call, it is repeated after this time.
const againMs = 3_000;

/**
 * Returns `{ quote, fault, lost, busy }`. While `busy` is true, `quote` still belongs to the
 * previous request.
 */
export function useQuote(api, body) {
  // The price does not depend on the prompt, so an empty prompt is quoted too.
  const text = JSON.stringify(body.prompt.trim() ? body : { ...body, prompt: '…' });
  const [state, setState] = useState({ busy: true });
  useEffect(() => {
    let current = true;
    setState(({ quote }) => ({ quote, busy: true }));
    let timer = setTimeout(ask, pauseMs);
    async function ask() {
      const answer = await api.quote(JSON.parse(text)).then(
        (quote) => ({ quote }),
        (error) => {
          const lost = !(error instanceof Fault) || error.status === 429;
          return { fault: lost ? null : error, lost };
        },
      );
      if (!current) return;
      setState({ ...answer, busy: false });
      if (answer.lost) timer = setTimeout(ask, againMs);
    }
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [api, text]);
  return state;
}

export function Quote({ quote, busy, fault, lost, account }) {
  if (!quote)
    return html`<section class="ticket empty" aria-label="Quote"><h2>Quote</h2><p>
      ${whyNone(busy, fault, lost)}</p></section>`;
  const { tokens, currency, hold, items, width, height, duration } = quote;
  const available = account.value?.available;
  const isShort = available !== undefined && Number(available) < Number(hold);
  return html`
    <section class=${busy ? 'ticket busy' : 'ticket'} aria-label="Quote" aria-live="polite">
      <h2>Quote</h2>
      <p class="sum"><strong data-test="hold">${money(hold)}</strong> ${currency}</p>
      <dl>
        <div><dt>Frame</dt><dd>${width ? `${width} × ${height}` : 'adaptive'}</dd></div>
        <div><dt>Length</dt><dd>${duration > 0 ? span(duration) : 'the model picks'}</dd></div>
        <div><dt>Tokens, at most</dt><dd>${count(tokens)}</dd></div>
      </dl>
      <${Items} items=${items} />
      ${
        isShort &&
        html`<p
        class="fault">Available: ${exactMoney(available, currency)}. This is not enough
          for${' '}${exactMoney(hold, currency)}.</p>`
      }
      <p class="small">
        Held when you create the task. What it really used is charged, the rest returns; a failed
        task costs nothing.
      </p>
    </section>
  `;
}

export function Items({ items }) {
  if (items.length === 0) return null;
  return html`
    <table class="items">
      <tbody>
        ${items.map(
          (item) => html`
            <tr key=${item.kind}>
              <th scope="row">
                ${itemNames[item.kind] ?? item.kind}
                <small>${workOf(item)}</small>
              </th>
              <td>${exactMoney(item.amount)}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

/**
 * The quantity and unit price of an item. Tokens are shown as a plain number, but their price is
 * per million.
 */
function workOf({ quantity, unit, unit_price: price }) {
  if (!unit.startsWith('1M ')) return `${count(quantity)} ${unit} × ${unitPrice(price)}`;
  return `${count(Number(quantity) * 1e6)} ${unit.slice(3)} at ${unitPrice(price)} a million`;
}

function whyNone(busy, fault, lost) {
  if (busy) return 'Asking…';
  if (lost) return 'The service does not answer at the moment; it is asked again.';
  return fault ? 'The price appears when the form is complete.' : '';
}
