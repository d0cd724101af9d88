// Formats numbers, money and times for the page, and names input types and kinds of files.

/**
 * "9994.990600" → "9,994.99 CNY". An amount below 0.01 is shown with two significant digits, so
 * that only zero is shown as 0.00.
 */
export function money(amount, currency) {
  const value = Number(amount);
  const isSmall = value !== 0 && Math.abs(value) < 0.01;
  const places = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const text = value.toLocaleString('en', isSmall ? { maximumSignificantDigits: 2 } : places);
  return currency ? `${text} ${currency}` : text;
}

/** "9994.990600" → "9,994.990600". Shows all decimals, for amounts that the reader may add up. */
export function exactMoney(amount, currency) {
  const text = String(amount).replace(/\B(?=(\d{3})+(?!\d)(?=\.))/g, ',');
  return currency ? `${text} ${currency}` : text;
}

/** Amounts are added in millionths, so that their sums are exact. */
export const millionths = (amount) => Math.round(Number(amount) * 1e6);
export const exactMillionths = (number, currency) =>
  exactMoney((number / 1e6).toFixed(6), currency);

/**
 * "46.000000" → "46.00"; "0.001250" → "0.00125". Removes zeros at the end, but keeps two decimals.
 */
export function unitPrice(amount) {
  return String(amount).replace(/(\.\d\d\d*?)0+$/, '$1');
}

export function count(number) {
  return Number(number).toLocaleString('en', { maximumFractionDigits: 6 });
}

/** 1234567 → "1.2 MB". */
export function bytesText(bytes) {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** 75 → "1:15 min"; 7260 → "2 h 1 min"; 100,000 → "1 d 3 h". */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
  const hours = Math.floor(whole / 3600);
  if (hours < 24) return `${hours} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How far a moment is from now: "in 1 d 4 h" or "3 h 2 min ago". */
export function fromNow(moment) {
  const seconds = (Date.parse(moment) - Date.now()) / 1000;
  return seconds > 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
}

/** In the zone of the browser, unless another one is named. A moment of today has no day. */
export function clock(unixSeconds, timeZone) {
  const date = new Date(unixSeconds * 1000);
  const dayOf = (moment) => moment.toLocaleDateString('en-GB', { timeZone });
  const day = dayOf(date) === dayOf(new Date()) ? {} : { month: 'short', day: 'numeric' };
  return date.toLocaleString('en-GB', {
    ...{ ...day, timeZone },
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

export const kindNames = { image: 'an image', video: 'a video', audio: 'a sound' };

/** A note about the media that this input type needs on the chosen model. */
export function inputNote(inputType, { middle_frames: between }) {
  if (inputType === 'text_to_video') return 'The prompt alone, without images.';
  if (inputType === 'first_last_frame') {
    const more = between ? ' Up to seven more can come between them.' : '';
    return `Two images: the video begins with the first and ends with the last.${more}`;
  }
  return 'What the prompt refers to, for example a person, a place or a movement. One is enough.';
}

export const itemNames = { generation: 'Generation', super_resolution: 'Super-resolution' };
