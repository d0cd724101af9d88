// Encrypts what tasks store in Temporal: inputs, results, and answers of queries and updates. Ids,
// names of activities, times and search attributes stay readable, because Temporal uses them.
// Without a key, nothing is encrypted. Payloads that were stored without encryption can still be
// read.

import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import {
  decrypt,
  type EncryptionKey,
  encrypt,
  type KeyRing,
  keyWithId,
} from '../encryption/key-ring';

const { Payload: serialized } = temporal.api.common.v1;
const encrypted = Buffer.from('binary/encrypted');

/** The options of a client or a worker that encrypt its payloads; empty if there is no key. */
export function encryptionWith(keys: KeyRing): { readonly dataConverter?: DataConverter } {
  return keys.length > 0 ? { dataConverter: { payloadCodecs: [createPayloadCodec(keys)] } } : {};
}

export function createPayloadCodec(keys: KeyRing): PayloadCodec {
  const [current] = keys;
  if (!current) throw new TypeError('A codec needs a key.');
  return {
    encode: async (payloads) => payloads.map((payload) => encryptPayload(payload, current)),
    decode: async (payloads) =>
      payloads.map((payload) => (isEncrypted(payload) ? decryptPayload(payload, keys) : payload)),
  };
}

function isEncrypted({ metadata }: Payload): boolean {
  return metadata?.encoding !== undefined && encrypted.equals(metadata.encoding ?? []);
}

function encryptPayload(payload: Payload, key: EncryptionKey): Payload {
  return {
    metadata: { encoding: encrypted, encryptionKeyId: Buffer.from(key.id) },
    data: encrypt(serialized.encode(payload).finish(), key),
  };
}

function decryptPayload({ metadata, data }: Payload, keys: KeyRing): Payload {
  const id = Buffer.from(metadata?.encryptionKeyId ?? []).toString();
  return serialized.decode(decrypt(Buffer.from(data ?? []), keyWithId(keys, id)));
}
