// Serves the page of the console. It shares parts with the playground: public/ has both. Nothing of
// another host is allowed, except the videos of a task, which an operator asks for with a reason.

import type { Context } from 'koa';
import { bucketUrl } from '../files/storage/s3-requests';
import { answerPageFile } from '../gateway/page-file';
import { filesOf, pagePolicy, vendorFiles } from '../gateway/page-files';

/** What the console uses of the playground. */
const shared = [
  ...[
    'api',
    'bars',
    'controls',
    'film',
    'foreign',
    'format',
    'header',
    'hooks',
    'pagination',
    'preact',
    'send-again',
    'session',
  ].map((name) => `/page/${name}.js`),
  ...[
    '/page/stacks.js',
    '/page/state.js',
    '/page/summary.js',
    '/page/table.js',
    '/page/base.css',
    '/page/parts.css',
    '/page/bars.css',
    '/page/icon.svg',
  ],
];

/** The pages, and those that have more than one file. */
const folders = ['console', 'console/channels', 'console/customer', 'console/log'];

interface Origins {
  readonly publicUrl: string;
  readonly s3Bucket: string | null;
  readonly s3Endpoint: string | null;
  readonly s3PathStyle: boolean;
  readonly filesDelivery: 'proxy' | 'redirect';
}

/** Returns true if the path is one of the page's files, and answers it. */
export function createPage(config: Origins): (ctx: Context) => boolean {
  const common = Object.entries(filesOf('', '/page/')).filter(([path]) => shared.includes(path));
  const files = {
    ...Object.fromEntries(common),
    ...vendorFiles('/page/vendor/'),
    ...Object.assign({}, ...folders.map((folder) => filesOf(folder, `/page/${folder}/`))),
  };
  const policy = policyOf(config);
  return (ctx) => {
    const file = ctx.method === 'GET' && Object.hasOwn(files, ctx.path) ? files[ctx.path] : null;
    if (!file) return false;
    ctx.set('Content-Security-Policy', policy);
    answerPageFile(ctx, file());
    return true;
  };
}

function policyOf(config: Origins): string {
  const { publicUrl, s3Bucket: bucket, s3Endpoint: endpoint, s3PathStyle: pathStyle } = config;
  const redirected = config.filesDelivery === 'redirect' && bucket !== null && endpoint !== null;
  const ofBucket = redirected ? [bucketUrl({ endpoint, bucket, pathStyle })] : [];
  const origins = [new URL(publicUrl), ...ofBucket].map(({ origin }) => origin);
  const media = [...new Set(origins)].join(' ');
  return pagePolicy({ images: `'self' data: ${media}`, media });
}
