import type { JsonValue } from '#base/json.ts';
import type { Deadline } from './deadline.ts';

/** A kind with its group (empty for core) and version. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What the API server asks: the members of `AdmissionReview.request` that any webhook here reads. */
export interface AdmissionRequest {
  /** Echoed in the answer. */
  readonly uid: string;
  /** The kind of the objects in the request; all members empty where the request does not say. */
  readonly kind: GroupVersionKind;
  /** Group of the resource, such as `apps`; empty for core, and where the request does not say. */
  readonly resourceGroup: string;
  /** Plural name of the resource, such as `statefulsets`; a subresource is in {@link subResource}. */
  readonly resource: string;
  readonly subResource: string;
  readonly name: string;
  readonly namespace: string;
  /** `CREATE`, `UPDATE`, `DELETE` or `CONNECT`; kept as text so that an unknown one counts as an update. */
  readonly operation: string;
  readonly userName: string;
  readonly isDryRun: boolean;
  readonly object: JsonValue | undefined;
  readonly oldObject: JsonValue | undefined;
}

/** The versions of AdmissionReview that are read, and answered alike. */
export const reviewVersions = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'] as const;

/** One of {@link reviewVersions}. */
export type ReviewVersion = (typeof reviewVersions)[number];

/** A review that could be read. */
export interface Review {
  readonly apiVersion: ReviewVersion;
  readonly request: AdmissionRequest;
}

/** Why something was denied, for programs (D-25). */
export interface Cause {
  /** One PascalCase word. */
  readonly reason: string;
  /** A sentence. */
  readonly message: string;
  /** Path of the field that it is about. */
  readonly field?: string;
}

/** A change of the object under review, as JSON Patch has it (RFC 6902): sets one number, whatever is there. */
export interface PatchOperation {
  readonly op: 'add';
  /** A JSON pointer whose parent exists. */
  readonly path: string;
  readonly value: number;
}

/** An object that its API calls invalid, as Kubernetes names it in a status. */
export interface InvalidObject {
  readonly group: string;
  readonly kind: string;
  /** Empty where it is not named yet. */
  readonly name: string;
}

/** Why it could not be found out whether something is allowed, so that it is denied (HOOK-1). */
export const doubts = [
  /** The API server, or another that was asked, failed. */
  'DependencyFailed',
  /** Our Role does not permit asking. */
  'Forbidden',
  /** No server answered in time. */
  'DeadlineExceeded',
  /** Too many reviews were under way. */
  'Overloaded',
  /** An object, or what is stored with it, cannot be read. */
  'Unreadable',
  /** This process has not seen all that it takes, or waits for others that may still be at work. */
  'NotKnownYet',
  /** A pod that was asked did not say yes: it failed, or did not answer. */
  'PodNotPrepared',
  /** A fault of this program. */
  'InternalError',
] as const;

/** One of {@link doubts}. */
export type Doubt = (typeof doubts)[number];

/** What a webhook says to a request. */
export type ReviewDecision =
  | {
      readonly isAllowed: true;
      /** `status.message`. */
      readonly message?: string;
      readonly warnings?: readonly string[];
      /** Absent, or empty: the object stays as it is. Only what a MutatingWebhookConfiguration names may have any. */
      readonly patch?: readonly PatchOperation[];
    }
  | ReviewRefusal;

/** A denial. */
export interface ReviewRefusal {
  readonly isAllowed: false;
  /** Ends up before the user's eyes, after the name of the webhook. */
  readonly message: string;
  /** Absent: the API server makes it 400. */
  readonly code?: 400 | 403 | 429;
  readonly causes?: readonly Cause[];
  /** Whose `causes` the fields are of: the answer is 422 then, and has no other code. */
  readonly invalid?: InvalidObject;
  /** For the metrics, not for the answer. Absent: denied by a rule. */
  readonly doubt?: Doubt;
}

/** A denial that says to programs, too, what to make of it. */
export type ReasonedRefusal = ReviewRefusal & Required<Pick<ReviewRefusal, 'code' | 'causes'>>;

/** What a review may use while it is judged. */
export interface ReviewContext {
  /** Returns the one deadline of this review (D-27), made when it is first asked for. */
  deadline(): Deadline;
}

/**
 * How the objects of a request are read: `workload` is the kind, the uid, two labels and the replicas of both; `source` the
 * JSON text of `object`, of 256 KiB at most, and nothing of `oldObject`; `eviction` the JSON text of
 * `object.deleteOptions.dryRun`, of 1 KiB at most, the uid of its preconditions, and nothing else of either.
 */
export type ObjectReading = 'workload' | 'source' | 'eviction';

/** One webhook: judges reviews that were posted to its path. */
export interface Webhook {
  /** Such as `/admission/no-downscale`. */
  readonly path: string;
  /** Longest time for a review, in milliseconds, besides the server's own; undefined: none (D-27). */
  readonly patience: number | undefined;
  /** @default `workload` */
  readonly objects?: ObjectReading;
  /**
   * Judges the review, and never rejects for bad input or a failed dependency: those are decisions. May look at what
   * `parse-review.ts` reads.
   */
  judge(
    request: AdmissionRequest,
    context: ReviewContext,
  ): ReviewDecision | Promise<ReviewDecision>;
}

/** Allows without a word. */
export const allow: ReviewDecision = Object.freeze({ isAllowed: true });

/** Allows with one warning that users of kubectl see. */
export function allowWithWarning(warning: string): ReviewDecision {
  return { isAllowed: true, warnings: [warning] };
}

/** Denies without a code, as both down-scale webhooks do. @param doubt absent: by a rule */
export function deny(message: string, doubt?: Doubt): ReviewDecision {
  return { isAllowed: false, message, ...(doubt !== undefined && { doubt }) };
}
