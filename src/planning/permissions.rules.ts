// What a key may use of the catalogue. The channels that it may not use are left out before anything
// is priced, so that no hold covers a channel that cannot get the task.

import type { Model, SuperResolutionOffer } from '../catalogue/catalogue.rules';
import { mayUseChannel } from '../catalogue/catalogue.rules';
import type { Refusal, RefusalCode } from '../contract/error';

/** The models and channels of a key; null means all. */
export interface Permissions {
  readonly models: readonly string[] | null;
  readonly channels: readonly string[] | null;
}

export function withOwnChannels(model: Model, { channels }: Permissions): Model {
  if (!channels) return model;
  const own = model.channels.filter(({ channel }) => mayUseChannel(channels, channel));
  return { ...model, channels: own };
}

/** Null if the key may use no channel that offers super-resolution. */
export function withOwnEnhancers(
  offer: SuperResolutionOffer | null,
  { channels }: Permissions,
): SuperResolutionOffer | null {
  if (!offer || !channels) return offer;
  const own = offer.channels.filter((channel) => mayUseChannel(channels, channel));
  return own.length > 0 ? { ...offer, channels: own } : null;
}

/** `own` is the model with the channels of the key. */
export function permissionFault(own: Model, { models }: Permissions): Refusal | null {
  if (models && !models.includes(own.id)) {
    return refusal('model_not_allowed', `This key may not use the model "${own.id}".`, 'model');
  }
  if (own.channels.length > 0) return null;
  const message = 'This key may use no channel that serves this model.';
  return refusal('channel_not_allowed', message, 'model');
}

export const noEnhancerAllowed = refusal(
  'channel_not_allowed',
  'This key may use no channel that offers super-resolution.',
  'metadata.super_resolution_config',
);

function refusal(code: RefusalCode, message: string, param: string): Refusal {
  return { code, param, message };
}
