import type { JsonObject } from '#base/json.ts';
import { longestHeader, mostHeaders } from './query-headers.ts';

/** The fields of a query of Prometheus, as a definition has them; see `querySpecOf`. */
export const querySchema: JsonObject = {
  expr: { type: 'string', minLength: 1, description: 'A PromQL expression.' },
  url: {
    type: 'string',
    minLength: 1,
    description: 'Base URL of the Prometheus server, without /api/v1/query.',
  },
  thresholdRange: {
    type: 'object',
    description:
      'The range of every value of the answer, ends included. Without it any answer with data is a success. An extension of this operator.',
    properties: { min: { type: 'number' }, max: { type: 'number' } },
  },
  onNoData: {
    type: 'string',
    description:
      'What an answer without data is: Fail, which is the default, or Pass. An extension of this operator.',
    enum: ['Fail', 'Pass'],
  },
  insecureSkipVerify: {
    type: 'boolean',
    description: 'Whether any certificate of the server is accepted.',
  },
  secretRef: {
    type: 'string',
    description: 'Secret with token, or username and password.',
  },
  headers: {
    type: 'array',
    maxItems: mostHeaders,
    description:
      'Headers that are sent with the query, such as X-Scope-OrgID for a tenant of Mimir. An extension of this operator.',
    items: {
      type: 'object',
      description: 'A header, with either value or secretKey.',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: longestHeader.name },
        value: { type: 'string', maxLength: longestHeader.value },
        secretKey: {
          type: 'string',
          maxLength: longestHeader.secretKey,
          description: 'Key of the Secret of secretRef that holds the value.',
        },
      },
    },
  },
};
