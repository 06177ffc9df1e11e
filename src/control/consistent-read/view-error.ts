import { StaleBasisError, ViewNotReadError } from './basis.ts';
import { LaggingReadError } from './consistent-list.ts';
import { UnshownZoneError } from './node-zone-proofs.ts';
import { UnshownChangeError } from './resource-proofs.ts';

/** Returns whether `error` says that the view is not good enough to act on: no fault of this program, and another look may be. */
export function isViewError(
  error: unknown,
): error is
  | StaleBasisError
  | UnshownChangeError
  | LaggingReadError
  | ViewNotReadError
  | UnshownZoneError {
  return (
    error instanceof StaleBasisError || error instanceof UnshownChangeError || isUnclearView(error)
  );
}

/** Returns whether `error` says that a read has shown another world than the caches do: nothing may go by them. */
export function isUnclearView(
  error: unknown,
): error is LaggingReadError | ViewNotReadError | UnshownZoneError {
  return (
    error instanceof LaggingReadError ||
    error instanceof ViewNotReadError ||
    error instanceof UnshownZoneError
  );
}
