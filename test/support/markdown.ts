// Extracts the examples of the documents, so that a test can run them. An example is a fenced block
// with a label. The curl calls in a block are extracted as requests.

export interface Block {
  /** The first word after the fence, such as "json". */
  readonly language: string;
  /** The other words after the fence, such as "create refused". */
  readonly label: string;
  readonly text: string;
  /** The line of the block, for the message of a failure. */
  readonly line: number;
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^ *```(\w+) *([^\n]*)\n([\s\S]*?)^ *```$/gm)].map((match) => ({
    language: match[1]!,
    label: match[2]!.trim(),
    text: match[3]!,
    line: markdown.slice(0, match.index).split('\n').length,
  }));
}

interface Call {
  readonly method: string;
  /** Path and query; the id of a task is replaced by `{task_id}`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Every curl call of a shell block, without a pipe and the commands after it. */
export function callsOf(shell: string): Call[] {
  const lines = shell
    .replaceAll(/\\\n\s*/g, ' ')
    .replaceAll(/'[^']*'/g, (quoted) => quoted.replaceAll('\n', ' '))
    .split('\n');
  return lines.flatMap((line) => {
    const start = /(?:^|[\s(])curl\s/.exec(line);
    return start ? [callOf(wordsOf(line.slice(start.index)))] : [];
  });
}

const endOfCommand = new Set(['|', ';', '&&', '||', '>', '&']);
const withValue = new Set(['-X', '-H', '-d', '-o', '-w', '-m', '-u', '-F']);

/** Splits a command into words. Supports only the quoting that the examples use. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  const pattern = /((?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"|;&>)]+)+)|(&&|\|\||[|;&>)])/g;
  for (const [, word, end] of line.matchAll(pattern)) {
    if (end !== undefined || word === undefined || endOfCommand.has(word)) break;
    words.push(unquoted(word));
  }
  return words;
}

function unquoted(word: string): string {
  return word.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"/g, (_, single, double) =>
    single === undefined ? String(double).replaceAll(/\\(["\\$])/g, '$1') : String(single),
  );
}

function callOf([, ...words]: string[]): Call {
  const headers: Record<string, string> = {};
  let method: string | undefined;
  let body: string | undefined;
  let url = '';
  for (let index = 0; index < words.length; index += 1) {
    const word = shortName(words[index]!);
    if (!withValue.has(word)) {
      if (!word.startsWith('-')) url = word;
      continue;
    }
    index += 1;
    const value = words[index] ?? '';
    if (word === '-X') method = value;
    else if (word === '-d' || word === '-F') body = value;
    else if (word === '-H') {
      const [name = '', ...rest] = value.split(':');
      headers[name.toLowerCase()] = rest.join(':').trim();
    }
  }
  const path = url
    .replace(/^(?:https?:\/\/[^/]+|\$\{?\w+\}?)/, '')
    .replaceAll(/\$\{?\w+\}?|<[\w-]+>|task_[0-9a-z…]+/g, '{task_id}');
  return { method: method ?? (body === undefined ? 'GET' : 'POST'), path, headers, body };
}

function shortName(word: string): string {
  const names: Readonly<Record<string, string>> = {
    '--request': '-X',
    '--header': '-H',
    '--data': '-d',
    '--data-raw': '-d',
    '--data-binary': '-d',
    '--form': '-F',
    '--json': '-d',
    '--output': '-o',
    '--max-time': '-m',
  };
  return names[word] ?? word;
}
