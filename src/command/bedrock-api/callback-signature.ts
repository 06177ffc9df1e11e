import { timingSafeEqual } from 'node:crypto';
import { type Instant, millis, minutes } from '#base/units.ts';
import { callbackSignature } from '#notification/callback/callback-body.ts';
import { type ApiRequest, headerOf } from './api-answer.ts';

/** How far a timestamp may be from now, in either direction (E-6). */
const window = minutes(5);

/** What signatures are checked by. */
export interface SignatureRules {
  readonly signingKey: Uint8Array;
  readonly now: Instant;
}

/** Returns why the signature of a callback does not hold; undefined where it does. Compares in constant time. */
export function signatureProblem(
  request: Pick<ApiRequest, 'headers' | 'body'>,
  { signingKey, now }: SignatureRules,
): string | undefined {
  const stated = headerOf(request, 'x-bedrock-timestamp') ?? '';
  const given = Buffer.from(headerOf(request, 'x-bedrock-signature') ?? '');
  if (!/^\d{1,12}$/.test(stated)) return 'X-Bedrock-Timestamp must be whole seconds';
  const timestamp = Number(stated);
  // Another way to write the same number would not be what was signed.
  if (String(timestamp) !== stated) return 'X-Bedrock-Timestamp must be whole seconds';
  const body = Buffer.from(request.body).toString();
  const wanted = Buffer.from(callbackSignature(signingKey, { timestamp, body }));
  const isEqual = given.length === wanted.length && timingSafeEqual(given, wanted);
  if (!isEqual) return 'X-Bedrock-Signature is not that of this body';
  const distance = millis(Math.abs(now - timestamp * 1_000));
  return distance > window ? 'X-Bedrock-Timestamp is more than 5 minutes off' : undefined;
}
