// Renders jobs and saves their files, ready to be measured.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Movie, readMovie } from './mp4';
import type { Answer, OpenStudio } from './open-studio';

interface Rendered {
  readonly reply: Answer['json'];
  readonly path: string;
  readonly movie: Movie;
  readonly bytes: Buffer;
  readonly lastFrame: Buffer | undefined;
}

/** The shortest video: 4 seconds in the smallest size of the older family. */
export const shortFilm = { model: 'studio-1.0', duration: 4, resolution: '480p', studio: {} };

export async function rendered(studio: OpenStudio, request: object): Promise<Rendered> {
  const id = await studio.accepted({ studio: {}, ...request });
  const reply = await studio.reaching(id, 'succeeded', 150_000);
  const bytes = await download(reply.content.video_url);
  const path = join(studio.dataDir, `${id}.mp4`);
  await writeFile(path, bytes);
  const still = reply.content.last_frame_url;
  const lastFrame = still === undefined ? undefined : await download(still);
  return { reply, path, movie: readMovie(bytes), bytes, lastFrame };
}

export async function download(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
