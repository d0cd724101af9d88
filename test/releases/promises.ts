// What docs/compatibility.md promises that has a name: one line for each setting, error code, metric,
// alert, admin command, key of the catalogue file, value of the chart, part of a request or an answer,
// tool for agents, export and method of the packages, and command and option of `videos`. A later minor
// version may add lines, and keeps all of them.

import { z } from 'zod';
import { protocols } from '../../activities/providers/protocols';
import { VideoClient } from '../../clients/typescript/src';
import { operandsOf, options as videosOptions } from '../../clients/typescript/src/cli/arguments';
import { schemaWith } from '../../src/catalogue/schema';
import { adminCommands } from '../../src/commands/admin';
import { settingRows } from '../../src/config/config';
import { openApi } from '../../src/console/openapi';
import { refusals } from '../../src/contract/error';
import { toolsOf } from '../../src/contract/mcp-schema';
import { createOpenApiDocument } from '../../src/contract/openapi';
import { type MetricDefinition, metrics } from '../../src/telemetry/metrics';
import { read } from '../house/sources';
import { alertRules } from '../telemetry/ops';

export function promises(): readonly string[] {
  const api = createOpenApiDocument({
    ...{ version: '0', publicUrl: 'http://x', shapes: ['openai', 'ark', 'mcp'] },
  });
  const named: Readonly<Record<string, MetricDefinition>> = metrics;
  const lines = [
    ...settingRows().map(({ name, otherwise }) => `setting ${name}, otherwise ${otherwise}`),
    ...Object.entries(refusals).map(([code, of]) => `error ${of.status} ${of.type} ${code}`),
    ...Object.entries(named).flatMap(([name, { kind, labels = [] }]) => [
      `metric ${name} ${kind}`,
      ...labels.map((label) => `metric ${name} by ${label}`),
    ]),
    ...alertRules().map(({ alert }) => `alert ${alert}`),
    ...adminCommands.flatMap(commandLines),
    ...shapeLines('catalogue', catalogueShape(), true),
    ...documentLines('api', api as Document),
    ...documentLines('admin', openApi('0', 'http://x') as Document),
    ...shapeLines('chart', chartShape(), true),
    ...toolsOf().flatMap(({ name, inputSchema, outputSchema }) => [
      ...shapeLines(`mcp ${name}`, inputSchema, true),
      ...shapeLines(`mcp ${name} answer`, outputSchema, false),
    ]),
    ...npmLines(),
    ...pythonLines(),
    ...videosLines(),
  ];
  return [...new Set(lines)].sort();
}

function commandLines(command: (typeof adminCommands)[number]): readonly string[] {
  const { name, operands = [], optional, options = {} } = command;
  const words = [...operands, ...(optional === undefined ? [] : [`[${optional}]`])];
  return [
    ['command', name, ...words].join(' '),
    ...Object.entries(options).map(
      ([option, { required }]) =>
        `command ${name} --${option}${required === true ? '' : ', may be absent'}`,
    ),
  ];
}

function npmLines(): readonly string[] {
  const { exports } = JSON.parse(read('clients/typescript/package.json')) as {
    readonly exports: Readonly<Record<string, { readonly default: string }>>;
  };
  const sourceOf = (file: string) =>
    file.replace(/^\.\/dist\/(.*)\.js$/, 'clients/typescript/src/$1.ts');
  return [
    ...Object.entries(exports).flatMap(([path, { default: file }]) =>
      namesIn(
        `npm${path.slice(1)} `,
        read(sourceOf(file)),
        /^export (?:(?:async )?\w+ (\w+)|[^}]*?\{([^}]*)\})/gm,
      ),
    ),
    ...Object.getOwnPropertyNames(VideoClient.prototype)
      .filter((name) => name !== 'constructor')
      .map((name) => `npm VideoClient.${name}`),
  ];
}

function pythonLines(): readonly string[] {
  const [exported = '', ...clients] = ['__init__', '_client', '_async_client'].map((name) =>
    read(`clients/python/video_generation_client/${name}.py`),
  );
  return [
    ...namesIn('python ', exported, /^__all__ = \[([^\]]*)\]/gm),
    ...clients.flatMap((text) => {
      const [, name = ''] = /^class (\w+)/m.exec(text) ?? [];
      return namesIn(`python ${name}.`, text, /^ {4}(?:async )?def ([a-z]\w*)\(/gm);
    }),
  ];
}

/** Every command takes every option, so the options are those of all. */
function videosLines(): readonly string[] {
  return [
    ...[...operandsOf].flatMap(([name, [least, most]]) => [
      ...(least === 0 ? [`videos ${name}`] : []),
      ...(most === 1 ? [`videos ${name} OPERAND`] : []),
    ]),
    ...Object.entries(videosOptions).flatMap(([name, option]) => [
      `videos --${name} ${option.type}`,
      ...('multiple' in option ? [`videos --${name}, repeatable`] : []),
      ...('short' in option ? [`videos -${option.short}`] : []),
    ]),
  ];
}

