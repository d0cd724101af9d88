// Tests the OpenAPI document that the API serves. The document must be valid and complete, and its
// examples must be correct.

import { execFileSync } from 'node:child_process';
import { type RefusalCode, refusals } from '../../src/contract/error';
import {
  createdExample,
  type RequestExample,
  requestExamples,
  taskExamples,
} from '../../src/contract/examples';
import { createOpenApiDocument } from '../../src/contract/openapi';
import { parseRequest } from '../../src/contract/parse-request';
import { createdSchema, quoteSchema, taskSchema } from '../../src/contract/reply-schema';
import { requestFields, videoRequestSchema } from '../../src/contract/request-schema';
import { planTask } from '../../src/planning/plan.rules';
import { theCatalogue } from '../support/catalogue';

// The document is plain JSON, so the tests read it without a type.
// biome-ignore lint/suspicious/noExplicitAny: see above
const document = createOpenApiDocument({ version: '1.0.0', publicUrl: 'http://localhost' }) as any;

interface Parameter {
  readonly name: string;
  readonly schema: { readonly pattern?: string };
}

// The validator is an ES module. Jest cannot load such a module, so a new Node process runs this
// code.
const validate = `
  import { Validator } from '@seriousme/openapi-schema-validator';
  const validator = new Validator();
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  const result = await validator.validate(JSON.parse(text));
  console.log(JSON.stringify({ ...result, version: validator.version }));
`;

function judgementOf(value: unknown): unknown {
  const node = ['--input-type=module', '--eval', validate];
  const output = execFileSync(process.execPath, node, { input: JSON.stringify(value) });
  return JSON.parse(output.toString());
}

test('the document is valid OpenAPI 3.1', () => {
  expect(judgementOf(document)).toEqual({ valid: true, version: '3.1' });
  expect(judgementOf({ ...document, paths: { '/x': { get: 1 } } })).toMatchObject({ valid: false });
});

test('the document lists each operation of a task once, lists the callback, and describes the aliases', () => {
  const ofTasks = Object.entries(document.paths).filter(([path]) => path.includes('generations'));
  expect(ofTasks.map(([path, item]) => [path, Object.keys(item as object)])).toEqual([
    ['/v1/videos/generations', ['post']],
    ['/v1/videos/generations/{task_id}', ['get', 'delete']],
    ['/v1/videos/generations/{task_id}/request', ['get']],
    ['/v1/videos/generations/{task_id}/content', ['delete']],
    ['/v1/videos/generations/{task_id}/callbacks', ['get']],
    ['/v1/videos/generations/{task_id}/callbacks/resend', ['post']],
  ]);
  expect(document.info.description).toContain('`/v1/video/generations`');
  expect(document.info.description).toContain('task_id_required');
  const { callbacks } = document.paths['/v1/videos/generations'].post;
  const sent = callbacks.taskFinished['{$request.body#/metadata/callback_url}'].post.requestBody;
  expect(sent.content['application/json'].schema.$ref).toMatch(/Task$/);
});

test('the document allows no NUL in a label, an id, a cursor or a token', () => {
  const parameters = Object.values<Record<string, { parameters?: Parameter[] }>>(document.paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap((operation) => operation.parameters ?? []);
  const named = /^(task_id|file_id|token|ext|after|label\.name)$/;
  const patterns = parameters
    .filter(({ name }) => named.test(name))
    .map(({ name, schema }) => [name, schema.pattern] as const);
  const { labels } = document.components.schemas.VideoMetadata.properties;
  patterns.push(['labels', labels.anyOf[0].additionalProperties.anyOf[0].pattern]);
  expect(new Set(patterns.map(([name]) => name)).size).toBe(7);
  const open = patterns.filter(([, pattern]) => !pattern || new RegExp(pattern).test('a\0b'));
  expect(open).toEqual([]);
});

describe('what the document says of calls that are refused', () => {
  const shapes = ['openai', 'ark', 'mcp'] as const;
  const whole = createOpenApiDocument({
    ...{ version: '1.0.0', publicUrl: 'http://localhost', shapes },
    // biome-ignore lint/suspicious/noExplicitAny: as for `document`
  }) as any;

  test('the document with all forms is valid OpenAPI 3.1', () => {
    expect(judgementOf(whole)).toEqual({ valid: true, version: '3.1' });
  });

  test('a read and a cancel list the missing task id', () => {
    const task = whole.paths['/v1/videos/generations/{task_id}'];
    for (const { responses } of [task.get, task.delete]) {
      expect(responses['400'].description).toContain('task_id_required');
    }
  });

  test('a POST that needs a body says so', () => {
    const posts = Object.entries<Record<string, { requestBody?: { required?: boolean } }>>(
      whole.paths,
    ).filter(([, { post }]) => post);
    const without = posts.filter(([, { post }]) => !post?.requestBody?.required);
    expect(without.map(([path]) => path)).toEqual([
      '/v1/videos/generations/{task_id}/callbacks/resend',
      '/v1/webhooks/{webhook_id}/test',
    ]);
    const bodies = posts.flatMap(([, { post }]) => Object.values(post?.requestBody ?? {}));
    expect(JSON.stringify(bodies)).not.toMatch(/(?<!"minLength":1,)"format":"binary"/);
  });

  test('the addresses of webhooks and callbacks have their format', () => {
    const { WebhookRequest, Webhook, VideoMetadata } = whole.components.schemas;
    expect(WebhookRequest.properties.url.format).toBe('uri');
    expect(Webhook.properties.url.format).toBe('uri');
    expect(JSON.stringify(VideoMetadata.properties.callback_url)).toContain('"format":"uri"');
  });
});

test('the schema of a request lists every field of a request and requires only `model` and `prompt`', () => {
  const { properties, required } = document.components.schemas.VideoRequest;
  expect(required).toEqual(['model', 'prompt']);
  expect(Object.keys(properties)).toEqual([...Object.keys(requestFields), 'metadata']);
});

test('every error code appears in an operation with its status', () => {
  const text = JSON.stringify(document.paths);
  const elsewhere: RefusalCode[] = [
    ...(['route_not_found', 'method_not_allowed'] as const),
    ...(['malformed_http', 'request_timeout', 'expectation_failed', 'headers_too_large'] as const),
  ];
  for (const [code, { status }] of Object.entries(refusals)) {
    if (elsewhere.includes(code as RefusalCode)) continue;
    expect(text).toContain(`"code":"${code}"`);
    expect(text).toContain(`"${status}":{"description"`);
  }
});

describe('the examples of the document', () => {
  const catalogue = theCatalogue();
  test.each(Object.entries<RequestExample>(requestExamples))(
    'include the request "%s", which is accepted',
    (_, { body }) => {
      const { request, faults } = parseRequest(body);
      const { refusals = [] } = planTask(request, catalogue, { seed: 1 });
      expect([...faults, ...refusals]).toEqual([]);
    },
  );

  test('of requests fit the schema of a request', () => {
    for (const { body } of Object.values<RequestExample>(requestExamples)) {
      expect(videoRequestSchema.safeParse(body).error).toBeUndefined();
    }
  });

  test('of replies fit the schemas of replies', () => {
    expect(createdSchema.safeParse(createdExample).error).toBeUndefined();
    for (const task of Object.values(taskExamples)) {
      expect(taskSchema.safeParse(task).error).toBeUndefined();
    }
    const { responses } = document.paths['/v1/videos/quotes'].post;
    const quote = responses['200'].content['application/json'].examples.text.value;
    expect(quoteSchema.safeParse(quote).error).toBeUndefined();
  });
});
