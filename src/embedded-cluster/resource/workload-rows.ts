import {
  controllerRevision,
  podDisruptionBudget,
  statefulSet,
} from '#embedded-cluster/schema/workload-kinds.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { defineRow, statusSubresource } from './define-row.ts';

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
});

/** ControllerRevisions (SR-1). */
export const controllerRevisionRow = defineRow({
  type: resourceTypes.controllerRevisions,
  singular: 'controllerrevision',
  schema: controllerRevision,
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
});
