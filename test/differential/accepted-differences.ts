/** The ledger of LN-4: where the embedded cluster answers differently, and why that may stay. */
import type { JsonValue } from '#base/json.ts';
import { isFirstPatchOfClaim, isGoingClaim } from './claim-protection.ts';
import type { Difference } from './compare.ts';

/** One accepted difference. */
export interface AcceptedDifference {
  readonly id: string;
  /** What the real server does. */
  readonly rule: string;
  /** Why the embedded one need not. */
  readonly reason: string;
  readonly covers: (difference: Difference) => boolean;
  /** The first minor version of the real server that does so. @default all that are tested */
  readonly since?: number;
}

const isMessage = ({ path }: Difference): boolean =>
  path === 'body.message' || /^body\.details\.causes\[\d+\]\.message$/.test(path);

const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

/** Whether `values` are equal when each cause counts once. */
function haveSameCauses({ path, embedded, real }: Difference): boolean {
  if (path !== 'body.details.causes' || !Array.isArray(real)) return false;
  const once = new Set(real.map((cause) => JSON.stringify(cause)));
  const found = Array.isArray(embedded) ? embedded.map((cause) => JSON.stringify(cause)) : [];
  return once.size === found.length && found.every((cause) => once.has(cause));
}

const isIn =
  (...sentences: readonly string[]) =>
  ({ conversation }: Difference): boolean =>
    sentences.some((sentence) => conversation.includes(sentence));

const goWords =
  /Go (?:value|struct)|pkg\/runtime|strconv|json parse error|unknown conversion|handlers\.jsonPatchOp|base64 data|invalid character|cannot be handled as a|Unable to remove nonexistent key/;

