import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { withMissingFile } from '#telemetry/missing-file.ts';

// The bundle names a file in place of the package (scripts/build.ts).
const require: (name: string) => unknown = createRequire(import.meta.url);

/** Returns the engine of RE2, which is evaluated when it is first asked for: most clusters have no pattern. */
export function loadRe2(): typeof Re2 {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an import would be evaluated at the start
    return require('re2js') as typeof Re2;
  } catch (error) {
    return withMissingFile(error);
  }
}
