// Encrypts data of customers with AES-256-GCM, the only cipher of the service. Encrypted bytes
// consist of a random nonce, the encrypted text, and the authentication tag. `place` says where the
// bytes are stored; the tag covers it, so bytes that were moved to another place are refused.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** The first key encrypts. The other keys only decrypt, so that a key can be replaced. */
export type KeyRing = readonly EncryptionKey[];

export interface EncryptionKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const nonceBytes = 12;
const tagBytes = 16;

/** Returns the key with this id. Throws an error that names the id if the ring has no such key. */
export function keyWithId(ring: KeyRing, id: string): EncryptionKey {
  const key = ring.find((known) => known.id === id);
  if (!key) throw new Error(`ENCRYPTION_KEYS has no key "${id}".`);
  return key;
}

export function encrypt(bytes: Uint8Array, { key }: EncryptionKey, place: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  const text = cipher.update(bytes);
  return Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]);
}

export function decrypt(bytes: Buffer, { key }: EncryptionKey, place: string): Buffer {
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([text, decipher.final()]);
}
