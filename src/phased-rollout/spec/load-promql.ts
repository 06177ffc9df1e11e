import { createRequire } from 'node:module';
import type * as PromQl from '@prometheus-io/lezer-promql';
import { withMissingFile } from '#telemetry/missing-file.ts';

// The bundle names a file in place of the package (scripts/build.ts).
const require: (name: string) => unknown = createRequire(import.meta.url);

/** Returns the grammar of PromQL, which is evaluated when it is first asked for: there may be no PhasedRollout. */
export function loadPromQl(): typeof PromQl {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an import would be evaluated at the start
    return require('@prometheus-io/lezer-promql') as typeof PromQl;
  } catch (error) {
    return withMissingFile(error);
  }
}
