// Compares a refused POST with the call of a bare route that parses the same JSON.

import { atLeast, type Finding, type Row } from '../row';
import { requestText, runLoad } from '../support/http-load';
import { alternate, compare } from '../support/rounds';
import { createText } from '../support/tasks';
import type { World } from '../world';

export const refusedRow: Row = {
  name: 'refused',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const text = createText(await world.anAccount(), 'no-such-model');
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as unknown;
    const bareText = requestText('POST', '/', {}, body);
    const measure = async (url: string, request: string, awake: boolean) =>
      (
        await runLoad({
          url,
          awake,
          connections: 16,
          until: { seconds: quick ? 1 : 2 },
          request: () => request,
          check: ({ status, body }) => {
            if (status !== 400) throw new Error(`Refused with ${status}: ${body}`);
          },
        })
      ).perSecond;
    const found = async (awake: boolean) =>
      compare(
        await alternate(
          rounds,
          () => measure(world.apiUrl, text, awake),
          () => measure(world.bare.url, bareText, awake),
        ),
      );
    const sleeping = await found(false);
    const note = `${sleeping.ratio.toFixed(2)} with a client that has to be woken for each answer`;
    return [atLeast('refused POST (400)', '/s', await found(true), 0.5, note)];
  },
};
