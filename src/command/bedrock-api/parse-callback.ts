import { isJsonObject, jsonIn } from '#base/json.ts';
import type { CallbackReport } from '#notification/callback/callback-body.ts';
import { integerAt, objectAt, stringAt } from '#statefulset/parse-fields.ts';

/** What is read of a callback. */
export interface ParsedCallback {
  readonly stageId: string;
  readonly result: CallbackReport['result'];
  readonly percent: number;
  /** The uid of the StatefulsetRollout. */
  readonly uid: string;
}

const schema = 'bedrock.operator.slack.com/callback.v1';

/** Reads the body of a callback for `stageId` (E-4), or says in a sentence what is wrong with it. */
export function parseCallback(body: Uint8Array, stageId: string): ParsedCallback | string {
  const callback = jsonIn(Buffer.from(body).toString());
  if (!isJsonObject(callback)) return 'The body must be a JSON object';
  if (callback['schema'] !== schema) return `schema must be ${schema}`;
  if (callback['stageId'] !== stageId) return 'stageId must be that of the path';
  const { result } = callback;
  if (result !== 'success' && result !== 'failure') return 'result must be success or failure';
  const percent = integerAt(callback, 'percentRequested');
  const uid = stringAt(objectAt(callback, 'resource'), 'uid');
  if (percent === undefined || uid === undefined)
    return 'percentRequested and resource.uid must be there';
  return { stageId, result, percent, uid };
}
