import type { ObjectRef } from '#control/decision/decision.ts';
import type { Client } from '#kubernetes/client.ts';
import type { ScalableKinds } from '#kubernetes/discovery.ts';
import { resourcePath } from '#kubernetes/resource-path.ts';
import { isNotFound, isRequestFailure } from '#kubernetes/transport/api-error.ts';
import { countsOf, type ScaleCounts } from './scale-counts.ts';

/** The counts in a scale, or why there are none. */
export type ReadScale =
  | ({ readonly kind: 'known' } & ScaleCounts)
  | { readonly kind: 'unreadable'; readonly message: string; readonly isAbsent: boolean };

/** Reads the scale of `ref` (SC-32). @throws what aborts `signal`, and what is no failure of the request */
export async function readScale(
  { type, namespace, name }: ObjectRef,
  { client, kinds }: { readonly client: Client; readonly kinds: ScalableKinds },
  signal: AbortSignal,
): Promise<ReadScale> {
  const path = resourcePath(type, { namespace, name, subresource: 'scale' });
  try {
    const scale = await client.raw({ method: 'GET', path }, { signal });
    const counts = countsOf(scale);
    if (counts !== undefined) return { kind: 'known', ...counts };
    const message = `its scale has no revision, or counts that are not numbers`;
    return { kind: 'unreadable', message, isAbsent: false };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRequestFailure(error)) throw error;
    // The type may be gone with its definition.
    if (isNotFound(error)) kinds.forget(type.group, type.kind);
    return { kind: 'unreadable', message: error.message, isAbsent: isNotFound(error) };
  }
}
