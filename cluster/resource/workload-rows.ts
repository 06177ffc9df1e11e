import { resourceTypes } from '#kubernetes/resource-type.ts';
import { controllerRevision, podDisruptionBudget, statefulSet } from '../schema/workload-kinds.ts';
import {
  controllerRevisionColumns,
  podDisruptionBudgetColumns,
  statefulSetColumns,
} from './columns/workload-columns.ts';
import { defaultStatefulSet, prepareNewStatefulSet } from './defaults/default-stateful-set.ts';
import { defineRow, scaleSubresource, statusSubresource } from './define-row.ts';
import { validateStatefulSet } from './validation/validate-stateful-set.ts';
import {
  validateControllerRevision,
  validatePodDisruptionBudget,
} from './validation/validate-workload.ts';

/** StatefulSets (SR-1). */
export const statefulSetRow = defineRow({
  type: resourceTypes.statefulSets,
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  schema: statefulSet,
  columns: statefulSetColumns,
  subresources: [scaleSubresource, statusSubresource('StatefulSet')],
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
  columns: controllerRevisionColumns,
  validate: validateControllerRevision,
  allowsUnconditionalUpdate: true,
});

/** PodDisruptionBudgets (SR-1). */
export const podDisruptionBudgetRow = defineRow({
  type: resourceTypes.podDisruptionBudgets,
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  schema: podDisruptionBudget,
  columns: podDisruptionBudgetColumns,
  subresources: [statusSubresource('PodDisruptionBudget')],
  hasGeneration: true,
  prepareForCreate: (budget) => ({
    ...budget,
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  }),
  validate: validatePodDisruptionBudget,
});
