/** What a real cluster does and this one does not, with what a person can do instead. */

/** One thing that is refused, no matter who asks for it. */
export interface Refusal {
  /** What needs it, behind `kubectl`. */
  readonly commands: readonly string[];
  /** Why it is refused. */
  readonly why: string;
  /** What to do instead. */
  readonly instead: string;
}

const eventsTell = '"kubectl describe pod" and "kubectl events" tell what happened to it';

const logs: Refusal = {
  commands: ['logs'],
  why: 'a pod is simulated and runs no container, so it has no logs',
  instead: eventsTell,
};

const processes: Refusal = {
  commands: ['exec', 'cp', 'attach'],
  why: 'a pod is simulated and runs no container, so there is no process to reach in it',
  instead: eventsTell,
};

const ports: Refusal = {
  commands: ['port-forward'],
  why: 'a pod is simulated and runs no container, so nothing listens in it',
  instead: 'what answers to the network is a program on this machine, such as the operator',
};

const debugging: Refusal = {
  commands: ['debug'],
  why: 'a pod is simulated and runs no container, so there is nothing to look into',
  instead: eventsTell,
};

const tokens: Refusal = {
  commands: ['create token'],
  why: 'no tokens of ServiceAccounts are issued',
  instead:
    'the kubeconfig has the token of an administrator, who acts as a ServiceAccount with "--as=system:serviceaccount:NAMESPACE:NAME"',
};

const rules: Refusal = {
  commands: ['auth can-i --list'],
  why: 'Roles are stored and nobody is held to them, so there are no rules to list',
  instead: '"kubectl auth can-i VERB KIND" answers for one action',
};

const kinds: Refusal = {
  commands: ['create deployment', 'create job', 'create cronjob', 'create ingress', 'autoscale'],
  why: 'nothing would act on a Deployment, ReplicaSet, DaemonSet, Job, CronJob, HorizontalPodAutoscaler or Ingress, so none of them is served',
  instead: 'a StatefulSet rolls, and the operator runs beside the cluster as a program of its own',
};

/** Server-side apply, which comes as a type of patch and not by a path (OB-18, D-47). */
export const serverSideApply: Refusal = {
  commands: ['apply --server-side'],
  why: 'nothing keeps book of which manager owns which field, so there is no server-side apply',
  instead: '"kubectl apply" without --server-side works',
};

/** By apiVersion and path, such as `v1 pods/log` (SU-11). */
export const refusedPaths: Readonly<Record<string, Refusal>> = {
  'v1 pods/log': logs,
  'v1 pods/exec': processes,
  'v1 pods/attach': processes,
  'v1 pods/portforward': ports,
  'v1 pods/proxy': ports,
  'v1 services/proxy': ports,
  'v1 pods/ephemeralcontainers': debugging,
  'v1 serviceaccounts/token': tokens,
  'authorization.k8s.io/v1 selfsubjectrulesreviews': rules,
  'apps/v1 deployments': kinds,
  'apps/v1 replicasets': kinds,
  'apps/v1 daemonsets': kinds,
  'batch/v1 jobs': kinds,
  'batch/v1 cronjobs': kinds,
  'autoscaling/v1 horizontalpodautoscalers': kinds,
  'autoscaling/v2 horizontalpodautoscalers': kinds,
  'networking.k8s.io/v1 ingresses': kinds,
};

/** All of them, in the order in which a person meets them. */
export const refusals: readonly Refusal[] = [
  ...new Set(Object.values(refusedPaths)),
  serverSideApply,
];

/** Returns the sentence of `refusal`. */
export function refusalText({ why, instead }: Refusal): string {
  return `embedded cluster: ${why}; ${instead}`;
}
