import {
  controllerRevision,
  podDisruptionBudget,
  statefulSet,
} from '#embedded-cluster/schema/workload-kinds.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { defaultStatefulSet, prepareNewStatefulSet } from './default-stateful-set.ts';
import { defineRow, statusSubresource } from './define-row.ts';
import { objectAt } from './members.ts';
import { validateStatefulSet } from './validate-stateful-set.ts';
import { validateControllerRevision, validatePodDisruptionBudget } from './validate-workload.ts';

/** StatefulSets (SR-1). */
export const statefulSetRow = defineRow({
  type: resourceTypes.statefulSets,
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  schema: statefulSet,
  subresources: [
    {
      name: 'scale',
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs: ['get', 'patch', 'update'],
    },
    statusSubresource('StatefulSet'),
  ],
  hasGeneration: true,
  allowsUnconditionalUpdate: true,
  withDefaults: defaultStatefulSet,
  prepareForCreate: prepareNewStatefulSet,
  validate: validateStatefulSet,
});

/** ControllerRevisions (SR-1). */
export const controllerRevisionRow = defineRow({
  type: resourceTypes.controllerRevisions,
  singular: 'controllerrevision',
  schema: controllerRevision,
  validate: validateControllerRevision,
  allowsUnconditionalUpdate: true,
});

/** PodDisruptionBudgets (SR-1); stored, while nothing acts on them yet. */
export const podDisruptionBudgetRow = defineRow({
  type: resourceTypes.podDisruptionBudgets,
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  schema: podDisruptionBudget,
  subresources: [statusSubresource('PodDisruptionBudget')],
  hasGeneration: true,
  prepareForCreate: (budget) => ({
    ...budget,
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  }),
  validate: validatePodDisruptionBudget,
  ineffectiveFields: (budget) =>
    Object.keys(objectAt(budget, 'spec') ?? {}).map((member) => `spec.${member}`),
});