function namesIn(before: string, text: string, lists: RegExp): readonly string[] {
  return Array.from(text.matchAll(lists), ([, ...found]) => found.join(' '))
    .flatMap((list) => list.match(/\w+/g) ?? [])
    .filter((name) => name !== 'type')
    .map((name) => `${before}${name}`);
}

const catalogueShape = () =>
  z.toJSONSchema(schemaWith(Object.keys(protocols)), {
    io: 'input',
    unrepresentable: 'any',
  }) as Shape;

/** Each definition stands where it is used, because its name is in no path of a value. */
function chartShape(): Shape {
  const schema = JSON.parse(read('deploy/helm/values.schema.json')) as Shape & {
    readonly $defs: Readonly<Record<string, Shape>>;
  };
  const whole = (shape: Shape): Shape =>
    JSON.parse(JSON.stringify(shape), (_, part: Shape | null) => {
      const name = part?.$ref?.replace('#/$defs/', '');
      return name === undefined ? part : whole(schema.$defs[name] as Shape);
    });
  return whole(schema);
}

interface Shape {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly required?: readonly string[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Shape }>>;
}

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema?: Shape;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly headers?: object }>>;
  readonly callbacks?: Readonly<Record<string, Paths>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

interface Document {
  readonly paths: Paths;
  readonly components: { readonly schemas?: Readonly<Record<string, Shape>> };
}

function documentLines(of: string, { paths, components }: Document): readonly string[] {
  const { schemas = {} } = components;
  const inRequests = namedFrom(bodiesOf(paths), schemas);
  return [
    ...pathLines(of, paths),
    ...Object.entries(schemas).flatMap(([name, shape]) =>
      shapeLines(`${of} ${name}`, shape, inRequests.has(name)),
    ),
  ];
}

function pathLines(of: string, paths: Paths): readonly string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const at = `${of} ${method.toUpperCase()} ${path}`;
      return [
        at,
        ...(operation.parameters ?? []).flatMap(({ in: place, name, required, schema = {} }) => [
          `${at} ${place} ${name}${required === true ? '' : ', may be absent'}`,
          ...shapeLines(`${at} ${place} ${name}`, schema, true),
        ]),
        ...contentLines(`${at} body`, operation.requestBody ?? {}, true),
        ...Object.entries(operation.responses ?? {}).flatMap(([status, answer]) => [
          `${at} ${status}`,
          ...Object.keys(answer.headers ?? {}).map((name) => `${at} ${status} header ${name}`),
          ...contentLines(`${at} ${status}`, answer, false),
        ]),
        ...Object.entries(operation.callbacks ?? {}).flatMap(([name, inner]) =>
          pathLines(`${at} callback ${name}`, inner),
        ),
      ];
    }),
  );
}

const contentLines = (at: string, { content = {} }: Content, isRequest: boolean) =>
  Object.entries(content).flatMap(([type, { schema = {} }]) =>
    shapeLines(`${at} ${type}`, schema, isRequest),
  );

/** In a request nothing more may be required; in an answer nothing that was always there may be absent. */
export function shapeLines(at: string, shape: Shape, isRequest: boolean): readonly string[] {
  const { required = [], properties = {}, additionalProperties: others } = shape;
  const inner = (name: string, of: Shape) => shapeLines(`${at}${name}`, of, isRequest);
  const values = shape.enum ?? (shape.const === undefined ? [] : [shape.const]);
  return [
    ...(shape.$ref === undefined ? [] : [`${at}: ${shape.$ref.split('/').at(-1)}`]),
    ...[shape.type ?? []].flat().map((type) => `${at}: ${type}`),
    ...values.map((value) => `${at}: ${JSON.stringify(value)}`),
    ...[shape.anyOf, shape.oneOf, shape.allOf].flatMap((parts = []) =>
      parts.flatMap((part) => inner('', part)),
    ),
    ...(shape.items ? inner('[]', shape.items) : []),
    ...(typeof others === 'object' ? inner('.*', others) : []),
    ...Object.entries(properties).flatMap(([name, of]) => {
      const lines = inner(`.${name}`, of);
      return [
        ...(lines.length > 0 ? lines : [`${at}.${name}`]),
        ...(isRequest && !required.includes(name) ? [`${at}.${name}, may be absent`] : []),
        ...(!isRequest && required.includes(name) ? [`${at}.${name}, always there`] : []),
      ];
    }),
  ];
}

const bodiesOf = (paths: Paths): readonly unknown[] =>
  Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ requestBody }) => requestBody ?? {}),
  );

/** The names of the shapes that a value refers to, also by way of others. */
function namedFrom(value: unknown, schemas: Readonly<Record<string, Shape>>): Set<string> {
  const found = new Set<string>();
  const visit = (one: unknown) => {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"\$ref":"[^"]*\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(schemas[name] ?? {});
    }
  };
  visit(value);
  return found;
}
