/** More would be memory for reviews that no API server sends. */
const mostHelpers = 1;

/**
 * How many threads help to answer reviews: none where there is no processor for them, or the platform cannot share a
 * port between threads.
 *
 * @param processors those that may be used
 */
export function helperCount(platform: string, processors: number): number {
  return platform === 'linux' ? Math.min(mostHelpers, processors - 1) : 0;
}
