import type { JsonObject } from '#base/json.ts';

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
      'What every value of the answer must be within, ends included. Without it any answer with data is a success. Unknown to the peer.',
    properties: { min: { type: 'number' }, max: { type: 'number' } },
  },
  onNoData: {
    type: 'string',
    description:
      'What an answer without data is: Fail, as where nothing is written, or Pass. Unknown to the peer.',
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
};
