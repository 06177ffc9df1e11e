import { withoutSecret } from '#check/prometheus/without-secret.ts';
import { type Credentials, withCredentials } from '#kubernetes/connect/bearer-token.ts';
import type { ByteTransport } from '#kubernetes/transport/http-transport.ts';
import type { Transport } from '#kubernetes/transport/transport.ts';

/** Most bytes of a whole answer: it is one object, of which etcd takes 1.5 MiB, or says why there is none. */
const longestAnswer = 4_194_304;

/**
 * The credentials that servers were sent. They may repeat it, in a refusal or in an object, and what is shown on a terminal is
 * kept in logs of builds.
 */
export class ToldServers {
  readonly #told = new Set<string>();

  /** Returns `text` without the credentials that any server was sent. */
  without(text: string): string {
    return [...this.#told].reduce((shown, each) => withoutSecret(shown, each), text);
  }

  /** Returns `transport` with `credentials`, whose whole answers repeat none of them, and have a bound. */
  tell(transport: ByteTransport, credentials: Credentials): Transport {
    const careful: Transport = {
      request: async (request) => {
        const { headers: { authorization = '' } = {} } = request;
        this.#told.add(authorization);
        const answer = await transport.request({ ...request, longestAnswer });
        // Before it is cut: a part of a token is none that could be found.
        return { ...answer, body: Buffer.from(this.without(Buffer.from(answer.body).toString())) };
      },
      stream: (request) => transport.stream(request),
      close: () => transport.close(),
    };
    return withCredentials(careful, credentials);
  }
}
