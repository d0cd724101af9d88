// Uploads an image, then creates a video task with this image as a reference. Needs Node 20 and
// nothing else.
//
// API_KEY=… node examples/upload.mjs boat.jpg "The boat sails away"
//
// BASE_URL is the address of the service; the default is http://127.0.0.1:8080.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

const baseUrl = process.env.BASE_URL ?? 'http://127.0.0.1:8080';
const [path, prompt = 'The boat sails away'] = process.argv.slice(2);

async function post(where, body, headers = {}) {
  const response = await fetch(`${baseUrl}${where}`, {
    method: 'POST',
    body,
    headers: { ...headers, authorization: `Bearer ${process.env.API_KEY}` },
  });
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(`${answer.error.code}: ${answer.error.message}`);
}

try {
  const form = new FormData();
  form.append('file', new Blob([await readFile(path)]), basename(path));
  const file = await post('/v1/files', form);
  console.error(`${file.id}: ${file.kind}, ${file.bytes} bytes`);
  const request = { model: process.env.MODEL ?? 'studio-2.0', prompt, images: [file.id] };
  const task = await post('/v1/videos/generations', JSON.stringify(request), {
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  });
  console.log(task.id);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
