// Days, months and dimensions as reports name them.

/** What a row of a report may be about, in time. A report has at most one of them. */
export const timeDimensions: readonly string[] = ['day', 'week', 'month'];

/** Reads `model,day`. Null if a name is unknown or repeated, or if two are in time. */
export function dimensionsIn<Name extends string>(
  text: string,
  known: readonly Name[],
): readonly Name[] | null {
  const names = text.split(',');
  const found = names.flatMap((name) => known.find((one) => one === name) ?? []);
  const inTime = found.filter((name) => timeDimensions.includes(name));
  const isRight =
    found.length === names.length && new Set(names).size === names.length && inTime.length <= 1;
  return isRight ? found : null;
}

/** True for a day of the calendar such as `2027-01-31`, in a year with four digits. */
export function isDay(text: string): boolean {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  // `Date` reads 31 April as 1 May.
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

export function isMonth(text: string): boolean {
  return isDay(`${text}-01`);
}

/** The number of days from the first to the last, both included. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
}

/** The first of `count` days of which this one is the last. */
export function firstOf(count: number, last: string): string {
  return new Date(Date.parse(last) - (count - 1) * 86_400_000).toISOString().slice(0, 10);
}
