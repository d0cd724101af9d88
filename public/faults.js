// Assigns the faults of an API error to the fields of the form. `param` names the first fault's
// field; each further line of the message begins with its own field.

const aliases = { image: 'images', seconds: 'duration', size: 'resolution' };

/** `{ fields: { name: sentence }, rest: [sentence] }` for the fields that are shown. */
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

/** The closest shown field: `images[0]` is shown at `images`. */
function nameOf(path, names) {
  const whole = aliases[path] ?? path;
  return names
    .filter(
      (name) => whole === name || whole.startsWith(`${name}.`) || whole.startsWith(`${name}[`),
    )
    .sort((a, b) => b.length - a.length)[0];
}
