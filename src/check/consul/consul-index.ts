/** Index of a question that is answered at once, rather than after a change. */
export const noIndex = 0n;

/** More digits than an index of 64 bits has are none of Consul. */
const indexSyntax = /^\d{1,20}$/;

/**
 * Returns the index that the next question has (CONSUL-15). One that is missing, is no number, is below 1 or went backwards starts
 * again: the server may have been restored, or be another one, and would let the question wait for a change that has been.
 *
 * @param asked the index of the question
 * @param told the header `X-Consul-Index` of its answer
 */
export function indexAfter(asked: bigint, told: string | undefined): bigint {
  if (told === undefined || !indexSyntax.test(told)) return noIndex;
  const index = BigInt(told);
  return index < asked ? noIndex : index;
}
