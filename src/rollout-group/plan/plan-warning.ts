import { problemText } from '#base/parsed.ts';
import type { Decision } from '#control/decision/decision.ts';
import { because, setRef } from '#control/decision/refs.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { switchProblems } from '#statefulset/metadata/protective-switch.ts';
import { maxUnavailableOf, misplacedKeys } from '../api.ts';
import { orphanNames } from './plan-zone.ts';

/** Warns of input of the group that cannot be used as it is, while work goes on (IN-12, KW-2, KW-24). */
export function planWarnings(sets: readonly SetSnapshot[]): readonly Decision[] {
  return sets.flatMap((snapshot) => [
    ...invalidLimit(snapshot),
    ...invalidSwitches(snapshot),
    ...misplaced(snapshot),
    ...missingNameLabel(snapshot),
    ...orphans(snapshot),
  ]);
}

function invalidLimit({ set }: SetSnapshot): readonly Decision[] {
  const parsed = maxUnavailableOf(set);
  if (parsed.kind === 'valid') return [];
  const message = `StatefulSet "${set.name}": ${parsed.problem.path} ${parsed.problem.message}; 1 is used`;
  return [{ kind: 'warn', set: setRef(set), because: because('InvalidMaxUnavailable', message) }];
}

/** Warns of switches of any room: the pass of a group sees each set of the group, whichever switches it has. */
function invalidSwitches({ set }: SetSnapshot): readonly Decision[] {
  return switchProblems(set).map((problem) => ({
    kind: 'warn',
    set: setRef(set),
    because: because('InvalidSwitch', `StatefulSet "${set.name}": ${problemText(problem)}`),
  }));
}

function misplaced({ set }: SetSnapshot): readonly Decision[] {
  return misplacedKeys(set).map((problem) => ({
    kind: 'warn',
    set: setRef(set),
    because: because(
      'MisplacedKey',
      `StatefulSet "${set.name}": ${problem.path} has no effect: it ${problem.message}`,
    ),
  }));
}

function missingNameLabel({ set }: SetSnapshot): readonly Decision[] {
  if (set.spec.templateLabels['name'] !== undefined) return [];
  const message =
    `StatefulSet "${set.name}": spec.template.metadata.labels has no "name"; ` +
    'its pods are found by their owner here, but not by other tools of this family';
  return [{ kind: 'warn', set: setRef(set), because: because('NameLabelMissing', message) }];
}

function orphans(snapshot: SetSnapshot): readonly Decision[] {
  return orphanNames(snapshot).map((name) => ({
    kind: 'warn',
    set: setRef(snapshot.set),
    because: because(
      'PodWithoutController',
      `Pod "${name}" has the name of a pod of StatefulSet "${snapshot.set.name}" but no controlling owner in metadata.ownerReferences; ` +
        'it is never touched, and its slot counts as missing',
    ),
  }));
}
