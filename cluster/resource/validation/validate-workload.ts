import type { JsonObject } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { isSameJson } from '../../json/json-fields.ts';
import { emptyObject, objectAt, textAt } from '../../json/members.ts';
import { invalidValue, negativeCauses, notSupported, required } from './causes.ts';
import { intOrPercentCauses } from './int-or-percent.ts';
import { subdomainName, validateMetadata } from './validate-metadata.ts';
import { validateSelector } from './validate-selector.ts';

/** Causes why a PodDisruptionBudget may not be stored (OB-17). */
export function validatePodDisruptionBudget(budget: JsonObject): readonly Cause[] {
  const spec = objectAt(budget, 'spec') ?? emptyObject;
  const { minAvailable, maxUnavailable } = spec;
  const isBoth = minAvailable !== undefined && maxUnavailable !== undefined;
  const selector = objectAt(spec, 'selector');
  return [
    ...validateMetadata(budget, subdomainName),
    ...(isBoth
      ? [invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...intOrPercentCauses('spec.minAvailable', minAvailable),
    ...intOrPercentCauses('spec.maxUnavailable', maxUnavailable),
    ...evictionPolicyCauses(spec),
    ...(selector === undefined ? [] : validateSelector(selector, 'spec.selector')),
  ];
}

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

function evictionPolicyCauses(spec: JsonObject): readonly Cause[] {
  const policy = spec['unhealthyPodEvictionPolicy'];
  if (typeof policy !== 'string' || evictionPolicies.includes(policy)) return [];
  return [notSupported('spec.unhealthyPodEvictionPolicy', policy, evictionPolicies)];
}

/** Causes why a ControllerRevision may not be stored; its data never change. */
export function validateControllerRevision(
  revision: JsonObject,
  old: JsonObject | undefined,
): readonly Cause[] {
  const { data } = revision;
  const isChanged = old !== undefined && !isSameJson(data, old['data']);
  return [
    ...validateMetadata(revision, subdomainName),
    ...(data === undefined ? [required('data', 'data is mandatory')] : []),
    ...(isChanged ? [invalidValue('data', data, 'field is immutable')] : []),
    ...negativeCauses('revision', revision['revision']),
  ];
}

/** Causes why a Lease may not be stored. */
export function validateLease(lease: JsonObject): readonly Cause[] {
  const { leaseDurationSeconds: duration, leaseTransitions } =
    objectAt(lease, 'spec') ?? emptyObject;
  const isPositive = duration === undefined || (typeof duration === 'number' && duration > 0);
  const field = 'spec.leaseDurationSeconds';
  return [
    ...validateMetadata(lease, subdomainName),
    ...(isPositive ? [] : [invalidValue(field, duration, 'must be greater than 0')]),
    ...negativeCauses('spec.leaseTransitions', leaseTransitions),
  ];
}

/** Causes why an Event may not be stored: it must be in the namespace of its object, or in `default` for a cluster-scoped one. */
export function validateEvent(event: JsonObject): readonly Cause[] {
  const namespace = textAt(objectAt(event, 'metadata'), 'namespace');
  const involved = textAt(objectAt(event, 'involvedObject'), 'namespace');
  const isBeside = involved === '' ? ['', 'default'].includes(namespace) : involved === namespace;
  const field = 'involvedObject.namespace';
  return [
    ...validateMetadata(event, subdomainName),
    ...(isBeside ? [] : [invalidValue(field, involved, 'does not match event.namespace')]),
  ];
}
