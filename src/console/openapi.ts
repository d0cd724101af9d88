// The OpenAPI document of the admin API, generated from the routes. Data are what the command prints
// with `--json`, so the help of a command describes them.

import { fieldsOf } from './http-input';
import { prefix, type Route, routes } from './routes';
import { cookieNameOf } from './sign-in';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: object;
}

const text = { type: 'string' } as const;

const key = { type: 'object', properties: { key: text }, required: ['key'] };
const session = {
  post: {
    summary: 'exchanges the key of an operator for the cookie of a session',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: key } } },
    responses: { 204: { description: 'The cookie is set.' } },
  },
  delete: {
    summary: 'ends the session of the cookie',
    security: [{ session: [] }],
    responses: { 204: { description: 'The session has ended.' } },
  },
};

export function openApi(version: string, url: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  for (const [path, summary] of [
    [`${prefix}/me`, 'who is signed in'],
    [`${prefix}/openapi.json`, 'this document'],
  ] as const) {
    paths[path] = { get: { summary, 'x-role': 'viewer', responses: answersOf(false) } };
  }
  paths['/session'] = session;
  return {
    openapi: '3.1.0',
    info: { title: 'Admin API', version },
    servers: [{ url }],
    security: [{ key: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'The key of an operator: vo_…' },
        session: { type: 'apiKey', in: 'cookie', name: cookieNameOf(url) },
      },
    },
  };
}

const format: Parameter = {
  ...{ name: 'format', in: 'query', required: false },
  description: 'csv: all pages of the list as one file',
  schema: { type: 'string', enum: ['json', 'csv'] },
};

function operationOf(route: Route): object {
  const { command, method, role } = route;
  const fields = fieldsOf(route);
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(
    ([, name = '']): Parameter => ({ name, in: 'path', required: true, schema: text }),
  );
  const inQuery = fields.map(
    ({ name, isRequired: required, about: description, isFlag }): Parameter => ({
      ...{ name, in: 'query', required, description },
      schema: isFlag ? { type: 'boolean' } : text,
    }),
  );
  const inList = route.http.csv ? [...inQuery, format] : inQuery;
  return {
    operationId: command.name.replaceAll(' ', '-'),
    summary: command.about,
    description: `The command \`admin ${command.name}\`. Needs the role ${role}.`,
    'x-role': role,
    ...(method === 'POST'
      ? { parameters: inPath, requestBody: bodyOf(fields) }
      : { parameters: [...inPath, ...inList] }),
    responses: answersOf(fields.some(({ name }) => name === 'after')),
  };
}

function bodyOf(fields: ReturnType<typeof fieldsOf>): object {
  const properties = Object.fromEntries(
    fields.map(({ name, about: description, isFlag }) => [
      name,
      { type: isFlag ? 'boolean' : ['string', 'integer'], description },
    ]),
  );
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    ...{ type: 'object', properties, additionalProperties: false },
    ...(required.length > 0 ? { required } : {}),
  };
  return { required: true, content: { 'application/json': { schema } } };
}

function answersOf(isList: boolean): object {
  const next = isList ? { next: { ...text, description: '`after` of the next page' } } : {};
  const schema = {
    type: 'object',
    properties: { data: {}, ...next, remark: text },
    required: ['data'],
  };
  const content = { 'application/json': { schema } };
  return { 200: { description: 'What the command prints with --json.', content } };
}
