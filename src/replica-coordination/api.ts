import type { Parsed } from '#base/parsed.ts';
import { invalid, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { parseGoDuration } from '#base/time/go-duration.ts';
import { parseTimestamp } from '#base/time/timestamp.ts';
import type { Instant, Millis } from '#base/units.ts';
import type { AnnotationKey } from '#statefulset/known-keys.ts';
import { LAST_DOWNSCALE, MINIMUM_TIME, minimumTimeText } from '#statefulset/last-downscale.ts';
import { isProtected } from '#statefulset/metadata/protective-switch.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

const LEADER = 'grafana.com/rollout-downscale-leader' satisfies AnnotationKey;
const UPSCALE_GATE = 'grafana.com/rollout-upscale-only-when-leader-ready' satisfies AnnotationKey;
const FORCE = 'grafana.com/rollout-force-replicas' satisfies AnnotationKey;
const REFERENCE_NAME =
  'grafana.com/rollout-mirror-replicas-from-resource-name' satisfies AnnotationKey;
const REFERENCE_KIND =
  'grafana.com/rollout-mirror-replicas-from-resource-kind' satisfies AnnotationKey;
const REFERENCE_API_VERSION =
  'grafana.com/rollout-mirror-replicas-from-resource-api-version' satisfies AnnotationKey;
const WRITE_BACK =
  'grafana.com/rollout-mirror-replicas-from-resource-write-back' satisfies AnnotationKey;

/** The greatest count that the API stores. */
const maxReplicas = 2_147_483_647;

/** The resource whose replicas a set mirrors, as its annotations name it (IN-19…IN-21). */
export interface Reference {
  readonly name: string;
  readonly kind: string;
  /** Empty for the core group, which an absent api-version means, too (KW-28). */
  readonly group: string;
}

/** Where the replicas of a set come from. */
export type Source =
  | { readonly kind: 'none' }
  | { readonly kind: 'leader'; readonly leader: string }
  | { readonly kind: 'reference'; readonly reference: Parsed<Reference> }
  /** Both at once would fight (D-20). */
  | { readonly kind: 'conflicting' };

/** Returns where `set` takes its replicas from; a leader is asked for even by an empty name (IN-14, IN-19, IN-20). */
export function sourceOf(set: StatefulSetView): Source {
  const leader = set.annotations[LEADER];
  const name = set.annotations[REFERENCE_NAME] ?? '';
  const kind = set.annotations[REFERENCE_KIND] ?? '';
  const isMirrored = name !== '' && kind !== '';
  if (leader !== undefined)
    return isMirrored ? { kind: 'conflicting' } : { kind: 'leader', leader };
  if (!isMirrored) return { kind: 'none' };
  return { kind: 'reference', reference: referenceNamed(set, name, kind) };
}

function referenceNamed(set: StatefulSetView, name: string, kind: string): Parsed<Reference> {
  const apiVersion = set.annotations[REFERENCE_API_VERSION] ?? '';
  const [first = '', second, ...rest] = apiVersion.split('/');
  if (rest.length > 0) {
    const wanted = 'must be "group/version", or a version of the core group';
    return invalid(annotation(REFERENCE_API_VERSION), `${wanted}: got ${quoted(apiVersion)}`);
  }
  // The version says nothing: the server's preferred one is used (SC-34).
  return valid({ name, kind, group: second === undefined ? '' : first });
}

/** Names the resource that `reference` means for a set of `namespace`, whatever its version. */
export function referenceId(namespace: string, { group, kind, name }: Reference): string {
  return `${namespace}/${group}/${kind}/${name}`;
}

/** Returns the valid reference of `set`; undefined when it mirrors nothing, or cannot. */
export function referenceOf(set: StatefulSetView): Reference | undefined {
  const source = sourceOf(set);
  if (source.kind !== 'reference' || source.reference.kind === 'invalid') return undefined;
  return source.reference.value;
}

/** Reports whether `set` grows only once its leader is ready; so does a value that cannot be read (IN-15). */
export function waitsForLeader(set: StatefulSetView): boolean {
  return isProtected(set.annotations[UPSCALE_GATE]);
}

/** Returns the minimum time between the down-scales of two zones, as `set` says it; undefined without (IN-16). */
export function minimumTimeOf(set: StatefulSetView): Parsed<Millis> | undefined {
  const found = minimumTimeText(set.annotations[MINIMUM_TIME], set.labels[MINIMUM_TIME]);
  return found === undefined ? undefined : parseGoDuration(found.text, found.path);
}

/** Reports whether the minimum time of `set` is in the label that the peer calls deprecated since v0.39. */
export function hasMinimumTimeLabel(set: StatefulSetView): boolean {
  const label = set.labels[MINIMUM_TIME];
  if (label === undefined) return false;
  return minimumTimeText(set.annotations[MINIMUM_TIME], label)?.map === 'labels';
}

/** Where {@link minimumTimeOf} looks first. */
export const minimumTimePath = annotation(MINIMUM_TIME);

/** Returns when `set` was last scaled down, as a webhook wrote it; undefined: never (IN-17). */
export function lastDownscaleOf(set: StatefulSetView): Parsed<Instant> | undefined {
  const text = set.annotations[LAST_DOWNSCALE];
  return text === undefined ? undefined : parseTimestamp(text, annotation(LAST_DOWNSCALE));
}

/** Returns the count that a person forces upon `set`; undefined without (IN-18). */
export function forcedReplicasOf(set: StatefulSetView): Parsed<number> | undefined {
  const text = set.annotations[FORCE];
  if (text === undefined) return undefined;
  const count = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 0 && count <= maxReplicas) return valid(Math.abs(count));
  const wanted = `must be an integer from 0 to ${maxReplicas}`;
  return invalid(annotation(FORCE), `${wanted}: got ${quoted(text)}`);
}

const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseTexts: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Reports whether the count of `set` is reported to the resource that it mirrors. @default true (IN-22) */
export function writesBack(set: StatefulSetView): Parsed<boolean> {
  const text = set.annotations[WRITE_BACK];
  if (text === undefined || trueTexts.has(text)) return valid(true);
  if (falseTexts.has(text)) return valid(false);
  return invalid(annotation(WRITE_BACK), `must be "true" or "false": got ${quoted(text)}`);
}

function annotation(key: string): string {
  return `metadata.annotations["${key}"]`;
}
