// Writes a request as a curl command, as JavaScript or as Python. The code reads the key from the
// environment, because copied code may be pasted into chats and repositories.

const path = '/v1/videos/generations';

export const languages = [
  ['curl', 'curl', curl],
  ['js', 'JavaScript', javascript],
  ['python', 'Python', python],
];

function curl(origin, body) {
  const quoted = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
  return [
    `TASK_ID=$(curl -s ${origin}${path} \\`,
    `  -H "Authorization: Bearer $API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${quoted}' \\`,
    "  | tee -a /dev/stderr | grep -o 'task_[0-9a-z]\\{26\\}' | head -n 1)",
    '',
    '# The answer comes when the task has ended, or after 60 seconds.',
    `curl -s ${origin}${path}/$TASK_ID \\`,
    `  -H "Authorization: Bearer $API_KEY" -H 'Prefer: wait=60'`,
  ].join('\n');
}

function javascript(origin, body) {
  return `const base = '${origin}${path}';
const headers = {
  authorization: \`Bearer \${process.env.API_KEY}\`,
  'content-type': 'application/json',
};

async function call(url, init) {
  const reply = await fetch(url, { ...init, headers });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(answer.error.message);
  return answer;
}

const body = ${JSON.stringify(body, null, 2)};

let task = await call(base, { method: 'POST', body: JSON.stringify(body) });
console.error(task.id);
while (task.status !== 'succeeded' && task.status !== 'failed') {
  await new Promise((resolve) => setTimeout(resolve, 3000));
  task = await call(\`\${base}/\${task.id}\`);
}
console.log(task.video_url ?? task.error.message);
`;
}

function python(origin, body) {
  return `import json, os, sys, time, urllib.request

BASE = "${origin}${path}"


def call(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    # A redirect does not get the key.
    request.add_unredirected_header("Authorization", f"Bearer {os.environ['API_KEY']}")
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


body = ${pythonOf(body)}

task = call(BASE, body)
print(task["id"], file=sys.stderr)
while task["status"] not in ("succeeded", "failed"):
    time.sleep(3)
    task = call(f"{BASE}/{task['id']}")
print(task.get("video_url") or task["error"]["message"])
`;
}

/**
 * Writes a JSON value in Python. Python has other names for `true`, `false` and `null`; strings are
 * the same as in JSON.
 */
function pythonOf(value, depth = 1) {
  const indent = '    '.repeat(depth);
  const close = '    '.repeat(depth - 1);
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const entries = isList
    ? value.map((item) => pythonOf(item, depth + 1))
    : Object.entries(value).map(
        ([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item, depth + 1)}`,
      );
  const [open, end] = isList ? '[]' : '{}';
  if (entries.length === 0) return open + end;
  return `${open}\n${entries.map((entry) => `${indent}${entry},\n`).join('')}${close}${end}`;
}
