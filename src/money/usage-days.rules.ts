// Days and months as reports name them.

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
