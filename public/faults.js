// From an error of the API to the fields of the form. The first fault's field is `param`; the
// others come one a line, each line beginning with its own.

const aliases = { image: 'images', seconds: 'duration', size: 'resolution' };

/**
 * `{ fields: { name: sentence }, rest: [sentence] }` for the names the form shows at the moment.
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
  return /^([a-z_]+(?:\.[a-z_]+|\[\d+\])*)\s*:/.exec(line)?.[1] ?? '';
}

/** The most exact field there is: `images[0]` is shown at `images`. */
function nameOf(path, names) {
  const whole = aliases[path] ?? path;
  return names
    .filter(
      (name) => whole === name || whole.startsWith(`${name}.`) || whole.startsWith(`${name}[`),
    )
    .sort((a, b) => b.length - a.length)[0];
}
