import { compilePattern } from '#disruption-budget/pattern/compile-pattern.ts';
import { parseBudget } from '#disruption-budget/spec/parse-budget.ts';
import { parseUntyped } from '#disruption-budget/spec/parse-untyped.ts';
import { shortened } from '#disruption-budget/spec/shortened.ts';
import { type AdmissionRequest, allow, type Webhook } from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';

/**
 * Refuses a ZoneAwarePodDisruptionBudget that says nothing that can be kept. It asks nothing, and compares it with
 * no other: that two budgets select one pod is reported where both are known.
 */
export function zpdbValidation(): Webhook {
  return {
    path: webhookPaths.zpdbValidation,
    patience: undefined,
    objects: 'source',
    judge(request) {
      const message = problemOf(request);
      return message === undefined ? allow : { isAllowed: false, message, code: 400 };
    },
  };
}

/** Returns what is wrong with the object under review, in the words of the peer; undefined where nothing is. */
function problemOf({ object: source }: AdmissionRequest): string | undefined {
  // As Go says of no bytes, which it takes null for.
  if (typeof source !== 'string' || source === 'null') return 'unexpected end of JSON input';
  const read = parseUntyped(source);
  if (read.kind === 'undecodable') return read.text;
  const { kind } = read.object;
  if (typeof kind !== 'string' || kind === '') {
    return shortened(`Object 'Kind' is missing in '${source}'`);
  }
  const budget = parseBudget(read.object, compilePattern);
  return budget.kind === 'invalid' ? budget.text : undefined;
}
