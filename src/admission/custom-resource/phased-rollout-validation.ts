import { type Problem, problemText } from '#base/parsed.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { admissionProblems } from '#phased-rollout/spec/validate.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { allow, type ReviewRefusal, type Webhook } from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import { reviewedObject } from './reviewed-object.ts';

const { group, kind } = resourceTypes.phasedRollouts;

/**
 * Refuses a PhasedRollout with an expression that is no PromQL or with an invalid URL, with all that is wrong at once.
 * It asks nothing, and is the same for a dry run. To delete one is always allowed, and so is what leads there.
 */
export function phasedRolloutValidation(): Webhook {
  return {
    path: webhookPaths.phasedRolloutValidation,
    patience: undefined,
    objects: 'source',
    judge(request) {
      if (request.operation === 'DELETE') return allow;
      const reviewed = reviewedObject(request, resourceTypes.phasedRollouts);
      if (reviewed.kind === 'other') return reviewed.refusal;
      const problems = admissionProblems(reviewed.object);
      if (problems.length === 0) return allow;
      const written = stringAt(objectAt(reviewed.object, 'metadata'), 'name');
      return refusalOf(problems, request.name || (written ?? ''));
    },
  };
}

function refusalOf(problems: readonly Problem[], name: string): ReviewRefusal {
  const wrong = problems.map(problemText).join('; ');
  return {
    isAllowed: false,
    message: `${kind}.${group} ${JSON.stringify(name)} is invalid: ${wrong}`,
    causes: problems.map(({ path, message }) => ({
      reason: 'FieldValueInvalid',
      message,
      field: path,
    })),
    invalid: { group, kind, name },
  };
}
