/** One cause of a refused request, as in `Status.details.causes`. */
export interface Cause {
  /** Such as `FieldValueRequired`, `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueNotSupported`. */
  readonly reason: string;
  readonly message: string;
  /** Path of the field, such as `spec.replicas`. */
  readonly field: string;
}

/** The `details` of a Status (ER-1); `kind` is the plural resource except for validation errors. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Partial<Cause>[];
  readonly retryAfterSeconds?: number;
}

/** A request that the API server refuses; becomes the Status body of the answer (ER-1). */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly reason: string;
  /** Absent in a Status that has none; `{}` is distinguished from that by kubectl, which crashes where it is missing. */
  readonly details: StatusDetails | undefined;

  constructor(
    status: { readonly code: number; readonly reason: string; readonly details?: StatusDetails },
    message: string,
  ) {
    super(message);
    this.code = status.code;
    this.reason = status.reason;
    this.details = status.details;
  }
}
