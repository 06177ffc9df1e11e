import type { JsonObject } from '#base/json.ts';
import { badRequest } from '../../errors/status-errors.ts';
import { numberField, objectField, textField, textsField } from '../../json/json-fields.ts';
import { checkKind, decodeAnyBody } from '../request/decode-body.ts';
import { booleanParameter, integerParameter, isDryRun } from '../request/query.ts';
import type { ApiCall } from '../request/server-context.ts';
import { invalidOptions } from '../request/status.ts';

/** How dependents are treated. */
export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** Options of a delete, from body and query (OB-8). */
export interface DeleteOptions {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined: the pod's own. */
  readonly gracePeriodSeconds: number | undefined;
  readonly propagation: Propagation | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly isDryRun: boolean;
}

function parsePropagation(text: string): Propagation | undefined {
  if (text === '') return undefined;
  if (text === 'Background' || text === 'Foreground' || text === 'Orphan') return text;
  throw invalidOptions('DeleteOptions', {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: "${text}": supported values: "Background", "Foreground", "Orphan"`,
    field: 'propagationPolicy',
  });
}

function orphanOf(body: JsonObject, query: URLSearchParams): boolean | undefined {
  const given = body['orphanDependents'];
  if (typeof given === 'boolean') return given;
  return query.has('orphanDependents') ? booleanParameter(query, 'orphanDependents') : undefined;
}

function checkBody(body: JsonObject): void {
  if (textField(body, 'kind') === '') return;
  const apiVersion = textField(body, 'apiVersion');
  checkKind({ ...body, apiVersion: '' }, { apiVersion, kind: 'DeleteOptions' });
}

/** Reads the options of a delete; the body wins over the query. @throws {StatusError} 400 or 422 */
export function deleteOptionsOf(call: ApiCall): DeleteOptions {
  return readDeleteOptions(decodeAnyBody(call), call.route.query);
}

/** Returns the options in `body`, and in `query` where it has none. @throws {StatusError} 400 or 422 */
export function readDeleteOptions(body: JsonObject, query: URLSearchParams): DeleteOptions {
  checkBody(body);
  const preconditions = objectField(body, 'preconditions');
  const dryRun = [...textsField(body, 'dryRun'), ...query.getAll('dryRun')];
  const orphanDependents = orphanOf(body, query);
  const policy = textField(body, 'propagationPolicy') || (query.get('propagationPolicy') ?? '');
  if (policy !== '' && orphanDependents !== undefined) {
    throw invalidOptions('DeleteOptions', {
      reason: 'FieldValueInvalid',
      message: `Invalid value: "${policy}": orphanDependents and deletionPropagation cannot be both set`,
      field: 'propagationPolicy',
    });
  }
  const grace =
    numberField(body, 'gracePeriodSeconds') ?? integerParameter(query, 'gracePeriodSeconds');
  if (grace !== undefined && !Number.isInteger(grace)) {
    throw badRequest(`gracePeriodSeconds must be an integer: got ${grace}`);
  }
  return {
    uid: textField(preconditions, 'uid'),
    resourceVersion: textField(preconditions, 'resourceVersion'),
    gracePeriodSeconds: grace,
    propagation: parsePropagation(policy) ?? legacyPropagation(orphanDependents),
    orphanDependents,
    isDryRun: isDryRun(dryRun, 'DeleteOptions'),
  };
}

function legacyPropagation(orphanDependents: boolean | undefined): Propagation | undefined {
  if (orphanDependents === undefined) return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

/** Returns `options` as webhooks are shown them (AD-5). */
export function deleteOptionsObject(options: DeleteOptions): JsonObject {
  const { uid, resourceVersion, gracePeriodSeconds, propagation, orphanDependents } = options;
  const preconditions = {
    ...(uid === '' ? {} : { uid }),
    ...(resourceVersion === '' ? {} : { resourceVersion }),
  };
  const isLegacy = orphanDependents !== undefined;
  return {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(isLegacy ? { orphanDependents } : {}),
    ...(propagation === undefined || isLegacy ? {} : { propagationPolicy: propagation }),
    ...(options.isDryRun ? { dryRun: ['All'] } : {}),
  };
}
