/** A map of the metadata of an object. */
type MapName = 'labels' | 'annotations';

/** What a label or an annotation of a StatefulSet is to this program. */
export interface KnownKey<Map extends MapName = MapName> {
  /** In the other map it has no effect (IN-2). */
  readonly map: Map;
  /** The map that the peer read it from before; there it still has an effect, where the other has no text. */
  readonly formerMap?: MapName;
  /** The room that reads it. */
  readonly owner:
    | 'rollout-group'
    | 'replica-coordination'
    | 'admission'
    | 'phased-rollout'
    | 'statefulset-rollout';
  /** `operator`: a mark of this program, which no other client writes. */
  readonly writtenBy: 'people' | 'webhook' | 'operator';
  /** Whether a cache keeps it where it is among the annotations; the last wish of a rollout is large. */
  readonly isKept: boolean;
  /** What it says of the set, for the pages. */
  readonly says: string;
}

interface KeptKnownKey<Map extends MapName> extends KnownKey<Map> {
  readonly isKept: true;
}

function label(owner: KnownKey['owner'], says: string): KeptKnownKey<'labels'> {
  return { map: 'labels', owner, writtenBy: 'people', isKept: true, says };
}

function annotation(owner: KnownKey['owner'], says: string): KeptKnownKey<'annotations'> {
  return { map: 'annotations', owner, writtenBy: 'people', isKept: true, says };
}

/** Returns the row of a mark that this program leaves on a set that it moves. */
function mark(owner: KnownKey['owner'], says: string): KeptKnownKey<'annotations'> {
  return { ...annotation(owner, says), writtenBy: 'operator' };
}

/**
 * Every label and annotation of a StatefulSet that this program reads: the caches keep these annotations alone, keys in the wrong
 * map are found by it, and `docs/labels-and-annotations.md` is made of it.
 */
export const knownKeys = {
  'rollout-max-unavailable': annotation(
    'rollout-group',
    'how many of its pods may be unavailable at once: an integer from 1, or `1%` to `100%`',
  ),
  'grafana.com/rollout-paused': annotation(
    'rollout-group',
    '`true`: its pods are left as they are; what is neither that, `false` nor empty counts as `true`',
  ),
  'grafana.com/rollout-downscale-leader': annotation(
    'replica-coordination',
    'the set of its group that it takes its replicas from',
  ),
  'grafana.com/rollout-upscale-only-when-leader-ready': annotation(
    'replica-coordination',
    '`true`: it grows only once all pods of its leader are ready; what is neither that, `false` nor empty counts as `true`',
  ),
  'grafana.com/last-downscale': {
    ...annotation('replica-coordination', 'when it was last scaled down, as an RFC 3339 time'),
    writtenBy: 'webhook',
  },
  'grafana.com/min-time-between-zones-downscale': {
    ...annotation(
      'replica-coordination',
      'how long after a down-scale of another zone of the group it may shrink, as a Go duration',
    ),
    formerMap: 'labels',
  },
  'grafana.com/rollout-force-replicas': annotation(
    'replica-coordination',
    'the replicas that it gets, whatever it follows or mirrors',
  ),
  'grafana.com/rollout-mirror-replicas-from-resource-name': annotation(
    'replica-coordination',
    'the name of the resource whose replicas it mirrors',
  ),
  'grafana.com/rollout-mirror-replicas-from-resource-kind': annotation(
    'replica-coordination',
    'the kind of that resource',
  ),
  'grafana.com/rollout-mirror-replicas-from-resource-api-version': annotation(
    'replica-coordination',
    'the group and version of that resource; without it the core group is meant',
  ),
  'grafana.com/rollout-mirror-replicas-from-resource-write-back': annotation(
    'replica-coordination',
    '`false`: its replicas are not reported to that resource',
  ),
  'grafana.com/rollout-delayed-downscale': annotation(
    'replica-coordination',
    'how long a pod has to be prepared before it goes, as a Prometheus duration',
  ),
  'grafana.com/rollout-prepare-delayed-downscale-url': annotation(
    'replica-coordination',
    'the URL at which a pod is asked to prepare for that',
  ),
  'grafana.com/prepare-downscale-http-path': annotation(
    'admission',
    'the path at which a pod is asked to prepare before replicas are lowered',
  ),
  'grafana.com/prepare-downscale-http-port': annotation('admission', 'the port of that path'),

  'rollout-group': label('rollout-group', 'its group; the empty value is a group, too'),
  'grafana.com/no-downscale': label(
    'admission',
    '`true`: its replicas are not lowered; what is neither that, `false` nor empty counts as `true`',
  ),
  'grafana.com/prepare-downscale': label(
    'admission',
    '`true`: its pods are asked to prepare before its replicas are lowered; what is neither that, `false` nor empty counts as `true`',
  ),

  'sts.plus/phasedRollout': mark('phased-rollout', 'the PhasedRollout that moves it'),
  'bedrock.operator.slack.com/rollout': mark(
    'statefulset-rollout',
    'the StatefulsetRollout that it belongs to, as `<namespace>/<name>`',
  ),
  'rollout-operator/prepared-at': mark(
    'replica-coordination',
    'the URLs at which its pods were asked to prepare, separated by spaces, until each of its pods has gone or was notified that it stays',
  ),
  'bedrock.operator.slack.com/applied-hash': {
    ...mark('statefulset-rollout', 'a hash of what its StatefulsetRollout wanted last'),
    isKept: false,
  },
  'bedrock.operator.slack.com/last-applied': {
    ...mark('statefulset-rollout', 'what its StatefulsetRollout wanted last'),
    isKept: false,
  },
} as const satisfies Record<string, KnownKey>;

type Table = typeof knownKeys;
type KeyOf<Row> = { [Key in keyof Table]: Table[Key] extends Row ? Key : never }[keyof Table];

/** One that is read from the labels. */
export type LabelKey = KeyOf<KnownKey<'labels'> | { readonly formerMap: 'labels' }>;
/** One that is read from the annotations. */
export type AnnotationKey = KeyOf<KnownKey<'annotations'>>;
/** One that a cache keeps where it is among the annotations. */
export type KeptKey = KeyOf<{ readonly isKept: true }>;

const keptKeys: ReadonlySet<string> = new Set(
  Object.entries<KnownKey>(knownKeys)
    .filter(([, { isKept }]) => isKept)
    .map(([key]) => key),
);

/** Reports whether `key` is an annotation that is read from a cache. The rest is not kept in memory. */
export function isKeptAnnotation(key: string): key is KeptKey {
  return keptKeys.has(key);
}

/** Returns the keys that others write to `map`, and that have an effect only there. */
export function keysOfOthersIn(map: MapName): readonly KeptKey[] {
  return Object.entries<KnownKey>(knownKeys)
    .filter(([, known]) => known.map === map && known.formerMap === undefined)
    .filter(([, { writtenBy }]) => writtenBy !== 'operator')
    .map(([key]) => key)
    .filter(isKeptAnnotation);
}
