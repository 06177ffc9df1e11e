import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';

/** What is played of one capability, and reported in lines. */
export interface LinesOptions<Scenario extends string> {
  readonly scenario: Scenario;
  /** Divides the delays of pods. */
  readonly speed: number;
  /** How many pods there are. @default as the demo, or its manifest, says */
  readonly pods: number | undefined;
  /** Undefined: as the manifest says. */
  readonly maxUnavailable: number | undefined;
}

/** What such a demo is given. */
export interface LinesPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly say: (line: string) => void;
}