/** All of them; each is printed with the number of places that it covers. */
export const acceptedDifferences: readonly AcceptedDifference[] = [
  {
    id: 'version',
    rule: '/version names its build',
    reason: 'the embedded cluster is another build',
    covers: isIn('health and version'),
  },
  {
    id: 'metadata-only',
    rule: 'an Accept header with as=PartialObjectMetadata gets the metadata alone',
    reason: 'the operator does not ask for it; belongs to kubectl and garbage collectors',
    covers: isIn('is shown as metadata alone'),
  },
  {
    id: 'claim-protection',
    rule: 'a PersistentVolumeClaim that is deleted stays, going, as it has the finalizer kubernetes.io/pvc-protection',
    reason: 'the embedded cluster has neither that admission nor the controller that takes it off',
    covers: isGoingClaim,
  },
  {
    id: 'claim-first-patch',
    rule: 'the first patch of a PersistentVolumeClaim is given a revision although it says nothing new',
    reason: 'nobody goes by the revision of such a patch; the second one has none in both',
    covers: isFirstPatchOfClaim,
  },
  {
    id: 'storage-protection',
    rule: 'admission gives every PersistentVolumeClaim and PersistentVolume the finalizer that protects it',
    reason: 'as claim-protection',
    covers: ({ path, embedded, real }) =>
      path.endsWith('metadata.finalizers') &&
      embedded === undefined &&
      /^\["kubernetes\.io\/pvc?-protection"\]$/.test(textOf(real)),
  },
  {
    id: 'bookmark-zero-values',
    rule: "a bookmark's object carries the zero values of its Go type, such as spec.replicas 0",
    reason: 'clients read resourceVersion and annotations of a bookmark, nothing else',
    covers: ({ path, embedded }) =>
      /^events\[\d+\]\.object\.(?!metadata)/.test(path) && embedded === undefined,
  },
  {
    id: 'go-words',
    rule: 'messages of the decoder quote Go types, parsers and addresses of source lines',
    reason: 'the status and the reason are the same; the words are an accident',
    covers: (difference) =>
      isMessage(difference) &&
      (goWords.test(textOf(difference.real)) || goWords.test(textOf(difference.embedded))),
  },
  {
    id: 'go-diff',
    rule: 'the refusal of a pod update ends with a diff of Go structs',
    reason: 'as go-words; what comes before it is the same',
    covers: (difference) =>
      isMessage(difference) && textOf(difference.real).startsWith(textOf(difference.embedded)),
  },
  {
    id: 'go-value',
    rule: 'an invalid value is quoted as its Go struct, with the names of Go fields, or as null',
    reason: 'as go-words',
    covers: (difference) =>
      isMessage(difference) &&
      (textOf(difference.real).includes('"Partition"') ||
        textOf(difference.real).replace('null:', '{}:') === textOf(difference.embedded) ||
        textOf(difference.real).replace('Invalid value: null', 'Invalid value: {}') ===
          textOf(difference.embedded)),
  },
  {
    id: 'repeated-causes',
    rule: 'validation of metadata runs twice and lists the same cause twice',
    reason: 'the message, which clients show, has each once in both',
    covers: haveSameCauses,
  },
  {
    id: 'query-texts',
    rule: 'a list or watch with a bad parameter is refused with the words of its parser, and some with 500',
    reason: 'the operator sends none; a client error is a client error',
    covers: (difference) =>
      isIn('[cluster 3] a list with', '[cluster 19] a watch with')(difference) ||
      (difference.conversation.startsWith('events:') && difference.step.includes('=undefined')),
  },
  {
    id: 'patch-of-a-wrong-type',
    rule: 'a patch whose result cannot be decoded strictly is 422 and quotes the whole object',
    reason: 'the embedded cluster answers 400 as for a PUT; the operator decides on neither',
    covers: ({ path, real, step }) =>
      step.includes(' PATCH ') &&
      ((path === 'status' && real === 422) ||
        (path === 'message' && textOf(real).includes('is invalid: patch: Invalid value'))),
  },
  {
    id: 'json-patch-causes',
    rule: 'a JSON patch that fails is 422 without causes',
    reason: 'the embedded cluster says which operation failed; only people read it',
    covers: ({ conversation, path, real }) =>
      conversation.startsWith('[cluster 24]') &&
      path === 'body.details.causes' &&
      real === undefined,
  },
  {
    id: 'media-types',
    rule: 'YAML is accepted; 406 and 415 list YAML and protobuf',
    reason: 'clients of the embedded cluster speak JSON (HT-3)',
    covers: (difference) =>
      isIn('a body that is too large, and content that is not known')(difference) ||
      (isMessage(difference) && isIn('of a type that is not known')(difference)),
  },
  {
    id: 'event-namespace-first',
    rule: 'an Event without involvedObject.namespace is refused for that alone, before its name is looked at',
    reason: 'refused in both; the order of causes carries nothing',
    covers: ({ conversation }) => conversation.startsWith('events:'),
  },
  {
    id: 'set-service-name',
    rule: 'spec.serviceName of a new StatefulSet must be a DNS label too',
    reason: 'refused in both for the name',
    covers: ({ conversation, path }) =>
      conversation.startsWith('statefulsets: is not created twice') && path.startsWith('body.'),
  },
  {
    id: 'service-name',
    rule: 'the name of a Service is an RFC 1123 label, which may begin with a digit',
    reason: 'the embedded cluster wants an RFC 1035 label, as versions before did',
    since: 35,
    covers: (difference) =>
      difference.conversation.startsWith('services: is not created twice') && isMessage(difference),
  },
  {
    id: 'service-storage-key',
    rule: 'Services are stored below services/specs, Endpoints below services/endpoints, which the message of a failed precondition shows',
    reason: 'as go-words',
    covers: (difference) =>
      isMessage(difference) &&
      /\/registry\/services\/(?:specs|endpoints)\//.test(textOf(difference.real)),
  },
  {
    id: 'budget-name',
    rule: 'the name of a PodDisruptionBudget is not validated',
    reason: 'an oversight of the real server; nobody relies on it',
    covers: isIn('poddisruptionbudgets: is not created twice'),
  },
  {
    id: 'given-generation',
    rule: 'a type without generation stores the one that a client gives',
    reason: 'nobody gives one',
    covers: ({ path, real }) => path === 'body.metadata.generation' && real === 9,
  },
  {
    id: 'rolling-update-limit',
    rule: 'rollingUpdate.maxUnavailable is dropped while MaxUnavailableStatefulSet is off, the default of 1.36',
    reason:
      'the embedded cluster stores it, so that the feature can be tried with a switch of its controller',
    covers: ({ conversation, path }) =>
      conversation.startsWith('the limit of a rolling update') && path.endsWith('maxUnavailable'),
  },
  {
    id: 'managed-fields',
    rule: 'an equal PUT without resourceVersion is written when its managedFields are older than the stored ones',
    reason: 'the embedded cluster keeps no managedFields',
    covers: ({ conversation, path, step }) =>
      conversation.includes('is replaced, and not by a stale version') &&
      step.startsWith('5 PUT') &&
      path === 'body.metadata.resourceVersion',
  },
  {
    id: 'scale-kind',
    rule: 'an invalid Scale is refused as Scale.autoscaling, a binding as pods/binding',
    reason: 'the status, the reason and the field are the same',
    covers: (difference) =>
      isIn('the scale of a set', 'a pod is bound once')(difference) &&
      /^body\.(?:message|details\.(?:kind|group))$/.test(difference.path),
  },
  {
    id: 'binding-name',
    rule: 'a Binding of another name than the URL is refused before the pod is looked for',
    reason: 'only the scheduler binds',
    covers: ({ step }) => step.includes('/pods/none/binding'),
  },
  {
    id: 'tolerations-come-back',
    rule: 'admission adds the default tolerations again when a patch removes them',
    reason: 'the embedded cluster refuses the removal, which is stricter',
    covers: isIn('a pod with a toleration'),
  },
  {
    id: 'given-deletion-timestamp',
    rule: 'a patch that sets metadata.deletionTimestamp is 422',
    reason: 'the embedded cluster ignores it, as a PUT does',
    covers: isIn('a pod with the deletion timestamp'),
  },
  {
    id: 'null-times',
    rule: 'a condition of a pod always shows lastProbeTime and lastTransitionTime, null where there is none',
    reason: 'null and absent read alike',
    covers: ({ path, real, embedded }) =>
      /\.last(?:Probe|Transition)Time$/.test(path) && real === null && embedded === undefined,
  },
  {
    id: 'column-descriptions',
    rule: 'each column of a Table has the description of its field in the API reference',
    reason: 'kubectl shows none; a text that is not read is not worth its place',
    covers: ({ path }) => /^body\.columnDefinitions\[\d+\]\.description$/.test(path),
  },
];
