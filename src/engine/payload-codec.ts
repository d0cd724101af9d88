// Encrypts what tasks store in Temporal: inputs, results, and answers of queries and updates. Ids,
// names of activities, times and search attributes stay readable, because Temporal uses them.
// A payload names its workflow, and the encryption covers this name, so a payload that was copied to
// another workflow is refused. Without a key, nothing is encrypted. Payloads that were stored
// without encryption can still be read, so that a key can be introduced while tasks run.

import type {
  DataConverter,
  Payload,
  PayloadCodec,
  SerializationContext,
} from '@temporalio/common';
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
    encode: async (payloads, context) =>
      payloads.map((payload) => encryptPayload(payload, current, context)),
    decode: async (payloads, context) =>
      payloads.map((payload) =>
        isEncrypted(payload) ? decryptPayload(payload, keys, context) : payload,
      ),
  };
}

function isEncrypted({ metadata }: Payload): boolean {
  return metadata?.encoding !== undefined && encrypted.equals(metadata.encoding ?? []);
}

function encryptPayload(
  payload: Payload,
  key: EncryptionKey,
  context: SerializationContext | undefined,
): Payload {
  const workflow = context?.workflowId ?? '';
  return {
    metadata: {
      encoding: encrypted,
      encryptionKeyId: Buffer.from(key.id),
      workflow: Buffer.from(workflow),
    },
    data: encrypt(serialized.encode(payload).finish(), key, workflow),
  };
}

/** The codec process has no context. It checks only that the payload belongs to the named workflow. */
function decryptPayload(
  { metadata, data }: Payload,
  keys: KeyRing,
  context: SerializationContext | undefined,
): Payload {
  const id = Buffer.from(metadata?.encryptionKeyId ?? []).toString();
  const workflow = Buffer.from(metadata?.workflow ?? []).toString();
  const read = context?.workflowId;
  if (read !== undefined && scheduleOf(read) !== scheduleOf(workflow)) {
    throw new Error(`A payload of the workflow "${workflow}" was found in "${read}".`);
  }
  const key = keyWithId(keys, id);
  let bytes: Buffer;
  try {
    bytes = decrypt(Buffer.from(data ?? []), key, workflow);
  } catch (error) {
    const message = `The key "${id}" of ENCRYPTION_KEYS did not encrypt this payload of "${workflow}".`;
    throw new Error(message, { cause: error });
  }
  return serialized.decode(bytes);
}

/**
 * The id of a run of a schedule without its time; any other id as it is. Temporal gives each run the
 * result of the previous one.
 */
function scheduleOf(id: string): string {
  return id.replace(/-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, '');
}
