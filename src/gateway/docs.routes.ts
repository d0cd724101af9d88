// The OpenAPI document, and a page that shows it. The page's files come from the installed package.
// The content security policy of the page forbids other hosts and inline scripts.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOpenApiDocument } from '../contract/openapi';
import type { ApiRouter } from './context';
import type { ApiDeps } from './deps';
import { answerPageFile, lazily, type PageFile, pageFile } from './page-file';

export function docsRoutes(router: ApiRouter, { settings, version }: ApiDeps): void {
  const { publicUrl, shapes } = settings;
  const openApi = lazily(() =>
    pageFile(
      'application/json',
      JSON.stringify(createOpenApiDocument({ publicUrl, version: version.version, shapes })),
    ),
  );
  const files: Readonly<Record<string, () => PageFile>> = {
    '/docs': lazily(() => pageFile('text/html', indexHtml)),
    '/docs/start.js': lazily(() => pageFile('text/javascript', startScript)),
    '/docs/style.css': lazily(() => pageFile('text/css', swaggerFile('swagger-ui.css'))),
    '/docs/bundle.js': lazily(() =>
      pageFile('text/javascript', swaggerFile('swagger-ui-bundle.js')),
    ),
    '/docs/icon.png': lazily(() => pageFile('image/png', swaggerFile('favicon-32x32.png'))),
  };

  // The document contains no secret, so pages of any origin may read it.
  router.get('/openapi.json', (ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    answerPageFile(ctx, openApi());
  });
  for (const [path, file] of Object.entries(files)) {
    router.get(path, (ctx) => {
      ctx.set('Content-Security-Policy', policy);
      answerPageFile(ctx, file());
    });
  }
}

// Swagger UI sets styles by script and has icons in data URLs, so the policy allows both.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const indexHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Video generation tasks: API</title>
<link rel="icon" href="/docs/icon.png">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// The page sends requests to PUBLIC_URL, the server that the document names. If the page was opened
// under another host, the Content-Security-Policy blocks these requests. The key is kept only in
// the memory of the page, and no external validator is called.
const startScript = `SwaggerUIBundle({
  dom_id: '#docs',
  url: '/openapi.json',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  persistAuthorization: false,
  validatorUrl: null,
});
`;

function swaggerFile(name: string): Buffer {
  const root = dirname(require.resolve('swagger-ui-dist/package.json'));
  return readFileSync(join(root, name));
}
