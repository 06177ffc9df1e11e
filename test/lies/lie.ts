/**
 * A switch by which the embedded cluster lies in one way, and the scenario that must catch it. The folder shows that
 * scenarios rest on what the cluster does, and changes nothing where no switch is on.
 */
import type { EmbeddedCluster } from '#cluster/create-cluster.ts';

/** One lie. */
export interface Lie {
  /** The trap that the lie falls into: docs/rules/embedded-cluster.md, `FT-…`. */
  readonly trap: `FT-${number}`;
  /** File in test/integration, without `.test.ts`. */
  readonly file: string;
  /** The title of the scenario, or how it begins. */
  readonly scenario: string;
  readonly tell: (cluster: EmbeddedCluster) => void;
}
