// Times and spans in sentences for operators.

/** `14:02:11 UTC`, with the day if it is another one than that of `now`. */
export function clockText(at: Date, now: Date): string {
  const text = at.toISOString();
  const [day, time] = [text.slice(0, 10), text.slice(11, 19)];
  return day === now.toISOString().slice(0, 10) ? `${time} UTC` : `${day} ${time} UTC`;
}

/** `40 s`, `5 min`, `2 h 10 min` or `3 d 4 h`. A time in the future counts as now. */
export function spanText(since: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - since.getTime()) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
