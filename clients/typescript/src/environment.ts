// Finds the address and the key: the options come first, then the environment. Browsers have none,
// and in Deno only the reading of it needs a permission.

export interface Access {
  /** The address of the service, for example `https://video.example.com`; else VIDEO_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /** Else VIDEO_API_KEY. */
  readonly apiKey?: string | undefined;
}

interface Surroundings {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

export function accessOf(options: Access): { readonly baseUrl: string; readonly apiKey: string } {
  const baseUrl = options.baseUrl ?? variable('VIDEO_BASE_URL');
  const apiKey = options.apiKey ?? variable('VIDEO_API_KEY');
  const missing = [
    ...(baseUrl ? [] : ['baseUrl (or VIDEO_BASE_URL)']),
    ...(apiKey ? [] : ['apiKey (or VIDEO_API_KEY)']),
  ];
  if (!baseUrl || !apiKey) throw new TypeError(`Missing: ${missing.join(' and ')}.`);
  return { baseUrl, apiKey };
}

const variable = (name: string) => (globalThis as Surroundings).process?.env?.[name];
