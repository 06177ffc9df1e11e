import { assertNever } from '#base/assert-never.ts';

/** The label by which the Service of the peer selects the pod that leads, since its v0.40.0. */
export const LEADER_LABEL = 'rollout-operator.grafana.com/leader';

type Labels = Readonly<Record<string, string>>;

/** The Service by whose name the API server calls the webhooks. */
export type ServiceReading =
  | { readonly kind: 'read'; readonly name: string; readonly selector: Labels }
  | { readonly kind: 'unknown'; readonly name: string; readonly why: string };

/** The pod of this process. */
export type PodReading =
  | { readonly kind: 'read'; readonly name: string; readonly labels: Labels }
  | { readonly kind: 'unknown'; readonly why: string };

/** What became of the {@link LEADER_LABEL} that this process gives its pod. */
export type LabelOutcome =
  | { readonly kind: 'set' }
  /** Nothing names the pod for certain. */
  | { readonly kind: 'unnamed' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

/** All that is known of the way from the API server to this replica. */
export interface RoutingView {
  readonly service: ServiceReading;
  readonly pod: PodReading;
  readonly label: LabelOutcome;
}

/** Why no review reaches this replica, as the gauge has it. */
export const routingReasons = ['PodNotLabelled', 'ServiceSelectsOthers'] as const;

/** Whether reviews reach this replica. */
export type Routing =
  | { readonly kind: 'reached' }
  | { readonly kind: 'unknown'; readonly why: string }
  | {
      readonly kind: 'not reached';
      readonly reason: (typeof routingReasons)[number];
      readonly why: string;
    };

/** Judges by labels alone whether the Service sends reviews to this replica; it does not once the pod is not ready. */
export function planRouting({ service, pod, label }: RoutingView): Routing {
  if (service.kind === 'unknown') return withoutService(service, { pod, label });
  const labels = labelsOf(pod, label);
  const others = Object.entries(service.selector).filter(([key, value]) => labels[key] !== value);
  const isLacked = others.some(([key]) => key === LEADER_LABEL);
  if (isLacked && label.kind !== 'set') {
    return notLabelled(`Service "${service.name}" selects ${LEADER_LABEL}=true`, label);
  }
  if (pod.kind === 'unknown') return { kind: 'unknown', why: pod.why };
  if (others.length === 0) return { kind: 'reached' };
  const wanted = others.map(([key, value]) => `${key}=${value}`).join(', ');
  const seen = others.map(([key]) => `${key}=${labels[key] ?? ''}`).join(', ');
  const why =
    `Service "${service.name}" selects ${wanted}, and Pod "${pod.name}" has ${seen}: ` +
    'correct spec.selector of the Service, or the labels in the template of the pod';
  return { kind: 'not reached', reason: 'ServiceSelectsOthers', why };
}

/** The pod was read before it was labelled. */
function labelsOf(pod: PodReading, label: LabelOutcome): Labels {
  const labels = pod.kind === 'read' ? pod.labels : {};
  return label.kind === 'set' ? { ...labels, [LEADER_LABEL]: 'true' } : labels;
}

/** Without the Service it is unknown whether it takes the label; that the label cannot be set is said all the same. */
function withoutService(
  { name, why }: Extract<ServiceReading, { kind: 'unknown' }>,
  { pod, label }: Omit<RoutingView, 'service'>,
): Routing {
  if (label.kind === 'set') return { kind: 'reached' };
  if (label.kind !== 'unnamed') {
    return notLabelled(
      `Service "${name}", which cannot be read, may select ${LEADER_LABEL}=true`,
      label,
    );
  }
  return { kind: 'unknown', why: pod.kind === 'unknown' ? `${why}; ${pod.why}` : why };
}

function notLabelled(selects: string, label: Exclude<LabelOutcome, { kind: 'set' }>): Routing {
  const reason = 'PodNotLabelled';
  return { kind: 'not reached', reason, why: `${selects}, and ${lackOf(label)}` };
}

function lackOf(label: Exclude<LabelOutcome, { kind: 'set' }>): string {
  switch (label.kind) {
    case 'unnamed':
      return 'this program does not know its pod, which only it can label: set the environment variable POD_NAME from metadata.name';
    case 'refused':
      return `the Role does not permit giving the pod that label (${label.why}): add the rule {apiGroups: [''], resources: [pods], verbs: [patch]}`;
    case 'failed':
      return `the pod could not be given that label, which is tried again: ${label.why}`;
    default:
      return assertNever(label);
  }
}
