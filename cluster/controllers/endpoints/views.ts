import type { JsonObject } from '#base/json.ts';
import type { Cached } from '#kubernetes/informer/informer.ts';
import { parseIdentity } from '#kubernetes/informer/parse-identity.ts';
import type { KubernetesObject } from '#kubernetes/object.ts';
import { objectAt, objectsAt, textAt, textMapAt } from '../../json/read-json.ts';

/** What the endpoints controller reads of a Service. */
export interface ServiceView extends Cached {
  readonly labels: Readonly<Record<string, string>>;
  /** Empty: another client writes the endpoints. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly JsonObject[];
  readonly isHeadless: boolean;
  readonly publishesNotReady: boolean;
}

/** What the endpoints controller reads of a pod. */
export interface EndpointPod extends Cached {
  readonly labels: Readonly<Record<string, string>>;
  /** Empty until it has one. */
  readonly ip: string;
  readonly nodeName: string;
  /** Its name in the domain of the Service; empty where it has none there. */
  readonly hostname: string;
  readonly subdomain: string;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  readonly isOver: boolean;
  readonly containerPorts: readonly JsonObject[];
}

/** Returns a Service. */
export function parseService(object: KubernetesObject): ServiceView {
  const spec = objectAt(object, 'spec');
  return {
    ...parseIdentity(object),
    labels: object.metadata.labels ?? {},
    selector: textMapAt(spec, 'selector'),
    ports: objectsAt(spec, 'ports'),
    isHeadless: textAt(spec, 'clusterIP') === 'None',
    publishesNotReady: spec['publishNotReadyAddresses'] === true,
  };
}

/** Returns a Pod. */
export function parseEndpointPod(object: KubernetesObject): EndpointPod {
  const [spec, status] = [objectAt(object, 'spec'), objectAt(object, 'status')];
  const conditions = objectsAt(status, 'conditions');
  return {
    ...parseIdentity(object),
    labels: object.metadata.labels ?? {},
    ip: textAt(status, 'podIP'),
    nodeName: textAt(spec, 'nodeName'),
    hostname: textAt(spec, 'hostname'),
    subdomain: textAt(spec, 'subdomain'),
    isReady: conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    isTerminating: object.metadata.deletionTimestamp !== undefined,
    isOver: ['Failed', 'Succeeded'].includes(textAt(status, 'phase')),
    containerPorts: objectsAt(spec, 'containers').flatMap((each) => objectsAt(each, 'ports')),
  };
}
