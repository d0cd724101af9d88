// Encrypts what tasks store in Temporal (inputs, results, answers of queries and updates), with
// AES-256-GCM. Ids, names of activities, times and search attributes stay readable: Temporal works
// with them. Off without a key; payloads that were stored before are read as they are.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { temporal } from '@temporalio/proto';

/** The first encrypts; each decrypts what it encrypted, so that a key can be replaced. */
export type PayloadKeys = readonly PayloadKey[];

interface PayloadKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const { Payload: serialized } = temporal.api.common.v1;
const encrypted = Buffer.from('binary/encrypted');
const nonceBytes = 12;
const tagBytes = 16;

/** The codec of a client or a worker; empty without keys. */
export function encryptionWith(keys: PayloadKeys): { readonly dataConverter?: DataConverter } {
  return keys.length > 0 ? { dataConverter: { payloadCodecs: [createPayloadCodec(keys)] } } : {};
}

export function createPayloadCodec(keys: PayloadKeys): PayloadCodec {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const [current] = keys;
  if (!current) throw new TypeError('A codec needs a key.');
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, current)),
    decode: async (payloads) =>
      payloads.map((payload) => {
        if (!isEncrypted(payload)) return payload;
        const id = Buffer.from(payload.metadata?.encryptionKeyId ?? []).toString();
        const key = byId.get(id);
        if (!key) throw new Error(`TEMPORAL_PAYLOAD_KEYS has no key "${id}".`);
        return decrypt(payload, key);
      }),
  };
}

function isEncrypted({ metadata }: Payload): boolean {
  return metadata?.encoding !== undefined && encrypted.equals(metadata.encoding ?? []);
}

function encrypt(payload: Payload, { id, key }: PayloadKey): Payload {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const text = cipher.update(serialized.encode(payload).finish());
  return {
    metadata: { encoding: encrypted, encryptionKeyId: Buffer.from(id) },
    data: Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]),
  };
}

function decrypt({ data }: Payload, { key }: PayloadKey): Payload {
  const bytes = Buffer.from(data ?? []);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  return serialized.decode(Buffer.concat([text, decipher.final()]));
}
