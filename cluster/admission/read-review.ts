import { errorOf } from '#base/error-of.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { textField, textsField } from '../json/json-fields.ts';
import { typeText } from './admission-review.ts';
import { CallFailure } from './call-failure.ts';
import type { WebhookReply } from './webhook-hosts.ts';

/** What a webhook answered. */
export interface ReviewVerdict {
  readonly isAllowed: boolean;
  /** The Status of a denial; undefined where it gave none. */
  readonly status: JsonObject | undefined;
  readonly warnings: readonly string[];
  /** A JSON patch; empty where nothing is to change. */
  readonly patch: readonly JsonValue[];
}

/** Reads the answer to the review `uid` (AD-6). @throws {CallFailure} where it is no valid answer */
export function readReview(
  reply: WebhookReply,
  expected: { readonly uid: string; readonly isMutating: boolean },
): ReviewVerdict {
  checkStatus(reply);
  const review = parseReview(reply.body);
  const invalid = (why: string): CallFailure =>
    new CallFailure(`received invalid webhook response: ${why}`);
  const { response } = review;
  if (!isJsonObject(response)) throw invalid('webhook response was absent');
  const uid = textField(response, 'uid');
  if (uid !== expected.uid) {
    throw invalid(`expected response.uid=${quote(expected.uid)}, got ${quote(uid)}`);
  }
  const type = typeText(review);
  if (type !== REVIEW_TYPE)
    throw invalid(`expected webhook response of ${REVIEW_TYPE}, got ${type}`);
  const problem = expected.isMutating ? mutatingProblem(response) : validatingProblem(response);
  if (problem !== undefined) throw invalid(problem);
  return {
    isAllowed: response['allowed'] === true,
    status: isJsonObject(response['status']) ? response['status'] : undefined,
    warnings: textsField(response, 'warnings'),
    patch: patchOf(response),
  };
}

const REVIEW_TYPE = 'admission.k8s.io/v1, Kind=AdmissionReview';

const quote = (text: string): string => JSON.stringify(text);

/** The sentences of the client that the API server asks webhooks with. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

const LONGEST_SERVER_TEXT = 2_048;

function checkStatus({ status, contentType = '', body }: WebhookReply): void {
  if (status >= 200 && status <= 206) return;
  throw new CallFailure(`failed to call webhook: ${statusText(status, contentType, body)}`);
}

function statusText(status: number, contentType: string, body: string): string {
  const said = contentType.startsWith('text/')
    ? body.slice(0, LONGEST_SERVER_TEXT).trim()
    : 'unknown';
  if (status === 403 || status === 415) return said;
  if (status === 406) {
    const silent = 'the server was unable to respond with a content type that the client supports';
    return said === '' || said === 'unknown' ? silent : said;
  }
  const fixed = STATUS_TEXTS[status];
  if (fixed !== undefined) return fixed;
  return status >= 500
    ? `an error on the server (${quote(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

function parseReview(body: string): JsonObject {
  const parsed = parseJson(body);
  if (isJsonObject(parsed)) return parsed;
  throw new CallFailure('failed to call webhook: the response is not a JSON object');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = errorOf(error).message;
    throw new CallFailure(
      `failed to call webhook: couldn't get version/kind; json parse error: ${why}`,
      { cause: error },
    );
  }
}

function mutatingProblem(response: JsonObject): string | undefined {
  const hasPatch = textField(response, 'patch') !== '';
  const { patchType } = response;
  const hasType = typeof patchType === 'string';
  if (hasPatch && !hasType) return 'webhook returned response.patch but not response.patchType';
  if (!hasPatch && hasType) return 'webhook returned response.patchType but not response.patch';
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function validatingProblem(response: JsonObject): string | undefined {
  if (textField(response, 'patch') !== '')
    return 'validating webhook may not return response.patch';
  if (typeof response['patchType'] !== 'string') return undefined;
  return 'validating webhook may not return response.patchType';
}

function patchOf(response: JsonObject): readonly JsonValue[] {
  const encoded = textField(response, 'patch');
  // The patch of a denial is not looked at.
  if (encoded === '' || response['allowed'] !== true) return [];
  const undecodable = (why: string): CallFailure =>
    new CallFailure(`received undecodable patch in webhook response: ${why}`);
  let patch: unknown;
  try {
    patch = JSON.parse(Buffer.from(encoded, 'base64').toString());
  } catch (error) {
    throw undecodable(errorOf(error).message);
  }
  const list: JsonValue = asJson(patch);
  if (!isJsonArray(list)) throw undecodable('it is no list of operations');
  const patchType = textField(response, 'patchType');
  if (list.length > 0 && patchType !== 'JSONPatch') {
    throw new CallFailure(`unsupported patch type ${quote(patchType)}`);
  }
  return list;
}

function asJson(value: unknown): JsonValue {
  return isJsonArray(value) || isJsonObject(value) ? value : null;
}
