// Writes the schemas of the OpenAPI document as types for the client packages: interfaces for
// TypeScript, typed dictionaries for Python. The results are checked in, and a test compares them.

import { createOpenApiDocument } from '../../src/contract/openapi';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

const document = createOpenApiDocument({ version: '0', publicUrl: 'http://x' }) as {
  components: { schemas: Record<string, Schema> };
};
const schemas = Object.entries(document.components.schemas);
const head = 'Generated from the OpenAPI document; see test/contract/client-types.test.ts.';
const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1).replace(/^Error$/, 'ErrorBody');

/** The parts of a union, flat and each once. */
function unionOf(schema: Schema, write: (part: Schema) => string): string[] {
  const { type } = schema;
  const parts =
    schema.anyOf ??
    (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : [schema]);
  return [...new Set(parts.flatMap((part) => (part.anyOf ? unionOf(part, write) : [write(part)])))];
}

export function typescriptTypes(): string {
  const types = schemas.map(([name, schema]) => {
    const about = schema.description ? `${commentOf(schema.description, '')}\n` : '';
    return `${about}export interface ${nameOf(name)} ${objectInTypescript(schema, '')}\n`;
  });
  return `// ${head}\n\n${types.join('\n')}`;
}

function objectInTypescript(schema: Schema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    ...(property.description ? [commentOf(property.description, inner)] : []),
    `${inner}${name}${schema.required?.includes(name) ? '' : '?'}: ${inTypescript(property, inner)};`,
  ]);
  const { additionalProperties: more } = schema;
  if (typeof more === 'object')
    fields.push(`${inner}[name: string]: ${inTypescript(more, inner)};`);
  return `{\n${fields.join('\n')}\n${indent}}`;
}

const plainInTypescript: Readonly<Record<string, string>> = {
  ...{ integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' },
};

function inTypescript(schema: Schema, indent: string): string {
  const parts = unionOf(schema, (part) => {
    if (part.$ref) return nameOf(part.$ref);
    if (part.const !== undefined) return JSON.stringify(part.const);
    if (part.enum) return part.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (part.type === 'array') return `Array<${inTypescript(part.items ?? {}, indent)}>`;
    if (part.type === 'object') return objectInTypescript(part, indent);
    return plainInTypescript[String(part.type)] ?? 'unknown';
  });
  const isWithin = (part: string) => /^-?\d+$/.test(part) && parts.includes('number');
  return parts.filter((part) => !isWithin(part)).join(' | ');
}

const commentOf = (text: string, indent: string) =>
  `${indent}/** ${text.replaceAll('*/', '*').replaceAll('\n', ' ')} */`;

/**
 * Python 3.9 has no NotRequired, so the required fields are those of a base class. An object inside
 * another gets a class of its own.
 */
export function pythonTypes(): string {
  const classes: string[] = [];
  for (const [name, schema] of schemas) classInPython(nameOf(name), schema, classes);
  return [
    `"""${head}"""`,
    'from __future__ import annotations',
    'from typing import Any, Dict, List, Literal, Optional, TypedDict, Union',
    ...classes,
  ]
    .join('\n\n')
    .concat('\n');
}

function classInPython(name: string, schema: Schema, classes: string[]): string {
  const inner: string[] = [];
  const fields = Object.entries(schema.properties ?? {}).map(([field, property]) => {
    const within = `${name}${field.replaceAll(/(^|_)([a-z])/g, (_, __, letter) => letter.toUpperCase())}`;
    const line = `    ${field}: ${inPython(property, within, inner)}`;
    return { line, required: schema.required?.includes(field) ?? false };
  });
  const lines = (required: boolean) =>
    fields.filter((field) => field.required === required).map(({ line }) => line);
  const [needed, optional] = [lines(true), lines(false)];
  classes.push(...inner);
  if (needed.length > 0 && optional.length > 0) {
    classes.push(`class _${name}Needed(TypedDict):\n${needed.join('\n')}`);
    classes.push(`class ${name}(_${name}Needed, total=False):\n${optional.join('\n')}`);
  } else {
    const total = needed.length > 0 ? '' : ', total=False';
    classes.push(`class ${name}(TypedDict${total}):\n${[...needed, ...optional].join('\n')}`);
  }
  return name;
}

const plainInPython: Readonly<Record<string, string>> = {
  ...{ integer: 'int', number: 'float', string: 'str', boolean: 'bool' },
};

function inPython(schema: Schema, name: string, classes: string[]): string {
  // A union may have several objects.
  let objects = 0;
  const parts = unionOf(schema, (part) => {
    if (part.$ref) return nameOf(part.$ref);
    if (part.type === 'null') return 'None';
    if (part.const !== undefined) return `Literal[${literalInPython(part.const)}]`;
    if (part.enum) return `Literal[${part.enum.map(literalInPython).join(', ')}]`;
    if (part.type === 'array') return `List[${inPython(part.items ?? {}, name, classes)}]`;
    if (part.type !== 'object') return plainInPython[String(part.type)] ?? 'Any';
    const { properties, additionalProperties: more } = part;
    if (properties && typeof more !== 'object') {
      objects += 1;
      return classInPython(objects > 1 ? `${name}${objects}` : name, part, classes);
    }
    const values = typeof more === 'object' && !properties ? inPython(more, name, classes) : 'Any';
    return `Dict[str, ${values}]`;
  });
  const some = parts.filter((part) => part !== 'None');
  const one = some.length > 1 ? `Union[${some.join(', ')}]` : (some[0] ?? 'Any');
  return parts.length > some.length ? `Optional[${one}]` : one;
}

function literalInPython(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}
