import type { Clock } from '#base/clock.ts';
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { Monotonic } from '#base/units.ts';
import type { Authorizer } from '../../auth/authorizer.ts';
import type { Activity } from '../../clock/activity.ts';
import type { RecordingEventLog } from '../../recording-event-log.ts';
import type { ResourceRow, Verb } from '../../resource-row.ts';
import type { SeededRandom } from '../../seeded-random.ts';
import type { Store } from '../../store/store.ts';
import type { ApiRequest } from './api-request.ts';
import type { AnswerForm } from './negotiation.ts';
import type { ResourceRoute } from './router.ts';
import type { RowIndex } from './row-index.ts';

/** What the server takes from elsewhere: the rules of kinds, selectors and patches. */
export interface ServerRules {
  readonly resourceTable: readonly ResourceRow[];
  /** @throws {StatusError} 400 */
  readonly parseLabelSelector: (
    text: string,
  ) => (labels: Readonly<Record<string, string>>) => boolean;
  /** @throws {StatusError} 400 */
  readonly parseFieldSelector: (text: string, row: ResourceRow) => (object: JsonObject) => boolean;
  /** @throws {StatusError} 415 */
  readonly checkPatchType: (contentType: string, row: ResourceRow) => void;
  /** @throws {StatusError} 400, 413, 415, 422 */
  readonly applyPatch: (patch: {
    readonly contentType: string;
    readonly body: JsonValue;
    readonly object: JsonObject;
    readonly row: ResourceRow;
  }) => JsonObject;
}

/** One write on its way through admission (AD-1); objects are those of the wire, such as a Scale. */
export interface AdmissionAttributes {
  readonly call: ApiCall;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** Empty while the name is still to be generated, and for objects of a deleted collection (OB-11). */
  readonly name: string;
  /** Absent for DELETE. */
  readonly object?: JsonObject;
  /** Absent for CREATE. */
  readonly oldObject?: JsonObject;
  /** The options of a DELETE; those of the others are in the query. */
  readonly options?: JsonObject;
}

/** The chain of admission webhooks; a server without one admits everything. */
export interface Admission {
  /**
   * Returns the object as the mutating webhooks leave it: `attributes.object` itself where none changes it.
   *
   * @throws {StatusError} a denial
   */
  mutate(attributes: AdmissionAttributes): Promise<JsonObject | undefined>;
  /** Asks the validating webhooks. @throws {StatusError} a denial */
  validate(attributes: AdmissionAttributes): Promise<void>;
}

/** A handler for a subresource that the server itself does not know, such as `pods/eviction`. */
export type SubresourceHandler = (context: ServerContext, call: ApiCall) => Promise<Reply>;

/** All that a handler works with. */
export interface ServerContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly activity: Activity;
  readonly rules: ServerRules;
  readonly rows: RowIndex;
  readonly eventLog: RecordingEventLog;
  readonly authorizer: Authorizer;
  readonly random: {
    readonly uids: SeededRandom;
    readonly names: SeededRandom;
    readonly timeouts: SeededRandom;
  };
  /** Set by the room of webhooks while there are any. */
  admission: Admission | undefined;
  /** Keyed `resource/subresource`, such as `pods/eviction`. */
  readonly subresourceHandlers: Map<string, SubresourceHandler>;
  /** Minor version, such as `1.36`. */
  readonly version: string;
}

/** One request while it is being answered. */
export interface ApiCall {
  readonly callId: number;
  /** When it arrived: what it waits for is bounded from then on (AD-8). */
  readonly startedAt: Monotonic;
  readonly route: ResourceRoute;
  readonly request: ApiRequest;
  /** The row that the client asked for, where that is a view of the route's (see `ResourceView`). */
  readonly shownRow: ResourceRow | undefined;
  /** What the answer is made into. */
  readonly form: AnswerForm;
  /** Texts of Warning headers, collected on the way. */
  readonly warnings: string[];
  /** Whether nothing may be committed (OB-12). */
  readonly isDryRun: boolean;
  /** The revision at which this client's reads are held (FI-5, FI-2 `stale`). */
  readonly viewRevision: number | undefined;
  /** Preconditions of a delete, for the event log. */
  preconditions: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** What a handler answers. */
export interface Reply {
  readonly status: number;
  readonly body: readonly Uint8Array[];
}

/** Returns `object` as an answer. */
export function replyWith(status: number, object: JsonObject): Reply {
  return { status, body: [Buffer.from(JSON.stringify(object))] };
}

/** Verbs that change something. */
export const WRITE_VERBS: ReadonlySet<Verb> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
]);
