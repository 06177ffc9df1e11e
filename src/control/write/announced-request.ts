/** How a Lease names a request that may take a pod: `Pod/<namespace>/<name>/<uid>`, and after it the group of its set. */
import type { JsonValue } from '#base/json.ts';
import { isJsonObject } from '#base/json.ts';

/** A request that may take a pod, as far as a successor has to know it. */
export type AnnouncedRequest = {
  readonly namespace: string;
  /** The set that the pod is of, or that is changed. */
  readonly statefulSet: string;
  /** The group of the set when the request was announced; undefined: it is in none. */
  readonly group: string | undefined;
} & (
  | { readonly kind: 'pod'; readonly pod: string; readonly uid: string }
  /** Its number of pods, its partition or the set itself. */
  | { readonly kind: 'set' }
);

/** Returns the text that {@link parseAnnounced} reads. */
export function announcedText(request: AnnouncedRequest): string {
  const { namespace, statefulSet, group } = request;
  const parts =
    request.kind === 'pod'
      ? ['Pod', namespace, request.pod, request.uid]
      : ['StatefulSet', namespace, statefulSet];
  return [...parts, ...(group === undefined ? [] : [group])].join('/');
}

const podText = /^Pod\/([^/]+)\/(([^/]+)-\d+)\/([^/]+)(?:\/([^/]*))?$/;
const setText = /^StatefulSet\/([^/]+)\/([^/]+)(?:\/([^/]*))?$/;

/** Returns the request that `text` names; undefined where this process cannot read it. */
export function parseAnnounced(text: string): AnnouncedRequest | undefined {
  const [, namespace, pod, statefulSet, uid, group] = podText.exec(text) ?? [];
  if (
    namespace !== undefined &&
    pod !== undefined &&
    statefulSet !== undefined &&
    uid !== undefined
  ) {
    return { kind: 'pod', namespace, statefulSet, pod, uid, group };
  }
  const [, ofSet, name, itsGroup] = setText.exec(text) ?? [];
  if (ofSet === undefined || name === undefined) return undefined;
  return { kind: 'set', namespace: ofSet, statefulSet: name, group: itsGroup };
}

/** Returns the name of the set that a pod of the name `pod` is of; undefined where no set gives its pods such a name. */
export function setOfPod(pod: string): string | undefined {
  return /^(.+)-\d+$/.exec(pod)?.[1];
}

/** Returns the uid that the Eviction `body` asks for; undefined where it takes whatever has the name. */
export function uidOfEviction(body: JsonValue): string | undefined {
  const options = isJsonObject(body) ? body['deleteOptions'] : undefined;
  const preconditions = isJsonObject(options) ? options['preconditions'] : undefined;
  const uid = isJsonObject(preconditions) ? preconditions['uid'] : undefined;
  return typeof uid === 'string' ? uid : undefined;
}
