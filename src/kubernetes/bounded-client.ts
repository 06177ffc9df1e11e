import type { Millis } from '#base/units.ts';
import type { CallOptions, Client } from './client.ts';

/**
 * Returns `client` whose calls end `answerWithin` after the rate limiter let them go, body included, however much longer the
 * client's own deadline is, and also where it has none: nothing waits longer for the answer of a pass (D-53).
 * Watches, and calls that name a time of their own, keep theirs.
 *
 * @param answerWithin greater than 0
 */
export function boundedClient(client: Client, answerWithin: Millis): Client {
  const within = <Options extends CallOptions>(options: Options): Options => ({
    ...options,
    answerWithin: options.answerWithin ?? answerWithin,
  });
  return {
    get: (type, key, options = {}) => client.get(type, key, within(options)),
    list: (type, query, options = {}) => client.list(type, query, within(options)),
    watch: (type, query, options) => client.watch(type, query, options),
    create: (type, key, write) => client.create(type, key, within(write)),
    replace: (type, key, write) => client.replace(type, key, within(write)),
    patch: (type, key, write) => client.patch(type, key, within(write)),
    delete: (type, key, options) => client.delete(type, key, within(options)),
    raw: (request, options = {}) => client.raw(request, within(options)),
  };
}
