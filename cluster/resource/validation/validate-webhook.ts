import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { emptyObject, listAt, objectAt, textAt } from '../../json/members.ts';
import { isDnsLabel, isDnsSubdomain } from '../../schema/name-formats.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from './causes.ts';
import { subdomainName, validateMetadata } from './validate-metadata.ts';
import { validateSelector } from './validate-selector.ts';
import { ruleCauses } from './validate-webhook-rule.ts';

/** Causes why a webhook configuration, of either kind, may not be stored. */
export function validateWebhooks(configuration: JsonObject): readonly Cause[] {
  const webhooks = listAt(configuration, 'webhooks').filter(isJsonObject);
  const names = webhooks.map((webhook) => textAt(webhook, 'name'));
  return [
    ...validateMetadata(configuration, subdomainName),
    ...webhooks.flatMap((webhook, index) => [
      ...webhookCauses(webhook, `webhooks[${index}]`),
      ...repeatedNameCauses(names, index),
    ]),
  ];
}

function repeatedNameCauses(names: readonly string[], index: number): readonly Cause[] {
  const name = names[index] ?? '';
  const isFirst = name === '' || names.indexOf(name) === index;
  return isFirst ? [] : [duplicate(`webhooks[${index}].name`, name)];
}

function webhookCauses(webhook: JsonObject, path: string): readonly Cause[] {
  return [
    ...nameCauses(textAt(webhook, 'name'), `${path}.name`),
    ...listAt(webhook, 'rules').flatMap((rule, index) =>
      ruleCauses(rule, `${path}.rules[${index}]`),
    ),
    ...choiceCauses(webhook, path),
    ...sideEffectCauses(webhook['sideEffects'], `${path}.sideEffects`),
    ...timeoutCauses(webhook['timeoutSeconds'], `${path}.timeoutSeconds`),
    ...selectorCauses(webhook, path),
    ...clientCauses(objectAt(webhook, 'clientConfig') ?? emptyObject, `${path}.clientConfig`),
    ...conditionCauses(webhook, path),
    ...reviewVersionCauses(webhook, `${path}.admissionReviewVersions`),
  ];
}

function nameCauses(name: string, path: string): readonly Cause[] {
  if (name === '') return [required(path)];
  if (!isDnsSubdomain(name)) return [invalidValue(path, name, subdomainName.rule)];
  if (name.split('.').length >= 3) return [];
  const detail = 'should be a domain with at least three segments separated by dots';
  return [invalidValue(path, name, detail)];
}

const choices: Readonly<Record<string, readonly string[]>> = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Equivalent', 'Exact'],
  reinvocationPolicy: ['IfNeeded', 'Never'],
};

function choiceCauses(webhook: JsonObject, path: string): readonly Cause[] {
  return Object.entries(choices).flatMap(([member, supported]) => {
    const value = webhook[member];
    if (typeof value !== 'string' || supported.includes(value)) return [];
    return [notSupported(`${path}.${member}`, value, supported)];
  });
}

const harmless = ['None', 'NoneOnDryRun'];

function sideEffectCauses(value: JsonValue | undefined, path: string): readonly Cause[] {
  if (typeof value !== 'string')
    return [required(path, `must specify one of ${harmless.join(', ')}`)];
  return harmless.includes(value) ? [] : [notSupported(path, value, harmless)];
}

function timeoutCauses(value: JsonValue | undefined, path: string): readonly Cause[] {
  if (typeof value !== 'number' || (value >= 1 && value <= 30)) return [];
  return [invalidValue(path, value, 'the timeout value must be between 1 and 30 seconds')];
}

function selectorCauses(webhook: JsonObject, path: string): readonly Cause[] {
  return ['namespaceSelector', 'objectSelector'].flatMap((member) => {
    const selector = objectAt(webhook, member);
    return selector === undefined ? [] : validateSelector(selector, `${path}.${member}`);
  });
}

