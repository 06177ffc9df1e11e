import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Parsed, Problem } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { endpointAt } from '#pod-http/pod-endpoint.ts';
import { type PodUrl, podUrls } from '#pod-http/pod-url.ts';
import { GROUP_LABEL } from '#statefulset/group.ts';
import type { AnnotationKey } from '#statefulset/known-keys.ts';
import { LAST_DOWNSCALE } from '#statefulset/last-downscale.ts';
import { isProtected, switchProblem } from '#statefulset/metadata/protective-switch.ts';
import { objectAt, stringAt } from '#statefulset/parse-fields.ts';
import { PREPARE_DOWNSCALE } from '../review/downscale-text.ts';
import { annotationsOf, labelsOf } from './parse-workload.ts';

const PORT = 'grafana.com/prepare-downscale-http-port' satisfies AnnotationKey;
const PATH = 'grafana.com/prepare-downscale-http-path' satisfies AnnotationKey;

/** What prepare-downscale reads of the StatefulSet that shrinks. Absent texts are empty. */
export interface PreparedSet {
  /** Whether its label asks for preparation. */
  readonly isPrepared: boolean;
  /** What is wrong with that label, which asks all the same. */
  readonly switchProblem: Problem | undefined;
  readonly port: string;
  readonly path: string;
  readonly serviceName: string;
  /** Empty: in no group. */
  readonly group: string;
  /** Ordinal of its first pod. */
  readonly ordinalsStart: number;
  /** Its annotation of the last down-scale; undefined without one. */
  readonly lastDownscale: string | undefined;
}

/** Reads a StatefulSet; or says why it cannot be read. */
export function preparedSetOf(raw: JsonObject): PreparedSet | string {
  const labels = labelsOf(raw);
  if (labels.kind === 'invalid') return `${labels.problem.path} ${labels.problem.message}`;
  const annotations = annotationsOf(raw);
  if (annotations.kind === 'invalid') {
    return `${annotations.problem.path} ${annotations.problem.message}`;
  }
  const spec = objectAt(raw, 'spec');
  const ordinalsStart = ordinalsStartOf(objectAt(spec, 'ordinals'));
  if (typeof ordinalsStart === 'string') return ordinalsStart;
  const asks = labels.value.get(PREPARE_DOWNSCALE);
  return {
    isPrepared: isProtected(asks),
    switchProblem: switchProblem(PREPARE_DOWNSCALE, asks),
    group: labels.value.get(GROUP_LABEL) ?? '',
    port: annotations.value.get(PORT) ?? '',
    path: annotations.value.get(PATH) ?? '',
    lastDownscale: annotations.value.get(LAST_DOWNSCALE),
    serviceName: stringAt(spec, 'serviceName') ?? '',
    ordinalsStart,
  };
}

/** Longest part of a value that a message shows, in UTF-16 code units. */
const longestShown = 100;

/** Returns a text in quotation marks, whatever else as it is; of what is long only the begin. */
function shown(value: JsonValue): string {
  if (typeof value === 'string') return quoted(value);
  const text = JSON.stringify(value);
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

/** Returns where the ordinals start. No API server stores another number: from it every pod's name would be wrong. */
function ordinalsStartOf(ordinals: JsonObject): number | string {
  const start = ordinals['start'] ?? 0;
  if (typeof start === 'number' && Number.isInteger(start) && start >= 0 && start < 2 ** 31) {
    return start;
  }
  return `spec.ordinals.start must be a whole number from 0 to 2147483647: got ${shown(start)}`;
}

/** Returns why pods of the set cannot be called, in the peer's words and order; undefined when they can. */
export function missingAddress({ port, path, serviceName }: PreparedSet): string | undefined {
  if (port === '') return `the ${PORT} annotation is not set or empty.`;
  if (path === '') return `the ${PATH} annotation is not set or empty.`;
  if (serviceName === '') return 'the serviceName is not set or empty.';
  return undefined;
}

/** Where the pods of a set are. */
export interface PodPlace {
  readonly set: string;
  readonly namespace: string;
  readonly clusterDomain: string;
}

/** Returns the URLs of the pods of a set, or which of its texts makes none. */
export function preparationUrls(
  { serviceName, port, path }: PreparedSet,
  place: PodPlace,
): Parsed<PodUrl> {
  const at = (key: string, text: string): { readonly path: string; readonly text: string } => ({
    path: `metadata.annotations["${key}"]`,
    text,
  });
  const endpoint = endpointAt(at(PORT, port), at(PATH, path));
  return endpoint.kind === 'valid' ? podUrls({ ...place, serviceName }, endpoint.value) : endpoint;
}
