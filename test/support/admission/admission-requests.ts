import type { AdmissionRequest } from '#admission/review/review.ts';
import type { JsonObject } from '#base/json.ts';

/** What a StatefulSet under review says. */
export interface ReviewedSet {
  /** @default `ingester-zone-a` */
  readonly name?: string;
  /** @default 3 */
  readonly replicas?: number;
  /** @default those of the group */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly serviceName?: string;
  readonly ordinalsStart?: number;
}

const group = { 'rollout-group': 'ingester' };

/** Labels and annotations of a set whose pods are prepared. */
export const prepared: {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
} = {
  labels: { ...group, 'grafana.com/prepare-downscale': 'true' },
  annotations: {
    'grafana.com/prepare-downscale-http-port': '80',
    'grafana.com/prepare-downscale-http-path': 'ingester/prepare-shutdown',
  },
};

/** Returns a StatefulSet as a review carries it. */
export function setObject(options: ReviewedSet = {}): JsonObject {
  const { name = 'ingester-zone-a', replicas = 3, serviceName = 'svc' } = options;
  const { labels = group, annotations = {}, ordinalsStart } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'test', labels, annotations },
    spec: {
      replicas,
      serviceName,
      ...(ordinalsStart !== undefined && { ordinals: { start: ordinalsStart } }),
      selector: { matchLabels: { name } },
      template: {
        metadata: { labels: { name } },
        spec: { containers: [{ name: 'ingester', image: 'ingester:1' }] },
      },
    },
  };
}

/** Returns a Scale of a set, which bears the uid of that set. */
function scaleObject(name: string, replicas?: number, uid?: string): JsonObject {
  const spec = replicas === undefined ? {} : { replicas };
  const metadata = { name, namespace: 'test', ...(uid !== undefined && { uid }) };
  return { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec };
}

/** Returns a request that updates a StatefulSet from `oldObject` to `object`. */
export function updateRequest(
  oldObject: JsonObject | undefined,
  object: JsonObject | undefined,
  rest: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  return {
    uid: 'abc',
    kind: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
    resourceGroup: 'apps',
    resource: 'statefulsets',
    subResource: '',
    name: 'ingester-zone-a',
    namespace: 'test',
    operation: 'UPDATE',
    userName: 'admin',
    isDryRun: false,
    object,
    oldObject,
    ...rest,
  };
}

/** Returns a request through `/scale` from `from` to `to` replicas. */
export function scaleRequest(
  from: number | undefined,
  to: number | undefined,
  { setUid, ...rest }: Partial<AdmissionRequest> & { readonly setUid?: string } = {},
): AdmissionRequest {
  const name = rest.name ?? 'ingester-zone-a';
  return updateRequest(scaleObject(name, from, setUid), scaleObject(name, to, setUid), {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    subResource: 'scale',
    ...rest,
  });
}

/** Returns the request to evict `ingester-zone-<slot>`, such as `a-0`, as the API server has it reviewed. */
export function evictionRequest(
  slot: string,
  rest: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  return updateRequest(undefined, undefined, {
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resourceGroup: '',
    resource: 'pods',
    subResource: 'eviction',
    name: `ingester-zone-${slot}`,
    operation: 'CREATE',
    ...rest,
  });
}

/**
 * Returns the document that the API server posts: an update that leaves a StatefulSet as it is.
 *
 * @param members of the request, in place of the usual ones or in addition
 */
export function reviewDocument(
  members: JsonObject = {},
  apiVersion = 'admission.k8s.io/v1',
): JsonObject {
  const request = {
    uid: 'abc',
    kind: { group: 'apps', version: 'v1', kind: 'StatefulSet' },
    resource: { group: 'apps', version: 'v1', resource: 'statefulsets' },
    name: 'ingester-zone-a',
    namespace: 'test',
    operation: 'UPDATE',
    userInfo: { username: 'admin' },
    object: setObject(),
    oldObject: setObject(),
    dryRun: false,
    ...members,
  };
  return { kind: 'AdmissionReview', apiVersion, request };
}
