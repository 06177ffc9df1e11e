import type { JsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { objectAt, textAt } from '../../json/members.ts';
import {
  isDnsLabel,
  isDnsSubdomain,
  isLabelValue,
  isQualifiedName,
} from '../../schema/name-formats.ts';
import { invalidValue, required, tooLong } from './causes.ts';

/** A rule for `metadata.name`. */
export interface NameFormat {
  readonly isValid: (name: string) => boolean;
  readonly rule: string;
}

/** DNS-1123 subdomain: most kinds. */
export const subdomainName: NameFormat = Object.freeze({
  isValid: isDnsSubdomain,
  rule: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
});

/** DNS-1123 label: namespaces, containers, volumes. */
export const labelName: NameFormat = Object.freeze({
  isValid: isDnsLabel,
  rule: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
});

/** DNS-1035 label: services. */
export const serviceName: NameFormat = Object.freeze({
  isValid: (name: string) => isDnsLabel(name) && !/^\d/.test(name),
  rule: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
});

const qualifiedNameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const maxAnnotationBytes = 262_144;

/** Causes of a name, labels and annotations that break the rules of their format (OB-17). */
export function validateMetadata(object: JsonObject, format: NameFormat): readonly Cause[] {
  const metadata = objectAt(object, 'metadata');
  const name = textAt(metadata, 'name');
  const causes: Cause[] = [];
  if (name === '') {
    causes.push(required('metadata.name', 'name or generateName is required'));
  } else if (!format.isValid(name)) {
    causes.push(invalidValue('metadata.name', name, format.rule));
  }
  collectLabelCauses(metadata, 'metadata', causes);
  return causes;
}

/** Adds the causes of the labels and annotations in `metadata`, which is at `path`. */
export function collectLabelCauses(
  metadata: JsonObject | undefined,
  path: string,
  causes: Cause[],
): void {
  const labels = objectAt(metadata, 'labels');
  for (const key in labels) {
    if (!isQualifiedName(key)) {
      causes.push(invalidValue(`${path}.labels`, key, qualifiedNameRuleOf(key)));
    }
    const value = textAt(labels, key);
    if (!isLabelValue(value)) {
      causes.push(invalidValue(`${path}.labels`, value, labelValueRuleOf(value)));
    }
  }
  collectAnnotationCauses(metadata, path, causes);
}

function qualifiedNameRuleOf(key: string): string {
  const name = key.slice(key.indexOf('/') + 1);
  return name.length > 63 ? 'name part must be no more than 63 bytes' : qualifiedNameRule;
}

function labelValueRuleOf(value: string): string {
  return value.length > 63 ? 'must be no more than 63 bytes' : labelValueRule;
}

function collectAnnotationCauses(
  metadata: JsonObject | undefined,
  path: string,
  causes: Cause[],
): void {
  const annotations = objectAt(metadata, 'annotations');
  let size = 0;
  for (const key in annotations) {
    if (!isQualifiedName(key.toLowerCase())) {
      causes.push(invalidValue(`${path}.annotations`, key, qualifiedNameRuleOf(key)));
    }
    size += key.length + textAt(annotations, key).length;
  }
  if (size > maxAnnotationBytes) {
    causes.push(tooLong(`${path}.annotations`, maxAnnotationBytes));
  }
}
