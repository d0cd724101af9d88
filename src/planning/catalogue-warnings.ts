// What is allowed in a catalogue but should be looked at: prices below the cost, closed channels, and
// models that end.

import { formatMicros } from '../accounts/amount.rules';
import type { Catalogue, Model } from '../catalogue/catalogue.rules';
import { pathText } from '../catalogue/checked-file';
import { type EnhancementLoss, enhancementLossesOf } from './enhancement-margins.rules';
import { type Loss, lossesOf } from './margins.rules';
import { withPriceList } from './price-lists.rules';

// A month is enough to tell callers and to move them.
const soonMs = 30 * 24 * 3_600_000;

/** Returns one sentence for each warning, with the path like a fault. */
export function warningsOf(catalogue: Catalogue, now: number): string[] {
  const ofModels = Object.values(catalogue.models).flatMap((model) => {
    const losses = lossesOf(catalogue, model).map((loss) => lossText(model, loss));
    const end = endText(model, now);
    const ids = model.channels.map(({ channel }) => channel);
    return [...losses, ...closedText(catalogue, ids, ['models', model.id]), ...(end ? [end] : [])];
  });
  const { superResolution: offer } = catalogue;
  const ofEnhancers = (offer ? enhancementLossesOf(offer) : []).map((loss) => enhancedText(loss));
  const closed = offer ? closedText(catalogue, offer.channels, ['superResolution']) : [];
  return [...ofModels, ...ofEnhancers, ...closed, ...listWarnings(catalogue)];
}

/** The losses at the prices of a list, which the prices for everybody may not have. */
function listWarnings(catalogue: Catalogue): readonly string[] {
  return Object.keys(catalogue.priceLists ?? {}).flatMap((name) => {
    const priced = withPriceList(catalogue, name);
    if (!priced) return [];
    const path = `${pathText(['priceLists', name])}: `;
    const { superResolution: offer } = priced;
    return [
      ...Object.values(priced.models).flatMap((model) =>
        lossesOf(priced, model).map((loss) => ({ ...loss, text: lossText(model, loss) })),
      ),
      ...(offer ? enhancementLossesOf(offer) : []).map((loss) => ({
        ...loss,
        text: enhancedText(loss),
      })),
    ].map(({ text, chargedMicros, costMicros }) => {
      const [of, sentence] = text.split(': ');
      const margin = formatMicros(chargedMicros - costMicros);
      return `${path}${sentence}, a margin of ${margin} (${of})`;
    });
  });
}

/** A channel may be closed for a while, for example while its provider repairs something. */
function closedText(
  { channels }: Catalogue,
  ids: readonly string[],
  path: readonly string[],
): readonly string[] {
  if (ids.some((id) => channels[id]?.jobsInFlightMax !== 0)) return [];
  const sentence = 'all have jobsInFlightMax 0, so its tasks are accepted and wait';
  return [`${pathText([...path, 'channels'])}: ${sentence}`];
}

function enhancedText(loss: EnhancementLoss): string {
  const { channel, resolution, seconds, chargedMicros, costMicros } = loss;
  const figures = `cost ${formatMicros(costMicros)} and are charged ${formatMicros(chargedMicros)}`;
  return `${pathText(['superResolution', 'costs', channel])}: ${seconds} s to ${resolution} ${figures}`;
}

function lossText({ id }: Model, loss: Loss): string {
  const { index, resolution, seconds, audio, hasVideo, chargedMicros, costMicros } = loss;
  const video = [
    `${seconds} s of ${resolution}`,
    ...(audio === null ? [] : [audio ? 'with audio' : 'without audio']),
    ...(hasVideo ? ['with reference video'] : []),
  ].join(' ');
  const figures = `cost ${formatMicros(costMicros)} and are charged ${formatMicros(chargedMicros)}`;
  return `${pathText(['models', id, 'channels', index, 'cost'])}: ${video} ${figures}`;
}

function endText({ id, retires, replacedBy, afterRetirement }: Model, now: number): string | null {
  if (retires === null || Date.parse(retires) - now > soonMs) return null;
  const path = pathText(['models', id, 'retires']);
  if (Date.parse(retires) <= now) return `${path}: the model is not sold since ${retires}`;
  const then = afterRetirement === 'move' ? 'moved to' : 'refused; its successor is';
  const rest = replacedBy === null ? 'refused' : `${then} ${replacedBy}`;
  return `${path}: the model ends on ${retires}; from then on requests are ${rest}`;
}
