import { Agent, type RequestOptions, request } from 'node:https';
import { isIP } from 'node:net';
import { errorOf } from '#base/error-of.ts';
import type { DialledCall, WebhookDialer } from './webhook-dialer.ts';
import type { WebhookReply } from './webhook-hosts.ts';

/** Answers above this many bytes are not read to their end. */
const READ_LIMIT = 8 * 1024 * 1024;

/** Calls webhooks over HTTPS and HTTP/1.1, verifying their certificates (AD-12). */
export class HttpsDialer implements WebhookDialer {
  readonly #agent = new Agent({ keepAlive: true });

  async post(call: DialledCall): Promise<WebhookReply> {
    try {
      return await this.#once(call);
    } catch (error) {
      // A connection that was closed while it lay idle says nothing about the webhook: a new one is tried.
      if (!(error instanceof StaleConnectionError))
        throw new Error(goText(error, call), { cause: error });
    }
    try {
      return await this.#once(call);
    } catch (error) {
      throw new Error(goText(error, call), { cause: error });
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #once(call: DialledCall): Promise<WebhookReply> {
    return new Promise((resolve, reject) => {
      const sent = request(optionsOf(call, this.#agent), (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size <= READ_LIMIT) chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
      sent.on('error', (error) => {
        const isStale = sent.reusedSocket && codeOf(error) === 'ECONNRESET';
        reject(isStale ? new StaleConnectionError(error.message, { cause: error }) : error);
      });
      sent.end(call.body);
    });
  }
}

/** A kept connection that the other side had closed. */
class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

function optionsOf(call: DialledCall, agent: Agent): RequestOptions {
  const { address, serverName, port, path, body, ca, signal } = call;
  return {
    method: 'POST',
    host: address.host,
    port: address.port,
    path,
    agent,
    signal,
    // An address is no server name; it is then looked for among the certificate's addresses.
    ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
    ...(ca === undefined ? {} : { ca }),
    headers: {
      host: port === 443 && address.host === serverName ? serverName : `${serverName}:${port}`,
      'user-agent': 'kube-apiserver-admission',
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/** Returns the host names of a certificate, out of Node's sentence about it. */
function namesIn(sentence: string): string {
  const names = [...sentence.matchAll(/DNS:([^,\s]+)/g)].map(([, name]) => name);
  return names.length === 0 ? 'no host' : names.join(', ');
}

/** Returns what the API server's client says of `error`: its words are in the messages of refusals (ER-1). */
function goText(error: unknown, { address, serverName }: DialledCall): string {
  const code = codeOf(error);
  const said = errorOf(error).message;
  const unverified = 'tls: failed to verify certificate: x509:';
  if (UNKNOWN_AUTHORITY.has(code)) return `${unverified} certificate signed by unknown authority`;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address.host}:${address.port}: connect: connection refused`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${address.host}: no such host`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${unverified} certificate is valid for ${namesIn(said)}, not ${serverName}`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${unverified} certificate has expired or is not yet valid: ${said}`;
    case 'ECONNRESET':
      return 'EOF';
    default:
      return said;
  }
}
