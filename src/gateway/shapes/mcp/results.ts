// Answers of our own API as results of tools.

import type { TaskObject } from '../../../contract/task';
import type { NativeError } from '../shape';
import type { CallToolResult } from './library';
import type { Answered } from './own-calls';

/** A failed task is an error of the tool; a task that still runs is not. */
export function resultOf(answered: Answered<TaskObject>): CallToolResult {
  const result = shown(answered);
  if ('error' in answered) return result;
  const { status, video_url: uri, id } = answered.answer;
  if (status === 'failed') return { ...result, isError: true };
  const link = { type: 'resource_link', name: `${id}.mp4`, mimeType: 'video/mp4' } as const;
  return uri ? { ...result, content: [...result.content, { ...link, uri }] } : result;
}

export function shown(answered: Answered<object>): CallToolResult {
  if ('error' in answered) return refused(answered.error);
  return contentOf(answered.answer);
}

export function refused(error: NativeError): CallToolResult {
  return { ...contentOf({ error }), isError: true };
}

function contentOf(answer: object): CallToolResult {
  const text = JSON.stringify(answer);
  return { content: [{ type: 'text', text }], structuredContent: { ...answer } };
}
