// The dialects of the protocol. They differ in the form of a create and in the name of the image.
// Servers refuse or misread fields that they do not know, so each dialect lists the options of the
// caller's metadata that it takes.

export interface Profile {
  /** The form of a create: fields of a form, or a JSON object. */
  readonly form: boolean;
  readonly image: (url: string) => Readonly<Record<string, unknown>>;
  readonly takesSeed: boolean;
  /** The names of the options that are passed on. */
  readonly options: readonly string[] | 'all';
}

const reference = (url: string) => ({ input_reference: { image_url: url } });

const diffusionOptions = ['fps', 'num_inference_steps', 'guidance_scale', 'negative_prompt'];

const openai: Profile = { form: false, image: reference, takesSeed: false, options: [] };

const profiles: Readonly<Record<string, Profile>> = {
  openai,
  'vllm-omni': {
    form: true,
    image: (url) => ({ image_reference: { image_url: url } }),
    takesSeed: true,
    options: [
      ...diffusionOptions,
      'guidance_scale_2',
      'boundary_ratio',
      'flow_shift',
      'true_cfg_scale',
      'generate_sound',
      'sound_duration',
      'lora',
    ],
  },
  sglang: {
    form: false,
    image: (url) => ({ reference_url: url }),
    takesSeed: true,
    options: diffusionOptions,
  },
  gateway: { form: false, image: reference, takesSeed: true, options: 'all' },
};

export const profileNames: readonly string[] = Object.keys(profiles);

/** The catalogue has already refused names that are not in the table. */
export function profileNamed(name: string | null | undefined): Profile {
  return profiles[name ?? ''] ?? openai;
}
