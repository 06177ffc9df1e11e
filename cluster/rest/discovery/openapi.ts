import { createHash } from 'node:crypto';
import type { JsonObject } from '#base/json.ts';
import { apiVersionOf } from '#kubernetes/resource-type.ts';
import type { ResourceRow } from '../../resource-row.ts';
import type { RowIndex } from '../request/row-index.ts';
import { componentName, componentOf } from './openapi-component.ts';

/** Returns the OpenAPI v3 document at `segments` of `/openapi/v3/…`, or undefined when there is none (HT-10). */
export function openApi(rows: RowIndex, segments: readonly string[]): JsonObject | undefined {
  if (segments.length === 0) return index(rows);
  const [root, ...rest] = segments;
  if (root !== 'api' && root !== 'apis') return undefined;
  const apiVersion = rest.join('/');
  const isCore = !apiVersion.includes('/');
  return isCore === (root === 'api') ? groupVersionDocument(rows, apiVersion) : undefined;
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;
}

function index(rows: RowIndex): JsonObject {
  const paths = rows.apiVersions().map((apiVersion): readonly [string, JsonObject] => {
    const document = JSON.stringify(groupVersionDocument(rows, apiVersion));
    const hash = createHash('sha256').update(document).digest('hex').toUpperCase();
    const path = rootOf(apiVersion);
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
  });
  return { paths: Object.fromEntries(paths) };
}

function groupVersionDocument(rows: RowIndex, apiVersion: string): JsonObject | undefined {
  const served = rows.ofVersion(apiVersion);
  if (served.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(served.flatMap(pathsOf)),
    components: {
      schemas: Object.fromEntries(served.map((row) => [componentName(row.type), componentOf(row)])),
    },
  };
}

function pathsOf(row: ResourceRow): readonly (readonly [string, JsonObject])[] {
  if (!row.verbs.includes('patch')) return [];
  const { type } = row;
  const base = `/${rootOf(apiVersionOf(type))}`;
  const collection = type.isNamespaced
    ? `${base}/namespaces/{namespace}/${type.plural}`
    : `${base}/${type.plural}`;
  return [
    [collection, { post: operation(row, 'post') }],
    [
      `${collection}/{name}`,
      {
        get: operation(row, 'get'),
        put: operation(row, 'put'),
        patch: operation(row, 'patch'),
      },
    ],
  ];
}

const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

function operation(row: ResourceRow, action: 'get' | 'patch' | 'post' | 'put'): JsonObject {
  const { group, kind, version } = row.type;
  const schema = { $ref: `#/components/schemas/${componentName(row.type)}` };
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, kind, version },
    ...(action === 'get' ? {} : { parameters: WRITE_PARAMETERS }),
    responses: { '200': { description: 'OK', content: { 'application/json': { schema } } } },
  };
}
