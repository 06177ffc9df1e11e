import { StaleBasisError, ViewNotReadError } from './basis.ts';
import { LaggingReadError } from './consistent-reads.ts';
import { UnshownZoneError } from './node-zone-proofs.ts';
import { UnshownChangeError } from './resource-proofs.ts';

/** Returns whether `error` says that the view is not good enough to act on: no fault of this program, and another look may be. */
export function isViewError(
  error: unknown,
): error is
  | StaleBasisError
  | LaggingReadError
  | ViewNotReadError
  | UnshownChangeError
  | UnshownZoneError {
  return (
    error instanceof StaleBasisError ||
    error instanceof LaggingReadError ||
    error instanceof ViewNotReadError ||
    error instanceof UnshownChangeError ||
    error instanceof UnshownZoneError
  );
}
