/*
 * The older way to give settings: switches inside the prompt (`--rs 1080p --dur 10`). Like the
 * original, a value the model supports overrides the field, and any other value is ignored
 * silently. A service that lets switches through may be billed more than it priced.
 */

import type { GenerationRequest } from '../jobs/job';
import type { Model } from '../jobs/models';
import { RATIOS, RESOLUTIONS } from '../jobs/models';

type Setting = Partial<
  Pick<GenerationRequest, 'resolution' | 'ratio' | 'duration' | 'seed' | 'watermark'>
>;

const NAMES =
  'rs|resolution|rt|ratio|dur|duration|fps|framespersecond|seed|cf|camerafixed|wm|watermark';
const SWITCH = new RegExp(`--(${NAMES})[ =]+(\\S+)`, 'gi');

export function readSwitches(prompt: string, model: Model): { prompt: string; settings: Setting } {
  const settings: Setting = {};
  const plain = prompt.replace(SWITCH, (_, name: string, value: string) => {
    Object.assign(settings, readSwitch(name.toLowerCase(), value.toLowerCase(), model));
    return '';
  });
  return { prompt: plain.trim(), settings };
}

function readSwitch(name: string, value: string, model: Model): Setting {
  const count = /^-?\d{1,10}$/.test(value) ? Number(value) : undefined;
  if (name === 'rs' || name === 'resolution') {
    const resolution = RESOLUTIONS.find((word) => word === value);
    return resolution && model.resolutions.includes(resolution) ? { resolution } : {};
  }
  if (name === 'rt' || name === 'ratio') {
    const ratio = [...RATIOS, 'adaptive'].find((word) => word === value);
    return ratio ? { ratio } : {};
  }
  if (name === 'dur' || name === 'duration') {
    const { min, max } = model.durations;
    return count !== undefined && count >= min && count <= max ? { duration: count } : {};
  }
  if (name === 'seed')
    return count !== undefined && count >= 0 && count < 2 ** 32 ? { seed: count } : {};
  if (name === 'wm' || name === 'watermark') {
    return /^(true|false)$/.test(value) ? { watermark: value === 'true' } : {};
  }
  return {};
}
