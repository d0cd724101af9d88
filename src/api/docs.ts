// The OpenAPI document and a page to read it and try it out. The page comes whole from the
// installed package: no foreign host, no inline script, a policy that forbids both.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOpenApiDocument } from '../contract/openapi';
import type { ApiDeps } from './app';
import type { ApiRouter } from './context';
import { answerPageFile, lazily, type PageFile, pageFile } from './page-file';

export function docsRoutes(router: ApiRouter, { settings }: ApiDeps): void {
  // The version of the document is that of the service; both are read by people comparing them.
  const { publicUrl, version } = settings;
  const openApi = lazily(() =>
    pageFile(
      'application/json',
      JSON.stringify(createOpenApiDocument({ publicUrl, version: version.version })),
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

  // Meant for other programs too: the document holds no secret, so any origin may read it.
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

// Swagger UI sets styles from script and draws its icons from data addresses; it needs nothing
// else.
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

// The requests go to the host the page came from, whatever address the document names. A key lives
// in this page's memory only, and no validator elsewhere is asked.
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
