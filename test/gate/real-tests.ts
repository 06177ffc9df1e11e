import type { RealTest } from './shown-promise.ts';

/** Names tests of one file. */
function of<Name extends string>(
  file: string,
  titles: Readonly<Record<Name, string>>,
): Readonly<Record<Name, RealTest>> {
  const entries = Object.entries<string>(titles).map(([name, title]) => [name, { file, title }]);
  return Object.fromEntries(entries) as Record<Name, RealTest>;
}

/**
 * Tests on a real control plane that show promises; few, as the gate runs each. Those of groups and of budgets end with a
 * judgement of all that the API server wrote down and stored, see `test/real-cluster/judge-namespace.ts`; the others count pods
 * that are away, and writes, by the same record.
 */
export const real = Object.freeze({
  ...of('test/real/rollout-group/scenarios.test.ts', {
    rolled: 'three zones of three pods go to a new image',
    broken:
      'an image that cannot be pulled stops in the first zone, and its correction goes through',
    takenBack: 'a rollout that is taken back half-way returns to the old image',
    paused: 'a paused zone keeps its pods while the others go, and follows when it is resumed',
  }),
  ...of('test/real/rollout-group/scaling.test.ts', {
    prepared:
      'three zones shrink once each pod was prepared for the delay; pods that answer late, wrongly or never hold themselves',
  }),
  ...of('test/real/rollout-group/hand-over.test.ts', {
    leaders:
      'ten leaders of a rollout of 3 x 20 pods are killed, stopped in good order or halted, and nothing is broken [WRIT-1]',
  }),
  ...of('test/real/admission/drains.test.ts', {
    drains:
      'of all zones by three drainers, in mid-rollout, while leaders die at twelve points, take one pod at a time, and end',
  }),
  ...of('test/real/admission/budgets.test.ts', {
    budgetOfTwo:
      '[scenario 85] under a budget of 2 two evictions in one zone are allowed, and none in the others',
  }),
  ...of('test/real/admission/admission.test.ts', {
    denied: 'let evictions pass but of pods that a budget keeps, and try them out [zpdb 48, 54]',
  }),
  ...of('test/real/custom-resources/zone-aware-controllers.test.ts', {
    zones:
      'allow evictions of one zone at a time, and update 25 pods by 10 % zone by zone in growing steps, once no alarm rings, under the Role of the peer',
  }),
  ...of('test/real/custom-resources/phased-rollout.test.ts', {
    phased:
      'rolls pod by pod while the query finds something, and stands while it does not, under the Role of the peer',
  }),
  ...of('test/real/custom-resources/statefulset-rollouts.test.ts', {
    percent:
      'a set that is made goes to a new version at 1, 50 and 100 percent, by evictions and within its budget [T-10, T-23, T-24, T-29]',
    percentBroken:
      'a version that cannot become ready is taken back by the revision that is there, and its pods alone go [T-56]',
    percentRefused:
      'an eviction that the budget refuses is reported and tried again, and nothing else goes meanwhile [T-35, T-39]',
    percentScaled:
      'replicas that the scale subresource has set stay, where an autoscaler targets the set [T-17]',
    adopted:
      'a set that others made and changed is adopted in one request, and keeps what is theirs [T-12]',
  }),
});
