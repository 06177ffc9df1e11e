import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type Cause, type StatusDetails, StatusError } from '../errors/status-error.ts';
import { arrayField, numberField, objectField, textField } from '../json/json-fields.ts';

/** Returns the refusal that a webhook's denial becomes (AD-7); `status` is the Status that it answered. */
export function deniedBy(webhook: string, status: JsonObject | undefined): StatusError {
  const given = status ?? {};
  const reason = textField(given, 'reason');
  const code = Math.max(400, numberField(given, 'code') ?? 0);
  const because = textField(given, 'message') || reason;
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const message = because === '' ? `${denied} without explanation` : `${denied}: ${because}`;
  return new StatusError({ code, reason, ...detailsOf(given) }, message);
}

function detailsOf(status: JsonObject): { readonly details?: StatusDetails } {
  if (status['details'] === undefined) return {};
  const details = objectField(status, 'details');
  const retryAfterSeconds = numberField(details, 'retryAfterSeconds');
  const causes = arrayField(details, 'causes').filter(isJsonObject).map(causeOf);
  const members: StatusDetails = {
    ...Object.fromEntries(
      ['name', 'group', 'kind', 'uid'].flatMap((member) => {
        const value = textField(details, member);
        return value === '' ? [] : [[member, value]];
      }),
    ),
    ...(causes.length === 0 ? {} : { causes }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
  return { details: members };
}

function causeOf(cause: JsonObject): Partial<Cause> {
  return Object.fromEntries(
    ['reason', 'message', 'field'].flatMap((member) => {
      const value = textField(cause, member);
      return value === '' ? [] : [[member, value]];
    }),
  );
}
