// What a video is charged and what it costs at each channel of its model, before any is made.

import type { Catalogue, ChannelChoice, Model } from '../catalogue/catalogue.rules';
import { channelName, firstOfEach } from '../catalogue/catalogue.rules';
import type { Ratio, Resolution } from '../contract/vocabulary';
import { jobCostMicros } from './cost.rules';
import { plainVideo } from './plain-video.rules';
import { holdFor } from './pricing.rules';

interface Video {
  readonly resolution: Resolution;
  readonly ratio: Ratio;
  readonly seconds: number;
  readonly audio: boolean | null;
  readonly hasVideo: boolean;
}

export interface ChannelMargin {
  readonly channel: string;
  readonly upstreamModel: string;
  readonly chargedMicros: number;
  /** Null if the catalogue does not say what the channel costs. */
  readonly costMicros: number | null;
}

/** A video that is charged less than it costs. */
export interface Loss extends Video, ChannelMargin {
  readonly costMicros: number;
  /** The position of the channel in the entry of the model. */
  readonly index: number;
}

type Offer = Pick<Catalogue, 'currency'>;

/** The margins of a plain video. The keys of a channel count as one. */
export function plainMargins(offer: Offer, model: Model): readonly ChannelMargin[] {
  const plain = plainVideo(offer, model);
  const video = { ...plain, audio: model.audio ? true : null, hasVideo: false };
  return channelsOf(model).map((choice) => marginOf(offer, model, choice, video));
}

/** The first loss that is found for each channel, among the shortest and the longest videos. */
export function lossesOf(offer: Offer, model: Model): readonly Loss[] {
  return channelsOf(model).flatMap((choice, index) => {
    for (const video of videosOf(model)) {
      const margin = marginOf(offer, model, choice, video);
      const { costMicros, chargedMicros } = margin;
      if (costMicros !== null && costMicros > chargedMicros) {
        return [{ ...video, ...margin, costMicros, index }];
      }
    }
    return [];
  });
}

function channelsOf({ channels }: Model): readonly ChannelChoice[] {
  return firstOfEach(
    channels,
    ({ channel, upstreamModel }) => `${channelName(channel)} ${upstreamModel}`,
  );
}

function videosOf({ resolutions, ratios, durations, audio, inputs }: Model): readonly Video[] {
  const ratio = ratios.find((one) => one !== 'adaptive') ?? 'adaptive';
  return resolutions.flatMap((resolution) =>
    [durations.min, durations.max].flatMap((seconds) =>
      (audio ? [true, false] : [null]).flatMap((sound) =>
        (inputs.videosMax > 0 ? [false, true] : [false]).map((hasVideo) => ({
          ...{ resolution, ratio, seconds },
          ...{ audio: sound, hasVideo },
        })),
      ),
    ),
  );
}

/** A video in words, and what it is charged. */
export interface VideoCharge {
  readonly video: string;
  readonly chargedMicros: number;
}

/** What the shortest and the longest videos of a model are charged, through whichever channel. */
export function chargesOf(offer: Offer, model: Model): readonly VideoCharge[] {
  return videosOf(model).map((video) => {
    const { resolution, ratio, seconds, audio, hasVideo } = video;
    const extras = `${audio ? ', audio' : ''}${hasVideo ? ', a reference video' : ''}`;
    return {
      video: `${seconds} s ${resolution} ${ratio}${extras}`,
      chargedMicros: heldFor(offer, model, video).hold.amountMicros,
    };
  });
}

// Reference videos of this length stand for all others.
const referenceSeconds = 5;

const inputSecondsOf = ({ hasVideo }: Video) => (hasVideo ? referenceSeconds : 0);

function heldFor({ currency }: Offer, model: Model, video: Video) {
  const { resolution, ratio, seconds, audio, hasVideo } = video;
  return holdFor({
    ...{ model, currency, resolution, ratio, durationSeconds: seconds, audio },
    ...{ hasVideo, referenceMs: inputSecondsOf(video) * 1_000, draft: false },
    ...{ enhancement: null, superResolution: null },
  });
}

function marginOf(offer: Offer, model: Model, choice: ChannelChoice, video: Video): ChannelMargin {
  const { hold, channels } = heldFor(offer, { ...model, channels: [choice] }, video);
  const cost = channels[0]?.cost;
  // The tokens of a meter are ours. Those that the provider would bill are not known then.
  const completionTokens = choice.meter ? null : hold.tokens;
  const facts = {
    completionTokens,
    durationSeconds: video.seconds,
    inputSeconds: inputSecondsOf(video),
  };
  return {
    channel: channelName(choice.channel),
    upstreamModel: choice.upstreamModel,
    chargedMicros: hold.amountMicros,
    costMicros: cost ? jobCostMicros(cost, facts) : null,
  };
}
