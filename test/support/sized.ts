// A scenario may have two sizes: a small one in each run, and a large one in `npm run test:long`.
// The file of such a scenario is in the list `sized` of jest.config.js.

const { isLongRun } = globalThis as { isLongRun?: boolean };

export function sized<Size>({ each, long }: { readonly each: Size; readonly long: Size }): Size {
  return isLongRun ? long : each;
}
