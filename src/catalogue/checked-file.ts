// A catalogue file whose fields are correct, and the facts about the protocols of its channels.

import { assert } from '../assert';
import type { EnhancerLimits } from '../planning/enhancers.rules';
import type { ProtocolFacts, ProtocolTable } from './protocol-facts.rules';
import type { CatalogueFile, ModelEntry } from './schema';

/** The file, with the protocols that its channels may speak. */
export interface CheckedFile extends CatalogueFile {
  readonly protocols: ProtocolTable;
}

/** Reports a fault of the field at this path. */
export type Say = (path: readonly PropertyKey[], sentence: string) => void;

/** The path of a field as text, for example `models."studio-2.0".prices[0]`. */
export function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(the whole file)';
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    // Quotes keep the path readable, because model names and ratios contain dots and colons.
    const name = /^[\w-]+$/.test(String(key)) ? String(key) : `"${String(key)}"`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

export function factsOf(name: string, { protocols }: CheckedFile): ProtocolFacts {
  const facts = protocols[name];
  assert(facts, `the check has refused the protocol ${name}`);
  return facts;
}

/** What the channels of a model cannot do. */
export function limitsOf({ channels }: ModelEntry, file: CheckedFile) {
  return channels.flatMap(({ channel }) => {
    const known = Object.hasOwn(file.channels, channel) ? file.channels[channel] : undefined;
    return (known && factsOf(known.protocol, file).limits?.(known.profile)) ?? [];
  });
}

/** What a channel of super-resolution cannot do; undefined if it can do everything. */
export function enhancerLimitsOf(id: string, file: CheckedFile): EnhancerLimits | undefined {
  return factsOf(file.channels[id]!.protocol, file).enhances;
}

/** The protocols of the channels of a model, each once. */
export function protocolsOf(entry: ModelEntry, file: CheckedFile) {
  const channels = entry.channels.flatMap(({ channel }) =>
    Object.hasOwn(file.channels, channel) ? [file.channels[channel]!.protocol] : [],
  );
  return [...new Set(channels)].map((name) => factsOf(name, file));
}

/** What a model promises although one of its channels cannot do it, each once. */
export function brokenPromisesOf({ channels, ...entry }: ModelEntry, file: CheckedFile) {
  const broken = channels.flatMap(({ channel, upstreamModel }) => {
    const known = Object.hasOwn(file.channels, channel) ? file.channels[channel] : undefined;
    return (known && factsOf(known.protocol, file).brokenPromises?.(entry, upstreamModel)) ?? [];
  });
  return new Map(broken.map((one) => [JSON.stringify(one), one])).values();
}
