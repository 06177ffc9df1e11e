import type { Parsed } from '#base/parsed.ts';
import { invalid, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import { parsePrometheusDuration } from '#base/time/prometheus-duration.ts';
import type { Millis } from '#base/units.ts';
import { readPodUrl } from '#pod-http/pod-endpoint.ts';
import { type PodUrl, podUrls } from '#pod-http/pod-url.ts';
import type { AnnotationKey } from '#statefulset/known-keys.ts';
import type { StatefulSetView } from '#statefulset/view.ts';

const DELAY = 'grafana.com/rollout-delayed-downscale' satisfies AnnotationKey;
const URL_KEY = 'grafana.com/rollout-prepare-delayed-downscale-url' satisfies AnnotationKey;
/** The domain is a flag of this program: what a set says is right, or wrong, with any. */
const anyDomain = 'cluster.local.';

/** What a set asks for with its two annotations of delayed down-scale (IN-23, IN-24). */
export interface DelayedDownscale {
  /** Time that must pass between a pod's own word that it is prepared and its removal; > 0. */
  readonly delay: Millis;
  /** Pods' URL with any host (DD-10), or why no pod can be called: such a set still scales up (IN-24). */
  readonly url: Parsed<string>;
}

/**
 * Returns the delayed down-scale of `set`; undefined when it is off, which it is unless both annotations are set and the
 * delay is not zero (IN-31); invalid when one of them cannot be read, which forbids to scale in either direction (DD-4).
 */
export function delayedDownscaleOf(set: StatefulSetView): Parsed<DelayedDownscale | undefined> {
  const delayText = set.annotations[DELAY] ?? '';
  const urlText = set.annotations[URL_KEY] ?? '';
  if (delayText === '' || urlText === '') return valid(undefined);
  const delay = parsePrometheusDuration(delayText, annotation(DELAY));
  if (delay.kind === 'invalid') return delay;
  if (delay.value === 0) return valid(undefined);
  const url = readPodUrl(urlText);
  if (url.kind === 'malformed') return invalid(annotation(URL_KEY), wantedUrl(urlText));
  return valid({ delay: delay.value, url: usableUrl(urlText, set) });
}

/** Returns the URLs at which the pods of `set` are called by the text of its annotation, or why they cannot be. */
export function podUrlsOf(
  { name, namespace, spec }: StatefulSetView,
  text: string,
  clusterDomain: string,
): Parsed<PodUrl> {
  const url = readPodUrl(text);
  if (url.kind !== 'endpoint') return invalid(annotation(URL_KEY), wantedUrl(text));
  const { serviceName } = spec;
  return podUrls({ set: name, serviceName, namespace, clusterDomain }, url.endpoint);
}

function annotation(key: string): string {
  return `metadata.annotations["${key}"]`;
}

function wantedUrl(text: string): string {
  return `must be an absolute http or https URL such as "http://pod:8080/prepare": got ${quoted(text)}`;
}

function usableUrl(text: string, set: StatefulSetView): Parsed<string> {
  if (set.spec.serviceName === '') {
    return invalid('spec.serviceName', 'must not be empty where pods are called by their names');
  }
  const urls = podUrlsOf(set, text, anyDomain);
  return urls.kind === 'valid' ? valid(text) : urls;
}
