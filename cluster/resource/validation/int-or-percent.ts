import type { JsonValue } from '#base/json.ts';
import type { Cause } from '../../errors/status-error.ts';
import { invalidValue, negativeCauses } from './causes.ts';

const percentRule =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Causes of a value that is neither an integer of at least 0 nor a percentage up to 100; absent values pass. */
export function intOrPercentCauses(field: string, value: JsonValue | undefined): readonly Cause[] {
  if (typeof value !== 'string') return negativeCauses(field, value);
  if (!/^\d+%$/.test(value)) return [invalidValue(field, value, percentRule)];
  return Number(value.slice(0, -1)) > 100
    ? [invalidValue(field, value, 'must not be greater than 100%')]
    : [];
}
