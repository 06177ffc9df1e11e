/** Words of the chart that its templates share; what `include` names is in the chart's templates/_helpers.tpl. */
import { block, SPREAD, text } from './template.ts';

const include = (helper: string): string => `include "rollout-operator.${helper}" .`;

/** Of the release. */
export const namespace = text('.Release.Namespace');

/** Of all that is the operator's alone. */
export const fullname = text(include('fullname'));

/** What names of cluster-scoped objects begin with, such as `rollout-operator-cells-`. */
export const clusterPrefix = text(include('clusterPrefix'));

/** Of the ServiceMonitor. */
export const monitorName = text(include('monitorName'));

/** Of the account that the operator runs as. */
export const account = text(include('serviceAccountName'));

/** Of the Secret of the certificate. */
export const secretName = text(include('secretName'));

/** Of the ConfigMap of the zone tracker. */
export const zoneTrackerName = text(include('zoneTrackerName'));

/** Of the Lease. */
export const leaseName = text(include('leaseName'));

/** Image with registry and tag. */
export const image = text(include('image'));

/** Conditions of the chart. */
export const conditions = Object.freeze({
  webhooks: '.Values.webhooks.enabled',
  zoneTracker: include('hasZoneTracker'),
  disruptionBudgets: '.Values.disruptionBudgets.enabled',
  phasedRollouts: '.Values.phasedRollouts.enabled',
  statefulsetRollouts: '.Values.statefulsetRollouts.enabled',
  peerRole: 'eq .Values.rbac.role "peer"',
  ownRole: 'ne .Values.rbac.role "peer"',
  serviceMonitor: '.Values.serviceMonitor.enabled',
});

/** The conjunction of conditions. */
export function all(...conditions: readonly string[]): string {
  return `and ${conditions.map((each) => `(${each})`).join(' ')}`;
}

/** The disjunction of conditions. */
export function any(...conditions: readonly string[]): string {
  return `or ${conditions.map((each) => `(${each})`).join(' ')}`;
}

/** What the selector of the Deployment says: the peer's chart says the same, and it cannot be changed later. */
export const selectorLabels = block(include('selectorLabels'));

/** Metadata of a namespaced object. */
export function metadata(name: string, rest: object = {}): object {
  return { ...clusterMetadata(name), namespace, ...rest };
}

/** Metadata of an object of the cluster. */
export function clusterMetadata(name: string, labels: object = {}): object {
  return { name, labels: { ...labels, [SPREAD]: block(include('labels')) } };
}

/** A call of a helper with named arguments beside the chart's own. */
export function helper(name: string, ...args: readonly string[]): string {
  return `include "rollout-operator.${name}" (dict "root" . ${args.join(' ')})`;
}
