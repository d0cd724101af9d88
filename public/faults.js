// Assigns the faults of an API error to the fields of the form. Each line of the message is one
// fault. `param` names the field of the first line; each further line begins with the name of its
// field.

const aliases = { image: 'images', seconds: 'duration', size: 'resolution' };

/**
 * Returns `{ fields: { name: text }, rest: [line] }`. `names` are the fields on the page; the
 * faults of other fields are in `rest`.
 */
export function spread({ message, param }, names) {
  const fields = {};
  const rest = [];
  for (const [index, line] of message.split('\n').entries()) {
    const path = (index === 0 && param) || pathOf(line);
    const name = nameOf(path, names);
    if (name) fields[name] = fields[name] ? `${fields[name]}\n${line}` : line;
    else rest.push(line);
  }
  return { fields, rest };
}

function pathOf(line) {
  return /^([a-z_]+(?:\.[\w.-]+|\[\d+\])*)\s*:/.exec(line)?.[1] ?? '';
}

/**
 * Returns the field on the page that contains this path, or undefined if no field does. For
 * example, `images[0]` belongs to `images`.
 */
function nameOf(path, names) {
  const whole = aliases[path] ?? path;
  return names
    .filter(
      (name) => whole === name || whole.startsWith(`${name}.`) || whole.startsWith(`${name}[`),
    )
    .sort((a, b) => b.length - a.length)[0];
}
