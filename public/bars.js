// A chart of stacked bars. The arrow keys move over the bars, and the figures of a bar are read out below
// the chart. The first four series differ by a pattern too, so that nothing depends on colours alone.

import { html, newId, useLayoutEffect, useRef, useState } from './preact.js';

const height = 220;
const [left, bottom, top] = [4, 4, 12];
const patterns = ['M0 8L8 0', 'M0 0L8 8', 'M0 4H8', 'M4 0V8'];

/**
 * `columns` are `{ name, values }` with one value a series, and `series` are names. `text` formats a
 * value. A value below zero hangs below the line.
 */
export function Bars({ label, columns, series, text }) {
  const [chart, width] = useWidth();
  const [prefix] = useState(() => newId('bars'));
  const [at, setAt] = useState(null);
  const [least, most] = bounds(columns);
  const y = (value) => top + ((most - value) / (most - least)) * (height - top - bottom);
  const step = (width - 2 * left) / Math.max(1, columns.length);
  const fill = (index) => (index < patterns.length ? `url(#${prefix}-${index})` : colour(index));
  const onKeyDown = (event) => {
    const next = afterKey(event.key, at, columns.length - 1);
    if (next === undefined) return;
    event.preventDefault();
    setAt(next);
  };
  const shown = at === null ? undefined : columns[at];
  return html`
    <figure class="bars">
      <p class="scale small">${least < 0 ? `${text(least)} to ` : ''}${text(most)}</p>
      <svg ref=${chart} role="img" aria-label=${label} tabindex="0" width=${width} height=${height}
        viewBox=${`0 0 ${width} ${height}`} onKeyDown=${onKeyDown}>
        <${Patterns} prefix=${prefix} />
        <path class="line" d=${`M0 ${y(most)}H${width}M0 ${y((most + least) / 2)}H${width}`} />
        ${columns.map(
          ({ name, values }, index) => html`
            <g key=${name} class=${index === at ? 'bar chosen' : 'bar'} data-name=${name}
              onPointerEnter=${() => setAt(index)}>
              <rect class="reach" x=${left + index * step} y="0" width=${step} height=${height} />
              ${stacked(values).map(
                ([from, to, value], one) =>
                  value !== 0 &&
                  html`<rect key=${one} fill=${fill(one)}
                    data-series=${series[one]} data-value=${value} x=${left + (index + 0.1) * step} width=${step * 0.8}
                    y=${y(Math.max(from, to))} height=${Math.max(1, Math.abs(y(from) - y(to)))} />`,
              )}
            </g>
          `,
        )}
        <path class="line axis" d=${`M0 ${y(0)}H${width}`} />
      </svg>
      <p class="ends small"><span>${columns[0]?.name}</span><span>${columns.at(-1)?.name}</span></p>
      <p class="said" role="status">
        ${shown ? said(shown, series, text) : 'Point at a bar, or move over the bars with the arrow keys.'}
      </p>
      ${series.length > 1 && html`<${Legend} series=${series} fill=${fill} />`}
    </figure>
  `;
}

const colour = (index) => `var(--series-${index})`;

/** The bar to which a key leads; undefined for any other key. */
function afterKey(key, at, last) {
  const next = {
    ...{ ArrowLeft: Math.max(0, (at ?? last + 1) - 1), Home: 0 },
    ...{ ArrowRight: Math.min(last, (at ?? -1) + 1), End: last },
  };
  return next[key];
}

function Legend({ series, fill }) {
  return html`<ul class="legend">
    ${series.map(
      (name, index) => html`<li key=${name}>
        <svg width="14" height="14" aria-hidden="true">
          <rect fill=${fill(index)} width="14" height="14" />
        </svg>
        <bdi>${name}</bdi>
      </li>`,
    )}
  </ul>`;
}

function Patterns({ prefix }) {
  return html`<defs>
    ${patterns.map(
      (d, index) => html`<pattern key=${d} id=${`${prefix}-${index}`} width="8" height="8"
        patternUnits="userSpaceOnUse">
        <rect fill=${colour(index)} width="8" height="8" /><path class="hatch" d=${d} />
      </pattern>`,
    )}
  </defs>`;
}

/** The chart is drawn as wide as its place, so that its lines keep their width. */
function useWidth() {
  const chart = useRef(null);
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.max(200, chart.current.parentElement.clientWidth));
    const observer = new ResizeObserver(measure);
    observer.observe(chart.current.parentElement);
    return () => observer.disconnect();
  }, []);
  return [chart, width];
}

/** Where each value begins and ends. Those below zero are stacked on their own side. */
function stacked(values) {
  let [above, below] = [0, 0];
  return values.map((value) => {
    const from = value < 0 ? below : above;
    if (value < 0) below += value;
    else above += value;
    return [from, from + value, value];
  });
}

function bounds(columns) {
  const ends = columns.flatMap(({ values }) => stacked(values).map(([, to]) => to));
  const [least, most] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return most === least ? [0, 1] : [least, most];
}

function said({ name, values }, series, text) {
  const sum = text(values.reduce((one, other) => one + other, 0));
  const parts = values.flatMap((value, at) => (value ? [`${series[at]} ${text(value)}`] : []));
  return html`<bdi>${name}: ${sum}${series.length > 1 && parts.length > 0 ? ` (${parts.join(', ')})` : ''}</bdi>`;
}
