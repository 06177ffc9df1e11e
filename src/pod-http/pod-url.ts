import { invalid, type Parsed, valid } from '#base/parsed.ts';
import { quoted } from '#base/text/quoted.ts';
import type { PodEndpoint } from './pod-endpoint.ts';

/** What the DNS names of a set's pods are made of. */
export interface PodNames {
  /** Name of the StatefulSet. */
  readonly set: string;
  /** `spec.serviceName` of the set: the headless service that names its pods. */
  readonly serviceName: string;
  readonly namespace: string;
  /** Used as it is (FL-19); with the default, names end in a dot, so that no search list is tried. */
  readonly clusterDomain: string;
}

/** The URL of the pod with `ordinal`. */
export type PodUrl = (ordinal: number) => string;

/** What may be in a DNS name, of which resolvers take more than the API server permits. */
const dnsName = /^[\w.-]+$/;

/**
 * Returns the URLs of a set's pods: every call of a pod goes to one of them. Their host is the pod's DNS name, such as
 * `ingester-zone-b-3.ingester.ns.svc.cluster.local.`, whatever names and endpoint say (D-59): else those who may annotate a
 * set could have this program call any host.
 *
 * @returns where and why there are none
 */
export function podUrls(names: PodNames, endpoint: PodEndpoint): Parsed<PodUrl> {
  const fields = {
    'metadata.name': names.set,
    'spec.serviceName': names.serviceName,
    'metadata.namespace': names.namespace,
  };
  for (const [path, name] of Object.entries(fields)) {
    if (!dnsName.test(name)) {
      return invalid(path, `must be a DNS name such as "ingester": got ${quoted(name)}`);
    }
  }
  const hostOf = (ordinal: number): string =>
    `${names.set}-${ordinal}.${names.serviceName}.${names.namespace}.svc.${names.clusterDomain}`;
  const { scheme, user, port, rest } = endpoint;
  const urlOf: PodUrl = (ordinal) => `${scheme}${user}${hostOf(ordinal)}${port}${rest}`;
  // Pods of one set differ by digits alone, which move no end of a host.
  const called = URL.parse(urlOf(0))?.hostname;
  if (called === hostOf(0).toLowerCase()) return valid(urlOf);
  const domain = quoted(names.clusterDomain);
  return invalid('-kubernetes.cluster-domain', `must be a DNS name that ends hosts: got ${domain}`);
}

const absolute = /^(https?:\/\/)([^/?#]*)(.*)$/is;
/** Longest URL that a message repeats: an annotation may have 256 KiB, and each pod has a message of its own. */
const longestShown = 300;

/** Returns `url` as messages show it: without its user and password, and of a long one only the begin. */
export function shownUrl(url: string): string {
  const [, scheme, authority, rest] = absolute.exec(url) ?? [];
  const shown =
    scheme === undefined || authority === undefined || rest === undefined
      ? url
      : `${scheme}${authority.slice(authority.lastIndexOf('@') + 1)}${rest}`;
  if (shown.length <= longestShown) return shown;
  return `${shown.slice(0, longestShown)}… (${shown.length} characters)`;
}
