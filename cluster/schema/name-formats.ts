const dnsLabel = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const nameSegment = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Reports whether `text` is a DNS-1123 label: at most 63 lower-case letters, digits and `-`. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && dnsLabel.test(text);
}

/** Reports whether `text` is a DNS-1123 subdomain: at most 253 characters, labels parted by `.`. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && dnsSubdomain.test(text);
}

/** Reports whether `text` is a label key, annotation key or finalizer: `[prefix/]name`, the name at most 63 characters. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  const name = text.slice(slash + 1);
  return name.length <= 63 && nameSegment.test(name);
}

/** Reports whether `text` is a label value: empty, or at most 63 characters that begin and end alphanumeric. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && nameSegment.test(text));
}
