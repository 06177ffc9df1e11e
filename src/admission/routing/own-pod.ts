import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { canI } from '#kubernetes/authorization/access-review.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { ApiError } from '#kubernetes/transport/api-error.ts';
import { objectAt, stringMapAt } from '#statefulset/parse-fields.ts';
import {
  type LabelOutcome,
  LEADER_LABEL,
  type PodReading,
  type ServiceReading,
} from './plan-routing.ts';

/** What names the pod of this process. */
export interface OwnNames {
  readonly namespace: string;
  /** From the environment: certain enough to write to that pod. */
  readonly podName: string | undefined;
  /** A pod's own name unless its template says otherwise: enough to read that pod. */
  readonly hostname: string | undefined;
  /** Of the Service. */
  readonly service: string;
}

/** The pod as it was read, and its uid, by which it is written to; empty where it is unknown. */
export interface OwnPod {
  readonly reading: PodReading;
  readonly uid: string;
}

/** Longest time that the end of the process waits for the label to be taken off. */
const lastWords = seconds(2);

/** Reads the pod of this process by a list, which every Role of this program permits. @throws never */
export async function readOwnPod(
  client: Client,
  { namespace, podName, hostname }: OwnNames,
  signal: AbortSignal,
): Promise<OwnPod> {
  const name = podName ?? hostname;
  if (name === undefined) return unknownPod('neither POD_NAME nor HOSTNAME is set');
  try {
    const query = { namespace, fieldSelector: `metadata.name=${name}` };
    const { items } = await client.list(resourceTypes.pods, query, { signal });
    const [found] = items;
    if (found === undefined) return unknownPod(`there is no Pod "${namespace}/${name}"`);
    const labels = stringMapAt(found.metadata, 'labels');
    return {
      reading: { kind: 'read', name: `${namespace}/${name}`, labels },
      uid: found.metadata.uid,
    };
  } catch (error) {
    return unknownPod(errorOf(error).message);
  }
}

function unknownPod(why: string): OwnPod {
  return { reading: { kind: 'unknown', why }, uid: '' };
}

/** Reads what the Service selects, if the Role permits that: it is asked first, as that of the peer does not. @throws never */
export async function readService(
  client: Client,
  { namespace, service }: OwnNames,
  signal: AbortSignal,
): Promise<ServiceReading> {
  const name = `${namespace}/${service}`;
  try {
    const key = { namespace, name: service };
    const { group, plural: resource } = resourceTypes.services;
    const answer = await canI(client, { ...key, verb: 'get', group, resource }, { signal });
    if (answer.kind !== 'allowed') {
      return { kind: 'unknown', name, why: `the Role does not permit reading Service "${name}"` };
    }
    const found = await client.get(resourceTypes.services, key, { signal });
    return { kind: 'read', name, selector: stringMapAt(objectAt(found, 'spec'), 'selector') };
  } catch (error) {
    return { kind: 'unknown', name, why: errorOf(error).message };
  }
}

/** Gives the pod of this process the label of a leader. @throws never */
export async function labelOwnPod(
  client: Client,
  { namespace, podName }: OwnNames,
  { pod: { reading, uid }, signal }: { readonly pod: OwnPod; readonly signal: AbortSignal },
): Promise<LabelOutcome> {
  if (podName === undefined) return { kind: 'unnamed' };
  if (reading.kind === 'unknown') return { kind: 'failed', why: reading.why };
  try {
    const body = { kind: 'merge', document: labelled(uid, 'true') } as const;
    await client.patch(resourceTypes.pods, { namespace, name: podName }, { body, signal });
    return { kind: 'set' };
  } catch (error) {
    const why = errorOf(error).message;
    const isRefused = error instanceof ApiError && error.status === 403;
    return { kind: isRefused ? 'refused' : 'failed', why };
  }
}

/** Takes the label off again, within 2 s. @throws what the client throws */
export async function unlabelOwnPod(
  client: Client,
  { namespace, podName = '' }: OwnNames,
  uid: string,
): Promise<void> {
  const body = { kind: 'merge', document: labelled(uid, null) } as const;
  const key = { namespace, name: podName };
  await client.patch(resourceTypes.pods, key, { body, timeout: lastWords });
}

/** The uid is a precondition: another pod of that name is not touched. */
function labelled(uid: string, value: string | null): JsonObject {
  return { metadata: { uid, labels: { [LEADER_LABEL]: value } } };
}
