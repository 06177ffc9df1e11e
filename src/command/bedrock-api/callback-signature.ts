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

/**
 * Returns what the headers of a callback alone show to be wrong, before any of its body is read; undefined where only the body can show
 * whether its signature holds.
 */
export function headerProblem(
  request: Pick<ApiRequest, 'headers'>,
  now: Instant,
): string | undefined {
  const stated = headerOf(request, 'x-bedrock-timestamp') ?? '';
  const isWhole = /^\d{1,12}$/.test(stated) && String(Number(stated)) === stated;
  // Another way to write the same number would not be what was signed.
  if (!isWhole) return 'X-Bedrock-Timestamp must be whole seconds';
  const given = headerOf(request, 'x-bedrock-signature') ?? '';
  if (!/^v1=[0-9a-f]{64}$/.test(given))
    return 'X-Bedrock-Signature must be v1= and 64 hexadecimal digits';
  const distance = millis(Math.abs(now - Number(stated) * 1_000));
  return distance > window ? 'X-Bedrock-Timestamp is more than 5 minutes off' : undefined;
}

/** Returns why the signature of a callback does not hold; undefined where it does. Compares in constant time. */
export function signatureProblem(
  request: Pick<ApiRequest, 'headers' | 'body'>,
  { signingKey, now }: SignatureRules,
): string | undefined {
  const problem = headerProblem(request, now);
  if (problem !== undefined) return problem;
  const timestamp = Number(headerOf(request, 'x-bedrock-timestamp'));
  const given = Buffer.from(headerOf(request, 'x-bedrock-signature') ?? '');
  const body = Buffer.from(request.body).toString();
  const wanted = Buffer.from(callbackSignature(signingKey, { timestamp, body }));
  const isEqual = given.length === wanted.length && timingSafeEqual(given, wanted);
  return isEqual ? undefined : 'X-Bedrock-Signature is not that of this body';
}
