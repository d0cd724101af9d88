// Translates a create in the form of Ark into ours. The items of `content` become the prompt and
// the media; every other option of Ark is one of our metadata fields.

import { isAbsent } from '../../../contract/field';
import { otherSpellingOf } from '../../../contract/near-names';
import { requestFields } from '../../../contract/request-schema';
import type { JsonObject } from '../../../contract/safe-json';
import { Refused } from '../../context';

const lists = { image_url: 'images', video_url: 'videos', audio_url: 'audios' } as const;
const sameName = ['model', 'resolution', 'ratio', 'duration'];
const onlyOurs = Object.keys(requestFields).filter((name) => !sameName.includes(name));

/** Every null counts as absent, because the client of Ark sends null for each unused field. */
export function nativeBody({ content, ...fields }: JsonObject): JsonObject {
  if (fields.metadata != null)
    throw faulty('metadata', 'there is no such field; options have no wrapper.');
  const body: Record<string, unknown> = {};
  const metadata: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (isAbsent(value)) continue;
    // Every task of ours has this tier, and lists take it as a filter.
    if (name === 'service_tier' && value === 'default') continue;
    if (otherSpellingOf(name, onlyOurs) !== undefined)
      throw faulty(name.slice(0, 80), 'there is no such field.');
    (sameName.includes(name) ? body : metadata)[name] = value;
  }
  return { ...body, ...mediaOf(content), metadata };
}

interface Item {
  readonly type: unknown;
  readonly role: string;
  readonly value: unknown;
}

function mediaOf(content: unknown): JsonObject {
  if (content === undefined || content === null) return {};
  if (!Array.isArray(content)) throw faulty('content', 'must be a list of texts and media.');
  const items = content.map(itemOf);
  const texts = items.filter(({ type }) => type === 'text').map(({ value }) => value);
  const media: Record<string, unknown[]> = {};
  const hasFrames = items.some(({ role }) => role === 'first_frame' || role === 'last_frame');
  for (const item of hasFrames ? inOrderOfFrames(items) : items) {
    const list = Object.hasOwn(lists, String(item.type)) && lists[item.type as 'image_url'];
    if (list) media[list] = [...(media[list] ?? []), item.value];
  }
  return {
    ...(texts.length > 0 ? { prompt: texts.join('\n') } : {}),
    ...media,
    ...(hasFrames ? { input_type: 'first_last_frame' } : {}),
    ...(!hasFrames && items.some(({ role }) => role.startsWith('reference_'))
      ? { input_type: 'reference' }
      : {}),
  };
}

const roles = {
  image_url: ['', 'first_frame', 'last_frame', 'reference_image'],
  video_url: ['', 'reference_video'],
  audio_url: ['', 'reference_audio'],
} as const satisfies Record<keyof typeof lists, readonly string[]>;

function itemOf(item: unknown, index: number): Item {
  const at = `content[${index}]`;
  if (typeof item !== 'object' || item === null) throw faulty(at, 'must be an object.');
  const fields = item as JsonObject;
  const { type } = fields;
  const isKnown = type === 'text' || (typeof type === 'string' && Object.hasOwn(lists, type));
  if (!isKnown) throw faulty(`${at}.type`, `must be text, ${Object.keys(lists).join(', ')}.`);
  refuseUnknown(at, fields, ['type', 'role', type]);
  const role = fields.role ?? '';
  if (type === 'text') {
    if (role !== '') throw faulty(`${at}.role`, 'belongs to media, not to a text.');
    if (typeof fields.text !== 'string') throw faulty(`${at}.text`, 'must be a text.');
    return { type, role: '', value: fields.text };
  }
  const possible: readonly string[] = roles[type as keyof typeof lists];
  if (typeof role !== 'string' || !possible.includes(role)) {
    throw faulty(`${at}.role`, `must be one of ${possible.slice(1).join(', ')}.`);
  }
  const named = fields[type];
  const media = typeof named === 'object' && named !== null ? (named as JsonObject) : {};
  refuseUnknown(`${at}.${type}`, media, ['url']);
  const { url } = media;
  if (typeof url !== 'string') throw faulty(`${at}.${type}.url`, 'must be a URL.');
  return { type, role, value: url };
}

/** Otherwise an option of an item would have no effect, and its caller would not know. */
function refuseUnknown(at: string, fields: JsonObject, known: readonly string[]): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || known.includes(name)) continue;
    throw faulty(
      `${at}.${name}`.slice(0, 80),
      `there is no such field; ${at} has ${known.join(', ')}.`,
    );
  }
}

/** Our contract names the first and the last frame by their places in `images`. */
function inOrderOfFrames(items: readonly Item[]): readonly Item[] {
  const place = ({ role }: Item) => ['first_frame', '', 'last_frame'].indexOf(role);
  const other = items.find((item) => place(item) < 0);
  if (other) throw faulty('content', `the role ${other.role} cannot be combined with frames.`);
  for (const role of ['first_frame', 'last_frame']) {
    if (items.filter((item) => item.role === role).length > 1) {
      throw faulty('content', `only one item can have the role ${role}.`);
    }
  }
  return items.toSorted((a, b) => place(a) - place(b));
}

function faulty(param: string, sentence: string): Refused {
  return new Refused({ code: 'invalid_value', param, message: `${param}: ${sentence}` });
}
