import type { Summary } from '../rollout-group/summary.ts';

/** What became of one scale-down. */
export interface ScaleDown {
  /** What was to come of it, such as `zone-c by its label`. */
  readonly about: string;
  /** What the person who asked has to read; undefined where a refusal is none of the plan. */
  readonly want: RegExp | undefined;
  /** What kubectl said; undefined where it was done. */
  readonly refusal: string | undefined;
}

/** What a finished play of the webhooks comes to. */
export interface WebhookOutcome {
  readonly scaleDowns: readonly ScaleDown[];
  /** Pods that went, and how many of them were prepared. */
  readonly gone: number;
  readonly prepared: number;
  /** How many were to go. */
  readonly wanted: number;
  /** How many pods stay, and the names of those that are prepared to go all the same. */
  readonly staying: number;
  readonly stillPrepared: readonly string[];
}

/** Sums up what was refused, what was prepared and what went. */
export function summarizeWebhooks(outcome: WebhookOutcome): Summary {
  const { scaleDowns, gone, prepared, wanted, staying, stillPrepared } = outcome;
  const odd = scaleDowns.filter(({ want, refusal }) =>
    want === undefined ? refusal !== undefined : !want.test(refusal ?? ''),
  );
  const refused = scaleDowns.filter(({ want }) => want !== undefined).map(({ about }) => about);
  const verdicts = [
    verdict(
      odd.length === 0,
      `refused as they should be: ${refused.join('; ')}`,
      `${odd.map(({ about }) => about).join('; ')} came out otherwise`,
    ),
    verdict(
      gone === wanted && prepared === gone,
      `${gone} pods went, each after it was prepared`,
      `${gone} pods went instead of ${wanted}, ${prepared} of them prepared`,
    ),
    verdict(
      stillPrepared.length === 0,
      `of the ${staying} pods that stay, none is prepared to go`,
      `${stillPrepared.join(', ')} stay, but are prepared to go`,
    ),
  ];
  return {
    isKept: verdicts.every(({ isKept }) => isKept),
    lines: verdicts.map(({ line }) => line),
  };
}

function verdict(
  isKept: boolean,
  kept: string,
  broken: string,
): { readonly isKept: boolean; readonly line: string } {
  return { isKept, line: isKept ? kept : `broken promise: ${broken}` };
}