function clientCauses(config: JsonObject, path: string): readonly Cause[] {
  const { url } = config;
  const service = objectAt(config, 'service');
  if ((typeof url === 'string') === (service !== undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  if (service !== undefined) return serviceCauses(service, `${path}.service`);
  return typeof url === 'string' ? urlCauses(url, `${path}.url`) : [];
}

const urlForm = '; desired format: https://host[/path]';

function urlCauses(text: string, path: string): readonly Cause[] {
  const [, scheme = '', user = '', host = '', query = '', fragment = ''] =
    /^(?:([^:/?#]*):)?(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(
      text,
    ) ?? [];
  const problems: readonly (readonly [isWrong: boolean, value: string, detail: string])[] = [
    [scheme !== 'https', scheme, `'https' is the only allowed URL scheme${urlForm}`],
    [host === '', host, `host must be specified${urlForm}`],
    [user !== '', user, 'user information is not permitted in the URL'],
    [fragment !== '', fragment, 'fragments are not permitted in the URL'],
    [query !== '', query, 'query parameters are not permitted in the URL'],
  ];
  return problems
    .filter(([isWrong]) => isWrong)
    .map(([, value, detail]) => invalidValue(path, value, detail));
}

function serviceCauses(service: JsonObject, path: string): readonly Cause[] {
  const { port = 443, path: urlPath } = service;
  const isPort = typeof port === 'number' && port >= 1 && port <= 65_535;
  const detail = 'port is not valid: must be between 1 and 65535, inclusive';
  return [
    // As upstream, which mistakes one for the other: what is missing is the other one.
    ...(textAt(service, 'namespace') === '' ? [required(`${path}.name`)] : []),
    ...(textAt(service, 'name') === '' ? [required(`${path}.namespace`)] : []),
    ...(isPort ? [] : [invalidValue(`${path}.port`, port, detail)]),
    ...(typeof urlPath === 'string' ? pathCauses(urlPath, `${path}.path`) : []),
  ];
}

function pathCauses(urlPath: string, path: string): readonly Cause[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return [invalidValue(path, urlPath, 'segment[0] may not be empty')];
  const start = urlPath.startsWith('/')
    ? []
    : [invalidValue(path, urlPath, "must start with a '/'")];
  const segments = urlPath.slice(1).replace(/\/$/, '').split('/');
  const inner = segments.flatMap((segment, index) => {
    if (segment === '') return [invalidValue(path, urlPath, `segment[${index}] may not be empty`)];
    if (isDnsSubdomain(segment)) return [];
    return [invalidValue(path, urlPath, `segment[${index}]: ${subdomainName.rule}`)];
  });
  return [...start, ...inner];
}

function conditionCauses(webhook: JsonObject, path: string): readonly Cause[] {
  if (listAt(webhook, 'matchConditions').length === 0) return [];
  // Refused rather than stored without effect: the webhook would be called too often (AD-3).
  const detail = 'the embedded cluster evaluates no CEL expressions';
  return [forbiddenField(`${path}.matchConditions`, detail)];
}

const reviewVersions = ['v1', 'v1beta1'];

function reviewVersionCauses(webhook: JsonObject, path: string): readonly Cause[] {
  const given = listAt(webhook, 'admissionReviewVersions').filter(
    (version) => typeof version === 'string',
  );
  const list = reviewVersions.join(', ');
  if (given.length === 0) return [required(path, `must specify one of ${list}`)];
  const each = given.flatMap((version, index) => {
    const field = `${path}[${index}]`;
    if (given.indexOf(version) < index) return [invalidValue(field, version, 'duplicate version')];
    const isLabel = isDnsLabel(version) && !/^\d/.test(version);
    return isLabel ? [] : [invalidValue(field, version, 'must be a DNS-1035 label')];
  });
  const isKnown = given.some((version) => reviewVersions.includes(version));
  return isKnown
    ? [...each, ...onlyBeta(given, path)]
    : [...each, invalidValue(path, given, `must include at least one of ${list}`)];
}

/** Returns the causes for a webhook that would be sent v1beta1: only v1 is spoken here (AD-5). */
function onlyBeta(versions: readonly string[], path: string): readonly Cause[] {
  const first = versions.find((version) => reviewVersions.includes(version));
  if (first === 'v1') return [];
  const detail = 'the embedded cluster sends admission.k8s.io/v1 reviews only: put "v1" first';
  return [forbiddenField(path, detail)];
}
