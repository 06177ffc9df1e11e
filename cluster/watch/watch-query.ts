import { booleanParameter, integerParameter } from '../rest/request/query.ts';
import { invalidOptions } from '../rest/request/status.ts';
import { parseRevision } from '../rest/verbs/list-query.ts';

/** Where a watch starts and what it carries. */
export interface WatchQuery {
  /** 0: the present state first. */
  readonly revision: number;
  readonly hasInitialEvents: boolean;
  readonly allowsBookmarks: boolean;
  /** Undefined: the server chooses. */
  readonly timeoutSeconds: number | undefined;
}

function refuse(field: string, message: string): never {
  throw invalidOptions('ListOptions', { reason: 'FieldValueForbidden', message, field });
}

/** Reads the options of a watch. @throws {StatusError} 400 or 422 (LW-9) */
export function watchQueryOf(query: URLSearchParams): WatchQuery {
  const version = query.get('resourceVersion') ?? '';
  const revision = version === '' ? 0 : parseRevision(version);
  const match = query.get('resourceVersionMatch') ?? '';
  const isStreaming = query.has('sendInitialEvents');
  if (isStreaming && match !== 'NotOlderThan') {
    refuse(
      'resourceVersionMatch',
      'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  }
  if (!isStreaming && match !== '') {
    refuse(
      'resourceVersionMatch',
      'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    );
  }
  return {
    revision,
    hasInitialEvents: isStreaming ? booleanParameter(query, 'sendInitialEvents') : revision === 0,
    allowsBookmarks: booleanParameter(query, 'allowWatchBookmarks'),
    timeoutSeconds: integerParameter(query, 'timeoutSeconds'),
  };
}
