// What a changed catalogue would change: prices, costs and margins of plain videos, what disappears, and
// what becomes dearer at the prices for everybody and at each price list.

import type { Catalogue, Model } from '../catalogue/catalogue.rules';
import { soldIn } from '../catalogue/catalogue.rules';
import { type ChannelMargin, chargesOf, plainMargins } from './margins.rules';
import { plainVideo } from './plain-video.rules';
import { withPriceList } from './price-lists.rules';

export interface Figures {
  readonly chargedMicros: number;
  readonly costMicros: number | null;
}

export interface ChannelDiff {
  readonly channel: string;
  readonly upstreamModel: string;
  /** Null if the catalogue has no such channel of the model. */
  readonly was: Figures | null;
  readonly is: Figures | null;
}

export interface ModelDiff {
  readonly model: string;
  /** The price of a second of a plain video; null if the model is not sold. */
  readonly wasMicros: number | null;
  readonly isMicros: number | null;
  readonly channels: readonly ChannelDiff[];
}

/** A model that is charged more. `list` is null for the prices for everybody. */
export interface Dearer {
  readonly list: string | null;
  readonly model: string;
  /** The video whose price rises most. */
  readonly video: string;
  readonly wasMicros: number;
  readonly isMicros: number;
}

export interface CatalogueDiff {
  /** Models that differ, and those that appear or disappear. */
  readonly models: readonly ModelDiff[];
  readonly channelsGone: readonly string[];
  readonly channelsNew: readonly string[];
  readonly listsGone: readonly string[];
  readonly dearer: readonly Dearer[];
}

export function diffCatalogues(was: Catalogue, is: Catalogue, now: number): CatalogueDiff {
  const [sold, offered] = [soldIn(was, now), soldIn(is, now)];
  const ids = [...new Set([...sold, ...offered].map(({ id }) => id))];
  const named = (models: readonly Model[], id: string) => models.find((one) => one.id === id);
  const models = ids.map((id) => modelDiff(id, was, named(sold, id), is, named(offered, id)));
  const lists = Object.keys(was.priceLists ?? {});
  const kept = lists.filter((list) => withPriceList(is, list));
  return {
    models: models.filter(hasChanged),
    channelsGone: missingIn(was.channels, is.channels),
    channelsNew: missingIn(is.channels, was.channels),
    listsGone: lists.filter((list) => !kept.includes(list)),
    dearer: [null, ...kept].flatMap((list) => dearerIn(was, is, list, now)),
  };
}

const missingIn = (one: object, other: object) =>
  Object.keys(one).filter((name) => !Object.hasOwn(other, name));

function modelDiff(
  id: string,
  was: Catalogue,
  before: Model | undefined,
  is: Catalogue,
  after: Model | undefined,
): ModelDiff {
  const [old, fresh] = [
    before ? plainMargins(was, before) : [],
    after ? plainMargins(is, after) : [],
  ];
  const places = [...new Map([...old, ...fresh].map((one) => [nameOf(one), one])).values()];
  return {
    model: id,
    wasMicros: before ? plainVideo(was, before).microsPerSecond : null,
    isMicros: after ? plainVideo(is, after).microsPerSecond : null,
    channels: places.map((place) => ({
      ...{ channel: place.channel, upstreamModel: place.upstreamModel },
      was: figuresOf(old, place),
      is: figuresOf(fresh, place),
    })),
  };
}

const nameOf = ({ channel, upstreamModel }: ChannelMargin) => `${channel} ${upstreamModel}`;

function figuresOf(margins: readonly ChannelMargin[], place: ChannelMargin): Figures | null {
  const found = margins.find((one) => nameOf(one) === nameOf(place));
  return found ? { chargedMicros: found.chargedMicros, costMicros: found.costMicros } : null;
}

function hasChanged({ wasMicros, isMicros, channels }: ModelDiff): boolean {
  return (
    wasMicros !== isMicros ||
    channels.some(
      ({ was, is }) =>
        was?.chargedMicros !== is?.chargedMicros || was?.costMicros !== is?.costMicros,
    )
  );
}

/** The models that cost more for the customers of a list, each with the video that rises most. */
function dearerIn(
  was: Catalogue,
  is: Catalogue,
  list: string | null,
  now: number,
): readonly Dearer[] {
  const [before, after] = [withPriceList(was, list), withPriceList(is, list)];
  if (!before || !after) return [];
  return soldIn(after, now).flatMap((model) => {
    const old = before.models[model.id];
    if (!old) return [];
    const prices = new Map(chargesOf(before, old).map((one) => [one.video, one.chargedMicros]));
    const risen = chargesOf(after, model).flatMap(({ video, chargedMicros: isMicros }) => {
      const wasMicros = prices.get(video);
      return wasMicros !== undefined && isMicros > wasMicros
        ? [{ list, model: model.id, video, wasMicros, isMicros }]
        : [];
    });
    const most = risen.sort((a, b) => b.isMicros / b.wasMicros - a.isMicros / a.wasMicros);
    return most.slice(0, 1);
  });
}
