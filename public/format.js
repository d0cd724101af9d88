// Numbers, money and times as people read them.

/** "9994.990600" → "9,994.9906 CNY". No place that counts is rounded away. */
export function money(amount, currency) {
  const [whole, places = ''] = String(amount).split('.');
  const kept = places.replace(/0+$/, '').padEnd(2, '0');
  const text = `${Number(whole) === 0 ? whole : Number(whole).toLocaleString('en')}.${kept}`;
  return currency ? `${text} ${currency}` : text;
}

export function count(number) {
  return Number(number).toLocaleString('en', { maximumFractionDigits: 6 });
}

/** 1234567 → "1.2 MB". */
export function bytesText(bytes) {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** 75 → "1:15"; 7260 → "2 h 1 min". */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function clock(unixSeconds) {
  const date = new Date(unixSeconds * 1000);
  const sameDay = date.toDateString() === new Date().toDateString();
  const day = sameDay ? {} : { month: 'short', day: 'numeric' };
  return date.toLocaleString('en-GB', {
    ...day,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

export function ago(unixSeconds, nowMs) {
  const seconds = nowMs / 1000 - unixSeconds;
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`;
  return clock(unixSeconds);
}

export const inputNames = {
  text_to_video: 'Text',
  first_last_frame: 'First & last frame',
  reference: 'Reference',
};

export const itemNames = { generation: 'Generation', super_resolution: 'Super-resolution' };
