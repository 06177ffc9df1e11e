/** What a pod's DNS name is made of. */
export interface PodAddress {
  /** Name of the StatefulSet. */
  readonly set: string;
  readonly ordinal: number;
  /** `spec.serviceName` of the set: the headless service that names its pods. */
  readonly serviceName: string;
  readonly namespace: string;
  /** Used as it is (FL-19); with the default, names end in a dot, so that no search list is tried. */
  readonly clusterDomain: string;
}

/** The DNS name of a pod, such as `ingester-zone-b-3.ingester.ns.svc.cluster.local.` (DD-10). */
export function podHost(pod: PodAddress): string {
  const { set, ordinal, serviceName, namespace, clusterDomain } = pod;
  return `${set}-${ordinal}.${serviceName}.${namespace}.svc.${clusterDomain}`;
}

const absolute = /^(https?:\/\/)([^/?#]*)(.*)$/is;

/**
 * `url` with its host replaced and all else as it is: scheme, user, port, path, query, fragment (DD-10). A text that
 * is no absolute http(s) URL is returned unchanged.
 */
export function withHost(url: string, host: string): string {
  const [, scheme, authority, rest] = absolute.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return url;
  const user = authority.slice(0, authority.lastIndexOf('@') + 1);
  const port = /:\d+$/.exec(authority)?.[0] ?? '';
  return `${scheme}${user}${host}${port}${rest}`;
}

/** `url` without its user and password, for logs and messages. */
export function withoutUser(url: string): string {
  const [, scheme, authority, rest] = absolute.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return url;
  return `${scheme}${authority.slice(authority.lastIndexOf('@') + 1)}${rest}`;
}
