// Runs the TypeScript package in a web page of an origin that the service allows. Without Chromium
// this test is skipped.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '../playground/browser';
import { startService, textTask } from '../support/service';

const executablePath = findChromium();

(executablePath ? test : test.skip)('in a web page the client makes a video', async () => {
  const dist = join(__dirname, '../../clients/typescript/dist');
  const site = createServer(async (request, response) => {
    const name = /^\/[a-z-]+\.js$/.exec(request.url ?? '')?.[0];
    response.setHeader('content-type', name ? 'text/javascript' : 'text/html');
    response.end(name ? await readFile(join(dist, name)) : '<!doctype html><title>page</title>');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const service = await startService({ settings: { corsOrigins: [origin] } });
  const browser = await chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    const { url: baseUrl, apiKey } = service;
    const request = textTask({ run_s: 1 });
    const seen = await page.evaluate(`(async () => {
      const { VideoClient } = await import('/index.js');
      const client = new VideoClient(${JSON.stringify({ baseUrl, apiKey })});
      const { id, status } = await client.createAndWait(${JSON.stringify(request)});
      return { id, status };
    })()`);
    expect(seen).toEqual({ id: expect.stringMatching(/^task_/), status: 'succeeded' });
  } finally {
    await browser.close();
    await service.close();
    await new Promise((resolve) => site.close(resolve));
  }
});
