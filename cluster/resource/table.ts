import type { ResourceRow } from '../resource-row.ts';
import { coreRows } from './core-rows.ts';
import { customResourceDefinitionRow } from './custom-resource-definition-row.ts';
import { endpointRows } from './endpoint-rows.ts';
import { eventViewRow } from './event-view-row.ts';
import { podRow } from './pod-row.ts';
import { storageOnlyRows } from './storage-only-rows.ts';
import { storageRows } from './storage-rows.ts';
import { webhookConfigurationRows } from './webhook-configuration-rows.ts';
import { controllerRevisionRow, podDisruptionBudgetRow, statefulSetRow } from './workload-rows.ts';

/** The resources that are served before any CustomResourceDefinition (SR-1…SR-4). */
export const resourceTable: readonly ResourceRow[] = Object.freeze([
  ...coreRows,
  ...storageRows,
  ...endpointRows,
  podRow,
  statefulSetRow,
  controllerRevisionRow,
  podDisruptionBudgetRow,
  ...storageOnlyRows,
  eventViewRow,
  customResourceDefinitionRow,
  ...webhookConfigurationRows,
]);
